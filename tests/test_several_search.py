"""Searches with several objectives, constraints and failures: closed forms by other routes, and runs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hyperlens as hl
from hyperlens.errors import HyperlensError
from hyperlens.optimize.optimizers.random_search import RandomSearch
from hyperlens.optimize.running.goal import as_goal
from hyperlens.runs.hypervolume import volume
from hyperlens.surrogates.acquisition import (
    expected_hypervolume_improvement,
    expected_improvement,
    log_chance_kept,
    log_expected_hypervolume_improvement,
)
from hyperlens.surrogates.desirability import Desirability
from hyperlens.surrogates.free_boxes import FreeBoxes

SQUARE = hl.Space.of([hl.Parameter("x", "float", 0, 1), hl.Parameter("y", "float", 0, 1)])
Values = Mapping[str, Any]


def two(c: Values) -> tuple[float, float]:
    return c["x"] + 0.2 * c["y"], (1 - c["x"]) ** 2 + c["y"] ** 2


def limited(c: Values) -> dict[str, float]:
    """Its minimum, at (0.7, 0.2), exceeds x + y <= 0.6; the best that keeps it is at (0.55, 0.05)."""
    return {"loss": (c["x"] - 0.7) ** 2 + (c["y"] - 0.2) ** 2, "size": c["x"] + c["y"]}


def crashing(c: Values) -> float:
    if c["x"] > 0.6:
        raise RuntimeError("boom")
    return float((c["x"] - 0.7) ** 2 + (c["y"] - 0.3) ** 2)


# Closed forms


@settings(max_examples=25, deadline=None)
@given(m=st.integers(2, 4), n=st.integers(0, 7), seed=st.integers(0, 1000))
def test_free_boxes_fill_what_no_point_dominates(m: int, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 5, size=(n, m)) / 4  # ties and points at the reference among them
    free = FreeBoxes.of(points, np.ones(m))
    sides = np.clip(free.upper, 0, 1) - np.clip(free.lower, 0, 1)
    assert math.isclose(
        np.prod(sides, axis=1).sum() + volume(points, np.ones(m)), 1.0, abs_tol=1e-12
    )
    drawn = rng.random((200, m))
    inside = ((drawn[:, None] >= free.lower) & (drawn[:, None] < free.upper)).all(axis=2)
    beaten = np.any(np.all(points[None] <= drawn[:, None], axis=2), axis=1)
    assert (inside.sum(axis=1) == ~beaten).all()


@pytest.mark.parametrize("m", [2, 3])
def test_expected_hypervolume_improvement_is_the_mean_of_what_draws_add(m: int) -> None:
    rng = np.random.default_rng(m)
    points, reference = rng.random((6, m)), np.full(m, 1.1)
    mean, std = rng.random((m, 3)), 0.1 + 0.3 * rng.random((m, 3))
    found = expected_hypervolume_improvement(mean, std, FreeBoxes.of(points, reference))
    before = volume(points, reference)
    for k in range(3):
        draws = mean[:, k] + std[:, k] * rng.normal(size=(1500, m))
        added = np.array([volume(np.vstack([points, y]), reference) - before for y in draws])
        assert abs(added.mean() - found[k]) < 4 * added.std() / math.sqrt(len(added))


def test_one_objective_has_the_expected_improvement_on_its_best() -> None:
    mean, std = np.array([[0.4, 0.9]]), np.array([[0.2, 0.1]])
    free = FreeBoxes.of(np.array([[0.5]]), np.array([2.0]))
    found = expected_hypervolume_improvement(mean, std, free)
    assert np.allclose(found, expected_improvement(mean[0], std[0], 0.5), rtol=1e-12)


def test_where_the_improvement_vanishes_nearer_is_still_better() -> None:
    free = FreeBoxes.of(np.zeros((1, 2)), np.ones(2))
    mean = np.array([[30.0, 60.0, 90.0]] * 2)
    logs = log_expected_hypervolume_improvement(mean, np.ones((2, 3)), free)
    assert np.isfinite(logs).all()
    assert (np.diff(logs) < 0).all()


def test_constrained_improvement_is_the_mean_over_draws() -> None:
    rng = np.random.default_rng(0)
    mean, std = np.array([[0.3], [0.2], [-0.1]]), np.array([[0.4], [0.5], [0.3]])
    wish = Desirability("ei", 1, best=0.5, limits=2)
    cost, *excess = mean + std * rng.normal(size=(3, 200_000))
    kept = (np.array(excess) <= 0).all(axis=0)
    gain = np.maximum(0.5 - cost, 0) * kept
    assert abs(gain.mean() - wish.score(mean, std)[0]) < 4 * gain.std() / math.sqrt(len(gain))
    assert math.isclose(-wish.cost(mean, std)[0], math.log(wish.score(mean, std)[0]), rel_tol=1e-9)
    assert math.isclose(math.exp(log_chance_kept(np.array([1.0]), np.array([0.0]))[0]), 0.0)


# Runs with several objectives


def test_a_front_is_searched_kept_resumed_and_explained(tmp_path: Path) -> None:
    where = f"sqlite:///{tmp_path / 'run.db'}"
    whole = hl.minimize(two, SQUARE, trials=14, objectives=["a", "b:min"])
    hl.minimize(two, SQUARE, trials=10, objectives="a,b", storage=where)
    resumed = hl.minimize(two, SQUARE, trials=14, objectives="a,b", storage=where)
    assert [t.values for t in resumed.trials] == [t.values for t in whole.trials]
    read = hl.read(where)
    assert read.objectives == whole.objectives
    assert [t.costs for t in read.trials] == [t.costs for t in whole.trials]
    drawn = hl.minimize(two, SQUARE, "random", trials=14, objectives="a,b")
    ends = {"a": 1.3, "b": 2.1}
    front, random = hl.pareto(whole, reference=ends), hl.pareto(drawn, reference=ends)
    box = np.array([1.3, 2.1])
    assert volume(front.costs, box) > volume(random.costs, box)
    last = whole.trials[-1]
    assert last.proposal is not None
    assert last.proposal.acquisition == "ehvi"
    for objective, k in (("a", 0), ("b", 1)):
        why = hl.why(read, 13, objective=objective)
        assert why.recorded
        assert why.score is not None
        assert math.isclose(float(why.score.sum()), why.payout["score"], rel_tol=1e-6)
        assert math.isclose(why.actual["score"], last.proposal.score or 0.0, rel_tol=1e-6)
        mean = (last.proposal.mean, last.proposal.beside[0].mean)[k]
        assert math.isclose(why.beliefs[objective][0], mean or 0.0, rel_tol=1e-6)
    turned = hl.read(where, objective="b")
    assert hl.why(turned, 13).recorded  # names, not places, say which is which


def test_a_maximised_objective_is_its_negative_minimised() -> None:
    plain = hl.minimize(two, SQUARE, trials=11, objectives="a,b")
    turned = hl.minimize(
        lambda c: {"b": -two(c)[1], "a": two(c)[0], "more": "text"},
        SQUARE,
        trials=11,
        objectives=["a", "b:max"],
    )
    assert [t.values for t in plain.trials] == [t.values for t in turned.trials]
    assert [t.maximize for t in turned.objectives] == [False, True]


def test_optuna_studies_of_several_objectives_have_our_proposals() -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = hl.optuna.SMBOSampler(
        SQUARE, initial=5, constraints_func=lambda t: (t.params["x"] - 0.8,)
    )
    study = optuna.create_study(directions=["minimize", "maximize"], sampler=sampler)

    def objective(trial: optuna.Trial) -> tuple[float, float]:
        a, b = two({n: trial.suggest_float(n, 0, 1) for n in ("x", "y")})
        return a, -b

    study.optimize(objective, n_trials=9)
    history = hl.read(study)
    assert len(history.limits) == 1
    assert [t.feasible for t in history.trials] == [t.params["x"] <= 0.8 for t in study.trials]
    why = hl.why(history, 8)
    assert why.recorded
    assert len(why.beliefs) == 2


# Constraints


def test_the_best_keeps_the_constraint_and_lies_at_it(tmp_path: Path) -> None:
    where = f"sqlite:///{tmp_path / 'run.db'}"
    run = hl.minimize(
        limited,
        SQUARE,
        trials=22,
        objectives="loss",
        constraints="size <= 0.6",
        storage=where,
    )
    assert run.limits == ("size <= 0.6",)
    best = run.best()
    assert best.feasible
    assert 0 <= best.costs[0] - 0.045 < 2e-3  # half the square of the distance 0.3 to the line
    assert hl.recommend(run).feasible
    assert [t.excess for t in hl.read(where).trials] == [t.excess for t in run.trials]
    study = optuna.load_study(study_name="hyperlens", storage=where)
    assert study.best_trial.number == best.number  # peers see the same constraints
    why = hl.why(run, 21)
    assert why.recorded
    assert any(note.startswith("The chance to keep size <= 0.6 was") for note in why.notes)
    with pytest.raises(HyperlensError, match="run with other constraints"):
        hl.minimize(limited, SQUARE, trials=22, objectives="loss", storage=where)


def test_constraints_are_texts_names_or_functions() -> None:
    def heavy(returned: Any) -> float:
        return float(returned["size"]) - 0.6

    goal = as_goal("loss", ["size < 0.6 and loss < 1", "size", heavy], False, "f")
    assert goal is not None
    assert goal.texts == ("size < 0.6", "loss < 1", "size <= 0", "heavy <= 0")
    outcome = goal.judged({"loss": 0.5, "size": 1.0})
    assert np.allclose(outcome.excess, (0.4, -0.5, 1.0, 0.4))
    assert "says whether size < 0.6" in str(goal.judged({"loss": 1.0, "size": math.nan}).reason)
    assert goal.judged({"size": 1.0}).reason == "returned no 'loss', but 'size'"


def test_without_a_feasible_trial_the_chance_is_raised_and_a_sentence_says_so() -> None:
    run = hl.minimize(
        limited, SQUARE, trials=12, objectives="loss", constraints="size < -0.1", seed=1
    )
    proposal = run.trials[-1].proposal
    assert proposal is not None
    assert proposal.acquisition == "feasible"
    assert "keeps size < -0.1" in str(run.limited())
    assert run.best().values["x"] + run.best().values["y"] < 0.05  # least exceeded
    assert "for no trial was of use by then" in hl.why(run, 11).basis


# Failures


def test_failures_are_avoided_once_they_are_known() -> None:
    run = hl.minimize(crashing, SQUARE, trials=30)
    failed = np.array([t.state is hl.State.FAILED for t in run.trials])
    assert failed[:8].sum() >= 2  # the initial design
    assert failed[15:].sum() <= 1
    assert run.best().costs[0] < 0.04  # 0.01 at the edge of what crashes, from which it keeps away
    proposal = run.trials[-1].proposal
    assert proposal is not None
    assert proposal.failing is not None
    why = hl.why(run, 29)
    assert why.recorded
    assert any(note.startswith("The chance to fail was") for note in why.notes)
    again = hl.minimize(crashing, SQUARE, trials=30)
    assert [t.values for t in again.trials] == [t.values for t in run.trials]


def test_failures_of_another_cause_do_not_keep_a_search_where_it_first_succeeded() -> None:
    """The first trials fail wherever they are, as if a disk had been full, and then none does."""
    reached = []
    for seed in range(3):
        search = hl.SMBO(SQUARE, seed=seed)
        for k in range(36):
            values = search.ask().values
            cost = (values["x"] - 0.6) ** 2 + (values["y"] - 0.3) ** 2
            search.tell(values, math.nan if k < 6 else cost)
        assert search.best is not None
        reached.append(search.best.cost)
    assert np.median(reached) < 1e-4


def test_what_fails_is_tried_once_in_eleven_trials_at_most() -> None:
    """All beyond a line fails, and the cost falls towards it."""
    search = hl.SMBO(SQUARE, seed=0)
    failed = []
    for _ in range(60):
        values = search.ask().values
        failed.append(values["x"] > 0.6)
        search.tell(values, math.nan if failed[-1] else -values["x"] + values["y"] ** 2)
    assert search.best is not None
    assert search.best.values["x"] > 0.55
    assert sum(failed[20:]) <= 5


@pytest.mark.parametrize("answer", [math.nan, np.float64("inf"), (1.0, math.nan), {"a": 1.0}, None])
def test_what_is_no_number_is_a_failure(answer: Any) -> None:
    run = hl.minimize(lambda c: answer, SQUARE, trials=10, objectives="a,b")
    assert {t.state for t in run.trials} == {hl.State.FAILED}
    with pytest.raises(HyperlensError, match="None of the 10 trials"):
        hl.pareto(run)


# What cannot be done, and what says little


def test_a_constant_objective_leaves_the_other() -> None:
    run = hl.minimize(lambda c: (two(c)[1], 1.0), SQUARE, trials=14, objectives="a,b")
    assert hl.pareto(run).sentence.startswith("b is the same in every trial, and trial ")
    assert run.best("a").costs[0] < 0.05
    same = hl.minimize(lambda c: (1.0, 1.0), SQUARE, trials=10, objectives="a,b")
    assert len(same.trials) == 10


@pytest.mark.parametrize("optimizer", ["asha", "hyperband", "halving"])
def test_races_refuse(optimizer: str) -> None:
    with pytest.raises(HyperlensError, match="knows no several objectives; use 'smbo'"):
        hl.minimize(lambda c, b: two(c), SQUARE, optimizer, 9, objectives="a,b")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"objectives": "a,a"}, "name of its own"),
        ({"objectives": "a:up"}, "write a:min or a:max"),
        ({"objectives": "a,b", "tau": 1.0}, "leave out acquisition"),
        ({"objectives": "a,b", "explain": 0.3}, "leave it out"),
        ({"objectives": "a,b", "stop": True}, "leave it out"),
        ({"constraints": "size <"}, "constraint"),
    ],
)
def test_mistakes_have_a_sentence(options: dict[str, Any], message: str) -> None:
    with pytest.raises(HyperlensError, match=message):
        hl.minimize(two, SQUARE, trials=3, **options)


def test_results_are_alike() -> None:
    search = RandomSearch(SQUARE)
    search.tell({"x": 0.1, "y": 0.1}, (1.0, 2.0))
    with pytest.raises(HyperlensError, match="tell the same of all"):
        search.tell({"x": 0.2, "y": 0.1}, 1.0)


def test_a_study_keeps_its_objectives(tmp_path: Path) -> None:
    where = f"sqlite:///{tmp_path / 'run.db'}"
    hl.minimize(two, SQUARE, "random", 3, objectives="a,b", storage=where)
    for objectives in ("a,b:max", "b,a", "a"):
        with pytest.raises(HyperlensError, match="has the objectives 'a:min', 'b:min'"):
            hl.minimize(two, SQUARE, "random", 3, objectives=objectives, storage=where)
