"""The one loop: ask, evaluate, write down, tell; in one process or many, from the start or again.

Nothing is told to an optimiser but what the storage holds: a run that goes on after a kill, or
beside another process on the same storage, is the same code as one that never stopped.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from hyperlens.errors import SpaceError
from hyperlens.optimize.optimizers.protocol import (
    Candidate,
    Optimizer,
    Racing,
    Weighing,
    Withdrawing,
)
from hyperlens.optimize.running.engine import Engine
from hyperlens.optimize.running.goal import Goal
from hyperlens.optimize.running.stopping import Stop
from hyperlens.optimize.running.trial_outcome import Outcome
from hyperlens.optimize.storage.leases import Watch
from hyperlens.optimize.storage.storages import Storage
from hyperlens.proposal import Proposal
from hyperlens.runs.history import State
from hyperlens.runs.search_plan import SearchPlan
from hyperlens.spaces.points import on_front
from hyperlens.spaces.space import Space
from hyperlens.surrogates.outlook.prospect import Search

if TYPE_CHECKING:
    from hyperlens.optimize.storage.store import Store
    from hyperlens.optimize.storage.stored_trial import StudyTrial

POLL = 1.0  # seconds after which we look what other processes on the storage did
DOUBTS = 3  # looks at a trial of known values until it is taken to be meant so
AGAIN = 0.02  # seconds after which we look, where another was quicker than we


@dataclass(frozen=True)
class Status:
    """How far a run is. `best` is in the user's direction, None before the first cost that keeps all
    limits, and where there are several objectives."""

    total: int  # trials that there will be
    finished: int
    failed: int
    running: int
    best: float | None
    best_trial: int | None
    front: int | None = None  # trials on the front, where there are several objectives
    left: float | None = None  # seconds, where there is a limit


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
    goal: Goal | None = None  # what is measured, if not one cost and nothing else
    left: Callable[[], float] | None = None  # seconds, where that changes on the way


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
        self.watch = Watch(store.run)
        self.learned: list[int] = []  # numbers of trials, in the order told
        self.awaited: dict[int, float | None] = {}  # expected or asked for, at which budget
        self.expected: dict[int, Candidate | None] = {}  # those that others began
        self.ours: dict[int, Proposal] = {}  # where trials of ours are on their way
        self.paused: dict[Any, dict[int, StudyTrial]] = {}  # by their values, and by number
        self.moving: set[Any] = set()  # values of trials that another takes from rung to rung now
        self.places: dict[Any, int] = {}  # of a race: the first trial that has begun there
        self.doubted: Counter[int] = Counter()  # how often we saw trials that may be withdrawn
        self.rungs_told: dict[int, int] = {}
        self.fitting: dict[int, bool] = {}  # by number: is it a configuration of this space?
        self.finished = self.failed = 0
        self.best: tuple[float, int] | None = None  # minimised
        self.front: list[tuple[float, ...]] = []  # costs of several objectives, of trials of use
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
                started, outrun = (0, False) if enough else self._start(waiting)
                busy = started or outrun or self.awaited or self.ours or self.moving
                if (
                    not busy
                ):  # the optimiser has nothing more to ask: whoever waits waits for nobody
                    self._prune(t for same in self.paused.values() for t in same.values())
                    self._catch_up()
                    self._show()
                    return
                for number, outcome in self.engine.wait(self._patience(outrun)):
                    self._ended(number, outcome)
                self.store.beat()
        except KeyboardInterrupt:
            at_fault = False
            raise
        finally:
            self.engine.close()
            self.store.put_back(at_fault)

    def _patience(self, outrun: bool) -> float:
        """Seconds after which we look again, no later than the end."""
        return max(0.0, min(AGAIN if outrun else POLL, self.left))

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

    @property
    def left(self) -> float:
        """Seconds until this process ends its part."""
        limit, left = self.setting.seconds, self.setting.left
        ends = float("inf") if limit is None else limit - (time.monotonic() - self.began)
        return ends if left is None else min(ends, left())

    def _late(self) -> bool:
        return self.left <= 0

    # What the storage holds is told

    def _catch_up(self) -> list[StudyTrial]:
        """Tell the optimiser what happened, small budgets first; trials that wait for somebody."""
        waiting, ended, rungs = [], [], []
        self.paused, self.moving = {}, set()
        for trial in self.store.changes():
            fits = self._fits(trial)
            if fits:
                told = self.rungs_told.get(trial.number, 0)
                rungs += [(budget, trial, fits, cost) for budget, cost in trial.rungs[told:]]
                self.rungs_told[trial.number] = max(told, len(trial.rungs))
                place = (trial.place, _key(trial.values))
                self.places[place] = min(trial.number, self.places.get(place, trial.number))
            if trial.state not in (None, State.RUNNING):
                ended.append((trial.proposal.budget or 0.0, trial, fits, None))
            elif fits and trial.number not in self.ours:
                if trial.paused:
                    self._rest(trial)
                elif not self._withdrawn(trial):
                    waiting.append(trial)
        for number in self.store.withdrawn & self.awaited.keys():
            self._withdraw(self.expected[number])
            del self.awaited[number]
        # A rung opens when all before it are known, those that failed there among them
        rungs.sort(key=lambda event: event[1].number)
        for budget, trial, fits, cost in sorted([*rungs, *ended], key=lambda event: event[0]):
            if cost is None:
                self._tell_end(trial, fits)
            else:
                self._tell(trial, cost, budget)
        self._drop()
        return [trial for trial in waiting if self._open(trial)]

    def _rest(self, trial: StudyTrial) -> None:
        """Keep a trial that waits at its rung, or that nobody let wait there; who is about to let it
        wait, or to take it further, is not waited for."""
        self.awaited.pop(trial.number, None)
        if trial.state is None or self.watch.abandoned(trial.number, trial.lease):
            self.paused.setdefault(_key(trial.values), {})[trial.number] = trial
        else:
            self.moving.add(_key(trial.values))

    def _withdrawn(self, trial: StudyTrial) -> bool:
        """Is it the second trial of a place in a race, or of what two processes drew at once? Whoever
        began it withdraws it; we, if that process is gone. Without places, it may be meant so."""
        first = self.places[(trial.place, _key(trial.values))]
        if trial.number == first or trial.rungs:
            return False
        gone = trial.state is None or self.watch.abandoned(trial.number, trial.lease)
        if trial.place is None:
            self.doubted[trial.number] += 1
            return not gone and self.doubted[trial.number] <= DOUBTS
        if gone:
            self.store.withdraw(trial.number, first)
        return True

    def _tell(self, trial: StudyTrial, cost: float, budget: float | None) -> None:
        """All costs too, and by how much limits are exceeded, where there are several or any."""
        if trial.others or trial.excess:
            weighing = cast(Weighing, self.optimizer)
            weighing.tell(trial.values, (cost, *trial.others), budget, trial.excess)
        elif self.racing is None:
            self.optimizer.tell(trial.values, cost, budget)
        else:
            self.racing.tell(trial.values, cost, budget, trial.proposal.entry)

    def _tell_end(self, trial: StudyTrial, fits: bool) -> None:
        self.finished += 1
        self.failed += trial.state is State.FAILED
        self.awaited.pop(trial.number, None)
        if fits and not (trial.state is State.PRUNED and trial.rungs):
            self._tell(trial, trial.cost, trial.proposal.budget)
        if fits:
            self.learned.append(trial.number)
            if trial.state is State.COMPLETE:
                self.costs.append((trial.values, trial.cost))
        of_use = trial.state is State.COMPLETE and all(e <= 0 for e in trial.excess)
        if of_use and trial.others:
            self.front.append((trial.cost, *trial.others))
        elif of_use and (self.best is None or trial.cost < self.best[0]):
            self.best = (trial.cost, trial.number)

    def _open(self, trial: StudyTrial) -> bool:
        """Await a trial that somebody runs, or ran; is there nobody?"""
        budget = trial.proposal.budget
        if self.awaited.get(trial.number, -1.0) != budget:
            if self.racing is None:
                self.expected[trial.number] = self.optimizer.expect(trial.values, budget)
            else:
                self.racing.expect(trial.values, budget, trial.proposal.entry)
            self.awaited[trial.number] = budget
        return trial.state is None or self.watch.abandoned(trial.number, trial.lease)

    def _fits(self, trial: StudyTrial) -> bool:
        """Is it a configuration of this space? Another program may have added others. A trial that waits
        is asked about again and again, and its values stay as they are."""
        if trial.number not in self.fitting:
            try:
                vector = self.setting.space.encode([trial.values])
                self.fitting[trial.number] = not len(self.setting.space.misfits(vector))
            except SpaceError:
                self.fitting[trial.number] = False
        return self.fitting[trial.number]

    # Work is given to the engine: what waits, then what the optimiser proposes

    def _start(self, waiting: list[StudyTrial]) -> tuple[int, bool]:
        """Fill the free workers; how many trials were started, and whether another process took
        something before us, so that we must look again."""
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
                    return started, True
                number, values, proposal = taken, candidate.values, candidate.proposal
                self.awaited[number] = proposal.budget
            self.ours[number] = proposal
            constants = self.setting.space.constants
            self.engine.start(number, {**constants, **values}, proposal.budget)
            started += 1
        return started, False

    def _take(self, candidate: Candidate) -> int | None:
        """The trial of a candidate: a new one, or one that goes on; None if another process has it,
        and then it was not asked for."""
        proposal = candidate.proposal
        values, rung = candidate.values, proposal.rung
        rests = self._unpause(values, proposal.entry, rung) if rung else None
        if rests is not None:
            number, taken = rests.number, self.store.go_on(rests, proposal)
        elif rung and _key(values) in self.moving:
            number, taken = -1, False
        else:
            awaited = sorted(self.awaited)
            number = self.store.begin(candidate, self.optimizer.name, self.learned, awaited)
            alone = not isinstance(self.optimizer, Withdrawing)
            taken = alone or self.store.twin(number) is None
        if not taken:
            self._withdraw(candidate)
        return number if taken else None

    def _withdraw(self, candidate: Candidate | None) -> None:
        if candidate is not None and isinstance(self.optimizer, Withdrawing):
            self.optimizer.withdraw(candidate)

    # An evaluation of ours ends a trial, or a rung of a race

    def _ended(self, number: int, outcome: Outcome) -> None:
        """Write down how an evaluation of ours ended: the trial with it, or its rung."""
        proposal = self.ours.pop(number)
        if outcome.cost is None or proposal.final or proposal.budget is None:
            self.store.finish(number, outcome)
        else:
            self.store.pause(number, outcome.cost, proposal.budget)

    def _drop(self) -> None:
        """Prune what will not go on."""
        if self.racing is not None:
            lost = [self._unpause(values, name) for name, values in self.racing.dropped()]
            self._prune(trial for trial in lost if trial is not None)

    def _prune(self, trials: Iterable[StudyTrial]) -> None:
        for trial in trials:
            self.store.prune(trial.number)

    def _unpause(
        self, values: Mapping[str, Any], entry: str | None, rung: int | None = None
    ) -> StudyTrial | None:
        """A paused trial of a configuration that may go to this rung, or the least far one, its own
        before another's; it is paused no more."""
        rests = self.paused.get(_key(values), {})
        fitting = [t for t in rests.values() if rung is None or t.rung + 1 == rung]
        if not fitting:
            return None
        chosen = min(fitting, key=lambda t: (t.proposal.entry != entry, t.rung, t.number))
        return rests.pop(chosen.number)

    def _show(self) -> None:
        if self.progress is not None:
            cost, trial = self.best if self.best is not None else (None, None)
            if cost is not None and self.setting.maximize:
                cost = -cost
            total = self.setting.trials
            if self.racing is not None:
                total = self.racing.configurations or max(total, self.finished)
            front = int(on_front(np.array(self.front)).sum()) if self.front else None
            running = len(self.ours)
            left = None if self.left == float("inf") else max(0.0, self.left)
            done, failed = self.finished, self.failed
            self.progress(Status(total, done, failed, running, cost, trial, front, left))


def _key(values: Mapping[str, Any]) -> Any:
    """What tells configurations apart."""
    return tuple(sorted((name, repr(value)) for name, value in values.items()))
