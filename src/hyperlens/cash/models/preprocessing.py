"""Tables as numbers: categories encoded in sorted order, gaps filled with the most frequent value.

As Sarigiannis et al. 2020, appendix B, with a column that says where a gap was, and made safe for
prediction: a category that was not there in
training counts as missing, and a column without any value becomes zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

LARGEST = 1e30  # trees work in single precision


class Encoder(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Columns of a frame or an array as floats: numbers as they are, dates as days, others coded.

    A column with any value that is not a number is a category. What is missing, not finite or was
    not there in training is nan.
    """

    def fit(self, X: Any, y: Any = None) -> Encoder:
        frame = _frame(X)
        self.n_features_in_ = frame.shape[1]
        if hasattr(X, "columns"):
            self.feature_names_in_ = np.array([str(c) for c in frame.columns], dtype=object)
        self.levels_ = [_levels(frame.iloc[:, j]) for j in range(frame.shape[1])]
        return self

    def transform(self, X: Any) -> Any:
        check_is_fitted(self, "levels_")
        frame = _frame(X)
        if frame.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {frame.shape[1]} features, but Encoder is expecting "
                f"{self.n_features_in_} features as input."
            )
        coded = np.empty(frame.shape)
        for j, levels in enumerate(self.levels_):
            cells = frame.iloc[:, j]
            if levels is None:
                numbers = _numbers(cells)
                finite = np.where(np.isfinite(numbers), numbers, np.nan)
                coded[:, j] = np.clip(finite, -LARGEST, LARGEST)
            else:
                texts = cells.astype(object).map(text)
                coded[:, j] = texts.map(levels).to_numpy(dtype=float, na_value=np.nan)
        return coded


def pipeline(model: Any, scaled: bool) -> Pipeline:
    """From raw columns to predictions; `scaled` where the model compares sizes of columns."""
    fill = SimpleImputer(strategy="most_frequent", keep_empty_features=True, add_indicator=True)
    scale = [("scale", StandardScaler())] if scaled else []
    return Pipeline([("encode", Encoder()), ("fill", fill), *scale, ("model", model)])


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
