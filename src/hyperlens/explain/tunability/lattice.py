"""The best that each coalition of parameters reaches, all others staying where they are.

Coalitions are searched by their size: each starts at the best place that it reaches with one member
fewer, where the best of several places leads when only its own members go there, and, of a surrogate
that is no additive process, at the best of random places; then one axis after another is moved to its
best point until nothing moves. So what a coalition reaches never gets worse when one joins, and no
coalition is searched from nothing.

Symbols
    m        players; a player is one axis, or several that are tuned together
    S        a coalition: a number whose bit j says whether player j is in it
    D        functions that are searched side by side
    k        a place: one point of the grid of each axis (landscape.py)
"""

import numpy as np

from hyperlens.spaces.cube import BoolArray, FloatArray, IntArray
from hyperlens.surrogates.outlook.landscape import Landscape

STARTS = 8  # places from which the best of all is searched
MOST_SWEEPS = 12
Players = tuple[tuple[int, ...], ...]


def members(m: int) -> BoolArray:
    """Who is in each coalition, (2^m, m)."""
    return np.asarray(np.arange(1 << m)[:, None] >> np.arange(m) & 1, dtype=bool)


def lowest(
    landscape: Landscape, start: IntArray, players: Players, seed: int = 0
) -> tuple[FloatArray, IntArray]:
    """Lowest values (2^m, D) that coalitions reach from a place (d,), and where, (2^m, D, d)."""
    inside, functions = members(len(players)), landscape.count
    value = np.empty((len(inside), functions))
    place = np.tile(start, (len(inside), functions, 1))
    value[0] = _at(landscape, np.tile(start, (functions, 1, 1)))[:, 0]
    whole = _lowest_of_all(landscape, start, functions, players, seed)
    for size in range(1, len(players) + 1):
        level = np.flatnonzero(inside.sum(axis=1) == size)
        starts = [
            _from_smaller(value, place, level, inside),
            _restricted(landscape, whole, start, level, inside, players),
        ]
        if landscape.drawn:
            starts.append(_best_drawn(landscape, start, level, inside, players, seed))
        found = [_descended(landscape, k, inside[level], players) for k in starts]
        values, places = np.array([v for v, _ in found]), np.array([k for _, k in found])
        first = values.argmin(axis=0)[None]
        value[level] = np.take_along_axis(values, first, axis=0)[0].T
        best = np.take_along_axis(places, first[..., None], axis=0)[0]
        place[level] = np.moveaxis(best, 0, 1)
    return value, place


def _at(landscape: Landscape, k: IntArray) -> FloatArray:
    """Values at places, (D, C)."""
    return landscape.values(landscape.at(k))


def _lowest_of_all(
    landscape: Landscape, start: IntArray, functions: int, players: Players, seed: int
) -> IntArray:
    """The lowest places of each function that players reach together from several starts, (D, s, d)."""
    rng = np.random.default_rng(seed)
    sizes = [len(grid) for grid in landscape.grids]
    k = np.tile(start, (functions, STARTS, 1))
    free = [j for axes in players for j in axes]
    k[:, 1:, free] = rng.integers(0, sizes, (STARTS - 1, len(sizes)))[:, free]
    everyone = np.ones((STARTS, len(players)), dtype=bool)
    found = _descended(landscape, k, everyone, players)[1]
    return np.unique(found, axis=1)  # of one function many starts lead to one place


def _from_smaller(
    value: FloatArray, place: IntArray, level: IntArray, inside: BoolArray
) -> IntArray:
    """The best places of these coalitions with one member fewer, (D, C, d)."""
    bits = 1 << np.arange(inside.shape[1])
    worth = np.full((len(bits), *value[level].shape), np.inf)  # (m, C, D)
    for j, bit in enumerate(bits):
        mine = inside[level, j]
        worth[j, mine] = value[level[mine] - bit]
    left = level[:, None] - bits[worth.argmin(axis=0)]  # (C, D)
    return np.array(np.moveaxis(place[left, np.arange(value.shape[1])], 0, 1))


def _restricted(
    landscape: Landscape,
    whole: IntArray,
    start: IntArray,
    level: IntArray,
    inside: BoolArray,
    players: Players,
) -> IntArray:
    """The lowest of all places, of which coalitions have their part while the rest stays, (D, C, d)."""
    moved = _members(level, inside, players, len(start))[None, :, None]
    k = np.where(moved, whole[:, None], start)  # (D, C, s, d)
    value = _at(landscape, k.reshape(len(k), -1, len(start))).reshape(k.shape[:3])
    return np.asarray(np.take_along_axis(k, value.argmin(axis=2)[..., None, None], axis=2)[:, :, 0])


def _best_drawn(
    landscape: Landscape,
    start: IntArray,
    level: IntArray,
    inside: BoolArray,
    players: Players,
    seed: int,
) -> IntArray:
    """The best of random places of each coalition, the rest staying, (D, C, d): where a surrogate has
    many hollows, no way that moves one axis at a time need lead to the deepest."""
    rng = np.random.default_rng([seed, len(level)])
    sizes, many = [len(grid) for grid in landscape.grids], landscape.drawn
    moved = _members(level, inside, players, len(start))[:, None]
    drawn = rng.integers(0, sizes, (len(level), many, len(start)))
    k = np.where(moved, drawn, start)
    value = _at(landscape, k.reshape(1, -1, len(start))).reshape(len(level), many)
    return np.asarray(k[np.arange(len(level)), value.argmin(axis=1)][None])


def _members(level: IntArray, inside: BoolArray, players: Players, d: int) -> BoolArray:
    """Which axes each of these coalitions moves, (C, d)."""
    moved = np.zeros((len(level), d), dtype=bool)
    for p, axes in enumerate(players):
        moved[:, axes] = inside[level, p, None]
    return moved


def _descended(
    landscape: Landscape, k: IntArray, inside: BoolArray, players: Players
) -> tuple[FloatArray, IntArray]:
    """Values (D, C) and places (D, C, d) after moving members, one after another, while it helps."""
    states = landscape.at(k)
    value = landscape.values(states)
    unsettled = np.ones(len(inside), dtype=bool)  # coalitions in which something still moves
    for _ in range(MOST_SWEEPS):
        before = value.copy()
        for p, axes in enumerate(players):
            rows = np.flatnonzero(inside[:, p] & unsettled)
            for j in axes if len(rows) else ():
                change = landscape.change(k[:, rows], j)
                there = landscape.values(states[:, rows, None] + change)
                best = there.argmin(axis=-1)
                lower = np.take_along_axis(there, best[..., None], axis=-1)[..., 0]
                best = np.where(lower < value[:, rows], best, k[:, rows, j])
                k[:, rows, j] = best
                states[:, rows] += np.take_along_axis(change, best[..., None], axis=-1)[..., 0]
                value[:, rows] = np.minimum(lower, value[:, rows])
        scale = 1e-9 * (1 + np.abs(value))
        unsettled = np.asarray((before - value > scale).any(axis=0))
        if not unsettled.any():
            break
    return value, k
