"""Boosted trees of other packages, grown as long as rows that are watched gain by it.

One training with early stopping tells the loss of every smaller number of trees: `curve_`. A search
looks at the curves of all splits together, takes one number of trees for all (`cut`), and trains with
that in the end.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from hyperlens.errors import SourceError

PATIENCE = 25  # trees without gain on watched rows are enough, and a part of those before:
LONGER = 0.5  # slow learners wait longer, and other splits may gain where one no longer does
MOST_TREES = 1000  # where growing stops by itself
INSTALLS = {"xgboost": "cash", "lightgbm": "boosters", "catboost": "boosters"}  # extras

Watched = Callable[[], tuple[Any, Any]]  # columns and targets, as the model is given them


class _Boosted(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """`settings` are those of the package's own estimator."""

    _task: str

    def __init__(self, settings: dict[str, Any] | None = None, package: str = "xgboost") -> None:
        self.settings, self.package = settings, package

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        watched: Watched | None = None,
        seconds: float | None = None,
    ) -> Any:
        """With `watched` rows growing stops where they no longer gain, or after so many seconds."""
        X, y = validate_data(self, X, y, y_numeric=self._task == "regression")
        targets = self._targets(y)
        growth = Growth(self.package, self._task, dict(self.settings or {}))
        rows = None if watched is None else self._known(*watched())
        self.model_, curve = growth.fitted(X, targets, sample_weight, rows, seconds)
        self.trees_: int | None = None
        if curve is not None:
            self.curve_ = curve
            self.cut(int(np.argmin(curve)) + 1)
        return self

    def cut(self, trees: int) -> None:
        """Predict by the first trees alone."""
        self.trees_ = trees

    def _targets(self, y: Any) -> Any:
        return y

    def _known(self, X: Any, y: Any) -> tuple[Any, Any]:
        return X, y

    def _said(self, X: Any, chances: bool) -> Any:
        check_is_fitted(self, "model_")
        X = validate_data(self, X, reset=False)
        ask = self.model_.predict_proba if chances else self.model_.predict
        until: dict[str, Any] = (
            {} if self.trees_ is None else FIRST_TREES[self.package](self.trees_)
        )
        return ask(X, **until)


