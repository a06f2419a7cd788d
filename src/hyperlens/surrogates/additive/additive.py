"""A Gaussian process that is its own functional ANOVA: additive, warped, nothing taken for certain.

The kernel is a sum over effects (kernel.py); its hyperparameters and the warp of the costs are drawn
from their posterior (sampling.py), and for each of them functions are drawn (Matheron's rule: a draw
of the prior, corrected by what it gets wrong at the data). Drawn functions are brought back to the
user's scale at points of the space and written as weights again (weights.py), from which everything
is explained. Where the search has not been, draws differ, and intervals are wide.

Symbols
    n, d     rows and columns of X
    H, D     sets of hyperparameters, draws
    z        warped costs; K their covariance, noise included; beta = K^-1 z
    anchors  points at which drawn functions are brought back
"""

from __future__ import annotations

from dataclasses import replace
from typing import Self

import numpy as np
import scipy

from hyperlens.spaces.cube import Box, Cube, FloatArray, IntArray
from hyperlens.spaces.points import sample_box, sobol
from hyperlens.surrogates.additive.components import Components, Effect, Rows
from hyperlens.surrogates.additive.crowding import CROWDED, crowd, spread_out
from hyperlens.surrogates.additive.hyper import TREND, VARIANCES
from hyperlens.surrogates.additive.kernel import Density, Kernel
from hyperlens.surrogates.additive.learnt_set import LearntSet
from hyperlens.surrogates.additive.sampling import mode, sample
from hyperlens.surrogates.additive.weights import Weights
from hyperlens.surrogates.gaussian_process.partial_dependence import Marginal

FITTED_ON = 200  # rows from which hyperparameters are learnt, at the most
DRAWS = 256
SETS, FEWER_SETS, MANY = 16, 8, 400  # sets of hyperparameters; fewer with more than so many rows
ANCHORS = 1024
ANCHOR_NOISE = (
    1e-3  # of the unit variance: what of a function is beyond triples on the user's scale
)
HELD_OUT = 4  # sets of hyperparameters with which rows are predicted that are left out
NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(9)
WIDENED = 1.3  # how much wider intervals are than the posterior, which takes its kernel for certain
FIRST, FEWEST_LATER = 20, 20  # trials of the beginning, and of the rest that predicts them
MOST_SURPRISING = 4.0
UNKNOWN_SURPRISE = 1.4  # where too few rows could show it: as much as searches usually have
MOST_SINGLY = (
    0.8  # of the rows: within how many standard deviations do they lie, left out one by one
)
CHUNK = 1024  # rows at which draws are asked at once
POINTS = 640  # predictions over which a pointwise variance is averaged, over all of a grid

_Factor = tuple[FloatArray, bool]  # of a positive definite matrix


