"""Functions of one axis with mean zero, orthonormal under the latent measure.

A continuous axis has cosines cos(pi a x), a = 1, 2, ..., of an interval a little longer than the axis
at both ends, so that nothing is flat at the ends, made orthonormal in their order. On the longer
interval they are the eigenfunctions of every stationary kernel that is reflected at its ends,
whatever its length-scale. An ordered axis with levels has the same made orthonormal over its levels,
a category any contrasts. So a centred kernel on the axis is a sum over functions of lambda_a phi_a(x)
phi_a(z) (Solin and Sarkka 2020), and an effect is a vector of weights whose squares sum to its
variance.

Symbols
    a        frequency of a function, 1, 2, ...; 0 for all functions of a category
    phi      values of the functions, (n, m); 0 where the axis is inactive
    runs     the part of the axis over which they are orthonormal
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hyperlens.spaces.cube import WHOLE, Axis, FloatArray, IntArray, Runs, measure

BEYOND = 0.1  # how much longer at each end the interval of the cosines is
NODES = 200  # at which functions of a continuous axis are made orthonormal
MOST_LEVELS = 4096  # beyond it the levels of an integer lie so dense that they count as continuous


@dataclass(frozen=True)
class Basis:
    """At most `size` functions of one axis, orthonormal over `runs`, which are all of it or a part."""

    axis: Axis
    size: int
    runs: Runs = WHOLE

    @property
    def discrete(self) -> bool:
        return 0 < self.axis.levels <= MOST_LEVELS

    @cached_property
    def frequencies(self) -> IntArray:
        """a of each function, (m,)."""
        if not self.discrete:
            few = self.size if len(self.runs) == 1 else 0
            return np.arange(1, few + 1)
        count = self._table.shape[1]
        return np.arange(1, count + 1) if self.axis.ordered else np.zeros(count, dtype=np.int64)

    def __len__(self) -> int:
        return len(self.frequencies)

    def at(self, x: FloatArray) -> FloatArray:
        """phi at numbers of the axis (n,), nan where inactive."""
        active = ~np.isnan(x)
        known = np.where(active, x, 0.5)
        if self.discrete:
            phi = self._table[self.axis.level(known)]
        else:
            phi = _cosines(self._place(known), len(self)) @ self._mixture
        return np.where(active[:, None], phi, 0.0)

    def mean(self, runs: Runs) -> FloatArray:
        """Average of each function over a part of the axis, (m,)."""
        if self.discrete:
            weights = self.axis.weights(runs)
            return np.asarray(weights @ self._table / weights.sum())
        frequencies = np.pi * self.frequencies / (1 + 2 * BEYOND)
        ends = self._place(np.array(runs))
        sines = np.sin((ends[:, :, None] + BEYOND) * frequencies) / frequencies
        area = np.append(np.diff(ends, axis=1).sum(), np.diff(sines, axis=1).sum(axis=(0, 1)))
        return np.asarray(area @ self._mixture * measure(self.runs) / measure(runs))

    def _place(self, x: FloatArray) -> FloatArray:
        """Where numbers lie within the run, 0 to 1."""
        ((low, high),) = self.runs
        return np.clip((x - low) / (high - low), 0.0, 1.0)

    @cached_property
    def _mixture(self) -> FloatArray:
        """How the functions are made of cosines, the constant first: (m + 1, m)."""
        nodes, weights = np.polynomial.legendre.leggauss(NODES)
        root = np.sqrt(weights / 2)[:, None]
        triangle = np.linalg.qr(root * _cosines((nodes + 1) / 2, len(self)), mode="r")
        signs = np.where(np.diagonal(triangle) < 0, -1.0, 1.0)
        return np.asarray((np.linalg.inv(triangle) * signs)[:, 1:])

    @cached_property
    def _table(self) -> FloatArray:
        """phi of every level, (levels, m); 0 for levels outside the runs."""
        codes, weights = self.axis.codes, self.axis.weights(self.runs)
        assert codes is not None
        inside = np.flatnonzero(weights > 0)
        count = len(inside)
        if count < 2:
            return np.zeros((len(codes), 0))
        if self.axis.ordered:
            count = min(count, self.size + 1)
            low, high = self.runs[0][0], self.runs[-1][1]
            place = (codes[inside] - low) / (high - low)
            columns = _cosines(place, count - 1)
        else:
            columns = np.eye(count)
            columns[:, 0] = 1.0
        root = np.sqrt(weights[inside] / weights.sum())
        orthonormal, triangle = np.linalg.qr(root[:, None] * columns)
        signs = np.where(np.diagonal(triangle) < 0, -1.0, 1.0)
        table = np.zeros((len(codes), count - 1))
        table[inside] = (orthonormal * signs)[:, 1:] / root[:, None]
        return table


def _cosines(place: FloatArray, count: int) -> FloatArray:
    """A constant and `count` cosines of the longer interval at places of the axis, (n, count + 1)."""
    along = (place[:, None] + BEYOND) / (1 + 2 * BEYOND)
    return np.asarray(np.cos(np.pi * along * np.arange(count + 1)))
