"""Effects in a terminal: curves, regions, and how far both can be relied on."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from hyperlens.explain.effects.effect import Effect
from hyperlens.explain.effects.regions import Regions
from hyperlens.explain.effects.reliability import Reliability
from hyperlens.terminal.tables import MOST_LISTED, count_rest, layout, table
from hyperlens.terminal.text import number, percent, printable

BANDS = {
    "pointwise": "The band is pointwise: how unsure a single prediction is, on average.",
    "joint": "The band is joint: how unsure the average itself is.",
}


@layout.register
def _(record: Effect) -> Iterator[RenderableType]:
    rows = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in record.parameters:
        rows.add_column(Text(printable(name)), justify="right", overflow="fold")
    band = f"{record.level:.0%} {record.band} band"
    for name in (record.objective, "std", band, "trials nearest"):
        rows.add_column(Text(printable(name)), justify="right")
    for k, values in enumerate(product(*record.values)):
        at = [Text(printable(number(v))) for v in values]
        band = f"{number(record.low[k])} to {number(record.high[k])}"
        mean, std = number(record.mean[k]), number(record.std[k])
        rows.add_row(*at, mean, std, band, f"{record.support[k]:.0f}")
    yield rows
    yield Text(BANDS[record.band])


@layout.register
def _(record: Regions) -> Iterator[RenderableType]:
    """The whole space, then each leaf."""
    yield Text(printable(record.sentence))
    name = f"regions of {record.parameter}"
    rows = table(name, "share of space", "trials", "mean std", "best trial")
    leaves = record.leaves if len(record.tree) > 1 else ()
    for region in (record.tree[0], *leaves[:MOST_LISTED]):
        rows.add_row(
            Text(printable(region.rule)),
            percent(region.share),
            str(region.trials),
            number(region.confidence),
            "here" if region.holds_best else "",
        )
    yield count_rest(rows, leaves)


@layout.register
def _(record: Reliability) -> Iterator[RenderableType]:
    name = f"effect of {record.parameter}"
    rows = table(name, "MC", "gain", "OC", "gain", "NLL", "gain")
    for k, where in enumerate(record.where[:MOST_LISTED]):
        cells: list[str] = []
        for name, gain in record.gain.items():
            cells += [number(getattr(record, name)[k]), percent(gain[k]) if k else ""]
        rows.add_row(Text(printable(where)), *cells)
    yield rows
