"""One set of hyperparameters of an additive process on the data: what they say of rows and functions.

Symbols
    n        rows of the data
    z        warped costs; K their covariance, noise and doubt included
    doubt    how far off a cost may be beside the noise, as a standard deviation of z
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from hyperlens.spaces.cube import FloatArray, IntArray
from hyperlens.surrogates.additive.components import Components, Rows
from hyperlens.surrogates.additive.hyper import TREND, Hyper
from hyperlens.surrogates.additive.kernel import JITTER, Kernel
from hyperlens.surrogates.additive.warp import Warp

MOST_NOISE = 1e6  # beyond it no covariance is singular unless it holds a nan


@dataclass(frozen=True)
class LearntSet:
    """One set of hyperparameters on the data."""

    kernel: Kernel
    warp: Warp
    z: FloatArray
    upper: FloatArray  # Cholesky factor of K, (n, n)
    noise: float  # as it is in K
    doubt: FloatArray  # of each cost, beside the noise

    @staticmethod
    def of(
        components: Components,
        t: FloatArray,
        rows: Rows,
        y: FloatArray,
        doubt: FloatArray | None = None,
    ) -> LearntSet:
        hyper = Hyper.of(t)
        doubt = np.zeros(len(y)) if doubt is None else doubt
        kernel, warp = Kernel(components, hyper), Warp.of(y, hyper.log_kappa, hyper.log_eta)
        K = kernel.gram(rows, rows)
        K[np.diag_indices(len(y))] += doubt**2
        added = noise = hyper.noise + JITTER
        while noise < MOST_NOISE:
            K[np.diag_indices(len(y))] += added
            upper, failed = scipy.linalg.lapack.dpotrf(K, lower=0, clean=1)
            if not failed:
                return LearntSet(kernel, warp, warp.forward(y), upper, noise, doubt)
            added *= 10
            noise += added
        raise ValueError("the covariance of the costs is singular")

    def solve(self, right: FloatArray) -> FloatArray:
        """K^-1 times that."""
        return np.asarray(scipy.linalg.lapack.dpotrs(self.upper, right)[0])

    def forward(self, right: FloatArray) -> FloatArray:
        """L^-1 times that, where L L^T = K."""
        return np.asarray(
            scipy.linalg.solve_triangular(self.upper, right, trans="T", check_finite=False)
        )

    @cached_property
    def inverse(self) -> FloatArray:
        """K^-1 (n, n)."""
        half = np.triu(scipy.linalg.lapack.dpotri(self.upper, lower=0)[0])
        return np.asarray(half + np.triu(half, 1).T)

    def left_out(self, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """How far warped costs of rows are from what all others say, and how far that may be."""
        chosen = np.zeros((len(self.z), len(rows)))
        chosen[rows, np.arange(len(rows))] = 1.0
        block = np.linalg.inv(self.solve(chosen)[rows])
        spread = np.sqrt(np.maximum(np.diagonal(block), JITTER))
        return block @ self.solve(self.z)[rows], spread

    def left_out_singly(self) -> FloatArray:
        """How far each warped cost is from what all others say, in standard deviations (Rasmussen and
        Williams 2006, Eq. 5.12), (n,)."""
        half = self.forward(np.eye(len(self.z)))
        return np.asarray(self.solve(self.z) / np.sqrt(np.square(half).sum(axis=0)))

    def draw(
        self, features: FloatArray, count: int, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Weights (weights, count) and trends (count,) of functions of warped costs."""
        variances = self.kernel.prior_variances()[:, None]
        w = np.sqrt(variances) * rng.normal(size=(len(variances), count))
        trend = TREND * rng.normal(size=count)
        spread = np.sqrt(self.kernel.hyper.noise + self.doubt**2)[:, None]
        noise = spread * rng.normal(size=(len(self.z), count))
        wrong = self.solve(self.z[:, None] - features @ w - trend - noise)
        return w + variances * (features.T @ wrong), trend + TREND**2 * wrong.sum(axis=0)
