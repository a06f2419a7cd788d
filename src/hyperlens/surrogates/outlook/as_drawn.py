"""Functions of an additive process as they were drawn: what is exact at single places.

Written as weights for the whole space (weights.py) functions are less exact where trials crowd. As they
were drawn each is a sum of effects g on the warped scale and a monotone warp back to the user's, so that
a function is lowest where its g is, and searched there as any sum of effects. The mean of functions is
searched by all their g at once.

Symbols
    D, C     functions, and places of each
    g        a function on the warped scale
    k        places, (D, C, d) or (1, C, d): points of the grids (landscape.py)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hyperlens.spaces.cube import FloatArray, IntArray
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.surrogates.additive.warp import Warp
from hyperlens.surrogates.additive.weights import Weights
from hyperlens.surrogates.outlook.landscape import Drawn


@dataclass(frozen=True)
class AsDrawn:
    """Draws of an additive process, as many of each set of hyperparameters: `g` of them side by side,
    and the warp of each set; none where all costs are equal, and so is every draw."""

    g: Weights
    warps: tuple[Warp, ...]

    @staticmethod
    def of(model: Additive, count: int) -> AsDrawn:
        """About so many, the same ones each time."""
        if not model.sets:
            return AsDrawn(model.weights, ())
        each = max(count // len(model.sets), 1)
        w = np.hstack([w[:, :each] for w, _ in model.drawn])
        trend = np.concatenate([trend[:each] for _, trend in model.drawn])
        return AsDrawn(Weights(model.components, trend, w), tuple(s.warp for s in model.sets))

    def __len__(self) -> int:
        return len(self.g.trend)

    def back(self, z: FloatArray) -> FloatArray:
        """Costs of functions that are z (D, ...) on the warped scale."""
        if not self.warps:
            return z
        parts = z.reshape(len(self.warps), -1, *z.shape[1:])
        costs = [warp.back(part) for warp, part in zip(self.warps, parts, strict=True)]
        return np.concatenate(costs)

    def at(self, X: FloatArray) -> FloatArray:
        """Costs at vectors X (n, d): (n, D)."""
        return np.asarray(self.back(self.g.drawn(X).T).T)

    def landscape(self, grids: tuple[FloatArray, ...], sign: float) -> Drawn:
        """Each function on the warped scale, upside down for a sign of -1."""
        return Drawn(Weights(self.g.components, sign * self.g.trend, sign * self.g.w), grids)


class Averaged:
    """One function: the mean of some as they were drawn, upside down for a sign of -1. Its states are
    their g."""

    def __init__(self, functions: AsDrawn, grids: tuple[FloatArray, ...], sign: float) -> None:
        self.functions, self.grids, self.sign = functions, grids, sign
        self.count, self.drawn = 1, 0
        self._g = functions.landscape(grids, 1.0)

    def at(self, k: IntArray) -> FloatArray:
        return self._g.at(k)

    def change(self, k: IntArray, j: int) -> FloatArray:
        return self._g.change(k, j)

    def values(self, states: FloatArray) -> FloatArray:
        return np.asarray(self.sign * self.functions.back(states).mean(axis=0, keepdims=True))
