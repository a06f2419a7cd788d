"""Records of how a run went, each checked by a second route."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

import hyperlens as hl
from hyperlens.explain.run.footprint import MOST, scaled
from hyperlens.explain.run.spending import model_choice
from hyperlens.plots import draw
from hyperlens.plots.parts.lines import INACTIVE

EVIL = "<b>x</b>%{y}"
SPACE = hl.Space.of(
    [
        hl.Parameter("lr", "float", 1e-4, 1.0, log=True),
        hl.Parameter("model", "categorical", choices=("svm", "tree", EVIL)),
        hl.Parameter("depth", "integer", 1, 9),
    ],
    {"depth": ((("model", "equal", "tree"),),)},
)


def trial(number: int, cost: float, **more: Any) -> hl.Trial:
    settings: dict[str, Any] = {"values": {"lr": 0.1, "model": "svm"}, "costs": (cost,)}
    return hl.Trial(number, **settings | more)


def run(*trials: hl.Trial, maximize: bool = False) -> hl.History:
    return hl.History(SPACE, (hl.Objective(EVIL, maximize),), trials, "a run")


def drawn(count: int, seed: int = 0) -> hl.History:
    rng = np.random.default_rng(seed)
    X = SPACE.sample(count, rng)
    pairs = zip(SPACE.decode(X), rng.random(count).tolist(), strict=True)
    return run(*(trial(k, cost, values=values) for k, (values, cost) in enumerate(pairs)))


# Trials


def test_trials_are_listed_as_they_were() -> None:
    tree = {"lr": 0.5, "model": "tree", "depth": 3}
    history = run(
        trial(3, 0.5, started=10.0, ended=12.5, budget=4.0),
        trial(7, math.nan, values=tree, state=hl.State.FAILED, reason="out of memory"),
    )
    record = hl.trials(history)
    assert record.states == {"complete": 1, "failed": 1}
    assert record.reasons == {"out of memory": 1}
    assert record.values == ((0.1, 0.5), ("svm", "tree"), (None, 3))
    assert record.analysed.tolist() == [True, False]
    np.testing.assert_array_equal(record.places, history.vectors)
    np.testing.assert_array_equal(record.seconds, [2.5, np.nan])
    frame = record.frame
    assert list(frame.columns) == [
        "trial", "state", "cost", "budget", "seconds", "reason", "lr", "model", "depth",
    ]  # fmt: skip
    for ticks, parameter in zip(record.ticks, SPACE.parameters, strict=True):
        places = np.array([place for place, _ in ticks])
        assert parameter.decode(places) == [value for _, value in ticks]


def test_a_column_that_says_nothing_is_left_out() -> None:
    assert list(hl.trials(run(trial(0, 1.0))).frame.columns) == [
        "trial", "state", "cost", "lr", "model", "depth",
    ]  # fmt: skip


# Timeline

spans = st.lists(st.tuples(st.floats(0, 100), st.floats(0.01, 30)), min_size=1, max_size=30)


def timed(times: list[tuple[float, float]]) -> hl.History:
    return run(
        *(trial(k, 1.0, started=1e9 + s, ended=1e9 + s + d) for k, (s, d) in enumerate(times))
    )


@given(spans)
def test_lanes_hold_no_two_trials_at_once_and_are_as_few_as_can_be(
    times: list[tuple[float, float]],
) -> None:
    record = hl.timeline(timed(times))
    for lane in range(record.lanes):
        rows = np.flatnonzero(record.lane == lane)
        assert (record.start[rows][1:] >= record.end[rows][:-1]).all()
    at_once = max(((record.start <= t) & (record.end > t)).sum() for t in record.start)
    assert record.lanes == at_once


@given(spans)
def test_what_ran_adds_up_to_what_the_trials_took(times: list[tuple[float, float]]) -> None:
    record = hl.timeline(timed(times))
    width = np.diff(record.edges)
    taken = float((record.end - record.start).sum())
    assert float((record.running * width).sum()) == pytest.approx(taken, rel=1e-6, abs=1e-5)
    assert sum(int(n.sum()) for n in record.finished.values()) == len(times)
    assert record.used == pytest.approx(taken / (record.span * record.lanes), rel=1e-9)


def test_a_lane_is_free_in_the_moment_in_which_a_trial_ends() -> None:
    record = hl.timeline(timed([(0.0, 5.0), (5.0, 4.0), (6.0, 1.0), (9.0, 1.0)]))
    assert record.lane.tolist() == [0, 0, 1, 0]


def test_trials_without_times_are_counted() -> None:
    record = hl.timeline(run(trial(0, 1.0, started=5.0, ended=9.0), trial(1, 1.0)))
    assert record.notes == ("1 of 2 trials recorded no times.",)
    with pytest.raises(hl.AnalysisError, match="no times"):
        hl.timeline(run(trial(0, 1.0)))


# Spending


def test_each_model_and_budget_is_counted() -> None:
    tree = {"lr": 0.1, "model": "tree", "depth": 2}
    history = run(
        trial(0, 3.0, budget=1.0, started=0.0, ended=1.0),
        trial(1, 2.0, budget=1.0),
        trial(2, 5.0, values=tree, budget=9.0, started=0.0, ended=4.0),
        trial(3, math.nan, values=tree, state=hl.State.FAILED, budget=1.0),
    )
    record = hl.spending(history)
    assert (record.choice, record.models, record.budgets) == (
        "model",
        ("svm", "tree", EVIL),
        (1, 9),
    )
    assert record.trials.tolist() == [[2, 0], [1, 1], [0, 0]]
    assert record.seconds.tolist() == [[1.0, 0.0], [0.0, 4.0], [0.0, 0.0]]
    np.testing.assert_array_equal(record.best, [[2, np.nan], [np.nan, 5], [np.nan, np.nan]])
    assert record.steps.tolist() == [1, 2, 3, 4]
    np.testing.assert_allclose(record.path[0], [1, 1, 2 / 3, 1 / 2])
    np.testing.assert_allclose(record.path.sum(axis=0), 1)
    assert hl.spending(replace(history, objectives=(hl.Objective("c", True),))).best[0, 0] == 3.0


def test_a_run_without_models_and_budgets_has_nothing_to_divide() -> None:
    space = hl.Space.of([hl.Parameter("x", "float", 0.0, 1.0)])
    assert model_choice(space) is None
    history = hl.History(space, (hl.Objective("c"),), (hl.Trial(0, {"x": 0.5}, (1.0,)),))
    with pytest.raises(hl.AnalysisError, match="nothing to divide"):
        hl.spending(history)
    many = tuple(hl.Trial(k, {"x": 0.5}, (1.0,), budget=float(k)) for k in range(25))
    with pytest.raises(hl.AnalysisError, match="nothing to divide"):
        hl.spending(replace(history, trials=many))
    assert len(hl.spending(replace(history, trials=many[:24])).budgets) == 24


# Footprint


def test_points_of_a_plane_keep_their_distances() -> None:
    """Whatever the plane's place in a larger space, nothing is lost."""
    rng = np.random.default_rng(0)
    flat = rng.random((40, 2))
    turn = np.linalg.qr(rng.normal(size=(5, 5)))[0][:, :2]
    placed, stress = scaled(flat @ turn.T + 3.0)
    np.testing.assert_allclose(cdist(placed, placed), cdist(flat, flat), atol=1e-6)
    assert stress < 1e-6


