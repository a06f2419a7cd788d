"""A table and the question asked of it: which column is predicted, and as what."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hyperlens.cash.data.column_kinds import (
    DECIMAL_COMMA,
    MOST_PART,
    Column,
    Columns,
    TableError,
    as_numbers,
    how_to_clean,
    looks_numeric,
)
from hyperlens.cash.models.model import Task
from hyperlens.cash.models.preprocessing import text
from hyperlens.errors import NO_PARQUET, SourceError, listed

if TYPE_CHECKING:
    import pandas as pd

MOST_CLASSES = 20  # whole numbers with more values are amounts
CLASS_ROWS = 5  # a class of numbers has at least so many rows on average
MANY_CLASSES = 0.5  # a class in every other row is a name
MISSING = ["?"]  # beside pandas' own: empty, NA, nan, null and the like
SEPARATOR, RENAMED = "hyperlens:separator", "hyperlens:renamed"  # attributes of a frame


@dataclass(frozen=True, eq=False)
class Table:
    """Rows with a target. `X` are the columns as numbers and texts; `columns` gives them from a raw
    frame. `sentences` say what was decided and what was left out; `separator` is that of its file,
    None if it has none. `weights` say what each row counts, None where all count alike; `groups`
    which rows belong together, None where none do."""

    name: str
    target: str
    task: Task
    X: Any
    y: Any
    columns: Columns
    sentences: tuple[str, ...]
    separator: str | None = None
    weights: Any = None
    groups: Any = None

    @property
    def described(self) -> tuple[Column, ...]:
        return tuple(self.columns.columns_)


def read_table(path: str | Path) -> pd.DataFrame:
    """A CSV (commas, semicolons or tabs; compressed by gzip or not) or Parquet file. Attributes of
    the frame say how it was separated and which names came twice."""
    import pandas as pd

    path = Path(path)
    separator, head = None, []
    if not path.is_file():
        raise SourceError(f"There is no table '{path}'; check its path.")
    try:
        with path.open("rb") as file:
            start = file.read(4)
        if start == b"PAR1":
            frame = pd.read_parquet(path)
        else:
            packed = start[:2] == b"\x1f\x8b"
            reader: Any = gzip.open if packed else open
            with reader(path, "rt", encoding="utf-8-sig") as lines:
                separator = max(",;\t", key=lines.readline().count)
            form: Any = {"sep": separator, "encoding": "utf-8-sig"}
            form["compression"] = "gzip" if packed else None
            frame = pd.read_csv(path, **form, na_values=MISSING, low_memory=False)
            form |= {"header": None, "nrows": 1, "dtype": str, "keep_default_na": False}
            head = list(pd.read_csv(path, **form).iloc[0])
    except ImportError as problem:
        raise SourceError(NO_PARQUET.format(path)) from problem
    except Exception as problem:  # pyarrow's and pandas' errors have no common base
        reason = " ".join(f"{type(problem).__name__}: {problem}".split())[:200]
        raise SourceError(
            f"The table '{path}' cannot be read ({reason}); give a CSV in UTF-8 or a Parquet file."
        ) from problem
    frame.attrs[SEPARATOR] = separator
    frame.attrs[RENAMED] = [
        (was.strip(), str(now).strip())
        for was, now in zip(head, frame.columns, strict=False)
        if was and head.count(was) > 1 and was != now
    ]
    frame.columns = [str(name).strip() for name in frame.columns]
    if not len(frame):
        raise SourceError(f"The table '{path}' has no rows; give one for each example.")
    return frame


def prepare(
    frame: pd.DataFrame,
    target: str,
    task: Task | None = None,
    *,
    name: str = "table",
    keep: Sequence[str] = (),
    drop: Sequence[str] = (),
    weight: str | None = None,
    group: str | None = None,
) -> Table:
    """Decide what is predicted and from what. The column `weight` says what each row counts, `group`
    which rows belong together (a patient, a day); neither is learnt from."""
    names = [str(c) for c in frame.columns]
    _check_names(names, target, keep, drop)
    separator = frame.attrs.get(SEPARATOR)
    decimal = "," if separator == ";" else "."
    sentences = [
        f"The column name '{was}' comes more than once; the later one is called '{now}' here."
        for was, now in frame.attrs.get(RENAMED, ())
    ]
    frame = frame.set_axis(names, axis=1)
    known = frame[target].notna()
    if not known.any():
        raise TableError(f"The target '{target}' is empty in all rows; choose another column.")
    if not known.all():
        sentences.append(
            f"{int((~known).sum())} of {len(frame)} rows have no '{target}' and are left out."
        )
        frame = frame[known]
    numeric, aside = _numeric(frame[target], target, task, decimal)
    frame = frame[numeric]
    task, y, why = _question(frame[target], target, task, decimal)
    sentences += aside
    features = frame.drop(columns=target)
    weights = None if weight is None else _weights(features, weight, decimal)
    groups = None if group is None else _groups(features, group)
    sentences += _about_rows(weight, group, groups)
    features = features.drop(columns=[c for c in {weight, group} if c is not None])
    finite = np.ones(len(y), dtype=bool) if task == "classification" else np.isfinite(y)
    if not finite.all():
        sentences.append(
            f"{int((~finite).sum())} rows have a '{target}' that is no finite number and are left out."
        )
        features, y = features[finite], y[finite]
        weights, groups = (None if of is None else of[finite] for of in (weights, groups))
    _check_target(y, target, task, frame[target], decimal)
    if not features.shape[1]:
        raise TableError(f"The table has no column beside the target '{target}'; add some.")
    step = Columns(keep, drop, decimal).fit(features)
    X = step.transform(features).reset_index(drop=True)
    sentences = [why, *sentences, *_about_columns(step.columns_, len(X))]
    return Table(name, target, task, X, y, step, tuple(sentences), separator, weights, groups)


def _check_names(
    names: Sequence[str], target: str, keep: Sequence[str], drop: Sequence[str]
) -> None:
    if names.count(target) != 1:
        many = "more than one" if target in names else "no"
        near = [] if target in names else get_close_matches(target, names, 1)
        meant = f" Did you mean '{near[0]}'?" if near else ""
        raise TableError(
            f"There is {many} column '{target}'; the table has {listed(names, 20)}.{meant}"
        )
    for option, columns in (("keep", keep), ("drop", drop)):
        if target in columns:
            raise TableError(
                f"'{target}' is the target, which is always there; leave it out of {option}."
            )


def _about_rows(weight: str | None, group: str | None, groups: Any) -> Iterator[str]:
    if weight is not None:
        yield f"Rows count by '{weight}', which is not learnt from."
    if group is not None:
        count = len(np.unique(groups))
        yield f"Rows of one '{group}' are held out together ({count} groups); it is not learnt from."


def _one_column(features: pd.DataFrame, name: str, to: str) -> pd.Series:
    if list(features.columns).count(name) != 1:
        raise TableError(
            f"There is no one column '{name}' beside the target to {to}; the table has "
            f"{listed(features.columns, 20)}."
        )
    return features[name]


def _groups(features: pd.DataFrame, name: str) -> Any:
    cells = _one_column(features, name, "hold rows out together by")
    if cells.isna().any():
        raise TableError(
            f"{int(cells.isna().sum())} of {len(cells)} cells of '{name}', which says what rows belong "
            "together, are empty; fill them."
        )
    return cells.astype(object).map(text).to_numpy()


def _weights(features: pd.DataFrame, name: str, decimal: str) -> Any:
    cells = _one_column(features, name, "weigh rows by")
    numbers = as_numbers(cells, decimal).to_numpy()
    if not (np.isfinite(numbers).all() and (numbers >= 0).all() and numbers.any()):
        raise TableError(
            f"The column '{name}' weighs rows, so its cells must be finite numbers, none negative and "
            "not all zero; correct them."
        )
    return numbers


def _numeric(
    cells: pd.Series, name: str, task: Task | None, decimal: str
) -> tuple[pd.Series, list[str]]:
    """Rows of a target that is a number, and what is said of the others; all rows where it is none,
    or where classes are asked for."""
    numbers = as_numbers(cells, decimal).notna()
    if task == "classification" or numbers.all() or numbers.mean() < MOST_PART:
        return numbers | True, []
    count, example = int((~numbers).sum()), cells[~numbers].iloc[0]
    row = "row has" if count == 1 else "rows have"
    sentence = (
        f"{count} of {len(cells)} {row} a '{name}' that is no number, such as '{example}', and "
        f"{'is' if count == 1 else 'are'} left out"
    )
    if cells.nunique() <= MOST_CLASSES:
        sentence += "; --task classification takes every value as a class"
    return numbers, [f"{sentence}."]


def _question(
    cells: pd.Series, name: str, task: Task | None, decimal: str
) -> tuple[Task, Any, str]:
    """The task, the target as it is learnt, and the sentence that says so."""
    numbers = as_numbers(cells, decimal)
    numeric = bool(numbers.notna().all()) and cells.dtype.kind != "b"
    values = np.unique(numbers) if numeric else np.unique(cells.astype(object).map(text))
    n = len(values)
    whole = numeric and bool(np.all(values == np.round(values)))
    if task == "regression":
        if not bool(numbers.notna().all()):
            remedy = "predict classes instead (--task classification)"
            if n > MANY_CLASSES * len(cells):
                remedy = "write numbers or leave the cells empty"
            raise TableError(f"The target '{name}' {_culprit(cells, numbers)}; {remedy}.")
        return "regression", numbers.to_numpy(), f"'{name}' is predicted as a number, as you asked."
    few = n <= 2 or (whole and n <= MOST_CLASSES and CLASS_ROWS * n <= len(cells))
    if task is None and numeric and not few:
        why = (
            f"'{name}' has {n} different numbers, so a number is predicted (regression); "
            "--task classification for classes."
        )
        return "regression", numbers.to_numpy(), why
    y = cells.astype(object).map(text).to_numpy()
    if whole:
        y = numbers.to_numpy().astype(np.int64)
    elif cells.dtype.kind == "b":
        y = cells.to_numpy(dtype=bool)
    elif numeric:
        y = y.astype(str)
    other = "; --task regression for a number" if numeric and task is None else ""
    asked = ", as you asked" if task else ""
    why = f"'{name}' has {n} different values, so classes are predicted{asked} (classification){other}."
    return "classification", y, why


def _culprit(cells: pd.Series, numbers: pd.Series) -> str:
    """What keeps a target from being a number."""
    wrong = cells[numbers.isna()]
    if example := looks_numeric(cells):
        return how_to_clean(example)
    return f"holds texts such as '{wrong.iloc[0]}' in {len(wrong)} of {len(cells)} rows"


def _check_target(y: Any, name: str, task: Task, cells: pd.Series, decimal: str) -> None:
    values: Any = np.unique(y) if len(y) else []
    if len(values) < 2:
        only = f" '{values[0]}'" if len(values) else ""
        kind = "one class" if task == "classification" else "one value"
        raise TableError(
            f"The target '{name}' has {kind}{only}, so there is nothing to learn; choose another "
            "column or add rows."
        )
    if task == "classification" and len(values) > max(2, MANY_CLASSES * len(y)):
        numbers = as_numbers(cells, decimal)
        remedy = "choose another column"
        if numbers.notna().mean() >= MOST_PART:
            remedy += ", or --task regression for a number"
        elif numbers.notna().mean() >= MANY_CLASSES or looks_numeric(cells):
            remedy += f", or make it a number, for it {_culprit(cells, numbers)}"
        raise TableError(
            f"The target '{name}' has {len(values)} classes in {len(y)} rows, which name the rows "
            f"rather than group them; {remedy}."
        )


def _about_columns(columns: Sequence[Column], rows: int) -> list[str]:
    """What was made of the columns."""
    plural = {"number": "numbers", "category": "categories", "text": "texts", "date": "dates"}
    counts = {role: sum(c.role == role for c in columns) for role in plural}
    parts = [f"{n} {plural[r] if n > 1 else r}" for r, n in counts.items() if n]
    sentences = [f"{rows} rows; columns: {', '.join(parts)}."]
    commas = [c.name for c in columns if c.why.startswith(DECIMAL_COMMA)]
    if commas:
        sentences.append(
            f"The file is separated by semicolons, so decimal commas are read as such: {listed(commas)}."
        )
    for column in columns:
        if column.hint:
            sentences.append(f"Column '{column.name}' {column.hint}.")
        if column.role == "left out":
            sentences.append(f"Column '{column.name}' {column.why} and is left out.")
        elif column.why and column.why != DECIMAL_COMMA:
            sentences.append(f"Column '{column.name}' ({column.role}) {column.why}.")
    return sentences
