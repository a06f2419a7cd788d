"""A search over models: every method, any number of workers, failures, stops, and its story."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier

import hyperlens as hl
from hyperlens import AnalysisError, History, Parameter, SourceError, Space, SpaceError, State
from hyperlens.cash import pool
from hyperlens.cash.measuring.evaluation import Evaluation
from hyperlens.cash.models.pool import pool_space
from hyperlens.cash.results.model_search import ModelSearch, model_search
from hyperlens.cash.results.one_model import one_model
from hyperlens.cash.search.optimizers import OPTIMIZERS, SCHEDULED, first_vectors, make_optimizer
from hyperlens.cash.search.search import Search, best_trial
from hyperlens.optimize.models.model_sampling import ModelSampler
from hyperlens.optimize.optimizers.schedule import schedule

optuna.logging.set_verbosity(optuna.logging.ERROR)

FAST = ("GaussianNB", "BernoulliNB", "QuadraticDiscriminantAnalysis")


def table(n: int = 90, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.standard_normal((n, 3)), columns=["a", "b", "c"])
    return X, np.where(X["a"] + 0.5 * rng.standard_normal(n) > 0, "yes", "no")


def search(**options: Any) -> Search:
    X, y = table()
    chosen: dict[str, Any] = {"evaluations": 9, "folds": 2, "models": FAST} | options
    return Search(X, y, "classification", **chosen)


def measured(history: History) -> set[tuple[str, Any, Any, State]]:
    """What was measured, whatever its order."""
    return {
        (json.dumps(dict(t.values), sort_keys=True, default=str), t.costs[0], t.budget, t.state)
        for t in history.trials
    }


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_every_method_searches(optimizer: str) -> None:
    plan = search(optimizer=optimizer)
    history = plan.run()
    best = best_trial(history)
    evaluation = plan.evaluation
    assert best.budget in (None, 1.0)
    assert best.costs[0] == pytest.approx(evaluation(best.values))
    assert best.costs[0] < evaluation.guessed()
    assert history.objective() == hl.Objective("log_loss")
    assert model_search(history).spent.sum() <= 9 + 1e-9
    assert plan.refit(best).predict(evaluation.X).shape == (90,)


@pytest.mark.parametrize("optimizer", ["hyperband", "halving", "random"])
def test_any_number_of_workers_finds_the_same(optimizer: str) -> None:
    one = search(optimizer=optimizer).run()
    three = search(optimizer=optimizer, workers=3).run()
    assert measured(one) == measured(three)
    assert best_trial(one).values == best_trial(three).values
    other = search(optimizer=optimizer, seed=1).run()
    assert measured(other) != measured(one)


def test_smbo_on_the_whole_pool() -> None:
    """After its design the forest proposes, and each proposal is a configuration of the space."""
    space = pool_space("classification")
    optimizer = make_optimizer("smbo", space, evaluations=12)
    for k in range(6):
        proposal = optimizer.ask()
        assert proposal is not None
        assert not len(space.misfits(space.encode([proposal.values])))
        assert proposal.proposal.surrogate == ("forest" if k >= 4 else None)
        optimizer.tell(proposal.values, float(k % 3))


# Defaults come first


def test_defaults_by_hand() -> None:
    space = pool_space("classification")
    found = {c["model"]: c for c in space.decode(first_vectors(space))}
    assert list(found)[:3] == ["XGBoost", "GradientBoostingClassifier", "RandomForestClassifier"]
    for model in pool("classification"):
        values = found[model.name]
        for h in model.hyperparameters:
            name = f"{model.name}:{h.name}"
            if h.when is None or values[f"{model.name}:{h.when[0]}"] == h.when[1]:
                assert values[name] == pytest.approx(h.default)
            else:
                assert name not in values
    without = dict.fromkeys(FAST, 1.0) | {FAST[0]: 0.0}
    left = first_vectors(pool_space("classification", FAST), without)
    assert len(left) == 2


def test_defaults_are_tried_on_all_rows_first() -> None:
    space = pool_space("classification")
    first_ones = first_vectors(space)
    defaults = space.decode(first_ones)
    optimizer = make_optimizer("hyperband", space, evaluations=99, first=first_ones)
    asked = [optimizer.ask() for _ in range(11)]
    assert [p.values for p in asked if p] == defaults
    assert {p.proposal.budget for p in asked if p} == {1.0}
    small = make_optimizer(
        "hyperband", space, evaluations=9, first=first_ones
    )  # three brackets of 3, 4 and 9 configurations
    drawn = [small.ask() for _ in range(16)]
    budgets = [p.proposal.budget for p in drawn if p and p.values in defaults]
    assert budgets == [1.0] * 2 + [1 / 3] * 2 + [1 / 9] * 5
    for name in SCHEDULED:
        first = make_optimizer(name, space, evaluations=33, first=first_ones).ask()
        plain = make_optimizer(name, space, evaluations=33).ask()
        assert first is not None
        assert plain is not None
        assert first.values == defaults[0]
        assert plain.values not in defaults


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_every_start_is_a_configuration_of_the_space(task: Any) -> None:
    X, _ = table()
    y = np.arange(90) % 2
    plan = Search(X, y, task)
    values = plan.searched.decode(plan.first if plan.first is not None else np.empty((0, 0)))
    assert len(values) == 11 + sum(len(m.starts) for m in pool(task)) > 11
    assert not len(plan.searched.misfits(plan.searched.encode(values)))
    models = {m.name: m for m in pool(task)}
    for model, of_model in groupby(values, key=lambda v: v["model"]):
        default, *others = of_model
        for start, other in zip(models[model].starts, others, strict=True):
            changed = {k.split(":")[1] for k in other if other[k] != default.get(k)}
            assert changed == set(start)
            assert all(other[f"{model}:{k}"] == pytest.approx(v) for k, v in start.items())
    assert Search(X, y, task, defaults=False).first is None


@pytest.mark.parametrize("optimizer", ["hyperband", "halving", "random", "asha"])
def test_a_model_without_hyperparameters_is_measured_once(optimizer: str) -> None:
    history = own(raising, optimizer=optimizer).run()
    seen = [json.dumps(dict(t.values), sort_keys=True) for t in history.trials]
    assert len(seen) == len(set(seen)) > 3
    assert sum(t.values["model"] == "bad" for t in history.trials) == 1
    assert any(t.state is State.COMPLETE for t in history.trials)


def test_without_defaults_brackets_hold_what_is_drawn() -> None:
    space = pool_space("classification")
    optimizer = make_optimizer("halving", space, evaluations=9, seed=4)
    drawn = ModelSampler(space).sample(27, np.random.default_rng([4, 3, 0]))
    asked = [optimizer.ask() for _ in range(27)]
    found = np.array([p.vector for p in asked if p])
    assert np.allclose(found, drawn, atol=1e-9, equal_nan=True)


# What fails


class Broken(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Raises, or never returns."""

    def __init__(self, hang: bool = False) -> None:
        self.hang = hang

    def fit(self, X: Any, y: Any) -> Broken:
        if self.hang:
            threading.Event().wait()
        raise ZeroDivisionError("no such thing")


