"""Importances in a terminal: over the run, of pairs, between two configurations, around one."""

from __future__ import annotations

import math
from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from hyperlens.explain.importance.ablation import Ablation
from hyperlens.explain.importance.importance import Importance
from hyperlens.explain.importance.interactions import Interactions
from hyperlens.explain.importance.local_importance import LocalImportance
from hyperlens.terminal.tables import MOST_LISTED, count_rest, layout, table
from hyperlens.terminal.text import digits, number, percent, printable, setting
from hyperlens.words import effect_name, rank


@layout.register
def _(record: Importance) -> Iterator[RenderableType]:
    trials = "1 trial" if record.trials == 1 else f"{record.trials} trials"
    yield Text(f"Importance for {printable(record.objective)}, from {trials}")
    yield importance_table(record, MOST_LISTED)
    yield from rest(record)


def importance_table(record: Importance, most: int) -> Table:
    banded, second = record.level is not None, record.secondary_name
    ranks = [f"{record.level:.0%} interval", "rank"] if banded else []
    rows = table("importance", "share", "spread", *ranks, *([second] if second else []))
    rows.columns[0].min_width = 20
    for k, effect in enumerate(record.parameters[:most]):
        cells = [percent(record.share[k]), percent(record.std[k])]
        if banded:
            cells.append(f"{percent(record.low[k])} to {percent(record.high[k])}")
            cells.append(rank(record.rank_low[k], record.rank_high[k]))
        if second:
            cells.append(percent(record.secondary[k]))
        rows.add_row(Text(printable(effect_name(effect))), *cells)
    return count_rest(rows, record.parameters, most)


def rest(record: Importance) -> Iterator[RenderableType]:
    parameters = sum(len(effect) == 1 for effect in record.parameters)
    if parameters > record.order and not math.isnan(record.rest):
        yield f"{percent(record.rest)} is left for interactions of higher order."


@layout.register
def _(record: Interactions) -> Iterator[RenderableType]:
    band = [] if record.level is None else [f"{record.level:.0%} interval"]
    rows = table("interaction", "H", *band, "share of variance")
    for k, pair in enumerate(record.pairs[:MOST_LISTED]):
        cells = [f"{digits(record.low[k])} to {digits(record.high[k])}"] if band else []
        name = Text(printable(effect_name(pair)))
        rows.add_row(name, digits(record.h[k]), *cells, percent(record.share[k]))
    yield count_rest(rows, record.pairs)


@layout.register
def _(record: Ablation) -> Iterator[RenderableType]:
    yield Text(printable(record.sentence))
    rows = table("change", "from", "to", record.objective, "contribution", "share", "Shapley")
    rows.add_row(record.source, "", "", number(float(record.cost[0])), style="dim")
    for k, name in enumerate(record.parameters[:MOST_LISTED]):
        rows.add_row(
            Text(printable(name)),
            setting(record.source_values[k]),
            setting(record.target_values[k]),
            number(float(record.cost[k + 1])),
            number(float(record.contribution[k])),
            percent(float(record.share[k])),
            number(float(record.shapley[k])),
        )
    yield rows


@layout.register
def _(record: LocalImportance) -> Iterator[RenderableType]:
    yield Text(printable(record.sentence))
    rows = table("parameter", "value", "share", "std", "best there", "at")
    for k, name in enumerate(record.parameters[:MOST_LISTED]):
        rows.add_row(
            Text(printable(name)),
            setting(record.values[k]),
            percent(float(record.share[k])),
            number(float(record.std[k])),
            number(float(record.best[k])),
            setting(record.best_values[k]),
        )
    yield rows
