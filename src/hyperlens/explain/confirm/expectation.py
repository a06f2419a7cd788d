"""How sure something is now, and how sure it would be after some trials, by posteriors that may come.

Symbols
    drawn    a number of interest in each draw, (rows, D)
    weight   how likely each draw is, (D,)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hyperlens.explain.importance.shares import Shares, additive_shares
from hyperlens.spaces.cube import FloatArray
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.surrogates.additive.components import Effect, Rows
from hyperlens.surrogates.outlook.foresight import Foresight, Posterior

FANTASIES = 16

Reading = Callable[[FloatArray], FloatArray]  # costs at places (places, D) -> drawn (rows, D)


@dataclass(frozen=True)
class Expectation:
    """Numbers of interest: their estimate and interval now, and the interval that is expected."""

    value: FloatArray
    low: FloatArray
    high: FloatArray
    expected_low: FloatArray
    expected_high: FloatArray

    def taking_in(self, second: Shares, effects: tuple[Effect, ...]) -> Expectation:
        """With the intervals of a second opinion, which the trials are not expected to change."""
        rows = [second.effects.index(U) for U in effects]
        low, high = second.low[rows], second.high[rows]
        return Expectation(
            self.value,
            np.fmin(self.low, low),
            np.fmax(self.high, high),
            np.fmin(self.expected_low, low),
            np.fmax(self.expected_high, high),
        )


def expected_shares(
    model: Additive, X: FloatArray, effects: tuple[Effect, ...], level: float, seed: int
) -> Expectation:
    """Of the shares of variance of some effects, after trials X (k, d)."""
    now = additive_shares(model, max(map(len, effects)), level)
    rows = [now.effects.index(U) for U in effects]
    if not len(X):
        low, high = now.low[rows], now.high[rows]
        return Expectation(now.share[rows], low, high, low, high)
    foresight = Foresight(model, X, model.anchors(), seed)
    read = _shares(model, effects)
    then = [interval(read(p.costs), p, level, root=True) for p in foresight.fantasies(FANTASIES)]
    low, high = np.mean(then, axis=0)
    return Expectation(now.share[rows], now.low[rows], now.high[rows], low, high)


def expected_costs(
    model: Additive, X: FloatArray, places: Rows, read: Reading, level: float, seed: int
) -> Expectation:
    """Of what is read from the costs at some places, after trials X (k, d)."""
    foresight = Foresight(model, X, places, seed)
    now = foresight.now
    drawn = read(now.costs)
    low, high = interval(drawn, now, level)
    if not len(X):
        return Expectation(drawn.mean(axis=1), low, high, low, high)
    then = [interval(read(p.costs), p, level) for p in foresight.fantasies(FANTASIES)]
    expected = np.mean(then, axis=0)
    return Expectation(drawn.mean(axis=1), low, high, *expected)


def interval(
    drawn: FloatArray, posterior: Posterior, level: float, root: bool = False
) -> tuple[FloatArray, FloatArray]:
    """Where numbers lie at a level, made wider around their medians; shares by their square root, in
    which they are about evenly spread."""
    numbers = np.sqrt(drawn) if root else drawn
    tail = (1 - level) / 2
    low, middle, high = _quantiles(numbers, posterior.weight, (tail, 0.5, 1 - tail))
    low = middle - posterior.widened * (middle - low)
    high = middle + posterior.widened * (high - middle)
    return (np.maximum(low, 0.0) ** 2, np.minimum(high, 1.0) ** 2) if root else (low, high)


def _quantiles(drawn: FloatArray, weight: FloatArray, levels: tuple[float, ...]) -> FloatArray:
    """Quantiles of weighted draws, straight between the middles of their weights, (levels, rows)."""
    order = np.argsort(drawn, axis=1)
    ascending, own = np.take_along_axis(drawn, order, axis=1), weight[order]
    below = np.cumsum(own, axis=1) - own / 2
    rows = [np.interp(levels, b, a) for b, a in zip(below, ascending, strict=True)]
    return np.array(rows).T


def _shares(model: Additive, effects: tuple[Effect, ...]) -> Reading:
    """Shares of variance from costs at the anchors.

    V is their variance at the anchors, but for the part that is beyond triples, the same in all draws.
    """
    writing, components = model.writing(effects), model.components
    widths = np.cumsum([components.width(U) for U in effects])[:-1]
    often = [components.probability(U) for U in effects]
    at_anchors = model.anchor_costs.var(axis=0)
    part = float((model.weights.variances().sum(axis=0) / at_anchors).mean())
    centre = float(model.y.mean())

    def read(costs: FloatArray) -> FloatArray:
        weights = np.split(np.square(writing @ (costs - centre)), widths)
        own = np.array([p * w.sum(axis=0) for p, w in zip(often, weights, strict=True)])
        total = np.maximum(part * costs.var(axis=0), np.finfo(float).tiny)
        return np.asarray(np.minimum(own / total, 1.0))

    return read
