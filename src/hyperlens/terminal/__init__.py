"""Records in a terminal: sentences, tables, progress; nothing that a text could smuggle in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from hyperlens.terminal.progress import announced_compilation, progress
from hyperlens.terminal.tables import MOST_LISTED, drawn
from hyperlens.terminal.text import paragraph, printable

if TYPE_CHECKING:
    from hyperlens.explain.models.verdict import Verdict
    from hyperlens.record import Record
    from hyperlens.tables import Table

__all__ = ["announced_compilation", "printable", "progress", "show"]

COLOURS = {"trust": "green", "caution": "yellow", "do not trust": "red"}
MOST_SENTENCES = 100
MOST_EACH = 15  # rows of each table of a record that has several
MOST_UNKNOWN = 10  # rows that are shown though they are not to be trusted


def show(record: Record, warnings: Sequence[str] = ()) -> None:
    """Print one record, and what is to be known of the run it is from."""
    console = Console()
    console.print(Text(printable(record.heading), style="bold"))
    for sentence in record.lead[:MOST_SENTENCES]:
        tell(console, sentence)
    verdict: Verdict | None = getattr(record, "verdict", None)
    tables = [table for table in record.tables if table.rows]
    for table in tables:
        console.print()
        console.print(_unless_unknown(table, verdict, MOST_EACH if tables[1:] else MOST_LISTED))
    if verdict is not None:
        console.print()
        tell(console, verdict.sentence, style=COLOURS[verdict.word])
    titled: Mapping[str, tuple[str, ...]] = getattr(record, "titled_notes", {})
    for title, notes in titled.items():
        console.print()
        console.print(Text(title, style="bold"))
        listed(console, notes)
    known = {*record.lead, *chain.from_iterable(titled.values())}
    others = [note for note in (*warnings, *record.notes) if note not in known]
    if titled and others:
        console.print()
    listed(console, others)


def _unless_unknown(table: Table, verdict: Verdict | None, most: int) -> RichTable | Text:
    """A table, or how long it is where its many rows are not known."""
    if verdict is None or verdict.known or len(table.rows) <= MOST_UNKNOWN:
        return drawn(table, most)
    return Text(
        f"{len(table.rows)} rows are left out, for what they say is not known; --format csv has them."
    )


def listed(console: Console, notes: Iterable[str]) -> None:
    """What is to be known, each once."""
    for note in dict.fromkeys(notes):
        tell(console, note, begin="- ")


def tell(console: Console, sentence: str, style: str = "", begin: str = "") -> None:
    """A sentence in lines as wide as the terminal."""
    console.print(Text(paragraph(sentence, console.width, begin), style=style))