def own_space() -> Space:
    return Space.of(
        [
            Parameter("model", "categorical", choices=("good", "bad")),
            Parameter("shift", "float", 0.0, 1.0),
        ],
        {"shift": ((("model", "equal", "good"),),)},
    )


def raising(configuration: Mapping[str, Any]) -> Any:
    if configuration["model"] == "bad":
        return Broken()
    return DummyClassifier(strategy="stratified", random_state=int(100 * configuration["shift"]))


def hanging(configuration: Mapping[str, Any]) -> Any:
    if configuration["model"] == "bad":
        return Broken(hang=True)
    return DummyClassifier()


def own(build: Any, **options: Any) -> Search:
    X, y = table(40)
    plan = {
        "evaluations": 9,
        "folds": 1,
        "sampling": "uniform",
        "space": own_space(),
        "build": build,
    }
    return Search(X, y, "classification", **(plan | options))


def test_a_failure_has_its_reason_and_the_search_goes_on() -> None:
    history = own(raising).run()
    record = model_search(history, "uniform")
    bad = record.models.index("bad")
    assert best_trial(history).values["model"] == "good"
    assert record.failed[bad] == record.reached[bad, 0] > 0
    assert np.isnan(record.best[bad])
    assert all("ZeroDivisionError: no such thing" in reason for reason in record.reasons)
    assert sum(record.reasons.values()) == record.failed.sum()
    assert "failed and count as worst" in " ".join(record.story)