def test_scaling_is_no_worse_than_the_plane_of_largest_variance() -> None:
    P = np.random.default_rng(1).random((60, 6))
    placed, stress = scaled(P)
    wanted = cdist(P, P)
    assert stress == pytest.approx(
        np.sqrt(((cdist(placed, placed) - wanted) ** 2).sum() / (wanted**2).sum())
    )
    centred = P - P.mean(axis=0)
    first = centred @ np.linalg.svd(centred)[2][:2].T
    before = np.sqrt(((cdist(first, first) - wanted) ** 2).sum() / (wanted**2).sum())
    assert stress < before


def test_equal_configurations_are_one_point() -> None:
    record = hl.footprint(run(*(trial(k, float(k)) for k in range(5))))
    assert np.ptp(record.x) < 1e-9
    assert np.ptp(record.y) < 1e-9
    assert record.best_trial == 0
    assert scaled(np.ones((3, 2)))[1] == 0.0


def test_many_trials_are_placed_in_part_and_the_best_is_there() -> None:
    record = hl.footprint(drawn(MOST + 50))
    assert len(record.number) in (MOST, MOST + 1)
    assert record.best_trial in record.number
    assert record.notes == (
        f"{len(record.number)} of {MOST + 50} trials are placed, evenly over the run.",
    )


def test_weights_say_what_counts() -> None:
    history = drawn(60)
    record = hl.footprint(history, {"lr": 1.0, "model": 0.0, "depth": 0.0})
    assert record.weights == {"lr": 1.0, "model": 0.01, "depth": 0.01}
    along = np.corrcoef(record.x, history.vectors[:, 0])[0, 1]
    assert abs(along) > 0.95
    assert set(hl.footprint(history).weights.values()) == {1.0}
    same = hl.footprint(history, seed=3)
    np.testing.assert_array_equal(same.x, hl.footprint(history, seed=3).x)


# Runs beside each other


def test_runs_are_compared_after_as_many_trials() -> None:
    costs = enumerate((5.0, 3.0, 4.0, 1.0))
    long = run(*(trial(k, c, started=10.0 * k, ended=10.0 * k + 5) for k, c in costs))
    short = run(trial(0, 4.0), trial(1, 2.0))
    record = hl.compare_runs({"long": long, "short": short})
    assert record.common == 2
    assert record.at_common.tolist() == [3.0, 2.0]
    assert record.best.tolist() == [1.0, 2.0]
    assert record.order == (1, 0)
    assert record.trace[0].tolist() == [5.0, 3.0, 3.0, 1.0]
    assert record.elapsed[0].tolist() == [5.0, 15.0, 25.0, 35.0]
    assert np.isnan(record.elapsed[1]).all()
    assert record.frame["trials"].tolist() == [4, 2]


