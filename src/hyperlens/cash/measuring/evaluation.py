"""The loss of a configuration on a table, at a part of the training rows (Sarigiannis et al. 2020,
section 5.1).

Each of a few splits trains on most rows and measures on the others; the loss is the mean. The
budget is a stratified part of the training rows, and a smaller one is part of every larger one.

Symbols
    n_c    training rows of class c
    r      budget, 0 < r <= 1: class c keeps max(1, round(r n_c)) rows
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from threadpoolctl import threadpool_limits

from hyperlens.cash.data.column_kinds import TableError
from hyperlens.cash.data.row_weights import weighting
from hyperlens.cash.measuring.growing import cut_alike, grows, watching
from hyperlens.cash.measuring.kept import Kept
from hyperlens.cash.measuring.looks import look
from hyperlens.cash.measuring.prepared import Prepared
from hyperlens.cash.measuring.row_splits import HELD_OUT, Split, by_group, by_time
from hyperlens.cash.models.model import Task
from hyperlens.cash.models.pool import build, parts, targeted
from hyperlens.errors import SourceError
from hyperlens.spaces.cube import FloatArray, IntArray

DEFAULT_METRIC: dict[Task, str] = {
    "classification": "neg_log_loss",
    "regression": "neg_root_mean_squared_error",
}
MOST_HELD = 20_000  # rows that a single split needs to measure on


class ToldNumbers(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A model that has predicted already: what scorers need of one."""

    def __init__(self, predictions: Any = None) -> None:
        self.predictions = predictions

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> Any:
        return self.predictions


