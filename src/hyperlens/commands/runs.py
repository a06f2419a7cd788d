"""What commands do with a run: read it, or a part of it, never write over it, stop it politely, and
give its memory back."""

import ctypes
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from hyperlens import importers
from hyperlens.commands.options import TableReading
from hyperlens.errors import SourceError
from hyperlens.importers.read_options import directed_name
from hyperlens.runs.history import History
from hyperlens.runs.selection import HYPERVOLUME, Selection

_MMAP_THRESHOLD = -3  # glibc's name for it in mallopt
_LARGE = 4 * 2**20  # bytes of an array that goes back to the system


def read(
    source: str, reading: TableReading, part: Selection, also: str | None = None
) -> tuple[History, str | None]:
    """The part of a run that is asked for, and the name of the objective where one was named.

    `also` names one more objective that is to be read, in the same direction where none is recorded.
    """
    weights = dict(part.weights or {})
    maximize: bool | list[str] | None = reading.maximize
    asked = list(reading.objective or ())
    one = directed_name(asked[0])[0] if len(asked) == 1 else None
    if weights:
        if asked:
            raise SourceError("Weights name the objectives; leave out --objective or --weights.")
        if any(weight < 0 for weight in weights.values()):
            maximize = [name for name, weight in weights.items() if weight < 0]
    named = [*weights] or asked
    run = partial(
        importers.read,
        source,
        reading.study,
        reading.space,
        maximize=maximize,
        parameters=reading.parameters,
        constraint=reading.constraint,
        step=reading.step,
    )
    hypervolume = one == HYPERVOLUME
    history = run(objective=None if hypervolume else named or None)
    if hypervolume and any(o.name == HYPERVOLUME for o in history.objectives):
        history, hypervolume = run(objective=named), False
    if also is not None and also not in {o.name for o in history.objectives}:
        both = [one or history.objectives[0].name, also]
        history = run(objective=both, maximize=both if history.objectives[0].maximize else maximize)
    sizes = {name: abs(weight) for name, weight in weights.items()}
    part = replace(part, weights=sizes or None, hypervolume=hypervolume)
    history = history if part == Selection() else part.of(history)
    known = {objective.name for objective in history.objectives}
    return history, one if one in known else None


def refuse_overwriting(source: str, path: str) -> None:
    """Never write over the run that is read."""
    run = Path(source.split(":///")[-1])
    if run.exists() and Path(path).exists() and run.samefile(path):
        raise SourceError(f"'{path}' is the run itself; choose another file to write to.")


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


def give_back() -> None:
    """Give back what reading left, and arrays of some megabytes as soon as nobody holds them.

    The allocator of glibc learns from the first of them to keep what is freed, and then holds half as
    much again as is in use. Elsewhere nothing happens.
    """
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            library = ctypes.CDLL(None)
            library.mallopt(_MMAP_THRESHOLD, _LARGE)
            library.malloc_trim(0)
