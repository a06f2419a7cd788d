"""Columns of a table that are no parameters by what they hold, and what is said of them."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from hyperlens.importers.directions import is_result
from hyperlens.spaces.parameter import is_number

FEW_ROWS = 10  # in which any column of texts may tell rows apart
_DATE = re.compile(
    r"\s*(\d{4}-\d{1,2}-\d{1,2}|\d{4}/\d{1,2}/\d{1,2}|\d{1,2}[./]\d{1,2}[./](\d{4}|\d\d))([T ].*)?"
)
_SIGNED = re.compile(r"[\s$€£¥%,.'’+-]*\d[\s$€£¥%,.'’+\-\deE]*")
_RESULTS = (
    "Taken as results by their names, not as parameters: {}; explain one with --objective COLUMN "
    "(objective= in Python), or name the parameters with --parameters A,B (parameters= in Python)."
)
_NAMES = (
    "Left out, since they name trials or say when these ran: {}; name the parameters with "
    "--parameters A,B (parameters= in Python) if that is wrong."
)
_SIGNS = (
    "Left out, since their numbers are written with signs, commas or units: {}; write them plainly, as "
    "in 1234.5."
)


def left_aside(
    columns: Sequence[str], cells: Callable[[str], Sequence[Any]]
) -> list[tuple[str, list[str]]]:
    """Sentences with a place for names, and columns of which they are true."""
    results = [c for c in columns if is_result(c) and all(map(is_number, cells(c)))]
    names = [c for c in columns if names_trials(cells(c))]
    signed = [c for c in names if all(_SIGNED.fullmatch(str(cell)) for cell in cells(c))]
    signed = [c for c in signed if not _dates(cells(c))]
    return [(_RESULTS, results), (_SIGNS, signed), (_NAMES, [c for c in names if c not in signed])]


def names_trials(cells: Sequence[Any]) -> bool:
    """Do the cells of a column name trials, or say when they ran, rather than how?

    Dates do, and texts no two of which are alike. Nothing could be learnt from either.

    >>> names_trials(["2026-01-01", "2026-01-01"]), names_trials(["adam", "sgd"])
    (True, False)
    """
    if not cells or not all(isinstance(c, str) or hasattr(c, "isoformat") for c in cells):
        return False
    return _dates(cells) or (len(cells) >= FEW_ROWS and len({*map(str, cells)}) == len(cells))


def _dates(cells: Sequence[Any]) -> bool:
    return all(not isinstance(cell, str) or _DATE.fullmatch(cell) for cell in cells)
