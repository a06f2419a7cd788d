"""A run in a terminal: what was read, where it looked, and what came out of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from hyperlens.explain.run.bias import Bias
from hyperlens.explain.run.validation import Described, Validation
from hyperlens.runs.history import History, State
from hyperlens.terminal.tables import MOST_LISTED, count_rest, facts, layout, table
from hyperlens.terminal.text import digits, number, printable
from hyperlens.words import first_few

MOST_CHOICES = 6
MOST_REASONS = 3


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
    rows = facts()
    rows.add_row("source", Text(printable(record.source)))
    rows.add_row("trials", f"{record.trials} ({_counted(record.states)})")
    rows.add_row("analysed", f"{record.analysed} trials")
    rows.add_row("configurations", f"{record.configurations} different ones")
    for objective in record.objectives:
        direction = "maximised" if objective.maximize else "minimised"
        reach = f"{number(objective.lowest)} to {number(objective.highest)}"
        line = f"{printable(objective.name)} ({direction}), {reach} in {objective.trials} trials"
        rows.add_row("objective", Text(line))
    if set(record.budgets) != {"none"}:
        rows.add_row("budgets", _counted({f"at {b}": n for b, n in record.budgets.items()}))
    rows.add_row("seeds", str(record.seeds or "not recorded"))
    rows.add_row("instances", str(record.instances or "none"))
    if record.started is not None:
        ended = "" if record.ended is None else f" to {_moment(record.ended)}"
        rows.add_row("time", f"{_moment(record.started)}{ended}")
    if set(record.proposers) != {"unknown"}:
        rows.add_row("proposed by", Text(printable(_counted(record.proposers))))
    kind = "inferred from the values" if record.space_inferred else "as given or recorded"
    more = f", {len(record.constants)} constants" if record.constants else ""
    more += f", {record.forbidden} forbidden clauses" if record.forbidden else ""
    rows.add_row("space", f"{len(record.parameters)} parameters, {kind}{more}")
    return rows


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {what}" for what, n in counts.items())


def _moment(seconds: float) -> str:
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, OSError, ValueError):
        return f"{seconds:g} s"


def _parameters(record: Validation) -> Table:
    rows = table("parameter")
    rows.add_column("values", overflow="fold")
    rows.add_column("active when", overflow="fold")
    rows.add_column("trials", justify="right")
    rows.add_column("tried", justify="right")
    for p in record.parameters[:MOST_LISTED]:
        texts = (Text(printable(text)) for text in (p.name, _values(p), p.active_when or ""))
        rows.add_row(*texts, str(p.trials), str(p.tried))
    return count_rest(rows, record.parameters)


def _values(p: Described) -> str:
    if p.lower is not None and p.upper is not None:
        what = "whole, " if p.kind == "integer" else ""
        return f"{what}{p.lower:g} to {p.upper:g}{', log' if p.log else ''}"
    return f"{p.kind}: {first_few([number(choice) for choice in p.choices], MOST_CHOICES)}"


@layout.register
def _(record: Bias) -> Iterator[RenderableType]:
    rows = table("searched unevenly", "MMD", "p")
    rows.add_row("all parameters", digits(record.mmd), f"{record.p:.3f}")
    numbers = zip(record.parameters, record.parameter_mmd, record.parameter_p, strict=True)
    for name, mmd, p in list(numbers)[:MOST_LISTED]:
        rows.add_row(Text(printable(name)), digits(mmd), f"{p:.3f}")
    yield count_rest(rows, record.parameters)
    yield Text(printable(record.reading))
    yield Text(printable(record.sentence))


def show_run(history: History) -> None:
    """The best configuration, and how many trials failed and why."""
    console = Console()
    objective = history.objective()
    failed = [t for t in history.trials if t.state is State.FAILED]
    reasons = dict.fromkeys(t.reason for t in failed if t.reason)
    counts = f"{len(history.trials)} trials"
    if failed:
        shown = "; ".join(list(reasons)[:MOST_REASONS])
        more = "; ..." if len(reasons) > MOST_REASONS else ""
        counts += f", {len(failed)} failed ({shown}{more})"
    console.print(Text(printable(counts)), soft_wrap=True)
    best = history.best()
    console.print(
        Text(
            f"Best {printable(objective.name)} {number(best.costs[0])} in trial {best.number}: "
            + printable(", ".join(f"{k} = {number(v)}" for k, v in best.values.items()))
        ),
        soft_wrap=True,
    )
