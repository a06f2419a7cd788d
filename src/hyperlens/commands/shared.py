"""What several commands do: read a run, choose its objective, print a record."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from hyperlens.commands.choosing import Chosen, read_chosen
from hyperlens.commands.options import Format
from hyperlens.errors import SourceError

if TYPE_CHECKING:
    from hyperlens.record import Record
    from hyperlens.runs.history import History


def read(
    source: str,
    study: str | None,
    space: str | None,
    cost: str | None,
    maximize: bool | None,
    chosen: Chosen | None = None,
) -> History:
    """The run, or of it what was chosen."""
    from hyperlens import importers

    if chosen is None:
        return importers.read(source, study, space, cost, maximize or None)
    return read_chosen(source, study, space, cost, maximize, chosen)


def objective_of(history: History, cost: str | None) -> str | None:
    return cost if cost in {o.name for o in history.objectives} else None


def spare(source: str, path: str) -> None:
    """Never write over the run that is read."""
    run = Path(source.split(":///")[-1])
    if run.exists() and Path(path).exists() and run.samefile(path):
        raise SourceError(f"'{path}' is the run itself; choose another file to write to.")


def print_record(record: Record, shown: Format, warnings: list[str]) -> None:
    from hyperlens import terminal

    if shown is Format.json:
        typer.echo(record.to_json())
    elif shown is Format.csv:
        typer.echo(record.to_csv(), nl=False)
    else:
        terminal.show(record, warnings)


@contextmanager
def stopped_by_a_signal() -> Iterator[None]:
    """Whoever ends this process politely leaves it the time to put its trials back."""

    def stop(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
