"""Two questions, over the whole space and among the good: both answers, and which of them leads."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import numpy as np
import optuna
import pandas as pd
import pytest

import hyperlens as hl
from hyperlens import AnalysisError, Parameter, Space
from hyperlens.explain.importance.good import fewest_below
from hyperlens.explain.importance.questions import leading_question
from hyperlens.record import Record
from hyperlens.sections.choices import Choices
from hyperlens.sections.explanation import Explanation
from hyperlens.sections.parameters.importance import GOOD, IMPORTANCE, QUESTION, both, leading
from hyperlens.sections.plan import PLAN
from hyperlens.spaces.cube import FloatArray
from hyperlens.surrogates.protocol import SurrogateKind

TRIALS = 150
D = 6
NAMES = tuple(f"x{j}" for j in range(D))
SPACE = Space.of([Parameter(name, "float") for name in NAMES])


def cost(x: FloatArray) -> FloatArray:
    """Of points (n, D): one parameter decides whether a configuration is any good."""
    rest = 2 * (x[:, 1] - 0.3) ** 2 + x[:, 2] * x[:, 3] + 0.3 * x[:, 4]
    return np.asarray(8 * (x[:, 0] - 0.4) ** 2 + rest)


@cache
def run(sampler: str, maximize: bool = False) -> hl.History:
    """Trials drawn at random, or by TPE."""
    if sampler == "random":
        x = np.random.default_rng(1).random((TRIALS, D))
    else:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=1))
        study.optimize(
            lambda t: cost(np.array([[t.suggest_float(name, 0, 1) for name in NAMES]]))[0].item(),
            n_trials=TRIALS,
        )
        x = np.array([[t.params[name] for name in NAMES] for t in study.trials])
    frame = pd.DataFrame(x, columns=list(NAMES))
    frame["cost"] = -cost(x) if maximize else cost(x)
    return hl.read(frame, space=SPACE, objective="cost", maximize=maximize)


@cache
def answers(sampler: str) -> hl.Importances:
    return hl.importances(run(sampler), surrogate="additive")


# What is computed


def mains_below(bound: float) -> FloatArray:
    """Main shares of min(cost, bound) by brute force: variances of means in 50 slices of each axis."""
    x = np.random.default_rng(0).random((400_000, D))
    y = np.minimum(cost(x), bound)
    found = []
    for j in range(D):
        at = (50 * x[:, j]).astype(int)
        means = np.bincount(at, y, 50) / np.bincount(at, minlength=50)
        found.append(means.var() / y.var())
    return np.array(found)


def mains(record: hl.Importance) -> FloatArray:
    by = dict(zip(record.parameters, record.share.tolist(), strict=True))
    return np.array([by[name,] for name in NAMES])


@pytest.mark.parametrize("quantile", [0.1, 0.25, 0.5])
def test_shares_among_the_good_are_those_of_capped_costs(quantile: float) -> None:
    """The surrogate has learnt this function (R2 over 0.99), so its shares are those of the function;
    what remains is how a kink is written in smooth functions of at most three parameters."""
    record = hl.importance(run("random"), among="good", quantile=quantile, surrogate="additive")
    assert record.quality.r2 > 0.99
    assert record.among == "good"
    assert record.bound is not None
    x = np.random.default_rng(2).random((100_000, D))
    assert (cost(x) <= record.bound).mean() == pytest.approx(quantile, abs=0.03)
    assert mains(record) == pytest.approx(mains_below(record.bound), abs=0.05)


def test_the_bound_and_its_trials_are_counted_in_the_direction_of_the_user() -> None:
    low = hl.importance(run("random"), among="good", surrogate="additive", level=None)
    high = hl.importance(run("random", True), among="good", surrogate="additive", level=None)
    assert low.bound is not None
    assert high.bound == pytest.approx(-low.bound)
    costs = [trial.costs[0] for trial in run("random").trials]
    assert low.below == high.below == sum(c is not None and c <= low.bound for c in costs)
    assert high.share == pytest.approx(low.share)


@pytest.mark.parametrize("surrogate", ["gp", "forest"])
def test_other_surrogates_learn_capped_costs(surrogate: SurrogateKind) -> None:
    history = run("random")
    good = hl.importance(history, among="good", surrogate=surrogate, level=None)
    assert good.bound is not None
    capped = hl.importance(history, cap=good.bound, surrogate=surrogate, level=None)
    assert good.parameters == capped.parameters
    assert good.share == pytest.approx(capped.share)
    assert good.cap is None


def test_the_smallest_part_with_enough_trials_is_called_good() -> None:
    assert fewest_below(D) == 20
    assert fewest_below(30) == 90
    searched = answers("tpe").good
    assert searched.quantile == 0.1
    assert searched.below is not None
    assert searched.below > TRIALS / 2
    few = hl.importance(run("random").select(last=30), among="good", surrogate="forest", level=None)
    assert few.quantile == 0.5  # no part has twenty of thirty trials


def test_questions_that_contradict_themselves_are_refused() -> None:
    for wrong in (
        {"among": "bad"},
        {"quantile": 0.5},
        {"among": "good", "cap": 1.0},
        {"among": "good", "quantile": 1.0},
    ):
        with pytest.raises(AnalysisError):
            hl.importance(run("random"), **wrong)


def test_costs_that_are_all_the_same_have_no_good_part() -> None:
    frame = pd.DataFrame({"x": np.linspace(0, 1, 30), "cost": 1.0})
    space = Space.of([Parameter("x", "float")])
    record = hl.importances(hl.read(frame, space=space, objective="cost"), surrogate="additive")
    assert record.question.because == "no intervals"
    assert record.sentence == "What mattered for cost cannot be known from these trials."


# Which question leads


def test_a_random_design_answers_for_the_whole_space() -> None:
    record = answers("random")
    assert record.leading is record.whole
    assert "over the whole space" in record.sentence
    assert "over the whole space" in record.question.sentence


def test_a_search_answers_for_the_good_where_its_intervals_are_narrower() -> None:
    record = answers("tpe")
    question = record.question
    assert question.width_good <= 0.75 * question.width_all
    assert record.leading is record.good
    assert "among the best tenth of the space" in record.sentence
    assert f"{question.below} of {TRIALS} trials" in question.sentence


def test_the_numbers_decide_and_not_the_sampler() -> None:
    record = answers("tpe")
    wide = replace(record.good, low=np.zeros_like(record.good.low), high=record.whole.high + 0.1)
    assert leading_question(record.whole, wide).because == "not narrower"
    few = replace(record.good, below=TRIALS // 2)  # a tenth of the space: 83 would do
    question = leading_question(record.whole, few)
    assert (question.because, question.among, question.needed) == ("few trials", "all", 83)
    assert f"only {TRIALS // 2} of {TRIALS}" in question.sentence
    nothing = np.full_like(record.good.low, np.nan)
    unknown = replace(record.good, low=nothing, high=nothing)
    assert leading_question(record.whole, unknown).because == "no intervals"


# How it is shown


def test_both_answers_stand_in_one_table_the_leading_first() -> None:
    columns = answers("tpe").tables[0].columns
    assert (columns[:3], columns[4:6]) == (
        ("effect", "share, best tenth", "90\N{NO-BREAK SPACE}% interval"),
        ("share, whole space", "90\N{NO-BREAK SPACE}% interval"),
    )  # fmt: skip
    assert answers("random").tables[0].columns[1] == "share, whole space"


def test_csv_and_json_hold_both() -> None:
    record = answers("tpe")
    frame = record.frame.set_index("parameters")
    whole = dict(zip(record.whole.parameters, record.whole.share, strict=True))
    good = dict(zip(record.good.parameters, record.good.share, strict=True))
    assert {p: frame["share"][p] for p in whole} == whole
    assert {p: frame["good_share"][p] for p in good} == good
    again = Record.from_dict(json.loads(record.to_json()))
    assert isinstance(again, hl.Importances)
    assert again.to_json() == record.to_json()
    assert again.sentence == record.sentence


def test_a_bar_of_each_answer_and_none_left_out_that_is_large_in_either() -> None:
    first, second = answers("tpe").plot().data
    assert (first.name, second.name) == (
        "among the best tenth of the space",
        "over the whole space",
    )
    assert list(first.y) == list(second.y)
    largest = max(answers("tpe").whole.share)
    assert max(second.x) == pytest.approx(largest)


def test_the_report_leads_with_the_question_that_is_answered() -> None:
    explained = Explanation(run("tpe"), Choices(surrogate="additive"))
    assert leading(explained) is explained[GOOD]
    assert isinstance(both(explained), hl.Importances)
    summary, importance = (
        next(s for s in PLAN if s.id == name).cards(explained)[0]
        for name in ("summary", "importance")
    )
    assert explained[GOOD].sentence in summary.lead
    assert explained[QUESTION].sentence in summary.lead
    assert importance.lead[:2] == (explained[GOOD].sentence, explained[QUESTION].sentence)
    (fact,) = (f for f in summary.facts if f.label == "matters most")
    assert "among the best tenth of the space" in fact.detail
    design = Explanation(run("random"), Choices(surrogate="additive"))
    assert leading(design) is design[IMPORTANCE]
