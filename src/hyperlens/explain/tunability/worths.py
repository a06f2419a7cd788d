"""What every coalition of parameters is worth, in one of five games over a surrogate.

All others stay at a baseline, on the latents, so that conditions hold: what a member activates has the
baseline's own value of it, and a member that nothing activates gains nothing (Wever et al. 2026).

    tunability      how much better the best is that the coalition reaches
    mistunability   how much worse the worst is
    sensitivity     the variance while its values are drawn evenly
    bias            what the best trials' values of it lack to the best that it reaches
    ablation        how much better it gets with the best trial's values
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from hyperlens.explain.models.curves import mean_of
from hyperlens.explain.models.fitting import Fitted
from hyperlens.explain.tunability.lattice import Players, lowest, members
from hyperlens.explain.tunability.spread import exact_spread, sampled_spread
from hyperlens.spaces.cube import BoolArray, FloatArray
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.surrogates.additive.weights import Weights
from hyperlens.surrogates.outlook.landscape import (
    POINTS,
    Drawn,
    Landscape,
    Predicted,
    grid_of,
    place_of,
)

Game = Literal["tunability", "mistunability", "sensitivity", "bias", "ablation"]
GAMES: tuple[Game, ...] = ("tunability", "mistunability", "sensitivity", "bias", "ablation")
DRAWS = 32  # functions of the posterior that are searched beside their mean
TRIALS = 16  # the best ones, whose values count as found
MOST_PLAYERS = 10  # all coalitions of them are searched
LOOKED_AT = 1 << 16  # points of a given surrogate, over all coalitions
CLOSEST = 1025  # points of an axis of it
DRAWN = 1 << 13  # points of our own that are no additive process, before their search


@dataclass(frozen=True)
class Worths:
    """Worth of all coalitions (2^m, 1 + D), of the mean and of draws, and the baseline's prediction.

    Each draw is searched for itself, so `worth` of draws is the most there may be; `acted` is what each
    draw has where the mean is best, of variances what it has of the mean's shape, which is what there
    is at least. `best` are the latents at which
    everybody together is best, or worst.
    """

    players: Players
    worth: FloatArray
    acted: FloatArray
    start: FloatArray  # (1 + D,)
    best: FloatArray


@dataclass(frozen=True)
class Board:
    """Functions that are played on: the mean of a surrogate, and draws of it where it has any."""

    fitted: Fitted
    baseline: FloatArray
    trials: FloatArray  # latents of the best ones, the best first, (trials, d)
    draws: int

    def functions(self) -> Weights | None:
        """Mean and draws of an additive process; None of any other surrogate."""
        model = self.fitted.model
        if not isinstance(model, Additive):
            return None
        step = max(model.weights.w.shape[1] // max(self.draws, 1), 1)
        some = slice(0, step * self.draws, step)
        drawn, mean = model.weights, model.weights.expected
        trend = np.append(mean.trend, drawn.trend[some])
        return Weights(drawn.components, trend, np.hstack([mean.w, drawn.w[:, some]]))

    @property
    def _points(self) -> int:
        """Of an axis: our surrogates are smooth; a given one may have steps, so that it is looked at as
        closely as the number of coalitions allows."""
        if self.fitted.name != "given":
            return POINTS
        players = min(self.fitted.cube.d, MOST_PLAYERS)
        return min(max(LOOKED_AT // (players << players), POINTS), CLOSEST)

    def values(self, X: FloatArray) -> FloatArray:
        """Of all functions at vectors, (n, 1 + D)."""
        known = self.functions()
        if known is not None:
            return known.drawn(X)
        return np.asarray(mean_of(self.fitted.model, X)[:, None])

    def landscape(self, sign: float) -> Landscape:
        """Functions on grids that hold baseline and trials, upside down for a sign of -1."""
        cube = self.fitted.cube
        also = np.vstack([self.baseline, self.trials[:1]])
        grids = tuple(grid_of(axis, also[:, j], self._points) for j, axis in enumerate(cube.axes))
        known = self.functions()
        if known is not None:
            return Drawn(Weights(known.components, sign * known.trend, sign * known.w), grids)
        budget = DRAWN if self.fitted.name != "given" else LOOKED_AT
        drawn = max(budget >> min(cube.d, MOST_PLAYERS), 1)
        return Predicted(lambda X: sign * mean_of(self.fitted.model, X), cube, grids, drawn)


def worths(board: Board, game: Game, seed: int) -> Worths:
    """Worth of all coalitions in a game."""
    sign = -1.0 if game == "mistunability" else 1.0
    landscape = board.landscape(sign)
    start = place_of(landscape.grids, board.baseline)
    players = _players(landscape, start, board, seed)
    here = board.values(board.fitted.cube.vectors(board.baseline[None]))[0]
    cube = board.fitted.cube
    axes = _axes(players, cube.d)
    if game == "sensitivity":
        if isinstance(landscape, Drawn) and not cube.conditions:
            worth, acted = exact_spread(landscape, start, axes)
        else:
            worth, acted = sampled_spread(board.values, cube, board.baseline, axes, seed)
        return Worths(players, worth, acted, here, board.baseline)
    if game == "ablation":
        worth = here - _taken(board, axes, board.trials[:1])[0]
        return Worths(players, worth, worth, here, board.trials[0])
    value, place = lowest(landscape, start, players, seed)
    worth = value[0] - value
    grids = landscape.grids
    chosen = np.stack([grid[place[:, 0, j]] for j, grid in enumerate(grids)], axis=-1)
    acted = sign * (here - board.values(cube.vectors(chosen)))
    if game == "bias":
        taken = _taken(board, axes, board.trials)  # (trials, 2^m, 1 + D)
        first = taken[:, :, :1].argmin(axis=0)[None]
        found = np.take_along_axis(taken, first, axis=0)[0]
        acted = acted - (here - found)
        worth = np.maximum(worth - (here - taken.min(axis=0)), 0.0)
        worth[0] = acted[0] = 0.0
    return Worths(players, worth, acted, here, chosen[-1])


def _players(landscape: Landscape, start: np.ndarray, board: Board, seed: int) -> Players:
    """Every axis by itself; of many the ones that gain most, alone or last, the rest as one."""
    d = board.fitted.cube.d
    if d <= MOST_PLAYERS:
        return tuple((j,) for j in range(d))
    everyone = (tuple(range(d)),)
    place = lowest(landscape, start, everyone, seed)[1][1]  # (1 + D, d), where all are best
    ends = (np.tile(start, (len(place), 1, 1)), place[:, None])
    gains = np.zeros(d)
    for j in range(d):
        alone = -landscape.change(ends[0], j)[0, 0].min()
        last = landscape.change(ends[1], j)[0, 0, start[j]]
        gains[j] = max(alone, last)
    chosen = np.sort(np.argsort(-gains, kind="stable")[: MOST_PLAYERS - 1]).tolist()
    rest = tuple(j for j in range(d) if j not in chosen)
    return (*((j,) for j in chosen), rest)


def _axes(players: Players, d: int) -> BoolArray:
    """Which axes each coalition has, (2^m, d)."""
    inside = members(len(players))
    axes = np.zeros((len(inside), d), dtype=bool)
    for p, mine in enumerate(players):
        axes[:, mine] = inside[:, p, None]
    return axes


def _taken(board: Board, axes: BoolArray, configurations: FloatArray) -> FloatArray:
    """Values where coalitions have those of each configuration, (configurations, 2^m, 1 + D)."""
    cube = board.fitted.cube
    return np.array(
        [
            board.values(cube.vectors(np.where(axes, latents, board.baseline)))
            for latents in configurations
        ]
    )
