"""The kernel on vectors: a product over columns of one-dimensional factors and their integrals.

An average over a box is a product of one-dimensional integrals, so all that a factor must know is its
value and its single, product and double integral. Integrals are over the latent measure and not
normalised: the integral of 1 over `runs` is `measure(runs)`. In place of `runs`, None says that the
column is inactive (its latent is free, measure 1).

Symbols
    c, c'    numbers in a column of the data, shapes (n,) and (m,); nan where inactive
    k        a factor: Matern-3/2 (matern.py) on a continuous or ordered axis
    theta    correlation of two different categories, 0 <= theta < 1
    rho      correlation of an active with the inactive state, 0 <= rho < 1
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from hyperlens.spaces.cube import Axis, Cube, FloatArray, Runs, measure
from hyperlens.surrogates.gaussian_process.matern import SQRT3, Interval, Pairs, matern

TOGETHER = 16  # Matern columns that share one exponential; (1 + z)^16 stays far from overflow
FINEST = 1 / 1024  # neighbouring levels closer than this are integrated as one


def is_category(axis: Axis) -> bool:
    """Has it levels without an order?"""
    return axis.codes is not None and not axis.ordered


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


def factors_of(
    cube: Cube, scales: Iterable[float], rhos: Iterable[float | None]
) -> tuple[Factor, ...]:
    """One factor a column; a rho of None or nan says that the column is never inactive."""
    return tuple(
        factor(axis, float(scale), None if rho is None or np.isnan(rho) else float(rho))
        for axis, scale, rho in zip(cube.axes, scales, rhos, strict=True)
    )
