"""The loss of a configuration on a table, at a part of the training rows (Sarigiannis et al. 2020,
section 5.1).

Each of a few splits trains on most rows and measures on the others; the loss is the mean. The
budget is a stratified part of the training rows, and a smaller one is part of every larger one.

Symbols
    n_c    training rows of class c
    r      budget, 0 < r <= 1: class c keeps max(1, round(r n_c)) rows
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from hyperlens.cash.data.column_kinds import TableError
from hyperlens.cash.models.model import Task
from hyperlens.cash.models.pool import build
from hyperlens.errors import SourceError
from hyperlens.spaces.cube import IntArray

DEFAULT_METRIC: dict[Task, str] = {
    "classification": "neg_log_loss",
    "regression": "neg_root_mean_squared_error",
}
HELD_OUT = 0.2  # part of the rows that a split measures on


@dataclass(frozen=True, eq=False)
class Evaluation:
    """An objective with a budget: call it with a configuration.

    `metric` is a scorer of scikit-learn or its name; the loss is its negative. `builder` makes the
    estimator of a configuration where that is not one of the pool.
    """

    X: Any  # a frame
    y: Any  # (n,)
    task: Task
    splits: int = 10
    metric: str | Callable[..., float] | None = None
    seed: int = 0
    builder: Callable[[Mapping[str, Any]], Any] | None = None

    def __call__(self, configuration: Mapping[str, Any], budget: float = 1.0) -> float:
        return float(np.mean(self.losses(configuration, budget)))

    def losses(self, configuration: Mapping[str, Any], budget: float = 1.0) -> list[float]:
        """One loss a split."""
        with threadpool_limits(1):  # workers share the cores; the same bytes on any number of them
            return [
                self.loss(configuration, train[self.subset(train, budget)], held)
                for train, held in self.rows
            ]

    def loss(self, configuration: Mapping[str, Any], train: IntArray, held: IntArray) -> float:
        """Trained on some rows, measured on others."""
        model = self.model(configuration)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a poor configuration is not the user's mistake
            model.fit(self.X.iloc[train], self.y[train])
            score = self._scorer(model, self.X.iloc[held], self.y[held])
        if not np.isfinite(score):
            raise ValueError(f"the score is {score}")
        return -float(score)

    def guessed(self) -> float:
        """The loss of predicting without looking at the columns; raises what the metric raises."""
        from sklearn.dummy import DummyClassifier, DummyRegressor

        classes = self.task == "classification"
        guess = DummyClassifier(strategy="prior") if classes else DummyRegressor()
        return float(np.mean(replace(self, builder=lambda _: guess).losses({})))

    def model(self, configuration: Mapping[str, Any]) -> Any:
        """The estimator that a configuration means, not fitted."""
        own = self.builder
        return build(configuration, self.task, self.seed) if own is None else own(configuration)

    @cached_property
    def rows(self) -> list[tuple[IntArray, IntArray]]:
        """Training and held-out rows of each split, stratified by class."""
        from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

        kind: Any = ShuffleSplit
        if self.task == "classification":
            kind = StratifiedShuffleSplit
            values, counts = np.unique(self.y, return_counts=True)
            if counts.min() < 2:
                raise TableError(
                    f"The class '{values[counts < 2][0]}' has one row, which cannot be both trained on "
                    "and measured; remove it or merge it with another class."
                )
            held = int(np.ceil(HELD_OUT * len(self.y)))
            if min(held, len(self.y) - held) < len(values):
                raise TableError(
                    f"{len(self.y)} rows are too few for {len(values)} classes, of which each part of "
                    "a split needs one row; add rows or merge classes."
                )
        splitter = kind(n_splits=self.splits, test_size=HELD_OUT, random_state=self.seed)
        return list(splitter.split(np.arange(len(self.y)), self.y))

    def subset(self, train: IntArray, budget: float) -> IntArray:
        """Positions of the training rows that a budget allows: the first of each class, in an order
        that is drawn once."""
        if budget >= 1:
            return np.arange(len(train))
        order = np.random.default_rng([self.seed, len(train)]).permutation(len(train))
        if self.task == "regression":
            return np.sort(order[: max(2, round(budget * len(train)))])
        classes = np.unique(self.y[train], return_inverse=True)[1][order]
        by_class = (order[classes == c] for c in range(classes.max() + 1))
        return np.sort(
            np.concatenate([rows[: max(1, round(budget * len(rows)))] for rows in by_class])
        )

    @cached_property
    def _scorer(self) -> Any:
        from sklearn.metrics import get_scorer, get_scorer_names, log_loss, make_scorer

        name = self.metric or DEFAULT_METRIC[self.task]
        if not isinstance(name, str):
            return name
        if name == "neg_log_loss":  # all classes, also those that a split does not hold
            chances = {"response_method": "predict_proba", "labels": np.unique(self.y)}
            return make_scorer(log_loss, greater_is_better=False, **chances)
        if name not in get_scorer_names():
            raise SourceError(
                f"There is no metric '{name}'; choose one of scikit-learn's, such as "
                f"'{DEFAULT_METRIC[self.task]}'."
            )
        return get_scorer(name)
