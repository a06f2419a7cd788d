"""What observing a configuration would say about a part of an additive process, before it is tried.

A part T is a list of numbers that are linear in the function f of the warped costs: the weights of some
effects, or its values at some places, mixed, as shares of variance are for small changes. Observing f(x)
with noise lowers the sum of their variances by exactly

    gain(x) = sum over t of Cov(T_t, f(x))^2 / (Var f(x) + g)

whatever is observed, hyperparameters kept. The weights of an effect belong to orthonormal functions, so
for them this is the integral of the effect's squared covariance. A batch is chosen one by one, each
given those before it, since the variances after an observation are known before it. With several sets
of hyperparameters it is the mean of theirs.

Symbols
    g        variance of the noise
    n, m     rows of the data, and of the candidates
    half     L^-1 k(X, candidates), (n, m), where L L^T = K; one row more for each observed candidate
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from hyperlens.spaces.cube import BoolArray, FloatArray
from hyperlens.spaces.points import sobol
from hyperlens.surrogates.additive.components import Components, Effect, Rows
from hyperlens.surrogates.additive.hyper import TREND
from hyperlens.surrogates.additive.learnt_set import LearntSet
from hyperlens.surrogates.additive.weights import Weights

POINTS = 512  # of the space, over which effects on the user's scale are averaged
LINES = 16  # drawn functions around which shares are taken as straight
CHUNK = 512  # rows whose features are held at once


class Part(Protocol):
    """Numbers that are linear in the function, before any data."""

    def covariance(self, one: LearntSet, rows: Rows) -> FloatArray:
        """Their covariance with the function at rows, (m, T)."""

    def variance(self, one: LearntSet) -> float:
        """The sum of their variances."""


@dataclass(frozen=True)
class Effects:
    """The weights of some effects, each times how often it is active: their variance over the space."""

    components: Components
    effects: tuple[Effect, ...]

    def covariance(self, one: LearntSet, rows: Rows) -> FloatArray:
        columns = [
            np.sqrt(self.components.probability(U)) * prior * self.components.features(rows, (U,))
            for U, prior in self._priors(one)
        ]
        return np.hstack(columns) if columns else np.zeros((len(rows), 0))

    def variance(self, one: LearntSet) -> float:
        return sum(
            self.components.probability(U) * float(prior.sum()) for U, prior in self._priors(one)
        )

    def _priors(self, one: LearntSet) -> list[tuple[Effect, FloatArray]]:
        prior, ends = one.kernel.prior_variances(), self.components.ends
        places = [self.components.effects.index(U) for U in self.effects]
        return [
            (U, prior[ends[k] : ends[k + 1]]) for U, k in zip(self.effects, places, strict=True)
        ]


@dataclass(frozen=True)
class Places:
    """Mixtures of the function's values at some rows: `mixture` has a column (places,) for each.

    With `known`, the rows of the data, they are of costs on the user's scale: the warp is taken as
    straight where each value is expected.
    """

    places: Rows
    mixture: FloatArray
    known: Rows | None = None
    _slopes: dict[int, FloatArray] = field(default_factory=dict, repr=False, compare=False)

    def covariance(self, one: LearntSet, rows: Rows) -> FloatArray:
        return np.asarray(one.kernel.gram(rows, self.places) @ self._mixed(one))

    def variance(self, one: LearntSet) -> float:
        return float((self._mixed(one) * self.covariance(one, self.places)).sum())

    def _mixed(self, one: LearntSet) -> FloatArray:
        if self.known is None:
            return self.mixture
        if id(one) not in self._slopes:  # asked for several times under one set
            expected = one.kernel.gram(self.places, self.known) @ one.solve(one.z)
            self._slopes[id(one)] = one.warp.slope(one.warp.back(expected))
        return np.asarray(self._slopes[id(one)][:, None] * self.mixture)

    @staticmethod
    def effects(
        components: Components, effects: tuple[Effect, ...], known: FloatArray, seed: int
    ) -> Places:
        """The weights of some effects of costs on the user's scale, by Sobol' points of the space."""
        points = components.rows(components.cube.vectors(sobol(POINTS, components.d, seed)))
        often = np.concatenate([
            np.full(components.width(U), components.probability(U)) for U in effects
        ])  # fmt: skip
        projection = components.features(points, effects) / (POINTS * np.sqrt(often))
        return Places(points, projection, components.rows(known))

    @staticmethod
    def shares(drawn: Weights, effects: tuple[Effect, ...], known: FloatArray, seed: int) -> Places:
        """Shares of variance V_U / V of some effects of costs on the user's scale, f.

        They are taken as straight around drawn functions, LINES of them, a change df of which has

            d(V_U / V) = 2 / V * mean of (f_U - V_U / V * (f - mean f)) df

        over the space, by Sobol' points of it. So a place counts by how it moves the shares in what the
        function may be, and not in what is expected of it alone.
        """
        components, some = drawn.components, slice(None, None, max(drawn.w.shape[1] // LINES, 1))
        points = components.rows(components.cube.vectors(sobol(POINTS, components.d, seed)))
        variances = drawn.variances()[:, some]
        total = np.maximum(variances.sum(axis=0), np.finfo(float).tiny)
        f, ends = components.features(points) @ drawn.w[:, some], components.ends
        away, columns = f - f.mean(axis=0), []
        for k, U in ((components.effects.index(U), U) for U in effects):
            own = components.features(points, (U,)) @ drawn.w[ends[k] : ends[k + 1], some]
            columns.append(2 / total * (own - variances[k] / total * away))
        mixture = np.hstack(columns) / (POINTS * np.sqrt(len(total)))
        return Places(points, mixture, components.rows(known))


class Gain:
    """What candidates X (m, d) would say about a part, given data of which only the vectors count.

    `sets` are the data under some hyperparameters, `known` their rows. `left` is the sum of the
    variances as it is now.
    """

    def __init__(
        self,
        components: Components,
        sets: tuple[LearntSet, ...],
        known: FloatArray,
        part: Part,
        X: FloatArray,
    ) -> None:
        self.components, self.X = components, X
        data, rows = components.rows(known), components.rows(X)
        priors = _prior_variances(components, sets, rows)
        self._views = [
            _View(one, part, data, rows, prior) for one, prior in zip(sets, priors, strict=True)
        ]

    @property
    def left(self) -> float:
        return float(np.mean([view.left for view in self._views]))

    def __call__(self) -> FloatArray:
        """By how much each candidate would lower what is left, (m,)."""
        return np.asarray(np.mean([view.gain() for view in self._views], axis=0))

    def observe(self, k: int) -> None:
        """Go on as after a cost of candidate k, whatever it will be."""
        row = self.components.rows(self.X[[k]])
        for view in self._views:
            view.observe(k, row)

    def greedy(
        self, count: int, repeated: BoolArray | None = None
    ) -> tuple[list[int], list[float]]:
        """Which candidates to observe, the most telling first, and what is left after each.

        One is observed twice only where that is allowed.
        """
        free = np.ones(len(self.X), dtype=bool)
        chosen: list[int] = []
        left: list[float] = []
        while len(chosen) < count and free.any():
            k = int(np.argmax(np.where(free, self(), -np.inf)))
            chosen.append(k)
            free[k] = repeated is not None and bool(repeated[k])
            self.observe(k)
            left.append(self.left)
        return chosen, left


class _View:
    """The candidates under one set of hyperparameters."""

    def __init__(
        self, one: LearntSet, part: Part, data: Rows, rows: Rows, prior: FloatArray
    ) -> None:
        self.one, self.rows = one, rows
        self.half = one.forward(one.kernel.gram(data, rows))
        self.variance = np.maximum(prior - (self.half**2).sum(axis=0), 0.0)
        known = one.forward(part.covariance(one, data))
        self.covariance = part.covariance(one, rows) - self.half.T @ known
        self.left = part.variance(one) - float((known**2).sum())

    def gain(self) -> FloatArray:
        square = np.einsum("mt,mt->m", self.covariance, self.covariance)
        return np.asarray(square / (self.variance + self.one.noise))

    def observe(self, k: int, row: Rows) -> None:
        shared = self.one.kernel.gram(self.rows, row)[:, 0] - self.half.T @ self.half[:, k]
        scale = self.variance[k] + self.one.noise
        self.left -= float(self.covariance[k] @ self.covariance[k]) / scale
        self.half = np.vstack([self.half, shared / np.sqrt(scale)])
        self.variance = np.maximum(self.variance - shared**2 / scale, 0.0)
        self.covariance = self.covariance - np.outer(shared / scale, self.covariance[k])


def _prior_variances(components: Components, sets: tuple[LearntSet, ...], rows: Rows) -> FloatArray:
    """Var f at rows before any data under each set, (sets, m)."""
    priors = np.array([one.kernel.prior_variances() for one in sets])
    parts = [
        priors @ np.square(components.features(rows.part(slice(first, first + CHUNK)))).T
        for first in range(0, len(rows), CHUNK)
    ]
    return np.asarray(np.hstack(parts) + TREND**2)
