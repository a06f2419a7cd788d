"""Columns of short texts as a few numbers.

Words that occur in several rows, weighted by how rare they are, and of these the directions in which
rows differ most (latent semantic analysis, Deerwester et al. 1990); beside them the number of words.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from hyperlens.spaces.cube import FloatArray

OWN = 0.5  # a text with more values than this part of the rows is no category
MANY = 50  # in any number of rows, so many different ones are not too many for a category
WORDS = 2.0  # on average: a name of a single word tells nothing but the row
DIRECTIONS = 12
MOST_WORDS = 2000  # that are looked at


def is_own(different: int, rows: int) -> bool:
    """Are so many different texts in so many rows too many for categories?"""
    return different > max(MANY, OWN * rows)


def is_text(present: Any, different: int) -> bool:
    """Are these cells, of which so many differ, phrases instead of categories or names?"""
    if not is_own(different, len(present)):
        return False
    return float(np.mean([len(str(each).split()) for each in present])) >= WORDS


class TextNumbers(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # no types
    """One column of texts as numbers (n, k): directions among the words, and how many words there are.
    A text that is missing has no words."""

    def fit(self, cells: Any, y: Any = None) -> TextNumbers:
        self.words_ = TfidfVectorizer(
            min_df=2, max_features=MOST_WORDS, sublinear_tf=True, strip_accents="unicode"
        )
        self.directions_ = None
        try:
            weights = self.words_.fit_transform(_texts(cells))
        except ValueError:  # no word comes twice
            self.words_ = None
            return self
        if weights.shape[1] > DIRECTIONS:
            self.directions_ = TruncatedSVD(DIRECTIONS, random_state=0).fit(weights)
        return self

    def transform(self, cells: Any) -> FloatArray:
        texts = _texts(cells)
        lengths = np.array([[float(len(each.split()))] for each in texts])
        if self.words_ is None:
            return lengths
        weights = self.words_.transform(texts)
        if self.directions_ is None:
            return np.hstack([weights.toarray(), lengths])
        return np.hstack([self.directions_.transform(weights), lengths])


def _texts(cells: Any) -> list[str]:
    return [str(each) if here else "" for each, here in zip(cells, cells.notna(), strict=True)]
