"""What a record shows as rows, in report, terminal and notebook: texts, built column by column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from hyperlens.words import effect_name, number, setting

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 1000
Format = Callable[[Any], str]


def text(value: Any) -> str:
    """A value of any kind; several names as an effect's."""
    if isinstance(value, (tuple, list)):
        return effect_name(value)
    return "–" if value is None else number(value)


TEXTS: tuple[Format, ...] = (text, str, setting, effect_name)  # all other formats write numbers


@dataclass(frozen=True)
class Column:
    """Values, and how they are written. A `wide` table leaves the column out where room is scarce."""

    title: str
    cells: Iterable[Any]
    format: Format = text
    meaning: str = ""
    wide: bool = False


@dataclass(frozen=True)
class Table:
    """Texts in rows; `numeric[k]` says that column k holds numbers, to be aligned as such.

    `meanings` has a sentence for each column, empty where none is needed. `more` rows are left out.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]
    meanings: tuple[str, ...]
    wide: tuple[bool, ...]
    more: int = 0


def table(*columns: Column | None) -> Table:
    """The table of the columns that are there; an empty text is a cell that stays empty."""
    present = [column for column in columns if column is not None]
    cells = [list(column.cells) for column in present]
    written = [
        ["" if _empty(cell) else column.format(cell) for cell in values[:MOST_ROWS]]
        for column, values in zip(present, cells, strict=True)
    ]
    return Table(
        columns=tuple(column.title for column in present),
        rows=tuple(zip(*written, strict=True)),
        numeric=tuple(column.format not in TEXTS for column in present),
        meanings=tuple(column.meaning for column in present),
        wide=tuple(column.wide for column in present),
        more=max(0, len(cells[0]) - MOST_ROWS) if cells else 0,
    )


def from_frame(frame: pd.DataFrame) -> Table:
    """A frame as it is; a column in which nothing is known is left out."""
    known = frame.loc[:, frame.notna().any().to_numpy() | (len(frame) == 0)]
    columns = [(str(name), list(known.iloc[:, k])) for k, name in enumerate(known.columns)]
    return table(
        *(
            Column(name.replace("_", " "), cells, _number if _numeric(cells) else text)
            for name, cells in columns
        )
    )


def between(format: Format) -> Format:
    """Writes two ends; a dash where they are not known."""
    return lambda ends: "–" if ends[0] != ends[0] else f"{format(ends[0])} to {format(ends[1])}"


def ends(low: Iterable[float], high: Iterable[float]) -> list[tuple[float, float]]:
    return list(zip(low, high, strict=True))


def _empty(cell: Any) -> bool:
    return isinstance(cell, str) and not cell


def _number(value: Any) -> str:
    return text(value)


def _numeric(cells: Sequence[Any]) -> bool:
    numbers = list(islice((cell for cell in cells if cell is not None), MOST_ROWS))
    return bool(numbers) and all(
        isinstance(cell, (int, float, np.number)) and not isinstance(cell, bool) for cell in numbers
    )
