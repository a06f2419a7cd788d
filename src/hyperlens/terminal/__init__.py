"""Records in a terminal: tables, progress, and nothing that a user's text could smuggle in."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from hyperlens.explain.effects.regions import Regions
from hyperlens.explain.run.validation import Validation
from hyperlens.record import Record
from hyperlens.reports.analysis import Analysis, Unavailable
from hyperlens.surrogates.quality import Quality
from hyperlens.terminal import (  # noqa: F401 - their layouts are registered
    cash,
    compare,
    proposals,
    search,
    sources,
)
from hyperlens.terminal.tables import importance_table, layout, rest
from hyperlens.terminal.text import (
    announced_compilation,
    digits,
    number,
    percent,
    printable,
    progress,
)

__all__ = ["announced_compilation", "printable", "progress", "show", "show_analysis"]

MOST_ROWS = 15  # of importance in the summary
MOST_VALUES = 20  # of the best configuration
COLOURS = {"trust": "green", "caution": "yellow", "do not trust": "red"}


def show(record: Record, warnings: Sequence[str] = ()) -> None:
    """Print one record, and what is to be known of the run it is from."""
    console = Console()
    for part in layout(record):
        console.print(part)
    quality: Quality | None = getattr(record, "quality", None)
    notes = () if isinstance(record, Validation) else getattr(record, "notes", ())  # under headings
    _sentences(console, quality, (*warnings, *notes))


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
    facts.add_row("best", f"{number(seen.best)} in trial {seen.best_trial}")
    values = [f"{k} = {number(v)}" for k, v in seen.best_values.items()]
    if len(values) > MOST_VALUES:
        values[MOST_VALUES:] = [f"and {len(values) - MOST_VALUES} more"]
    facts.add_row("", Text(printable(", ".join(values))))
    for quality in analysis.qualities:
        verdict = Text(quality.verdict, style=COLOURS[quality.verdict])
        numbers = (
            f" (R2 {digits(quality.r2)}, rank correlation {digits(quality.rank_correlation)}, "
            f"95 % band covers {percent(quality.coverage)})"
        )
        facts.add_row(quality.surrogate, verdict + Text(numbers))
    console.print(facts)
    console.print()
    if isinstance(analysis.importance, Unavailable):
        console.print(Text(printable(analysis.importance.why)))
        notes: tuple[str, ...] = ()
    else:
        console.print(importance_table(analysis.importance, MOST_ROWS))
        for line in rest(analysis.importance):
            console.print(line)
        notes = analysis.importance.notes
    parts = [r.sentence for r in analysis.regions[:1] if isinstance(r, Regions)]
    looked = [analysis.bias.sentence]
    said = getattr(analysis.importance, "why", None)
    warnings = [warning for warning in analysis.warnings if warning != said]
    doubts = [q.sentence for q in analysis.qualities if q.verdict != "trust"]
    _sentences(console, None, (*parts, *looked, *seen.notes, *notes, *warnings, *doubts))


def _sentences(console: Console, quality: Quality | None, notes: tuple[str, ...]) -> None:
    if quality is not None:
        console.print()
        console.print(Text(quality.sentence, style=COLOURS[quality.verdict]))
    for note in dict.fromkeys(notes):
        console.print(Text(f"- {printable(note)}"))
