"""A search over models and their hyperparameters on one table, kept where any run is kept."""

from __future__ import annotations

import math
import shutil
import tempfile
import weakref
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from hyperlens.cash.data.row_weights import ClassWeight, row_weights
from hyperlens.cash.measuring.evaluation import DEFAULT_METRIC, Evaluation
from hyperlens.cash.measuring.kept import Kept
from hyperlens.cash.measuring.looks import FEWEST_ROWS
from hyperlens.cash.measuring.row_splits import Split
from hyperlens.cash.models.model import Task
from hyperlens.cash.models.pool import QUICK_FIRST, ROOT, further, pool, pool_space
from hyperlens.cash.results.model_search import furthest, search_plan
from hyperlens.cash.search.anytime import Anytime, cheapest_first
from hyperlens.cash.search.ensemble import Ensemble
from hyperlens.cash.search.fingerprint import code_of, fingerprint
from hyperlens.cash.search.finish import finished, stopped
from hyperlens.cash.search.optimizers import first_vectors, make_optimizer
from hyperlens.cash.search.pace import Pace
from hyperlens.cash.search.refit import refitted, within
from hyperlens.errors import AnalysisError, SourceError, SpaceError
from hyperlens.optimize.models.model_sampling import Sampling, rooted
from hyperlens.optimize.optimizers.protocol import Optimizer
from hyperlens.optimize.running.loop import Report, Setting
from hyperlens.optimize.running.minimize import Place, run
from hyperlens.optimize.storage.storages import Storage
from hyperlens.proposal import Proposal
from hyperlens.runs.history import History, State, Trial
from hyperlens.spaces.cube import FloatArray
from hyperlens.spaces.points import same
from hyperlens.spaces.space import GivenSpace, Space, as_space

if TYPE_CHECKING:
    from hyperlens.optimize.storage.stored_trial import StudyTrial

TIMES = ((10_000, 10), (50_000, 3))  # up to so many rows so many splits; beyond, one
MANY_ROWS = 20_000  # with a time limit, a search of more begins on a part of them
PATIENCE = 10  # with a time limit, an evaluation may take one of so many parts of it
IN_A_RACE = 5  # the same where small samples have told what it will take
GROWING = 0.7  # of what an evaluation may take, trees may grow
FOR_TRAINING = 0.25  # of the time, where the search itself does not know what a training takes
RESCUED = 3  # models are measured where the time was not enough for a schedule
FEWER = 4  # times fewer rows after each of these that does not end in time
BAGGED = 30  # trainings in all in the end of a search by the clock, as far as there is time
EVALUATIONS = 99  # without a time limit, and where none are given
CELLS = 2500  # a second: up to so many an evaluation has five splits, up to ten times as many three

Builder = Callable[[Mapping[str, Any]], Any]


