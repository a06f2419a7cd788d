"""Points that fill the latents evenly: all of them, where some columns are active, or a box; and which
points are the same, or beaten by none."""

from collections.abc import Mapping

import numpy as np
import scipy

from hyperlens.spaces.cube import BoolArray, Cube, FloatArray, IntArray, Runs, measure

SAME, DIGITS = 1e-9, 9  # coordinates closer than this are one; where rounding makes them equal


def sobol(size: int, d: int, seed: int) -> FloatArray:
    engine = scipy.stats.qmc.Sobol(d, rng=np.random.default_rng(seed))
    return np.asarray(engine.random(1 << max(size - 1, 0).bit_length())[:size])


def sample_active(cube: Cube, columns: tuple[int, ...], size: int, seed: int) -> FloatArray:
    """Sobol' points of the latents in which all of `columns` are active (Moosbauer et al. 2021 B)."""
    engine = scipy.stats.qmc.Sobol(cube.d, rng=np.random.default_rng(seed))
    latents = np.empty((0, cube.d))
    for _ in range(64):
        points = engine.random(1 << max(int(size - 1).bit_length(), 1))
        latents = np.vstack([latents, points[cube.active(points)[:, columns].all(axis=1)]])
        if len(latents) >= size:
            break
    return latents[:size]


def sample_box(cube: Cube, box: Mapping[int, Runs], size: int, seed: int) -> FloatArray:
    """Sobol' points of the latents inside a box."""
    latents = sobol(size, cube.d, seed)
    for j, runs in box.items():
        starts = np.array([low for low, _ in runs])
        lengths = np.cumsum([0.0] + [high - low for low, high in runs])
        at = latents[:, j] * measure(runs)
        run = np.clip(np.searchsorted(lengths, at, side="right") - 1, 0, len(runs) - 1)
        latents[:, j] = starts[run] + at - lengths[run]
    return latents


def keys(vectors: FloatArray) -> dict[bytes, int]:
    """The different ones among many vectors, each with its first row: equal up to rounding."""
    found: dict[bytes, int] = {}
    for row, vector in enumerate(_rounded(vectors)):
        found.setdefault(vector.tobytes(), row)
    return found


def configurations_of(vectors: FloatArray) -> IntArray:
    """Which configuration each of many vectors is, counted as they first come: equal up to rounding.

    >>> configurations_of(np.array([[0.5, np.nan], [0.2, 0.1], [0.5, np.nan]])).tolist()
    [0, 1, 0]
    """
    number: dict[bytes, int] = {}
    return np.array([number.setdefault(v.tobytes(), len(number)) for v in _rounded(vectors)], int)


def different(vectors: FloatArray) -> int:
    """How many different ones there are among many vectors: equal up to rounding.

    >>> different(np.array([[0.5, np.nan], [0.5, np.nan], [0.5, 0.0]]))
    2
    """
    if not vectors.size:
        return min(1, len(vectors))
    rounded = np.ascontiguousarray(_rounded(vectors))
    return len(np.unique(rounded.view(np.dtype((np.void, rounded.strides[0])))))


def _rounded(vectors: FloatArray) -> FloatArray:
    known = np.where(np.isnan(vectors), -1.0, vectors)
    np.round(known, DIGITS, out=known)
    known += 0.0  # no -0.0
    return np.asarray(known)


def same(vectors: FloatArray, vector: FloatArray) -> BoolArray:
    """Which rows are this vector; two inactive coordinates are the same."""
    near = np.abs(vectors - vector) < SAME
    return np.asarray((near | (np.isnan(vectors) & np.isnan(vector))).all(axis=1))


def distances(cube: Cube, vectors: FloatArray, vector: FloatArray) -> FloatArray:
    """How far each row is from a vector: Euclidean, where different categories, and a coordinate that
    is active in one of the two only, are 1 apart."""
    step = np.abs(vectors - vector)
    category = np.array([axis.codes is not None and not axis.ordered for axis in cube.axes])
    step = np.where(category & (step > 0), 1.0, step)
    one = np.isnan(vectors) != np.isnan(vector)
    return np.asarray(np.sqrt((np.where(one, 1.0, np.nan_to_num(step)) ** 2).sum(axis=1)))


def on_front(costs: FloatArray) -> BoolArray:
    """Which rows no other row dominates; the first of equal rows stands for all.

    >>> on_front(np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])).tolist()
    [True, True, False, False]
    """
    inside = np.zeros(len(costs), dtype=bool)
    front = np.empty((0, costs.shape[1]))
    for i in np.lexsort(costs.T[::-1]):
        if not (front <= costs[i]).all(axis=1).any():
            inside[i] = True
            front = np.vstack([front, costs[i]])
    return inside
