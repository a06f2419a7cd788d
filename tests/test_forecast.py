"""Forecasts: against simulated searches, closed forms, and runs that can answer nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import hyperlens as hl
from hyperlens.explain.next.failing import failing, would_fail
from hyperlens.explain.next.forecast import forecast
from hyperlens.surrogates.outlook.prospect import MIDDLE, RECORDS, SPREAD, Prospect, part

SQUARE = hl.Space.of([hl.Parameter(name, "float", 0.0, 1.0) for name in ("x", "y")])


def bowl(values: Any) -> float:
    return float((values["x"] - 0.3) ** 2 + 0.5 * values["y"])


def history(space: hl.Space, costs: Callable[[Any], float], n: int, seed: int = 0) -> hl.History:
    values = space.decode(space.sample(n, seed))
    trials = tuple(hl.Trial(k, v, (costs(v),)) for k, v in enumerate(values))
    return hl.History(space, (hl.Objective("loss"),), trials)


def test_a_random_search_gains_what_simulated_ones_do() -> None:
    """The function is smooth and known nearly everywhere, so all draws are nearly the function."""
    run = history(SQUARE, bowl, 60)
    best = min(bowl(t.values) for t in run.trials)
    found = forecast(run, level=0.8)
    rng = np.random.default_rng(1)
    for k, more in enumerate(found.more.tolist()):
        points = rng.random((4000, more, 2))
        costs = (points[..., 0] - 0.3) ** 2 + 0.5 * points[..., 1]
        gains = np.maximum(best - costs.min(axis=1), 0.0)
        error = 4 * gains.std() / np.sqrt(len(gains)) + 0.3 * gains.mean() + 1e-4
        assert found.gain[1, k] == pytest.approx(gains.mean(), abs=error)


def test_ranks_of_the_lowest_of_some_values() -> None:
    """P(the lowest of k of 1..N is above i) = (1 - i / N)^k; its mean is a sum of that."""
    values = np.tile(np.arange(2048.0)[:, None], (1, 64))
    known = Prospect(40, np.full(64, 2048.0), values, np.zeros(64), np.zeros((64, 1)), 0.0, 1.0)
    for k in (1, 10, 100):
        mean = np.sum((1 - np.arange(1, 2048) / 2048) ** k)
        assert known.gains("random", k).mean() == pytest.approx(2048 - mean, abs=0.02 * mean + 1)


def test_quantiles_of_the_part_of_the_way_by_hand() -> None:
    places = np.array([0.0, 0.1, 0.5, 0.9])
    none = 2.0**-RECORDS  # a run that gets twice as long
    expected = MIDDLE * np.exp(SPREAD * norm.ppf((places[1:] - none) / (1 - none)))
    np.testing.assert_allclose(part(1.0, places), [0.0, *expected], rtol=1e-9)
    longer = np.array([part(r, np.linspace(0.001, 0.999, 99)) for r in (0.1, 0.5, 1.0, 3.0)])
    assert (np.diff(longer, axis=0) >= 0).all()


def test_gains_grow_and_lie_in_their_intervals() -> None:
    found = forecast(history(SQUARE, bowl, 25))
    assert (np.diff(found.gain, axis=1) >= 0).all()
    assert (found.low <= found.gain).all()
    assert (found.gain[0] >= found.gain[1]).all()
    wider = forecast(history(SQUARE, bowl, 25), level=0.95)
    assert (wider.high >= found.high).all()
    np.testing.assert_array_equal(found.gain, forecast(history(SQUARE, bowl, 25)).gain)
    seldom = replace(found, low=0 * found.low, high=0 * found.high)
    assert seldom.sentence.count(" on average, and by nothing in 90") == 2


def test_larger_is_better_is_the_same_run_turned_round() -> None:
    run = history(SQUARE, bowl, 25)
    turned = hl.History(
        SQUARE,
        (hl.Objective("score", maximize=True),),
        tuple(hl.Trial(t.number, t.values, (-t.costs[0],)) for t in run.trials),
    )
    one, other = forecast(run), forecast(turned)
    np.testing.assert_array_equal(one.gain, other.gain)
    assert other.best == -one.best
    assert "would raise the true score by" in other.sentence


def limited(run: hl.History, excess: Callable[[Any], float]) -> hl.History:
    trials = tuple(replace(t, excess=(float(excess(t.values)),)) for t in run.trials)
    return hl.History(run.space, run.objectives, trials, limits=("g <= 0",))


def test_only_what_keeps_a_limit_is_gained() -> None:
    """x + y falls to 0, and no further than 1 where x + y >= 1 is asked for; of whether it is kept, the
    distance is known, or the fact alone."""
    run = history(SQUARE, lambda v: v["x"] + v["y"], 40)
    for excess, unsure in (
        (lambda v: 1 - v["x"] - v["y"], 0.03),
        (lambda v: float(v["x"] + v["y"] < 1), 0.15),
    ):
        bounded = limited(run, excess)
        found = forecast(bounded)
        best = min(t.costs[0] for t in bounded.trials if t.feasible)
        assert found.observed == best
        assert found.limits == ("g <= 0",)
        assert "would lower the true loss within the limit by" in found.sentence
        assert (
            found.gain[1, -1] <= best - 1 + unsure
        )  # of a random search, which cannot get below 1
        assert any("Only configurations that keep g <= 0 count" in note for note in found.notes)


def test_a_limit_that_all_keep_changes_nothing_and_one_that_none_keeps_is_refused() -> None:
    run = history(SQUARE, bowl, 25)
    np.testing.assert_array_equal(forecast(limited(run, lambda _: -1.0)).gain, forecast(run).gain)
    for ask in (hl.forecast, hl.advise):
        with pytest.raises(hl.AnalysisError, match="No trial keeps g <= 0, so there is no best"):
            ask(limited(run, lambda v: 1 + v["x"]))


def test_of_several_objectives_it_is_said_that_this_is_of_one() -> None:
    run = history(SQUARE, bowl, 25)
    trials = tuple(replace(t, costs=(t.costs[0], -t.values["x"])) for t in run.trials)
    two = hl.History(SQUARE, (hl.Objective("loss"), hl.Objective("size")), trials)
    found = forecast(two, objective="loss")
    np.testing.assert_array_equal(found.gain, forecast(run).gain)
    assert (
        "This is of the best loss alone: what the front would gain is not part of it."
        in found.notes
    )
    for ask in (hl.forecast, hl.advise):
        with pytest.raises(hl.AnalysisError, match="choose one objective by its name"):
            ask(two.select(hypervolume=True))


def test_where_the_error_comes_from_and_what_it_decides() -> None:
    run = history(SQUARE, bowl, 30)
    small, large = forecast(run, error=0.0), forecast(run, error=1.0)
    assert (small.error_from, small.stop) == ("given", False)
    assert large.stop
    assert "stopping loses nothing" in large.reading
    assert (large.chance == 0).all()
    rng = np.random.default_rng(3)
    values = SQUARE.decode(SQUARE.sample(30, 0))
    trials = [
        hl.Trial(k, v, (bowl(v) + 0.1 * rng.normal(),)) for k, v in enumerate([*values, *values])
    ]
    twice = hl.History(SQUARE, (hl.Objective("loss"),), tuple(trials))
    repeated = forecast(twice)
    assert repeated.error_from == "repeats"
    first, second = (np.array([t.costs[0] for t in trials[k : k + 30]]) for k in (0, 30))
    within = np.sqrt(np.sum((first - second) ** 2) / 2 / 30)
    assert repeated.error == pytest.approx(within, rel=0.3)  # there; this is at the best


@pytest.mark.parametrize("repeats", [1, 2])
def test_a_forecast_and_a_winner_speak_of_one_noise(repeats: int) -> None:
    rng = np.random.default_rng(4)
    values = SQUARE.decode(SQUARE.sample(40, 0)) * repeats
    costs = [bowl(v) + 0.1 * rng.normal() for v in values]
    trials = tuple(hl.Trial(k, v, (c,)) for k, (v, c) in enumerate(zip(values, costs, strict=True)))
    run = hl.History(SQUARE, (hl.Objective("loss"),), trials)
    assert hl.forecast(run).error == hl.winner(run).noise
    assert 0.05 < hl.forecast(run).error < 0.2


def test_a_conditional_space_with_a_forbidden_corner() -> None:
    from ConfigSpace import ForbiddenAndConjunction, ForbiddenEqualsClause

    space = hl.Space.of(
        [
            hl.Parameter("model", "categorical", choices=("a", "b")),
            hl.Parameter("kind", "categorical", choices=("p", "q")),
            hl.Parameter("lr", "float", 1e-4, 1.0, log=True),
        ],
        {"lr": ((("model", "equal", "a"),),)},
    )
    parts = [
        ForbiddenEqualsClause(space.configspace[n], v) for n, v in (("model", "a"), ("kind", "q"))
    ]
    space.configspace.add(ForbiddenAndConjunction(*parts))
    run = history(space, lambda v: np.log10(v["lr"]) if "lr" in v else -1.0, 40)
    found = forecast(run)
    assert np.isfinite(found.gain).all()
    assert found.gain[0, 0] < 4.0


@pytest.mark.parametrize(
    ("costs", "says"),
    [
        ([1.0], "run at least 10 first"),
        ([1.0] * 12, "All 12 costs are equal"),
        ([np.nan] * 12, "None of the 12 trials"),
    ],
)
def test_what_cannot_be_forecast_is_said_in_a_sentence(costs: list[float], says: str) -> None:
    values = SQUARE.decode(SQUARE.sample(len(costs), 0))
    state = hl.State.COMPLETE if np.isfinite(costs[0]) else hl.State.FAILED
    trials = tuple(
        hl.Trial(k, v, (c,), state) for k, (v, c) in enumerate(zip(values, costs, strict=True))
    )
    run = hl.History(SQUARE, (hl.Objective("loss"),), trials)
    for ask in (hl.forecast, hl.advise):
        with pytest.raises(hl.AnalysisError, match=says):
            ask(run)


def test_noise_alone_is_not_forecast_and_little_is_called_a_guess() -> None:
    rng = np.random.default_rng(0)
    run = history(SQUARE, lambda _: float(rng.normal()), 40)
    with pytest.raises(hl.AnalysisError, match=r"so nothing says what more of them would bring"):
        forecast(run)
    rng = np.random.default_rng(1)
    found = forecast(history(SQUARE, lambda v: v["x"] + 0.35 * float(rng.normal()), 40))
    assert 0.05 < found.quality.r2 < 0.3
    assert found.sentence.startswith("Not known, only a guess")
    assert not found.stop
    assert "cannot be said" in found.reading
    advice = hl.advise(run)
    assert advice.sentence.startswith("Keep the space as it is")
    assert advice.parameters == ()


def test_what_fails_is_neither_promised_nor_proposed() -> None:
    """x falls to 0, and every trial below a half failed; what failed at random changes nothing."""
    run = history(SQUARE, lambda v: v["x"], 60)
    failed = [t.values["x"] < 0.5 for t in run.trials]
    trials = tuple(
        replace(t, costs=(np.nan,), state=hl.State.FAILED) if fails else t
        for t, fails in zip(run.trials, failed, strict=True)
    )
    some = hl.History(SQUARE, run.objectives, trials)
    best = min(t.costs[0] for t in some.trials if t.state is hl.State.COMPLETE)
    assert forecast(some).high[1].max() < best - 0.4  # of a random search
    settling = hl.confirm(some, "x", 8)
    assert min(c["x"] for c in settling.configurations) > 0.4
    assert any("would probably fail" in note for note in settling.notes)
    assert would_fail(some, np.array([[0.1, 0.5], [0.9, 0.5]]), None, 0).tolist() == [True, False]
    by_chance = np.random.default_rng(0).permutation(failed)
    trials = tuple(
        replace(t, costs=(np.nan,), state=hl.State.FAILED) if fails else t
        for t, fails in zip(run.trials, by_chance, strict=True)
    )
    assert failing(hl.History(SQUARE, run.objectives, trials), None, 0) is None


def test_gains_of_a_search_by_a_model_by_hand() -> None:
    """The geometric mean of a draw's distance and half the reach, and never far beyond the draw."""
    best, lowest = np.full(3, 9.0), np.array([1.0, 9.0, 8.99])
    known = Prospect(50, best, np.zeros((1, 3)), lowest, np.zeros((3, 1)), 0.0, 4.0)
    gains = known.gains("model", 50).reshape(-1, 3)
    phi = gains[:, 0] / math.sqrt(8.0 * 4.0 / 2)
    assert np.median(phi) == pytest.approx(MIDDLE, rel=0.1)
    assert (gains[:, 1] == 0).all()
    assert gains[:, 2].max() == pytest.approx(3 * 0.01)
