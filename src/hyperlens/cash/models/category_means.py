"""Categories with many levels as the mean targets of their rows, as Micci-Barreca does.

The mean of few rows is drawn to that of all. For training, a row's category is told by the rows of other
parts alone: else a category of a single row would be its target.

Symbols
    S, n    sum of the targets and number of rows of a level
    m       the mean of all rows
    coded   (S + PRIOR m) / (n + PRIOR)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from hyperlens.spaces.cube import FloatArray, IntArray

PARTS = 5  # of the rows, each told by the others
PRIOR = 5.0  # rows that the mean of all counts for


class CategoryMeans(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # no types
    """Columns of codes (n, d), nan where missing or not known, as means (n, d k) of the targets: of a
    number or one of two classes k is 1, of more classes the part of each."""

    def fit(self, codes: FloatArray, y: Any) -> CategoryMeans:
        self.all_, self.levels_ = _learnt(codes, _numbers(y))
        return self

    def fit_transform(self, codes: FloatArray, y: Any = None, **options: Any) -> FloatArray:
        self.fit(codes, y)
        targets = _numbers(y)
        part = np.random.default_rng(len(codes)).permutation(len(codes)) % PARTS
        found = np.empty((len(codes), codes.shape[1] * targets.shape[1]))
        for k in range(PARTS):
            seen = part != k
            known = _learnt(codes[seen], targets[seen]) if seen.any() else (self.all_, self.levels_)
            found[~seen] = _told(codes[~seen], *known)
        return found

    def transform(self, codes: FloatArray) -> FloatArray:
        check_is_fitted(self, "levels_")
        return _told(codes, self.all_, self.levels_)


def _numbers(y: Any) -> FloatArray:
    """Targets (n, k)."""
    y = np.asarray(y)
    if y.dtype.kind == "f":
        return np.asarray(y, dtype=np.float64).reshape(-1, 1)
    classes, places = np.unique(y, return_inverse=True)
    return (
        np.eye(len(classes))[places][:, 1:] if len(classes) == 2 else np.eye(len(classes))[places]
    )


def _learnt(codes: FloatArray, targets: FloatArray) -> tuple[FloatArray, list[FloatArray]]:
    """The mean of all rows (k,), and of each column those of its levels (levels + 1, k): the last is of
    what is not known."""
    mean = targets.mean(axis=0)
    levels = []
    for column in codes.T:
        known = ~np.isnan(column)
        places: IntArray = column[known].astype(np.int64)
        size = int(places.max()) + 1 if len(places) else 0
        sums = np.stack([np.bincount(places, t, size) for t in targets[known].T], axis=1)
        counts = np.bincount(places, minlength=size)[:, None]
        levels.append(np.vstack([(sums + PRIOR * mean) / (counts + PRIOR), mean]))
    return mean, levels


def _told(codes: FloatArray, mean: FloatArray, levels: list[FloatArray]) -> FloatArray:
    columns = []
    for column, means in zip(codes.T, levels, strict=True):
        last = len(means) - 1
        places = np.where(np.isnan(column), last, column).astype(np.int64)
        columns.append(means[np.minimum(places, last)])
    return np.hstack(columns)
