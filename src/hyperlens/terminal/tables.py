"""Records as tables for a terminal: one layout per type of record."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import singledispatch
from itertools import product
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from hyperlens.explain.effects.effect import Effect
from hyperlens.explain.effects.regions import Regions
from hyperlens.explain.effects.reliability import Reliability
from hyperlens.explain.importance.importance import Importance
from hyperlens.explain.importance.interactions import Interactions
from hyperlens.explain.run.bias import Bias
from hyperlens.record import Record
from hyperlens.terminal.text import digits, number, percent, printable
from hyperlens.words import rank

MOST_LISTED = 100  # rows of a record on its own
BANDS = {
    "pointwise": "The band is pointwise: how unsure a single prediction is, on average.",
    "joint": "The band is joint: how unsure the average itself is.",
}


@singledispatch
def layout(record: Record) -> Iterator[RenderableType]:
    """What is printed of a record, in order."""
    raise TypeError(f"There is no table for {type(record).__name__}.")


@layout.register
def _(record: Importance) -> Iterator[RenderableType]:
    trials = "1 trial" if record.trials == 1 else f"{record.trials} trials"
    yield Text(f"Importance for {printable(record.objective)}, from {trials}")
    yield importance_table(record, MOST_LISTED)
    yield from rest(record)


@layout.register
def _(record: Effect) -> Iterator[RenderableType]:
    yield _effect(record)
    yield Text(BANDS[record.band])


@layout.register
def _(record: Regions) -> Iterator[RenderableType]:
    yield Text(printable(record.sentence))
    yield _regions(record)


@layout.register
def _(record: Interactions) -> Iterator[RenderableType]:
    yield _interactions(record)


@layout.register
def _(record: Bias) -> Iterator[RenderableType]:
    yield _bias(record)
    yield Text(printable(record.reading))
    yield Text(printable(record.sentence))


@layout.register
def _(record: Reliability) -> Iterator[RenderableType]:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column(Text(printable(f"effect of {record.parameter}")), overflow="fold")
    for name in ("MC", "gain", "OC", "gain", "NLL", "gain"):
        table.add_column(name, justify="right")
    for k, where in enumerate(record.where[:MOST_LISTED]):
        cells: list[str] = []
        for name, gain in record.gain.items():
            cells += [number(getattr(record, name)[k]), percent(gain[k]) if k else ""]
        table.add_row(Text(printable(where)), *cells)
    yield table


def importance_table(record: Importance, most: int) -> Table:
    table = Table(title=None, box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("importance", overflow="fold", min_width=20)
    table.add_column("share", justify="right")
    table.add_column("spread", justify="right")
    if record.level is not None:
        table.add_column(f"{record.level:.0%} interval", justify="right", no_wrap=True)
        table.add_column("rank", justify="right")
    if record.witness_name is not None:
        table.add_column(record.witness_name, justify="right")
    for k, effect in enumerate(record.parameters[:most]):
        row: list[Any] = [Text(printable(" × ".join(effect)))]
        row += [percent(record.share[k]), percent(record.std[k])]
        if record.level is not None:
            row.append(f"{percent(record.low[k])} to {percent(record.high[k])}")
            row.append(rank(record.rank_low[k], record.rank_high[k]))
        if record.witness_name is not None:
            row.append(percent(record.witness[k]))
        table.add_row(*row)
    if len(record.parameters) > most:
        table.add_row(f"and {len(record.parameters) - most} more")
    return table


def rest(record: Importance) -> Iterator[RenderableType]:
    parameters = sum(len(effect) == 1 for effect in record.parameters)
    if parameters > record.order and not math.isnan(record.rest):
        yield f"{percent(record.rest)} is left for interactions of higher order."


def _effect(record: Effect) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in record.parameters:
        table.add_column(Text(printable(name)), justify="right", overflow="fold")
    band = f"{record.level:.0%} {record.band} band"
    for name in (record.objective, "std", band, "trials nearest"):
        table.add_column(Text(printable(name)), justify="right")
    for k, values in enumerate(product(*record.values)):
        at = [Text(printable(number(v))) for v in values]
        band = f"{number(record.low[k])} to {number(record.high[k])}"
        mean, std = number(record.mean[k]), number(record.std[k])
        table.add_row(*at, mean, std, band, f"{record.support[k]:.0f}")
    return table


def _regions(record: Regions) -> Table:
    """The whole space, then each leaf."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column(Text(printable(f"regions of {record.parameter}")), overflow="fold")
    for name in ("share of space", "trials", "mean std", "best trial"):
        table.add_column(name, justify="right")
    leaves = record.leaves if len(record.tree) > 1 else ()
    for region in (record.tree[0], *leaves[:MOST_LISTED]):
        table.add_row(
            Text(printable(region.rule)),
            percent(region.share),
            str(region.trials),
            number(region.confidence),
            "here" if region.holds_best else "",
        )
    if len(leaves) > MOST_LISTED:
        table.add_row(f"and {len(leaves) - MOST_LISTED} more")
    return table


def _interactions(record: Interactions) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("interaction", overflow="fold")
    table.add_column("H", justify="right")
    if record.level is not None:
        table.add_column(f"{record.level:.0%} interval", justify="right")
    table.add_column("share of variance", justify="right")
    for k, pair in enumerate(record.pairs[:MOST_LISTED]):
        row: list[Any] = [Text(printable(" × ".join(pair))), digits(record.h[k])]
        if record.level is not None:
            row.append(f"{digits(record.low[k])} to {digits(record.high[k])}")
        table.add_row(*row, percent(record.share[k]))
    if len(record.pairs) > MOST_LISTED:
        table.add_row(f"and {len(record.pairs) - MOST_LISTED} more")
    return table


def _bias(record: Bias) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("searched unevenly", overflow="fold")
    table.add_column("MMD", justify="right")
    table.add_column("p", justify="right")
    table.add_row("all parameters", digits(record.mmd), f"{record.p:.3f}")
    numbers = zip(record.parameters, record.parameter_mmd, record.parameter_p, strict=True)
    for name, mmd, p in list(numbers)[:MOST_LISTED]:
        table.add_row(Text(printable(name)), digits(mmd), f"{p:.3f}")
    if len(record.parameters) > MOST_LISTED:
        table.add_row(f"and {len(record.parameters) - MOST_LISTED} more")
    return table
