"""Where drawn functions are lowest, parameter by parameter, and what it costs to be elsewhere.

Symbols
    D        draws
    at       where each draw is lowest, vectors (D, d), nan where inactive
    loss     of a draw: its value at a changed point, less its lowest value; others stay where they are,
             so that what a change costs is never less than that
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hyperlens.spaces.cube import BoolArray, FloatArray, IntArray
from hyperlens.spaces.space import Space
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.surrogates.outlook.prospect import Prospect

PROBED = 64  # draws that are asked what a change costs
GRID = 9  # values of a parameter that are tried
GOOD = 0.25  # of the space is good; all worse costs are alike
AT_END = 0.02  # of an axis: so near to its end is at its end
STEP_BACK = 0.1  # of an axis: how far back from an end it is asked whether costs still fall there


@dataclass(frozen=True)
class Probes:
    """Draws of a process on its space, and where each is lowest."""

    model: Additive
    space: Space
    known: Prospect

    @cached_property
    def some(self) -> IntArray:
        """Draws that are probed."""
        count = len(self.known.lowest)
        return np.unique(np.linspace(0, count - 1, min(PROBED, count)).astype(np.int64))

    @cached_property
    def totals(self) -> FloatArray:
        """Part of the variance among the good that effects of each parameter have by draw, (d, D)."""
        effects, shares = self.model.drawn_shares(3, self.model.cost_at(GOOD))
        found = np.zeros((len(self.space), shares.shape[1]))
        for U, share in zip(effects, shares, strict=True):
            found[list(U)] += share
        return found

    def active(self, column: int) -> BoolArray:
        """In which draws the lowest point has this parameter, (D,)."""
        return np.asarray(~np.isnan(self.known.at[:, column]))

    def places(self, column: int) -> FloatArray:
        """Codes of a parameter where draws are lowest, of those that have it there."""
        return np.asarray(self.known.at[self.active(column), column])

    def losses(self, codes: Mapping[int, FloatArray | float]) -> FloatArray:
        """Loss of each probed draw if these columns have these codes, where they are active, (S,)."""
        X = self.known.at[self.some].copy()
        for column, code in codes.items():
            X[:, column] = np.where(np.isnan(X[:, column]), np.nan, code)
        return np.asarray(np.maximum(self._own(X) - self.known.lowest[self.some], 0.0))

    def _own(self, X: FloatArray) -> FloatArray:
        """The value of each probed draw at its own point, (S, d) -> (S,)."""
        assert self.known.look is not None
        return np.asarray(self.known.look(X)[np.arange(len(X)), self.some])

    def ends(self, column: int) -> tuple[float, float]:
        """How probable it is that the best lies at the lower end of an axis, and at the upper one:
        there constraints hold it back."""
        axis, x = self.space.cube.axes[column], self.places(column)
        if not len(x):
            return 0.0, 0.0
        if axis.codes is None:
            low, high = x <= AT_END, x >= 1 - AT_END
        else:
            low, high = x <= axis.codes[0], x >= axis.codes[-1]
        return float(low.mean()), float(high.mean())

    def falls(self, column: int, upper: bool) -> float:
        """By how much draws that are lowest at an end fall on the last stretch before it, on average."""
        axis = self.space.cube.axes[column]
        back = 1 - STEP_BACK if upper else STEP_BACK
        if axis.codes is not None:
            back = float(axis.codes[-2 if upper else 1])
        x = self.known.at[self.some, column]
        there = x >= 1 - AT_END if upper else x <= AT_END
        if axis.codes is not None:
            there = x >= axis.codes[-1] if upper else x <= axis.codes[0]
        loss = self.losses({column: back})
        return float(loss[there].mean()) if there.any() else 0.0
