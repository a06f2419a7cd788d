"""What configurations that are nearly the same say about the noise.

Two costs a and b of neighbours differ by their noises and by what the objective itself changes between
them, so that (a - b)^2 / 2 is on average at least the variance g of the noise, whatever the objective.
Of m pairs that share nothing, their sum S is therefore hardly below g times a chi-squared number of m
degrees of freedom: what would make it so is improbable, and g is at most S over a low quantile of it.
A search that crowds shows by that, without any repeats, that its objective has no noise, where a
smooth process takes a kink for it. Pairs are chosen by their distance alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from hyperlens.spaces.cube import Cube, FloatArray, IntArray
from hyperlens.spaces.points import distances

PAIRS = (3, 6, 12, 24)  # the nearest so many; each is asked at its share of the level
LEVEL = 0.01


@dataclass(frozen=True)
class Neighbours:
    """Pairs of configurations (m, 2), the nearest first; each configuration is in one at most."""

    pairs: IntArray

    @staticmethod
    def of(cube: Cube, X: FloatArray) -> Neighbours:
        first, second = np.triu_indices(len(X), 1)
        away = np.concatenate([distances(cube, X[k + 1 :], X[k]) for k in range(len(X))])
        free = np.ones(len(X), dtype=bool)
        pairs: list[tuple[int, int]] = []
        for k in np.argsort(away, kind="stable"):
            i, j = int(first[k]), int(second[k])
            if free[i] and free[j]:
                free[[i, j]] = False
                pairs.append((i, j))
            if len(pairs) == max(PAIRS):
                break
        return Neighbours(np.array(pairs, dtype=np.int64).reshape(-1, 2))

    def limit(self, values: FloatArray) -> float:
        """The largest variance of the noise of values (n,) that is not improbable."""
        limits = [
            total / scipy.stats.chi2.ppf(LEVEL / len(PAIRS), m) for m, total in self._sums(values)
        ]
        return float(min(limits, default=np.inf))

    def probability(self, values: FloatArray, variance: float) -> float:
        """That neighbours are as alike as they are or more, with a noise of such a variance, at most."""
        if variance <= 0:
            return 1.0
        found = [scipy.stats.chi2.cdf(total / variance, m) for m, total in self._sums(values)]
        return float(min(1.0, len(PAIRS) * min(found, default=1.0)))

    def _sums(self, values: FloatArray) -> list[tuple[int, float]]:
        """Numbers of pairs, and S of each."""
        halves = (values[self.pairs[:, 0]] - values[self.pairs[:, 1]]) ** 2 / 2
        return [(m, float(halves[:m].sum())) for m in PAIRS if m <= len(self.pairs)]
