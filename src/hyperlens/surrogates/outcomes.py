"""What is known of configurations whose trials may fail and have several costs and limits, and what
surrogates learn of it.

One Gaussian process learns each cost, and one each limit, from the trials that measured it. Whether
trials fail is one limit more: a failure exceeds it by a half, any other trial keeps it by a half.

Symbols
    n, d     configurations, columns
    m, c     objectives, limits
    excess   by how much a limit is exceeded; not above 0 where it is kept
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hyperlens.spaces.cube import BoolArray, FloatArray, IntArray

Learnt = tuple[FloatArray, FloatArray]  # vectors and numbers of one surrogate


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Vectors X (n, d), minimised `costs` (n, m), nan where a trial failed, and `excess` (n, c)."""

    X: FloatArray
    costs: FloatArray
    excess: FloatArray

    @cached_property
    def failed(self) -> BoolArray:
        return np.asarray(~np.isfinite(self.costs).all(axis=1))

    @cached_property
    def feasible(self) -> BoolArray:
        """Which ended with all costs and keep every limit."""
        return np.asarray(~self.failed & (self.excess <= 0).all(axis=1))

    @property
    def objectives(self) -> int:
        return int(self.costs.shape[1])

    @property
    def plain(self) -> bool:
        """Is there one cost and nothing else to learn?"""
        return self.objectives == 1 and not self.excess.shape[1] and not self.failed.any()

    def part(self, rows: IntArray) -> Outcomes:
        """What is known of these configurations alone."""
        return Outcomes(self.X[rows], self.costs[rows], self.excess[rows])

    def learnt(self) -> list[Learnt]:
        """What each surrogate learns: of costs, of limits, and of failing if any trial failed."""
        ended = ~self.failed
        found = [(self.X[ended], cost) for cost in self.costs[ended].T]
        for excess in self.excess.T:
            known = np.isfinite(excess)
            found.append((self.X[known], bent(excess[known])))
        if self.failed.any():
            found.append((self.X, np.where(self.failed, 0.5, -0.5)))
        return found


def bent(excess: FloatArray) -> FloatArray:
    """Excesses with the far ones drawn near and every sign kept, sign(e) log(1 + |e|) (Eriksson and
    Poloczek 2021): what matters is where a limit is crossed. They are in units of their root mean
    square, which stays large where a search comes near to a limit.

    >>> bent(np.array([-1.0, 0.0, 1.0])).round(2).tolist()
    [-0.8, 0.0, 0.8]
    """
    largest = float(np.abs(excess).max(initial=0.0))
    if largest == 0.0:
        return excess
    size = np.abs(excess) / largest  # squares may overflow
    return np.asarray(np.sign(excess) * np.log1p(size / np.sqrt(np.mean(size**2))))
