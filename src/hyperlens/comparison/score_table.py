"""A table of results: rows data sets and columns methods, or one row for each result."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hyperlens.errors import NO_PARQUET, AnalysisError, SourceError, listed
from hyperlens.spaces.cube import FloatArray
from hyperlens.words import with_a_point

if TYPE_CHECKING:
    from pandas import DataFrame, Series

CORRECT = "correct the cell, or leave it empty if there is no result"
MISSING = {"", "na", "n/a", "nan", "none", "null", "<na>", "-", "?"}
DATASET = ("dataset", "data set", "data_set", "data", "task", "problem", "instance", "benchmark")
METHOD = (
    *("method", "algorithm", "classifier", "optimizer", "optimiser", "scheme", "approach"),
    *("model", "learner", "tuner"),
)
INDEX = (
    *("seed", "id", "index", "fold", "run", "repetition"),
    *("dataset_id", "dataset id", "data_id", "task_id", "task id", "openml_id"),
)
UNNAMED = ("", "Unnamed: 0")
VALUE = ("value", "result", "score", "loss", "error", "cost", "accuracy", "auc", "metric")


@dataclass(frozen=True)
class Results:
    """`values[i, j]` is what method j reached on data set i; nan where that is missing.

    `notes` say how the table was read where that may not be what was meant.
    """

    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    values: FloatArray
    notes: tuple[str, ...] = ()


def read(path: str | Path) -> DataFrame:
    """A CSV, TSV or Parquet file as a frame; the cells of a text file stay text."""
    import pandas

    path = Path(path)
    if not path.is_file():
        raise SourceError(f"There is no table '{path}'; check the path of the results.")
    try:
        with path.open("rb") as file:
            if file.read(4) == b"PAR1":
                return pandas.read_parquet(path)
        with path.open(encoding="utf-8-sig", newline="") as text:
            first = text.readline()
            separator = max(",\t;", key=first.count)
            text.seek(0)
            rows = [row for row in csv.reader(text, delimiter=separator) if any(row)]
    except ImportError as problem:
        raise SourceError(NO_PARQUET.format(path)) from problem
    except Exception as problem:  # pyarrow's errors have no common base
        reason = " ".join(f"{type(problem).__name__}: {problem}".split())[:200]
        raise SourceError(
            f"The table '{path}' cannot be read ({reason}); give a CSV in UTF-8 or a Parquet file."
        ) from problem
    if len(rows) < 2:
        raise SourceError(f"The table '{path}' has no rows; give one row for each data set.")
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(rows[0]):
            raise SourceError(
                f"Line {number} of '{path}' has {len(row)} cells where its header has "
                f"{len(rows[0])}; check its separators and quotes."
            )
    if separator == ";":  # between semicolons a comma within a number is a decimal comma
        rows[1:] = [[with_a_point(cell) for cell in row] for row in rows[1:]]
    return pandas.DataFrame(rows[1:], columns=[name.strip() for name in rows[0]], dtype=object)


def results(
    table: DataFrame | Mapping[str, Any],
    dataset: str | None = None,
    method: str | None = None,
    value: str | None = None,
) -> Results:
    """Read a frame or a dict of columns, in wide or in long form; columns that are given need not
    be recognised."""
    frame = _framed(table)
    columns = [str(name) for name in frame.columns]
    twice = [name for name, count in Counter(columns).items() if count > 1]
    if twice:
        raise SourceError(
            f"The table has more than one column named {listed(twice)}; rename or remove the others."
        )
    frame = frame.set_axis(columns, axis=1)
    for name in filter(None, (dataset, method, value)):
        if name not in columns:
            raise SourceError(f"There is no column '{name}'; choose one of {listed(columns)}.")
    if frame.empty:
        raise SourceError(
            "The table has no rows or no columns; give one row for each data set and one column for "
            "each method."
        )
    method = method or next((c for c in _named(columns, METHOD) if _is_text(frame[c])), None)
    return _wide(frame, dataset) if method is None else _long(frame, dataset, method, value)


def _framed(table: object) -> DataFrame:
    import pandas

    if isinstance(table, pandas.DataFrame):
        return table
    if not isinstance(table, Mapping):
        raise AnalysisError(
            f"A table of results is a pandas DataFrame or a dict of columns, not a "
            f"{type(table).__name__}; give one column for each method, and read a file with "
            "pandas.read_csv first."
        )
    try:
        return pandas.DataFrame(dict(table))
    except (TypeError, ValueError) as problem:
        reason = " ".join(str(problem).split())[:200]
        raise AnalysisError(
            f"The columns of the dict do not make a table ({reason}); give each a list with one "
            "result for each data set."
        ) from problem


def _wide(frame: DataFrame, dataset: str | None) -> Results:
    first = str(frame.columns[0])
    named = dataset or next(iter(_named(frame.columns, DATASET)), None)
    notes: tuple[str, ...] = ()
    if named is None and _text_share(frame[first]) > 0.5:
        named = first
    elif named is None and (why := _looks_like_an_index(first, frame[first])):
        named, notes = first, (why,)
    if named is not None:
        names = [str(cell) for cell in frame[named]]
        frame = frame.drop(columns=named)
    elif type(frame.index).__name__ != "RangeIndex":
        names = [str(cell) for cell in frame.index]
    else:
        names = [str(number) for number in range(1, len(frame) + 1)]
    _check_unique(names, named)
    columns = []
    for method in map(str, frame.columns):
        remedy = _remedy(method, frame[method], named)
        cells = zip(frame[method], names, strict=True)
        columns.append([_number(cell, method, name, remedy) for cell, name in cells])
    values = np.array(columns, dtype=float).T.reshape(len(names), len(columns))
    return Results(tuple(names), tuple(map(str, frame.columns)), values, notes)


def _looks_like_an_index(name: str, cells: Series) -> str:
    """Why a first column of numbers holds names rather than results; empty where it does not."""
    if name in UNNAMED:
        return "The first column has no name, so it names the data sets; name it if it is a method."
    numbers = [_parsed(cell) for cell in cells]
    whole = all(number.is_integer() for number in numbers)
    if name.strip().lower() in INDEX and whole and len(set(numbers)) == len(numbers):
        return (
            f"The first column '{name}' holds different whole numbers, so it names the data sets; "
            "rename it if it is a method."
        )
    return ""


def _remedy(method: str, cells: Series, named: str | None) -> str:
    """What to do about a cell of a column that is not a number."""
    if _text_share(cells) < 0.5:
        return CORRECT
    if named is None:
        return (
            f"if that column holds the names of the data sets, say so with --dataset '{method}' "
            f"(dataset='{method}' in Python), else {CORRECT}"
        )
    return f"leave the column out if it holds no results, else {CORRECT}"


def _long(frame: DataFrame, dataset: str | None, method: str, value: str | None) -> Results:
    others = [c for c in frame.columns if c not in (method, value)]
    dataset = dataset or _only(
        _named(others, DATASET) or [c for c in others if _is_text(frame[c])], "data sets", "dataset"
    )
    others = [c for c in others if c != dataset]
    value = value or _only(
        _named(others, VALUE) or [c for c in others if not _is_text(frame[c])], "results", "value"
    )
    datasets = list(dict.fromkeys(str(cell) for cell in frame[dataset]))
    methods = list(dict.fromkeys(str(cell) for cell in frame[method]))
    values = np.full((len(datasets), len(methods)), np.nan)
    row = {name: i for i, name in enumerate(datasets)}
    column = {name: j for j, name in enumerate(methods)}
    seen: set[tuple[str, str]] = set()
    for d, m, cell in zip(frame[dataset], frame[method], frame[value], strict=True):
        pair = (str(d), str(m))
        if pair in seen:
            raise SourceError(
                f"There is more than one result of method '{m}' on data set '{d}'; "
                "average repetitions first, or remove the copies."
            )
        seen.add(pair)
        values[row[pair[0]], column[pair[1]]] = _number(cell, pair[1], pair[0])
    return Results(tuple(datasets), tuple(methods), values)


def _named(columns: Sequence[Any], known: Sequence[str]) -> list[str]:
    """Columns by well-known names, the best known first."""
    lower = {str(c).strip().lower(): str(c) for c in reversed(list(columns))}
    return [lower[name] for name in known if name in lower]


def _only(found: list[str], what: str, argument: str) -> str:
    if found and (len(found) == 1 or found[0].strip().lower() in (*DATASET, *VALUE)):
        return found[0]
    raise SourceError(
        f"It is not clear which column holds the {what}; name it with --{argument} COLUMN "
        f"({argument}= in Python)."
    )


def _is_text(cells: Series) -> bool:
    """Does a column hold anything that is not a number?"""
    return _text_share(cells) > 0.0


def _text_share(cells: Series) -> float:
    """Which part of a column's cells, but for the missing ones, are not numbers?"""
    texts = [math.isnan(_parsed(cell)) for cell in cells if not _is_missing(cell)]
    return sum(texts) / max(len(texts), 1)


def _is_missing(cell: Any) -> bool:
    if isinstance(cell, str):
        return cell.strip().lower() in MISSING
    return cell is None or cell != cell or str(cell) in ("<NA>", "NaT")


def _parsed(cell: Any) -> float:
    """The cell as a number, else nan."""
    if isinstance(cell, (bool, np.bool_)) or _is_missing(cell):
        return math.nan
    try:
        return float(cell)
    except (TypeError, ValueError):
        return math.nan


def _number(cell: Any, method: str, dataset: str, remedy: str = CORRECT) -> float:
    if _is_missing(cell):
        return math.nan
    number = _parsed(cell)
    if not math.isfinite(number):
        what = "infinite" if math.isinf(number) else f"{cell!r}, which is not a number"
        raise SourceError(
            f"The result of method '{method}' on data set '{dataset}' is {what}; {remedy}."
        )
    return number


def _check_unique(names: Sequence[str], column: str | None) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        where = f", named by the column '{column}'" if column is not None else ""
        raise SourceError(
            f"There is more than one row for the data sets {listed(twice)}{where}; "
            "average repetitions first, or remove the copies."
        )
