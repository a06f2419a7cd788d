"""Models of other libraries as surrogates: `predict` gives mean and standard deviation at vectors.

A model that was fitted to `history.space.encode(...)` and costs can be handed to `effect` and
`regions` as it is, if it is one of these: an object whose `predict` gives both; a regressor of
scikit-learn whose `predict` takes `return_std` (Gaussian process, Bayesian ridge); an ensemble of
scikit-learn (the standard deviation is that over its members); a model of BoTorch (`posterior`).
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
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
class Adapted:
    """A model of another library by what gives mean and standard deviation at vectors."""

    predict: Callable[[FloatArray], tuple[FloatArray, FloatArray]]


def _with_std(model: Any, X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Of a regressor of scikit-learn that knows its standard deviation."""
    mean, std = model.predict(X, return_std=True)
    return np.asarray(mean), np.asarray(std)


def _over_members(model: Any, X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Of an ensemble of scikit-learn whose prediction is the mean of its members'."""
    members = model.estimators_
    columns = getattr(model, "estimators_features_", [slice(None)] * len(members))
    votes = np.array([m.predict(X[:, own]) for m, own in zip(members, columns, strict=True)])
    return votes.mean(axis=0), votes.std(axis=0)


def _of_botorch(model: Any, X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Of a single-output model of BoTorch. Its costs count as minimised, as everywhere inside."""
    import torch

    with torch.no_grad():
        posterior = model.posterior(torch.as_tensor(X, dtype=torch.float64))
        mean, variance = posterior.mean, posterior.variance
    return mean.numpy().ravel(), np.sqrt(variance.numpy().ravel())


def adapted(model: Any) -> Predictor:
    """The model as a surrogate."""
    if callable(getattr(type(model), "posterior", None)):
        return Adapted(partial(_of_botorch, model))
    predict = getattr(model, "predict", None)
    if predict is None:
        raise AnalysisError(f"A {type(model).__name__} predicts nothing; {REMEDY}.")
    if "return_std" in inspect.signature(predict).parameters:
        return Adapted(partial(_with_std, model))
    if _averages(model):
        return Adapted(partial(_over_members, model))
    surrogate: Predictor = model
    return surrogate


def _averages(model: Any) -> bool:
    """Whether it is an ensemble of scikit-learn that takes the mean of its members; boosting adds
    them up instead."""
    if not hasattr(model, "estimators_"):
        return False
    from sklearn.ensemble import BaggingRegressor, ExtraTreesRegressor, RandomForestRegressor

    return isinstance(model, (BaggingRegressor, ExtraTreesRegressor, RandomForestRegressor))
