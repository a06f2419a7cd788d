"""What each column of a table is, as a step of a pipeline: new tables are read as the first one.

number     a number; cells that are none count as missing
category   a text that comes again and again
text       phrases or sentences, most of them once (models/text_columns.py)
date       days since 1970, month and day of the week
left out   says nothing (constant, empty), or names the row instead of describing it
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from hyperlens.cash.models.preprocessing import as_days, text
from hyperlens.cash.models.text_columns import is_own, is_text
from hyperlens.errors import SourceError, listed
from hyperlens.words import with_a_point

if TYPE_CHECKING:
    import pandas as pd

Role = Literal["number", "category", "text", "date", "left out"]

MOST_PART = 0.95  # of the cells that are there decide what a column is
FORMATS = ("ISO8601", "%Y/%m/%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%d-%m-%Y")
ID = re.compile(r"(?i)(^|[ _.-])(id|index|key|uuid|guid|nr|unnamed: \d+)$|[a-z](Id|ID)$")
FEW_ROWS = 10  # in which any column may tell rows apart
SIGNS = re.compile(r"[\s$€£¥%'’]|CHF|EUR|USD|GBP")  # what people write around and within numbers
BARE = re.compile(
    r"[+-]?(\d+|\d{1,3}([.,]\d{3})+)([.,](\d+|-))?([eE][+-]?\d+)?"
)  # what is left then
MOST_LOOKED_AT = 10_000  # cells, to see whether they look like numbers
DECIMAL_COMMA = "is read with decimal commas"


class TableError(SourceError, ValueError):
    """A table that cannot be learnt from; scikit-learn expects a ValueError."""


@dataclass(frozen=True)
class Column:
    """A column of the table: what it is, and why, where that is not plain to see."""

    name: str
    role: Role
    why: str = ""
    format: str | None = None  # of dates that are texts
    hint: str = ""  # how to make more of it


class Columns(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A frame as numbers and texts, without what names its rows; `keep` and `drop` overrule. With
    the `decimal` "," a text such as 0,13 is a number too."""

    def __init__(
        self, keep: Sequence[str] = (), drop: Sequence[str] = (), decimal: str = "."
    ) -> None:
        self.keep = keep
        self.drop = drop
        self.decimal = decimal

    def fit(self, X: Any, y: Any = None) -> Columns:
        for name in (*self.keep, *self.drop):
            if name not in set(X.columns):
                known = listed(X.columns)
                raise TableError(f"There is no column '{name}' to keep or drop; there are {known}.")
        if both := [name for name in self.keep if name in self.drop]:
            raise TableError(
                f"The column {listed(both)} cannot be both kept and dropped; choose one of the two."
            )
        self.columns_ = [self._judged(str(name), X[name]) for name in X.columns]
        if all(c.role == "left out" for c in self.columns_):
            why = "; ".join(f"'{c.name}' {c.hint or c.why}" for c in self.columns_[:5])
            raise TableError(f"No column is left to learn from ({why}); add others or keep one.")
        self.n_features_in_ = len(self.columns_)
        return self

    def transform(self, X: Any) -> Any:
        import pandas as pd

        check_is_fitted(self, "columns_")
        used = [c for c in self.columns_ if c.role != "left out"]
        if missing := [c.name for c in used if c.name not in set(X.columns)]:
            raise TableError(
                f"The table lacks the columns {listed(missing)} that the model was trained on; add "
                "them, empty where they are unknown."
            )
        table: dict[str, Any] = {}
        for column in used:
            cells = X[column.name]
            if column.role == "number":
                table[column.name] = as_numbers(cells, self.decimal)
            elif column.role in ("category", "text"):
                texts = cells.astype(object).map(text)
                table[column.name] = texts.where(texts.notna(), None).astype(object)
            else:
                moment = as_dates(cells, column.format)
                table[column.name] = as_days(moment)
                table[f"{column.name}: month"] = moment.dt.month.astype(float)
                table[f"{column.name}: weekday"] = moment.dt.day_of_week.astype(float)
        return pd.DataFrame(table, index=X.index)

    def _judged(self, name: str, cells: pd.Series) -> Column:
        if name in self.drop:
            return Column(name, "left out", "was dropped by you")
        column = _described(name, cells, self.decimal)
        if column.role == "left out" and name in self.keep and cells.notna().any():
            return _kind(name, cells, self.decimal)
        return column


