"""What spreadsheets and people make of a table: decimal commas, spaces beside names and cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperlens.errors import listed
from hyperlens.importers.tables.cells import is_missing
from hyperlens.words import with_a_point

if TYPE_CHECKING:
    from pandas import DataFrame

_POINT = r"\s*[+-]?\d*\.\d+([eE][+-]?\d+)?\s*"


def with_points(frame: DataFrame) -> DataFrame:
    """A table of texts between semicolons, its decimal commas as points.

    A comma is one where a column holds numbers alone once commas are points, and where no number of
    the table has a decimal point.
    """
    read = {}
    for name in frame.columns:
        cells = frame[name]
        if cells.str.contains(",", regex=False).any():
            pointed = [with_a_point(cell) for cell in cells.tolist()]
            if all(_is_number(cell) or is_missing(cell) for cell in pointed):
                read[name] = pointed
    if not read or any(frame[name].str.fullmatch(_POINT).any() for name in frame.columns):
        return frame
    frame = frame.assign(**{str(name): cells for name, cells in read.items()})
    frame.attrs["notes"] = (
        "The table is separated by semicolons, so decimal commas are read as such: "
        f"{listed(read)}.",
    )
    return frame


def without_margins(frame: DataFrame) -> DataFrame:
    """A table whose header has spaces beside its names, as in `lr, loss`, without them everywhere."""
    names = [str(name) for name in frame.columns]
    bare = [name.strip() for name in names]
    if bare == names or len({*bare}) < len(bare):
        return frame
    frame = frame.map(lambda cell: cell.strip() if isinstance(cell, str) else cell)
    return frame.set_axis(bare, axis=1)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
