"""Trials of a search that make its explanation surer, not its best better (Moosbauer et al. 2022).

A part of the trials after the initial design is chosen by what it says about the effects of single
parameters, in closed form (surrogates/outlook/gain.py). This needs the vectors that are known, and the
hyperparameters of an additive process, which are learnt once for several such trials; all but these is
anew each time. So a choice depends only on what was told and on what is awaited, as everything that an
optimiser does.

Such trials lie where the search would not look, and are mostly bad. A search that learnt them all would
spend its surrogate on what is bad there; so it learns those of them that came out well.
"""

from __future__ import annotations

import math

import numpy as np

from hyperlens.optimize.optimizers.ledger import Result
from hyperlens.spaces.cube import BoolArray, FloatArray
from hyperlens.spaces.points import same
from hyperlens.spaces.space import Space
from hyperlens.surrogates.additive.additive import FITTED_ON
from hyperlens.surrogates.additive.components import Components
from hyperlens.surrogates.additive.kernel import Density
from hyperlens.surrogates.additive.learnt_set import LearntSet
from hyperlens.surrogates.additive.sampling import mode
from hyperlens.surrogates.outlook.gain import Gain, Places

CANDIDATES = 256
TOGETHER = 4  # trials for which hyperparameters are learnt once


class Settling:
    """Which trials of a search go to its explanation, a `part` of those from `first` on."""

    def __init__(self, space: Space, part: float, first: int, seed: int) -> None:
        self.space, self.part, self.first, self.seed = space, part, first, seed
        self._components = Components(space.cube)
        self._learnt: tuple[tuple[int, ...], FloatArray] | None = None

    def turn(self, number: int) -> bool:
        """Is this one of them? They are spread evenly.

        >>> from hyperlens import Parameter
        >>> settling = Settling(Space.of([Parameter("x", "float", 0, 1)]), 0.3, 4, 0)
        >>> [k for k in range(24) if settling.turn(k)]
        [7, 10, 13, 17, 20, 23]
        """
        return number >= self.first and self._count(number + 1) > self._count(number)

    def apart(self, results: list[Result], y: FloatArray) -> BoolArray:
        """Which results only the explanation needs: those for its sake that are worse than the median
        of the others, (n,)."""
        own = np.array([self.turn(result.number) for result in results], dtype=bool)
        if not own.any() or own.all():
            return np.zeros(len(results), dtype=bool)
        return np.asarray(own & (y > np.median(y[~own])))

    def _count(self, number: int) -> int:
        """How many of the trials before this number go to the explanation."""
        return math.floor(self.part * (number - self.first) + 1e-9)

    def choose(
        self, number: int, results: list[Result], y: FloatArray, awaited: FloatArray
    ) -> FloatArray | None:
        """The vector that says most; None where everything is known already."""
        X = np.array([r.vector for r in results])
        components = self._components
        t = self._hyperparameters(number, results, X, y)
        one = LearntSet.of(components, t, components.rows(X), y)
        drawn = self.space.sample(CANDIDATES, np.random.default_rng([self.seed, 3, number]))
        vectors = self.space.encode(self.space.decode(drawn))
        known = np.vstack([X, awaited.reshape(-1, X.shape[1])])
        fresh = vectors[[not same(known, v).any() for v in vectors]]
        if not len(fresh):
            return None
        singles = tuple(U for U in components.effects if len(U) == 1)
        part = Places.effects(components, singles, X, self.seed)
        waiting = len(known) - len(X)
        gain = Gain(components, (one,), X, part, np.vstack([known[len(X) :], fresh]))
        for k in range(waiting):
            gain.observe(k)
        return np.asarray(fresh[int(np.argmax(gain()[waiting:]))])

    def _hyperparameters(
        self, number: int, results: list[Result], X: FloatArray, y: FloatArray
    ) -> FloatArray:
        """Most likely by the results of before the first of some such trials."""
        earlier = self._count(number) // TOGETHER * TOGETHER
        begin = next(k for k in range(self.first, number + 1) if self._count(k + 1) > earlier)
        rows = [k for k, result in enumerate(results) if result.number < begin]
        if len({float(y[k]) for k in rows}) < 2:  # told in another order than asked for
            rows = list(range(len(results)))
        rows = rows[-FITTED_ON:]
        key = tuple(results[k].number for k in rows)
        if self._learnt is None or self._learnt[0] != key:
            density = Density(self._components, self._components.rows(X[rows]), y[rows])
            found = mode(density, np.random.default_rng(self.seed), starts=1)
            self._learnt = key, found
        return self._learnt[1]
