"""Records in a terminal: tables, progress, and nothing that a user's text could smuggle in.

What is printed of a record stands in the file named like its room: `effects.py` has the layouts of
the records that `explain/effects` defines, `cash.py` those of `cash`.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from hyperlens.terminal.progress import announced_compilation, progress
from hyperlens.terminal.tables import layout
from hyperlens.terminal.text import printable

if TYPE_CHECKING:
    from hyperlens.record import Record
    from hyperlens.surrogates.quality import Quality

__all__ = ["announced_compilation", "printable", "progress", "show"]

COLOURS = {"trust": "green", "caution": "yellow", "do not trust": "red"}
UNDER_HEADINGS = {"Validation"}  # records whose layout shows their notes itself


def show(record: Record, warnings: Sequence[str] = ()) -> None:
    """Print one record, and what is to be known of the run it is from."""
    match type(record).__module__.split("."):
        case ["hyperlens", "explain", room, _] | ["hyperlens", room, *_]:
            import_module(f"hyperlens.terminal.{room}")
    console = Console()
    for part in layout(record):
        console.print(part)
    quality: Quality | None = getattr(record, "quality", None)
    notes = () if type(record).__name__ in UNDER_HEADINGS else record.notes
    sentences(console, quality, (*warnings, *notes))


def sentences(console: Console, quality: Quality | None, notes: tuple[str, ...]) -> None:
    """A verdict, and below it what is to be known, each once."""
    if quality is not None:
        console.print()
        console.print(Text(quality.sentence, style=COLOURS[quality.verdict]))
    for note in dict.fromkeys(notes):
        console.print(Text(f"- {printable(note)}"))
