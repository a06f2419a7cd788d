"""Records in a terminal: tables, progress, and nothing that a user's text could smuggle in."""

from __future__ import annotations

import math
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from hyperlens.explain.effects import Effect
from hyperlens.explain.fanova import Importance
from hyperlens.record import Record
from hyperlens.reports.analysis import Analysis, Unavailable
from hyperlens.surrogates.quality import Quality

MOST_ROWS = 15  # of importance in the summary
COLOURS = {"trust": "green", "caution": "yellow", "do not trust": "red"}


def printable(text: object) -> str:
    """One line without control characters: what a file says must not steer the terminal."""
    clean = (" " if c in "\n\r\t" else c for c in str(text))
    return "".join(c for c in clean if unicodedata.category(c) not in ("Cc", "Cf", "Cs"))


def csv(record: Record) -> str:
    """The record's frame as CSV; several parameters of one effect joined by ':'."""
    frame = record.frame
    for column in frame.columns:
        if any(isinstance(value, tuple) for value in frame[column]):
            frame[column] = [":".join(map(str, value)) for value in frame[column]]
    text: str = frame.to_csv(index=False)
    return text


@contextmanager
def progress() -> Iterator[Callable[[str, float], None]]:
    """A progress bar on standard error while something long is computed; silent in a pipe."""
    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    with bar:
        task = bar.add_task("reading", total=1.0)
        yield lambda what, done: bar.update(task, description=printable(what), completed=done)


def show(record: Record) -> None:
    """Print one record."""
    console = Console()
    if isinstance(record, Importance):
        console.print(_importance(record, len(record.parameters)))
        _rest(console, record)
    elif isinstance(record, Effect):
        console.print(_effect(record))
    _sentences(console, _quality_of(record), getattr(record, "notes", ()))


def show_analysis(analysis: Analysis) -> None:
    """Print the summary of a whole explanation."""
    console = Console()
    seen = analysis.overview
    states = ", ".join(f"{n} {state}" for state, n in seen.states.items())
    facts = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    facts.add_column(style="bold")
    facts.add_column(overflow="fold")
    facts.add_row("source", Text(printable(seen.source)))
    facts.add_row("trials", f"{seen.trials} ({states})")
    direction = "maximised" if seen.maximize else "minimised"
    facts.add_row("objective", Text(f"{printable(seen.objective)} ({direction})"))
    facts.add_row("best", f"{_number(seen.best)} in trial {seen.best_trial}")
    values = ", ".join(f"{k} = {_value(v)}" for k, v in seen.best_values.items())
    facts.add_row("", Text(printable(values)))
    for quality in analysis.qualities:
        verdict = Text(quality.verdict, style=COLOURS[quality.verdict])
        numbers = (
            f" (R2 {_number(quality.r2)}, rank correlation {_number(quality.rank_correlation)}, "
            f"95 % band covers {_percent(quality.coverage)})"
        )
        facts.add_row(quality.surrogate, verdict + Text(numbers))
    console.print(facts)
    console.print()
    if isinstance(analysis.importance, Unavailable):
        console.print(Text(printable(analysis.importance.why)))
        notes: tuple[str, ...] = ()
    else:
        console.print(_importance(analysis.importance, MOST_ROWS))
        _rest(console, analysis.importance)
        notes = analysis.importance.notes
    _sentences(console, None, (*seen.notes, *notes, *analysis.warnings))


def _importance(record: Importance, most: int) -> Table:
    table = Table(title=None, box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("importance", overflow="fold")
    for name in ("share", "spread over trees"):
        table.add_column(name, justify="right")
    if record.interval is not None:
        table.add_column(f"{record.interval:.0%} interval", justify="right")
    for k, effect in enumerate(record.parameters[:most]):
        row: list[Any] = [Text(printable(" × ".join(effect)))]
        row += [_percent(record.share[k]), _percent(record.std[k])]
        if record.interval is not None:
            row.append(f"{_percent(record.low[k])} to {_percent(record.high[k])}")
        table.add_row(*row)
    if len(record.parameters) > most:
        table.add_row(f"and {len(record.parameters) - most} more")
    return table


def _rest(console: Console, record: Importance) -> None:
    if not math.isnan(record.rest):
        console.print(f"{_percent(record.rest)} is left for interactions of higher order.")


def _effect(record: Effect) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in record.parameters:
        table.add_column(printable(name), justify="right", overflow="fold")
    for name in (record.objective, "std", f"{record.level:.0%} band"):
        table.add_column(printable(name), justify="right")
    columns = [c for c in record.frame.columns if c not in ("mean", "std", "low", "high")]
    for row in record.frame.to_dict("records"):
        at = [Text(printable(_value(row[c]))) for c in columns]
        band = f"{_number(row['low'])} to {_number(row['high'])}"
        table.add_row(*at, _number(row["mean"]), _number(row["std"]), band)
    return table


def _quality_of(record: Record) -> Quality | None:
    return getattr(record, "quality", None)


def _sentences(console: Console, quality: Quality | None, notes: tuple[str, ...]) -> None:
    if quality is not None:
        console.print()
        console.print(Text(quality.sentence, style=COLOURS[quality.verdict]))
    for note in dict.fromkeys(notes):
        console.print(Text(f"- {printable(note)}"))


def _number(x: float) -> str:
    return "unknown" if math.isnan(x) else f"{x:.4g}"


def _percent(x: float) -> str:
    return "unknown" if math.isnan(x) else f"{100 * x:.1f} %"


def _value(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
