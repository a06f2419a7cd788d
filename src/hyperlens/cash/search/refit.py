"""The last training: the chosen configurations on all rows, and several times more, averaged.

The mean of several trainings is steadier than any of them. In a search by the clock each is trained
without a fifth of the rows too, another one each time, as held-out predictions were made (bagging,
Breiman 1996). Else each is trained with several seeds; one that draws nothing at random is trained once,
but for boosted trees, which differ much with their rows: these then leave a fifth out. With a time limit
nothing is begun that is not expected to end: rows are left out before a member is, and a training that
may take too long runs in a process that can be ended.
"""

from __future__ import annotations

import multiprocessing as mp
import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from hyperlens.cash.data.row_weights import weighting
from hyperlens.cash.measuring.evaluation import Evaluation
from hyperlens.cash.measuring.growing import grows
from hyperlens.cash.measuring.kept import key_of
from hyperlens.cash.search.ensemble import lifted, tempered_by
from hyperlens.cash.search.pace import Pace
from hyperlens.optimize.models.model_sampling import ROOT
from hyperlens.spaces.cube import IntArray

SOME_ROWS = 1000  # that show whether two trainings differ
SURE = 0.3  # of the seconds left: what is expected to take less is trained in this process
ENOUGH_LEFT = 0.6  # of the seconds left may be used by the first member, so that others follow
FEWEST_ROWS = 200  # a member is not trained on fewer
NEARLY_ALL = 0.9  # of the rows: then on all
LEFT_OUT = 5  # parts, of which each is left out once; then those of another partition
WORTH = 2.0  # times as many rows make another training worth its time


class _Mean(BaseEstimator):  # type: ignore[misc]  # no types
    def __init__(
        self,
        models: Sequence[Any] = (),
        weights: Sequence[float] | None = None,
        temperature: float = 1.0,
        least: float = 0.0,
    ) -> None:
        self.models, self.weights = models, weights
        self.temperature, self.least = temperature, least


class MeanClassifier(ClassifierMixin, _Mean):  # type: ignore[misc]
    """Classifiers that were fitted before; the chance of a class is the mean of theirs, tempered, and
    lifted so that none is smaller than `least`."""

    def fit(self, X: Any, y: Any) -> MeanClassifier:
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Any) -> Any:
        check_is_fitted(self, "classes_")
        each = [model.predict_proba(X) for model in self.models]
        mean = np.average(each, axis=0, weights=self.weights)
        mean = mean if self.temperature == 1.0 else tempered_by(mean, self.temperature)
        return lifted(mean, self.least) if self.least else mean

    def predict(self, X: Any) -> Any:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class MeanRegressor(RegressorMixin, _Mean):  # type: ignore[misc]
    """Regressors that were fitted before; the mean of what they predict."""

    def fit(self, X: Any, y: Any) -> MeanRegressor:
        self.fitted_ = True
        return self

    def predict(self, X: Any) -> Any:
        check_is_fitted(self, "fitted_")
        return np.average([model.predict(X) for model in self.models], axis=0, weights=self.weights)


def refitted(
    evaluation: Evaluation, configuration: Mapping[str, Any], times: int, trees: int | None = None
) -> Any:
    """The estimator of a configuration, trained on all rows; the mean of up to `times` trainings. It has
    so many `trees` where growing stopped early.

    One training where the seed changes nothing (but of boosted trees), or where an own classifier knows
    no chances.
    """
    (trained,) = train(evaluation, [Member(configuration, 1.0, trees=trees)], times, Pace(None))
    return together(evaluation, [trained])


