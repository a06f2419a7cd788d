"""A Gaussian process conditioned on data: its parameters, and what solving them gave.

Symbols
    n, d     rows and columns of X
    K        kernel matrix, a product of factors over columns
    g, s     relative nugget, the noise's part of the total variance v; s = 1 - g
    R        s K + g I, so that v R is the covariance of the costs; R = U'U
    mu       trend
    beta     R^-1 (y - mu); the posterior mean at x is mu + s sum_i beta_i k(x, c_i)
    Q        R^-1
All parameters are in the units of the costs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from hyperlens.spaces.cube import Cube, FloatArray
from hyperlens.surrogates.gaussian_process.averages import Averages
from hyperlens.surrogates.gaussian_process.hyperparameters import Hyper
from hyperlens.surrogates.gaussian_process.kernels import Factor, factors_of, gram, is_category
from hyperlens.surrogates.gaussian_process.likelihood import Solution, invert, solve


@dataclass(frozen=True)
class Parameters:
    """What was estimated; None where a column has no such parameter."""

    lengthscales: tuple[float | None, ...]
    thetas: tuple[float | None, ...]
    rhos: tuple[float | None, ...]
    nugget: float  # the noise's part of `variance`
    variance: float  # total, noise included
    trend: float
    quiet: bool = False  # whether true costs are predicted, without the noise

    def to_dict(self) -> dict[str, Any]:
        plain = {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}
        if not self.quiet:
            del plain["quiet"]
        return plain

    @staticmethod
    def from_dict(stored: Mapping[str, Any]) -> Parameters:
        fields: dict[str, Any] = dict(stored)
        columns = ("lengthscales", "thetas", "rhos")
        return Parameters(**{**fields, **{name: tuple(fields[name]) for name in columns}})

    @staticmethod
    def of(cube: Cube, hyper: Hyper, variance: float, trend: float) -> Parameters:
        category = [is_category(a) for a in cube.axes]
        scales = [float(s) for s in hyper.scales]
        return Parameters(
            tuple(None if c else s for c, s in zip(category, scales, strict=True)),
            tuple(s if c else None for c, s in zip(category, scales, strict=True)),
            tuple(None if np.isnan(r) else float(r) for r in hyper.rhos),
            hyper.nugget,
            variance,
            trend,
        )

    def factors(self, cube: Cube) -> tuple[Factor, ...]:
        both = zip(self.lengthscales, self.thetas, strict=True)
        scales = [length if theta is None else theta for length, theta in both]
        return factors_of(cube, [s for s in scales if s is not None], self.rhos)


@dataclass(frozen=True)
class Posterior:
    """Parameters and data; see the symbols."""

    cube: Cube
    parameters: Parameters
    X: FloatArray
    y: FloatArray
    upper: FloatArray  # U (n, n)
    beta: FloatArray  # (n,)

    @property
    def signal(self) -> float:
        """s."""
        return 1 - self.parameters.nugget

    @property
    def whole(self) -> float:
        """The part of v that a prediction without any data has: all, or s without the noise."""
        return self.signal if self.parameters.quiet else 1.0

    @cached_property
    def factors(self) -> tuple[Factor, ...]:
        return self.parameters.factors(self.cube)

    @cached_property
    def averages(self) -> Averages:
        return Averages(self.cube, self.factors, self.X)

    @cached_property
    def upper_inverse(self) -> FloatArray:
        """U^-1 (n, n), so that Q = U^-1 U^-T."""
        inverse, _ = scipy.linalg.lapack.dtrtri(self.upper)
        return np.asfortranarray(np.triu(inverse))

    @cached_property
    def inverse(self) -> FloatArray:
        """Q (n, n)."""
        lower = np.tril(invert(self.upper))
        return np.asarray(lower + np.tril(lower, -1).T)


def condition(
    factors: tuple[Factor, ...],
    nugget: float,
    X: FloatArray,
    y: FloatArray,
    trend: float | None = None,
) -> Solution:
    """Solve R = (1 - g) K + g I for the costs; raises LinAlgError where R is singular."""
    R = (1 - nugget) * gram(factors, X, X)
    np.fill_diagonal(R, 1.0)
    return solve(R, y, trend)
