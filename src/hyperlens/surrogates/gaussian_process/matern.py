"""Matern-3/2 on a continuous axis: value, single, product and double integral, all in closed form.

Symbols
    c, c'    numbers in a column of the data, shapes (n,) and (m,)
    l, a     length-scale, and a = sqrt(3) / l
    z        a |x - c|; k(x, c) = (1 + z) exp(-z) (Rasmussen and Williams 2006, Eq. 4.17)
    D        |c - c'|
    runs     where x is integrated over: intervals [low, high]
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hyperlens.spaces.cube import FloatArray, IntArray, Runs

SQRT3 = math.sqrt(3.0)
BLOCK = 8192  # pairs at once, which fit a processor's cache


def matern(z: FloatArray) -> FloatArray:
    """k = (1 + z) exp(-z) of the scaled distance z >= 0."""
    return np.asarray((1 + z) * np.exp(-z))


def matern_slope(z: FloatArray) -> FloatArray:
    """dk / d log l = z^2 exp(-z)."""
    return np.asarray(z * z * np.exp(-z))


@dataclass(frozen=True, eq=False)
class Pairs:
    """The m pairs (c[i], c[l]) of a column, i = first and l = second; c is 0 where inactive."""

    c: FloatArray
    first: IntArray
    second: IntArray

    @cached_property
    def ends(self) -> tuple[IntArray, IntArray]:
        """Index of the smaller and of the larger number of each pair."""
        below = self.c[self.first] <= self.c[self.second]
        return np.where(below, self.first, self.second), np.where(below, self.second, self.first)

    @cached_property
    def distance(self) -> FloatArray:
        small, large = self.ends
        return self.c[large] - self.c[small]

    @cached_property
    def _decays(self) -> dict[float, FloatArray]:
        return {}

    def decay(self, rate: float) -> FloatArray:
        """exp(-a D), which does not depend on where one integrates."""
        if rate not in self._decays:
            self._decays[rate] = np.exp(-rate * self.distance)
        return self._decays[rate]


@dataclass(frozen=True)
class Interval:
    """Matern-3/2 on a continuous axis. Every sum below has terms of one sign (save `double`), so
    nothing cancels and nothing overflows, whatever `a`."""

    lengthscale: float

    @property
    def rate(self) -> float:
        return SQRT3 / self.lengthscale

    def value(self, x: FloatArray, c: FloatArray) -> FloatArray:
        return matern(self.rate * np.abs(x - c))

    def integral(self, c: FloatArray, runs: Runs) -> FloatArray:
        total = np.zeros(c.shape)
        for low, high in runs:
            total += self._half(high - np.maximum(c, low), np.maximum(low - c, 0))
            total += self._half(np.minimum(c, high) - low, np.maximum(c - high, 0))
        return total

    def _half(self, width: FloatArray, gap: FloatArray) -> FloatArray:
        """Integral of k over distances from gap to gap + width; 0 for a negative width.

        With s = a gap and L = a width: exp(-s) [(1 + s) (1 - e^-L) + 1 - (1 + L) e^-L] / a.
        """
        s, length = self.rate * gap, self.rate * np.maximum(width, 0)
        rise = -np.expm1(-length)
        return np.asarray(
            np.exp(-s) * ((1 + s) * rise + (rise - length * np.exp(-length))) / self.rate
        )

    def product(self, pairs: Pairs, runs: Runs) -> FloatArray:
        """Three pieces: left of both, between, right of both, each clipped to the run.

        With D = |c - c'|, every piece is exp(-a D) times a polynomial: of the pieces outside in a D,
        with coefficients that depend on min(c, c') or max(c, c') alone; of the piece between, with L
        the scaled length of what lies in the run and A, B one plus the scaled gaps to it,
        L (A B + L ((A + B) / 2 + L / 6)) / a.
        """
        total = np.zeros(len(pairs.first))
        decay = pairs.decay(self.rate)
        for low, high in runs:
            left, left_slope = self._outside(pairs.c, low, high)
            right, right_slope = self._outside(-pairs.c, -high, -low)
            inside = np.clip(pairs.c, low, high)
            place, near = self.rate * inside, 1 + self.rate * np.abs(pairs.c - inside)
            for first in range(0, len(total), BLOCK):
                block = slice(first, first + BLOCK)
                small, large = (end[block] for end in pairs.ends)
                start, stop = near.take(small), near.take(large)
                length = place.take(large) - place.take(small)
                between = length * (start * stop + length * ((start + stop) / 2 + length / 6))
                slope = left_slope.take(small) + right_slope.take(large)
                part = left.take(small) + right.take(large) + between / self.rate
                total[block] += decay[block] * (part + slope * (self.rate * pairs.distance[block]))
        return total

    def _outside(self, c: FloatArray, low: float, high: float) -> tuple[FloatArray, FloatArray]:
        """Left piece for min(c, c') = c, as exp(-a D) (first + a D second).

        With r = min(c, high), A = 1 + a (c - r), F_m = integral_0^(r - low) (a s)^m e^(-2 a s) ds:
        first = e^(-2 a (c - r)) (A^2 F_0 + 2 A F_1 + F_2), second = e^(...) (A F_0 + F_1).
        """
        right = np.minimum(c, high)
        gap = self.rate * (c - right)
        z = 2 * self.rate * np.maximum(right - low, 0)
        fall, rise = np.exp(-z), -np.expm1(-z)
        f0 = rise / (2 * self.rate)
        f1 = (rise - z * fall) / (4 * self.rate)
        f2 = (2 * rise - z * (2 + z) * fall) / (8 * self.rate)
        near, decay = 1 + gap, np.exp(-2 * gap)
        first = decay * (near * (near * f0 + 2 * f1) + f2)
        return first, decay * (near * f0 + f1)

    def double(self, runs: Runs, other: Runs) -> float:
        """By the even function H with H'' = k: H(b-c) - H(a-c) - H(b-d) + H(a-d) for [a,b], [c,d]."""
        a, b = np.array(runs).reshape(-1, 2).T[:, :, None]
        c, d = np.array(other).reshape(-1, 2).T[:, None, :]
        parts = self._twice(b - c) - self._twice(a - c) - self._twice(b - d) + self._twice(a - d)
        return float(parts.sum())

    def _twice(self, t: FloatArray) -> FloatArray:
        """H(t) = (2z - 3 + (3 + z) e^-z) / a^2, z = a |t|; by its series where that would cancel."""
        z = self.rate * np.abs(t)
        small = np.minimum(z, 1.0)
        series = sum((3 - m) * (-small) ** m / math.factorial(m) for m in range(2, 20))
        exact = 2 * z - 3 + (3 + z) * np.exp(-z)
        return np.asarray(np.where(z < 1, series, exact) / self.rate**2)
