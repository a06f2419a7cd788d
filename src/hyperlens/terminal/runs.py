"""A run in a terminal: how far it is, and what came out of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from hyperlens.optimize.running.loop import Status
from hyperlens.runs.history import History, State
from hyperlens.terminal.text import number, printable

MOST_REASONS = 3


@contextmanager
def tuning(trials: int) -> Iterator[Callable[[Status], None]]:
    """A bar with the best so far on standard error; in a pipe one line for each improvement.

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
        if not interactive and status.best is not None and status.best_trial != shown:
            shown = status.best_trial
            print(_in_words(status), file=sys.stderr, flush=True)

    with bar:
        task = bar.add_task("starting", total=trials)
        yield show


def show_run(history: History) -> None:
    """The best configuration, and how many trials failed and why."""
    console = Console()
    objective = history.objective()
    failed = [t for t in history.trials if t.state is State.FAILED]
    reasons = dict.fromkeys(t.reason for t in failed if t.reason)
    counts = f"{len(history.trials)} trials"
    if failed:
        shown = "; ".join(list(reasons)[:MOST_REASONS])
        more = "; ..." if len(reasons) > MOST_REASONS else ""
        counts += f", {len(failed)} failed ({shown}{more})"
    console.print(Text(printable(counts)), soft_wrap=True)
    best = history.best()
    console.print(
        Text(
            f"Best {printable(objective.name)} {number(best.costs[0])} in trial {best.number}: "
            + printable(", ".join(f"{k} = {number(v)}" for k, v in best.values.items()))
        ),
        soft_wrap=True,
    )


def _in_words(status: Status) -> str:
    best = "no cost yet" if status.best is None else f"best {number(status.best)}"
    where = "" if status.best_trial is None else f" in trial {status.best_trial}"
    failed = f", {status.failed} failed" if status.failed else ""
    return f"{best}{where}{failed}, {status.finished} of {status.wanted} trials"
