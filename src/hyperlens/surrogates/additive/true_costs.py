"""What configurations truly cost, given what was measured of them: draws of all of them together.

A measured cost is a true one and noise; repeating a configuration gives new noise. For each set of
hyperparameters of an additive process (additive.py), which takes its kernel and the noise's variance g
from the costs, warped costs are

    z = f + h + noise,   Var h + Var noise = g

where f is the process and h what of the true costs it cannot tell: effects of more than three axes,
edges, roughness. h is a second process, of a product kernel or without any correlation. How much of g is
noise and over which distance h is alike is left open: each of some cases (CASES) weighs as much as its
prior times the likelihood of the costs. Repeats, if there are any, tell noise from an h without
correlation, and neighbours bound it (neighbours.py); without them nothing does, and the prior decides.
Where repeats are the same, or neighbours so alike that noise could not matter, costs are exact.

Given a set and a case true costs are normal:

    mean A K^-1 z,  covariance A - A K^-1 A,   A = cov(f + h),  K = A + noise / repeats

Drawn ones are brought back by the warp, averaged over the noise: the mean of infinitely many repeats.

Symbols
    m        configurations; r how often each was measured; z the mean of its warped costs
    W        sum of squares of warped costs within configurations, of nu degrees of freedom
    eta      noise's part of g; h has the rest
    l        length-scale of h, None where nothing is alike
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from hyperlens.spaces.cube import Cube, FloatArray, IntArray
from hyperlens.surrogates.additive.additive import NODE_WEIGHTS, NODES, Additive
from hyperlens.surrogates.additive.kernel import JITTER
from hyperlens.surrogates.additive.learnt_set import LearntSet
from hyperlens.surrogates.additive.neighbours import Neighbours
from hyperlens.surrogates.gaussian_process.kernels import factors_of, gram, is_category

DRAWS = 4096
MOST_RIVALS = 150  # configurations that are drawn: those that may be best
MOST_OBSERVED = 10  # and these of the lowest cost
MOST_CORRELATED = 700  # configurations up to which h may be correlated
NEGLIGIBLE = 0.01  # weight of a case, beside the largest, below which it is not drawn from
TOLD_APART = 0.05  # R2 of a cost by the others: if it is less, noise may be all there is
BY_CHANCE = 0.01  # probability by which noise alone passes for differences
REPEATED = 5  # rows of configurations that were measured before, from which on they tell the noise
QUIET = (
    (0.9, 1e-3),
    (0.5, 0.05),
)  # quantiles, parts of how far they are from the best: less noise is none
INACTIVE = 0.5  # correlation of h where a parameter is active and where it is not


@dataclass(frozen=True)
class Case:
    """What the noise and h are like, and how much is thought of it beforehand."""

    eta: float
    length: float | None
    prior: float


ETAS = (0.5, 0.2, 0.05, 0.01, 0.001)
LENGTHS = (1.0, 3.0)
ALL_NOISE, CORRELATED, ROUGH = 0.69, 0.3, 0.01  # prior of each kind of case
CASES = (
    Case(1.0, None, ALL_NOISE),
    *(Case(eta, None, ROUGH / len(ETAS)) for eta in ETAS),
    *(
        Case(eta, length, CORRELATED / len(ETAS) / len(LENGTHS))
        for eta in ETAS
        for length in LENGTHS
    ),
)
UNCORRELATED = CASES[: 1 + len(ETAS)]


@dataclass(frozen=True)
class Measured:
    """Configurations and what was measured of them: row i is of configuration `which[i]`."""

    X: FloatArray  # (m, d)
    y: FloatArray  # costs of all rows, (n,)
    which: IntArray  # (n,)

    @property
    def repeats(self) -> IntArray:
        """r."""
        return np.bincount(self.which, minlength=len(self.X))

    def means(self, values: FloatArray) -> FloatArray:
        """Of the rows of each configuration, (m,)."""
        return np.bincount(self.which, values, len(self.X)) / self.repeats

    @property
    def freedom(self) -> int:
        """nu."""
        return len(self.y) - len(self.X)

    @property
    def exact(self) -> bool:
        """Did all that was repeated come out the same?"""
        return self.freedom > 0 and bool((self.y == self.means(self.y)[self.which]).all())

    def within(self, values: FloatArray) -> float:
        """W."""
        return float(((values - self.means(values)[self.which]) ** 2).sum())


@dataclass(frozen=True)
class TrueCosts:
    """Draws of the true costs of `rivals`, and the expected ones of all configurations.

    `noise` is the standard deviation of a repeated cost where the best are, in each draw.
    """

    rivals: IntArray  # (s,)
    draws: FloatArray  # (D, s)
    expected: FloatArray  # (m,)
    noise: FloatArray  # (D,)

    @property
    def exact(self) -> bool:
        """Is there no noise?"""
        return not self.noise.any()

    @property
    def probability(self) -> FloatArray:
        """That each rival is the best of all, (s,)."""
        best = self.draws == self.draws.min(axis=1, keepdims=True)
        return np.asarray((best / best.sum(axis=1, keepdims=True)).mean(axis=0))


def true_costs(
    cube: Cube,
    measured: Measured,
    model: Additive,
    noise: float | None = None,
    seed: int = 0,
    among: IntArray | None = None,
    every: bool = False,
) -> TrueCosts:
    """Draws from the posterior; `model` has learnt from the same rows.

    `noise` is the standard deviation of a repeated cost where it is known. Rivals are those that may be
    the best of the configurations `among` which it is asked, or of all; `every` one of them, if asked.
    """
    among = np.arange(len(measured.X)) if among is None else among
    neighbours = Neighbours.of(cube, measured.X)
    if noise == 0 or (noise is None and _quiet(measured, neighbours)):
        costs = measured.means(measured.y)
        rivals = among if every else among[_lowest(costs[among], MOST_RIVALS)]
        return TrueCosts(rivals, costs[None, rivals], costs, np.zeros(1))
    rng = np.random.default_rng(seed)
    rows = model.components.rows(measured.X)
    cases = _cases(measured, noise)
    alike = {c.length: _alike(cube, measured.X, c.length) for c in cases}
    posteriors, weights = [], []
    for one in model.sets:
        K = one.kernel.gram(rows, rows)
        found = [_Posterior(one, K, alike[c.length], c, measured, noise) for c in cases]
        logs = np.array([p.log_likelihood + np.log(p.case.prior) for p in found])
        if noise is None:
            logs += [p.alike_enough(neighbours) for p in found]
        part = np.exp(logs - logs.max())
        posteriors += found
        weights.append(part / part.sum() / len(model.sets))
    weight = np.concatenate(weights)
    kept = np.flatnonzero(weight >= NEGLIGIBLE * weight.max())
    weight = weight[kept] / weight[kept].sum()
    chosen = [posteriors[k] for k in kept]
    expected = weight @ np.array([p.expected for p in chosen])
    lowest = weight @ np.array([p.lowest for p in chosen])
    observed = measured.means(measured.y)
    best = _may_be_best(lowest[among], expected[among], observed[among])
    rivals = among if every else among[best]
    counts = np.diff(np.floor(DRAWS * np.cumsum(weight) + rng.random()), prepend=0).astype(int)
    counts[-1] += DRAWS - counts.sum()
    drawn = [p.draw(rivals, k, rng) for p, k in zip(chosen, counts, strict=True) if k > 0]
    draws = np.vstack([d for d, _ in drawn])
    return TrueCosts(rivals, draws, expected, np.concatenate([s for _, s in drawn]))


def _quiet(measured: Measured, neighbours: Neighbours) -> bool:
    """Were repeats the same, or are neighbours so alike that a noise could not matter?"""
    if measured.freedom:
        return measured.exact
    costs = measured.means(measured.y)
    least = min(part * float(np.quantile(costs, q) - costs.min()) for q, part in QUIET)
    return neighbours.limit(costs) <= least**2


def _may_be_best(lowest: FloatArray, expected: FloatArray, observed: FloatArray) -> IntArray:
    rivals = np.union1d(_lowest(lowest + expected, MOST_RIVALS), _lowest(observed, MOST_OBSERVED))
    return np.union1d(rivals, np.argmin(expected))


def told_apart(measured: Measured, model: Additive) -> bool:
    """Is anything known of true costs: do repeats tell the noise, or the others anything of a cost
    (left out one by one: Rasmussen and Williams 2006, Eq. 5.12)?"""
    if measured.exact or measured.freedom >= REPEATED:
        return True
    return _beyond_chance(model, len(measured.y))


def _beyond_chance(model: Additive, n: int) -> bool:
    """Do the others tell more of a cost than they do of noise by chance?"""
    r2 = _told_by_others(model)
    if r2 < TOLD_APART or n <= 2:
        return False
    return r2 >= 1 or bool(scipy.stats.f.sf(r2 / (1 - r2) * (n - 2), 1, n - 2) < BY_CHANCE)


def _told_by_others(model: Additive) -> float:
    """R2 of a warped cost by the others, left out one by one."""
    inverse, z = model.mode.inverse, model.mode.z
    away = (inverse @ z) / np.diagonal(inverse)
    return float(1 - np.mean(away**2) / np.var(z))


def differ(measured: Measured, model: Additive) -> bool:
    """Do configurations truly differ, beyond what noise alone does by chance (F tests at BY_CHANCE)?

    Either the others tell something of a cost, or repeats of one configuration are more alike than
    those of different ones. Knowing how large the noise is, as repeats do, is not enough.
    """
    if measured.exact:
        return True
    if _beyond_chance(model, len(measured.y)):
        return True
    m, nu = len(measured.X), measured.freedom
    if m < 2 or nu < 1:
        return False
    z = model.mode.z
    within = measured.within(z) / nu
    between = float((measured.repeats * (measured.means(z) - z.mean()) ** 2).sum()) / (m - 1)
    return within == 0 or bool(scipy.stats.f.sf(between / within, m - 1, nu) < BY_CHANCE)


def _lowest(costs: FloatArray, most: int) -> IntArray:
    return np.sort(np.argsort(costs, kind="stable")[:most])


def _cases(measured: Measured, noise: float | None) -> tuple[Case, ...]:
    cases = CASES if len(measured.X) <= MOST_CORRELATED else UNCORRELATED
    if noise is not None:  # eta is not asked
        lengths = dict.fromkeys(c.length for c in cases)
        return tuple(Case(0.0, length, 1 / len(lengths)) for length in lengths)
    return cases


def _alike(cube: Cube, X: FloatArray, length: float | None) -> FloatArray:
    """Correlation of h, (m, m)."""
    if length is None:
        return np.eye(len(X))
    scales = [np.exp(-1 / length) if is_category(axis) else length for axis in cube.axes]
    off = np.isnan(X).any(axis=0) | np.isin(np.arange(cube.d), list(cube.conditions))
    return gram(factors_of(cube, scales, np.where(off, INACTIVE, np.nan)), X, X)


@dataclass(frozen=True)
class _Posterior:
    """Of warped true costs, given a set of hyperparameters and a case."""

    learnt: LearntSet
    K: FloatArray  # cov(f), (m, m)
    alike: FloatArray  # correlation of h, (m, m)
    case: Case
    measured: Measured
    known: float | None  # standard deviation of the noise

    @cached_property
    def noise(self) -> FloatArray:
        """Variance of the noise of one row of each configuration, (m,)."""
        measured, warp = self.measured, self.learnt.warp
        if self.known is not None:
            return np.asarray((self.known / warp.slope(measured.means(measured.y))) ** 2)
        return np.full(len(measured.X), self.case.eta * self.learnt.kernel.hyper.noise)

    @cached_property
    def _A(self) -> FloatArray:
        return self.K + (1 - self.case.eta) * self.learnt.kernel.hyper.noise * self.alike

    @cached_property
    def _upper(self) -> FloatArray:
        """Cholesky factor of K + noise, which is called K above."""
        total = self._A.copy()
        total[np.diag_indices(len(total))] += self.noise / self.measured.repeats + JITTER
        return np.asarray(scipy.linalg.cholesky(total, check_finite=False))

    def _forget(self) -> None:
        """Matrices, of which a large run has many; they are computed again if they are asked for."""
        for name in ("_A", "_upper"):
            self.__dict__.pop(name, None)

    def _half(self, right: FloatArray) -> FloatArray:
        return np.asarray(
            scipy.linalg.solve_triangular(self._upper, right, trans=1, check_finite=False)
        )

    @cached_property
    def log_likelihood(self) -> float:
        measured = self.measured
        right = self._half(measured.means(self.learnt.z))
        value = -0.5 * float(right @ right) - float(np.log(np.diagonal(self._upper)).sum())
        if measured.freedom and self.known is None and self.case.eta:
            g = float(self.noise[0])
            within = measured.within(self.learnt.z) / g
            value -= 0.5 * (measured.freedom * float(np.log(g)) + within)
        self._forget()
        return value

    def alike_enough(self, neighbours: Neighbours) -> float:
        """Logarithm of how probably neighbours would be as alike as they are with this noise."""
        likely = neighbours.probability(
            self.measured.means(self.learnt.z), float((self.noise / self.measured.repeats).min())
        )
        return float(np.log(max(likely, 1e-300)))

    @cached_property
    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of warped true costs, (m,) each."""
        half = self._half(self._A)
        mean = half.T @ self._half(self.measured.means(self.learnt.z))
        variance = np.diagonal(self._A) - np.einsum("nm,nm->m", half, half)
        self._forget()
        return mean, np.sqrt(np.maximum(variance, 0.0))

    def costs(self, z: FloatArray, noise: FloatArray) -> FloatArray:
        """True costs of warped ones (..., m), averaged over noise of a variance (m,)."""
        at = self.learnt.warp.back(z[..., None] + np.sqrt(noise)[:, None] * NODES)
        return np.asarray(at @ (NODE_WEIGHTS / NODE_WEIGHTS.sum()))

    @property
    def expected(self) -> FloatArray:
        """Expected true costs of all configurations, (m,)."""
        mean, spread = self.moments
        return self.costs(mean, self.noise + spread**2)

    @property
    def lowest(self) -> FloatArray:
        """What true costs may be at the best, (m,)."""
        mean, spread = self.moments
        return self.costs(mean - 3 * spread, self.noise)

    def draw(
        self, rows: IntArray, count: int, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """True costs of some configurations (count, s); the noise's deviation at the best (count,)."""
        half = self._half(self._A[:, rows])
        covariance = self._A[np.ix_(rows, rows)] - half.T @ half
        self._forget()
        values, vectors = np.linalg.eigh(covariance)
        normal = rng.normal(size=(count, len(rows))) * np.sqrt(np.maximum(values, 0.0))
        drawn = self.costs(self.moments[0][rows] + normal @ vectors.T, self.noise[rows])
        if self.known is not None:
            return drawn, np.full(count, self.known)
        slope = self.learnt.warp.slope(np.maximum(drawn.min(axis=1), self.learnt.warp.low))
        return drawn, np.sqrt(self.noise[0]) * slope
