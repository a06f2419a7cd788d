"""The last training: the chosen configuration on all rows, with several seeds, averaged.

Where a model draws at random (rows, columns, splits), the mean of several trainings is steadier than
any of them. One that does not is trained once.
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

from hyperlens.cash.search.evaluation import Evaluation

SOME_ROWS = 1000  # that show whether two trainings differ


class _Mean(BaseEstimator):  # type: ignore[misc]  # no types
    def __init__(self, models: Sequence[Any] = ()) -> None:
        self.models = models


class MeanClassifier(ClassifierMixin, _Mean):  # type: ignore[misc]
    """Classifiers that were fitted before; the chance of a class is the mean of theirs."""

    def fit(self, X: Any, y: Any) -> MeanClassifier:
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Any) -> Any:
        check_is_fitted(self, "classes_")
        return np.mean([model.predict_proba(X) for model in self.models], axis=0)

    def predict(self, X: Any) -> Any:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class MeanRegressor(RegressorMixin, _Mean):  # type: ignore[misc]
    """Regressors that were fitted before; the mean of what they predict."""

    def fit(self, X: Any, y: Any) -> MeanRegressor:
        self.fitted_ = True
        return self

    def predict(self, X: Any) -> Any:
        check_is_fitted(self, "fitted_")
        return np.mean([model.predict(X) for model in self.models], axis=0)


def refitted(evaluation: Evaluation, configuration: Mapping[str, Any], times: int) -> Any:
    """The estimator of a configuration, trained on all rows; the mean of up to `times` trainings.

    One training where the seed changes nothing, or where an own classifier knows no chances.
    """
    X, y = evaluation.X, evaluation.y

    def trained(seed: int) -> Any:
        return replace(evaluation, seed=evaluation.seed + seed).model(configuration).fit(X, y)

    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # the search has seen this configuration succeed
        first = trained(0)
        classes = evaluation.task == "classification"
        if times == 1 or (classes and not hasattr(first, "predict_proba")):
            return first
        second = trained(1)
        some = X.iloc[:SOME_ROWS]
        if np.array_equal(_predicted(first, some, classes), _predicted(second, some, classes)):
            return first
        models = [first, second, *(trained(k) for k in range(2, times))]
    kind = MeanClassifier if classes else MeanRegressor
    return kind(models).fit(X, y)


def _predicted(model: Any, X: Any, classes: bool) -> Any:
    return model.predict_proba(X) if classes else model.predict(X)
