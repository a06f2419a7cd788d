"""A race that begins cheap and can end at any time: quick models and few splits or rows first.

Asynchronous halving (Li et al. 2020) by the budgets of looks.py. Models' defaults come first, the
quickest model's before all; then, whatever is among the best third of its rung goes on, if its expected
seconds are left; else a new configuration is tried: by turns what practice suggests for the best model,
what the models' weights draw (Sarigiannis et al. 2020), and twice what promises to gain most in a second
(optimize/models/promising.py): among draws and steps from the best, and among steps from the best of
another good model, for what errs differently makes an ensemble.

Symbols
    spread   standard deviation of a step from one of the best, in the unit cube
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hyperlens.cash.measuring.kept import key_of
from hyperlens.cash.measuring.looks import ETA, ladder
from hyperlens.cash.search.pace import Pace
from hyperlens.optimize.models.model_sampling import ROOT, Sampling
from hyperlens.optimize.models.promising import gain_per_second
from hyperlens.optimize.optimizers.halving import Asynchronous, Entry, ranked
from hyperlens.optimize.optimizers.ledger import Configuration
from hyperlens.optimize.optimizers.protocol import Candidate
from hyperlens.spaces.cube import FloatArray
from hyperlens.spaces.points import same
from hyperlens.spaces.space import Space

LEADERS = 8  # new ones are looked for near these
SPREADS = (0.05, 0.1, 0.2, 0.3)
STAYS = 0.5  # chance of a value to stay as it is in a step
TURNS = 4  # a start, a draw, and so many promises as are left
OTHERS = 3  # the turn of models that are not the best one
DRAWN, STEPS = 200, 200  # candidates of a promise
ENOUGH = 12  # configurations measured, of which a forest learns
CLOSE = 0.3  # of the way from the best to the usual
NEAR = 0.5  # the same for each model's own best: what errs in another way helps an ensemble
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
        budgets = ladder(rows, pace.splits)
        super().__init__(
            space,
            trials=trials or ENDLESS,
            min_budget=float(budgets[0]),
            sampling=sampling,
            seed=seed,
        )
        self.eta, self.budgets = ETA, budgets
        self._rungs = [[] for _ in budgets]
        self.pace = pace
        none = np.empty((0, len(space)))
        self.first = none if first is None else first
        self.starts = none if starts is None or not len(starts) else starts
        self._names: dict[int, tuple[str, str]] = {}  # by place
        self._promises = none
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
            chosen = self._close(best[: max(1, len(best) // self.eta)], k)
            for entry in [*chosen, *self._close(self._foremost(best), k, NEAR)]:
                costs = self.pace.evaluation(*self._name(entry), float(self.budgets[k + 1]))
                if entry.place not in above and costs < left:
                    return k + 1, entry.vector, entry.place
        return None

    def _close(self, best: Sequence[Entry], rung: int, part: float = CLOSE) -> Sequence[Entry]:
        """Of the best of a rung those that may still win or help: within a part of the way from the best
        one to what models come to with their first configurations."""
        firsts = [
            float(e.cost or 0.0) for e in ranked(self._rungs[rung]) if e.place < len(self.first)
        ]
        least = float(best[0].cost or 0.0)
        usual = float(np.median(firsts)) if firsts else math.inf
        return [e for e in best if float(e.cost or 0.0) <= least + part * max(0.0, usual - least)]

    def _foremost(self, best: Sequence[Entry]) -> list[Entry]:
        """Of a rung's entries, best first, each model's own best."""
        own: dict[str, Entry] = {}
        for entry in best:
            own.setdefault(self._name(entry)[0], entry)
        return list(own.values())

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
        """By turns a start of the best model that has one left, what the weights draw, and what
        promises most."""
        turn = place % TURNS
        if turn == 0 and attempt == 0:
            left = [v for v in self.starts if not same(known, v).any()]
            if left:
                return min(left, key=lambda v: self._best_of(self._name_of(v)[0]))
        if turn != 1 and attempt < REDRAWS // 2:
            promised = self._promised(place, attempt, rng)
            if promised is not None:
                return promised
        vector: FloatArray = self._draw_vectors(1, 6, place, attempt)[0]
        return vector

    def _promised(self, place: int, attempt: int, rng: np.random.Generator) -> FloatArray | None:
        """What promises most in a second, every other time of a model that is not the best one; at a
        further attempt the next one."""
        if not attempt:
            told = [e for e in self._rungs[0] if e.cost is not None and math.isfinite(e.cost)]
            if len(told) < ENOUGH:
                return None
            leaders = self._leaders()
            candidates = np.vstack([self._sample(DRAWN, rng), self._steps(rng, leaders)])
            if place % TURNS == OTHERS:
                first = self._close(self._foremost(ranked(self._rungs[0])), 0, NEAR)
                other = self._name(first[place // TURNS % len(first)])[0]
                its = [e for e in leaders if self._name(e)[0] == other]
                candidates = self._steps(rng, its)
            gains = gain_per_second(
                candidates, np.array([e.vector for e in told]), self._losses(told),
                np.array([self.pace.evaluation(*self._name(e), self._least) for e in told]),
                self.space.cube, self.seed + place,
            )  # fmt: skip
            self._promises = candidates[np.argsort(-gains, kind="stable")[:REDRAWS]]
        if attempt >= len(self._promises):
            return None
        vector: FloatArray = self.space.encode(
            self.space.decode(self._promises[attempt : attempt + 1])
        )[0]
        return vector

    def _losses(self, told: Sequence[Entry]) -> FloatArray:
        """Of the first rung; of what went on as the rungs above say it, which are surer, less what they
        differ by on the whole."""
        losses = np.array([float(e.cost or 0.0) for e in told])
        first = losses.copy()
        for rung in self._rungs[1:]:
            above = {e.place: float(e.cost or 0.0) for e in ranked(rung)}
            both = np.array([e.place in above for e in told])
            if both.any():
                surer = np.array(
                    [above[e.place] for e, here in zip(told, both, strict=True) if here]
                )
                losses[both] = surer + np.median(first[both] - surer)
        return losses

    def _best_of(self, model: str) -> float:
        """The best cost of a model at the first rung."""
        costs = (float(e.cost or 0.0) for e in ranked(self._rungs[0]) if self._name(e)[0] == model)
        return min(costs, default=float("inf"))

    @property
    def _least(self) -> float:
        return float(self.budgets[0])

    def _steps(self, rng: np.random.Generator, leaders: Sequence[Entry]) -> FloatArray:
        """Vectors (n, d) a step away from one of the best, the better the likelier."""
        leaders = leaders[:LEADERS]
        chances = 1.0 / np.arange(1, len(leaders) + 1)
        chosen = rng.choice(len(leaders), STEPS, p=chances / chances.sum())
        starts = np.array([e.vector for e in leaders])[chosen]
        even = rng.random(starts.shape)
        latent = np.where(np.isnan(starts), even, starts)
        spread = rng.choice(SPREADS, (STEPS, 1))
        moved = np.clip(latent + spread * rng.standard_normal(latent.shape), 0, 1)
        kinds = [self.space[name].kind == "categorical" for name in self.space.names]
        moved = np.where(kinds, even, moved)
        stays = rng.random(starts.shape) < STAYS
        stays[:, [name == ROOT for name in self.space.names]] = True
        vectors = self.space.cube.vectors(np.where(stays, latent, moved))
        allowed: FloatArray = vectors[~self.space.forbidden(vectors)]
        return allowed

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


def cheapest_first(space: Space, vectors: FloatArray, order: Sequence[str]) -> FloatArray:
    """By the place of their model in `order`; those of other models stay where they are, behind."""
    names = [str(v.get(ROOT, "")) for v in space.decode(vectors)]
    place = [order.index(name) if name in order else len(order) for name in names]
    return vectors[np.argsort(place, kind="stable")]
