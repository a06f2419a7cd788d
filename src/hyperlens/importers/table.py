"""Tables: a DataFrame, a CSV or a Parquet file, with a search space and a column of costs."""

from __future__ import annotations

import csv
import gzip
import math
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hyperlens.cube import BoolArray, FloatArray
from hyperlens.errors import SourceError, SpaceError, listed
from hyperlens.history import History, Objective, State, Trial
from hyperlens.importers.given import GivenSpace, as_space, settle
from hyperlens.importers.stored import one_line, seconds
from hyperlens.parameter import TOLERANCE, Parameter
from hyperlens.space import Space

if TYPE_CHECKING:
    from pandas import DataFrame

MOST_NAMED = 8  # ignored columns that are still worth naming

_MISSING = {"", "na", "n/a", "nan", "none", "null", "<na>", "nat"}
_STATES = {
    **dict.fromkeys(("complete", "completed", "success", "ok", "done", "finished"), State.COMPLETE),
    **dict.fromkeys(("pruned", "stopped", "early_stopped"), State.PRUNED),
    **dict.fromkeys(("fail", "failed", "failure", "error", "crashed", "crash"), State.FAILED),
    **dict.fromkeys(("timeout", "memout", "memoryout", "aborted", "terminated"), State.FAILED),
    **dict.fromkeys(("running", "waiting", "pending", "queued", "not_evaluated"), State.RUNNING),
}
_KNOWN = {
    "number": ("number", "trial", "trial_number", "config_id"),
    "state": ("state", "status"),
    "budget": ("budget",),
    "seed": ("seed",),
    "instance": ("instance",),
    "started": ("started", "start_time", "starttime", "datetime_start"),
    "ended": ("ended", "end_time", "endtime", "datetime_complete"),
}


def from_file(
    path: Path, space: GivenSpace | None, objective: str | None, maximize: bool | None = None
) -> History:
    """Read a CSV (`.csv`, `.tsv`, also gzipped) or a Parquet file."""
    given, cost = _asked(space, objective, f"The table '{path}'")
    frame = _parquet(path) if _is_parquet(path) else _csv(path)
    return _history(frame, given, cost, maximize, f"table {path.name}")


def from_frame(
    frame: DataFrame,
    space: GivenSpace | None,
    objective: str | None,
    maximize: bool | None = None,
) -> History:
    """Read a DataFrame."""
    given, cost = _asked(space, objective, "A DataFrame")
    return _history(frame, given, cost, maximize, "a DataFrame")


def _asked(space: GivenSpace | None, objective: str | None, what: str) -> tuple[Space, str]:
    if space is None:
        raise SourceError(
            f"{what} does not say what was searched; give its space with --space FILE "
            "(space= in Python)."
        )
    if objective is None:
        raise SourceError(
            f"{what} does not say which column was optimised; name it with --cost COLUMN "
            "(objective= in Python)."
        )
    return as_space(space), objective


