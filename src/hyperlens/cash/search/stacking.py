"""Stacking: a small model on top of the members learns to put their predictions together (Wolpert 1992).

It learns from predictions for rows that the members were not trained on, and is judged on rows that it
was not trained on itself, a part at a time. The mean stays unless that says that it helps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.utils.validation import check_is_fitted

from hyperlens.cash.models.model import Task
from hyperlens.cash.search.ensemble import SMALLEST, Measure, lifted
from hyperlens.spaces.cube import BoolArray, FloatArray

PENALTY = 0.1  # C of the logistic regression on top
ALPHAS = np.logspace(-3, 3, 13)  # among which the ridge regression chooses


class StackedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # no types
    """Classifiers that were fitted before, and the logistic regression of the logarithms of their
    chances; no chance is smaller than `least`."""

    def __init__(self, members: Sequence[Any] = (), top: Any = None, least: float = 0.0) -> None:
        self.members, self.top, self.least = members, top, least

    def fit(self, X: Any, y: Any) -> StackedClassifier:
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Any) -> Any:
        check_is_fitted(self, "classes_")
        chances = self.top.predict_proba(features([m.predict_proba(X) for m in self.members]))
        return lifted(chances, self.least) if self.least else chances

    def predict(self, X: Any) -> Any:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class StackedRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Regressors that were fitted before, and the ridge regression of what they predict."""

    def __init__(self, members: Sequence[Any] = (), top: Any = None) -> None:
        self.members, self.top = members, top

    def fit(self, X: Any, y: Any) -> StackedRegressor:
        self.fitted_ = True
        return self

    def predict(self, X: Any) -> Any:
        check_is_fitted(self, "fitted_")
        return self.top.predict(np.stack([m.predict(X) for m in self.members], axis=1))


def features(predictions: Sequence[FloatArray]) -> FloatArray:
    """What the model on top sees of chances (m, n, k): (n, m k)."""
    return np.hstack([np.log(np.clip(p, SMALLEST, 1.0)) for p in predictions])


def learnt(task: Task, predictions: FloatArray, y: Any, weights: FloatArray | None) -> Any:
    """The model on top of members' predictions (m, n, k) for held-out rows."""
    if task == "regression":
        return RidgeCV(ALPHAS).fit(predictions[:, :, 0].T, y, sample_weight=weights)
    top = LogisticRegression(C=PENALTY, max_iter=1000)
    return top.fit(features(list(predictions)), y, sample_weight=weights)


def crossed(
    task: Task,
    predictions: FloatArray,
    y: Any,
    weights: FloatArray | None,
    measure: Measure,
    left_out: Sequence[BoolArray],
    least: float,
) -> float:
    """The loss on rows that the model on top was not trained on; nan where that cannot be measured."""
    losses = []
    for out in left_out:
        if task == "classification" and len(np.unique(y[~out])) < len(np.unique(y)):
            return float("nan")
        counted = None if weights is None else weights[~out]
        top = learnt(task, predictions[:, ~out], y[~out], counted)
        said = np.zeros(predictions.shape[1:])
        if task == "regression":
            said[out, 0] = top.predict(predictions[:, out, 0].T)
        else:
            said[out] = lifted(top.predict_proba(features(list(predictions[:, out]))), least)
        losses.append(float(measure(said[None], out)[0]))
    return float(np.mean(losses)) if losses else float("nan")
