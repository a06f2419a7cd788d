"""A search over models in a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from hyperlens.cash.results.model_search import ModelSearch
from hyperlens.terminal.tables import MOST_LISTED, layout
from hyperlens.terminal.text import number, percent, printable

MOST_LEADERS = 10
MOST_VALUES = 4  # of a configuration in the leaderboard


def say(*told: str) -> None:
    """Sentences on standard error, as they come."""
    for sentence in told:
        print(printable(sentence), file=sys.stderr, flush=True)


@layout.register
def _(record: ModelSearch) -> Iterator[RenderableType]:
    yield _models(record)
    yield Text()
    yield _leaders(record)
    yield Text()
    for sentence in record.story:
        yield Text(printable(sentence))


def _models(record: ModelSearch) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("model", no_wrap=True)
    for title in ("weight", "drawn", "on all rows", "budget", "failed", f"best {record.objective}"):
        table.add_column(printable(title), justify="right")
    for i, name in enumerate(record.models[:MOST_LISTED]):
        table.add_row(
            Text(printable(name)),
            percent(record.weights[i]),
            str(record.reached[i, 0]),
            str(record.reached[i, -1]),
            number(record.spent[i]),
            str(record.failed[i]),
            "" if record.best[i] != record.best[i] else number(record.best[i]),
        )
    return table


def _leaders(record: ModelSearch) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("place", justify="right", no_wrap=True)
    table.add_column(printable(record.objective), justify="right", no_wrap=True)
    table.add_column("model", no_wrap=True)
    table.add_column("configuration", overflow="fold")
    for place, leader in enumerate(record.leaders[:MOST_LEADERS], 1):
        own = {k: v for k, v in leader.values.items() if k.startswith(f"{leader.model}:")}
        told = [f"{k.split(':', 1)[1]} = {number(v)}" for k, v in own.items()]
        shown = ", ".join(told[:MOST_VALUES]) + (", ..." if len(told) > MOST_VALUES else "")
        table.add_row(
            str(place), number(leader.cost), Text(printable(leader.model)), Text(printable(shown))
        )
    return table
