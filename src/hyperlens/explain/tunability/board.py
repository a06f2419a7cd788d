"""What games are played on: the mean of a surrogate, and draws of it where it has any.

Of an additive process they are as they were drawn (as_drawn.py): written as weights for the whole space
they would be less exact at single places, and promise a best that no draw has.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hyperlens.explain.models.curves import mean_of
from hyperlens.explain.models.fitting import Fitted
from hyperlens.spaces.cube import FloatArray
from hyperlens.surrogates.additive.additive import DRAWS as ALL
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.surrogates.additive.weights import Weights
from hyperlens.surrogates.outlook.as_drawn import AsDrawn, Averaged
from hyperlens.surrogates.outlook.landscape import POINTS, Landscape, Predicted, grid_of

DRAWS = 32  # functions of the posterior that are searched beside their mean
TRIALS = 16  # the best ones, whose values count as found
FEWEST = 64  # draws whose mean is searched, and more where coalitions are few
SEARCHED = 1 << 14  # such draws, over all coalitions
LOOKED_AT = 1 << 16  # points of a given surrogate, over all coalitions
CLOSEST = 1025  # points of an axis of it
DRAWN = 1 << 13  # points of our own that are no additive process, before their search
MOST_PLAYERS = 10  # all coalitions of them are searched


@dataclass(frozen=True)
class Board:
    """A surrogate, and latents of the baseline and of the best trials, the best first, (trials, d)."""

    fitted: Fitted
    baseline: FloatArray
    trials: FloatArray
    draws: int

    @cached_property
    def some(self) -> AsDrawn | None:
        """Draws by themselves; None of a surrogate that has none, or where none are asked for."""
        model = self.fitted.model
        if not isinstance(model, Additive) or not self.draws:
            return None
        return AsDrawn.of(model, self.draws)

    @cached_property
    def written(self) -> Weights | None:
        """Mean and draws of an additive process, for what is asked of the whole space."""
        model = self.fitted.model
        if not isinstance(model, Additive):
            return None
        step = max(model.weights.w.shape[1] // max(self.draws, 1), 1)
        some = slice(0, step * self.draws, step)
        drawn, mean = model.weights, model.weights.expected
        trend = np.append(mean.trend, drawn.trend[some])
        return Weights(drawn.components, trend, np.hstack([mean.w, drawn.w[:, some]]))

    @cached_property
    def grids(self) -> tuple[FloatArray, ...]:
        """Points of each axis, with baseline and best trial."""
        also = np.vstack([self.baseline, self.trials[:1]])
        axes = self.fitted.cube.axes
        return tuple(grid_of(axis, also[:, j], self._points) for j, axis in enumerate(axes))

    @property
    def _points(self) -> int:
        """Of an axis: our surrogates are smooth; a given one may have steps, so that it is looked at as
        closely as the number of coalitions allows."""
        if self.fitted.name != "given":
            return POINTS
        players = min(self.fitted.cube.d, MOST_PLAYERS)
        return min(max(LOOKED_AT // (players << players), POINTS), CLOSEST)

    def values(self, X: FloatArray) -> FloatArray:
        """Of the mean and of all draws at vectors, (n, 1 + all)."""
        model = self.fitted.model
        if not isinstance(model, Additive):
            return np.asarray(mean_of(model, X)[:, None])
        drawn = model.costs(X)
        return np.column_stack([drawn.mean(axis=1), drawn])

    def quick_values(self, X: FloatArray) -> FloatArray:
        """The same of a mean of fewer draws, and of `some` draws, (n, 1 + D)."""
        model = self.fitted.model
        if not isinstance(model, Additive):
            return self.values(X)
        drawn = AsDrawn.of(model, FEWEST).at(X)
        sets = max(len(model.sets), 1)
        each = 0 if self.some is None else len(self.some) // sets
        some = np.arange(drawn.shape[1]).reshape(sets, -1)[:, :each].ravel()
        return np.column_stack([drawn.mean(axis=1), drawn[:, some]])

    def landscape(
        self, sign: float, players: int, grids: tuple[FloatArray, ...] | None = None
    ) -> Landscape:
        """The mean to be searched by coalitions of so many players, upside down for a sign of -1, on all
        points or on those of other grids."""
        model, cube, grids = self.fitted.model, self.fitted.cube, grids or self.grids
        if isinstance(model, Additive):
            draws = min(max(SEARCHED >> players, FEWEST), ALL)
            return Averaged(AsDrawn.of(model, draws), grids, sign)
        budget = DRAWN if self.fitted.name != "given" else LOOKED_AT
        drawn = max(budget >> min(cube.d, MOST_PLAYERS), 1)
        return Predicted(lambda X: sign * mean_of(model, X), cube, grids, drawn)
