"""Several objectives made into one: by weights, or by what a trial adds to the Pareto front.

Arrays only. Costs are minimised and scaled first, so that 0 is the best and 1 the worst that was
seen of each objective.
"""

import numpy as np

from hyperlens.spaces.cube import FloatArray
from hyperlens.spaces.points import on_front

MOST_OBJECTIVES = 4  # for hypervolumes
MOST_FRONT = 400


def scaled(costs: FloatArray) -> FloatArray:
    """Each column from 0, its best, to 1, its worst; 0 where it does not vary."""
    low, high = costs.min(axis=0), costs.max(axis=0)
    half = np.where(high > low, high / 2 - low / 2, 1.0)  # halves: the range may overflow
    return np.asarray((costs / 2 - low / 2) / half)


def weighted(costs: FloatArray, weights: FloatArray) -> FloatArray:
    """Weighted mean of the scaled costs."""
    return np.asarray(scaled(costs) @ (weights / weights.sum()))


def contributions(costs: FloatArray) -> FloatArray:
    """What each row adds to the hypervolume of all others, scaled; larger is better.

    A row on the front has the volume that it alone dominates, up to the reference point 1.1; equal
    rows count as one. A row behind it has minus its distance to where it would begin to add
    something, so that all rows can be compared (Toure et al. 2019, uncrowded hypervolume).
    """
    places, which = np.unique(scaled(costs), axis=0, return_inverse=True)
    front = on_front(places)
    reference = np.full(costs.shape[1], 1.1)
    gaps = upper_bounds(places[front], np.full(costs.shape[1], np.inf))
    behind = ((np.clip(place - gaps, 0.0, None) ** 2).sum(axis=1).min() for place in places)
    worth = -np.sqrt(np.fromiter(behind, dtype=float))
    second = places[~front][on_front(places[~front])]  # the front where a member is left out
    members = np.flatnonzero(front)
    for i in members:
        others = np.vstack([places[members[members != i]], second])
        alone = np.prod(reference - places[i])
        worth[i] = alone - volume(np.maximum(others, places[i]), reference)
    return np.asarray(worth[which.ravel()])


def growth(costs: FloatArray, reference: FloatArray) -> FloatArray:
    """Volume that the first row dominates up to a reference point, the first two, and so on, (n,)."""
    gained = np.zeros(len(costs))
    front = np.empty((0, costs.shape[1]))
    for k, place in enumerate(costs):
        if (place < reference).all() and not (front <= place).all(axis=1).any():
            alone = float(np.prod(reference - place))
            gained[k] = alone - volume(np.maximum(front, place), reference)
            front = np.vstack([front[~(front >= place).all(axis=1)], place])
    return np.cumsum(gained)


def volume(points: FloatArray, reference: FloatArray) -> float:
    """Volume that points dominate up to a reference point, by slices along the last axis."""
    points = points[(points < reference).all(axis=1)]
    if len(points) == 0:
        return 0.0
    if points.shape[1] == 1:
        return float(reference[0] - points.min())
    if points.shape[1] == 2:  # a staircase
        x, y = points[np.argsort(points[:, 0], kind="stable")].T
        steps = np.minimum.accumulate(np.append(reference[1], y))
        return float((reference[0] - x) @ -np.diff(steps))
    points = points[np.argsort(points[:, -1], kind="stable")]
    ends = np.append(points[1:, -1], reference[-1])
    total = 0.0
    slice_ = np.empty((0, points.shape[1] - 1))
    for k, end in enumerate(ends):
        slice_ = np.vstack([slice_, points[k, :-1]])
        thickness = float(end - points[k, -1])
        if thickness > 0:
            slice_ = slice_[on_front(slice_)]
            total += thickness * volume(slice_, reference[:-1])
    return total


def upper_bounds(front: FloatArray, reference: FloatArray) -> FloatArray:
    """Corners below which a point is dominated by none of the front (local upper bounds)."""
    bounds = reference[None, :]
    for point in front:
        inside = (point < bounds).all(axis=1)
        if not inside.any():
            continue
        axes = np.eye(len(point), dtype=bool)
        split = [np.where(axis, point, bounds[inside]) for axis in axes]
        bounds = np.unique(np.vstack([bounds[~inside], *split]), axis=0)
        redundant = [
            bool(((bounds >= b).all(axis=1) & (bounds > b).any(axis=1)).any()) for b in bounds
        ]
        bounds = bounds[~np.array(redundant)]
    return bounds