def as_numbers(cells: pd.Series, decimal: str = ".") -> pd.Series:
    """Numbers, nan for what is none."""
    import pandas as pd

    if cells.dtype.kind == "O":
        cells = cells.astype(object)
        if decimal == ",":
            cells = cells.map(with_a_point)
    return pd.to_numeric(cells, errors="coerce").astype(float)


def looks_numeric(present: pd.Series) -> str | None:
    """An example of cells that are numbers but for signs such as $ and %; None if most are not."""
    present = present.iloc[:MOST_LOOKED_AT]
    texts = present.astype(str)
    bare = [BARE.fullmatch(SIGNS.sub("", each)) is not None for each in texts]
    signed = as_numbers(present).isna().to_numpy() & np.array(bare)
    if np.mean(bare) < MOST_PART or not signed.any():
        return None
    return str(texts[signed].iloc[0])


def how_to_clean(example: str) -> str:
    return (
        f"looks like numbers with signs, such as '{example}': write them without currency, percent "
        "and thousands signs and with a decimal point to have them read as numbers"
    )


def as_dates(cells: pd.Series, format: str | None) -> pd.Series:
    """Moments without a time zone."""
    import pandas as pd

    texts = cells.astype(str).where(cells.notna()) if format is not None else cells
    return pd.to_datetime(texts, format=format, errors="coerce", utc=True).dt.tz_localize(None)


def _described(name: str, cells: pd.Series, decimal: str) -> Column:
    present = cells.dropna()
    if not len(present):
        return Column(name, "left out", "is empty")
    texts = present.astype(object).map(text)
    different = texts.nunique()
    if different == 1 and len(present) == len(cells):
        return Column(name, "left out", "is the same in all rows")
    column = _kind(name, cells, decimal)
    if len(present) < FEW_ROWS:
        return column
    if column.role == "category" and is_own(different, len(present)):
        if not column.hint and is_text(present, different):
            return Column(name, "text")
        own = f"is a text of its own in {different} rows"
        return Column(name, "left out", own, hint=column.hint)
    if column.role == "number" and different == len(present) and _counts_rows(name, present):
        return Column(name, "left out", "numbers the rows")
    return column


def _kind(name: str, cells: pd.Series, decimal: str) -> Column:
    """Number, date or category, by most of the cells that are there."""
    import warnings

    if cells.dtype.kind == "M":
        return Column(name, "date")
    if cells.dtype.kind in "biuf":
        return Column(name, "number")
    present = cells.dropna()
    numbers = as_numbers(present, decimal).notna()
    if numbers.mean() >= MOST_PART:
        commas = bool(as_numbers(present)[numbers].isna().any())
        why = [DECIMAL_COMMA] if commas else []
        return Column(name, "number", " and ".join([*why, *_wrong(present[~numbers])]))
    for form in FORMATS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pandas' advice on formats
            parsed = as_dates(present, form).notna().mean()
        if parsed >= MOST_PART:
            doubt = form in ("%m/%d/%Y", "%d/%m/%Y")
            return Column(name, "date", f"is read as {form}" if doubt else "", form)
    example = looks_numeric(present)
    return Column(name, "category", hint=how_to_clean(example) if example else "")


def _wrong(cells: pd.Series) -> list[str]:
    """What is said of cells that are no numbers, if there are any."""
    if not len(cells):
        return []
    each = "cell that is no number" if len(cells) == 1 else "cells that are no numbers"
    return [f"has {len(cells)} {each}, such as '{cells.iloc[0]}'"]


def _counts_rows(name: str, present: pd.Series) -> bool:
    numbers = as_numbers(present).to_numpy()
    if not np.all(numbers == np.round(numbers)):
        return False
    consecutive = np.ptp(numbers) == len(numbers) - 1
    return bool(consecutive or ID.search(name))