@dataclass(frozen=True, eq=False)
class Member:
    """A configuration, how much it counts, and what came of its training on a part of the rows."""

    configuration: Mapping[str, Any]
    weight: float
    models: tuple[Any, ...] = ()
    part: float = 0.0
    measured_on: float = 1.0  # part of the rows that its predictions are of
    place: int = 0  # among the candidates
    trees: int | None = None  # where growing stopped early

    @property
    def built(self) -> Mapping[str, Any]:
        """The configuration that is trained: with the trees that early stopping found."""
        if self.trees is None:
            return self.configuration
        return {**self.configuration, f"{self.configuration[ROOT]}:n_estimators": self.trees}

    @property
    def name(self) -> tuple[str, str]:
        return str(self.configuration.get(ROOT, "")), key_of(self.configuration)


def train(
    evaluation: Evaluation, members: Sequence[Member], times: int, pace: Pace
) -> list[Member]:
    """Train members on all rows, or on as many as there is time for; the first one at any rate.

    Each once, the first first; then again, those that count most more often, as long as there is time.
    Those for which there is none are left out.
    """
    classes = evaluation.task == "classification"
    trained: list[Member] = []
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # the search has seen this configuration succeed
        for place, member in enumerate(members):
            alone = place == 0 and len(members) > 1
            seconds = pace.left * (ENOUGH_LEFT if alone else 1.0)
            trained += _grown(evaluation, member, pace, seconds, needed=not trained)
        wanted = [
            1 if classes and not hasattr(m.models[0], "predict_proba") else round(times * m.weight)
            for m in trained
        ]
        if evaluation.disjoint and pace.seconds is not None:
            return _bagged(evaluation, trained, wanted, pace)
        return [
            _again(evaluation, m, w, pace) if w > 1 else m
            for m, w in zip(trained, wanted, strict=True)
        ]


def _bagged(
    evaluation: Evaluation, members: Sequence[Member], wanted: Sequence[int], pace: Pace
) -> list[Member]:
    """Members without a part of the rows too, in turns, as long as there is time."""
    models = [list(member.models) for member in members]
    for turn in range(1, max(wanted)):
        for member, its, most in zip(members, models, wanted, strict=True):
            quick = _expected(pace, member, member.part) < SURE * pace.left
            if turn < most and len(its) == turn and quick:
                its.append(_fitting(evaluation, member.built, member.part, turn, turn)())
    return [replace(m, models=tuple(its)) for m, its in zip(members, models, strict=True)]


def _again(evaluation: Evaluation, member: Member, wanted: int, pace: Pace) -> Member:
    """The member with other seeds too; boosted trees, if seeds change nothing, without a part of the
    rows, another one each time."""
    classes, some = evaluation.task == "classification", evaluation.X.iloc[:SOME_ROWS]
    models, alike = list(member.models), False
    for seed in range(1, wanted):
        began = time.monotonic()
        if pace.seconds is not None and _expected(pace, member, member.part) > SURE * pace.left:
            break
        out = seed if alike else None
        models.append(_fitting(evaluation, member.built, member.part, seed, out)())
        if seed == 1 and np.array_equal(*(_predicted(m, some, classes) for m in models)):
            models, alike = models[:1], grows(models[0])
            if not alike:
                break
            models.append(_fitting(evaluation, member.built, member.part, seed, seed)())
        if pace.seconds is not None and (time.monotonic() - began) * 2 > pace.left:
            break
    return replace(member, models=tuple(models))


def together(
    evaluation: Evaluation,
    members: Sequence[Member],
    temperature: float = 1.0,
    least: float = 0.0,
) -> Any:
    """One estimator of what was trained."""
    plain = temperature == 1.0 and not least
    if len(members) == 1 and len(members[0].models) == 1 and plain:
        return members[0].models[0]
    models = [model for member in members for model in member.models]
    weights = [m.weight / len(m.models) for m in members for _ in m.models]
    even = len(members) == 1
    kind = MeanClassifier if evaluation.task == "classification" else MeanRegressor
    whole = kind(models, None if even else weights, temperature, least)
    return whole.fit(evaluation.X, evaluation.y)