def test_what_hangs_is_ended() -> None:
    history = own(hanging, timeout=1.0, evaluations=2, optimizer="random").run()
    assert [t.reason for t in history.trials if t.state is State.FAILED] == ["took longer than 1 s"]
    assert best_trial(history).values["model"] == "good"


def test_if_everything_fails_one_sentence_says_so() -> None:
    history = own(lambda _: Broken(), evaluations=3, optimizer="random").run()
    with pytest.raises(AnalysisError, match=r"All 3 evaluations failed, 3 times because of: Zero"):
        best_trial(history)
    assert model_search(history).notes == ("No evaluation succeeded, so no model can be named.",)


def test_no_time_at_all() -> None:
    history = search(time=1e-9).run()
    with pytest.raises(AnalysisError, match="give the search more of it"):
        best_trial(history)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"optimizer": "grid"}, "no optimiser 'grid'"),
        ({"evaluations": 0}, "0 evaluations are none"),
        ({"evaluations": 5}, "allow 9"),
        ({"sampling": "even"}, "no sampling 'even'"),
        ({"models": ["SVM", "GaussianNB"]}, "no model 'SVM'"),
        ({"metric": "beauty"}, "no metric 'beauty'"),
        ({"metric": "f1"}, "'f1' cannot be measured here .*pos_label"),
        ({"time": -1.0}, "positive number"),
        ({"folds": 0}, "0 folds are too few"),
        ({"refits": 0}, "0 refits are too few"),
        ({"space": own_space()}, "needs both"),
        ({"space": own_space(), "build": raising}, "leave them out"),
        ({"space": [Parameter("x", "float", 0, 1)], "build": raising, "models": None}, "'model'"),
    ],
)
def test_wrong_plans_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises((SpaceError, AnalysisError, SourceError), match=said):
        search(**options).run()


def test_a_larger_score_is_better() -> None:
    history = search(metric="accuracy", optimizer="random").run()
    best = best_trial(history)
    assert history.objective() == hl.Objective("accuracy", maximize=True)
    assert best.costs[0] == max(t.costs[0] for t in history.trials)
    record = model_search(history)
    assert record.best[0] == best.costs[0] == record.leaders[0].cost
    assert list(record.leaderboard["accuracy"]) == sorted(record.leaderboard["accuracy"])[::-1]


def test_a_scorer_of_one_s_own() -> None:
    def first_right(estimator: Any, X: Any, y: Any) -> float:
        return float(estimator.predict(X)[0] == y[0])

    history = search(metric=first_right, optimizer="random", evaluations=3).run()
    assert history.objective() == hl.Objective("score", maximize=True)
    assert {t.costs[0] for t in history.trials} <= {0.0, 0.5, 1.0}


# What is stopped


class Stop:
    """Lets so many evaluations through, then behaves like Ctrl-C."""

    def __init__(self, allowed: int) -> None:
        self.allowed = allowed

    def __call__(self, configuration: Mapping[str, Any]) -> Any:
        if configuration["model"] == "bad":
            return DummyClassifier(strategy="uniform", random_state=0)
        self.allowed -= 1
        if self.allowed < 0:
            raise KeyboardInterrupt
        return raising(configuration)


@pytest.mark.parametrize("allowed", [2, 12])
def test_a_stopped_search_goes_on(tmp_path: Path, allowed: int) -> None:
    kept = f"sqlite:///{tmp_path / 'search.db'}"
    options: dict[str, Any] = {"optimizer": "halving", "defaults": False, "evaluations": 4}
    stopped = own(Stop(allowed), storage=kept, **options)
    with pytest.raises(KeyboardInterrupt):
        stopped.run()
    so_far = stopped.history()
    assert any(t.state is State.PRUNED for t in so_far.trials)
    early = best_trial(so_far)
    assert early.budget is not None
    assert early.budget < 1
    assert "of them" in model_search(so_far, "uniform").notes[0]
    again = own(Stop(1000), storage=kept, **options).run()
    assert measured(again) == measured(own(Stop(1000), **options).run())


