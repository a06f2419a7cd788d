"""One-dimensional kernel factors: value, single, product and double integral, all in closed form.

A kernel on vectors is the product over columns of such factors, so an average over a box is a
product of one-dimensional integrals. Integrals are over the latent measure and not normalised:
the integral of 1 over `runs` is `measure(runs)`. In place of `runs`, None says that the column is
inactive (its latent is free, measure 1).

Symbols
    c, c'    numbers in a column of the data, shapes (n,) and (m,); nan where inactive
    l, a     length-scale of a continuous or ordered axis, a = sqrt(3) / l
    z        a |x - c|; Matern-3/2 is k = (1 + z) exp(-z)
    theta    correlation of two different categories, 0 <= theta < 1
    rho      correlation of an active with the inactive state, 0 <= rho < 1
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from hyperlens.spaces.cube import Axis, FloatArray, IntArray, Runs, measure

SQRT3 = math.sqrt(3.0)
TOGETHER = 16  # Matern columns that share one exponential; (1 + z)^16 stays far from overflow
BLOCK = 8192  # pairs at once, which fit a processor's cache
FINEST = 1 / 1024  # neighbouring levels closer than this are integrated as one


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


class Base(Protocol):
    """A factor of a column that is always active."""

    @property
    def rate(self) -> float | None:
        """a of a Matern-3/2, None for a categorical factor."""

    def value(self, x: FloatArray, c: FloatArray) -> FloatArray:
        """k(x, c), broadcast."""

    def integral(self, c: FloatArray, runs: Runs) -> FloatArray:
        """w(c) = integral over runs of k(x, c) dx, shape (n,)."""

    def product(self, pairs: Pairs, runs: Runs) -> FloatArray:
        """P(c, c') = integral over runs of k(x, c) k(x, c') dx of each pair, shape (m,)."""

    def double(self, runs: Runs, other: Runs) -> float:
        """Integral of k(x, x') dx dx' over x in runs, x' in other."""


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


@dataclass(frozen=True)
class Levels:
    """A discrete axis: Matern-3/2 on codes if ordered, else 1 if equal and theta if not.

    Integrals are sums over levels, weighted by the measure of each level inside the runs.
    """

    axis: Axis
    scale: float

    @property
    def rate(self) -> float | None:
        return SQRT3 / self.scale if self.axis.ordered else None

    def value(self, x: FloatArray, c: FloatArray) -> FloatArray:
        if self.rate is not None:
            return matern(self.rate * np.abs(x - c))
        return np.where(self.axis.level(x) == self.axis.level(c), 1.0, self.scale)

    def integral(self, c: FloatArray, runs: Runs) -> FloatArray:
        return np.asarray(self._nodes.weights(runs) @ self._at_nodes(c))

    def product(self, pairs: Pairs, runs: Runs) -> FloatArray:
        at = self._at_nodes(pairs.c)
        weighted = self._nodes.weights(runs)[:, None] * at
        return np.asarray((weighted.T @ at)[pairs.first, pairs.second])

    def double(self, runs: Runs, other: Runs) -> float:
        assert self._nodes.codes is not None
        gram = self._at_nodes(self._nodes.codes)
        return float(self._nodes.weights(runs) @ gram @ self._nodes.weights(other))

    def _at_nodes(self, c: FloatArray) -> FloatArray:
        assert self._nodes.codes is not None
        return self.value(self._nodes.codes[:, None], c[None, :])

    @cached_property
    def _nodes(self) -> Axis:
        """The axis, with neighbours merged while they lie within FINEST of each other.

        It bounds the sums for an integer with a million values; an axis whose cells are wider than
        FINEST is left as it is. The relative error is (a FINEST)^2 / 24 where cells are merged.
        """
        edges, codes = self.axis.edges, self.axis.codes
        assert edges is not None
        assert codes is not None
        if not self.axis.ordered or np.all(np.diff(edges) >= FINEST):
            return self.axis
        widths = np.diff(edges)
        wide = widths >= FINEST
        new = np.diff(np.floor(edges[:-1] / FINEST), prepend=-1.0) > 0
        first = np.flatnonzero(new | wide | np.append(False, wide[:-1]))
        middle = np.add.reduceat(codes * widths, first) / np.add.reduceat(widths, first)
        return Axis(np.append(edges[first], edges[-1]), middle)


@dataclass(frozen=True)
class Factor:
    """The factor of one column.

    A conditional column has a `rho`: both active rho^2 + (1 - rho^2) k, one inactive rho, both
    inactive 1. Without `rho` the column must never be nan.
    """

    base: Base
    rho: float | None = None

    @property
    def rate(self) -> float | None:
        """a, where the factor is a Matern-3/2 and nothing else; otherwise None."""
        if self.rho is not None:
            return None
        return self.base.rate

    def value(self, x: FloatArray, c: FloatArray) -> FloatArray:
        """k(x, c), broadcast; nan means inactive."""
        if self.rho is None:
            return self.base.value(x, c)
        off_x, off_c = np.isnan(x), np.isnan(c)
        k = self._mix(self.base.value(np.where(off_x, 0.0, x), np.where(off_c, 0.0, c)))
        return np.where(off_x & off_c, 1.0, np.where(off_x | off_c, self.rho, k))

    def integral(self, c: FloatArray, runs: Runs | None) -> FloatArray:
        """w(c), shape (n,)."""
        if runs is None:
            return self.value(np.array(np.nan), c)
        if self.rho is None:
            return self.base.integral(c, runs)
        off, size = np.isnan(c), measure(runs)
        k = self._mix(self.base.integral(np.where(off, 0.0, c), runs), size)
        return np.where(off, self.rho * size, k)

    def product(self, c: FloatArray, pairs: Pairs, runs: Runs | None) -> FloatArray:
        """P of each pair of c's rows, shape (m,); `pairs` are those of c with 0 for nan."""
        if runs is None:
            alone = self.integral(c, None)
            return np.asarray(alone[pairs.first] * alone[pairs.second])
        if self.rho is None:
            return self.base.product(pairs, runs)
        rest, size = 1 - self.rho**2, measure(runs)
        alone = self.base.integral(pairs.c, runs)
        k = self.rho**2 * (self.rho**2 * size + rest * (alone[pairs.first] + alone[pairs.second]))
        k += rest**2 * self.base.product(pairs, runs)
        off, alone = np.isnan(c), self.rho * self.integral(c, runs)
        k = np.where(off[pairs.first], alone[pairs.second], k)
        return np.where(off[pairs.second], alone[pairs.first], k)

    def double(self, runs: Runs | None, other: Runs | None) -> float:
        """E[k(X, X')] times the measures of both."""
        if runs is None and other is None:
            return 1.0
        if runs is None or other is None:
            assert self.rho is not None
            return self.rho * measure(runs or other or ())
        k = self.base.double(runs, other)
        if self.rho is None:
            return k
        return self.rho**2 * measure(runs) * measure(other) + (1 - self.rho**2) * k

    def _mix(self, k: FloatArray, size: float = 1.0) -> FloatArray:
        assert self.rho is not None
        return np.asarray(self.rho**2 * size + (1 - self.rho**2) * k)


def factor(axis: Axis, scale: float, rho: float | None = None) -> Factor:
    """The factor of a column: `scale` is a length-scale, or theta on a categorical axis.

    >>> f = factor(Axis(), scale=0.5)
    >>> round(f.integral(np.array([0.5]), ((0.0, 1.0),)).item(), 4)
    0.7735
    """
    base: Base = Interval(scale) if axis.codes is None else Levels(axis, scale)
    return Factor(base, rho)


def gram(factors: Sequence[Factor], X: FloatArray, C: FloatArray) -> FloatArray:
    """Product of all factors at every pair of rows, shape (len(X), len(C)).

    Matern factors share one exponential for every TOGETHER columns.
    """
    total = np.ones((len(X), len(C)))
    plain = [(j, f.rate) for j, f in enumerate(factors) if f.rate is not None]
    for first in range(0, len(plain), TOGETHER):
        exponent = np.zeros(total.shape)
        for j, rate in plain[first : first + TOGETHER]:
            z = rate * np.abs(X[:, j, None] - C[None, :, j])
            exponent -= z
            z += 1
            total *= z
        total *= np.exp(exponent)
    for j, f in enumerate(factors):
        if f.rate is None:
            total *= f.value(X[:, j, None], C[None, :, j])
    return total
