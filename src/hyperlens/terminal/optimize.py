"""Schedules and chances of a search in a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from hyperlens.optimize.models.failure_probability import FailureProbability
from hyperlens.optimize.optimizers.schedule import Schedule
from hyperlens.terminal.tables import MOST_LISTED, layout, table
from hyperlens.terminal.text import printable


@layout.register
def _(record: Schedule) -> Iterator[RenderableType]:
    head, *rungs = record.rows()
    rows = Table(box=None, padding=(0, 3, 0, 0), header_style="bold")
    for name in head:
        rows.add_column(name)
    for rung in rungs:
        rows.add_row(*rung)
    yield rows
    yield Text(record.sentence)


@layout.register
def _(record: FailureProbability) -> Iterator[RenderableType]:
    models = table("model", "size", "weight")
    for name, size, weight in zip(record.models, record.theta, record.weights, strict=True):
        models.add_row(Text(printable(name)), f"{size:.6g}", f"{weight:.4f}")
    yield models
    chances = table("drawn", "missed, uniform", "missed, weighted")
    chances.columns[0].justify = "right"
    numbers = zip(record.trials, record.uniform, record.weighted, strict=True)
    for drawn, uniform, weighted in list(numbers)[:MOST_LISTED]:
        chances.add_row(str(drawn), f"{uniform:.4f}", f"{weighted:.4f}")
    yield chances
    yield Text(record.sentence)
