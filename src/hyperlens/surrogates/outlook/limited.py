"""Drawn costs where limits are to be kept: what exceeds one in a draw is of no use there.

Each limit has an additive process of its own, of by how much configurations exceed it; a draw of the
costs goes with one of each. As the bound of a search has it (surrogates/desirability.py), a
configuration of no use costs as much as the worst that was seen.

Symbols
    N, D     configurations, draws of costs
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hyperlens.spaces.cube import BoolArray, Cube, FloatArray
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.surrogates.outcomes import bent

MOST = 500  # trials that the process of a limit learns from


@dataclass(frozen=True, eq=False)
class Limits:
    """A process of each limit, and which rows of the process of costs were measured to keep all."""

    excess: tuple[Additive, ...]
    kept: BoolArray

    def hold(self, X: FloatArray, draws: int) -> BoolArray:
        """In which draws configurations (N, d) keep all limits, (N, D)."""
        held = np.ones((len(X), draws), dtype=bool)
        for process in self.excess:
            drawn = process.costs(X)
            held &= drawn[:, np.arange(draws) % drawn.shape[1]] <= 0
        return held

    def costs(self, model: Additive, X: FloatArray) -> FloatArray:
        """Draws of costs at configurations, the worst seen where they exceed a limit, (N, D)."""
        drawn = model.costs(X)
        return np.where(self.hold(X, drawn.shape[1]), drawn, float(model.y.max()))


def limit_process(
    cube: Cube, X: FloatArray, excess: FloatArray, seed: int, most: int = MOST
) -> Additive:
    """The process of one limit, of configurations (n, d) that exceed it by so much (n,)."""
    rng = np.random.default_rng(seed)
    some = np.sort(rng.permutation(len(X))[:most])
    return Additive(cube, seed).fit(X[some], bent(_apart(excess)[some]))


def _apart(excess: FloatArray) -> FloatArray:
    """Excesses of which those kept are below 0. Where nothing but the fact is known they are all 0, and
    are put as far below as the nearest exceeding one is above.

    >>> _apart(np.array([0.0, 1.0, 0.0])).tolist()
    [-1.0, 1.0, -1.0]
    """
    broken = excess > 0
    if not broken.any() or (excess < 0).any():
        return excess
    return np.where(broken, excess, -float(excess[broken].min()))