class Told(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The same of chances."""

    def __init__(self, predictions: Any = None, classes: Any = None) -> None:
        self.predictions, self.classes = predictions, classes
        self.classes_ = classes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> Any:
        return self.classes_[self.predictions.argmax(axis=1)]

    def predict_proba(self, X: Any) -> Any:
        return self.predictions


@dataclass(frozen=True, eq=False)
class Evaluation:
    """An objective with a budget: call it with a configuration.

    `metric` is a scorer of scikit-learn or its name; the loss is its negative. `builder` makes the
    estimator of a configuration where that is not one of the pool. `disjoint` splits hold out every
    row once, and of one split at most 20,000 rows; on a part of the rows fewer splits are looked at.
    `split` "time" holds out later rows, and rows of one of `groups` stay together. What is predicted for
    held-out rows goes to `kept`. Trees of `disjoint` splits stop growing where the held-out rows of all
    splits together gain no more, or after `seconds` in all. Rows count by their `weights` in training
    and in the loss, as far as the model and the metric know any.
    """

    X: Any  # a frame
    y: Any  # (n,)
    task: Task
    splits: int = 10
    metric: str | Callable[..., float] | None = None
    seed: int = 0
    builder: Callable[[Mapping[str, Any]], Any] | None = None
    disjoint: bool = False
    split: Split = "random"
    groups: Any = None
    kept: Kept | None = None
    seconds: float | None = None
    weights: FloatArray | None = None
    _guess: list[float] = field(default_factory=list, init=False, repr=False)
    _prepared: Prepared = field(default_factory=Prepared, init=False, repr=False)

    def __call__(self, configuration: Mapping[str, Any], budget: float = 1.0) -> float:
        return float(np.mean(self.losses(configuration, budget)))

    def losses(self, configuration: Mapping[str, Any], budget: float = 1.0) -> list[float]:
        """One loss a split."""
        rows = self.rows_at(budget)
        trees = None
        with threadpool_limits(1), warnings.catch_warnings():
            # workers share the cores; the same bytes on any number of them
            warnings.simplefilter("ignore")  # a poor configuration is not the user's mistake
            if self.disjoint and grows(self._parts(configuration)[1]):
                trained = [self._trained(configuration, *split, len(rows)) for split in rows]
                trees = cut_alike([each for each, _ in trained])
                found = [
                    self._measured(*each, held)
                    for each, (_, held) in zip(trained, rows, strict=True)
                ]
            else:
                found = [
                    self._measured(*self._trained(configuration, *split), split[1])
                    for split in rows
                ]
        predictions = [predicted for _, predicted in found if predicted is not None]
        if self.kept is not None and len(predictions) == len(rows):
            self.kept.write(configuration, budget, predictions, trees)
        return [loss for loss, _ in found]

    def rows_at(self, budget: float) -> list[tuple[IntArray, IntArray]]:
        """Rows that are trained on and held out with this budget, one pair a split."""
        part, splits = self.look(budget)
        return [(train[self.subset(train, part)], held) for train, held in self.rows[:splits]]

    def look(self, budget: float) -> tuple[float, int]:
        """Part of the training rows, and number of splits."""
        return look(budget, self.splits) if self.disjoint else (budget, self.splits)

    def _parts(self, configuration: Mapping[str, Any]) -> tuple[bool | None, Any]:
        """The model behind the preparation of columns, which is done once for all configurations, and
        whether it wants them scaled; None and the whole of a user's own model."""
        if self.builder is not None:
            return None, self.builder(configuration)
        scaled, model = parts(configuration, self.task, self.seed)
        return scaled, targeted(model, self.task)

    def _trained(
        self,
        configuration: Mapping[str, Any],
        train: IntArray,
        held: IntArray,
        splits: int | None = None,
    ) -> tuple[Any, Any]:
        """A model of these rows, and the columns of the held-out ones as it is given them; one of so
        many `splits` watches those to stop early."""
        scaled, model = self._parts(configuration)
        if scaled is None:
            seen, unseen = self.X.iloc[train], self.X.iloc[held]
        else:
            seen, unseen = self._prepared.columns(self.X, self.y, train, held, scaled)
        options = weighting(model, None if self.weights is None else self.weights[train])
        if splits is not None:
            seconds = None if self.seconds is None else self.seconds / splits
            options |= watching(model, unseen, self.y[held], seconds)
        return model.fit(seen, self.y[train], **options), unseen

    def _measured(self, model: Any, unseen: Any, held: IntArray) -> tuple[float, FloatArray | None]:
        """The loss on held-out rows; and what is predicted for them, if that is kept."""
        predicted = None if self.kept is None else self.predicted(model, unseen)
        if predicted is None or not self.by_predictions:
            score = self._scorer(model, unseen, self.y[held], **self._counted(held))
        else:
            score = self.scores(predicted, held)
        if not np.isfinite(score):
            raise ValueError(f"the score is {score}")
        return -float(score), predicted

    def fitted(self, configuration: Mapping[str, Any], rows: IntArray) -> Any:
        """A model of these rows, from raw columns on."""
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = self.model(configuration)
            options = weighting(model, None if self.weights is None else self.weights[rows])
            return model.fit(self.X.iloc[rows], self.y[rows], **options)

    def loss_of(self, model: Any, X: Any, rows: IntArray) -> float:
        """Of a fitted model on columns X with the targets of these rows."""
        return -float(self._scorer(model, X, self.y[rows], **self._counted(rows)))

    def predicted(self, model: Any, X: Any) -> FloatArray | None:
        """Numbers, or the chances of all classes; None of a classifier that knows no chances."""
        if self.task == "regression":
            return np.asarray(model.predict(X), dtype=np.float64)
        if not hasattr(model, "predict_proba"):
            return None
        chances = np.zeros((len(X), len(self.classes)))
        chances[:, np.searchsorted(self.classes, model.classes_)] = model.predict_proba(X)
        return chances

    @property
    def by_predictions(self) -> bool:
        """Is the metric one of predictions alone, whoever made them?"""
        name = self.metric or DEFAULT_METRIC[self.task]
        return isinstance(name, str) and (self.task == "regression" or name == "neg_log_loss")

    def scores(self, predictions: FloatArray, rows: IntArray) -> float:
        """The metric of predictions for these rows."""
        told = Told(predictions, self.classes)
        if self.task == "regression":
            told = ToldNumbers(predictions)
        return float(self._scorer(told, self.X.iloc[rows], self.y[rows], **self._counted(rows)))

    def _counted(self, rows: IntArray) -> dict[str, Any]:
        """What a scorer of scikit-learn is told of the weights."""
        named = isinstance(self.metric or "", str)
        return {"sample_weight": self.weights[rows]} if self.weights is not None and named else {}

    def guessed(self) -> float:
        """The loss of predicting without looking at the columns; raises what the metric raises."""
        from sklearn.dummy import DummyClassifier, DummyRegressor

        if self._guess:
            return self._guess[0]
        classes = self.task == "classification"
        guess = DummyClassifier(strategy="prior") if classes else DummyRegressor()
        losses = replace(self, builder=lambda _: guess, kept=None).losses({})
        self._guess.append(float(np.mean(losses)))
        return self._guess[0]

    def model(self, configuration: Mapping[str, Any]) -> Any:
        """The estimator that a configuration means, not fitted."""
        own = self.builder
        return build(configuration, self.task, self.seed) if own is None else own(configuration)

    @cached_property
    def rows(self) -> list[tuple[IntArray, IntArray]]:
        """Training and held-out rows of each split, stratified by class where rows are exchangeable."""
        from sklearn.model_selection import (
            KFold,
            ShuffleSplit,
            StratifiedKFold,
            StratifiedShuffleSplit,
        )

        kind: Any = ShuffleSplit
        if self.task == "classification":
            kind = StratifiedShuffleSplit
            values, counts = self.classes, np.bincount(self.codes)
            if counts.min() < 2:
                raise TableError(
                    f"The class '{values[counts < 2][0]}' has one row, which cannot be both trained on "
                    "and measured; remove it or merge it with another class."
                )
            held = int(np.ceil(HELD_OUT * len(self.y)))
            if self.disjoint and self.splits > 1:
                held = len(self.y) // self.splits
            if min(held, len(self.y) - held) < len(values):
                raise TableError(
                    f"{len(self.y)} rows are too few for {len(values)} classes, of which each part of "
                    "a split needs one row; add rows or merge classes."
                )
        if self.groups is not None:
            return by_group(self.groups, self.splits, self.seed)
        if self.split == "time":
            return by_time(len(self.y), self.splits)
        held_out: float | int = HELD_OUT
        if self.disjoint and HELD_OUT * len(self.y) > MOST_HELD:
            held_out = MOST_HELD
        splitter = kind(n_splits=self.splits, test_size=held_out, random_state=self.seed)
        if self.disjoint and self.splits > 1:
            whole = KFold if self.task == "regression" else StratifiedKFold
            splitter = whole(self.splits, shuffle=True, random_state=self.seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a class with fewer rows than splits is held out less
            return list(splitter.split(np.arange(len(self.y)), self.codes))

    def subset(self, train: IntArray, budget: float) -> IntArray:
        """Positions of the training rows that a budget allows: the first of each class, in an order
        that is drawn once."""
        if budget >= 1:
            return np.arange(len(train))
        order = np.random.default_rng([self.seed, len(train)]).permutation(len(train))
        if self.task == "regression":
            return np.sort(order[: max(2, round(budget * len(train)))])
        classes = self.codes[train][order]
        by_class = (order[classes == c] for c in np.unique(classes))
        return np.sort(
            np.concatenate([rows[: max(1, round(budget * len(rows)))] for rows in by_class])
        )

    @cached_property
    def classes(self) -> Any:
        return np.unique(self.y)

    @cached_property
    def codes(self) -> Any:
        """The class of each row by its place among the classes; numbers as they are."""
        if self.task == "regression":
            return self.y
        return np.unique(self.y, return_inverse=True)[1]

    @cached_property
    def _scorer(self) -> Any:
        from sklearn.metrics import get_scorer, get_scorer_names, log_loss, make_scorer

        name = self.metric or DEFAULT_METRIC[self.task]
        if not isinstance(name, str):
            return name
        if name == "neg_log_loss":  # all classes, also those that a split does not hold
            chances = {"response_method": "predict_proba", "labels": self.classes}
            return make_scorer(log_loss, greater_is_better=False, **chances)
        if name not in get_scorer_names():
            raise SourceError(
                f"There is no metric '{name}'; choose one of scikit-learn's, such as "
                f"'{DEFAULT_METRIC[self.task]}'."
            )
        return get_scorer(name)
