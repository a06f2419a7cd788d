"""Changes of few parameters that reach a cost, the nearest of each set.

They are looked for on coarse grids, and then closer and closer around the nearest that was found. No
value lies beyond those that were tried: towards an end of an axis where a search never was, costs may do
what none of its trials shows, and a change that is looked for goes to such ends more often than not.

Symbols
    S        columns that are changed
    distance sum over S of how far latents move; another category counts as 1
    mean     what the surrogate expects
    tried    of each axis the values, ascending, of which a change has none beyond
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from hyperlens.explain.models.curves import mean_of
from hyperlens.explain.models.fitting import Fitted
from hyperlens.explain.tunability.board import MOST_PLAYERS, Board
from hyperlens.explain.tunability.lattice import lowest
from hyperlens.spaces.cube import Cube, FloatArray
from hyperlens.surrogates.outlook.landscape import place_of

POINTS = 17  # of an axis, where two are changed together
STEPS = 32  # on the way from the trial to the best of three
ASKED = 256  # changes that are expected to reach it, of all distances, and again of the nearer ones
HOPEFUL = 0.1  # of all changes: so many are asked about, if fewer are expected to reach it
FINE = 9  # points of an axis close to a change
CLOSER = (1 / 8, 1 / 32, 1 / 128)  # how close, one after another
MOST_SETS = 60  # of so many parameters; the ones that reach furthest
Chance = Callable[[FloatArray], FloatArray]
Tried = tuple[FloatArray, ...]


@dataclass(frozen=True)
class Change:
    """Columns that are changed, the latents after it, and how far that is."""

    columns: tuple[int, ...]
    latents: FloatArray
    distance: float


def tried_in(X: FloatArray) -> Tried:
    """Of rows X (n, d), nan where an axis is inactive."""
    return tuple(np.unique(x[~np.isnan(x)]) for x in X.T)


def nearest_changes(
    fitted: Fitted,
    tried: Tried,
    start: FloatArray,
    bound: float,
    chance: Chance,
    sure: float,
    most: int,
    seed: int,
) -> list[Change]:
    """Of one, two, ... parameters the nearest change that is sure enough, or else the surest."""
    found = []
    for size in range(1, min(most, fitted.cube.d) + 1):
        latents, columns = _moves(fitted, tried, start, size, seed)
        if not len(latents):
            continue
        vectors = fitted.cube.vectors(latents)
        mean, distance = mean_of(fitted.model, vectors), _distances(fitted.cube, start, latents)
        order = np.argsort(distance, kind="stable")
        hopeful = order[mean[order] <= max(bound, np.quantile(mean, HOPEFUL))]
        some = np.append(hopeful[:: max(len(hopeful) // ASKED, 1)], np.argmin(mean))
        some = some[np.argsort(distance[some], kind="stable")]
        chances = chance(vectors[some])
        enough = some[chances >= sure]
        if len(enough):  # those nearer that were passed over, the most hopeful ones
            nearer = hopeful[distance[hopeful] < distance[enough[0]]]
            nearer = nearer[np.argsort(mean[nearer], kind="stable")[:ASKED]]
            enough = np.append(nearer[chance(vectors[nearer]) >= sure], enough)
            best = enough[np.argmin(distance[enough])]
        else:
            best = some[np.lexsort((mean[some], -chances))[0]]  # the best of equally probable ones
        change = Change(columns[best], latents[best], float(distance[best]))
        if len(enough):
            for reach in CLOSER:
                change = _closer(fitted.cube, tried, start, change, reach, chance, sure)
        found.append(change)
    return found


def _closer(
    cube: Cube,
    tried: Tried,
    start: FloatArray,
    change: Change,
    reach: float,
    chance: Chance,
    sure: float,
) -> Change:
    """The nearest that is sure enough among changes of the same columns close to this one."""
    free = [j for j in change.columns if cube.axes[j].ordered]
    grids = [_close(cube, tried, j, start[j], change.latents[j], reach) for j in free]
    mesh = np.meshgrid(*grids, indexing="ij")
    latents = np.tile(change.latents, (mesh[0].size if mesh else 1, 1))
    latents[:, free] = (
        np.column_stack([part.ravel() for part in mesh]) if mesh else latents[:, free]
    )
    distance = _distances(cube, start, latents)
    nearer = np.flatnonzero(distance < change.distance - 1e-12)
    if not len(nearer):
        return change
    enough = nearer[chance(cube.vectors(latents[nearer])) >= sure]
    if not len(enough):
        return change
    best = enough[np.argmin(distance[enough])]
    return Change(change.columns, latents[best], float(distance[best]))


def _close(cube: Cube, tried: Tried, j: int, here: float, there: float, reach: float) -> FloatArray:
    """Points of an axis close to where it is changed to, not where it was."""
    near = np.clip(np.linspace(there - reach, there + reach, FINE), tried[j][0], tried[j][-1])
    grid = np.unique(np.append(cube.axes[j].snap(near), there))
    return np.asarray(grid[np.abs(grid - here) > 1e-12])


def _moves(
    fitted: Fitted, tried: Tried, start: FloatArray, size: int, seed: int
) -> tuple[FloatArray, list[tuple[int, ...]]]:
    """Latents (m, d) in which so many columns differ from the start, and which."""
    cube = fitted.cube
    if size > 2:
        return _ways(fitted, tried, start, size, seed)
    points = 2 * POINTS if size == 1 else POINTS
    grids = [_grid(cube, tried, j, start[j], points) for j in range(cube.d)]
    parts, columns = [], []
    for S in combinations(range(cube.d), size):
        mesh = np.meshgrid(*(grids[j] for j in S), indexing="ij")
        places = np.column_stack([part.ravel() for part in mesh])
        moved = np.tile(start, (len(places), 1))
        moved[:, S] = places
        active = cube.active(moved)[:, S].all(axis=1)
        parts.append(moved[active])
        columns += [S] * int(active.sum())
    return np.vstack([*parts, np.empty((0, cube.d))]), columns


def _ways(
    fitted: Fitted, tried: Tried, start: FloatArray, size: int, seed: int
) -> tuple[FloatArray, list[tuple[int, ...]]]:
    """The ways from the start to the best of each set of columns, of those that reach furthest."""
    cube = fitted.cube
    board = Board(fitted, start, start[None], 0)
    within = tuple(
        np.union1d(_within(cube, tried, j, grid), start[j]) for j, grid in enumerate(board.grids)
    )
    landscape = board.landscape(1.0, MOST_PLAYERS, within)
    place = place_of(within, start)
    ends = []
    for S in combinations(_strongest(fitted, tried, start, size), size):
        value, best = lowest(landscape, place, (S,), seed)
        end = np.array([g[k] for g, k in zip(within, best[1, 0], strict=True)])
        ends.append((float(value[1, 0]), S, end))
    ends.sort(key=lambda one: one[0])
    ordered = np.array([axis.ordered for axis in cube.axes])
    parts, columns = [], []
    for _, S, end in ends[:MOST_SETS]:
        t = np.linspace(0, 1, STEPS + 1)[1:, None]
        way = np.where(ordered, start + t * (end - start), end)
        way[:, S] = np.column_stack([cube.axes[j].snap(way[:, j]) for j in S])
        whole = (np.abs(way - start)[:, S] > 1e-12).all(axis=1)  # not a change of fewer
        whole &= cube.active(way)[:, S].all(axis=1)
        parts.append(way[whole])
        columns += [S] * int(whole.sum())
    return np.vstack([*parts, np.empty((0, cube.d))]), columns


def _strongest(fitted: Fitted, tried: Tried, start: FloatArray, size: int) -> list[int]:
    """Columns of which sets are made: all of few, else those that gain most by themselves."""
    cube = fitted.cube
    if cube.d <= 7:
        return list(range(cube.d))
    gains = [
        float(mean_of(fitted.model, cube.vectors(_alone(cube, tried, start, j))).min())
        for j in range(cube.d)
    ]
    return sorted(np.argsort(gains, kind="stable")[: max(7, size)].tolist())


def _alone(cube: Cube, tried: Tried, start: FloatArray, j: int) -> FloatArray:
    grid = _grid(cube, tried, j, start[j], 2 * POINTS)
    moved = np.tile(start, (max(len(grid), 1), 1))
    moved[: len(grid), j] = grid
    return moved


def _grid(cube: Cube, tried: Tried, j: int, here: float, points: int) -> FloatArray:
    """Other points of an axis than the one where the trial is."""
    axis = cube.axes[j]
    grid = np.linspace(0.0, 1.0, points)
    if axis.codes is not None and axis.levels <= points:
        grid = axis.codes
    elif len(tried[j]):
        grid = axis.snap(np.linspace(tried[j][0], tried[j][-1], points))
    grid = _within(cube, tried, j, np.unique(grid))
    return np.asarray(grid[np.abs(grid - axis.snap(np.array([here]))[0]) > 1e-12])


def _within(cube: Cube, tried: Tried, j: int, grid: FloatArray) -> FloatArray:
    """Those points of an axis that are not beyond what was tried: of a category, the tried ones."""
    values = tried[j]
    if not cube.axes[j].ordered or not len(values):
        return np.asarray(grid[np.isin(grid, values)])
    inside = grid[(grid >= values[0]) & (grid <= values[-1])]
    return np.unique([*inside, values[0], values[-1]])


def _distances(cube: Cube, start: FloatArray, latents: FloatArray) -> FloatArray:
    ordered = np.array([axis.ordered for axis in cube.axes])
    moved = np.abs(latents - start)
    return np.asarray(np.where(ordered, moved, moved > 1e-12).sum(axis=1))
