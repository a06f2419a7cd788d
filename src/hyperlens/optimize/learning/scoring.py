"""How desirable a configuration is to a search: the acquisition of what its surrogate predicts, and its
slopes, along which the search follows it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hyperlens.optimize.optimizers.focus_search import Follow
from hyperlens.proposal import Acquisition
from hyperlens.spaces.cube import FloatArray
from hyperlens.surrogates.acquisition import (
    expected_improvement,
    log_expected_improvement,
    log_expected_improvement_slopes,
    lower_confidence_bound,
)
from hyperlens.surrogates.desirability import Joint
from hyperlens.surrogates.gaussian_process.gp import GP
from hyperlens.surrogates.gaussian_process.slopes import Slopes
from hyperlens.surrogates.random_forest.forest import Forest

BLOCK = 500  # rows predicted at once


@dataclass(frozen=True, eq=False)
class Scoring:
    """The bound mean - tau std, or the expected improvement on `best`."""

    model: GP | Forest
    acquisition: Acquisition
    tau: float
    best: float

    def __call__(self, vectors: FloatArray) -> FloatArray:
        """What is minimised (m,): the bound, or minus the logarithm of the improvement."""
        mean, std = predicted(self.model, vectors)
        if self.acquisition == "lcb":
            return lower_confidence_bound(mean, std, self.tau)
        return -log_expected_improvement(mean, std, self.best)

    def recorded(self, mean: FloatArray, std: FloatArray) -> tuple[float, float]:
        """The bound and the score that are kept with a proposal."""
        bound = float(lower_confidence_bound(mean, std, self.tau)[0])
        improvement = float(expected_improvement(mean, std, self.best)[0])
        return bound, bound if self.acquisition == "lcb" else improvement

    def follow(self, vector: FloatArray, free: list[int]) -> Follow:
        """What is minimised and its slopes along some columns of a vector; of a Gaussian process."""
        assert isinstance(self.model, GP)
        slopes = Slopes.of(self.model.posterior, vector, free)

        def bound(x: FloatArray) -> tuple[float, FloatArray]:
            mean, std, by_mean, by_std = slopes(x)
            return mean - self.tau * std, by_mean - self.tau * by_std

        def improvement(x: FloatArray) -> tuple[float, FloatArray]:
            mean, std, by_mean, by_std = slopes(x)
            value, of_mean, of_std = log_expected_improvement_slopes(mean, std, self.best)
            return -value, -(of_mean * by_mean + of_std * by_std)

        return bound if self.acquisition == "lcb" else improvement


def predicted(model: GP | Forest | Joint, vectors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """In blocks of rows that fit a processor's cache, which halves the time of a round."""
    blocks = [model.predict(vectors[k : k + BLOCK]) for k in range(0, len(vectors), BLOCK)]
    means, stds = zip(*blocks, strict=True)
    return np.concatenate(means, axis=-1), np.concatenate(stds, axis=-1)
