"""Worker processes of our own, each supervised: one that hangs or dies is replaced.

An Executor's pool breaks as a whole when one of its processes dies; here a death is the end of one
trial. Workers are forked where the system can, so that any function will do; elsewhere it must be
importable. A worker leads a session of its own: what an objective starts ends with it (family.py), and
Ctrl-C in a terminal reaches only us. It ends by itself when we are gone.
"""

import multiprocessing as mp
import os
import signal
import threading
import time
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from hyperlens.errors import AnalysisError
from hyperlens.optimize.running import family
from hyperlens.optimize.running.trial_outcome import Objective, Outcome, evaluate

UNHEARD = 74  # exit code of a worker that cannot send what it found
ENDING = 1.0  # seconds in which a process that closed its connection ends by itself
LEAVING = 5.0  # seconds an ended process may take to be gone


@dataclass
class _Worker:
    process: BaseProcess
    connection: Connection
    trial: int | None = None
    deadline: float | None = None


class Processes:
    """Evaluates up to `workers` trials at once, each for at most `timeout` seconds."""

    def __init__(self, objective: Objective, workers: int, timeout: float | None = None) -> None:
        self.objective, self.workers, self.timeout = objective, workers, timeout
        self._context: Any = mp.get_context("fork" if hasattr(os, "fork") else "spawn")
        self._pool: list[_Worker] = []

    @property
    def free(self) -> int:
        return self.workers - sum(w.trial is not None for w in self._pool)

    def start(self, trial: int, configuration: Mapping[str, Any], budget: float | None) -> None:
        """Begin a trial; its outcome comes from `wait` under this number."""
        worker = next((w for w in self._pool if w.trial is None), None) or self._hire()
        worker.trial = trial
        worker.deadline = None if self.timeout is None else time.monotonic() + self.timeout
        with suppress(OSError):  # it died while idle; `wait` reports that
            worker.connection.send((dict(configuration), budget))

    def wait(self, seconds: float) -> list[tuple[int, Outcome]]:
        """Outcomes that arrive within so many seconds, at least one if any does."""
        busy = [w for w in self._pool if w.trial is not None]
        ends = [w.deadline for w in busy if w.deadline is not None]
        patience = max(0.0, min([seconds, *(end - time.monotonic() for end in ends)]))
        ready = wait([w.connection for w in busy], patience)
        outcomes = []
        for worker in busy:
            assert worker.trial is not None
            if worker.connection in ready:
                outcome = self._received(worker)
            elif (
                not worker.process.is_alive()
            ):  # a child of its objective still holds the connection
                outcome = Outcome(reason=_death(self._dismiss(worker)))
            elif worker.deadline is not None and time.monotonic() >= worker.deadline:
                self._dismiss(worker)
                outcome = Outcome(reason=f"took longer than {self.timeout:g} s")
            else:
                continue
            outcomes.append((worker.trial, outcome))
            worker.trial = worker.deadline = None
        return outcomes

    def close(self) -> None:
        """End all workers, whatever they are doing."""
        for worker in list(self._pool):
            self._dismiss(worker)

    def _received(self, worker: _Worker) -> Outcome:
        try:
            outcome: Outcome = worker.connection.recv()
            return outcome
        except (
            EOFError,
            OSError,
        ):  # the other end is closed: the process is ending, or cannot speak
            worker.process.join(ENDING)
            unheard = worker.process.is_alive()
            code = self._dismiss(worker)
            return Outcome(reason=_death(UNHEARD if unheard else code))

    def _hire(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        foreign = [w.connection for w in self._pool] + [ours]
        process = self._context.Process(
            target=_work,
            args=(theirs, foreign if self._context.get_start_method() == "fork" else []),
            kwargs={"objective": self.objective},
            name="hyperlens-worker",
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # fork among threads, Python 3.12
            try:
                process.start()
            except (AttributeError, TypeError, ValueError) as problem:  # what pickling raises
                raise AnalysisError(
                    "The objective cannot be sent to another process here; define it at the top "
                    "of a module."
                ) from problem
        theirs.close()
        worker = _Worker(process, ours)
        self._pool.append(worker)
        return worker

    def _dismiss(self, worker: _Worker) -> int | None:
        """End a worker and all that it started; how it ended."""
        assert worker.process.pid is not None
        family.end(worker.process.pid, worker.process.is_alive())
        worker.process.kill()
        worker.process.join(LEAVING)
        code = worker.process.exitcode
        if code is not None:
            worker.process.close()
        worker.connection.close()
        self._pool.remove(worker)
        return code


def _work(connection: Connection, foreign: list[Connection], *, objective: Objective) -> None:
    """A worker's life: evaluate what comes until nothing can come any more."""
    for other in foreign:  # inherited by the fork: held here, they would hide our parent's end
        other.close()
    family.lead()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    while True:
        try:
            configuration, budget = connection.recv()
        except EOFError:
            return
        outcome = evaluate(objective, configuration, budget)
        family.end_strays()
        try:
            connection.send(outcome)
        except OSError:
            os._exit(UNHEARD)


def _leave_with_parent() -> None:
    parent = mp.parent_process()
    if parent is not None:
        with suppress(OSError, ValueError):  # an objective may close the descriptor waited for here
            parent.join()
        while os.getppid() == parent.pid:
            time.sleep(ENDING)
        for process in family.descendants(os.getpid()):
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
        os.killpg(os.getpid(), signal.SIGKILL)
        os._exit(1)


def _death(code: int | None) -> str:
    if code is not None and code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = str(-code)
        return f"its process was ended by {name}"
    if code == UNHEARD:
        return "its cost could not be sent to us: did it close the descriptors of its process?"
    return f"its process ended itself with exit code {code}"