def _is_parquet(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def _parquet(path: Path) -> DataFrame:
    import pandas

    try:
        return pandas.read_parquet(path)
    except Exception as problem:  # pyarrow's errors have no common base
        raise SourceError(
            f"The file '{path}' is not a readable Parquet table ({one_line(problem)}); "
            "write it again."
        ) from problem


def _csv(path: Path) -> DataFrame:
    """All cells as text, so that None, NA, True and 1 stay what the file says."""
    import pandas

    try:
        separator = _check_header(path)
        with warnings.catch_warnings():
            warnings.simplefilter("error", pandas.errors.ParserWarning)
            return pandas.read_csv(
                path,
                sep=separator,
                dtype=str,
                na_filter=False,
                index_col=False,
                encoding="utf-8-sig",
            )
    except UnicodeDecodeError as problem:
        raise SourceError(
            f"The table '{path}' is not text in UTF-8; save it again with that encoding."
        ) from problem
    except (pandas.errors.ParserError, pandas.errors.ParserWarning, csv.Error) as problem:
        raise SourceError(
            f"The table '{path}' is not a well-formed CSV ({one_line(problem)}); check its "
            "separators and quotes."
        ) from problem
    except (OSError, EOFError, zlib.error) as problem:
        raise SourceError(
            f"The table '{path}' cannot be read ({one_line(problem)}); check the file."
        ) from problem


def _check_header(path: Path) -> str:
    """The separator. Pandas renames columns of the same name, so the header is checked here."""
    packed = path.suffix.lower() == ".gz"
    unpack: Any = gzip.open if packed else open
    with unpack(path, "rt", encoding="utf-8-sig", newline="") as file:
        start = file.read(4096)
        if not start.strip():
            raise SourceError(f"The table '{path}' is empty; give one with a header and rows.")
        if "\0" in start:
            raise SourceError(f"The file '{path}' is binary, not a CSV; give the table as text.")
        first = start.lstrip().splitlines()[0]
        separator = max(",\t;", key=first.count)  # the comma where all are equal
        file.seek(0)
        header = next(filter(None, csv.reader(file, delimiter=separator)), [])
    _check_names(header, f"The table '{path}'")
    return separator


def _check_names(names: Sequence[str], what: str) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise SourceError(
            f"{what} has more than one column named {listed(twice)}; rename or remove the others."
        )


def _history(
    frame: DataFrame, space: Space, cost: str, maximize: bool | None, source: str
) -> History:
    columns = [str(name) for name in frame.columns]
    _check_names(columns, f"The {source.removeprefix('a ')}")
    frame = frame.set_axis(columns, axis=1)
    if cost not in columns:
        raise SourceError(
            f"There is no column '{cost}' for the cost; choose one of {listed(columns)} "
            "with --cost COLUMN (objective= in Python)."
        )
    if cost in space.names:
        raise SourceError(
            f"'{cost}' is a parameter of the space; name another column for the cost with --cost "
            "COLUMN (objective= in Python)."
        )
    missing = [name for name in space.names if name not in columns]
    if missing:
        raise SourceError(
            f"The table has no columns for the parameters {listed(missing)}; add them or correct "
            f"the names in the space (the columns are {listed(columns)})."
        )
    if len(frame) == 0:
        raise SourceError("The table has no rows; give one row for each trial.")
    costs = _numbers(frame[cost], cost, _bad_cost)
    rows: list[dict[str, Any]] = [{} for _ in range(len(frame))]
    for parameter in space.parameters:
        present, values = _values(frame[parameter.name], parameter)
        for i, value in zip(np.flatnonzero(present).tolist(), values, strict=True):
            rows[i][parameter.name] = value
    whole, notes = settle(space, rows)
    details, used, remarks = _details(frame, {*space.names, *space.constants, cost})
    ignored = [c for c in columns if c not in {*space.names, *space.constants, cost, *used}]
    if 0 < len(ignored) <= MOST_NAMED:
        notes.append(
            f"Columns that are neither parameters nor the cost were ignored: {listed(ignored)}."
        )
    trials = tuple(
        Trial(values=rows[i], costs=(costs[i],), **{k: d[i] for k, d in details.items()})
        for i in whole
    )
    objectives = (Objective(cost, bool(maximize)),)
    return History(space, objectives, trials, source, (*notes, *remarks))


def _bad_cost(column: str, row: int, cell: Any) -> SourceError:
    return SourceError(
        f"The cost '{column}' is {cell!r} in row {row}, which is not a number; correct the cell or "
        "name another column with --cost COLUMN (objective= in Python)."
    )


def _bad_number(column: str, row: int, cell: Any) -> SpaceError:
    return SpaceError(
        f"Parameter '{column}' is {cell!r} in row {row}, which is not a number; correct the cell "
        "or make the parameter categorical in the space."
    )


def _numbers(cells: Any, column: str, problem: Callable[[str, int, Any], Exception]) -> list[float]:
    """A column as floats, nan where a cell is empty."""
    if cells.dtype.kind in "iuf":
        return [float(x) for x in cells.to_numpy(dtype=float, na_value=np.nan)]
    numbers = []
    missing = cells.isna().to_numpy()
    for i, cell in enumerate(cells.tolist()):
        try:
            numbers.append(math.nan if missing[i] else float(cell))
        except (TypeError, ValueError):
            if str(cell).strip().lower() not in _MISSING:
                raise problem(column, i + 1, cell) from None
            numbers.append(math.nan)
    return numbers


def _values(cells: Any, parameter: Parameter) -> tuple[BoolArray, list[Any]]:
    """Where a parameter has a value, and these values."""
    if parameter.kind in ("float", "integer"):
        numbers = np.array(_numbers(cells, parameter.name, _bad_number))
        present = ~np.isnan(numbers)
        _check_range(numbers, parameter)
        if parameter.kind == "integer":
            return present, np.rint(numbers[present]).astype(np.int64).tolist()
        return present, numbers[present].tolist()
    return _choices(cells, parameter)


def _check_range(numbers: FloatArray, parameter: Parameter) -> None:
    slack = TOLERANCE * (parameter.upper - parameter.lower)
    outside = (numbers < parameter.lower - slack) | (numbers > parameter.upper + slack)
    if outside.any():
        row = int(np.flatnonzero(outside)[0])
        raise SpaceError(
            f"Parameter '{parameter.name}' is {numbers[row]:g} in row {row + 1}, outside its range "
            f"[{parameter.lower:g}, {parameter.upper:g}]; correct the cell or widen the range."
        )
    if parameter.kind == "integer":
        broken = np.abs(np.rint(numbers) - numbers) > 1e-6
        if broken.any():
            row = int(np.flatnonzero(broken)[0])
            raise SpaceError(
                f"Parameter '{parameter.name}' is {numbers[row]:g} in row {row + 1} but is an "
                "integer; correct the cell or make the parameter a float."
            )


def _choices(cells: Any, parameter: Parameter) -> tuple[BoolArray, list[Any]]:
    """Cells matched to choices exactly, by their text, or as numbers; each distinct cell once."""
    known: dict[tuple[type, Any], tuple[bool, Any]] = {}
    missing = cells.isna().to_numpy()
    present = np.zeros(len(cells), dtype=bool)
    values = []
    for i, cell in enumerate(cells.tolist()):
        key = (type(None), None) if missing[i] else (type(cell), cell)
        if key not in known:
            known[key] = _choice(key[1], parameter, i + 1)
        present[i], value = known[key]
        if present[i]:
            values.append(value)
    return present, values


def _choice(cell: Any, parameter: Parameter, row: int) -> tuple[bool, Any]:
    """Is there a value, and which choice is it? An empty cell means None where that is one."""
    empty = cell is None or (isinstance(cell, str) and cell.strip().lower() in _MISSING)
    readings = [cell, *_readings(cell)]
    for reading in readings:
        try:
            code = parameter.encode([reading])
        except SpaceError:
            continue
        if reading is not None or None in parameter.choices:
            return True, parameter.decode(code)[0]
    if empty:
        return (True, None) if None in parameter.choices else (False, None)
    raise SpaceError(
        f"Parameter '{parameter.name}' is {cell!r} in row {row}, which is not among its choices "
        f"({listed(parameter.choices)}); correct the cell or add the choice to the space."
    )


def _readings(cell: Any) -> list[Any]:
    """Other things that a text, or a number that a table widened, may stand for."""
    if isinstance(cell, str):
        text = cell.strip()
        found: list[Any] = [text]
        if text.lower() in ("true", "false"):
            found.append(text.lower() == "true")
        with suppress(ValueError):
            found.append(float(text))
        return found
    if isinstance(cell, float) and cell.is_integer():
        return [int(cell)]
    return []


def _details(frame: DataFrame, taken: set[str]) -> tuple[dict[str, list[Any]], set[str], list[str]]:
    """Trial fields out of well-known columns, the columns used, and remarks."""
    lower = {column.lower(): column for column in reversed(frame.columns) if column not in taken}
    details: dict[str, list[Any]] = {"number": list(range(len(frame)))}
    used, remarks = set(), []
    for name, aliases in _KNOWN.items():
        column = next((lower[alias] for alias in aliases if alias in lower), None)
        if column is None:
            continue
        cells = frame[column]
        texts = [None if gone else c for c, gone in zip(cells.tolist(), cells.isna(), strict=True)]
        try:
            details[name] = _READERS[name](texts)
            used.add(column)
        except (TypeError, ValueError) as problem:
            remarks.append(
                f"The column '{column}' was ignored, since it is not a trial's {name} "
                f"({one_line(problem)})."
            )
    return details, used, remarks


def _is_missing(cell: Any) -> bool:
    return cell is None or str(cell).strip().lower() in _MISSING


def _whole_numbers(cells: Sequence[Any]) -> list[int | None]:
    return [None if _is_missing(cell) else int(float(cell)) for cell in cells]


def _trial_numbers(cells: Sequence[Any]) -> list[int]:
    numbers = [int(float(cell)) for cell in cells]
    if len(set(numbers)) < len(numbers):  # a configuration evaluated again is another trial
        return list(range(len(numbers)))
    return numbers


def _states(cells: Sequence[Any]) -> list[State]:
    """A trial is complete unless the column says otherwise."""
    words = ["" if _is_missing(c) else str(c).rsplit(".", 1)[-1].strip().lower() for c in cells]
    unknown = sorted(set(words) - _STATES.keys() - {""})
    if unknown:
        raise ValueError(f"unknown word {unknown[0]!r}")
    return [_STATES.get(word, State.COMPLETE) for word in words]


def _moments(cells: Sequence[Any]) -> list[float | None]:
    return [None if _is_missing(cell) else _moment(cell) for cell in cells]


def _moment(cell: Any) -> float | None:
    try:
        return float(cell)
    except (TypeError, ValueError):
        return seconds(cell)


_READERS: dict[str, Callable[[Sequence[Any]], list[Any]]] = {
    "number": _trial_numbers,
    "state": _states,
    "budget": lambda cells: [None if _is_missing(cell) else float(cell) for cell in cells],
    "seed": _whole_numbers,
    "instance": lambda cells: [None if _is_missing(cell) else str(cell) for cell in cells],
    "started": _moments,
    "ended": _moments,
}
