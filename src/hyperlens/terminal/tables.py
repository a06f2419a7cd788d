"""Tables for a terminal, and the door to what is printed of each type of record."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from functools import singledispatch

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from hyperlens.record import Record
from hyperlens.terminal.text import printable

MOST_LISTED = 100  # rows of a record on its own


@singledispatch
def layout(record: Record) -> Iterator[RenderableType]:
    """What is printed of a record, in order."""
    raise TypeError(f"There is no table for {type(record).__name__}.")


def table(first: str, *others: str) -> Table:
    """Columns of names, then of numbers."""
    columns = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    columns.add_column(Text(printable(first)), overflow="fold")
    for name in others:
        columns.add_column(Text(printable(name)), justify="right")
    return columns


def facts() -> Table:
    """Names of facts, and beside each what it is."""
    pairs = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    pairs.add_column(style="bold")
    pairs.add_column(overflow="fold")
    return pairs


def count_rest(rows: Table, items: Sized, most: int = MOST_LISTED) -> Table:
    """The table, with a last row that says how many items it leaves out."""
    if len(items) > most:
        rows.add_row(f"and {len(items) - most} more")
    return rows
