"""A race that begins cheap and can end at any time: small samples and quick models first.

Asynchronous halving (Li et al. 2020) whose first rung has a few hundred rows, whatever the table's
size. Models' defaults come first, the quickest model's before all; then, whatever is among the best
third of its rung goes on, if its expected seconds are left; else a new configuration is tried: by turns
what practice suggests for the best model, a step from one of the best configurations, and what the
models' weights draw (Sarigiannis et al. 2020).

Symbols
    part     of the training rows: the budget of a rung
    spread   standard deviation of a step from one of the best, in the unit cube
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from hyperlens.cash.search.kept import key_of
from hyperlens.cash.search.pace import Pace
from hyperlens.optimize.models.model_sampling import ROOT, Sampling
from hyperlens.optimize.optimizers.halving import Asynchronous, Entry, ranked
from hyperlens.optimize.optimizers.ledger import Configuration
from hyperlens.optimize.optimizers.protocol import Candidate
from hyperlens.spaces.cube import FloatArray
from hyperlens.spaces.points import same
from hyperlens.spaces.space import Space

FEWEST_ROWS = 500  # of training, at the first rung
HALVED = 100  # rows, from which a look at half of them is of use
MOST_RUNGS = 4
ETA = 3  # one of so many goes on
LEADERS = 5  # new ones are drawn near these
SPREAD = 0.15
STAYS = 0.5  # chance of a value to stay as it is in a step
KEPT_FOR = 3  # of the best: so many last trainings have their time kept
REDRAWS = 20
ENDLESS = 10**9


class Anytime(Asynchronous):
    """Asks until `pace` has nothing left, or `trials` evaluations on all rows are spent."""

    name = "anytime"

    def __init__(
        self,
        space: Space,
        pace: Pace,
        rows: int,
        *,
        first: FloatArray | None = None,
        starts: FloatArray | None = None,
        trials: int | None = None,
        sampling: Sampling = "weighted",
        seed: int = 0,
    ) -> None:
        parts = ladder(rows)
        super().__init__(
            space,
            trials=trials or ENDLESS,
            min_budget=float(parts[0]),
            sampling=sampling,
            seed=seed,
        )
        self.eta, self.budgets = ETA, parts
        self._rungs = [[] for _ in parts]
        self.pace = pace
        none = np.empty((0, len(space)))
        self.first = none if first is None else first
        self.starts = none if starts is None or not len(starts) else starts
        self._names: dict[int, tuple[str, str]] = {}  # by place
        self._begun: dict[tuple[str, float | None], float] = {}

    # What is asked for

    def ask(self) -> Candidate | None:
        if self.left() <= 0:
            return None
        chosen = self._promotion() or self._new()
        if chosen is None or self.spent + self.budgets[chosen[0]] > self.trials:
            return None
        rung, vector, place = chosen
        self._places.add(place)
        self._rungs[rung].append(Entry(str(place), vector, place, asked=True))
        candidate = self._propose(vector, self.budgets, rung, str(place))
        key = key_of(self._values(candidate.values))
        self._begun[key, candidate.proposal.budget] = time.monotonic()
        return candidate

    def left(self) -> float:
        """Seconds for the search: those of the last training are kept, of what came as far as any."""
        furthest = next((rung for rung in reversed(self._rungs) if ranked(rung)), [])
        chosen = ranked(furthest)[:KEPT_FOR]
        return self.pace.left - self.pace.for_the_end(map(self._name, chosen))

    def _promotion(self) -> tuple[int, FloatArray, int] | None:
        """Not before all of the first ones are known, nor where its time is not left."""
        begun = [e for e in self._rungs[0] if e.place < len(self.first)]
        if len(begun) < len(self.first) or any(e.cost is None for e in begun):
            return None
        left = self.left()
        for k in range(len(self._rungs) - 2, -1, -1):
            above = {e.place for e in self._rungs[k + 1]}
            best = ranked(self._rungs[k])
            if len(best) < min(2, len(self.first)):
                continue
            for entry in best[: max(1, len(best) // self.eta)]:
                costs = self.pace.evaluation(*self._name(entry), float(self.budgets[k + 1]))
                if entry.place not in above and costs < left:
                    return k + 1, entry.vector, entry.place
        return None

    def _new(self) -> tuple[int, FloatArray, int] | None:
        """One to begin with, or one that was not tried yet and for which there is time."""
        place = self._free
        if place < len(self.first):
            return 0, self.first[place], place
        known = np.array([entry.vector for entry in self._rungs[0]]).reshape(-1, len(self.space))
        rng = np.random.default_rng([self.seed, 7, place])
        for attempt in range(REDRAWS):
            vector = self._drawn(place, attempt, rng, known)
            new = not same(known, vector).any()
            if new and self.pace.evaluation(*self._name_of(vector), self._least) < self.left():
                return 0, vector, place
        return None

    def _drawn(
        self, place: int, attempt: int, rng: np.random.Generator, known: FloatArray
    ) -> FloatArray:
        """By turns a start of the best model that has one left, a step from one of the best, and what
        the weights draw."""
        turn = place % 3
        if turn == 0 and attempt == 0:
            left = [v for v in self.starts if not same(known, v).any()]
            if left:
                return min(left, key=lambda v: self._best_of(self._name_of(v)[0]))
        if turn == 1 and self._leaders():
            return self._near(rng)
        vector: FloatArray = self._draw_vectors(1, 6, place, attempt)[0]
        return vector

    def _best_of(self, model: str) -> float:
        """The best cost of a model at the first rung."""
        costs = (float(e.cost or 0.0) for e in ranked(self._rungs[0]) if self._name(e)[0] == model)
        return min(costs, default=float("inf"))

    @property
    def _least(self) -> float:
        return float(self.budgets[0])

    def _near(self, rng: np.random.Generator) -> FloatArray:
        """A step from one of the best, the better the likelier."""
        leaders = self._leaders()[:LEADERS]
        chances = 1.0 / np.arange(1, len(leaders) + 1)
        start = leaders[rng.choice(len(leaders), p=chances / chances.sum())].vector
        drawn = self._sample(1, rng)[0]
        latent = np.where(np.isnan(start), rng.random(len(start)), start)
        for column, name in enumerate(self.space.names):
            if name == ROOT or rng.random() < STAYS:
                continue
            if self.space[name].kind == "categorical":
                latent[column] = rng.random()
            else:
                latent[column] = np.clip(latent[column] + rng.normal(0, SPREAD), 0, 1)
        vector = self.space.cube.vectors(latent[None])
        if self.space.forbidden(vector)[0]:
            vector = drawn[None]
        encoded: FloatArray = self.space.encode(self.space.decode(vector))[0]
        return encoded

    def _leaders(self) -> list[Entry]:
        """The best of the highest rung that has some, then those of the rungs below."""
        found: dict[int, Entry] = {}
        for rung in reversed(self._rungs):
            for entry in ranked(rung):
                found.setdefault(entry.place, entry)
        return list(found.values())

    # What is told

    def tell(
        self,
        configuration: Configuration,
        cost: float,
        budget: float | None = None,
        entry: str | None = None,
    ) -> None:
        super().tell(configuration, cost, budget, entry)
        if isinstance(configuration, Mapping):
            values = self._values(configuration)
            key = key_of(values)
            began = self._begun.pop((key, budget), None)
            if began is not None and budget is not None:
                self.pace.note(str(values[ROOT]), key, budget, time.monotonic() - began)

    def _values(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {**self.space.constants, **values}

    def _name(self, entry: Entry) -> tuple[str, str]:
        if entry.place not in self._names:
            self._names[entry.place] = self._name_of(entry.vector)
        return self._names[entry.place]

    def _name_of(self, vector: FloatArray) -> tuple[str, str]:
        values = self._values(self.space.decode(vector[None])[0])
        return str(values[ROOT]), key_of(values)


def ladder(rows: int) -> list[Fraction]:
    """Parts of so many training rows: from a few hundred rows to all, by equal factors of at least
    three; of less than that a half and all.

    >>> [str(part) for part in ladder(4000)]
    ['1/8', '1']
    """
    factor = rows // FEWEST_ROWS
    rungs = 1
    while rungs < MOST_RUNGS and ETA**rungs <= factor:
        rungs += 1
    if rungs == 1:
        return [Fraction(1, 2), Fraction(1)] if rows >= HALVED else [Fraction(1)]
    step = int(factor ** (1 / (rungs - 1)) + 1e-9)
    return [Fraction(1, step ** (rungs - 1 - k)) for k in range(rungs)]


def cheapest_first(space: Space, vectors: FloatArray, order: Sequence[str]) -> FloatArray:
    """By the place of their model in `order`; those of other models stay where they are, behind."""
    names = [str(v.get(ROOT, "")) for v in space.decode(vectors)]
    place = [order.index(name) if name in order else len(order) for name in names]
    return vectors[np.argsort(place, kind="stable")]
