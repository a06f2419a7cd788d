"""Reasons of proposals in a terminal: of one, of all, and how many samples they need."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from rich.console import RenderableType
from rich.text import Text

from hyperlens.explain.proposals.path import ProposalPath
from hyperlens.explain.proposals.reasons import tidy
from hyperlens.explain.proposals.sample_size import CHECKED, SampleSize
from hyperlens.explain.proposals.why import Why
from hyperlens.terminal.tables import MOST_LISTED, layout, table
from hyperlens.terminal.text import number, printable, setting


@layout.register
def _(record: Why) -> Iterator[RenderableType]:
    yield Text(printable(record.sentence))
    parts = record.parts
    sampled = bool((record.uncertainty_high > record.uncertainty_low).any())
    interval = f"{record.level:.0%} interval of the bound"
    rows = table("parameter", "value", *parts, *([interval] if sampled else []))
    for k, name in enumerate(record.parameters[:MOST_LISTED]):
        cells = [number(float(part[k])) for part in parts.values()]
        if sampled:
            cells.append(f"{number(record.bound_low[k])} to {number(record.bound_high[k])}")
        rows.add_row(Text(printable(name)), setting(record.values[k]), *cells)
    blank = [""] if sampled else []
    for what, of in (
        ("payout", record.payout),
        ("at the proposal", record.actual),
        (printable(record.compared_with), record.average),
    ):
        rows.add_row(Text(what), "", *(number(of[part]) for part in parts), *blank, style="dim")
    yield rows
    yield Text(f"{printable(record.basis)} Contributions add up to the payout.")
    for sentence in record.sentences[:MOST_LISTED]:
        yield Text(printable(sentence))


@layout.register
def _(record: ProposalPath) -> Iterator[RenderableType]:
    many, sign = len(record.trial), "+" if record.maximize else "-"
    yield Text(
        f"{many} {record.called}{'' if many == 1 else 's'} for {printable(record.objective)}; "
        f"contributions to the bound (mean {sign} {record.tau[0]:g} x uncertainty), means over thirds "
        "of the run"
    )
    thirds = [t for t in np.array_split(np.arange(len(record.trial)), 3) if len(t)]
    rows = table(
        "parameter", *(f"trials {record.trial[t[0]]} to {record.trial[t[-1]]}" for t in thirds)
    )
    weight = abs(record.bound).mean(axis=0)
    means = tidy(np.array([record.bound[t].mean(axis=0) for t in thirds]), float(weight.max()))
    for j in np.argsort(-weight, kind="stable")[:MOST_LISTED]:
        cells = [number(float(mean)) for mean in means[:, j]]
        rows.add_row(Text(printable(record.parameters[j])), *cells)
    for what, of in record.payout.items():
        cells = [number(float(of[t].mean())) for t in thirds]
        rows.add_row(f"payout of the {what}", *cells, style="dim")
    yield rows


@layout.register
def _(record: SampleSize) -> Iterator[RenderableType]:
    yield Text(printable(record.sentence))
    rows = table(
        "samples", *(f"{name}: {what}" for name in CHECKED for what in ("gap", "smallest"))
    )
    for i, size in enumerate(record.samples):
        cells = []
        for k in range(len(CHECKED)):
            mark = "" if record.enough[i, k] else " !"
            cells += [
                number(float(record.gap[i, k])) + mark,
                number(float(record.difference[i, k])),
            ]
        rows.add_row(str(int(size)), *cells)
    yield rows
    yield Text("! the gap is not smaller than the smallest difference of two contributions.")
