"""How what a Gaussian process predicts changes along some continuous coordinates, all else kept.

A search follows these slopes from many places, one vector at a time; differences of predictions would
take two more for each coordinate.

Symbols of posterior.py, and
    x        the free coordinates of a vector (f,); c their numbers in the data (n, f)
    k        s times the kernel between the vector and the data (n,)
    h        U^-T k, so that the variance is v (1 - h'h)
    z        a |x - c|; a Matern factor m = (1 + z) e^-z has d log m / dx = -a^2 (x - c) / (1 + z)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from hyperlens.spaces.cube import FloatArray
from hyperlens.surrogates.gaussian_process.kernels import gram
from hyperlens.surrogates.gaussian_process.posterior import Posterior


@dataclass(frozen=True, eq=False)
class Slopes:
    """A process along the free columns of one vector."""

    posterior: Posterior
    c: FloatArray
    rate: FloatArray  # a (f,)
    mixed: FloatArray  # rho^2 of a conditional column, 0 of one that is always active (f,)
    rest: FloatArray  # s times the factors of all other columns (n,)
    off: FloatArray  # s times all factors of rows that have no such coordinate, as 1 or rho (n, f)

    @staticmethod
    def of(posterior: Posterior, vector: FloatArray, free: list[int]) -> Slopes:
        """`free` are columns without levels that are active in the vector."""
        kept = [j for j in range(posterior.cube.d) if j not in free]
        factors, X = posterior.factors, posterior.X
        rest = gram([factors[j] for j in kept], vector[None, kept], X[:, kept])[0]
        own = [factors[j] for j in free]
        rho = np.array([0.0 if f.rho is None else f.rho for f in own])
        rate = np.array([f.base.rate for f in own], dtype=np.float64)
        c = X[:, free]
        off = np.where(np.isnan(c), rho, np.nan)
        return Slopes(posterior, c, rate, rho**2, posterior.signal * rest, off)

    def __call__(self, x: FloatArray) -> tuple[float, float, FloatArray, FloatArray]:
        """Mean and standard deviation at x, and the slopes of both (f,)."""
        state = self.posterior
        step = x - self.c
        z = self.rate * np.abs(step)
        if self.mixed.any():
            factor, by = self._conditional(step, z)
            k = self.rest * factor.prod(axis=1)
        else:
            by = -(self.rate**2) * step / (1 + z)
            k = self.rest * (1 + z).prod(axis=1) * np.exp(-z.sum(axis=1))
        half = _solved(state.upper, k, transposed=1)
        variance = state.parameters.variance
        left = state.whole - float(half @ half)
        moved = k[:, None] * by  # dk / dx (n, f)
        by_mean = state.beta @ moved
        mean = state.parameters.trend + float(k @ state.beta)
        if left <= 0:
            return mean, 0.0, by_mean, np.zeros(len(x))
        std = float(np.sqrt(variance * left))
        by_std = (-variance / std) * (_solved(state.upper, half, transposed=0) @ moved)
        return mean, std, by_mean, by_std

    def _conditional(self, step: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Factors rho^2 + (1 - rho^2) m, or rho where a row has no such coordinate, and d log / dx."""
        decay = np.exp(-z)
        inside = self.mixed + (1 - self.mixed) * (1 + z) * decay
        always = self.mixed == 0  # where both may have vanished
        part = (1 - self.mixed) * decay / np.where(always, 1.0, inside)
        by = -(self.rate**2) * step * np.where(always, 1 / (1 + z), part)
        absent = ~np.isnan(self.off)
        return np.where(absent, self.off, inside), np.where(absent, 0.0, by)


def _solved(upper: FloatArray, right: FloatArray, transposed: int) -> FloatArray:
    return np.asarray(scipy.linalg.blas.dtrsv(upper, right, trans=transposed))
