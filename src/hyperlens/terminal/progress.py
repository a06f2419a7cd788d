"""How far a run or a computation is, on standard error."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from hyperlens.terminal.text import printable
from hyperlens.words import counted, number

if TYPE_CHECKING:
    from hyperlens.optimize.running.loop import Status


@contextmanager
def tuning(trials: int) -> Iterator[Callable[[Status], None]]:
    """A bar with the best so far on standard error, and the seconds left where there is a limit; in a
    pipe one line for each improvement.

    The bar is drawn when told, not by a thread: worker processes are forked meanwhile.
    """
    interactive = sys.stderr.isatty()
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
        auto_refresh=False,
        disable=not interactive,
    )
    shown: int | None = None

    def show(status: Status) -> None:
        nonlocal shown
        bar.update(task, completed=status.finished, description=_in_words(status), refresh=True)
        found = status.best_trial if status.front is None else status.front
        if not interactive and found is not None and found != shown:
            shown = found
            print(_in_words(status), file=sys.stderr, flush=True)

    with _unless_piped(bar):
        task = bar.add_task("starting", total=trials or None)
        yield show


def _unless_piped(bar: Progress) -> AbstractContextManager[object]:
    """Begin and end a bar only where it is shown: older Rich ends a silent one with a blank line."""
    return nullcontext() if bar.disable else bar


def _in_words(status: Status) -> str:
    best = "no cost yet" if status.best is None else f"best {number(status.best)}"
    if status.front is not None:
        best = f"{counted(status.front, 'trial')} on the front"
    where = "" if status.best_trial is None else f" in trial {status.best_trial}"
    failed = f", {status.failed} failed" if status.failed else ""
    total = max(status.total, status.finished)  # a run may have more trials than are asked for now
    done = f"{status.finished} of {counted(total, 'trial')}"
    if status.left is not None:
        done = f"{counted(status.finished, 'trial')}, {status.left:.0f} s left"
    return f"{best}{where}{failed}, {done}"


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
    with _unless_piped(bar):
        task = bar.add_task("reading", total=1.0)
        yield lambda what, done: bar.update(task, description=printable(what), completed=done)


@contextmanager
def announced_compilation() -> Iterator[None]:
    """Say so once if numerical code has to be compiled, once on a machine, or cannot be."""
    with warnings.catch_warnings():
        others = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if category is UserWarning:
                print(message, file=sys.stderr)
            else:
                others(message, category, filename, lineno, file, line)

        warnings.showwarning = show
        with _listening():
            yield


def _listening() -> AbstractContextManager[object]:
    try:
        from numba.core import event
    except ModuleNotFoundError:
        return nullcontext()

    class Announce(event.Listener):
        announced = False

        def on_start(self, event: object) -> None:
            if not self.announced:
                self.announced = True
                print("Compiling numerical code, once on this machine ...", file=sys.stderr)

        def on_end(self, event: object) -> None:
            """Nothing to say."""

    listening: AbstractContextManager[object] = event.install_listener("numba:compile", Announce())
    return listening