class Target:
    """What is searched for, in the metric's own direction: called with a configuration."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation = evaluation
        metric = evaluation.metric or DEFAULT_METRIC[evaluation.task]
        named = metric if isinstance(metric, str) else "score"
        self.maximize = not named.startswith("neg_")
        self.__name__ = named.removeprefix("neg_")

    def __call__(self, configuration: Mapping[str, Any], budget: float = 1.0) -> float:
        loss = self.evaluation(configuration, budget)
        return -loss if self.maximize else loss


@dataclass(frozen=True, eq=False)
class Search:
    """What to search, and how. `run()` searches or goes on; `finish(history)` trains on all rows.

    `X` is a frame and `y` an array. `evaluations` are on all rows, by default 99, or as many as `time`
    allows. `time` is in seconds, for all from `began` (now; by the monotonic clock) to the last
    training; without `optimizer` the search then is "anytime", else "hyperband". `timeout` ends a single
    evaluation, by default after a tenth of `time`, of "anytime" a fifth. An own pool is a `space` with a
    root of models, and `build`, which makes the estimator of a configuration. `refits` trainings of the
    best one are averaged; with `ensemble` up to so many configurations predict together, by their mean
    or, with `stacking`, by a model on top if that helps on rows that it was not trained on. `split`
    "time" takes rows to be in the order of time and holds out later ones; rows of one of `groups`, a
    label for each row, are never both trained on and held out. Rows count by their `weights`, and by
    `class_weight`, "balanced" or a weight for each class, in training and in the loss.
    """

    X: Any
    y: Any
    task: Task
    evaluations: int | None = None
    optimizer: str | None = None
    sampling: Sampling = "weighted"
    folds: int | None = None
    metric: str | Callable[..., float] | None = None
    time: float | None = None
    timeout: float | None = None
    workers: int = 1
    storage: Storage = None
    study: str = "cash"
    seed: int = 0
    models: Sequence[str] | None = None
    space: GivenSpace | None = None
    build: Builder | None = None
    defaults: bool = True
    refits: int | None = None
    ensemble: int = 10
    stacking: bool = False
    split: Split = "random"
    groups: Any = None
    weights: Any = None
    class_weight: ClassWeight | None = None
    began: float | None = None

    def __post_init__(self) -> None:
        if (self.space is None) != (self.build is None):
            raise SpaceError("An own pool needs both a space and build; give the other one too.")
        if self.space is not None and self.models is not None:
            raise SpaceError("Models are named of the built-in pool; leave them out of an own one.")
        if self.time is not None and not (math.isfinite(self.time) and self.time > 0):
            raise AnalysisError(f"A time of {self.time} seconds is none; give a positive number.")
        if self.evaluations is not None and self.evaluations < 1:
            raise SpaceError(f"{self.evaluations} evaluations are none; choose at least 1.")
        if self.split not in get_args(Split):
            raise AnalysisError(f"There is no split '{self.split}'; choose 'random' or 'time'.")
        if self.groups is not None and self.split == "time":
            raise AnalysisError(
                "Rows are split by groups or by time, not both; choose one of the two."
            )
        if self.groups is not None and len(self.groups) != len(self.y):
            raise AnalysisError(
                f"There are {len(self.groups)} groups for {len(self.y)} rows; give one for each row."
            )
        for what, number in (
            ("folds", self.folds),
            ("refits", self.refits),
            ("members of an ensemble", self.ensemble),
        ):
            if number is not None and number < 1:
                raise AnalysisError(f"{number} {what} are too few; choose at least 1.")

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What was decided before anything was measured."""
        if self.space is None and self.models is None and not find_spec("xgboost"):
            return (
                "XGBoost is not installed and was left out of the pool; get it with pip install "
                "'hyperlens[cash]'.",
            )
        return ()

    @cached_property
    def searched(self) -> Space:
        """The space, with its root of models."""
        if self.space is not None:
            space = as_space(self.space)
            rooted(space, ROOT)
            return space
        names = self.models
        clock = self.method == "anytime"
        if names is None:
            models = (*pool(self.task), *(further(self.task) if clock else ()))
            names = [m.name for m in models if m.installed]
        return pool_space(self.task, names, stopped=clock)

    @cached_property
    def evaluation(self) -> Evaluation:
        """How a configuration is measured; refuses what cannot be."""
        evaluation = Evaluation(
            self.X, self.y, self.task, self._splits, self.metric, self.seed, builder=self.build,
            disjoint=self.method == "anytime", split=self.split, groups=self.groups,
            kept=Kept(self._folder), seconds=self._growing,
            weights=row_weights(self.y, self.task, self.weights, self.class_weight),
        )  # fmt: skip
        _check_metric(evaluation)
        return evaluation

    @property
    def method(self) -> str:
        """The optimiser's name."""
        if self.optimizer is not None:
            return self.optimizer
        return "hyperband" if self.time is None else "anytime"

    @property
    def planned(self) -> int | None:
        """Evaluations on all rows; None for as many as there is time for."""
        if self.evaluations is None and (self.method != "anytime" or self.time is None):
            return EVALUATIONS
        return self.evaluations

    @property
    def _splits(self) -> int:
        if self.folds is not None:
            return self.folds
        if self.method != "anytime" or self.time is None:
            return _by_size(len(self.y))
        burden = self.X.shape[0] * self.X.shape[1] / (CELLS * self.time)
        return 5 if burden <= 1 else 3 if burden <= 10 else 1

    @cached_property
    def pace(self) -> Pace:
        """The clock of this search."""
        return Pace(self.time, self._splits, len(self.y), self.began)

    @cached_property
    def _folder(self) -> Path:
        """Where held-out predictions are kept as long as this search lives."""
        folder = tempfile.mkdtemp(prefix="hyperlens.")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return Path(folder)

    @cached_property
    def target(self) -> Target:
        return Target(self.evaluation)

    @property
    def first(self) -> FloatArray | None:
        """Configurations to begin with."""
        if not self.defaults:
            return None
        space = self.searched
        models = (*pool(self.task), *further(self.task)) if self.space is None else ()
        starts = {
            m.name: [
                {f"{m.name}:{k}": v for k, v in start.items() if f"{m.name}:{k}" in space.names}
                for start in m.starts
            ]
            for m in models
        }
        return first_vectors(space, self.sampling, starts)

    def run(self, progress: Report | None = None) -> History:
        """Search, or go on where the storage says; the run as a history."""
        name = self.name
        optimizer = self._optimizer()
        left = optimizer.left if isinstance(optimizer, Anytime) else self._search_left
        setting = Setting(
            self.searched, optimizer, self.planned or 1, self.target.maximize, self._storage, name,
            plan=search_plan(self.searched, self.sampling, self.planned),
            left=None if self.time is None else left,
        )  # fmt: skip
        run(self.target, setting, Place(self.workers, self._patience), progress)
        history = self.history()
        if self.time is None or furthest(history):
            return history
        return self._rescued(history)

    def _rescued(self, history: History) -> History:
        """Where no evaluation ended in its time: quick models on few rows, and on fewer after each that
        does not end either, in what was kept for the last training."""
        space, rows = self.searched, len(self.evaluation.rows[0][0])
        first = cheapest_first(space, first_vectors(space, self.sampling), QUICK_FIRST)
        budget = min(1.0, FEWEST_ROWS / rows)
        trials, found = list(history.trials), 0
        for values in space.decode(first):
            seconds = self.pace.left / 2
            if seconds <= 0 or found == RESCUED:
                break
            whole = {**space.constants, **values}
            loss = within(seconds, partial(self.target, whole, budget))
            if loss is None:
                budget /= FEWER
            else:
                found += 1
                state = State.COMPLETE if budget == 1 else State.PRUNED
                proposal = Proposal(rung=0, budget=budget, final=budget == 1)
                number = max((t.number for t in trials), default=-1) + 1
                trial = Trial(number, values, (loss,), state, budget=budget, proposal=proposal)
                trials.append(replace(trial, proposer="anytime"))
        return replace(history, trials=tuple(trials))

    @property
    def _growing(self) -> float | None:
        """Seconds that trees may grow in an evaluation."""
        return None if self._patience is None else GROWING * self._patience

    @property
    def _patience(self) -> float | None:
        """Seconds that an evaluation may take."""
        if self.timeout is not None or self.time is None:
            return self.timeout
        return self.time / (IN_A_RACE if self.method == "anytime" else PATIENCE)

    def _optimizer(self) -> Optimizer:
        if self.method != "anytime":
            return make_optimizer(
                self.method, self.searched, self.planned or EVALUATIONS, self.sampling, self.seed,
                self.first, self._whole_first,
            )  # fmt: skip
        space = self.searched
        first, starts = None, None
        if self.first is not None:
            first = first_vectors(space, self.sampling, cheap=self._cheap)
            first = cheapest_first(space, first, QUICK_FIRST)
            starts = np.array([v for v in self.first if not same(first, v).any()])
        rows = len(self.evaluation.rows[0][0])
        return Anytime(
            space, self.pace, rows, first=first, starts=starts, trials=self.planned,
            sampling=self.sampling, seed=self.seed,
        )  # fmt: skip

    @property
    def _cheap(self) -> dict[str, Any]:
        """By parameter, what models that stop growing begin with."""
        models = (*pool(self.task), *further(self.task)) if self.space is None else ()
        return {
            f"{m.name}:{name}": value
            for m in models
            for name, value in m.cheap.items()
            if f"{m.name}:{name}" in self.searched.names
        }

    def _search_left(self) -> float:
        """Of a search that knows no times: a part is kept for the last training."""
        return self.pace.left - FOR_TRAINING * (self.pace.seconds or 0.0)

    def history(self) -> History:
        """What was measured so far, also by a run that was stopped: configurations that waited to
        go on then are pruned here, and go on when the search does."""
        from hyperlens.optimize.storage.store import Store

        target = self.target
        store = Store(self._storage, self.searched, self.name, target.maximize, target.__name__)
        try:
            waiting = [k for k in store.changes() if k.state is None and k.paused and k.rungs]
            history = store.history()
        finally:
            store.close()
        sign = -1.0 if target.maximize else 1.0
        trials = (*history.trials, *(_cut_short(each, sign, self.method) for each in waiting))
        return replace(history, trials=tuple(sorted(trials, key=lambda t: t.number)))

    def refit(self, trial: Trial) -> Any:
        """The estimator of a trial's configuration, trained on all rows."""
        trees = stopped(self.evaluation, trial.values, trial.budget or 1.0)
        return refitted(self.evaluation, trial.values, self._refits, trees)

    def finish(self, history: History) -> tuple[Any, Ensemble]:
        """The estimator, trained on all rows or as many as there is time for, and what it is made of."""
        return finished(
            self.evaluation, history, best_trial(history), self._refits, self.ensemble, self.pace,
            self.target.__name__, self.target.maximize, self.stacking,
        )  # fmt: skip

    @property
    def _refits(self) -> int:
        if self.refits is None and self.method == "anytime" and self.time is not None:
            return BAGGED
        return self.refits or _by_size(len(self.y))

    @property
    def _whole_first(self) -> bool:
        """Begin on all rows? Not where a few evaluations on so many would take all of the time."""
        return self.time is None or len(self.y) <= MANY_ROWS

    @property
    def name(self) -> str:
        """The study's: another table or another question is another study (fingerprint.py)."""
        return f"{self.study} {self._fingerprint}"

    @cached_property
    def _fingerprint(self) -> str:
        question = [
            self.task, self.planned, self.method, self.sampling, self.target.__name__,
            self.evaluation.splits, self.seed, self.defaults, self.searched.to_json(),
            self.timeout, code_of(self.build),  # they decide what an evaluation comes to
            self._whole_first,
            *([] if self.split == "random" else [self.split]),
            *([] if self.groups is None else [str(g) for g in self.groups]),
            *([] if self.evaluation.weights is None else self.evaluation.weights.tolist()),
        ]  # fmt: skip
        return fingerprint(self.X, self.y, question)

    @cached_property
    def _storage(self) -> Storage:
        """The storage, or one in memory that outlives a run that is stopped."""
        from optuna.storages import InMemoryStorage

        return InMemoryStorage() if self.storage is None else self.storage