class BoostedClassifier(ClassifierMixin, _Boosted):  # type: ignore[misc]
    """Boosted trees for labels of any kind."""

    _task = "classification"

    def predict(self, X: Any) -> Any:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X: Any) -> Any:
        return self._said(X, chances=True)

    def _targets(self, y: Any) -> Any:
        self.classes_, codes = np.unique(y, return_inverse=True)
        return codes

    def _known(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Rows of classes that training has, with their codes."""
        known = np.isin(y, self.classes_)
        return X[known], np.searchsorted(self.classes_, y[known])


class BoostedRegressor(RegressorMixin, _Boosted):  # type: ignore[misc]
    """Boosted trees for numbers."""

    _task = "regression"

    def predict(self, X: Any) -> Any:
        return self._said(X, chances=False)


class Enough:
    """Told the loss after each tree, says whether to stop: the best is long ago, or time is over."""

    def __init__(self, ends: float) -> None:
        self.ends, self.best = ends, float("inf")
        self.trees = self.at = 0

    def __call__(self, loss: float) -> bool:
        self.trees += 1
        if loss < self.best:
            self.best, self.at = loss, self.trees
        late = time.monotonic() > self.ends
        return late or self.trees - self.at >= PATIENCE + LONGER * self.at


class Growth:
    """How each package is asked to grow trees."""

    def __init__(self, package: str, task: str, settings: dict[str, Any]) -> None:
        self.package, self.task, self.settings = package, task, settings

    def fitted(
        self, X: Any, y: Any, weight: Any, watched: tuple[Any, Any] | None, seconds: float | None
    ) -> tuple[Any, Any]:
        """The package's estimator, and the loss on watched rows by the number of trees."""
        room = package(self.package)
        if watched is None or not len(watched[1]):
            kind = self._kind(room)
            return kind(**self.settings).fit(X, y, sample_weight=weight), None
        enough = Enough(float("inf") if seconds is None else time.monotonic() + seconds)
        grow = {"xgboost": self._xgboost, "lightgbm": self._lightgbm, "catboost": self._catboost}
        model, losses = grow[self.package](room, X, y, weight, watched, enough)
        return model, np.asarray(losses, dtype=float)

    def _kind(self, room: Any) -> Any:
        short = {"xgboost": "XGB", "lightgbm": "LGBM", "catboost": "CatBoost"}[self.package]
        last = "Classifier" if self.task == "classification" else "Regressor"
        return getattr(room, short + last)

    def _xgboost(self, room: Any, X: Any, y: Any, weight: Any, watched: Any, enough: Enough) -> Any:
        class Until(room.callback.TrainingCallback):  # type: ignore[misc]
            def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
                (losses,) = evals_log["validation_0"].values()
                return enough(losses[-1])

        model = self._kind(room)(**self.settings, callbacks=[Until()])
        model.fit(X, y, sample_weight=weight, eval_set=[watched], verbose=False)
        (losses,) = model.evals_result()["validation_0"].values()
        return model, losses

    def _lightgbm(
        self, room: Any, X: Any, y: Any, weight: Any, watched: Any, enough: Enough
    ) -> Any:
        losses: list[float] = []

        def until(env: Any) -> None:
            losses.append(env.evaluation_result_list[0][2])
            if enough(losses[-1]):
                raise room.callback.EarlyStopException(env.iteration, env.evaluation_result_list)

        model = self._kind(room)(**self.settings)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # rows to watch have another name in some versions
            model.fit(X, y, sample_weight=weight, eval_set=[watched], callbacks=[until])
        return model, losses

    def _catboost(
        self, room: Any, X: Any, y: Any, weight: Any, watched: Any, enough: Enough
    ) -> Any:
        class Until:
            def after_iteration(self, info: Any) -> bool:
                (losses,) = info.metrics["validation"].values()
                return not enough(losses[-1])

        model = self._kind(room)(**self.settings, use_best_model=False)
        model.fit(
            X, y, sample_weight=weight, eval_set=watched, callbacks=[Until()], verbose=False,
        )  # fmt: skip
        (losses,) = model.get_evals_result()["validation"].values()
        return model, losses


FIRST_TREES: dict[str, Callable[[int], dict[str, Any]]] = {
    "xgboost": lambda trees: {"iteration_range": (0, trees)},
    "lightgbm": lambda trees: {"num_iteration": trees},
    "catboost": lambda trees: {"ntree_end": trees},
}


def _xgboost() -> Any:
    import xgboost

    return xgboost


def _lightgbm() -> Any:
    import lightgbm

    return lightgbm


def _catboost() -> Any:
    import catboost

    return catboost


IMPORTS = {"xgboost": _xgboost, "lightgbm": _lightgbm, "catboost": _catboost}


def package(name: str) -> Any:
    """The package, or a sentence that says how to get it."""
    try:
        return IMPORTS[name]()
    except ImportError as problem:
        raise SourceError(
            f"{name} is not installed; install it with pip install "
            f"'hyperlens[{INSTALLS.get(name, name)}]', or leave its model out of the pool."
        ) from problem


# How models of the pool are made of their settings


def boosted_classifier(random_state: int, n_jobs: int, **settings: Any) -> Any:
    return BoostedClassifier(_settings("xgboost", settings, random_state, n_jobs))


def boosted_regressor(random_state: int, n_jobs: int, **settings: Any) -> Any:
    return BoostedRegressor(_settings("xgboost", settings, random_state, n_jobs))


def light_classifier(random_state: int, n_jobs: int, **settings: Any) -> Any:
    return BoostedClassifier(_settings("lightgbm", settings, random_state, n_jobs), "lightgbm")


def light_regressor(random_state: int, n_jobs: int, **settings: Any) -> Any:
    return BoostedRegressor(_settings("lightgbm", settings, random_state, n_jobs), "lightgbm")


def cat_classifier(random_state: int, n_jobs: int, **settings: Any) -> Any:
    return BoostedClassifier(_settings("catboost", settings, random_state, n_jobs), "catboost")


def cat_regressor(random_state: int, n_jobs: int, **settings: Any) -> Any:
    return BoostedRegressor(_settings("catboost", settings, random_state, n_jobs), "catboost")


def _settings(
    package: str, settings: dict[str, Any], random_state: int, n_jobs: int
) -> dict[str, Any]:
    """With what all trainings share; without a number of trees growing stops by itself."""
    always: dict[str, Any] = {"random_state": random_state, "n_jobs": n_jobs}
    if package == "lightgbm":
        always |= {"verbose": -1, "subsample_freq": 1}
    if package == "catboost":
        always = {"random_seed": random_state, "thread_count": n_jobs}
        always |= {"verbose": False, "allow_writing_files": False, "bootstrap_type": "Bernoulli"}
    return {"n_estimators": MOST_TREES, **settings, **always}
