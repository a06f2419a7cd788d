"""Gaussian process on the tensor product of one-dimensional kernel factors.

The surrogate of Moosbauer et al. 2021 and Croppi 2021 (DiceKriging there): constant trend, Matern-3/2 by column, maximum
likelihood, predictions of noisy costs. Averages over the space are closed forms, see averages.py.

Symbols: see gp_fit.py. All parameters are in the units of the costs.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.blas import dtrmm
from scipy.linalg.lapack import dtrtri

from hyperlens.spaces.cube import Axis, Box, Cube, FloatArray, IntArray
from hyperlens.surrogates.gaussian_process.closed_forms import Averages, Marginal, Posterior
from hyperlens.surrogates.gaussian_process.kernels import Factor, factor, gram
from hyperlens.surrogates.gaussian_process.likelihood import (
    NOISIEST,
    Hyper,
    Plan,
    Solved,
    estimate,
    invert,
    solve,
)

SMALLEST_NUGGET = 1e-10  # below it duplicated rows make the covariance singular
LARGEST = 1e150  # of a cost
CHUNK = 512  # rows predicted at once
NEGLIGIBLE = 1e-12  # a variance of the mean below this part of the total is rounding


@dataclass(frozen=True)
class Parameters:
    """What was estimated; None where a column has no such parameter."""

    lengthscales: tuple[float | None, ...]
    thetas: tuple[float | None, ...]
    rhos: tuple[float | None, ...]
    nugget: float  # the noise's part of `variance`
    variance: float  # total, noise included
    trend: float

    def to_dict(self) -> dict[str, Any]:
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}

    @staticmethod
    def from_dict(stored: Mapping[str, Any]) -> Parameters:
        fields: dict[str, Any] = dict(stored)
        columns = ("lengthscales", "thetas", "rhos")
        return Parameters(**{**fields, **{name: tuple(fields[name]) for name in columns}})

    @staticmethod
    def of(cube: Cube, hyper: Hyper, solved: Solved) -> Parameters:
        category = [_is_category(a) for a in cube.axes]
        scales = [float(s) for s in hyper.scales]
        return Parameters(
            tuple(None if c else s for c, s in zip(category, scales, strict=True)),
            tuple(s if c else None for c, s in zip(category, scales, strict=True)),
            tuple(None if np.isnan(r) else float(r) for r in hyper.rhos),
            hyper.nugget,
            max(solved.variance, 0.0),
            solved.trend,
        )

    def factors(self, cube: Cube) -> tuple[Factor, ...]:
        scales = (
            theta if length is None else length
            for length, theta in zip(self.lengthscales, self.thetas, strict=True)
        )
        return tuple(
            factor(axis, scale, rho)
            for axis, scale, rho in zip(cube.axes, scales, self.rhos, strict=True)
            if scale is not None
        )


class GP:
    """A Gaussian process of costs on vectors of the unit cube, nan where a column is inactive.

    `nugget` None estimates the noise, a number fixes its part of the total variance (1e-8 for a
    deterministic function). `starts` local searches are run. With more than `max_fit` rows the
    hyperparameters come from a seeded sample of that many (`fitted_on`), and the process is then
    conditioned on all rows, which takes O(n^3).

    >>> X = np.linspace(0, 1, 9)[:, None]
    >>> mean, std = GP(nugget=1e-8).fit(X, X[:, 0] ** 2).predict(np.array([[0.3]]))
    >>> bool(abs(mean[0] - 0.09) < 0.01)
    True
    """

    def __init__(
        self,
        cube: Cube | None = None,
        nugget: float | None = None,
        starts: int = 4,
        seed: int = 0,
        max_fit: int = 500,
    ) -> None:
        if nugget is not None and not SMALLEST_NUGGET <= nugget < 1:
            raise ValueError(f"nugget {nugget} must lie in [{SMALLEST_NUGGET}, 1)")
        self.given, self.nugget, self.starts = cube, nugget, starts
        self.seed, self.max_fit, self.fitted_on = seed, max_fit, 0
        self._state: _Conditioned | None = None

    @property
    def parameters(self) -> Parameters:
        return self._conditioned.parameters

    @property
    def cube(self) -> Cube:
        return self._conditioned.cube

    @property
    def X(self) -> FloatArray:
        """Vectors it is conditioned on."""
        return self._conditioned.X

    @property
    def y(self) -> FloatArray:
        """Costs it is conditioned on."""
        return self._conditioned.y

    @property
    def factors(self) -> tuple[Factor, ...]:
        """The kernel's factor of each column."""
        return self._conditioned.factors

    @property
    def beta(self) -> FloatArray:
        """R^-1 (y - mu), shape (n,)."""
        return self._conditioned.beta

    @property
    def upper_inverse(self) -> FloatArray:
        """U^-1 (n, n) of R = U'U, so that R^-1 = U^-1 U^-T."""
        return self._conditioned.upper_inverse

    def fit(self, X: FloatArray, y: FloatArray) -> Self:
        """Estimate the hyperparameters and condition on X (n, d) and costs y (n,)."""
        cube = Cube.continuous(np.shape(X)[-1]) if self.given is None else self.given
        X, y = _checked(cube, X, y)
        centre, spread = float(y.mean()), float(y.std())
        if np.ptp(y) == 0 or spread == 0:
            centre, spread = float(y[0]), 0.0
        standard = (y - centre) / spread if spread else np.zeros(len(y))
        rows = np.arange(len(y))
        if len(y) > self.max_fit:
            rows = np.sort(np.random.default_rng(self.seed).permutation(rows)[: self.max_fit])
        self.fitted_on = len(rows)
        if spread and np.ptp(standard[rows]) > 0:
            hyper = estimate(cube, X[rows], standard[rows], self.nugget, self.starts, self.seed)
        else:
            hyper = Plan.of(cube, X, NOISIEST if self.nugget is None else self.nugget).fixed
        hyper, solved = _solve(cube, hyper, X, standard)
        relative = Parameters.of(cube, hyper, solved)
        parameters = replace(
            relative,
            variance=relative.variance * spread**2,
            trend=centre + spread * relative.trend,
        )
        self._state = _Conditioned(cube, parameters, X, y, solved.upper, spread * solved.beta)
        return self

    @classmethod
    def from_parameters(
        cls, cube: Cube, parameters: Parameters, X: FloatArray, y: FloatArray
    ) -> Self:
        """Condition on data with parameters that are known, nothing estimated."""
        X, y = _checked(cube, X, y)
        model = cls(cube)
        factors = parameters.factors(cube)
        solved = solve(_correlation(factors, parameters.nugget, X), y, parameters.trend)
        model._state = _Conditioned(cube, parameters, X, y, solved.upper, solved.beta)
        return model

    def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of a new cost, noise included, at vectors X (m, d).

        mu + s k'beta and v (1 - s^2 k'R^-1 k): no term for the uncertainty of the trend.
        """
        state = self._conditioned
        X = _vectors(state.cube, X)
        never = [j for j, rho in enumerate(state.parameters.rhos) if rho is None]
        if np.isnan(X[:, never]).any():
            raise ValueError("nan in a column that is never inactive")
        s, v = 1 - state.parameters.nugget, state.parameters.variance
        mean, variance = np.empty(len(X)), np.empty(len(X))
        for first in range(0, len(X), CHUNK):
            rows = slice(first, first + CHUNK)
            k = s * gram(state.factors, X[rows], state.X)
            mean[rows] = state.parameters.trend + k @ state.beta
            half = solve_triangular(state.upper, k.T, trans=1, check_finite=False)
            variance[rows] = v * np.maximum(1 - np.einsum("nm,nm->m", half, half), 0)
        return mean, np.sqrt(variance)

    def mean(self, X: FloatArray) -> FloatArray:
        """The mean of `predict` alone, at vectors X (m, d)."""
        state = self._conditioned
        X, s = _vectors(state.cube, X), 1 - state.parameters.nugget
        parts = [
            gram(state.factors, X[first : first + CHUNK], state.X) @ (s * state.beta)
            for first in range(0, len(X), CHUNK)
        ]
        return np.asarray(state.parameters.trend + np.concatenate(parts))

    def curves(
        self, columns: tuple[int, ...], grid: FloatArray, X: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Mean and variance at every row of X (m, d) with `columns` set to each grid point, (m, g).

        The same as `predict` row by row, but what the other columns contribute is computed once.
        """
        state = self._conditioned
        s, v = 1 - state.parameters.nugget, state.parameters.variance
        others = [j for j in range(state.cube.d) if j not in columns]
        rest = s * gram([state.factors[j] for j in others], X[:, others], state.X[:, others])
        rest = np.asfortranarray(rest)
        mean, variance = np.empty((2, len(X), len(grid)))

        def one(g: int) -> None:
            own = np.ones(len(state.X))
            for j, x in zip(columns, grid[g], strict=True):
                own *= state.factors[j].value(np.array([[x]]), state.X[None, :, j])[0]
            k = rest * own
            mean[:, g] = state.parameters.trend + k @ state.beta
            half = dtrmm(1.0, state.upper_inverse, k, side=1, overwrite_b=1)
            variance[:, g] = v * np.maximum(1 - np.einsum("mn,mn->m", half, half), 0)

        with ThreadPoolExecutor() as pool:
            list(pool.map(one, range(len(grid))))
        return mean, variance

    def holdout(self, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """Prediction of training rows as if these rows had been left out, parameters kept.

        With B the rows: mean y_B - (Q_BB)^-1 beta_B, covariance v (Q_BB)^-1, where Q = R^-1.
        """
        state = self._conditioned
        inverse = np.linalg.inv(state.posterior.inverse[np.ix_(rows, rows)])
        spread = np.sqrt(state.parameters.variance * np.maximum(np.diagonal(inverse), 0))
        return state.y[rows] - inverse @ state.beta[rows], spread

    def partial_dependence(
        self, columns: tuple[int, ...], grid: FloatArray, region: Box | None = None
    ) -> Marginal:
        """Exact partial dependence of `columns` at the grid points (g, len(columns)).

        The other columns are averaged over the latent measure, in `region` only where given: a
        column named there counts as active and inside. Only configurations in which all of
        `columns` are active count (Moosbauer et al. 2021, Appendix B), so a grid value of a parent fixes what it
        activates.
        """
        state = self._conditioned
        return state.averages.partial_dependence(state.posterior, columns, grid, region or {})

    def shares(self, order: int = 2) -> dict[tuple[int, ...], float]:
        """Functional ANOVA of the posterior mean: V_U / V for all U of at most `order` columns.

        On the latents: a child's latent is free where the child is inactive. All 0 if the mean
        does not vary, or by less than rounding: V is a sum of beta_i beta_l P_il, whose errors add
        up to about the machine's epsilon times the sum of beta_i^2.
        """
        if order < 1:
            raise ValueError(f"order {order} must be at least 1 (main effects)")
        state, total = self._conditioned, self.variance
        effects = state.averages.effects(state.posterior, order)
        weights = (1 - state.parameters.nugget) * state.beta
        rounding = np.finfo(float).eps * float(weights @ weights)
        if total <= max(NEGLIGIBLE * state.parameters.variance, rounding):
            return dict.fromkeys(effects, 0.0)
        return {U: value / total for U, value in effects.items()}

    @property
    def variance(self) -> float:
        """V, the variance of the posterior mean over the latent measure."""
        return self._conditioned.averages.total(self._conditioned.posterior)

    @property
    def _conditioned(self) -> _Conditioned:
        if self._state is None:
            raise ValueError("fit the Gaussian process first")
        return self._state


@dataclass(frozen=True)
class _Conditioned:
    """Parameters, data and what solving them gave."""

    cube: Cube
    parameters: Parameters
    X: FloatArray
    y: FloatArray
    upper: FloatArray  # (n, n) Cholesky factor of R
    beta: FloatArray  # (n,)

    @cached_property
    def factors(self) -> tuple[Factor, ...]:
        return self.parameters.factors(self.cube)

    @cached_property
    def upper_inverse(self) -> FloatArray:
        inverse, _ = dtrtri(self.upper)
        return np.asfortranarray(np.triu(inverse))

    @cached_property
    def averages(self) -> Averages:
        return Averages(self.cube, self.factors, self.X)

    @cached_property
    def posterior(self) -> Posterior:
        lower = np.tril(invert(self.upper))
        p = self.parameters
        inverse = lower + np.tril(lower, -1).T
        return Posterior(p.trend, p.variance, 1 - p.nugget, self.beta, inverse)


def _correlation(factors: tuple[Factor, ...], nugget: float, X: FloatArray) -> FloatArray:
    """R = (1 - g) K + g I."""
    R = (1 - nugget) * gram(factors, X, X)
    np.fill_diagonal(R, 1.0)
    return R


def _solve(cube: Cube, hyper: Hyper, X: FloatArray, y: FloatArray) -> tuple[Hyper, Solved]:
    """Condition on all rows; a nugget too small for so many rows is raised until R is regular."""
    while True:
        factors = tuple(
            factor(axis, float(scale), None if np.isnan(rho) else float(rho))
            for axis, scale, rho in zip(cube.axes, hyper.scales, hyper.rhos, strict=True)
        )
        try:
            return hyper, solve(_correlation(factors, hyper.nugget, X), y)
        except np.linalg.LinAlgError:
            hyper = replace(hyper, nugget=min(10 * hyper.nugget, NOISIEST))


def _is_category(axis: Axis) -> bool:
    return axis.codes is not None and not axis.ordered


def _vectors(cube: Cube, X: FloatArray) -> FloatArray:
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or X.shape[1] != cube.d:
        raise ValueError(f"X has shape {X.shape}, expected (n, {cube.d})")
    if np.isinf(X).any():
        raise ValueError("X holds an infinite number; vectors lie in [0, 1], nan where inactive")
    return X


def _checked(cube: Cube, X: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    X, y = _vectors(cube, X), np.asarray(y, dtype=np.float64)
    if y.shape != (len(X),) or not len(y):
        raise ValueError(f"y has shape {y.shape}, expected ({len(X)},) with at least one cost")
    if not np.isfinite(y).all():
        raise ValueError("y holds a cost that is not finite; drop failed trials or impute them")
    if np.abs(y).max() > LARGEST:
        raise ValueError(
            f"y holds a cost beyond {LARGEST:g}, whose square overflows; cap the costs"
        )
    return X, y
