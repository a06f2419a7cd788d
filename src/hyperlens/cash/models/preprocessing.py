"""Tables as numbers: categories encoded in sorted order, gaps filled with the most frequent value.

As Sarigiannis et al. 2020, appendix B, with a column that says where a gap was, and made safe for
prediction: a category that was not there in training counts as missing, and a column without any value
becomes zero. Beyond the paper: models that compare sizes of columns see a column for each of a few
categories; of many, a category is the mean target of its rows (category_means.py); and short texts are a
few numbers (text_columns.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from hyperlens.cash.models.category_means import CategoryMeans
from hyperlens.cash.models.text_columns import TextNumbers, is_text
from hyperlens.spaces.cube import FloatArray

LARGEST = 1e30  # trees work in single precision
MANY = 20  # categories with more levels are coded by targets


class Encoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Columns of a frame or an array as floats: numbers as they are, dates as days, others coded.

    A column with any value that is not a number is a category. What is missing, not finite or was
    not there in training is nan. With `spread` a few categories are a column each, of zeros and a one.
    Behind all of them come the numbers that texts are.
    """

    def __init__(self, spread: bool = False) -> None:
        self.spread = spread

    def fit(self, X: Any, y: Any = None) -> Encoder:
        self._learnt(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None, **options: Any) -> Any:
        """As `fit` and `transform`, but what many categories are coded by is told by other rows."""
        frame, coded, means = self._learnt(X, y)
        return self._whole(frame, coded, means)

    def transform(self, X: Any) -> Any:
        check_is_fitted(self, "levels_")
        frame = _frame(X)
        if frame.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {frame.shape[1]} features, but Encoder is expecting "
                f"{self.n_features_in_} features as input."
            )
        coded = self._codes(frame)
        means = None if self.means_ is None else self.means_.transform(coded[:, self.many_])
        return self._whole(frame, coded, means)

    def _learnt(self, X: Any, y: Any) -> tuple[Any, FloatArray, FloatArray | None]:
        """The frame, its columns as codes, and what those with many categories are coded by."""
        frame = _frame(X)
        self.n_features_in_ = frame.shape[1]
        if hasattr(X, "columns"):
            self.feature_names_in_ = np.array([str(c) for c in frame.columns], dtype=object)
        cells = [frame.iloc[:, j] for j in range(frame.shape[1])]
        levels = [_levels(column) for column in cells]
        words = [
            j for j, kinds in enumerate(levels) if kinds and is_text(cells[j].dropna(), len(kinds))
        ]
        self.texts_ = {str(j): TextNumbers().fit(cells[j]) for j in words}
        self.levels_ = [{} if j in words else kinds for j, kinds in enumerate(levels)]
        sizes = [len(kinds or ()) for kinds in self.levels_]
        self.many_ = [j for j, size in enumerate(sizes) if size > MANY and y is not None]
        self.few_ = [j for j, size in enumerate(sizes) if self.spread and 2 < size <= MANY]
        coded = self._codes(frame)
        self.means_, means = None, None
        if self.many_:
            self.means_ = CategoryMeans()
            means = self.means_.fit_transform(coded[:, self.many_], y)
        return frame, coded, means

    def _codes(self, frame: Any) -> FloatArray:
        """A column each; of a text only nan."""
        coded = np.empty(frame.shape)
        for j, levels in enumerate(self.levels_):
            cells = frame.iloc[:, j]
            if levels is None:
                numbers = _numbers(cells)
                finite = np.where(np.isfinite(numbers), numbers, np.nan)
                coded[:, j] = np.clip(finite, -LARGEST, LARGEST)
            elif levels:
                texts = cells.astype(object).map(text)
                coded[:, j] = texts.map(levels).to_numpy(dtype=float, na_value=np.nan)
            else:
                coded[:, j] = np.nan
        return coded

    def _whole(self, frame: Any, coded: FloatArray, means: FloatArray | None) -> FloatArray:
        away = {*self.many_, *self.few_, *map(int, self.texts_)}
        if not away:
            return coded
        parts = [coded[:, [j for j in range(coded.shape[1]) if j not in away]]]
        parts += [coded[:, [j]] == np.arange(len(self.levels_[j] or ())) for j in self.few_]
        parts += [] if means is None else [means]
        parts += [t.transform(frame.iloc[:, int(j)]) for j, t in self.texts_.items()]
        return np.hstack(parts).astype(float)


def pipeline(model: Any, scaled: bool) -> Pipeline:
    """From raw columns to predictions; `scaled` where the model compares sizes of columns."""
    return Pipeline([*preparation(scaled).steps, ("model", model)])


def preparation(scaled: bool) -> Pipeline:
    """From raw columns to numbers."""
    fill = SimpleImputer(strategy="most_frequent", keep_empty_features=True, add_indicator=True)
    scale = [("scale", StandardScaler())] if scaled else []
    return Pipeline([("encode", Encoder(spread=scaled)), ("fill", fill), *scale])


def _frame(X: Any) -> Any:
    import pandas as pd

    return X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X))


def _levels(cells: Any) -> dict[str, float] | None:
    """Codes of a category's texts in sorted order, None for numbers and dates."""
    if cells.dtype.kind in "biufM":
        return None
    if cells.dtype.kind == "O" and not hasattr(cells.dtype, "categories"):
        present = cells.dropna()
        if all(isinstance(v, (bool, int, float, np.number)) for v in present):
            return None
    texts = {text(v) for v in cells.astype(object)} - {None}
    return {name: float(code) for code, name in enumerate(sorted(map(str, texts)))}


def text(value: Any) -> str | None:
    """A category's text; 1 and 1.0 are one."""
    import pandas as pd

    if value is None or value is pd.NA or value is pd.NaT or value != value:
        return None
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def as_days(moments: Any) -> Any:
    """Days since 1970, of any year: in microseconds, which do not end in 2262 as nanoseconds do."""
    microseconds = moments.dt.as_unit("us").astype("int64").astype(float)
    return microseconds.where(moments.notna(), np.nan) / (24 * 3600 * 1e6)


def _numbers(cells: Any) -> Any:
    import pandas as pd

    if cells.dtype.kind == "M":
        return as_days(cells.dt.tz_localize(None)).to_numpy(dtype=float)
    return pd.to_numeric(cells, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
