"""The one loop: ask, evaluate, write down, tell; in one process or many, from the start or again.

Nothing is told to an optimiser but what the storage holds: a run that goes on after a kill, or
beside another process on the same storage, is the same code as one that never stopped.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from hyperlens.errors import AnalysisError, SourceError, SpaceError, listed
from hyperlens.history import History, State
from hyperlens.optimize.engine import Engine, Here, Where, open_engine
from hyperlens.optimize.evaluate import Objective, told_by
from hyperlens.optimize.leases import BEAT, Watch
from hyperlens.optimize.protocol import Optimizer
from hyperlens.optimize.random_search import RandomSearch
from hyperlens.optimize.smbo import SMBO
from hyperlens.optimize.storages import Storage
from hyperlens.optimize.store import Kept, Store
from hyperlens.space import GivenSpace, Space, as_space

OPTIMIZERS: dict[str, Callable[..., Optimizer]] = {"smbo": SMBO, "random": RandomSearch}
POLL = 1.0  # seconds after which we look what other processes on the storage did


@dataclass(frozen=True)
class Status:
    """How far a run is. `best` is in the user's direction, None before the first cost."""

    wanted: int
    finished: int
    failed: int
    running: int
    best: float | None
    best_trial: int | None


Report = Callable[[Status], None]


def minimize(
    f: Objective,
    space: GivenSpace,
    optimizer: str | Optimizer = "smbo",
    trials: int = 80,
    *,
    seed: int = 0,
    storage: Storage = None,
    workers: int | None = None,
    study: str = "hyperlens",
    timeout: float | None = None,
    engine: Where = None,
    scheduler: str | None = None,
    progress: Report | None = None,
    **options: Any,
) -> History:
    """Find the configuration of the smallest cost in so many trials.

    `f` is given a configuration, a dict of values, and returns its cost. If it raises, returns what
    is not a finite number, or takes longer than `timeout` seconds, that trial fails with its reason,
    and the run goes on.

    `storage` keeps the run: `sqlite:///run.db`, any database that Optuna knows, a journal's path;
    None keeps it in memory. Called again with the same storage and study, the run goes on where it
    was: finished trials count, one that was running is tried again. Several processes may run the
    same study at once and share its trials.

    One worker without a timeout calls `f` in this very process. With more, or with a timeout, or
    with `engine="processes"`, trials run in processes of their own (forked, so that any function
    will do), and one that kills its process fails alone. `engine="dask"` with a scheduler's address
    or any Executor of concurrent.futures spreads them further. `options` are the optimiser's.

    >>> from hyperlens import Parameter
    >>> run = minimize(lambda c: (c["x"] - 1) ** 2, [Parameter("x", "float", -5, 5)], trials=15)
    >>> round(run.incumbent().values["x"], 1)
    1.0
    """
    chosen = as_space(space)
    return run(
        f,
        Setting(chosen, built(optimizer, chosen, seed, options), trials, False, storage, study),
        Place(workers, timeout, engine, scheduler),
        progress,
    )


def maximize(
    f: Objective,
    space: GivenSpace,
    optimizer: str | Optimizer = "smbo",
    trials: int = 80,
    *,
    seed: int = 0,
    storage: Storage = None,
    workers: int | None = None,
    study: str = "hyperlens",
    timeout: float | None = None,
    engine: Where = None,
    scheduler: str | None = None,
    progress: Report | None = None,
    **options: Any,
) -> History:
    """Find the configuration of the largest value; all else as `minimize`."""
    chosen = as_space(space)
    return run(
        f,
        Setting(chosen, built(optimizer, chosen, seed, options), trials, True, storage, study),
        Place(workers, timeout, engine, scheduler),
        progress,
    )


@dataclass(frozen=True)
class Setting:
    """What is searched, how, and where it is kept."""

    space: Space
    optimizer: Optimizer
    trials: int
    maximize: bool = False
    storage: Storage = None
    study: str = "hyperlens"


@dataclass(frozen=True)
class Place:
    """Where trials are evaluated; `files` are modules that a cluster must be sent."""

    workers: int | None = None
    timeout: float | None = None
    engine: Where = None
    scheduler: str | None = None
    files: tuple[str, ...] = ()


def built(
    optimizer: str | Optimizer, space: Space, seed: int, options: dict[str, Any]
) -> Optimizer:
    """An optimiser by its name, with options that it knows."""
    if not isinstance(optimizer, str):
        if options:
            raise SpaceError(
                f"The optimiser was given ready; set {listed(options)} when it is built."
            )
        return optimizer
    if optimizer not in OPTIMIZERS:
        raise SpaceError(
            f"There is no optimiser '{optimizer}'; choose one of {listed(OPTIMIZERS)}."
        )
    build = OPTIMIZERS[optimizer]
    known = [name for name in inspect.signature(build).parameters if name not in ("space", "seed")]
    unknown = [name for name in options if name not in known]
    if unknown:
        remedy = f"choose among {listed(known, 20)}" if known else "leave them out"
        raise SpaceError(f"The optimiser '{optimizer}' has no option {listed(unknown)}; {remedy}.")
    return build(space, seed=seed, **options)


