"""Binary splits so that curves within each side are alike (Moosbauer et al. 2021 Algorithm 1).

Symbols
    T        targets (m, g): one curve a configuration
    impurity sum over rows of the squared distance to the mean curve, Moosbauer et al. 2021 Eq. 6
    gain     impurity of the whole less that of the two sides
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from hyperlens.spaces.cube import BoolArray, FloatArray, IntArray

FEW_LEVELS = 10  # of a category: all subsets are tried


@dataclass(frozen=True)
class Split:
    """The best split of one column: rows on the left, and the impurity it takes away."""

    column: int
    left: BoolArray
    gain: float


def impurity(T: FloatArray) -> float:
    return float(np.sum((T - T.mean(axis=0)) ** 2)) if len(T) else 0.0


def ordered_split(column: int, x: FloatArray, T: FloatArray, least: int) -> Split | None:
    """Best threshold: sort once, sums of curves over all thresholds at once."""
    order = np.argsort(x, kind="stable")
    ranked = x[order]
    n = len(x)
    # With curves centred, the sums of both sides are L and -L, and the impurity (Eq. 6) falls by
    # |L|^2 / n_left + |L|^2 / n_right.
    sums = np.cumsum(T[order] - T.mean(axis=0), axis=0)[:-1]  # L of every threshold
    size = np.arange(1, n)
    gains = np.sum(sums**2, axis=1) * (1 / size + 1 / (n - size))
    allowed = (ranked[1:] > ranked[:-1]) & (size >= least) & (n - size >= least)
    if not allowed.any():
        return None
    at = int(np.argmax(np.where(allowed, gains, -np.inf)))
    return Split(column, x <= ranked[at], float(gains[at]))


def category_split(column: int, level: IntArray, T: FloatArray, least: int) -> Split | None:
    """Best subset of levels: all of them if they are few, else along the first principal component
    of the levels' mean curves.
    """
    present = np.unique(level)
    if len(present) < 2:
        return None
    centred = T - T.mean(axis=0)
    sums = np.array([centred[level == k].sum(axis=0) for k in present])
    counts = np.array([(level == k).sum() for k in present])
    subsets = _subsets(sums / counts[:, None], counts, len(present))
    left_sums = subsets @ sums
    size = subsets @ counts
    n = len(level)
    allowed = (size >= least) & (n - size >= least)
    if not allowed.any():
        return None
    gains = np.sum(left_sums**2, axis=1) * (1 / size + 1 / (n - size))  # as for a threshold
    at = int(np.argmax(np.where(allowed, gains, -np.inf)))
    return Split(column, np.isin(level, present[subsets[at].astype(bool)]), float(gains[at]))


def _subsets(means: FloatArray, counts: IntArray, levels: int) -> FloatArray:
    """Rows of zeros and ones: which levels go left."""
    if levels <= FEW_LEVELS:
        beside = [
            c for k in range(levels) for c in combinations(range(1, levels), k) if k < levels
        ]  # the first level always goes left, so that no split is tried twice
        rows = np.zeros((len(beside), levels))
        rows[:, 0] = 1
        for i, c in enumerate(beside):
            rows[i, list(c)] = 1
        return np.asarray(rows[rows.sum(axis=1) < levels])
    weighted = (means - np.average(means, axis=0, weights=counts)) * np.sqrt(counts)[:, None]
    _, _, directions = np.linalg.svd(weighted, full_matrices=False)
    order = np.argsort(means @ directions[0], kind="stable")
    rows = np.zeros((levels - 1, levels))
    for k in range(levels - 1):
        rows[k, order[: k + 1]] = 1
    return rows