def test_runs_with_other_goals_are_not_compared() -> None:
    with pytest.raises(hl.AnalysisError, match="at least two"):
        hl.compare_runs({"a": run(trial(0, 1.0))})
    with pytest.raises(hl.AnalysisError, match="different directions"):
        hl.compare_runs({"a": run(trial(0, 1.0)), "b": run(trial(0, 1.0), maximize=True)})


def called(name: str, *costs: float, maximize: bool = False) -> hl.History:
    objective = hl.Objective(name, maximize)
    return hl.History(SPACE, (objective,), tuple(trial(k, c) for k, c in enumerate(costs)))


def several(*names: str) -> hl.History:
    objectives = tuple(hl.Objective(name) for name in names)
    return hl.History(SPACE, objectives, (trial(0, 1.0, costs=(5.0,) * len(names)),))


def test_runs_are_compared_whatever_each_calls_its_only_objective() -> None:
    runs = {"one": called("loss", 3.0, 1.0), "two": called("alpha", 2.0)}
    for asked in (None, "loss", "alpha"):
        record = hl.compare_runs(runs, asked)
        assert record.objectives == ("loss", "alpha")
        assert record.objective == "objective"
        assert record.at_common.tolist() == [3.0, 2.0]
        assert "'loss' in one, 'alpha' in two" in record.notes[0]
    same = hl.compare_runs({"one": runs["one"], "more": several("time", "loss")}, "loss")
    assert (same.objective, same.objectives, same.notes) == ("loss", ("loss", "loss"), ())
    assert (
        hl.compare_runs({"more": several("loss", "time"), "two": runs["two"]}).objectives[0]
        == "loss"
    )


def test_an_unclear_comparison_is_refused_with_its_remedy() -> None:
    one, more = called("alpha", 1.0), several("loss", "time")
    with pytest.raises(hl.AnalysisError, match="'loss', 'time'; choose one of these"):
        hl.compare_runs({"a": one, "b": more})
    assert hl.compare_runs({"a": one, "b": more}, "time").objectives == ("alpha", "time")
    with pytest.raises(hl.AnalysisError, match="There is no objective 'size'"):
        hl.compare_runs({"a": one, "b": more}, "size")
    with pytest.raises(hl.AnalysisError, match="'acc' maximised and 'alpha' minimised; leave out"):
        hl.compare_runs({"a": one, "b": called("acc", 1.0, maximize=True)})
    with pytest.raises(hl.AnalysisError, match="Run 'b' cannot be compared: None of the 1 trials"):
        hl.compare_runs({"a": one, "b": called("alpha", math.nan)})


# Figures


def test_figures_show_the_numbers_and_no_markup() -> None:
    history = run(
        *(
            replace(t, budget=float(1 + t.number % 2), started=0.0, ended=1.0)
            for t in drawn(30).trials
        )
    )
    records = (
        hl.trials(history),
        hl.timeline(history),
        hl.spending(history),
        hl.footprint(history),
        hl.compare_runs({EVIL: history, "b": history}),
    )
    for record in records:
        text = draw(record).to_json()
        assert "<b>x" not in text
        assert "\\u003cb\\u003ex" not in text


def test_lines_cross_each_row_at_the_value_of_the_trial() -> None:
    history = drawn(12)
    figure = draw(hl.trials(history))
    lines = [t for t in figure.data if t.mode == "lines"]
    assert [t.meta["when"]["best"] for t in lines] == [[0], [0, 1], [0, 1, 2]]
    rows = len(SPACE) + 2  # a row for the cost, and a gap
    crossed = np.concatenate([np.array(t.x, dtype=float).reshape(-1, rows) for t in lines])
    order = np.argsort([t.costs[0] for t in history.trials])
    expected = np.where(np.isnan(history.vectors), INACTIVE, history.vectors)[order]
    shown = crossed[np.lexsort(crossed[:, :3].T)][:, :3]
    np.testing.assert_allclose(shown, expected[np.lexsort(expected.T)])
    assert len(lines[2].x) == rows  # one of twelve is the best 5 %


def test_a_long_run_is_drawn_in_part() -> None:
    history = drawn(3000)
    figure = draw(hl.overview(history))
    each, best, star = figure.data
    assert len(each.x) < 2100
    trace = history.trace()
    improved = {int(k) for k in np.flatnonzero(np.diff(trace)) + 1}
    assert improved <= set(each.x)
    assert star.x[0] in each.x
    assert "are drawn" in figure.layout.xaxis.title.text
    assert list(best.y) == [trace[k] for k in best.x]


def test_trials_at_smaller_budgets_are_listed_but_not_analysed() -> None:
    space = hl.Space.of([hl.Parameter("x", "float", 0, 1)])
    rows = tuple(
        hl.Trial(k, {"x": k / 10}, (float(k),), budget=1.0 + 8 * (k > 5)) for k in range(10)
    )
    history = hl.History(space, (hl.Objective("loss", False),), rows)
    found = hl.trials(history)
    assert found.number[found.analysed].tolist() == [6, 7, 8, 9]
    assert len(found.state) == 10