def run(f: Objective, setting: Setting, place: Place, progress: Report | None = None) -> History:
    """Run until the study holds the trials that are wanted; its history."""
    from optuna.exceptions import StorageInternalError

    if setting.trials < 1:
        raise AnalysisError(f"A run of {setting.trials} trials is none; ask for at least 1.")
    where = open_engine(f, place.engine, place.workers, place.timeout, place.scheduler, place.files)
    try:
        store = Store(setting.storage, setting.space, setting.study, setting.maximize, _name_of(f))
        try:
            with _signs_of_life(store, where):
                _Loop(setting, store, where, progress).go()
            return store.history()
        except StorageInternalError as problem:
            raise SourceError(
                f"The storage in {store.source} failed ({told_by(problem.__cause__ or problem)}); "
                "nothing finished is lost: give the same command again."
            ) from problem
        finally:
            store.close()
    finally:
        where.close()


class _Loop:
    """One process's part in a run."""

    def __init__(
        self, setting: Setting, store: Store, where: Engine, progress: Report | None
    ) -> None:
        self.setting, self.store, self.engine, self.progress = setting, store, where, progress
        self.optimizer = setting.optimizer
        self.watch = Watch()
        self.learned: list[int] = []  # numbers of trials, in the order told
        self.awaited: set[int] = set()  # expected or asked for
        self.ours: set[int] = set()
        self.finished = self.failed = 0
        self.best: tuple[float, int] | None = None  # minimised

    def go(self) -> None:
        at_fault = True
        try:
            while True:
                waiting = self._catch_up()
                self._show()
                enough = self.finished >= self.setting.trials
                if enough and not self.ours:
                    return
                started = 0 if enough else self._start(waiting)
                if not started and not self.awaited and not self.ours:
                    return  # the optimiser has nothing more to ask
                for number, outcome in self.engine.wait(POLL):
                    self.store.finish(number, outcome)
                    self.ours.discard(number)
                self.store.beat()
        except KeyboardInterrupt:
            at_fault = False
            raise
        finally:
            self.engine.close()
            self.store.put_back(at_fault)

    def _catch_up(self) -> list[Kept]:
        """Tell the optimiser what happened; trials that wait for somebody."""
        waiting = []
        for kept in self.store.changes():
            fits = self._fits(kept)
            if kept.state in (None, State.RUNNING):
                if not fits or kept.number in self.ours:
                    continue
                if kept.number not in self.awaited:
                    self.optimizer.expect(kept.values, kept.resource)
                    self.awaited.add(kept.number)
                if kept.state is None or self.watch.abandoned(kept.number, kept.lease):
                    waiting.append(kept)
                continue
            self.finished += 1
            self.failed += kept.state is State.FAILED
            self.awaited.discard(kept.number)
            if fits:
                self.optimizer.tell(kept.values, kept.cost, kept.resource)
                self.learned.append(kept.number)
            if kept.state is State.COMPLETE and (self.best is None or kept.cost < self.best[0]):
                self.best = (kept.cost, kept.number)
        return waiting

    def _start(self, waiting: list[Kept]) -> int:
        """Give the engine work: what waits, then what the optimiser proposes."""
        started = 0
        while self.engine.free > 0:
            if waiting:
                kept = waiting.pop(0)
                if not self.store.claim(kept):
                    continue
                number, values, resource = kept.number, kept.values, kept.resource
            else:
                if self.finished + len(self.awaited) >= self.setting.trials:
                    break
                proposal = self.optimizer.ask()
                if proposal is None:
                    break
                number = self.store.begin(
                    proposal, self.optimizer.name, self.learned, sorted(self.awaited)
                )
                values, resource = proposal.values, proposal.resource
                self.awaited.add(number)
            self.ours.add(number)
            self.engine.start(number, {**self.setting.space.constants, **values}, resource)
            started += 1
        return started

    def _fits(self, kept: Kept) -> bool:
        """Is it a configuration of this space? Another program may have added others."""
        try:
            vector = self.setting.space.encode([kept.values])
        except SpaceError:
            return False
        return not len(self.setting.space.misfits(vector))

    def _show(self) -> None:
        if self.progress is not None:
            cost, trial = self.best if self.best is not None else (None, None)
            if cost is not None and self.setting.maximize:
                cost = -cost
            self.progress(
                Status(self.setting.trials, self.finished, self.failed, len(self.ours), cost, trial)
            )


@contextmanager
def _signs_of_life(store: Store, where: Engine) -> Iterator[None]:
    """While the objective holds this process, a thread shows that it lives."""
    if not isinstance(where, Here):
        yield
        return
    stop = threading.Event()

    def beat() -> None:
        while not stop.wait(BEAT):
            store.beat()

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _name_of(f: Objective) -> str:
    """What the objective measures, by its name; "cost" where it has none."""
    name = getattr(f, "__name__", "cost")
    return name if name.isidentifier() else "cost"
