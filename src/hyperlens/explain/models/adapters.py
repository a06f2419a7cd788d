"""Models of other libraries as surrogates: `predict` gives mean and standard deviation at vectors.

A model that was fitted to `history.space.encode(...)` and costs can be handed to `effect` and
`regions` as it is, if it is one of these: an object whose `predict` gives both; a regressor of
scikit-learn whose `predict` takes `return_std` (Gaussian process, Bayesian ridge); an ensemble of
scikit-learn (the standard deviation is that over its members); a model of BoTorch (`posterior`).
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.explain.models.curves import Predictor
from hyperlens.spaces.cube import FloatArray

REMEDY = (
    "give an object whose predict(X) returns the mean and the standard deviation, one of each per "
    "row of X"
)


@dataclass(frozen=True)
class WithStd:
    """A regressor of scikit-learn that knows its standard deviation."""

    model: Any

    def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        mean, std = self.model.predict(X, return_std=True)
        return np.asarray(mean), np.asarray(std)


@dataclass(frozen=True)
class Ensemble:
    """An ensemble of scikit-learn whose prediction is the mean of its members'."""

    model: Any

    def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        columns = getattr(self.model, "estimators_features_", [slice(None)] * self.members)
        votes = np.array(
            [
                member.predict(X[:, chosen])
                for member, chosen in zip(self.model.estimators_, columns, strict=True)
            ]
        )
        return votes.mean(axis=0), votes.std(axis=0)

    @property
    def members(self) -> int:
        return len(self.model.estimators_)


@dataclass(frozen=True)
class BoTorch:
    """A single-output model of BoTorch. Its costs count as minimised, as everywhere inside."""

    model: Any

    def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        import torch

        with torch.no_grad():
            posterior = self.model.posterior(torch.as_tensor(X, dtype=torch.float64))
            mean, variance = posterior.mean, posterior.variance
        return mean.numpy().ravel(), np.sqrt(variance.numpy().ravel())


def adapted(model: Any) -> Predictor:
    """The model as a surrogate."""
    if callable(getattr(type(model), "posterior", None)):
        return BoTorch(model)
    predict = getattr(model, "predict", None)
    if predict is None:
        raise AnalysisError(f"A {type(model).__name__} predicts nothing; {REMEDY}.")
    if "return_std" in inspect.signature(predict).parameters:
        return WithStd(model)
    if _averages(model):
        return Ensemble(model)
    surrogate: Predictor = model
    return surrogate


def _averages(model: Any) -> bool:
    """Whether it is an ensemble of scikit-learn that takes the mean of its members; boosting adds
    them up instead."""
    if not hasattr(model, "estimators_"):
        return False
    from sklearn.ensemble import BaggingRegressor, ExtraTreesRegressor, RandomForestRegressor

    return isinstance(model, (BaggingRegressor, ExtraTreesRegressor, RandomForestRegressor))