class Additive:
    """A surrogate of costs on vectors of the unit cube, nan where a column is inactive.

    >>> X = np.random.default_rng(0).random((60, 2))
    >>> model = Additive().fit(X, np.sin(3 * X[:, 0]) + X[:, 1])
    >>> bool(abs(model.predict(np.array([[0.5, 0.5]]))[0][0] - 1.5) < 0.05)
    True
    """

    def __init__(self, cube: Cube | None = None, seed: int = 0) -> None:
        self._cube, self.seed, self.fitted_on = cube, seed, 0
        self.sets: tuple[LearntSet, ...] = ()
        self.drawn: tuple[tuple[FloatArray, FloatArray], ...] = ()  # weights and trends by set
        self.surprise, self.spread = 1.0, 1.0

    def fit(self, X: FloatArray, y: FloatArray, doubt: FloatArray | None = None) -> Self:
        """Draw functions that agree with X (n, d) and costs y (n,).

        `doubt` (n,) is how far off each cost may be beside the noise: a standard deviation, in those of
        all costs; 0 of one that was measured.
        """
        rng = np.random.default_rng(self.seed)
        self._begin(X, y, doubt)
        if np.ptp(y):
            self._learn(spread_out(self.cube, X, FITTED_ON, rng), rng)
        if not self.sets:
            self.surprise, width = 1.0, self.components.ends[-1]
            self.anchor_costs = np.full((ANCHORS, 2), y[0])
            self.weights = Weights(self.components, np.full(2, y[0]), np.zeros((width, 2)))
            return self
        found = self._surprise()
        self.surprise = _surprised(found)
        if crowd(self.cube, X) > CROWDED:
            self.spread = min(found, 1.0)
        at_rows = self.components.features(self.components.rows(X))
        self.drawn = tuple(one.draw(at_rows, DRAWS // len(self.sets), rng) for one in self.sets)
        self.anchor_costs = self._at(self.anchors())
        self.weights = self._written(self.anchor_costs)
        return self

    def learn(self, X: FloatArray, y: FloatArray) -> Self:
        """Draw hyperparameters alone, `sets`; none where all costs are equal.

        They are for what is asked of the rows themselves, so that a crowd counts with all its rows.
        """
        rng = np.random.default_rng(self.seed)
        self._begin(X, y, None)
        if np.ptp(y):
            self._learn(np.sort(rng.permutation(len(y))[:FITTED_ON]), rng)
        return self

    def _begin(self, X: FloatArray, y: FloatArray, doubt: FloatArray | None) -> None:
        self.cube = Cube.continuous(X.shape[1]) if self._cube is None else self._cube
        self.X, self.y = X, y
        self.doubt = np.zeros(len(y)) if doubt is None else doubt
        self.components = Components(self.cube)
        self.sets, self.fitted_on, self.spread = (), len(y), 1.0
        self._capped: dict[float, Weights] = {}
        self._by_anchors: _Factor | None = None
        self._singly: float | None = None

    def _learn(self, some: IntArray, rng: np.random.Generator) -> None:
        """Draw hyperparameters from some of the rows."""
        if np.ptp(self.y[some]) == 0:
            some[0] = np.argmax(self.y != self.y[some[0]])
        self.fitted_on = len(some)
        rows = self.components.rows(self.X[some])
        density = Density(self.components, rows, self.y[some], self.doubt[some])
        best = mode(density, rng)
        count = SETS if len(self.y) <= MANY else FEWER_SETS
        drawn = sample(density, best, count, rng)
        learnt = (self.components.rows(self.X), self.y, self.doubt)
        self.mode = LearntSet.of(self.components, best, *learnt)
        self.sets = tuple(LearntSet.of(self.components, t, *learnt) for t in drawn)

    def _surprise(self) -> float:
        """How far the first rows lie from what the later ones say of them, in standard deviations.

        Rows are in the order of the trials. A search begins everywhere and goes on where it is good. If
        its beginning surprises the rest, so will what it never looked at; nothing that was left out at
        random could show that.
        """
        first = np.arange(self.first())
        if not len(first):
            return UNKNOWN_SURPRISE
        squares = []
        for one in self.sets[:: max(len(self.sets) // HELD_OUT, 1)]:
            away, spread = one.left_out(first)
            squares.append(np.mean((away / spread) ** 2))
        return float(np.sqrt(np.mean(squares)))

    def first(self, more: int = 0) -> int:
        """Rows of the beginning that all later ones predict, if there were so many `more` of these."""
        count = min(FIRST, len(self.y) + more - FEWEST_LATER)
        return count if count >= FIRST // 2 else 0

    @property
    def widened(self) -> float:
        """How much wider than the posterior its intervals are."""
        return widening(self.surprise)

    @property
    def widened_singly(self) -> float:
        """How much wider what is said of single places is: as intervals, or more where rows show it that
        are left out one by one. Where trials crowd the costs are rougher than hyperparameters say that
        were learnt from those apart, and of a place between them draws are too sure of each other."""
        if self._singly is None:
            self._singly = self._left_out_singly()
        return max(self.widened, WIDENED * self._singly)

    def _left_out_singly(self) -> float:
        """Within how many standard deviations most measured rows lie, as a part of the usual number."""
        measured = self.doubt == 0
        if not self.sets or measured.sum() < FEWEST_LATER:
            return 1.0
        some = self.sets[:: max(len(self.sets) // HELD_OUT, 1)]
        away = np.abs([one.left_out_singly()[measured] for one in some])
        usual = float(scipy.stats.norm.ppf((1 + MOST_SINGLY) / 2))
        return float(np.quantile(away, MOST_SINGLY)) / usual

    def costs(self, X: FloatArray) -> FloatArray:
        """Each draw as it was drawn, on the user's scale, at some vectors X (m, d): (m, D).

        `weights` are these draws written as weights, which `anchor_costs` determine between anchors.
        """
        parts = [self._at(self.components.rows(X[k : k + CHUNK])) for k in range(0, len(X), CHUNK)]
        return np.vstack([*parts, np.zeros((0, self.weights.w.shape[1]))])

    def _at(self, rows: Rows) -> FloatArray:
        """Draws on the user's scale at rows, (n, D)."""
        if not self.sets:
            return np.full((len(rows), 2), self.y[0])
        features = self.components.features(rows)
        both = zip(self.sets, self.drawn, strict=True)
        return np.hstack([one.warp.back(features @ w + trend) for one, (w, trend) in both])

    def anchors(self) -> Rows:
        """Points of the space at which draws are on the user's scale."""
        d = self.components.d
        return self.components.rows(self.cube.vectors(sobol(ANCHORS, d, self.seed)))

    @property
    def _writer(self) -> Kernel:
        """By which functions are written. Costs that are additive once they are warped have interactions
        on the user's scale, so that there is never less room for these than there is beforehand."""
        hyper = self.mode.kernel.hyper
        beforehand = [belief.median for belief in VARIANCES]
        return Kernel(
            self.components, replace(hyper, variances=np.maximum(hyper.variances, beforehand))
        )

    def _written(self, costs: FloatArray) -> Weights:
        """Functions with these costs at the anchors (anchors, D) as weights, by kriging."""
        anchors, centre = self.anchors(), float(self.y.mean())
        features, prior = self.components.features(anchors), self._writer.prior_variances()
        if len(prior) < ANCHORS:  # the same by as many equations as there are weights
            columns = np.column_stack([features * np.sqrt(prior), np.full(ANCHORS, TREND)])
            self._by_anchors = self._by_anchors or _factor(columns.T @ columns)
            solved = _solve(self._by_anchors, columns.T @ (costs - centre))
            w = np.sqrt(prior)[:, None] * solved[:-1]
            return Weights(self.components, centre + TREND * solved[-1], w)
        if self._by_anchors is None:
            self._by_anchors = _factor(self._writer.gram(anchors, anchors))
        right = _solve(self._by_anchors, costs - centre)
        w = prior[:, None] * (features.T @ right)
        return Weights(self.components, centre + TREND**2 * right.sum(axis=0), w)

    def writing(self, effects: tuple[Effect, ...]) -> FloatArray:
        """What writes costs at the anchors as weights of some effects, (weights, anchors)."""
        anchors, components = self.anchors(), self.components
        factor = _factor(self._writer.gram(anchors, anchors))
        prior, ends = self._writer.prior_variances(), components.ends
        places = [components.effects.index(U) for U in effects]
        own = np.concatenate([prior[ends[k] : ends[k + 1]] for k in places])
        return np.asarray((_solve(factor, components.features(anchors, effects)) * own).T)

    # Among the good

    def cost_at(self, quantile: float) -> float:
        """The cost that this part of the space is expected to be below."""
        return float(np.quantile(self.anchor_costs.mean(axis=1), quantile))

    def capped(self, bound: float) -> Weights:
        """The same draws, in which all costs above `bound` are equal to it."""
        if not self.sets:
            return self.weights
        if bound not in self._capped:
            self._capped[bound] = self._written(np.minimum(self.anchor_costs, bound))
        return self._capped[bound]

    # Predicting

    def mean(self, X: FloatArray) -> FloatArray:
        """The mean of `predict` alone, at vectors X (m, d)."""
        return self.weights.at(X)

    def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of a new cost, noise included, at vectors X (m, d)."""
        mean, variance = self.weights.moments(X)
        return mean, np.sqrt(variance + self.noise(mean) ** 2)

    def curves(self, j: int, grid: FloatArray, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of a new cost at vectors X (m, d), column j at each of a grid (g,): (m, g).

        No other column may depend on j.
        """
        mean, variance = self.weights.along(j, grid, X)
        return mean, variance + self.noise(mean) ** 2

    def noise(self, mean: FloatArray) -> FloatArray:
        """Standard deviation of the noise where this cost is expected."""
        if not self.sets:
            return np.zeros(mean.shape)
        warp = self.mode.warp
        inside = np.clip(mean, self.y.min(), self.y.max())
        return np.asarray(np.sqrt(self.mode.kernel.hyper.noise) * warp.slope(inside))

    def holdout(self, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """Prediction of training rows as if these rows had been left out, hyperparameters kept."""
        if not self.sets:
            return self.y[rows], np.zeros(len(rows))
        step = max(len(self.sets) // HELD_OUT, 1)
        nodes = []
        for one in self.sets[::step]:
            away, spread = one.left_out(rows)
            mean = one.z[rows] - away
            nodes.append(one.warp.back(mean[:, None] + spread[:, None] * NODES))
        values = np.array(nodes)  # (sets, rows, nodes)
        weight = NODE_WEIGHTS / NODE_WEIGHTS.sum() / len(values)
        mean = np.einsum("hrk,k->r", values, weight)
        variance = np.einsum("hrk,k->r", (values - mean[None, :, None]) ** 2, weight)
        return mean, np.sqrt(variance)

    # Explaining

    def shares(self, order: int = 2, bound: float | None = None) -> dict[Effect, float]:
        """V_U / V of all effects of at most `order` columns, the median over draws; 0 if none varies.

        Draws give something to every effect of which little is known. Where the beginning of a search
        that crowded lies nearer to what the rest says of it than draws differ, they differ too much, and
        are taken by as much nearer to their mean. Costs below a `bound` are where the search has been:
        the mean over draws is nearer there.
        """
        effects, drawn = self.drawn_shares(order, bound)
        if bound is None and self.spread < 1:
            drawn = self._shares_of(self.weights.nearer(self.spread), effects, None)
        share = np.median(drawn, axis=1) if bound is None else drawn.mean(axis=1)
        return dict(zip(effects, share.tolist(), strict=True))

    def expected_shares(self, order: int = 2, bound: float | None = None) -> FloatArray:
        """V_U / V in the mean of the draws, of all effects of at most `order` columns, (effects,)."""
        effects = tuple(U for U in self.components.effects if len(U) <= order)
        weights = self.weights if bound is None else self.capped(bound)
        return np.asarray(self._shares_of(weights.expected, effects, None)[:, 0])

    def drawn_shares(
        self, order: int = 2, bound: float | None = None
    ) -> tuple[tuple[Effect, ...], FloatArray]:
        """Effects of at most `order` columns, and V_U / V of each in each draw, (effects, D).

        Costs above `bound`, if there is one, are equal to it.
        """
        effects = tuple(U for U in self.components.effects if len(U) <= order)
        costs = None if bound is None else np.minimum(self.anchor_costs, bound)
        weights = self.weights if bound is None else self.capped(bound)
        return effects, self._shares_of(weights, effects, costs)

    def _shares_of(
        self, weights: Weights, effects: tuple[Effect, ...], costs: FloatArray | None
    ) -> FloatArray:
        """V_U / V in each function. The kinks of bounded costs are partly beyond triples: where these
        are given, as they are at the anchors, V is theirs."""
        variances = weights.variances()
        total = np.maximum(variances.sum(axis=0), np.finfo(float).tiny)
        if costs is not None:
            total = np.maximum(total, costs.var(axis=0))
        return np.asarray(variances[: len(effects)] / total)  # effects are ordered by their size

    def partial_dependence(
        self, columns: tuple[int, ...], grid: FloatArray, region: Box | None = None
    ) -> Marginal:
        """Partial dependence of `columns` at the grid points (g, len(columns)), in a region."""
        drawn = self.weights.averaged(columns, grid, region or {})
        mean, joint = drawn.mean(axis=1), self.widened**2 * drawn.var(axis=1) + self.level_variance
        return Marginal(mean, joint, self._pointwise(columns, grid, region or {}, joint))

    @property
    def level_variance(self) -> float:
        """How far off the level of all effects may be by costs that were not measured: what predicts
        them may be wrong in one direction, so that their errors do not average out."""
        return float(self.doubt.mean() * self.y.std()) ** 2

    def _pointwise(
        self, columns: tuple[int, ...], grid: FloatArray, region: Box, joint: FloatArray
    ) -> FloatArray:
        """Average of the predictive variances over some points of the region."""
        latents = sample_box(self.cube, region, max(POINTS // len(grid), 8), self.seed)
        moved = np.tile(latents, (len(grid), 1))
        moved[:, columns] = np.repeat(grid, len(latents), axis=0)
        active = self.cube.active(moved)[:, [*columns, *region]].all(axis=1)
        squares = np.zeros(len(moved))
        squares[active] = self.predict(self.cube.vectors(moved[active]))[1] ** 2
        total, count = (x.reshape(len(grid), -1).sum(axis=1) for x in (squares, active))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.maximum(total / count, joint))


def widening(surprise: float) -> float:
    """How much wider than the posterior intervals are, by how far the beginning of a search lies from
    what the rest says of it, in standard deviations."""
    return WIDENED * float(np.sqrt(_surprised(surprise)))


def _surprised(surprise: float) -> float:
    return float(np.clip(surprise, 1.0, MOST_SURPRISING))


def _factor(A: FloatArray) -> _Factor:
    """Of a matrix of anchors or of their equations, with their noise; it is overwritten."""
    A[np.diag_indices(len(A))] += ANCHOR_NOISE
    factor: _Factor = scipy.linalg.cho_factor(A, overwrite_a=True, check_finite=False)
    return factor


def _solve(factor: _Factor, right: FloatArray) -> FloatArray:
    return np.asarray(scipy.linalg.cho_solve(factor, right, check_finite=False))
