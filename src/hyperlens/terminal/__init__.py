"""Records in a terminal: sentences, tables, progress; nothing that a text could smuggle in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from hyperlens.terminal.progress import announced_compilation, progress
from hyperlens.terminal.tables import drawn
from hyperlens.terminal.text import printable

if TYPE_CHECKING:
    from hyperlens.explain.models.verdict import Verdict
    from hyperlens.record import Record

__all__ = ["announced_compilation", "printable", "progress", "show"]

COLOURS = {"trust": "green", "caution": "yellow", "do not trust": "red"}
MOST_SENTENCES = 100


def show(record: Record, warnings: Sequence[str] = ()) -> None:
    """Print one record, and what is to be known of the run it is from."""
    console = Console()
    console.print(Text(printable(record.heading), style="bold"))
    for sentence in record.lead[:MOST_SENTENCES]:
        console.print(Text(printable(sentence)))
    for table in record.tables:
        console.print()
        console.print(drawn(table))
    verdict: Verdict | None = getattr(record, "verdict", None)
    if verdict is not None:
        console.print()
        console.print(Text(printable(verdict.sentence), style=COLOURS[verdict.word]))
    titled: Mapping[str, tuple[str, ...]] | None = getattr(record, "titled_notes", None)
    for title, notes in (titled or {}).items():
        console.print()
        console.print(Text(title, style="bold"))
        listed(console, notes)
    known = {*record.lead, *(record.notes if titled else ())}
    listed(console, (note for note in (*warnings, *record.notes) if note not in known))


def listed(console: Console, notes: Iterable[str]) -> None:
    """What is to be known, each once."""
    for note in dict.fromkeys(notes):
        console.print(Text(f"- {printable(note)}"))
