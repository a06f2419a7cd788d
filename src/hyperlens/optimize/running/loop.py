"""The one loop: ask, evaluate, write down, tell; in one process or many, from the start or again.

Nothing is told to an optimiser but what the storage holds: a run that goes on after a kill, or
beside another process on the same storage, is the same code as one that never stopped.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hyperlens.errors import SpaceError
from hyperlens.optimize.optimizers.protocol import Candidate, Optimizer, Racing
from hyperlens.optimize.running.engine import Engine
from hyperlens.optimize.running.stopping import Stop
from hyperlens.optimize.running.trial_outcome import Outcome
from hyperlens.optimize.storage.leases import Watch
from hyperlens.optimize.storage.storages import Storage
from hyperlens.proposal import Proposal
from hyperlens.runs.history import State
from hyperlens.runs.search_plan import SearchPlan
from hyperlens.spaces.space import Space
from hyperlens.surrogates.prospect import Search

if TYPE_CHECKING:
    from hyperlens.optimize.storage.store import Store, StudyTrial

POLL = 1.0  # seconds after which we look what other processes on the storage did


@dataclass(frozen=True)
class Status:
    """How far a run is. `best` is in the user's direction, None before the first cost."""

    total: int  # trials that there will be
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
    plan: SearchPlan | None = None
    stop: Stop | None = None
    seed: int = 0


