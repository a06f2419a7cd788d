"""Spearman's rank correlation with a bootstrap interval, all resamples at once.

A resample is a count of each pair. Ranks within it follow from the sorted values: a value's rank is the
count of all smaller ones, half of its equals, and a half; so nothing is sorted twice.

    n   pairs
    B   resamples
    w   (n, B) how often each pair was drawn
"""

from __future__ import annotations

import numpy as np

from hyperlens.spaces.cube import FloatArray

RESAMPLES = 400
FEWEST = 5  # pairs


class Resamples:
    """Counts of the last number of pairs that was asked for, the same whenever it is asked for again."""

    def __init__(self, seed: int = 0) -> None:
        self.seed, self._w = seed, np.empty((0, 0))

    def of(self, n: int) -> FloatArray:
        """Of n pairs, (n, 1 + B): all of them once, then each resample."""
        if len(self._w) != n:
            rng = np.random.default_rng(self.seed)
            drawn = rng.multinomial(n, np.full(n, 1 / n), size=RESAMPLES)
            self._w = np.vstack([np.ones((1, n)), drawn]).T.copy()
        return self._w


def rank_correlation(
    x: FloatArray, y: FloatArray, level: float, resamples: Resamples
) -> tuple[float, float, float]:
    """The correlation of the ranks of x and y, equals sharing theirs, and its percentile interval; nan
    where there are fewer than five pairs, or all of x or y are the same."""
    if len(x) < FEWEST:
        return np.nan, np.nan, np.nan
    w = resamples.of(len(x))
    whole, *resampled = _correlation(w, _midranks(x, w), _midranks(y, w)).tolist()
    known = np.array([r for r in resampled if np.isfinite(r)])
    if not np.isfinite(whole) or not len(known):
        return whole, np.nan, np.nan
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return whole, float(min(low, whole)), float(max(high, whole))


def _midranks(x: FloatArray, w: FloatArray) -> FloatArray:
    """Ranks of x (n,) in each resample, less their mean, which is that of 1 to n, (n, B)."""
    values, group = np.unique(x, return_inverse=True)
    order = np.argsort(group, kind="stable")
    counts = w[order]
    if len(values) < len(x):
        starts = np.searchsorted(group[order], np.arange(len(values)))
        counts = np.add.reduceat(counts, starts, axis=0)
    ranks = np.cumsum(counts, axis=0)
    ranks -= counts / 2 + len(x) / 2
    return np.asarray(ranks[group])


def _correlation(w: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """Pearson's correlation of the columns of a and b, whose means are 0, weighted."""
    weighted = w * a
    both, left = (np.einsum("nb,nb->b", weighted, other) for other in (b, a))
    size = np.sqrt(left * np.einsum("nb,nb,nb->b", w, b, b))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(size > 1e-9, both / size, np.nan)
