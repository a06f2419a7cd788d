"""The one loop: ask, evaluate, write down, tell; in one process or many, from the start or again.

Nothing is told to an optimiser but what the storage holds: a run that goes on after a kill, or
beside another process on the same storage, is the same code as one that never stopped.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hyperlens.errors import SpaceError
from hyperlens.optimize.optimizers.protocol import Candidate, Optimizer, Racing
from hyperlens.optimize.running.engine import Engine
from hyperlens.optimize.running.trial_outcome import Outcome
from hyperlens.optimize.storage.leases import Watch
from hyperlens.optimize.storage.storages import Storage
from hyperlens.optimize.storage.store import Kept, Store
from hyperlens.runs.history import State
from hyperlens.spaces.space import Space

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


@dataclass(frozen=True)
class Setting:
    """What is searched, how, where it is kept, and for how many seconds."""

    space: Space
    optimizer: Optimizer
    trials: int
    maximize: bool = False
    storage: Storage = None
    study: str = "hyperlens"
    seconds: float | None = None


@dataclass(frozen=True)
class Stage:
    """Where a trial of ours is on its way: the rung, its budget, and whether it ends there."""

    rung: int
    budget: float | None
    final: bool


class Loop:
    """One process's part in a run."""

    def __init__(
        self, setting: Setting, store: Store, where: Engine, progress: Report | None
    ) -> None:
        self.setting, self.store, self.engine, self.progress = setting, store, where, progress
        self.optimizer = setting.optimizer
        self.racing = setting.optimizer if isinstance(setting.optimizer, Racing) else None
        self.watch = Watch()
        self.learned: list[int] = []  # numbers of trials, in the order told
        self.awaited: set[int] = set()  # expected or asked for
        self.ours: dict[int, Stage] = {}
        self.paused: dict[Any, dict[int, Kept]] = {}  # by their values, and by number
        self.rungs_told: dict[int, int] = {}
        self.finished = self.failed = 0
        self.best: tuple[float, int] | None = None  # minimised
        self.began = time.monotonic()

    def go(self) -> None:
        at_fault = True
        try:
            while True:
                waiting = self._catch_up()
                self._show()
                enough = self.racing is None and self.finished >= self.setting.trials
                if (enough and not self.ours) or self._late():
                    at_fault = at_fault and not self._late()
                    return
                started = 0 if enough else self._start(waiting)
                if not started and not self.awaited and not self.ours:
                    self._drop()
                    self._catch_up()
                    self._show()
                    return  # the optimiser has nothing more to ask
                for number, outcome in self.engine.wait(POLL):
                    self._ended(number, outcome)
                self.store.beat()
        except KeyboardInterrupt:
            at_fault = False
            raise
        finally:
            self.engine.close()
            self.store.put_back(at_fault)

    def _late(self) -> bool:
        limit = self.setting.seconds
        return limit is not None and time.monotonic() - self.began >= limit

    def _ended(self, number: int, outcome: Outcome) -> None:
        """Write down how an evaluation of ours ended: the trial with it, or its rung."""
        stage = self.ours.pop(number)
        if outcome.cost is None or stage.final or stage.budget is None:
            self.store.finish(number, outcome)
        else:
            self.store.pause(number, outcome.cost, stage.rung, stage.budget)

    def _catch_up(self) -> list[Kept]:
        """Tell the optimiser what happened, small budgets first; trials that wait for somebody."""
        waiting, ended, rungs = [], [], []
        for kept in self.store.changes():
            fits = self._fits(kept)
            if fits:
                rungs += [(*r, kept) for r in kept.rungs[self.rungs_told.get(kept.number, 0) :]]
                self.rungs_told[kept.number] = len(kept.rungs)
            if kept.state not in (None, State.RUNNING):
                ended.append((kept, fits))
            elif fits and kept.paused and kept.state is None:
                self.awaited.discard(kept.number)
                self.paused.setdefault(_key(kept.values), {})[kept.number] = kept
            elif fits and kept.number not in self.ours:
                waiting.append(kept)
        for budget, cost, kept in sorted(rungs, key=lambda r: (r[0], r[2].number)):
            self.optimizer.tell(kept.values, cost, budget)
        for kept, fits in ended:
            self._tell_end(kept, fits)
        self._drop()
        return [kept for kept in waiting if self._open(kept)]

    def _open(self, kept: Kept) -> bool:
        """Await a trial that somebody runs, or ran; is there nobody?"""
        if kept.number not in self.awaited:
            self.optimizer.expect(kept.values, kept.budget)
            self.awaited.add(kept.number)
        return kept.state is None or self.watch.abandoned(kept.number, kept.lease)

    def _tell_end(self, kept: Kept, fits: bool) -> None:
        self.finished += 1
        self.failed += kept.state is State.FAILED
        self.awaited.discard(kept.number)
        self.paused.get(_key(kept.values), {}).pop(kept.number, None)
        if fits and not (kept.state is State.PRUNED and kept.rungs):
            self.optimizer.tell(kept.values, kept.cost, kept.budget)
        if fits:
            self.learned.append(kept.number)
        if kept.state is State.COMPLETE and (self.best is None or kept.cost < self.best[0]):
            self.best = (kept.cost, kept.number)

    def _drop(self) -> None:
        """Prune what will not go on."""
        for values in self.racing.dropped() if self.racing is not None else ():
            if (kept := self._waiting(values)) is not None:
                self.store.prune(kept.number)

    def _waiting(self, values: Mapping[str, Any], rung: int | None = None) -> Kept | None:
        """A paused trial of a configuration that has come to this rung, or the least far one; it is
        paused no more."""
        same = self.paused.get(_key(values), {})
        fitting = [k for k in same.values() if rung is None or k.rung + 1 == rung]
        if not fitting:
            return None
        return same.pop(min(fitting, key=lambda k: (k.rung, k.number)).number)

    def _start(self, waiting: list[Kept]) -> int:
        """Give the engine work: what waits, then what the optimiser proposes."""
        started = 0
        while self.engine.free > 0:
            if waiting:
                kept = waiting.pop(0)
                if not self.store.claim(kept):
                    continue
                number, values = kept.number, kept.values
                stage = Stage(kept.rung, kept.budget, kept.final)
            else:
                enough = self.finished + len(self.awaited) >= self.setting.trials
                if enough and self.racing is None:
                    break
                candidate = self.optimizer.ask()
                if candidate is None:
                    break
                values, proposal = candidate.values, candidate.proposal
                taken = self._take(candidate)
                if taken is None:
                    continue
                number = taken
                self.awaited.add(number)
                stage = Stage(proposal.rung or 0, proposal.budget, proposal.final)
            self.ours[number] = stage
            constants = self.setting.space.constants
            self.engine.start(number, {**constants, **values}, stage.budget)
            started += 1
        return started

    def _take(self, candidate: Candidate) -> int | None:
        """The trial of a candidate: a new one, or one that goes on; None if another process has it."""
        proposal = candidate.proposal
        kept = self._waiting(candidate.values, proposal.rung) if proposal.rung else None
        if kept is not None:
            return kept.number if self.store.go_on(kept, proposal) else None
        awaited = sorted(self.awaited)
        number = self.store.begin(candidate, self.optimizer.name, self.learned, awaited)
        if proposal.entry is None or proposal.rung:  # later rungs are claimed, not begun
            return number
        twin = self.store.twin(number, proposal.entry)
        if twin is None:
            return number
        self.awaited.add(twin)
        return None

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
            wanted = self.setting.trials
            if self.racing is not None:
                wanted = self.racing.configurations or max(wanted, self.finished)
            self.progress(Status(wanted, self.finished, self.failed, len(self.ours), cost, trial))


def _key(values: Mapping[str, Any]) -> Any:
    """What tells configurations apart."""
    return tuple(sorted((name, repr(value)) for name, value in values.items()))