def _fitting(
    evaluation: Evaluation,
    configuration: Mapping[str, Any],
    part: float,
    seed: int,
    out: int | None = None,
) -> Callable[[], Any]:
    """A training on a part of the rows; without the part `out` of them, of which there are LEFT_OUT in
    each partition."""
    rows = np.arange(len(evaluation.y))
    if part < 1:
        rows = evaluation.subset(rows, part)
    if out is not None:
        rows = _without(evaluation, rows, out)

    def fit() -> Any:
        model = replace(evaluation, seed=evaluation.seed + seed).model(configuration)
        counted = None if evaluation.weights is None else evaluation.weights[rows]
        options = weighting(model, counted)
        if len(rows) < len(evaluation.y):
            return model.fit(evaluation.X.iloc[rows], evaluation.y[rows], **options)
        return model.fit(evaluation.X, evaluation.y, **options)

    return fit


def _without(evaluation: Evaluation, rows: IntArray, out: int) -> IntArray:
    """Rows but for one of LEFT_OUT parts, of each class alike."""
    partition = np.random.default_rng([evaluation.seed, len(rows), out // LEFT_OUT])
    order = partition.permutation(len(rows))
    place = np.empty(len(rows), dtype=np.int64)
    if evaluation.task == "classification":
        order = order[np.argsort(evaluation.codes[rows][order], kind="stable")]
    place[order] = np.arange(len(rows)) % LEFT_OUT
    left: IntArray = rows[place != out % LEFT_OUT]
    if evaluation.task == "classification" and len(np.unique(evaluation.codes[left])) < len(
        np.unique(evaluation.codes[rows])
    ):
        return rows  # a class of very few rows
    return left


def _expected(pace: Pace, member: Member, part: float) -> float:
    return pace.training(*member.name, part) or 0.0


def _grown(
    evaluation: Evaluation, member: Member, pace: Pace, seconds: float, needed: bool
) -> list[Member]:
    """Trained on all rows if there is time, else on as many as there seems to be time for; as each
    training tells what the next will take, on more of them then. Nothing where there was no time."""
    if pace.seconds is None:
        model = _fitting(evaluation, member.built, 1.0, 0)()
        return [replace(member, models=(model,), part=1.0)]
    rows, model, done = len(evaluation.y), None, 0.0
    ends = pace.left - seconds
    least = min(1.0, max(FEWEST_ROWS / rows, min(member.measured_on, 0.1)))
    while done < 1:
        left = pace.left - ends
        part = pace.affordable(*member.name, left)
        part = 1.0 if part > NEARLY_ALL else part
        if part < max(least, WORTH * done):
            if not needed or model is not None:
                break
            part = least
        fit = _fitting(evaluation, member.built, part, 0)
        began = pace.clock()
        sure = _expected(pace, member, part) <= max(SURE * left, pace.grace)
        sure = sure or (needed and part == least)
        found = fit() if sure else within(left, fit)
        if found is None:
            if not needed or model is not None:
                break
            member = replace(member, measured_on=0.0)
            pace.trained(*member.name, 1.0, 1e9)  # far more than there is
            continue
        model, done = found, part
        if part < 1:
            pace.trained(*member.name, part, pace.clock() - began)
    return [] if model is None else [replace(member, models=(model,), part=done)]


def within(seconds: float, fit: Callable[[], Any]) -> Any | None:
    """What a training gives, or None if it takes longer than so many seconds."""
    if not hasattr(os, "fork"):
        return fit()
    context = mp.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)

    def work() -> None:
        theirs.send(fit())

    process = context.Process(target=work, daemon=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # fork among threads, Python 3.12
        process.start()
    theirs.close()
    try:
        return ours.recv() if ours.poll(max(0.0, seconds)) else None
    except EOFError:  # it failed
        return None
    finally:
        process.kill()
        process.join()
        ours.close()


def _predicted(model: Any, X: Any, classes: bool) -> Any:
    return model.predict_proba(X) if classes else model.predict(X)
