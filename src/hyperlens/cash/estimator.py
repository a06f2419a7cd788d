"""Model and hyperparameters found together, as scikit-learn estimators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_array, check_random_state, column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, check_is_fitted, validate_data

from hyperlens.cash.data.column_kinds import TableError
from hyperlens.cash.data.row_weights import ClassWeight
from hyperlens.cash.measuring.row_splits import Split
from hyperlens.cash.models.model import Task
from hyperlens.cash.results.model_search import leaderboard, model_search
from hyperlens.cash.search.search import Builder, Search, best_trial
from hyperlens.optimize.models.model_sampling import Sampling
from hyperlens.optimize.storage.storages import Storage
from hyperlens.spaces.space import GivenSpace

LARGEST_SEED = 2**31


class _CASH(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Searches over models, then trains the best on all rows.

    `evaluations` are so many on all rows (99; with a `time` as many as it allows), each over `folds`
    splits (10, fewer for more than 10,000 rows; 5 or fewer in a `time`). `optimizer`: "anytime",
    "hyperband", "halving", "asha", "random" or "smbo"; by default "hyperband", and in a `time`
    "anytime", which begins with quick models on few rows. `sampling`: "weighted" (a model's chance
    doubles with each hyperparameter), "volume", "uniform", or a weight for each model. `metric` is a
    scorer of scikit-learn or its name. `fit` ends within `time` seconds, the last training included;
    an evaluation that takes longer than `timeout`, by default a tenth of `time`, of "anytime" a fifth,
    fails with this reason, as does one that raises. With a `storage` the search can be stopped and goes
    on when fitted again. `models` are names of the built-in pool; an own one is a `space` with a
    category `model`, and `build`, which makes the estimator of a configuration, a dict. `defaults`
    tries each model's default configuration among the first. Up to `ensemble` configurations predict
    together, chosen by their predictions for held-out rows; 1 is the best one alone. They are trained
    on all rows `refits` times in all (10, fewer for more than 10,000 rows), each time with another
    seed if that changes anything, or by the clock without another fifth of the rows (30, as far as there
    is time), and predict by the mean; with `stacking` by a model on top of them, if
    that helps on rows that it was not trained on. `split` "time" takes rows to be in the order
    of time: what is held out is later than what is trained on. `class_weight` is "balanced", or has a
    weight for each class.

    Attributes: best_configuration_, best_model_ (fitted), best_loss_ (of the best configuration alone,
    in the metric's own direction), ensemble_ (what predicts together and what that adds),
    leaderboard_ (a frame), history_ (for all that Hyperlens explains), search_ (how
    many evaluations each model got).
    """

    _task: Task

    def __init__(
        self,
        evaluations: int | None = None,
        optimizer: str | None = None,
        sampling: Sampling = "weighted",
        folds: int | None = None,
        metric: str | Callable[..., float] | None = None,
        time: float | None = None,
        timeout: float | None = None,
        workers: int = 1,
        storage: Storage = None,
        study: str = "cash",
        models: Sequence[str] | None = None,
        space: GivenSpace | None = None,
        build: Builder | None = None,
        defaults: bool = True,
        refits: int | None = None,
        ensemble: int = 10,
        stacking: bool = False,
        split: Split = "random",
        class_weight: ClassWeight | None = None,
        random_state: Any = 0,
    ) -> None:
        self.evaluations, self.optimizer, self.sampling = evaluations, optimizer, sampling
        self.folds, self.metric, self.time, self.timeout = folds, metric, time, timeout
        self.workers, self.storage, self.study = workers, storage, study
        self.models, self.space, self.build, self.defaults = models, space, build, defaults
        self.refits, self.ensemble, self.stacking, self.split = refits, ensemble, stacking, split
        self.class_weight, self.random_state = class_weight, random_state

    def fit(self, X: Any, y: Any, groups: Any = None, weights: Any = None) -> Any:
        """Search and train; what cannot be learnt from is refused in one sentence. `groups` has a label
        for each row: rows of one group are never both trained on and held out. `weights` says what each
        row counts, in training and in the loss."""
        began = monotonic()
        frame, target = self._checked(X, y)
        options = {k: v for k, v in self.get_params(deep=False).items() if k != "random_state"}
        search = Search(
            frame,
            target,
            self._task,
            seed=self._seed(),
            began=began,
            groups=groups,
            weights=weights,
            **options,
        )
        self.history_ = search.run()
        best = best_trial(self.history_)
        self.best_configuration_ = dict(best.values)
        self.best_loss_ = float(best.costs[0])
        self.best_model_, self.ensemble_ = search.finish(self.history_)
        self.search_ = model_search(self.history_)
        self.leaderboard_ = leaderboard(self.history_)
        return self

    def predict(self, X: Any) -> Any:
        return self._fitted.predict(self._frame(X, reset=False))

    def _checked(self, X: Any, y: Any) -> tuple[Any, Any]:
        """A frame and an array of one length."""
        frame = self._frame(X, reset=True)
        if y is None:
            raise TableError("requires y to be passed, but the target y is None; give the target.")
        target = column_or_1d(y, warn=True)
        if len(target) != len(frame):
            raise TableError(
                f"X has {len(frame)} rows where y has {len(target)}; give one value for each row."
            )
        if len(frame) < 2:
            raise TableError("n_samples=1 is too few to learn from; give more rows.")
        return frame, self._target(target)

    def _target(self, y: Any) -> Any:
        raise NotImplementedError

    def _frame(self, X: Any, reset: bool) -> Any:
        """A frame of any columns, or of a numeric array's."""
        import pandas as pd

        if isinstance(X, pd.DataFrame):
            if not X.shape[1] or not len(X):
                check_array(np.empty(X.shape))  # scikit-learn's own sentence
            frame = X
        else:
            frame = pd.DataFrame(check_array(X, dtype=None, ensure_all_finite=False))
        validate_data(self, X, reset=reset, skip_check_array=True)
        return frame

    def _seed(self) -> int:
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(LARGEST_SEED))

    @property
    def _fitted(self) -> Any:
        check_is_fitted(self, "best_model_")
        return self.best_model_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def _has_chances(estimator: Any) -> bool:
    """Before fitting any model may win; after it the winner decides."""
    return not hasattr(estimator, "best_model_") or hasattr(estimator.best_model_, "predict_proba")


