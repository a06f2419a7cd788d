"""Spearman's rank correlation with a bootstrap interval, all resamples at once.

A resample is a count of each pair. Ranks within it follow from the sorted values: a value's rank is the
count of all smaller ones, half of its equals, and a half; so nothing is sorted twice.

    n   pairs
    B   resamples
    w   (B, n) how often each pair was drawn
"""

from __future__ import annotations

import numpy as np

from hyperlens.spaces.cube import FloatArray

RESAMPLES = 400
FEWEST = 5  # pairs


def rank_correlation(
    x: FloatArray, y: FloatArray, level: float, seed: int = 0
) -> tuple[float, float, float]:
    """The correlation of the ranks of x and y, equals sharing theirs, and its percentile interval; nan
    where there are fewer than five pairs, or all of x or y are the same."""
    n = len(x)
    if n < FEWEST:
        return np.nan, np.nan, np.nan
    drawn = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=RESAMPLES)
    w = np.vstack([np.ones((1, n)), drawn])
    whole, *resampled = _correlation(w, _midranks(x, w), _midranks(y, w)).tolist()
    known = np.array([r for r in resampled if np.isfinite(r)])
    if not np.isfinite(whole) or not len(known):
        return whole, np.nan, np.nan
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return whole, float(min(low, whole)), float(max(high, whole))


def _midranks(x: FloatArray, w: FloatArray) -> FloatArray:
    """Ranks of x (n,) in each resample, (B, n)."""
    values, group = np.unique(x, return_inverse=True)
    counts = np.zeros((len(w), len(values)))
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(len(values)))
    counts = np.add.reduceat(w[:, order], starts, axis=1)
    ranks = np.cumsum(counts, axis=1) - counts / 2 + 0.5
    return np.asarray(ranks[:, group])


def _correlation(w: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """Pearson's correlation of the columns of a and b, weighted, for each resample."""
    total = w.sum(axis=1, keepdims=True)
    a = a - (w * a).sum(axis=1, keepdims=True) / total
    b = b - (w * b).sum(axis=1, keepdims=True) / total
    with np.errstate(invalid="ignore", divide="ignore"):
        size = np.sqrt((w * a**2).sum(axis=1) * (w * b**2).sum(axis=1))
        return np.where(size > 1e-9, (w * a * b).sum(axis=1) / size, np.nan)
