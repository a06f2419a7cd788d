"""The time of a search over models: how it is told, kept, and spent on what is cheap first."""

from __future__ import annotations

import time
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest

from hyperlens.cash import pool_space
from hyperlens.cash.measuring.evaluation import Evaluation
from hyperlens.cash.measuring.kept import key_of
from hyperlens.cash.measuring.looks import FEWEST_ROWS, ladder, look
from hyperlens.cash.models.model import Task
from hyperlens.cash.models.pool import QUICK_FIRST, further, pool
from hyperlens.cash.results.model_card import _losses
from hyperlens.cash.results.model_search import model_search
from hyperlens.cash.search.anytime import Anytime, cheapest_first
from hyperlens.cash.search.optimizers import first_vectors, make_optimizer
from hyperlens.cash.search.pace import ALL_ROWS, BAGS, DOUBT, LEAST_BAGS, MOST_BACK, MOST_BAGS, Pace
from hyperlens.cash.search.refit import Member, train, within
from hyperlens.cash.search.search import FEWER, Search, best_trial
from hyperlens.optimize.running.loop import Status
from hyperlens.runs.history import State, Trial
from hyperlens.spaces.points import keys
from hyperlens.terminal.progress import _in_words

FAST = ("GaussianNB", "BernoulliNB", "QuadraticDiscriminantAnalysis")

BERNOULLI = {
    "BernoulliNB:fit_prior": True,
    "BernoulliNB:thresholds": 4,
    "BernoulliNB:alpha": 1.0,
}


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def table(n: int = 90) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((n, 3)), columns=["a", "b", "c"])
    return X, np.where(X["a"] + 0.5 * rng.standard_normal(n) > 0, "yes", "no")


def test_what_a_training_takes() -> None:
    clock = Clock()
    pace = Pace(100.0, splits=4, rows=8000, clock=clock)
    assert pace.training("m", "x", 1.0) is None
    assert pace.evaluation("m", "x", 1.0) == 0.0
    pace.note("m", "x", 1 / 16, 3.0)  # one split of a quarter of the rows
    assert pace.training("m", "x", 0.25) == 3.0
    pace.note("m", "y", 0.5, 20.0)  # two splits of all rows
    assert pace.training("m", "y", 1.0) == 10.0
    pace = Pace(100.0, splits=4, rows=8000, clock=clock)
    pace.trained("m", "x", 0.25, 3.0)
    whole = pace.training("m", "x", 1.0)
    assert whole is not None
    assert 3.0 * 2 < whole < 3.0 * 4  # four times the rows, of which 2000 count as overhead
    assert pace.training("m", "never seen", 1.0) == whole
    assert pace.training("other", "x", 1.0) is None
    assert pace.evaluation("m", "x", 1.0) == pytest.approx(4 * whole)
    once = DOUBT * ALL_ROWS * whole
    assert pace.for_the_end([("m", "x")]) == pytest.approx(once + MOST_BAGS * 100)
    assert pace.for_the_end([("m", "x")] * 50) == MOST_BACK * 100
    pace.trained("quick", "x", 1.0, 0.5)  # once, and again without a part of the rows
    assert pace.for_the_end([("quick", "x")]) == pytest.approx(DOUBT * ALL_ROWS / 2 * (1 + BAGS))
    pace.trained("quicker", "x", 1.0, 0.01)
    least = DOUBT * ALL_ROWS / 100 + LEAST_BAGS * 100
    assert pace.for_the_end([("quicker", "x")]) == pytest.approx(least)


def test_the_rows_that_can_be_afforded() -> None:
    pace = Pace(100.0, rows=8000, clock=Clock())
    assert pace.affordable("m", "x", 1.0) == 1.0  # nothing is known
    pace.note("m", "x", 1.0, 10.0)
    assert pace.affordable("m", "x", 10 * ALL_ROWS + 0.1) == 1.0
    part = pace.affordable("m", "x", 8.0)
    pace.note("m", "y", 1.0, 10.0)
    taken = pace.training("m", "y", part)
    assert taken is not None
    assert 0 < part < 1
    assert taken * DOUBT * ALL_ROWS == pytest.approx(8.0)
    assert pace.affordable("m", "x", 0.0) == 0.0
    pace.note("quick", "x", 1.0, 1.0)
    assert pace.affordable("quick", "x", -5.0) == 1.0  # for that there is always time


def test_no_limit_is_never_over() -> None:
    clock = Clock()
    limited, free = Pace(10.0, clock=clock), Pace(None, clock=clock)
    assert 9 < limited.left < 10
    clock.now = 9.9
    assert limited.left < 0
    assert free.left == float("inf")
    assert free.for_the_end([("m", "x")]) == 0.0