def test_another_table_is_another_study(tmp_path: Path) -> None:
    kept = f"sqlite:///{tmp_path / 'search.db'}"
    plan = search(storage=kept, evaluations=3, optimizer="random")
    first = plan.run()
    X, y = table(seed=1)
    other = Search(X, y, "classification", 3, "random", folds=2, models=FAST, storage=kept)
    assert other.name != plan.name
    assert search(storage=kept, evaluations=3, optimizer="random").name == plan.name
    assert measured(other.run()).isdisjoint(measured(first))
    assert measured(plan.run()) == measured(first)  # nothing is left to do


# The story


@pytest.fixture(scope="module")
def story() -> tuple[History, ModelSearch]:
    history = search(evaluations=18).run()
    return history, model_search(history)


def test_the_story_adds_up(story: tuple[History, ModelSearch]) -> None:
    """Against the schedule, which is exact."""
    history, record = story
    plan = schedule(6)
    assert record.reached[:, 0].sum() == sum(b.rungs[0].configurations for b in plan.brackets)
    assert record.reached[:, -1].sum() == sum(b.rungs[-1].configurations for b in plan.brackets)
    assert record.spent.sum() == pytest.approx(float(plan.used))
    assert record.weights.sum() == pytest.approx(1)
    assert record.budgets == pytest.approx([1 / 9, 1 / 3, 1])
    assert len(record.leaders) == record.reached[:, -1].sum()
    assert record.frame["promoted"].sum() == len(record.leaderboard)
    costs = [leader.cost for leader in record.leaders]
    assert costs == sorted(costs)
    assert record.leaders[0].trial == best_trial(history).number
    assert record.models[0] == record.leaders[0].model
    for i, model in enumerate(record.models):
        own_costs = [x.cost for x in record.leaders if x.model == model]
        assert record.best[i] == min(own_costs) if own_costs else np.isnan(record.best[i])


def test_the_story_is_told_drawn_and_written(story: tuple[History, ModelSearch]) -> None:
    _, record = story
    told = " ".join(record.story)
    assert f"{record.models[0]} came first" in told
    assert "twice as often with each of its" in told
    assert "were measured on all rows" in told
    written = json.loads(record.to_json())
    assert written["record"] == "ModelSearch"
    assert written["models"] == list(record.models)
    figure = record.plot()
    assert sum(figure.data[0].x) == pytest.approx(1)
    assert len(figure.data[2].x) == len(record.leaders)


def test_only_a_search_over_models_has_a_story() -> None:
    run = hl.minimize(lambda c: c["x"], [Parameter("x", "float", 0, 1)], trials=2, initial=2)
    with pytest.raises(AnalysisError, match="does not choose among models"):
        hl.model_search(run)


def test_one_model_by_itself(story: tuple[History, ModelSearch]) -> None:
    history, record = story
    alone = one_model(history, "BernoulliNB")
    assert set(alone.space.names) == {
        f"BernoulliNB:{h}" for h in ("fit_prior", "thresholds", "alpha")
    }
    assert len(alone.trials) == record.reached[record.models.index("BernoulliNB"), 0]
    assert not len(alone.space.misfits(alone.vectors))
    space = pool_space("classification")
    values = space.decode(ModelSampler(space, "uniform").sample(80, 0))
    trials = tuple(hl.Trial(i, v, (float(i),)) for i, v in enumerate(values))
    whole = History(space, (hl.Objective("loss"),), trials)
    linear = one_model(whole, "LinearDiscriminantAnalysis")  # its own conditions stay
    assert set(linear.space.clauses) == {
        f"{linear.space.constants['model']}:{h}" for h in ("tol", "shrinkage")
    }
    assert not len(linear.space.misfits(linear.vectors))
    assert (
        "good"
        in one_model(
            own(raising, evaluations=3, optimizer="random").run(), "good"
        ).space.constants.values()
    )
    with pytest.raises(AnalysisError, match="bad has no hyperparameters"):
        one_model(own(raising, evaluations=3, optimizer="random").run(), "bad")


