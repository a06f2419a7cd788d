"""Cells of a table: as numbers, as the choices of a parameter, or as what they look like."""

import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from hyperlens.errors import SourceError, SpaceError, listed
from hyperlens.spaces.cube import BoolArray, FloatArray
from hyperlens.spaces.parameter import TOLERANCE, Parameter

_MISSING = {"", "na", "n/a", "nan", "none", "null", "<na>", "nat"}


def is_missing(cell: Any) -> bool:
    return cell is None or str(cell).strip().lower() in _MISSING


def typed(cells: Any) -> tuple[BoolArray, list[Any]]:
    """Where a column has values, and these: numbers, truth values or texts, as all cells allow."""
    missing = cells.isna().to_numpy()
    entries = [None if gone else cell for cell, gone in zip(cells.tolist(), missing, strict=True)]
    if _reads_as_numbers(entries):
        entries = [None if cell == "" else cell for cell in entries]
    else:
        entries = [None if isinstance(c, str) and is_missing(c) else c for c in entries]
    present = np.array([cell is not None for cell in entries], dtype=bool)
    values = [cell for cell in entries if cell is not None]
    if not all(isinstance(value, str) for value in values):
        return present, values
    with suppress(ValueError):
        whole = all(len(v) < 18 and v.removeprefix("-").isdecimal() for v in values)
        return present, list(map(int if whole else float, values))
    if {v.strip().lower() for v in values} <= {"true", "false"}:
        return present, [v.strip().lower() == "true" for v in values]
    return present, values


def _reads_as_numbers(cells: list[Any]) -> bool:
    """Are all cells texts of finite numbers, or empty? Then none of them is a word for missing."""
    try:
        return bool(np.isfinite([float(cell or 0) for cell in cells if cell is not None]).all())
    except (TypeError, ValueError):
        return False


def bad_cost(column: str, row: int, cell: Any) -> SourceError:
    return SourceError(
        f"The cost '{column}' is {cell!r} in row {row}, which is not a number; correct the cell or "
        "name another column with --objective COLUMN (objective= in Python)."
    )


def _bad_number(column: str, row: int, cell: Any) -> SpaceError:
    return SpaceError(
        f"Parameter '{column}' is {cell!r} in row {row}, which is not a number; correct the cell "
        "or make the parameter categorical in the space."
    )


def numbers(cells: Any, column: str, problem: Callable[[str, int, Any], Exception]) -> list[float]:
    """A column as floats, nan where a cell is empty."""
    if cells.dtype.kind in "iuf":
        return [float(x) for x in cells.to_numpy(dtype=float, na_value=np.nan)]
    try:
        return [float(cell) if cell != "" else math.nan for cell in cells.tolist()]
    except (TypeError, ValueError, OverflowError):
        pass  # one by one, to say which
    floats = []
    missing = cells.isna().to_numpy()
    for i, cell in enumerate(cells.tolist()):
        try:
            floats.append(math.nan if missing[i] else float(cell))
        except (TypeError, ValueError, OverflowError):
            if not is_missing(cell):
                raise problem(column, i + 1, cell) from None
            floats.append(math.nan)
    return floats


def values(cells: Any, parameter: Parameter) -> tuple[BoolArray, list[Any]]:
    """Where a parameter has a value, and these values."""
    if parameter.choices:
        return _choices(cells, parameter)
    floats = np.array(numbers(cells, parameter.name, _bad_number))
    present = ~np.isnan(floats)
    _check_range(floats, parameter)
    if parameter.kind == "integer":
        return present, np.rint(floats[present]).astype(np.int64).tolist()
    return present, floats[present].tolist()


def _check_range(floats: FloatArray, parameter: Parameter) -> None:
    slack = TOLERANCE * (parameter.upper - parameter.lower)
    outside = (floats < parameter.lower - slack) | (floats > parameter.upper + slack)
    if outside.any():
        row = int(outside.argmax())
        raise SpaceError(
            f"Parameter '{parameter.name}' is {floats[row]:g} in row {row + 1}, outside its range "
            f"[{parameter.lower:g}, {parameter.upper:g}]; correct the cell or widen the range."
        )
    broken = np.abs(np.rint(floats) - floats) > 1e-6
    if parameter.kind == "integer" and broken.any():
        row = int(broken.argmax())
        raise SpaceError(
            f"Parameter '{parameter.name}' is {floats[row]:g} in row {row + 1} but is an "
            "integer; correct the cell or make the parameter a float."
        )


def _choices(cells: Any, parameter: Parameter) -> tuple[BoolArray, list[Any]]:
    """Cells matched to choices exactly, by their text, or as numbers; each distinct cell once."""
    known: dict[tuple[type, Any], tuple[bool, Any]] = {}
    missing = cells.isna().to_numpy()
    answers = []
    for i, cell in enumerate(cells.tolist()):
        key = (type(None), None) if missing[i] else (type(cell), cell)
        if key not in known:
            known[key] = _choice(key[1], parameter, i + 1)
        answers.append(known[key])
    present = np.array([there for there, _ in answers], dtype=bool)
    return present, [choice for there, choice in answers if there]


def _choice(cell: Any, parameter: Parameter, row: int) -> tuple[bool, Any]:
    """Is there a value, and which choice is it? An empty cell means None where that is one."""
    for reading in (cell, *_readings(cell)):
        with suppress(SpaceError):
            code = parameter.encode([reading])
            if reading is not None or None in parameter.choices:
                return True, parameter.decode(code)[0]
    if cell is None or (isinstance(cell, str) and is_missing(cell)):
        return None in parameter.choices, None
    raise SpaceError(
        f"Parameter '{parameter.name}' is {cell!r} in row {row}, which is not among its choices "
        f"({listed(parameter.choices)}); correct the cell or add the choice to the space."
    )


def _readings(cell: Any) -> list[Any]:
    """Other things that a text, or a number that a table widened, may stand for."""
    if isinstance(cell, str):
        text = cell.strip()
        readings: list[Any] = [text]
        if text.lower() in ("true", "false"):
            readings.append(text.lower() == "true")
        with suppress(ValueError):
            readings.append(float(text))
        return readings
    return [int(cell)] if isinstance(cell, float) and cell.is_integer() else []
