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

from hyperlens.explain.tunability.board import MOST_PLAYERS, Board
from hyperlens.explain.tunability.lattice import Players, lowest, members
from hyperlens.explain.tunability.spread import exact_spread, sampled_spread
from hyperlens.spaces.cube import BoolArray, FloatArray, IntArray
from hyperlens.surrogates.outlook.landscape import Drawn, Landscape, place_of

Game = Literal["tunability", "mistunability", "sensitivity", "bias", "ablation"]
GAMES: tuple[Game, ...] = ("tunability", "mistunability", "sensitivity", "bias", "ablation")


@dataclass(frozen=True)
class Worths:
    """Worth of all coalitions, of the mean first and then of draws, and the baseline's prediction.

    Some draws are searched each for itself, so `worth` (2^m, 1 + D) of draws is the most there may be;
    `acted` (2^m, 1 + all) is what all draws have where the mean is best, of variances what they have of
    the mean's shape, which is what there is at least. `best` are the latents at which everybody
    together is best, or worst.
    """

    players: Players
    worth: FloatArray
    acted: FloatArray
    start: FloatArray  # (1 + all,)
    best: FloatArray


def worths(board: Board, game: Game, seed: int) -> Worths:
    """Worth of all coalitions in a game."""
    sign = -1.0 if game == "mistunability" else 1.0
    cube, grids = board.fitted.cube, board.grids
    start = place_of(grids, board.baseline)
    players = _players(board, sign, start, seed)
    here = board.values(cube.vectors(board.baseline[None]))[0]
    axes = _axes(players, cube.d)
    if game == "sensitivity":
        return Worths(players, *_varied(board, start, axes, seed), here, board.baseline)
    if game == "ablation":
        taken = np.where(axes, board.trials[0], board.baseline)
        worth = here - board.values(cube.vectors(taken))
        return Worths(players, worth, worth, here, board.trials[0])
    place = lowest(board.landscape(sign, len(players)), start, players, seed)[1][:, 0]
    at_mean = board.values(cube.vectors(_latents(grids, place)))  # (2^m, 1 + all)
    which = _never_worse(sign * at_mean[:, 0])
    place, at_mean = place[which], at_mean[which]
    acted = sign * (here - at_mean)
    worth = np.column_stack([acted[:, 0], _searched(board, start, players, sign, seed)])
    if game == "bias":
        found, gained = _found(board, axes, here)
        acted = acted - (here - found)
        worth = np.maximum(worth - gained, 0.0)
        worth[0] = acted[0] = 0.0
    return Worths(players, worth, acted, here, _latents(grids, place[-1]))


def _latents(grids: tuple[FloatArray, ...], place: IntArray) -> FloatArray:
    return np.stack([grid[place[..., j]] for j, grid in enumerate(grids)], axis=-1)


def _never_worse(value: FloatArray) -> IntArray:
    """Whose place each coalition takes, its own or that of a part of it, the lowest one, (2^m,): places
    are searched by fewer draws than they are valued by."""
    which = np.arange(len(value))
    for S in range(1, len(value)):
        smaller = [which[S ^ (1 << j)] for j in range(S.bit_length()) if S >> j & 1]
        which[S] = min([S, *smaller], key=lambda T: value[T])
    return which


def _searched(
    board: Board, start: IntArray, players: Players, sign: float, seed: int
) -> FloatArray:
    """What coalitions have in each draw where it is best itself, (2^m, D)."""
    some = board.some
    if some is None:
        return np.empty((1 << len(players), 0))
    value = lowest(some.landscape(board.grids, sign), start, players, seed)[0]
    costs = some.back(sign * value.T).T
    return np.asarray(sign * (costs[0] - costs))


def _varied(
    board: Board, start: IntArray, axes: BoolArray, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Variances. Over a part of the space functions written as weights are as good as drawn ones."""
    cube, known = board.fitted.cube, board.written
    if known is None:
        return sampled_spread(board.values, cube, board.baseline, axes, seed)
    if cube.conditions:
        return sampled_spread(known.drawn, cube, board.baseline, axes, seed)
    return exact_spread(Drawn(known, board.grids), start, axes)


def _found(board: Board, axes: BoolArray, here: FloatArray) -> tuple[FloatArray, FloatArray]:
    """With the best trials' values: costs where the mean is best, (2^m, 1 + all), and what is gained
    where each function is, (2^m, 1 + D)."""
    cube = board.fitted.cube
    taken = np.where(axes, board.trials[:, None], board.baseline)  # (trials, 2^m, d)
    quick = np.array([board.quick_values(cube.vectors(latents)) for latents in taken])
    first = quick[:, :, 0].argmin(axis=0)
    found = board.values(cube.vectors(taken[first, np.arange(len(axes))]))
    gained = quick[0, :1] - quick.min(axis=0)  # of nobody all trials are the baseline
    gained[:, 0] = here[0] - found[:, 0]
    return found, gained


def _players(board: Board, sign: float, start: IntArray, seed: int) -> Players:
    """Every axis by itself; of many the ones that gain most, alone or last, the rest as one."""
    d = len(start)
    if d <= MOST_PLAYERS:
        return tuple((j,) for j in range(d))
    everyone = (tuple(range(d)),)
    landscape = board.landscape(sign, MOST_PLAYERS)
    best = lowest(landscape, start, everyone, seed)[1][1, 0]  # where all are best
    gains = np.zeros(d)
    for j in range(d):
        alone, last = (_moved(landscape, place, j) for place in (start, best))
        gains[j] = max(-alone.min(), last[start[j]])
    chosen = np.sort(np.argsort(-gains, kind="stable")[: MOST_PLAYERS - 1]).tolist()
    rest = tuple(j for j in range(d) if j not in chosen)
    return (*((j,) for j in chosen), rest)


def _moved(landscape: Landscape, place: IntArray, j: int) -> FloatArray:
    """What moving axis j from a place changes, (g,)."""
    k = place[None, None]
    states = landscape.at(k)
    there = landscape.values(states[..., None] + landscape.change(k, j))
    return np.asarray((there - landscape.values(states)[..., None])[0, 0])


def _axes(players: Players, d: int) -> BoolArray:
    """Which axes each coalition has, (2^m, d)."""
    inside = members(len(players))
    axes = np.zeros((len(inside), d), dtype=bool)
    for p, mine in enumerate(players):
        axes[:, mine] = inside[:, p, None]
    return axes
