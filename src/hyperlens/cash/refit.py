"""The last training: one configuration, trained several times and averaged.

Each training leaves out another part of the rows and has a seed of its own. Their mean is steadier
than any of them, at the price of as many models to keep and to ask.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from hyperlens.cash.evaluation import Evaluation
from hyperlens.cash.models import Task


class MeanClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # no types
    """Classifiers that were fitted before; the chance of a class is the mean of theirs."""

    def __init__(self, models: Sequence[Any] = ()) -> None:
        self.models = models

    def fit(self, X: Any, y: Any) -> MeanClassifier:
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Any) -> Any:
        check_is_fitted(self, "classes_")
        chances = [model.predict_proba(X) for model in self.models]
        return np.mean(chances, axis=0)

    def predict(self, X: Any) -> Any:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class MeanRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Regressors that were fitted before; the mean of what they predict."""

    def __init__(self, models: Sequence[Any] = ()) -> None:
        self.models = models

    def fit(self, X: Any, y: Any) -> MeanRegressor:
        self.fitted_ = True
        return self

    def predict(self, X: Any) -> Any:
        check_is_fitted(self, "fitted_")
        return np.mean([model.predict(X) for model in self.models], axis=0)


def refitted(evaluation: Evaluation, configuration: Mapping[str, Any], times: int) -> Any:
    """The estimator of a configuration, trained on all rows; the mean of `times` trainings.

    One training where parts of the rows cannot hold all classes, or where an own classifier knows
    no chances.
    """
    X, y = evaluation.X, evaluation.y
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # the search has seen this configuration succeed
        parts = _parts(y, evaluation.task, times, evaluation.seed) if times > 1 else []
        whole = evaluation.model(configuration)
        chances = evaluation.task == "regression" or hasattr(whole, "predict_proba")
        if not parts or not chances:
            return whole.fit(X, y)
        models = [
            replace(evaluation, seed=evaluation.seed + k)
            .model(configuration)
            .fit(X.iloc[train], y[train])
            for k, train in enumerate(parts)
        ]
    kind = MeanRegressor if evaluation.task == "regression" else MeanClassifier
    return kind(models).fit(X, y)


def _parts(y: Any, task: Task, times: int, seed: int) -> list[Any]:
    """Rows of each training; none if some class would be missing in one."""
    from sklearn.model_selection import KFold, StratifiedKFold

    kind = KFold if task == "regression" else StratifiedKFold
    most = len(y)
    if task == "classification":
        most = int(np.unique(y, return_counts=True)[1].max())
    if min(times, most) < 2:
        return []
    folds = kind(min(times, most), shuffle=True, random_state=seed)
    parts = [train for train, _ in folds.split(np.zeros(len(y)), y)]
    classes = len(np.unique(y)) if task == "classification" else 0
    if classes and any(len(np.unique(y[train])) < classes for train in parts):
        return []
    return parts
