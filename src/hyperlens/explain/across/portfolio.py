"""Configurations that do well in every run, chosen one after another from what runs have tried.

Symbols
    r        runs
    c        candidates
    regret   (r, c), what each run's surrogate expects of each candidate above the best of all, in units
             of what lies between that best and the median over the space: that of an optimiser's
             trials is next to its best
"""

import numpy as np

from hyperlens.explain.models.curves import expected_at
from hyperlens.explain.models.fitting import Fitted
from hyperlens.spaces.cube import Cube, FloatArray, IntArray
from hyperlens.spaces.points import sobol

TRIALS, EVEN = 16, 512  # candidates: the best of each run, and even ones


def candidates(
    fits: list[Fitted], cube: Cube, default: FloatArray, seed: int
) -> tuple[FloatArray, IntArray]:
    """Vectors (c, d): the default first, the best trials of each run, and some all over the space;
    and which of them is the best trial of each run, (r,)."""
    best = [f.training.X[np.argsort(f.training.y, kind="stable")[:TRIALS]] for f in fits]
    first = np.cumsum([1, *map(len, best)])[:-1]
    return np.vstack([default[None], *best, cube.vectors(sobol(EVEN, cube.d, seed))]), first


def regrets(fits: list[Fitted], X: FloatArray) -> FloatArray:
    """Of candidates X (c, d), the last of which are all over the space, in every run, (r, c)."""
    found = []
    for fitted in fits:
        mean = expected_at(fitted.model, X)
        best = float(mean.min())
        scale = float(np.median(mean[-EVEN:])) - best
        found.append((mean - best) / scale if scale > 0 else 0.0 * mean)
    return np.array(found)


def greedy(regret: FloatArray, size: int) -> list[int]:
    """Candidates that, each with those before it, leave the least regret on average over runs.

    >>> greedy(np.array([[0.0, 1.0, 0.4], [1.0, 0.0, 0.4]]), 2)
    [2, 0]
    """
    chosen: list[int] = []
    left = np.full(len(regret), np.inf)
    for _ in range(size):
        together = np.minimum(left[:, None], regret).mean(axis=0)
        best = int(np.argmin(together))
        if chosen and not together[best] < left.mean():
            break
        chosen.append(best)
        left = np.minimum(left, regret[:, best])
    return chosen