def best_trial(history: History) -> Trial:
    """The best configuration at the largest budget."""
    trials = furthest(history)
    if not trials:
        raise AnalysisError(_why_nothing(history))
    return trials[0]


def _by_size(rows: int) -> int:
    return next((times for most, times in TIMES if rows <= most), 1)


def _cut_short(waiting: StudyTrial, sign: float, optimizer: str) -> Trial:
    budget, cost = waiting.rungs[-1]
    return Trial(
        waiting.number,
        waiting.values,
        (sign * cost,),
        State.PRUNED,
        budget=budget,
        proposer=optimizer,
        reason="the search was stopped before it could go on",
        proposal=Proposal(rung=len(waiting.rungs) - 1, budget=budget),
    )


def _why_nothing(history: History) -> str:
    failed = [t.reason or "unknown" for t in history.trials if t.state is State.FAILED]
    if not failed:
        return "Nothing was evaluated in the time given; give the search more of it."
    reason, times = Counter(failed).most_common(1)[0]
    often = "once" if times == 1 else f"{times} times"
    return (
        f"All {len(failed)} evaluations failed, {often} because of: {reason}; change the data, the "
        "metric, the models or the time that one may take (timeout), which begins a new search."
    )


def _check_metric(evaluation: Evaluation) -> None:
    """Refuse a metric that no model could be measured by, before the search."""
    try:
        evaluation.guessed()
    except SourceError:
        raise
    except Exception as problem:  # whatever a scorer raises
        reason = " ".join(str(problem).split())[:200]
        named = evaluation.metric or DEFAULT_METRIC[evaluation.task]
        raise SourceError(
            f"The metric '{named}' cannot be measured here ({reason}); choose another, such as "
            f"'{DEFAULT_METRIC[evaluation.task]}'."
        ) from problem
