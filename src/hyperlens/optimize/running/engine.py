"""Where trials are evaluated: in this process, in processes of our own, or by any Executor.

An engine is given a numbered trial and hands back outcomes as they come. A trial that is given up
for lack of time keeps an Executor's worker busy until the objective returns by itself; only
processes of our own can be ended.
"""

import time
from collections.abc import Callable, Mapping
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from typing import Any, Protocol

from hyperlens.errors import AnalysisError
from hyperlens.optimize.running.processes import Processes
from hyperlens.optimize.running.trial_outcome import Objective, Outcome, evaluate, told_by

Where = str | Executor | None


class Engine(Protocol):
    """Evaluates trials."""

    @property
    def free(self) -> int:
        """How many more trials can be started now."""

    def start(self, trial: int, configuration: Mapping[str, Any], budget: float | None) -> None:
        """Begin a trial; its outcome comes from `wait` under this number."""

    def wait(self, seconds: float) -> list[tuple[int, Outcome]]:
        """Outcomes that arrive within so many seconds, at least one if any does."""

    def close(self) -> None:
        """Stop what is running and let go of workers."""


class Interrupted(AnalysisError):
    """The workers are lost, through no fault of a trial; what was running is to be tried again."""


class Here:
    """One trial at a time in this very process."""

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        self._next: tuple[int, Mapping[str, Any], float | None] | None = None

    @property
    def free(self) -> int:
        return int(self._next is None)

    def start(self, trial: int, configuration: Mapping[str, Any], budget: float | None) -> None:
        self._next = (trial, configuration, budget)

    def wait(self, seconds: float) -> list[tuple[int, Outcome]]:
        if self._next is None:
            time.sleep(seconds)  # another process of this run is at work
            return []
        trial, configuration, budget = self._next
        outcome = evaluate(self.objective, configuration, budget)
        self._next = None
        return [(trial, outcome)]

    def close(self) -> None:
        self._next = None


class Futures:
    """Trials as calls submitted to an Executor; `workers` says how many it can run at once."""

    def __init__(
        self,
        objective: Objective,
        executor: Executor,
        workers: Callable[[], int],
        timeout: float | None = None,
        close: Callable[[], None] = lambda: None,
    ) -> None:
        self.objective, self.executor, self.timeout = objective, executor, timeout
        self._workers, self._close = workers, close
        self._running: dict[Future[Outcome], tuple[int, float]] = {}  # trial, when it was submitted
        self._hung: set[Future[Outcome]] = set()

    @property
    def free(self) -> int:
        self._hung = {f for f in self._hung if not f.done()}
        capacity = self._workers()
        if capacity and len(self._hung) >= capacity and not self._running:
            raise Interrupted(
                f"All {capacity} workers hang in trials past their {self.timeout:g} s; restart them "
                "and give the same command again, which goes on from here."
            )
        return capacity - len(self._running) - len(self._hung)

    def start(self, trial: int, configuration: Mapping[str, Any], budget: float | None) -> None:
        try:
            future = self.executor.submit(evaluate, self.objective, dict(configuration), budget)
        except (BrokenExecutor, RuntimeError) as problem:
            raise _lost(problem) from problem
        except Exception as problem:  # whatever pickling meets
            raise AnalysisError(
                f"The objective cannot be sent to the workers ({told_by(problem)}); define it at "
                "the top of a module that they can import."
            ) from problem
        self._running[future] = (trial, time.monotonic())

    def wait(self, seconds: float) -> list[tuple[int, Outcome]]:
        if not self._running:
            time.sleep(seconds)
            return []
        patience = seconds
        if self.timeout is not None:
            first = min(submitted for _, submitted in self._running.values())
            patience = max(0.0, min(seconds, first + self.timeout - time.monotonic()))
        done, _ = wait(self._running, patience, return_when=FIRST_COMPLETED)
        problems = {future: _problem(future) for future in done}
        lost = [f for f, p in problems.items() if isinstance(p, BrokenExecutor | CancelledError)]
        if lost and len(lost) == len(done):
            raise _lost(problems[lost[0]])
        outcomes = {future: _outcome(future) for future in done if future not in lost}
        for future in self._running.keys() - done:
            if self._is_late(future):
                outcomes[future] = Outcome(reason=f"took longer than {self.timeout:g} s")
                self._hung.add(future)
        return sorted((self._running.pop(future)[0], outcomes[future]) for future in outcomes)

    def close(self) -> None:
        for future in [*self._running, *self._hung]:
            future.cancel()
        self._running.clear()
        self._close()

    def _is_late(self, future: Future[Outcome]) -> bool:
        submitted = self._running[future][1]
        return self.timeout is not None and time.monotonic() - submitted >= self.timeout


def open_engine(
    objective: Objective,
    where: Where = None,
    workers: int | None = None,
    timeout: float | None = None,
    scheduler: str | None = None,
    files: tuple[str, ...] = (),
) -> Engine:
    """The engine of a run. `files` are modules that a Dask cluster's workers must have."""
    if workers is not None and workers < 1:
        raise AnalysisError(f"A run needs at least one worker, not {workers}; choose 1 or more.")
    if timeout is not None and not timeout > 0:
        raise AnalysisError(f"A timeout of {timeout} s leaves no time; give a positive number.")
    if scheduler is not None and where != "dask":
        raise AnalysisError("A scheduler's address is for the engine 'dask'; choose that engine.")
    if isinstance(where, Executor):
        size = workers or getattr(where, "_max_workers", None) or 1
        return Futures(objective, where, lambda: size, timeout)
    if where == "dask":
        from hyperlens.optimize.running.cluster import dask

        return dask(objective, scheduler, workers, timeout, files)
    if where == "processes" or (where is None and (timeout is not None or (workers or 1) > 1)):
        return Processes(objective, workers or 1, timeout)
    if where is None:
        return Here(objective)
    raise AnalysisError(
        f"There is no engine '{where}'; choose 'processes' or 'dask', or give an Executor."
    )


def _problem(future: Future[Outcome]) -> BaseException | None:
    """What the executor met on its way to the objective."""
    return CancelledError() if future.cancelled() else future.exception()


def _outcome(future: Future[Outcome]) -> Outcome:
    problem = _problem(future)
    return future.result() if problem is None else Outcome(reason=told_by(problem))


def _lost(problem: BaseException | None) -> Interrupted:
    assert problem is not None
    return Interrupted(
        f"The executor takes no more trials ({told_by(problem)}); give the same command again "
        "with a new one, which goes on from here."
    )