@pytest.mark.parametrize("rows", [1500, 4000, 20_000, 400_000, 800_000])
@pytest.mark.parametrize("splits", [1, 3, 5])
def test_a_small_budget_has_fewer_splits_and_of_many_rows_fewer_rows(
    rows: int, splits: int
) -> None:
    budgets = ladder(rows, splits)
    assert budgets[-1] == 1
    assert all(b / a >= 3 for a, b in pairwise(budgets))
    looks = [look(float(budget), splits) for budget in budgets]
    assert looks[-1] == (1.0, splits)
    assert all(seen == 1 for part, seen in looks if part < 1)
    assert min(rows, FEWEST_ROWS) <= rows * looks[0][0] <= 10 * max(rows // 10, FEWEST_ROWS)
    assert [ladder(n, 5) for n in (99, 1499)] == [[1], [Fraction(2, 5), 1]]
    assert ladder(99, 3) == [1]


def race(rows: int, clock: Clock, **options: Any) -> Anytime:
    space = pool_space("classification")
    first = cheapest_first(space, first_vectors(space), QUICK_FIRST)
    return Anytime(space, Pace(100.0, rows=rows, clock=clock), rows, first=first, **options)


def test_every_model_has_its_place_among_the_quick_ones() -> None:
    tasks: tuple[Task, ...] = ("classification", "regression")
    names = {m.name for task in tasks for m in (*pool(task), *further(task))}
    assert set(QUICK_FIRST) == names
    assert len(QUICK_FIRST) == len(names)


def test_quick_models_on_few_rows_come_first_and_the_best_go_on() -> None:
    search = race(20_000, Clock())
    asked = [search.ask() for _ in range(11)]
    assert [a.values["model"] for a in asked if a][:2] == [
        "GaussianNB",
        "LinearDiscriminantAnalysis",
    ]
    assert {a.proposal.budget for a in asked if a} == {1 / 9}
    for cost, each in enumerate(asked):
        assert each is not None
        search.tell(each.values, float(cost), each.proposal.budget, each.proposal.entry)
    further = [search.ask() for _ in range(4)]
    budgets = [f.proposal.budget for f in further if f]
    # of the best three two are near enough to the best one (0, the usual is 5), and of each model's own
    # best a third one is half as near; then something new
    assert budgets == [1 / 3, 1 / 3, 1 / 3, 1 / 9]
    assert [f.values["model"] for f in further if f][:2] == [
        a.values["model"] for a in asked[:2] if a
    ]


def test_what_would_take_too_long_does_not_go_on() -> None:
    clock = Clock()
    search = race(20_000, clock)
    for cost in range(11):
        each = search.ask()
        assert each is not None
        search.tell(each.values, float(cost), each.proposal.budget, each.proposal.entry)
    name = search._name_of(search.first[0])
    search.pace.note(*name, 1 / 9, 1e4)  # of the best one
    after = search.ask()
    assert after is not None
    assert after.values["model"] == "LinearDiscriminantAnalysis"
    clock.now = 99.0
    assert search.ask() is None


def test_new_ones_are_drawn_in_turns_and_none_comes_twice() -> None:
    search = race(90, Clock(), starts=first_vectors(pool_space("classification")), trials=40)
    seen = []
    while (each := search.ask()) is not None:
        seen.append(each.vector)
        search.tell(each.values, float(len(seen) % 7), each.proposal.budget, each.proposal.entry)
    assert len(seen) == len(keys(np.array(seen))) == 40


def test_a_search_by_the_clock_ends_by_its_evaluations_too() -> None:
    X, y = table()
    plan = Search(X, y, "classification", models=FAST, time=600.0, evaluations=5)
    history = plan.run()
    assert plan.method == "anytime"
    assert len(history.trials) == 5
    assert {t.state for t in history.trials} == {State.COMPLETE}
    rows = np.sort(np.concatenate([held for _, held in plan.evaluation.rows]))
    assert np.array_equal(rows, np.arange(90))  # every row is held out once
    model, ensemble = plan.finish(history)
    assert ensemble.candidates == 5
    assert ensemble.together <= ensemble.single  # which lifts chances that are said to be none
    assert ensemble.single == pytest.approx(best_trial(history).costs[0], rel=0.02)
    assert model.predict_proba(X).shape == (90, 2)
    assert model_search(history).evaluations == 5


def test_planning_ten_thousand_evaluations_draws_each_configuration_once() -> None:
    space = pool_space("classification", FAST)
    search = make_optimizer("hyperband", space, 3000, first=first_vectors(space))
    vectors = np.array([e.vector for r in search._running for e in r.rungs[0]])  # type: ignore[attr-defined]
    assert len(keys(vectors)) == len(vectors) == search.configurations  # type: ignore[attr-defined]


def test_a_training_that_does_not_end_is_ended() -> None:
    assert within(0.1, lambda: time.sleep(600)) is None
    assert within(600.0, lambda: {"a": 1}) == {"a": 1}
    assert within(600.0, lambda: 1 / 0) is None


def test_the_last_training_has_as_many_rows_as_there_is_time_for() -> None:
    X, y = table(2000)
    evaluation = Evaluation(X, y, "classification")
    member = Member({"model": "GaussianNB", "GaussianNB:var_smoothing": 1e-9}, 1.0)
    other = Member({"model": "GaussianNB", "GaussianNB:var_smoothing": 1e-3}, 1.0)
    clock = Clock()
    pace = Pace(100.0, rows=2000, clock=clock)
    (whole,) = train(evaluation, [member], 1, pace)
    assert whole.part == 1.0
    pace.note("GaussianNB", key_of(member.configuration), 1.0, 100.0)
    pace.note("GaussianNB", key_of(other.configuration), 1.0, 1e6)
    some = train(evaluation, [member, other], 1, pace)
    assert len(some) == 1
    assert 0.1 <= some[0].part < 1
    assert some[0].models[0].predict(X).shape == (2000,)
    clock.now = 101.0
    quick = Member({"model": "BernoulliNB", **BERNOULLI}, 1.0)
    pace.note(*quick.name, 0.5, 0.01)
    (late,) = train(evaluation, [quick], 5, pace)
    assert late.part == 1.0
    assert len(late.models) == 1


def test_by_the_clock_members_are_trained_without_a_part_of_the_rows_too() -> None:
    X, y = table(500)
    evaluation = Evaluation(X, y, "classification", splits=5, disjoint=True)
    chosen = {"model": "GaussianNB", "GaussianNB:var_smoothing": 1e-3}
    members = [Member(chosen, 0.7), Member(chosen | {"GaussianNB:var_smoothing": 0.1}, 0.3)]
    clock = Clock()
    more, fewer = train(evaluation, members, 10, Pace(100.0, rows=500, clock=clock))
    assert [len(m.models) for m in (more, fewer)] == [7, 3]
    seen = [m[-1].class_count_.sum() for m in more.models]
    assert seen == [500] + [400] * 6
    means = np.array([m[-1].theta_ for m in more.models])
    assert len(np.unique(means[:, 0, 0].round(12))) == 7  # of six parts none is left out twice
    clock.now = 99.0
    late = Pace(100.0, rows=500, clock=clock)
    late.began = 0.0
    late.trained(*members[0].name, 1.0, 0.9)
    late.trained(*members[1].name, 1.0, 1e-4)
    slow, quick = train(evaluation, members, 10, late)
    assert [len(m.models) for m in (slow, quick)] == [1, 1]  # nothing is left but what is kept back
    untimed = train(evaluation, members, 10, Pace(None))
    assert [len(m.models) for m in untimed] == [1, 1]  # seeds change nothing here


def test_progress_says_what_is_left() -> None:
    assert _in_words(Status(0, 3, 0, 1, 0.25, 2, None, 12.4)) == (
        "best 0.25 in trial 2, 3 trials, 12 s left"
    )


def test_a_card_has_the_losses_of_what_came_to_fewer_splits() -> None:
    X, y = table(2000)
    search = Search(X, y, "classification", time=60.0, models=FAST)
    values = {**search.searched.constants, **BERNOULLI, "model": "BernoulliNB"}
    budgets = ladder(len(search.evaluation.rows[0][0]), search.evaluation.splits)
    looks = [look(float(b), search.evaluation.splits)[1] for b in budgets]
    assert looks == [1, 5]
    for budget, splits in zip(budgets, looks, strict=True):
        loss = search.target(values, float(budget))
        trial = Trial(0, values, (loss,), State.PRUNED, budget=float(budget))
        losses = _losses(search, trial)
        assert len(losses) == splits
        assert np.mean(losses) == pytest.approx(loss, rel=1e-5)  # they are kept in single precision


def test_where_nothing_ends_in_time_fewer_rows_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table(2 * FEWEST_ROWS)
    search = Search(
        X, y, "classification", evaluations=10_000, optimizer="hyperband", time=60.0, models=FAST
    )
    asked: list[float] = []

    def within(seconds: float, measure: Any) -> float | None:
        asked.append(measure.args[1])
        return None if len(asked) < 3 else float(measure())

    monkeypatch.setattr("hyperlens.cash.search.search.within", within)
    history = search._rescued(search.history())
    rows = len(search.evaluation.rows[0][0])
    assert asked[:3] == [FEWEST_ROWS / rows / FEWER**k for k in range(3)]
    assert [trial.budget for trial in history.trials] == asked[2:]
    assert best_trial(history).budget == asked[2]
