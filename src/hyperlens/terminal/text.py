"""Text for a terminal: nothing that a file says may steer it. Progress, and numbers for people."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from hyperlens import words
from hyperlens.record import CONTROL


def printable(text: object) -> str:
    """One line without control characters: what a file says must not steer the terminal."""
    clean = (" " if c in "\n\r\t" else c for c in str(text))
    return "".join(c for c in clean if unicodedata.category(c) not in CONTROL)


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


@contextmanager
def announced_compilation() -> Iterator[None]:
    """Say so once if numerical code has to be compiled, which happens once on a machine."""
    from numba.core import event

    class Announce(event.Listener):
        said = False

        def on_start(self, event: object) -> None:
            if not self.said:
                self.said = True
                print("Compiling numerical code, once on this machine ...", file=sys.stderr)

        def on_end(self, event: object) -> None:
            """Nothing to say."""

    with event.install_listener("numba:compile", Announce()):
        yield


def number(x: Any) -> str:
    return words.number(x, unknown="unknown")


def digits(x: float) -> str:
    return words.decimals(x, unknown="unknown")


def percent(x: float) -> str:
    return words.tenths(x, unknown="unknown").replace(words.FIXED, " ")
