"""The Gaussian process as a surrogate: fit, predict, leave out, explain.

As in Moosbauer et al. 2021 and Croppi 2021 (DiceKriging there): constant trend, Matern-3/2 by column,
maximum likelihood, predictions of noisy costs. Averages over the space are closed forms: see
averages.py, partial_dependence.py and anova.py. Symbols: see posterior.py.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Self

import numpy as np
import scipy

from hyperlens.spaces.cube import Box, Cube, FloatArray, IntArray
from hyperlens.surrogates.gaussian_process import anova
from hyperlens.surrogates.gaussian_process.hyperparameters import NOISIEST, Hyper, Plan
from hyperlens.surrogates.gaussian_process.kernels import Factor, factors_of, gram
from hyperlens.surrogates.gaussian_process.likelihood import Solution, estimate
from hyperlens.surrogates.gaussian_process.partial_dependence import Marginal, partial_dependence
from hyperlens.surrogates.gaussian_process.posterior import Parameters, Posterior, condition

SMALLEST_NUGGET = 1e-10  # below it duplicated rows make the covariance singular
LARGEST = 1e150  # of a cost
CHUNK = 512  # rows predicted at once
NEGLIGIBLE = 1e-12  # a variance of the mean below this part of the total is rounding


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
        self._cube, self.nugget, self.starts = cube, nugget, starts
        self.seed, self.max_fit, self.fitted_on = seed, max_fit, 0
        self._posterior: Posterior | None = None

    # What it is conditioned on

    @property
    def posterior(self) -> Posterior:
        if self._posterior is None:
            raise ValueError("fit the Gaussian process first")
        return self._posterior

    @property
    def parameters(self) -> Parameters:
        return self.posterior.parameters

    @property
    def cube(self) -> Cube:
        return self.posterior.cube

    @property
    def X(self) -> FloatArray:
        """Vectors it is conditioned on."""
        return self.posterior.X

    @property
    def y(self) -> FloatArray:
        """Costs it is conditioned on."""
        return self.posterior.y

    @property
    def factors(self) -> tuple[Factor, ...]:
        """The kernel's factor of each column."""
        return self.posterior.factors

    @property
    def beta(self) -> FloatArray:
        """R^-1 (y - mu), shape (n,)."""
        return self.posterior.beta

    @property
    def upper_inverse(self) -> FloatArray:
        """U^-1 (n, n) of R = U'U, so that R^-1 = U^-1 U^-T."""
        return self.posterior.upper_inverse

    # Fitting

    def fit(self, X: FloatArray, y: FloatArray) -> Self:
        """Estimate the hyperparameters and condition on X (n, d) and costs y (n,)."""
        cube = Cube.continuous(np.shape(X)[-1]) if self._cube is None else self._cube
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
        hyper, solution = _on_all_rows(cube, hyper, X, standard)
        variance = max(solution.variance, 0.0) * spread**2
        parameters = Parameters.of(cube, hyper, variance, centre + spread * solution.trend)
        self._posterior = Posterior(cube, parameters, X, y, solution.upper, spread * solution.beta)
        return self

    @classmethod
    def from_parameters(
        cls, cube: Cube, parameters: Parameters, X: FloatArray, y: FloatArray
    ) -> Self:
        """Condition on data with parameters that are known, nothing estimated."""
        X, y = _checked(cube, X, y)
        solution = condition(parameters.factors(cube), parameters.nugget, X, y, parameters.trend)
        model = cls(cube)
        model._posterior = Posterior(cube, parameters, X, y, solution.upper, solution.beta)
        return model

    # Predicting

    def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of a new cost at vectors X (m, d), noise included unless it is
        quiet.

        mu + s k'beta and v (1 - s^2 k'R^-1 k) (Rasmussen and Williams 2006, Eq. 2.25 and 2.26, with
        the noise): no term for the uncertainty of the trend.
        """
        state = self.posterior
        X = _vectors(state.cube, X)
        never = [j for j, rho in enumerate(state.parameters.rhos) if rho is None]
        if np.isnan(X[:, never]).any():
            raise ValueError("nan in a column that is never inactive")
        s, v, whole = state.signal, state.parameters.variance, state.whole
        mean, variance = np.empty(len(X)), np.empty(len(X))
        for first in range(0, len(X), CHUNK):
            rows = slice(first, first + CHUNK)
            k = s * gram(state.factors, X[rows], state.X)
            mean[rows] = state.parameters.trend + k @ state.beta
            half = scipy.linalg.solve_triangular(
                state.upper, k.T, trans=1, check_finite=False
            )  # U^-T s k
            variance[rows] = v * np.maximum(whole - np.einsum("nm,nm->m", half, half), 0)
        return mean, np.sqrt(variance)

    def mean(self, X: FloatArray) -> FloatArray:
        """The mean of `predict` alone, at vectors X (m, d)."""
        state = self.posterior
        X, s = _vectors(state.cube, X), state.signal
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
        state = self.posterior
        s, v, whole = state.signal, state.parameters.variance, state.whole
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
            half = scipy.linalg.blas.dtrmm(1.0, state.upper_inverse, k, side=1, overwrite_b=1)
            variance[:, g] = v * np.maximum(whole - np.einsum("mn,mn->m", half, half), 0)

        with ThreadPoolExecutor() as pool:
            list(pool.map(one, range(len(grid))))
        return mean, variance

    def holdout(self, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """Prediction of training rows as if these rows had been left out, parameters kept.

        With B the rows: mean y_B - (Q_BB)^-1 beta_B, covariance v (Q_BB)^-1, where Q = R^-1
        (Rasmussen and Williams 2006, Eq. 5.12, for several rows at once).
        """
        state = self.posterior
        inverse = np.linalg.inv(state.inverse[np.ix_(rows, rows)])
        spread = np.sqrt(state.parameters.variance * np.maximum(np.diagonal(inverse), 0))
        return state.y[rows] - inverse @ state.beta[rows], spread

    # Explaining

    def partial_dependence(
        self, columns: tuple[int, ...], grid: FloatArray, region: Box | None = None
    ) -> Marginal:
        """Exact partial dependence of `columns` at the grid points (g, len(columns)).

        The other columns are averaged over the latent measure, in `region` only where given: a
        column named there counts as active and inside. Only configurations in which all of
        `columns` are active count (Moosbauer et al. 2021, Appendix B), so a grid value of a parent fixes
        what it activates.
        """
        return partial_dependence(self.posterior, columns, grid, region or {})

    def shares(self, order: int = 2) -> dict[tuple[int, ...], float]:
        """Functional ANOVA of the posterior mean: V_U / V for all U of at most `order` columns.

        On the latents: a child's latent is free where the child is inactive. All 0 if the mean
        does not vary, or by less than rounding: V is a sum of beta_i beta_l P_il, whose errors add
        up to about the machine's epsilon times the sum of beta_i^2.
        """
        if order < 1:
            raise ValueError(f"order {order} must be at least 1 (main effects)")
        state, total = self.posterior, self.variance
        effects = anova.effects(state, order)
        weights = state.signal * state.beta
        rounding = np.finfo(float).eps * float(weights @ weights)
        if total <= max(NEGLIGIBLE * state.parameters.variance, rounding):
            return dict.fromkeys(effects, 0.0)
        return {U: value / total for U, value in effects.items()}

    @property
    def variance(self) -> float:
        """V, the variance of the posterior mean over the latent measure."""
        return anova.variance(self.posterior)


def _on_all_rows(cube: Cube, hyper: Hyper, X: FloatArray, y: FloatArray) -> tuple[Hyper, Solution]:
    """Condition on all rows; a nugget too small for so many rows is raised until R is regular."""
    factors = factors_of(cube, hyper.scales, hyper.rhos)
    while True:
        try:
            return hyper, condition(factors, hyper.nugget, X, y)
        except np.linalg.LinAlgError:
            hyper = replace(hyper, nugget=min(10 * hyper.nugget, NOISIEST))


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