# The budget of an evaluation


def test_a_smaller_part_lies_in_every_larger_one_and_keeps_all_classes() -> None:
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b", "c"], 300, p=[0.9, 0.07, 0.03])
    evaluation = Evaluation(pd.DataFrame({"x": rng.random(300)}), y, "classification", 3)
    for train, held in evaluation.rows:
        assert not set(train) & set(held)
        parts = [set(evaluation.subset(train, r)) for r in (1 / 9, 1 / 3, 1.0)]
        assert parts[0] < parts[1] < parts[2]
        for part in parts:
            assert set(y[train[sorted(part)]]) == {"a", "b", "c"}
        counts = np.unique(y[train], return_counts=True)[1]
        third = np.unique(y[train[sorted(parts[1])]], return_counts=True)[1]
        assert third.tolist() == [max(1, round(c / 3)) for c in counts]


def test_too_few_rows_for_the_classes() -> None:
    X = pd.DataFrame({"x": range(9)})
    with pytest.raises(SourceError, match="'b' has one row"):
        _ = Evaluation(X, np.array(["a"] * 8 + ["b"]), "classification").rows
    with pytest.raises(SourceError, match="too few for 4 classes"):
        _ = Evaluation(X, np.array(list("aabbccddd")), "classification").rows


def test_another_limit_or_another_builder_is_another_search(tmp_path: Path) -> None:
    """What failed for lack of time, or by a mistake in build, is tried anew when that is mended."""
    storage = f"sqlite:///{tmp_path}/search.db"
    history = own(lambda _: Broken(), storage=storage, evaluations=2, optimizer="random").run()
    assert history.count(State.FAILED) == len(history.trials)
    mended = own(
        lambda c: DummyClassifier(), storage=storage, evaluations=2, optimizer="random"
    ).run()
    assert mended.count(State.COMPLETE) == len(mended.trials)
    plan = search(optimizer="random", evaluations=3)
    assert plan.name != search(optimizer="random", evaluations=3, timeout=9.0).name
    assert plan.name == search(optimizer="random", evaluations=3, time=60.0, workers=2).name


def test_a_large_table_in_little_time_begins_on_a_part_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def first(**options: Any) -> float | None:
        return search(optimizer="hyperband", **options).run().trials[0].budget

    assert first(time=600.0) == 1.0
    monkeypatch.setattr("hyperlens.cash.search.search.MANY_ROWS", 50)
    plan = search(optimizer="hyperband", time=600.0)
    begun = min(plan.run().trials, key=lambda t: t.spans[0][0])
    assert begun.budget is not None
    assert begun.budget < 1 or len(begun.spans) > 1
    assert first() == 1.0  # without a limit there is time enough


def test_later_rows_are_held_out() -> None:
    X, y = table()
    for splits in (1, 4):
        held = []
        for train, out in Evaluation(X, y, "classification", splits, split="time").rows:
            assert np.array_equal(train, np.arange(out[0]))
            held += list(out)
        assert held == list(range(90 - len(held), 90))
    assert len(search(split="time").evaluation.rows) == 2
    with pytest.raises(SourceError, match="choose fewer folds"):
        _ = Evaluation(X[:8], y[:8], "classification", 6, split="time").rows


def test_groups_stay_together() -> None:
    X, y = table()
    groups = np.arange(90) // 9
    for splits in (1, 5):
        for train, held in Evaluation(X, y, "classification", splits, groups=groups).rows:
            assert not set(groups[train]) & set(groups[held])
    with pytest.raises(SourceError, match="10 groups are too few"):
        _ = Evaluation(X, y, "classification", 11, groups=groups).rows
    assert search().name != search(groups=groups).name != search(split="time").name
    found = hl.CASHClassifier(evaluations=3, optimizer="random", folds=2, models=FAST).fit(
        X, y, groups=groups
    )
    assert found.ensemble_.together <= found.ensemble_.single


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"split": "later"}, "no split 'later'"),
        ({"split": "time", "groups": [0] * 90}, "not both"),
        ({"groups": [0, 1]}, "2 groups for 90 rows"),
    ],
)
def test_wrong_splits_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(AnalysisError, match=said):
        search(**options)
