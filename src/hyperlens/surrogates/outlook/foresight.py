"""What an additive process would say after trials whose costs are not known yet.

Costs that may come are drawn from what is believed now: a set of hyperparameters, a function of it, and
noise. Given them, every set is as likely as it foresaw them, and its functions are conditioned on them
(Matheron's rule). So each fantasy is a posterior as it may be then, on the user's scale at some places;
what is said of it on average over fantasies is what is to be expected. Hyperparameters are weighed anew,
not learnt anew: of the few sets one or two would be left, where learning anew finds as many as before,
so that weights are evened until half of the sets count.

Symbols
    k        new trials
    D        draws of all sets
    u        drawn functions at the new trials (k, draws), noise included
    p        density of the new costs under a set
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy

from hyperlens.spaces.cube import FloatArray
from hyperlens.surrogates.additive.additive import (
    HELD_OUT,
    UNKNOWN_SURPRISE,
    Additive,
    widening,
)
from hyperlens.surrogates.additive.components import Rows
from hyperlens.surrogates.additive.learnt_set import LearntSet
from hyperlens.surrogates.additive.warp import Warp

PER_SET = 16  # functions drawn under each set
COUNTING = 0.5  # of the sets, at the least, after trials
INSIDE = 1e-6  # of the range of a warp: nearer to its ends no cost is taken


@dataclass(frozen=True)
class Posterior:
    """Drawn costs at some places (places, D), how likely each is (D,), and how much wider intervals
    are than these."""

    costs: FloatArray
    weight: FloatArray
    widened: float


class Foresight:
    """Posteriors of a model at `places` as they may be after trials X (k, d)."""

    def __init__(self, model: Additive, X: FloatArray, places: Rows, seed: int = 0) -> None:
        self.model, self._rng = model, np.random.default_rng([seed, len(X)])
        components = model.components
        data, new = components.rows(model.X), components.rows(X)
        features = [components.features(rows) for rows in (data, new, places)]
        self._views = [_View(one, (data, new, places), features, self._rng) for one in model.sets]
        self._held_out = [
            _Beginning(view.one, components.rows(np.vstack([model.X, X])), model.first(len(X)))
            for view in self._views[:: max(len(model.sets) // HELD_OUT, 1)]
        ]

    @property
    def now(self) -> Posterior:
        """Before any of them."""
        costs = np.hstack([view.one.warp.back(view.f) for view in self._views])
        return Posterior(costs, np.full(costs.shape[1], 1 / costs.shape[1]), self.model.widened)

    def fantasies(self, count: int) -> Iterator[Posterior]:
        """`count` of them, each set being the right one equally often."""
        for f in range(count):
            view = self._views[f % len(self._views)]
            chosen = int(self._rng.integers(PER_SET))
            yield self._after(view.one.warp.back(view.u[:, chosen]))

    def _after(self, y: FloatArray) -> Posterior:
        """The posterior after costs y (k,)."""
        log_p = np.array([view.log_density(y) for view in self._views])
        weight = np.repeat(evened(log_p, COUNTING), PER_SET) / PER_SET
        costs = np.hstack([view.after(y) for view in self._views])
        squares = [beginning.surprise(y) for beginning in self._held_out]
        return Posterior(costs, weight, widening(float(np.sqrt(np.mean(squares)))))


def evened(log_p: FloatArray, counting: float) -> FloatArray:
    """Weights from densities, to a power of at most 1 with which so many of all count (Kish: one over
    the sum of their squares)."""

    def weights(power: float) -> FloatArray:
        likely = np.exp(power * (log_p - log_p.max()))
        return np.asarray(likely / likely.sum())

    def too_few(power: float) -> float:
        return counting * len(log_p) - 1 / float(np.square(weights(power)).sum())

    if too_few(1.0) <= 0:
        return weights(1.0)
    return weights(scipy.optimize.brentq(too_few, 0.0, 1.0))


class _View:
    """The draws of one set."""

    def __init__(
        self,
        one: LearntSet,
        rows: tuple[Rows, Rows, Rows],
        features: list[FloatArray],
        rng: np.random.Generator,
    ) -> None:
        data, new, places = rows
        self.one = one
        w, trend = one.draw(features[0], PER_SET, rng)
        self.f = features[2] @ w + trend  # at the places
        noise = np.sqrt(one.noise) * rng.normal(size=(len(new), PER_SET))
        self.u = features[1] @ w + trend + noise
        at_new, at_places = (one.forward(one.kernel.gram(data, r)) for r in (new, places))
        self.mean = at_new.T @ one.forward(one.z)
        covariance = one.kernel.gram(new, new) - at_new.T @ at_new
        covariance[np.diag_indices(len(new))] += one.noise
        self.lower = np.linalg.cholesky(covariance)
        crossed = one.kernel.gram(places, new) - at_places.T @ at_new
        self.kriging = scipy.linalg.cho_solve((self.lower, True), crossed.T).T  # (places, k)

    def log_density(self, y: FloatArray) -> float:
        """log p, of costs as they are."""
        inside = _inside(self.one.warp, y)
        away = self.one.warp.forward(inside) - self.mean
        whitened = scipy.linalg.solve_triangular(self.lower, away, lower=True)
        log_scale = float(np.log(np.diagonal(self.lower)).sum())
        return self.one.warp.log_jacobian(inside) - 0.5 * float(whitened @ whitened) - log_scale

    def after(self, y: FloatArray) -> FloatArray:
        """Draws at the places on the user's scale, given costs y."""
        z = self.one.warp.forward(_inside(self.one.warp, y))
        return self.one.warp.back(self.f + self.kriging @ (z[:, None] - self.u))


class _Beginning:
    """How far the first rows would lie from what the others, the new ones among them, say of them."""

    def __init__(self, one: LearntSet, rows: Rows, first: int) -> None:
        self.one, self.first = one, first
        if not first:
            return
        K = one.kernel.gram(rows, rows)
        doubt = np.append(one.doubt, np.zeros(len(rows) - len(one.doubt)))
        K[np.diag_indices(len(rows))] += one.noise + doubt**2
        inverse = np.linalg.inv(K)
        block = np.linalg.inv(inverse[:first, :first])
        self.away = block @ inverse[:first] / np.sqrt(np.diagonal(block))[:, None]

    def surprise(self, y: FloatArray) -> float:
        """Their mean square in standard deviations; what is usual where there are no first rows."""
        if not self.first:
            return UNKNOWN_SURPRISE**2
        z = np.append(self.one.z, self.one.warp.forward(_inside(self.one.warp, y)))
        return float(np.mean(np.square(self.away @ z)))


def _inside(warp: Warp, y: FloatArray) -> FloatArray:
    """Costs as far as this warp reaches."""
    margin = INSIDE * (warp.b - warp.a)
    return np.asarray(np.clip(y, warp.low + warp.a + margin, warp.low + warp.b - margin))
