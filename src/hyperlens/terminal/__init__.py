"""Records in a terminal: tables, progress, and nothing that a user's text could smuggle in."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from hyperlens.explain.run.validation import Validation
from hyperlens.record import Record
from hyperlens.surrogates.quality import Quality
from hyperlens.terminal import (  # noqa: F401 - their layouts are registered
    cash,
    compare,
    proposals,
    search,
    sources,
)
from hyperlens.terminal.tables import layout
from hyperlens.terminal.text import (
    announced_compilation,
    printable,
    progress,
)

__all__ = ["announced_compilation", "printable", "progress", "show"]

COLOURS = {"trust": "green", "caution": "yellow", "do not trust": "red"}


def show(record: Record, warnings: Sequence[str] = ()) -> None:
    """Print one record, and what is to be known of the run it is from."""
    console = Console()
    for part in layout(record):
        console.print(part)
    quality: Quality | None = getattr(record, "quality", None)
    notes = () if isinstance(record, Validation) else getattr(record, "notes", ())  # under headings
    sentences(console, quality, (*warnings, *notes))


def sentences(console: Console, quality: Quality | None, notes: tuple[str, ...]) -> None:
    """A verdict, and below it what is to be known, each once."""
    if quality is not None:
        console.print()
        console.print(Text(quality.sentence, style=COLOURS[quality.verdict]))
    for note in dict.fromkeys(notes):
        console.print(Text(f"- {printable(note)}"))