class Loop:
    """One process's part in a run.

    Each round: read what changed in the storage and tell it (`_catch_up`), give free workers a trial
    (`_start`), wait for outcomes and write them down (`_ended`). The next round reads those again.
    """

    def __init__(
        self, setting: Setting, store: Store, where: Engine, progress: Report | None
    ) -> None:
        self.setting, self.store, self.engine, self.progress = setting, store, where, progress
        self.optimizer = setting.optimizer
        self.racing = setting.optimizer if isinstance(setting.optimizer, Racing) else None
        self.watch = Watch()
        self.learned: list[int] = []  # numbers of trials, in the order told
        self.awaited: set[int] = set()  # expected or asked for
        self.ours: dict[int, Proposal] = {}  # where trials of ours are on their way
        self.paused: dict[Any, dict[int, StudyTrial]] = {}  # by their values, and by number
        self.rungs_told: dict[int, int] = {}
        self.finished = self.failed = 0
        self.best: tuple[float, int] | None = None  # minimised
        self.costs: list[tuple[Mapping[str, Any], float]] = []  # of trials that fit, as they ended
        self.decided: int | None = None  # after how many of them it was last asked whether to stop
        self.stopped = False
        self.began = time.monotonic()

    def go(self) -> None:
        at_fault = True
        if self.setting.stop is None:
            self.store.stop(None)  # whoever goes on without stopping takes a former end back
        try:
            while True:
                waiting = self._catch_up()
                self._show()
                enough = self.racing is None and self.finished >= self.setting.trials
                enough = enough or self._stops()
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

    def _stops(self) -> bool:
        """Has the search stopped, now or before? It is decided from the first trials of a number that
        grows by a quarter, so that nothing depends on when it is asked."""
        stop = self.setting.stop
        if stop is None or self.stopped:
            return self.stopped
        self.stopped = self.store.stopped is not None
        due = stop.due(len(self.costs))
        if self.stopped or due is None or due == self.decided:
            return self.stopped
        self.decided = due
        values, costs = zip(*self.costs[:due], strict=True)
        search: Search = "random" if self.optimizer.name == "random" else "model"
        X, y = self.setting.space.encode(values), np.array(costs)
        why = stop.decide(self.setting.space, X, y, search, self.setting.seed)
        self.stopped = why is not None
        if why is not None:
            self.store.stop(why)
        return self.stopped

    def _late(self) -> bool:
        limit = self.setting.seconds
        return limit is not None and time.monotonic() - self.began >= limit

    # What the storage holds is told

    def _catch_up(self) -> list[StudyTrial]:
        """Tell the optimiser what happened, small budgets first; trials that wait for somebody."""
        waiting, ended, rungs = [], [], []
        for trial in self.store.changes():
            fits = self._fits(trial)
            if fits:
                new = trial.rungs[self.rungs_told.get(trial.number, 0) :]
                rungs += [(budget, trial, fits, cost) for budget, cost in new]
                self.rungs_told[trial.number] = len(trial.rungs)
            if trial.state not in (None, State.RUNNING):
                ended.append((trial.proposal.budget or 0.0, trial, fits, None))
            elif fits and trial.paused and trial.state is None:
                self.awaited.discard(trial.number)
                self.paused.setdefault(_key(trial.values), {})[trial.number] = trial
            elif fits and trial.number not in self.ours:
                waiting.append(trial)
        # A rung opens when all before it are known, those that failed there among them
        rungs.sort(key=lambda event: event[1].number)
        for budget, trial, fits, cost in sorted([*rungs, *ended], key=lambda event: event[0]):
            if cost is None:
                self._tell_end(trial, fits)
            else:
                self.optimizer.tell(trial.values, cost, budget)
        self._drop()
        return [trial for trial in waiting if self._open(trial)]

    def _tell_end(self, trial: StudyTrial, fits: bool) -> None:
        self.finished += 1
        self.failed += trial.state is State.FAILED
        self.awaited.discard(trial.number)
        self.paused.get(_key(trial.values), {}).pop(trial.number, None)
        if fits and not (trial.state is State.PRUNED and trial.rungs):
            self.optimizer.tell(trial.values, trial.cost, trial.proposal.budget)
        if fits:
            self.learned.append(trial.number)
            if trial.state is State.COMPLETE:
                self.costs.append((trial.values, trial.cost))
        if trial.state is State.COMPLETE and (self.best is None or trial.cost < self.best[0]):
            self.best = (trial.cost, trial.number)

    def _open(self, trial: StudyTrial) -> bool:
        """Await a trial that somebody runs, or ran; is there nobody?"""
        if trial.number not in self.awaited:
            self.optimizer.expect(trial.values, trial.proposal.budget)
            self.awaited.add(trial.number)
        return trial.state is None or self.watch.abandoned(trial.number, trial.lease)

    def _fits(self, trial: StudyTrial) -> bool:
        """Is it a configuration of this space? Another program may have added others."""
        try:
            vector = self.setting.space.encode([trial.values])
        except SpaceError:
            return False
        return not len(self.setting.space.misfits(vector))

    # Work is given to the engine: what waits, then what the optimiser proposes

    def _start(self, waiting: list[StudyTrial]) -> int:
        """Fill the free workers; how many trials were started."""
        started = 0
        while self.engine.free > 0:
            if waiting:
                trial = waiting.pop(0)
                if not self.store.claim(trial):
                    continue
                number, values, proposal = trial.number, trial.values, trial.proposal
            else:
                enough = self.finished + len(self.awaited) >= self.setting.trials
                candidate = None if enough and self.racing is None else self.optimizer.ask()
                if candidate is None:
                    break
                taken = self._take(candidate)
                if taken is None:
                    continue
                number, values, proposal = taken, candidate.values, candidate.proposal
                self.awaited.add(number)
            self.ours[number] = proposal
            constants = self.setting.space.constants
            self.engine.start(number, {**constants, **values}, proposal.budget)
            started += 1
        return started

    def _take(self, candidate: Candidate) -> int | None:
        """The trial of a candidate: a new one, or one that goes on; None if another process has it."""
        proposal = candidate.proposal
        paused = self._unpause(candidate.values, proposal.rung) if proposal.rung else None
        if paused is not None:
            return paused.number if self.store.go_on(paused, proposal) else None
        awaited = sorted(self.awaited)
        number = self.store.begin(candidate, self.optimizer.name, self.learned, awaited)
        if proposal.entry is None or proposal.rung:  # later rungs are claimed, not begun
            return number
        twin = self.store.twin(number, proposal.entry)
        if twin is None:
            return number
        self.awaited.add(twin)
        return None

    # An evaluation of ours ends a trial, or a rung of a race

    def _ended(self, number: int, outcome: Outcome) -> None:
        """Write down how an evaluation of ours ended: the trial with it, or its rung."""
        proposal = self.ours.pop(number)
        if outcome.cost is None or proposal.final or proposal.budget is None:
            self.store.finish(number, outcome)
        else:
            self.store.pause(number, outcome.cost, proposal.rung or 0, proposal.budget)

    def _drop(self) -> None:
        """Prune what will not go on."""
        for values in self.racing.dropped() if self.racing is not None else ():
            if (trial := self._unpause(values)) is not None:
                self.store.prune(trial.number)

    def _unpause(self, values: Mapping[str, Any], rung: int | None = None) -> StudyTrial | None:
        """A paused trial of a configuration that has come to this rung, or the least far one; it is
        paused no more."""
        same = self.paused.get(_key(values), {})
        fitting = [t for t in same.values() if rung is None or t.rung + 1 == rung]
        if not fitting:
            return None
        return same.pop(min(fitting, key=lambda t: (t.rung, t.number)).number)

    def _show(self) -> None:
        if self.progress is not None:
            cost, trial = self.best if self.best is not None else (None, None)
            if cost is not None and self.setting.maximize:
                cost = -cost
            total = self.setting.trials
            if self.racing is not None:
                total = self.racing.configurations or max(total, self.finished)
            self.progress(Status(total, self.finished, self.failed, len(self.ours), cost, trial))


def _key(values: Mapping[str, Any]) -> Any:
    """What tells configurations apart."""
    return tuple(sorted((name, repr(value)) for name, value in values.items()))
