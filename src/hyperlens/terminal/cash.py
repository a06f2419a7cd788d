"""A search over models in a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from hyperlens.cash.results.model_search import ModelSearch
from hyperlens.terminal.tables import MOST_LISTED, layout, table
from hyperlens.terminal.text import number, percent, printable

MOST_LEADERS = 10
MOST_VALUES = 4  # of a configuration in the leaderboard


def say(*sentences: str) -> None:
    """Sentences on standard error, as they come."""
    for sentence in sentences:
        print(printable(sentence), file=sys.stderr, flush=True)


@layout.register
def _(record: ModelSearch) -> Iterator[RenderableType]:
    yield models_table(record)
    yield Text()
    yield _leaders(record)
    yield Text()
    for sentence in record.story:
        yield Text(printable(sentence))


def models_table(record: ModelSearch) -> Table:
    best = f"best {record.objective}"
    rows = table("model", "weight", "drawn", "on all rows", "evaluations", "failed", best)
    for i, name in enumerate(record.models[:MOST_LISTED]):
        rows.add_row(
            Text(printable(name)),
            percent(record.weights[i]),
            str(record.reached[i, 0]),
            str(record.reached[i, -1]),
            number(record.spent[i]),
            str(record.failed[i]),
            "" if record.best[i] != record.best[i] else number(record.best[i]),
        )
    return rows


def _leaders(record: ModelSearch) -> Table:
    rows = table("place", record.objective)
    for column in rows.columns:
        column.justify, column.no_wrap = "right", True
    rows.add_column("model", no_wrap=True)
    rows.add_column("configuration", overflow="fold")
    for place, leader in enumerate(record.leaders[:MOST_LEADERS], 1):
        own = {k: v for k, v in leader.values.items() if k.startswith(f"{leader.model}:")}
        values = [f"{k.split(':', 1)[1]} = {number(v)}" for k, v in own.items()]
        settings = ", ".join(values[:MOST_VALUES]) + (", ..." if len(values) > MOST_VALUES else "")
        rows.add_row(
            str(place),
            number(leader.cost),
            Text(printable(leader.model)),
            Text(printable(settings)),
        )
    return rows
