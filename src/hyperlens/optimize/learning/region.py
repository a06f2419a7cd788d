"""Which trials a proposal learns from, and where it looks: everywhere, or near one of the best.

Every second proposal refines: a process of the trials nearest to the best one has length-scales of its
own, and its minimum is searched in the smallest box around these trials alone, a trust region (the idea
of Eriksson et al. 2019). As trials gather, the box shrinks with them; while there are few, it is the
whole space. Where this has not improved the best for long, the best trial outside is next.

A long run is not learnt as a whole, which takes the cube of its trials: all good trials are, and others
evenly by the rank of their costs.

Symbols
    n, d     trials told, parameters
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hyperlens.optimize.optimizers.focus_search import Part, smallest_box
from hyperlens.spaces.cube import BoolArray, Cube, FloatArray, IntArray
from hyperlens.spaces.points import distances
from hyperlens.surrogates.outcomes import Outcomes

NEAREST = (5, 5)  # trials of a neighbourhood: so many, and so many more a parameter
PATIENCE = 5  # proposals near one of the best that did not improve it, times d + 1
MOST = 400  # trials that are learnt together
GOOD = 0.5  # part of them that are the best of all


@dataclass(frozen=True, eq=False)
class Region:
    """Rows of what is known that a proposal learns from, and what of the space is searched."""

    rows: IntArray
    parts: list[Part] | None = None  # None for all of it


def everywhere(known: Outcomes) -> Region:
    """All trials, or those of a long run that say most about where it is good."""
    n = len(known.X)
    if n <= MOST:
        return Region(np.arange(n))
    order = np.argsort(_costs(known), kind="stable")
    good = round(GOOD * MOST)
    spread = np.linspace(good, n - 1, MOST - good).round().astype(np.int64)
    return Region(np.sort(order[np.r_[:good, spread]]))


def nearby(known: Outcomes, cube: Cube) -> Region:
    """The neighbourhood of the best trial, or of the next one outside where that has not helped; as many
    failures are learnt from, so that it is known where not to go."""
    n, size = len(known.X), NEAREST[0] + NEAREST[1] * cube.d
    costs, left = _costs(known), known.feasible.copy()
    rows = np.flatnonzero(~known.failed)
    if len(rows) <= size or not left.any():
        return everywhere(known)
    since = n - 1 - int(np.argmin(costs))  # trials without a better one
    for _ in range(1 + since // (2 * PATIENCE * (cube.d + 1))):
        if not left.any():
            return everywhere(known)
        away = distances(cube, known.X, known.X[np.argmin(np.where(left, costs, np.inf))])
        rows = _nearest(away, ~known.failed, size)
        left[rows] = False
    if len(set(known.costs[rows, 0].tolist())) < 2:
        return everywhere(known)
    box = smallest_box(cube, known.X[rows])
    return Region(np.sort(np.r_[rows, _nearest(away, known.failed, size)]), box)


def _nearest(away: FloatArray, among: BoolArray, most: int) -> IntArray:
    """The nearest rows of some."""
    order = np.argsort(away, kind="stable")
    return order[among[order]][:most]


def _costs(known: Outcomes) -> FloatArray:
    """Of the first objective, infinite where a trial failed or exceeds a limit."""
    return np.asarray(np.where(known.feasible, known.costs[:, 0], np.inf))
