"""Successive halving, Hyperband and their asynchronous kin: many configurations at a small budget,
the best of them at larger ones (Sarigiannis et al. 2020 algorithm 1; symbols: schedule.py). They are
from Jamieson and Talwalkar 2016, Li et al. 2018 and Li et al. 2020.

A bracket draws its configurations from the seed and its own number alone, so what is evaluated does
not depend on how many evaluate at once: only on costs. Brackets do not know of each other; while one
waits for a rung to end, the next may begin.

What a race knows is a function of which entries are awaited and of which costs are known, in whatever
order they were told: so it goes on from any storage, also from one that another race has begun.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from itertools import count
from typing import Any

import numpy as np

from hyperlens.errors import SpaceError
from hyperlens.optimize.models.model_sampling import Sampling, sampler
from hyperlens.optimize.optimizers.ledger import Configuration, Learner
from hyperlens.optimize.optimizers.protocol import Candidate
from hyperlens.optimize.optimizers.schedule import MOST_RUNGS, Bracket, Schedule, schedule
from hyperlens.proposal import Proposal
from hyperlens.spaces.cube import FloatArray
from hyperlens.spaces.points import same
from hyperlens.spaces.space import GivenSpace, as_space

CLOSE = 1e-9  # budgets this near are one, relative


@dataclass
class Entry:
    """One configuration at one rung: asked for, and its cost once it is told (nan if it failed)."""

    name: str  # of the bracket, and of its place there
    vector: FloatArray
    place: int  # in the order in which the bracket drew it, which decides between equals
    asked: bool = False
    cost: float | None = None


@dataclass
class Running:
    """A bracket on its way: the entries of each rung that has begun."""

    bracket: Bracket
    rungs: list[list[Entry]] = field(default_factory=list)

    def advance(self) -> list[Entry]:
        """Open the next rung for the best of this one, once all of it is known; the others of those
        that did not fail."""
        if len(self.rungs) == len(self.bracket.rungs) or any(
            e.cost is None for e in self.rungs[-1]
        ):
            return []
        order = ranked(self.rungs[-1])
        most = self.bracket.rungs[len(self.rungs)].configurations  # n_(i+1)
        self.rungs.append([Entry(e.name, e.vector, e.place) for e in order[:most]])  # at r_(i+1)
        return order[most:]


def ranked(entries: list[Entry]) -> list[Entry]:
    """Those that did not fail, the smallest cost first, the earlier drawn among equals."""
    known = [e for e in entries if e.cost is not None and math.isfinite(e.cost)]
    return sorted(known, key=lambda e: (e.cost, e.place))


def alike(entries: Iterable[Entry], vector: FloatArray, name: str | None) -> Entry | None:
    """The one of this configuration: with this name, or else the first."""
    entries = list(entries)
    for entry in entries:  # first of all by the name, which is quick
        if entry.name == name and same(entry.vector[None], vector)[0]:
            return entry
    equal = [e for e in entries if same(e.vector[None], vector)[0]]
    return equal[0] if equal else None


def near(budget: float | None, other: Fraction) -> bool:
    return budget is not None and math.isclose(budget, other, rel_tol=CLOSE)


class _Race(Learner):
    """What both kinds of halving share: how they draw and propose."""

    def __init__(self, space: GivenSpace, sampling: Sampling | None, seed: int) -> None:
        space = as_space(space)
        super().__init__(space, seed)
        self._sample = sampler(space, sampling)

    def _draw_vectors(self, n: int, *key: int) -> FloatArray:
        """Vectors (n, d) as their values are encoded."""
        vectors = self._sample(n, np.random.default_rng([self.seed, *key]))
        return self.space.encode(self.space.decode(vectors))

    def _propose(
        self, vector: FloatArray, budgets: Sequence[Fraction], rung: int, entry: str
    ) -> Candidate:
        final, budget = rung == len(budgets) - 1, float(budgets[rung])
        proposal = Proposal("proposed", budget=budget, rung=rung, final=final, entry=entry)
        return self._ledger.add(vector, proposal)


class Hyperband(_Race):
    """Runs brackets of successive halving, from the most explorative to plain random search.

    `trials` are evaluations at full budget, so many for all brackets together. The smallest budget
    follows from `min_budget` or from the number of `brackets`.

    >>> from hyperlens import Parameter, Space
    >>> search = Hyperband(Space.of([Parameter("x", "float", 0, 1)]), trials=27)
    >>> search.evaluations, search.ask().proposal.budget == 1 / 9
    (65, True)
    """

    name = "hyperband"
    halving_only = False  # the first bracket alone

    def __init__(
        self,
        space: GivenSpace,
        *,
        trials: int = 99,
        eta: int = 3,
        min_budget: float | None = None,
        max_budget: float = 1.0,
        brackets: int | None = None,
        sampling: Sampling | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(space, sampling, seed)
        plan = partial(
            schedule, eta=eta, brackets=brackets, min_budget=min_budget, max_budget=max_budget
        )
        self.schedule = self._planned(trials, plan)
        self._running = [Running(b) for b in self.schedule.brackets]
        self._lost: list[Entry] = []
        self._early: list[tuple[float | None, Entry]] = []  # told before their rung has opened
        # Each bracket draws the n_0 configurations of its first rung
        for k, running in enumerate(self._running):
            name, n = running.bracket.name, running.bracket.rungs[0].configurations
            vectors = enumerate(self._draw_vectors(n, 3, k))
            running.rungs.append([Entry(f"{name}:{place}", v, place) for place, v in vectors])

    def _planned(self, trials: int, plan: Callable[[int], Schedule]) -> Schedule:
        """Each bracket has an equal part of the trials."""
        probe = plan(max(trials, MOST_RUNGS))
        count = 1 if self.halving_only else len(probe.brackets)
        if trials // count < len(probe.brackets):
            raise SpaceError(
                f"{trials} trials at full budget are too few for {count} brackets of up to "
                f"{len(probe.brackets)} rungs; allow {count * len(probe.brackets)}, use fewer "
                "brackets, or search at random."
            )
        planned = plan(trials // count)
        return replace(planned, brackets=planned.brackets[:count])

    # What the race will be

    @property
    def evaluations(self) -> int:
        """How many there will be in all."""
        return sum(r.configurations for b in self.schedule.brackets for r in b.rungs)

    @property
    def configurations(self) -> int | None:
        return sum(b.rungs[0].configurations for b in self.schedule.brackets)

    # Asking and telling

    def dropped(self) -> list[tuple[str, Mapping[str, Any]]]:
        lost, self._lost = self._lost, []
        return [(e.name, self.space.decode(e.vector[None])[0]) for e in lost]

    def ask(self) -> Candidate | None:
        for running in self._running:
            entry = next((entry for entry in running.rungs[-1] if not entry.asked), None)
            if entry is not None:  # else its last rung is awaited, or it is over
                entry.asked = True
                budgets = [rung.budget for rung in running.bracket.rungs]
                return self._propose(entry.vector, budgets, len(running.rungs) - 1, entry.name)
        return None

    def withdraw(self, candidate: Candidate) -> None:
        super().withdraw(candidate)
        proposal = candidate.proposal
        entry = self._find(candidate.vector, proposal.budget, proposal.entry)
        if entry is not None:
            entry.asked = False

    def expect(
        self, configuration: Configuration, budget: float | None = None, entry: str | None = None
    ) -> Candidate:
        awaited = self._ledger.expect(configuration, budget)
        self._entry(awaited.vector, budget, entry).asked = True
        return awaited

    def tell(
        self,
        configuration: Configuration,
        cost: float,
        budget: float | None = None,
        entry: str | None = None,
    ) -> None:
        result = self._ledger.tell(configuration, cost, budget)
        told = self._entry(result.vector, budget, entry)
        told.asked, told.cost = True, result.cost
        for running in self._running:
            rungs = 0
            while len(running.rungs) > rungs:
                rungs = len(running.rungs)
                self._lost += running.advance()
                if len(running.rungs) > rungs:
                    self._recall(running)

    def _entry(self, vector: FloatArray, budget: float | None, name: str | None) -> Entry:
        """Whose cost is not known yet; where its rung has not opened, it is kept until then."""
        found = self._find(vector, budget, name)
        early = (e for r, e in self._early if e.cost is None and r == budget)
        found = found or alike(early, vector, name)
        if found is None:
            found = Entry(name or "", vector, 0)
            self._early.append((budget, found))
        return found

    def _recall(self, running: Running) -> None:
        """What is known already of a rung that has just opened."""
        budget = running.bracket.rungs[len(running.rungs) - 1].budget
        for entry in running.rungs[-1]:
            fitting = [e for r, e in self._early if near(r, budget)]
            known = alike(fitting, entry.vector, entry.name)
            if known is not None:
                self._early = [(r, e) for r, e in self._early if e is not known]
                entry.asked, entry.cost = known.asked, known.cost

    def _find(self, vector: FloatArray, budget: float | None, name: str | None) -> Entry | None:
        """The entry of this configuration at this budget whose cost is not known yet."""
        unknown = [
            entry
            for running in self._running
            for rung, entries in zip(running.bracket.rungs, running.rungs, strict=False)
            if near(budget, rung.budget)
            for entry in entries
            if entry.cost is None
        ]
        return alike(unknown, vector, name)


class Halving(Hyperband):
    """Successive halving: one bracket, with all of the trials."""

    name = "halving"
    halving_only = True


class Asynchronous(_Race):
    """Successive halving for many workers: a configuration is promoted as soon as it is among the
    best of those known at its rung, without waiting for the others.

    What is promoted depends on the order in which costs come in.
    """

    name = "asha"

    def __init__(
        self,
        space: GivenSpace,
        *,
        trials: int = 99,
        eta: int = 3,
        min_budget: float | None = None,
        max_budget: float = 1.0,
        sampling: Sampling | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(space, sampling, seed)
        self.trials = trials
        plan = schedule(trials, eta, min_budget=min_budget, max_budget=max_budget)
        self.eta = plan.eta
        self.budgets = [rung.budget for rung in plan.brackets[0].rungs]
        self.full = plan.max_budget
        self._rungs: list[list[Entry]] = [[] for _ in self.budgets]
        self._places: set[int] = set()  # that configurations have taken
        self.configurations: int | None = None

    # Asking and telling

    @property
    def spent(self) -> Fraction:
        """Budget of what was asked for, in evaluations at full budget."""
        pairs = zip(self.budgets, self._rungs, strict=True)
        return sum((len(entries) * r / self.full for r, entries in pairs), Fraction(0))

    def ask(self) -> Candidate | None:
        rung, vector, place = self._promotion() or self._fresh()
        if self.spent + self.budgets[rung] / self.full > self.trials:
            return None
        self._places.add(place)
        self._rungs[rung].append(Entry(str(place), vector, place, asked=True))
        return self._propose(vector, self.budgets, rung, str(place))

    def withdraw(self, candidate: Candidate) -> None:
        super().withdraw(candidate)
        rung, name = candidate.proposal.rung or 0, candidate.proposal.entry
        self._rungs[rung] = [e for e in self._rungs[rung] if e.name != name]
        if not rung:
            self._places.discard(int(name or 0))

    def dropped(self) -> list[tuple[str, Mapping[str, Any]]]:
        """None: while trials are left, whoever waits may still go on."""
        return []

    # What to ask for: a promotion, or a new configuration at the first rung

    def _promotion(self) -> tuple[int, FloatArray, int] | None:
        """From the highest rung down: one of the best 1 / eta that has not gone on yet."""
        for k in range(len(self._rungs) - 2, -1, -1):
            above = {e.place for e in self._rungs[k + 1]}
            known = [e for e in self._rungs[k] if e.cost is not None]
            for entry in ranked(known)[: len(known) // self.eta]:
                if entry.place not in above:
                    return k + 1, entry.vector, entry.place
        return None

    def _fresh(self) -> tuple[int, FloatArray, int]:
        return 0, self._draw_vectors(1, 4, self._free)[0], self._free

    @property
    def _free(self) -> int:
        """The first place that no configuration has."""
        return next(k for k in count() if k not in self._places)

    def expect(
        self, configuration: Configuration, budget: float | None = None, entry: str | None = None
    ) -> Candidate:
        awaited = self._ledger.expect(configuration, budget)
        self._place(awaited.vector, budget, entry)
        return awaited

    def tell(
        self,
        configuration: Configuration,
        cost: float,
        budget: float | None = None,
        entry: str | None = None,
    ) -> None:
        result = self._ledger.tell(configuration, cost, budget)
        told = self._place(result.vector, budget, entry)
        if told is not None:
            told.cost = result.cost

    def _place(self, vector: FloatArray, budget: float | None, name: str | None) -> Entry | None:
        """The open entry of a configuration at its rung; a new one where it was not asked for here."""
        rungs = [k for k, r in enumerate(self.budgets) if near(budget, r)]
        if not rungs:
            return None
        entries = self._rungs[rungs[0]]
        entry = alike((e for e in entries if e.cost is None), vector, name)
        if entry is None:
            place = self._place_of(vector, name, bool(rungs[0]))
            self._places.add(place)
            entry = Entry(str(place), vector, place, asked=True)
            entries.append(entry)
        return entry

    def _place_of(self, vector: FloatArray, name: str | None, later: bool) -> int:
        """Of a configuration that was not asked for here: that of its first rung, the one that it is
        named after, or one that is free."""
        earlier = alike(self._rungs[0], vector, name) if later else None
        if earlier is not None:
            return earlier.place
        own = int(name) if name is not None and name.isdecimal() and len(name) < 10 else None
        return self._free if own is None or own in self._places else own
