"""Functions drawn from the posterior, as weights of the components' functions: all that is explained.

A draw f is its mean over the space and a sum over effects U of f_U, whose weights w_U belong to
orthonormal functions. So the variance of f_U is P_U times the sum of the squares of w_U, an average
of f over some axes is linear in w, and so is the Shapley value of an axis, the sum over U that hold
it of f_U(x) / |U|. Each of them is exact for each draw; intervals and bands are those of the draws.

Symbols
    D        draws
    w        weights of each draw, (weights, D)
    U        an effect: the axes it is of
    S        explained axes
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from hyperlens.spaces.cube import (
    WHOLE,
    Box,
    FloatArray,
    IntArray,
    Runs,
    contains,
    intersect,
    measure,
)
from hyperlens.surrogates.additive.components import Components, Effect, Rows, products

PREDICTED = 64  # draws from which the standard deviation of single predictions is taken
CHUNK = 4096  # rows predicted at once
_NODES = tuple(
    0.5 * part + half
    for part, half in zip(np.polynomial.legendre.leggauss(2), (0.5, 0.0), strict=True)
)


@dataclass(frozen=True)
class Weights:
    """D draws of a function: its mean over the space `trend` (D,) and its weights."""

    components: Components
    trend: FloatArray
    w: FloatArray

    @cached_property
    def mean(self) -> FloatArray:
        """Of the weights over draws, (weights,)."""
        return np.asarray(self.w.mean(axis=1))

    @cached_property
    def _away(self) -> FloatArray:
        """Of some draws from the mean, (weights, some)."""
        return self.w[:, :: self._thinned] - self.mean[:, None]

    @property
    def _thinned(self) -> int:
        return max(len(self.w.T) // PREDICTED, 1)

    @property
    def expected(self) -> Weights:
        """Their mean, as one function."""
        return Weights(self.components, self.trend.mean(keepdims=True), self.mean[:, None])

    def nearer(self, part: float) -> Weights:
        """The same draws, each only so far from their mean."""
        mean, trend = self.mean[:, None], self.trend.mean()
        return Weights(
            self.components, trend + part * (self.trend - trend), mean + part * (self.w - mean)
        )

    # Variance

    def variances(self, effects: tuple[Effect, ...] | None = None) -> FloatArray:
        """Variance over the space that each effect causes in each draw, (effects, D)."""
        known = self.covariances(self)
        if effects is None:
            return known
        at = {U: k for k, U in enumerate(self.components.effects)}
        none = np.zeros(self.w.shape[1])
        return np.array([known[at[U]] if U in at else none for U in effects])

    def covariances(self, other: Weights) -> FloatArray:
        """Covariance over the space of each effect with the same one of other draws, as many, on the
        same space, (effects, D)."""
        components = self.components
        both = self.w * other.w
        return np.array([
            components.probability(U) * both[first:last].sum(axis=0)
            for U, first, last in self._places()
        ]).reshape(len(components.effects), -1)  # fmt: skip

    def _places(self) -> Iterator[tuple[Effect, int, int]]:
        ends = self.components.ends
        return zip(self.components.effects, ends[:-1], ends[1:], strict=True)

    # Values

    @property
    def _step(self) -> int:
        """Rows predicted at once: fewer where a row has many features, whose products fill memory."""
        return min(CHUNK, max(2**20 // max(len(self.w), 1), 1))

    def at(self, X: FloatArray) -> FloatArray:
        """The mean of the draws at vectors X (m, d)."""
        parts = [
            self.components.features(self.components.rows(X[first : first + self._step]))
            @ self.mean
            for first in range(0, len(X), self._step)
        ]
        return np.asarray(np.concatenate([*parts, np.zeros(0)]) + self.trend.mean())

    def drawn(self, X: FloatArray) -> FloatArray:
        """Each draw at some vectors X (m, d), (m, D)."""
        return np.asarray(self.components.features(self.components.rows(X)) @ self.w + self.trend)

    def moments(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the draws at vectors X (m, d)."""
        level = (self.trend - self.trend.mean())[:: self._thinned]
        mean, variance = np.empty((2, len(X)))
        for first in range(0, len(X), self._step):
            rows = slice(first, first + self._step)
            features = self.components.features(self.components.rows(X[rows]))
            mean[rows] = features @ self.mean + self.trend.mean()
            variance[rows] = np.square(features @ self._away + level).mean(axis=1)
        return mean, variance

    def along(self, j: int, grid: FloatArray, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the draws at vectors X (m, d) with axis j at each of a grid (g,): (m, g).

        Each draw is a sum of the axis's functions, whose coefficients are the same all along the grid.
        No other axis may depend on j.
        """
        rows = self.components.rows(X)
        ones = [np.ones_like(phi) if c == j else phi for c, phi in enumerate(rows.phi)]
        features = self.components.features(Rows(tuple(ones), rows.nested))
        which = self.components.function_of(j)
        phi = self.components.bases[j].at(self.components.cube.axes[j].snap(grid))
        level = (self.trend - self.trend.mean())[:: self._thinned]
        both = np.column_stack([self.mean, self._away])
        parts = [features[:, which == k] @ both[which == k] for k in range(-1, phi.shape[1])]
        parts[0] += np.append(self.trend.mean(), level)
        drawn = np.tensordot(
            np.insert(phi, 0, 1.0, axis=1), np.array(parts), axes=1
        )  # (g, m, draws)
        return drawn[..., 0].T, np.square(drawn[..., 1:]).mean(axis=2).T

    # Averages

    def averaged(self, columns: tuple[int, ...], grid: FloatArray, region: Box) -> FloatArray:
        """Each draw averaged over all but `columns` at grid points (g, |S|), in a region: (g, D).

        Only configurations in which all of `columns` and of the region are active count; nan at a
        point where that is never so.
        """
        cube = self.components.cube
        snapped = [cube.axes[c].snap(grid[:, k]) for k, c in enumerate(columns)]
        fixed = dict(zip(columns, snapped, strict=True))
        touched = [b for b in cube.blocks if any(c in fixed or c in region for c in b)]
        scenarios = [list(cube.scenarios(b)) for b in touched]
        free = {*fixed, *region}
        free |= {c for b in touched for c in b if c in self.components.deciding}
        chosen = [place for place in self._places() if free.issuperset(place[0])]
        total = np.zeros((len(grid), self.w.shape[1]))
        sum_of_weights = np.zeros(len(grid))
        for combination in product(*scenarios):
            runs = {
                c: part
                for scenario in combination
                for c, part in zip(scenario.columns, scenario.runs, strict=True)
            }
            weight = _weight(runs, fixed, region, len(grid))
            if not weight.any():
                continue
            sum_of_weights += weight
            value = np.tile(self.trend, (len(grid), 1))
            for U, first, last in chosen:
                features = self._expected(U, runs, fixed, region)
                if features is not None:
                    value += features @ self.w[first:last]
            total += weight[:, None] * value
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(total / sum_of_weights[:, None])

    def _expected(
        self,
        U: Effect,
        runs: Mapping[int, Runs | None],
        fixed: Mapping[int, FloatArray],
        region: Box,
    ) -> FloatArray | None:
        """Features of an effect, averaged over the axes that are not fixed; None if they are 0."""
        components = self.components
        if any(runs.get(j) is None for j in U):
            return None
        nested = components.nested.get(U)
        parts = []
        for j in U:
            size = components.sizes[len(U) - 1][j]
            basis = components.bases[j]
            if nested is not None and nested.parent == j:
                basis, size = nested.basis, len(nested.basis)
            if j in fixed:
                part = basis.at(fixed[j])[:, :size]
            else:
                inside = intersect(runs[j] or (), region.get(j, WHOLE))
                part = np.tile(basis.mean(inside)[:size], (len(next(iter(fixed.values()))), 1))
            parts.append(part)
        return products(parts)

    # Attribution

    def contributions(self, vector: FloatArray) -> tuple[FloatArray, float]:
        """Shapley values (d,) of the mean at a vector over the uniform measure, and its average.

        Without conditions only: with them an effect also depends on what activates its axes.
        """
        assert not self.components.cube.conditions
        features = self.components.features(self.components.rows(vector[None]))[0]
        values = np.add.reduceat(features * self.mean, self.components.ends[:-1])
        axis, effect, order = self._members
        shares = np.bincount(axis, values[effect] / order, minlength=self.components.d)
        return np.asarray(shares, dtype=float), float(self.trend.mean())

    @cached_property
    def _members(self) -> tuple[IntArray, IntArray, IntArray]:
        """Of every axis in every effect: the axis, the effect's place, how many axes that has."""
        members = [(j, k, len(U)) for k, U in enumerate(self.components.effects) for j in U]
        axis, effect, order = np.array(members, dtype=np.int64).T
        return axis, effect, order

    def between(self, source: FloatArray, target: FloatArray) -> FloatArray:
        """Shapley values (d,) of the mean at `target`, where absent axes have the values of `source`.

        Where each axis is changed with probability t, independently, the expectation of a product is
        the product of mixed functions; Owen's integral over t of the gain of an axis is of degree two,
        which two nodes integrate exactly. Without conditions only.
        """
        components = self.components
        assert not components.cube.conditions
        phi = [
            b.at(np.array([s, t])) for b, s, t in zip(components.bases, source, target, strict=True)
        ]
        gained = np.zeros(components.d)
        for t, weight in zip(*_NODES, strict=True):
            mixed = [p[:1] + t * (p[1:] - p[:1]) for p in phi]
            for j in np.flatnonzero(source != target).tolist():
                moved = Rows((*mixed[:j], phi[j][1:] - phi[j][:1], *mixed[j + 1 :]), {})
                for U, first, last in self._places():
                    if j in U:
                        features = products(components.parts(moved, U))[0]
                        gained[j] += weight * float(features @ self.mean[first:last])
        return gained


def _weight(
    runs: Mapping[int, Runs | None], fixed: Mapping[int, FloatArray], region: Box, size: int
) -> FloatArray:
    """How much of the space a scenario has where the fixed axes have their values, (g,)."""
    weight = np.ones(size)
    for column, part in runs.items():
        if column in fixed:
            weight *= 0.0 if part is None else contains(part, fixed[column])
            if part is not None and column in region:
                weight *= contains(region[column], fixed[column])
        elif column in region:
            weight *= 0.0 if part is None else measure(intersect(part, region[column]))
        elif part is not None:
            weight *= measure(part)
    return weight
