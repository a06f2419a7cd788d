"""What was read of a run, in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from hyperlens.explain.run.validation import Described, Validation
from hyperlens.terminal.tables import MOST_LISTED, layout
from hyperlens.terminal.text import number, printable

MOST_CHOICES = 6


@layout.register
def _(record: Validation) -> Iterator[RenderableType]:
    yield _facts(record)
    yield Text()
    yield _parameters(record)
    for title, sentences in (
        ("Left out or assumed", record.left_out),
        ("Inferred", record.inferred),
        ("What an analysis cannot say", record.limits),
    ):
        if sentences:
            yield Text()
            yield Text(title, style="bold")
            yield from (Text(f"- {printable(sentence)}") for sentence in sentences)


def _facts(record: Validation) -> Table:
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    table.add_row("source", Text(printable(record.source)))
    table.add_row("trials", f"{record.trials} ({_counted(record.states)})")
    table.add_row("analysed", f"{record.analysed} trials")
    table.add_row("configurations", f"{record.configurations} different ones")
    for objective in record.objectives:
        told = "maximised" if objective.maximize else "minimised"
        reach = f"{number(objective.lowest)} to {number(objective.highest)}"
        line = f"{printable(objective.name)} ({told}), {reach} in {objective.trials} trials"
        table.add_row("objective", Text(line))
    if set(record.budgets) != {"none"}:
        table.add_row("budgets", _counted({f"at {b}": n for b, n in record.budgets.items()}))
    table.add_row("seeds", str(record.seeds or "not recorded"))
    table.add_row("instances", str(record.instances or "none"))
    if record.started is not None:
        ended = "" if record.ended is None else f" to {_moment(record.ended)}"
        table.add_row("time", f"{_moment(record.started)}{ended}")
    if set(record.proposers) != {"unknown"}:
        table.add_row("proposed by", Text(printable(_counted(record.proposers))))
    kind = "inferred from the values" if record.space_inferred else "as given or recorded"
    more = f", {len(record.constants)} constants" if record.constants else ""
    more += f", {record.forbidden} forbidden clauses" if record.forbidden else ""
    table.add_row("space", f"{len(record.parameters)} parameters, {kind}{more}")
    return table


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {what}" for what, n in counts.items())


def _moment(seconds: float) -> str:
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, OSError, ValueError):
        return f"{seconds:g} s"


def _parameters(record: Validation) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("parameter", overflow="fold")
    table.add_column("values", overflow="fold")
    table.add_column("active when", overflow="fold")
    table.add_column("trials", justify="right")
    table.add_column("tried", justify="right")
    for p in record.parameters[:MOST_LISTED]:
        when = Text(printable(p.active_when or ""))
        counts = (str(p.trials), str(p.tried))
        table.add_row(Text(printable(p.name)), Text(printable(_values(p))), when, *counts)
    if len(record.parameters) > MOST_LISTED:
        table.add_row(f"and {len(record.parameters) - MOST_LISTED} more")
    return table


def _values(p: Described) -> str:
    if p.lower is not None and p.upper is not None:
        what = "whole, " if p.kind == "integer" else ""
        return f"{what}{p.lower:g} to {p.upper:g}{', log' if p.log else ''}"
    return f"{p.kind}: {_listed(p.choices)}"


def _listed(choices: Sequence[object]) -> str:
    shown = ", ".join(number(choice) for choice in choices[:MOST_CHOICES])
    more = len(choices) - MOST_CHOICES
    return f"{shown} and {more} more" if more > 0 else shown
