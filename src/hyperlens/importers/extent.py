"""How large a run may be, whatever its format: refused before it fills the memory, unless allowed."""

import math
import os
from pathlib import Path

from hyperlens.errors import SourceError

MOST_BYTES = 512 * 2**20  # of a table or a journal as text
MOST_COLUMNS = 10_000
MOST_ROWS = 2_000_000
MOST_CELLS = 40_000_000  # each takes some fifty bytes in memory


def check_extent(what: str, size: int = 0, rows: int = 0, columns: int = 0) -> None:
    """Refuse a table, or what is like one, before it fills the memory; HYPERLENS_LIMIT=4 allows four
    times as much."""
    times = limit_factor()
    for count, most, name in (
        (size >> 20, MOST_BYTES >> 20, "MiB"),
        (columns, MOST_COLUMNS, "columns"),
        (rows, MOST_ROWS, "rows"),
        (rows * columns, MOST_CELLS, "cells"),
    ):
        if count > most * times:
            raise SourceError(
                f"{what} has {count} {name}, more than the {most * times:g} that are read; keep its "
                "parameters and costs alone, or allow more with HYPERLENS_LIMIT="
                f"{math.ceil(count / most)}."
            )


def limit_factor() -> float:
    """How many times the usual limits the user allows."""
    given = os.environ.get("HYPERLENS_LIMIT", "1")
    try:
        times = float(given)
    except ValueError:
        times = math.nan
    if not (math.isfinite(times) and times > 0):
        raise SourceError(f"HYPERLENS_LIMIT is '{given}'; give a number such as 4.")
    return times


def check_document(path: Path, most: int, what: str) -> None:
    """Refuse a document of more bytes than one of its kind may have."""
    size, allowed = path.stat().st_size, most * limit_factor()
    if size > allowed:
        raise SourceError(
            f"The file '{path}' is larger than {allowed / 2**20:g} MiB, too large for {what}; check "
            "that this is the run's file, give the run as a table or in a database, or allow more with "
            f"HYPERLENS_LIMIT={math.ceil(size / most)}."
        )