class CASHClassifier(ClassifierMixin, _CASH):  # type: ignore[misc]
    __doc__ = _CASH.__doc__

    _task: Task = "classification"

    def fit(self, X: Any, y: Any, groups: Any = None, weights: Any = None) -> CASHClassifier:
        super().fit(X, y, groups, weights)
        self.classes_ = self.best_model_.classes_
        return self

    @available_if(_has_chances)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """The chance of each class, in the order of `classes_`."""
        return self._fitted.predict_proba(self._frame(X, reset=False))

    def _target(self, y: Any) -> Any:
        from pandas import isna

        if y.dtype.kind == "f":
            assert_all_finite(y, input_name="y")
        if isna(y).any():
            raise TableError("Input y contains NaN; leave out rows without a class.")
        check_classification_targets(y)
        classes = np.unique(y).tolist()
        if len(classes) < 2:
            raise TableError(
                f"The target has one class, {classes[0]!r}, so there is nothing to learn; give rows "
                "of at least two classes."
            )
        return y


class CASHRegressor(RegressorMixin, _CASH):  # type: ignore[misc]
    __doc__ = _CASH.__doc__

    _task: Task = "regression"

    def _target(self, y: Any) -> Any:
        try:
            numbers = np.asarray(y, dtype=np.float64)
        except (TypeError, ValueError) as problem:
            raise TableError(
                "The target holds what is not a number; use CASHClassifier for classes."
            ) from problem
        assert_all_finite(numbers, input_name="y")
        return numbers
