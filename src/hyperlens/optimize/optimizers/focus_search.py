"""Focus search: the minimum of a cheap function on a cube by random points in shrinking boxes.

The infill search of the papers (mlrMBO, Bischl et al. 2017): each restart draws Latin-hypercube
points, keeps the best one, halves every range around it, and draws again. The best points of all
rounds that lie apart are then polished along their continuous coordinates, which the papers did not
do (`polished=0`); that finds narrow minima with far fewer points.

Symbols
    score    vectors (m, d) -> (m,), minimised
    part     what is left of an axis: [low, high] of a continuous one, else the levels left
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy

from hyperlens.optimize.optimizers.designs import latin_hypercube
from hyperlens.spaces.cube import Axis, BoolArray, Cube, FloatArray, IntArray

Score = Callable[[FloatArray], FloatArray]
Barred = Callable[[FloatArray], BoolArray]
Follow = Callable[
    [FloatArray], tuple[float, FloatArray]
]  # free coordinates -> score and its slopes
Slope = Callable[[FloatArray, list[int]], Follow]  # along these columns of a vector

STEP = 1e-5  # of the central differences, in parts of an axis
APART = 0.1  # on some axis, for two points to be polished both
MOST_STEPS = 30
NARROWEST = 1e-4  # how far a box reaches beyond the vectors that it is of


@dataclass(frozen=True, eq=False)
class Part:
    """What is left of one axis."""

    low: float = 0.0
    high: float = 1.0
    levels: IntArray | None = None  # of a discrete axis, ascending

    @staticmethod
    def whole(axis: Axis) -> Part:
        return Part(levels=None if axis.codes is None else np.arange(axis.levels))

    def place(self, axis: Axis, latent: FloatArray) -> FloatArray:
        """Latents uniform on [0, 1] moved into this part, levels by their measure."""
        if self.levels is None:
            return self.low + latent * (self.high - self.low)
        assert axis.codes is not None
        ends = np.cumsum(axis.weights()[self.levels])
        at = np.searchsorted(ends / ends[-1], latent, side="right")
        return np.asarray(axis.codes[self.levels[np.minimum(at, len(self.levels) - 1)]])

    def holds(self, axis: Axis, x: float) -> bool:
        """Does a coordinate of a vector lie in this part?"""
        if self.levels is None:
            return self.low <= x <= self.high
        return bool(np.isin(axis.level(np.array([x])), self.levels)[0])

    def around(self, axis: Axis, best: float, rng: np.random.Generator) -> Part:
        """Half of this part, centred at `best` and clipped; a category loses one other level."""
        if self.levels is None:
            reach = (self.high - self.low) / 4
            return Part(max(self.low, best - reach), min(self.high, best + reach))
        assert axis.codes is not None
        if not axis.ordered:
            others = self.levels[self.levels != axis.level(np.array([best]))[0]]
            dropped = rng.choice(others) if len(others) else -1
            return Part(levels=self.levels[self.levels != dropped])
        codes = axis.codes[self.levels]
        reach = (codes[-1] - codes[0]) / 4
        first = np.searchsorted(codes, max(codes[0], best - reach), side="right") - 1  # floor
        last = np.searchsorted(codes, min(codes[-1], best + reach), side="left")  # ceiling
        return Part(levels=self.levels[first : last + 1])


@dataclass(frozen=True, eq=False)
class Point:
    """A vector and its score."""

    vector: FloatArray
    score: float


def focus_search(
    score: Score,
    cube: Cube,
    rng: np.random.Generator,
    *,
    restarts: int = 3,
    rounds: int = 5,
    points: int = 1000,
    polished: int = 3,
    near: FloatArray | None = None,
    barred: Barred | None = None,
    within: list[Part] | None = None,
    slope: Slope | None = None,
) -> Point | None:
    """The best vector found, None if all were `barred` (forbidden, or seen before).

    All restarts advance together, so that one call of `score` serves a whole round. A range whose
    coordinate is inactive in the best point stays as it is. `near` are vectors from which the
    polishing starts too. `within` is a box to stay in, a part of each axis. `slope` knows the slopes of
    the score, which are else its differences.

    >>> cube = Cube.continuous(2)
    >>> best = focus_search(lambda X: ((X - 0.3) ** 2).sum(axis=1), cube, np.random.default_rng(0))
    >>> best.vector.round(3).tolist()
    [0.3, 0.3]
    """
    # Focus: in each round the best point of a restart, and half of every range around it
    whole = within or [Part.whole(axis) for axis in cube.axes]
    parts = [list(whole) for _ in range(restarts)]
    best: list[Point] = []
    pool: list[tuple[FloatArray, FloatArray]] = []
    for _ in range(rounds):
        drawn = [_draw(cube, part, points, rng) for part in parts]
        scores = score(np.vstack(drawn)).reshape(restarts, points)
        pool += zip(drawn, scores, strict=True)
        for k, (vectors, own) in enumerate(zip(drawn, scores, strict=True)):
            at = _first_allowed(vectors, own, barred)
            if at is None:
                continue
            best.append(Point(vectors[at], float(own[at])))
            parts[k] = [
                part if np.isnan(x) else part.around(axis, float(x), rng)
                for part, axis, x in zip(parts[k], cube.axes, vectors[at], strict=True)
            ]

    # Polish: from the best points of all rounds that lie apart, and from those near the best known
    starts = _apart(np.vstack([v for v, _ in pool]), np.concatenate([s for _, s in pool]), polished)
    if polished and near is not None and len(near):
        starts += [Point(v, float(s)) for v, s in zip(near, score(near), strict=True)]
    ends = [polish(score, cube, start, whole, slope) for start in starts]
    best += [end for end in ends if barred is None or not barred(end.vector[None])[0]]
    return min(best, key=lambda point: point.score, default=None)


def polish(
    score: Score, cube: Cube, start: Point, parts: list[Part], slope: Slope | None = None
) -> Point:
    """Follow the gradient along the active continuous coordinates, all else kept.

    A parent whose value switches a child is left alone. Never worse than the start.
    """
    parents = {p for c in range(cube.d) for p in cube.parents(c)}
    free = [
        j
        for j, axis in enumerate(cube.axes)
        if axis.codes is None and j not in parents and not np.isnan(start.vector[j])
    ]
    if not free:
        return start
    low, high = np.array([(parts[j].low, parts[j].high) for j in free]).T

    follow = slope or partial(_by_differences, score, low, high)
    done = scipy.optimize.minimize(
        follow(start.vector, free),
        np.clip(start.vector[free], low, high),
        jac=True,
        method="L-BFGS-B",
        bounds=list(zip(low, high, strict=True)),
        options={"maxiter": MOST_STEPS},
    )
    if not done.fun < start.score:
        return start
    vector = start.vector.copy()
    vector[free] = np.clip(done.x, low, high)
    return Point(vector, float(done.fun))


def _by_differences(
    score: Score, low: FloatArray, high: FloatArray, vector: FloatArray, free: list[int]
) -> Follow:
    """Central differences, clipped at the ends of a box; one call of the score for all."""

    def follow(x: FloatArray) -> tuple[float, FloatArray]:
        steps = STEP * np.eye(len(free))
        ahead, behind = np.minimum(x + steps, high), np.maximum(x - steps, low)
        vectors = np.tile(vector, (1 + 2 * len(free), 1))
        vectors[:, free] = np.vstack([x[None], ahead, behind])
        scores = score(vectors)
        rise = scores[1 : 1 + len(free)] - scores[1 + len(free) :]
        return float(scores[0]), rise / np.diagonal(ahead - behind)

    return follow


def smallest_box(cube: Cube, vectors: FloatArray) -> list[Part]:
    """What of each axis these vectors span, and at least a little of a continuous one."""
    parts = []
    for axis, x in zip(cube.axes, vectors.T, strict=True):
        seen = x[~np.isnan(x)]
        if not len(seen):
            parts.append(Part.whole(axis))
        elif axis.codes is None:
            low, high = float(seen.min()) - NARROWEST, float(seen.max()) + NARROWEST
            parts.append(Part(max(low, 0.0), min(high, 1.0)))
        else:
            levels = np.unique(axis.level(seen))
            if axis.ordered:
                levels = np.arange(levels[0], levels[-1] + 1)
            parts.append(Part(levels=levels))
    return parts


def _apart(vectors: FloatArray, scores: FloatArray, count: int) -> list[Point]:
    """The best of these, best first, no two within `APART` of each other."""
    best: list[Point] = []
    filled = np.nan_to_num(vectors, nan=-1.0)  # active or not is far apart
    left = np.ones(len(vectors), dtype=bool)
    while len(best) < count and left.any():
        at = int(np.argmin(np.where(left, scores, np.inf)))
        best.append(Point(vectors[at], float(scores[at])))
        left &= np.abs(filled - filled[at]).max(axis=1) > APART
    return best


def _draw(cube: Cube, parts: list[Part], points: int, rng: np.random.Generator) -> FloatArray:
    latents = latin_hypercube(points, cube.d, rng)
    for j, (axis, part) in enumerate(zip(cube.axes, parts, strict=True)):
        latents[:, j] = part.place(axis, latents[:, j])
    return cube.vectors(latents)


def _first_allowed(vectors: FloatArray, scores: FloatArray, barred: Barred | None) -> int | None:
    """Row of the lowest score that is not barred, looked up best first."""
    order = np.argsort(scores, kind="stable")
    if barred is None:
        return int(order[0])
    looked, size = 0, 1
    while looked < len(order):
        rows = order[looked : looked + size]
        allowed = np.flatnonzero(~barred(vectors[rows]))
        if len(allowed):
            return int(rows[allowed[0]])
        looked, size = looked + size, 4 * size
    return None
