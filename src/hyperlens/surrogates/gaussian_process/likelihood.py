"""Maximum likelihood for the Gaussian process: the profiled likelihood, its gradient and its search.

Symbols of hyperparameters.py, and
    n        rows of X
    pairs    the m = n (n - 1) / 2 pairs i > l of rows; a kernel matrix is kept as its m entries
             below the diagonal, for its diagonal is 1
    K        kernel matrix, product of factors
    R        (1 - g) K + g I, so that v R is the covariance of the costs
    mu       trend by generalised least squares, 1' R^-1 y / 1' R^-1 1
    beta     R^-1 (y - mu)
    v        total variance that maximises the likelihood, (y - mu)' beta / n
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from hyperlens.spaces.cube import Axis, Cube, FloatArray, IntArray
from hyperlens.surrogates.gaussian_process.hyperparameters import Hyper, Plan
from hyperlens.surrogates.gaussian_process.kernels import TOGETHER, is_category
from hyperlens.surrogates.gaussian_process.matern import SQRT3, matern, matern_slope
from hyperlens.surrogates.threads import one_thread

SCREENED_ROWS = 150
SCREENED_STARTS = 10  # for each start that is optimised
SINGULAR, TINY = 1e10, 1e-300  # instead of an infinite likelihood, and of no variance
POLISHED = 2  # optima on the screened rows that are optimised again on all rows


@dataclass(frozen=True)
class Solution:
    """Upper Cholesky factor of R, beta, mu, the profiled total variance v and log det R."""

    upper: FloatArray  # (n, n)
    beta: FloatArray  # (n,)
    trend: float
    variance: float
    log_det: float


def solve(R: FloatArray, y: FloatArray, trend: float | None = None) -> Solution:
    """Factorise R (C order, lower triangle read, overwritten) and estimate what is profiled."""
    upper, failed = scipy.linalg.lapack.dpotrf(R.T, lower=0, overwrite_a=1, clean=1)
    if failed:
        raise np.linalg.LinAlgError("the covariance matrix is singular: raise the nugget")
    both, _ = scipy.linalg.lapack.dpotrs(upper, np.column_stack([y, np.ones(len(y))]), lower=0)
    if trend is None:
        trend = float(both[:, 0].sum() / both[:, 1].sum())
    beta = both[:, 0] - trend * both[:, 1]
    log_det = 2 * float(np.log(np.diagonal(upper)).sum())
    return Solution(upper, beta, trend, float((y - trend) @ beta) / len(y), log_det)


def invert(upper: FloatArray, overwrite: bool = False) -> FloatArray:
    """Lower triangle of R^-1 in C order; what lies above the diagonal is arbitrary."""
    inverse, _ = scipy.linalg.lapack.dpotri(upper, lower=0, overwrite_c=overwrite)
    return np.asarray(inverse.T)


@dataclass(frozen=True)
class PairsOfRows:
    """One categorical or conditional column at all pairs; most pairs of a rare child have k = 1."""

    ordered: bool
    conditional: bool
    near: IntArray  # pairs of which both rows are active, and differ
    distance: FloatArray  # |x - x'| there, 1 for categories
    one: IntArray  # pairs of which exactly one row is active: k = rho

    @staticmethod
    def of(axis: Axis, x: FloatArray, rows: tuple[IntArray, ...], conditional: bool) -> PairsOfRows:
        first, second = x[rows[0]], x[rows[1]]
        distance = np.abs(first - second)
        near = np.flatnonzero(distance > 0)  # nan is not
        ordered = not is_category(axis)
        one = np.flatnonzero(np.isnan(first) ^ np.isnan(second))
        at = distance[near] if ordered else np.ones(len(near))
        return PairsOfRows(ordered, conditional, near, at, one)

    def evaluate(self, scale: float, rho: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """At `near`: k, d log k / d scale (log l or theta), d log k / d rho."""
        if self.ordered:
            z = SQRT3 / scale * self.distance
            k, slope = matern(z), matern_slope(z)
        else:
            k, slope = np.full(len(self.near), scale), self.distance
        if not self.conditional:
            return k, slope / np.maximum(k, 1e-300), np.zeros(len(k))
        mixed = rho**2 + (1 - rho**2) * k
        return mixed, (1 - rho**2) * slope / mixed, 2 * rho * (1 - k) / mixed


class Likelihood:
    """Minus the profiled log likelihood per row and its gradient, as a function of Plan's vector.

    0.5 (log v + log det R / n) up to a constant; with W = R^-1 - beta beta' / v its derivative is
    tr(W dR) / 2n (Rasmussen and Williams 2006, Eq. 5.9), and dR has a zero diagonal, so the sum runs
    over pairs.
    """

    def __init__(self, cube: Cube, X: FloatArray, y: FloatArray, plan: Plan) -> None:
        self.y, self.plan, self.n = y, plan, len(y)
        self.rows = np.tril_indices(self.n, -1)
        self.flat = self.rows[0] * self.n + self.rows[1]
        conditional = ~np.isnan(plan.fixed.rhos)
        free = sorted({*plan.scales.tolist(), *plan.rhos.tolist()})  # the others have k = 1
        self.plain: list[tuple[int, FloatArray]] = []  # Matern without rho: distances
        self.mixed: list[tuple[int, PairsOfRows]] = []
        for j in free:
            axis, x = cube.axes[j], X[:, j]
            if conditional[j] or is_category(axis):
                self.mixed.append((j, PairsOfRows.of(axis, x, self.rows, bool(conditional[j]))))
            else:
                self.plain.append((j, np.abs(x[self.rows[0]] - x[self.rows[1]])))

    def __call__(self, vector: FloatArray) -> tuple[float, FloatArray]:
        hyper = self.plan.hyper(vector)
        K, slopes = self._product(hyper)
        try:
            solution = self._solved(hyper, K)
        except np.linalg.LinAlgError:
            return SINGULAR, np.zeros(len(vector))
        return self._value(solution), self._slope(hyper, K, slopes, solution)

    def value(self, vector: FloatArray) -> float:
        """Without the gradient, which takes most of the time."""
        hyper = self.plan.hyper(vector)
        try:
            return self._value(self._solved(hyper, self._product(hyper)[0]))
        except np.linalg.LinAlgError:
            return SINGULAR

    def _product(self, hyper: Hyper) -> tuple[FloatArray, list[list[FloatArray]]]:
        """The product of the factors at all pairs (m,), and d log k of the mixed ones."""
        K = self._plain_product(hyper)
        slopes = []
        for j, pairs in self.mixed:
            k, *by_both = pairs.evaluate(hyper.scales[j], hyper.rhos[j])
            K[pairs.near] *= k
            K[pairs.one] *= hyper.rhos[j]
            slopes.append(by_both)
        return K, slopes

    def _solved(self, hyper: Hyper, K: FloatArray) -> Solution:
        R = np.zeros(self.n * self.n)
        R[self.flat] = (1 - hyper.nugget) * K
        R[:: self.n + 1] = 1.0
        return solve(R.reshape(self.n, self.n), self.y)

    def _value(self, solution: Solution) -> float:
        return float(0.5 * (np.log(max(solution.variance, TINY)) + solution.log_det / self.n))

    def _slope(
        self, hyper: Hyper, K: FloatArray, slopes: list[list[FloatArray]], solution: Solution
    ) -> FloatArray:
        """By the free hyperparameters; the factor in `solution` is overwritten."""
        variance = max(solution.variance, TINY)
        # W, times K: what each d log k is multiplied with
        scaled = solution.beta / np.sqrt(variance)
        W = invert(solution.upper, overwrite=True).ravel()[self.flat]
        W -= scaled[self.rows[0]] * scaled[self.rows[1]]
        W *= K
        # tr(W dR) by scale and by rho
        by = np.zeros((2, len(hyper.scales)))
        for j, distance in self.plain:  # d log k / d log l = z^2 / (1 + z)
            z = SQRT3 / hyper.scales[j] * distance
            by[0, j] = _dot(W, z * z / (1 + z))
        for (j, pairs), (by_scale, by_rho) in zip(self.mixed, slopes, strict=True):
            near = W[pairs.near]
            by[0, j] = _dot(near, by_scale)
            by[1, j] = _dot(near, by_rho) + W[pairs.one].sum() / hyper.rhos[j]
        parts = [(1 - hyper.nugget) * by[0, self.plan.scales]]
        parts.append((1 - hyper.nugget) * by[1, self.plan.rhos])
        if self.plan.nugget:
            parts.append(np.array([-2 * np.sqrt(hyper.nugget) * W.sum()]))
        return np.concatenate(parts) / self.n

    def _plain_product(self, hyper: Hyper) -> FloatArray:
        """Product of the Matern factors that have no rho, shape (m,)."""
        K = np.ones(len(self.flat))
        for first in range(0, len(self.plain), TOGETHER):
            exponent = np.zeros(len(self.flat))
            for j, distance in self.plain[first : first + TOGETHER]:
                z = SQRT3 / hyper.scales[j] * distance
                exponent -= z
                z += 1
                K *= z
            K *= np.exp(exponent)
        return K


def estimate(
    cube: Cube, X: FloatArray, y: FloatArray, nugget: float | None, starts: int, seed: int
) -> Hyper:
    """Maximum-likelihood hyperparameters for standardised costs.

    Many starts are screened by one evaluation each, on a subset of the rows if there are many; the
    best `starts` are optimised there, and the best of those again on all rows.
    """
    rng = np.random.default_rng(seed)
    plan = Plan.of(cube, X, nugget)
    if not len(plan.bounds):
        return plan.fixed
    few = np.sort(rng.permutation(len(y))[:SCREENED_ROWS])
    with one_thread():  # on matrices this small threads cost up to 3 times
        screen = Likelihood(cube, X[few], y[few], plan)
        candidates = plan.starts(SCREENED_STARTS * starts, rng)
        ranking = np.argsort([screen.value(c) for c in candidates], kind="stable")
        best = _optimise(screen, candidates[ranking[:starts]])
        if len(few) < len(y):
            best = _optimise(Likelihood(cube, X, y, plan), best[:POLISHED])
    return plan.hyper(best[0])


def _dot(a: FloatArray, b: FloatArray) -> float:
    """Inner product; not by BLAS, whose threads cost more than they bring on long vectors."""
    return float(np.einsum("m,m->", a, b))


def _optimise(likelihood: Likelihood, vectors: FloatArray) -> FloatArray:
    """Local optima reached from each of `vectors`, best first."""
    bounds = likelihood.plan.bounds
    options = {"maxiter": 200, "ftol": 1e-10, "gtol": 1e-6}
    optima = [
        scipy.optimize.minimize(
            likelihood, v, jac=True, method="L-BFGS-B", bounds=bounds, options=options
        )
        for v in vectors
    ]
    return np.array([r.x for r in sorted(optima, key=lambda r: float(r.fun))])
