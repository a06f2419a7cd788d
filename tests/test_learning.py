"""How a search learns: bad costs drawn nearer, near one of the best, and long runs in part."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hyperlens as hl
from hyperlens import Parameter, Space
from hyperlens.explain.proposals.recorded_proposer import rebuilt
from hyperlens.optimize import SMBO
from hyperlens.optimize.learning.region import MOST, everywhere, nearby
from hyperlens.optimize.learning.repeating import repeats_pay
from hyperlens.optimize.learning.scoring import Scoring
from hyperlens.optimize.optimizers.focus_search import focus_search, smallest_box
from hyperlens.proposal import from_ranges
from hyperlens.spaces.cube import Axis, Cube, FloatArray
from hyperlens.spaces.points import distances
from hyperlens.surrogates.acquisition import (
    log_expected_improvement,
    log_expected_improvement_slopes,
)
from hyperlens.surrogates.bending import Bend
from hyperlens.surrogates.gaussian_process.gp import GP
from hyperlens.surrogates.outcomes import Outcomes

COSTS = st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=2, max_size=30)


def outcomes(X: FloatArray, costs: FloatArray) -> Outcomes:
    return Outcomes(X, costs[:, None], np.empty((len(X), 0)))


def plane() -> Space:
    return Space.of([Parameter("x", "float", 0, 1), Parameter("y", "float", 0, 1)])


def diverging(values: dict[str, Any]) -> float:
    """A bowl; beyond x = 0.7 costs grow to 10^9, beyond 0.95 there are none."""
    if values["x"] > 0.95:
        return math.nan
    grown = 10 ** (30 * max(values["x"] - 0.7, 0.0)) - 1
    return float((values["x"] - 0.6) ** 2 + (values["y"] - 0.3) ** 2 + grown)


# Bent costs


@given(COSTS)
def test_a_bend_keeps_the_order_and_the_better_half(costs: list[float]) -> None:
    y = np.sort(np.array(costs))
    bend = Bend.of(y)
    if bend is None:
        assert np.ptp(y) <= 1e-12 * max(np.abs(y).max(), 1.0)
        return
    bent, rounding = bend(y), 1e-12 * float(np.abs(y).max())
    assert (np.diff(bent) >= -rounding).all()
    good = y <= bend.knee
    assert (bent[good] == y[good]).all()
    assert (bent <= y + rounding).all()
    assert Bend.from_list(bend.to_list()) == bend


def test_a_bend_is_a_logarithm_beyond_the_knee() -> None:
    y = np.array([0.0, 1.0, 2.0, 2.0 + 2 * (math.e**3 - 1), 1e9])
    bend = Bend.of(y)
    assert bend == Bend(2.0, 2.0)
    assert bend(y)[3] == pytest.approx(2 + 2 * 3)


def test_equal_costs_have_no_bend_and_ties_at_the_best_have_one() -> None:
    assert Bend.of(np.full(5, 3.0)) is None
    tied = Bend.of(np.array([1.0, 1.0, 1.0, 5.0, 100.0]))
    assert tied is not None
    assert tied.scale > 0


# Regions


def test_what_is_near_is_the_box_of_the_nearest_trials_to_the_best() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((60, 2))
    costs = ((X - 0.2) ** 2).sum(axis=1)
    best = int(np.argmin(costs))
    known = outcomes(np.vstack([X, X[best]]), np.append(costs, costs[best] - 1))  # the last is best
    region = nearby(known, Cube.continuous(2))
    away = np.linalg.norm(known.X - X[best], axis=1)
    assert set(region.rows) == set(np.argsort(away, kind="stable")[:15])
    assert region.parts is not None
    for part, x in zip(region.parts, known.X[region.rows].T, strict=True):
        assert part.low <= x.min()
        assert part.high >= x.max()
        assert part.high - part.low < 0.9


def test_where_the_best_does_not_improve_the_next_place_has_its_turn() -> None:
    rng = np.random.default_rng(1)
    X = np.vstack([0.1 + 0.01 * rng.random((20, 2)), 0.8 + 0.01 * rng.random((60, 2))])
    costs = np.r_[0.0, rng.random(19), 0.5 + rng.random(60)]  # the first is best, long ago
    early, late = (nearby(outcomes(X[:k], costs[:k]), Cube.continuous(2)) for k in (25, 80))
    assert X[early.rows].max() < 0.2
    assert X[late.rows].min() > 0.1 + 0.01 or X[late.rows].max() > 0.7


def test_few_trials_are_all_learnt_and_long_runs_in_part() -> None:
    rng = np.random.default_rng(2)
    few = outcomes(rng.random((10, 2)), rng.random(10))
    assert nearby(few, Cube.continuous(2)).parts is None
    assert len(everywhere(few).rows) == 10
    costs = rng.random(5000)
    costs[7] = np.nan
    rows = everywhere(outcomes(rng.random((5000, 2)), costs)).rows
    assert len(set(rows)) == len(rows) == MOST
    assert set(np.argsort(costs)[: MOST // 2]) <= set(rows)  # nan is last
    assert np.nanmax(costs[rows]) > 0.99


def test_a_box_holds_levels_and_inactive_coordinates() -> None:
    ordered = Axis(np.linspace(0, 1, 6), np.arange(5) / 4)
    cube = Cube((Axis(), Axis.categorical(3), ordered, Axis()))
    codes = cube.axes[1].codes
    assert codes is not None
    X = np.array([[0.4, codes[0], 0.25, np.nan], [0.5, codes[2], 0.75, np.nan]])
    continuous, category, steps, inactive = smallest_box(cube, X)
    assert 0.39 < continuous.low < 0.4 < 0.5 < continuous.high < 0.51
    assert category.levels is not None
    assert category.levels.tolist() == [0, 2]
    assert steps.levels is not None
    assert steps.levels.tolist() == [1, 2, 3]
    assert (inactive.low, inactive.high) == (0.0, 1.0)
    assert distances(cube, X, X[0]).tolist() == [0.0, pytest.approx(math.sqrt(0.01 + 1 + 0.25))]


def test_a_search_stays_in_its_box() -> None:
    cube = Cube.continuous(2)
    box = smallest_box(cube, np.array([[0.5, 0.1], [0.6, 0.2]]))
    found = focus_search(
        lambda X: X.sum(axis=1),
        cube,
        np.random.default_rng(0),
        near=np.array([[0.55, 0.15]]),
        within=box,
    )
    assert found is not None
    assert found.vector == pytest.approx([0.5, 0.1], abs=2e-4)


# Slopes that a search follows


def conditional() -> Cube:
    """Two continuous axes, a category, and a continuous axis that one of its levels has."""
    category = Axis.categorical(2)
    child = ((2, ((0.0, 0.5),)),)
    return Cube((Axis(), Axis(), category, Axis()), {3: (child,)})


@pytest.mark.parametrize("acquisition", ["lcb", "ei"])
@pytest.mark.parametrize("nugget", [1e-10, 0.2])
def test_slopes_are_differences_of_scores(acquisition: Literal["lcb", "ei"], nugget: float) -> None:
    cube, rng = conditional(), np.random.default_rng(5)
    X = cube.vectors(rng.random((30, 4)))
    y = np.sin(5 * X[:, 0]) + X[:, 1] ** 2 + X[:, 2] + np.nan_to_num(X[:, 3])
    model = GP(cube, nugget).fit(X, y)
    quiet = replace(model.parameters, quiet=True)
    model = GP.from_parameters(cube, quiet, X, y)
    score = Scoring(model, acquisition, 0.7, float(y.min()))
    for vector in cube.vectors(rng.random((8, 4))):
        free = [j for j in (0, 1, 3) if not np.isnan(vector[j])]
        value, slopes = score.follow(vector, free)(vector[free])
        assert value == pytest.approx(float(score(vector[None])[0]), rel=1e-6)
        for j, slope in zip(free, slopes, strict=True):
            step = 1e-5 * np.eye(4)[j]
            ends = score(np.array([vector + step, vector - step]))
            assert slope == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("mean", [-3.0, -0.5, 0.9, 1.1, 8.0, 1e3, 3e4])
def test_slopes_of_the_improvement_at_any_distance(mean: float) -> None:
    value, by_mean, by_std = log_expected_improvement_slopes(mean, 1.0, 0.0)

    def at(m: float, s: float) -> float:
        return float(log_expected_improvement(np.array([m]), np.array([s]), 0.0)[0])

    assert value == pytest.approx(at(mean, 1.0))
    h = 1e-4
    # the second derivatives are at most about 3 (mean / std)^2, so differences are that far off
    assert by_mean == pytest.approx((at(mean + h, 1) - at(mean - h, 1)) / (2 * h), rel=1e-5)
    assert by_std == pytest.approx((at(mean, 1 + h) - at(mean, 1 - h)) / (2 * h), rel=1e-5)
    assert log_expected_improvement_slopes(mean, 0.0, 0.0)[2] == 0.0


# The search itself


def test_noise_is_not_counted_where_true_costs_are_predicted() -> None:
    rng = np.random.default_rng(3)
    X = rng.random((40, 1))
    noisy = GP(nugget=0.3).fit(X, np.sin(6 * X[:, 0]) + 0.3 * rng.standard_normal(40))
    parameters = replace(noisy.parameters, quiet=True)
    quiet = GP.from_parameters(noisy.cube, parameters, X, noisy.y)
    at = np.linspace(0, 1, 7)[:, None]
    (mean, std), (same, less) = noisy.predict(at), quiet.predict(at)
    assert same == pytest.approx(mean)
    assert std**2 - less**2 == pytest.approx(np.full(7, 0.3 * parameters.variance))


def test_a_search_that_diverges_finds_the_bowl_and_its_proposals_are_rebuilt() -> None:
    history = hl.minimize(diverging, plane(), trials=30, seed=1)
    assert history.best().costs[0] < 1e-3
    modelled = [t for t in history.trials if t.proposal is not None and t.proposal.by_surrogate]
    local = [t for t in modelled if len(from_ranges(t.proposal.learned)) < t.number]  # type: ignore[union-attr]
    assert local
    for trial in (modelled[0], modelled[-1], local[-1]):
        proposer = rebuilt(history, trial, None)
        assert proposer.recorded
        assert any("drawn nearer" in note for note in proposer.notes)


def test_the_papers_search_takes_costs_and_trials_as_they_are() -> None:
    search = SMBO(plane(), tau=1.0, refine=False, initial=6)
    for _ in range(22):
        candidate = search.ask()
        search.tell(
            candidate.values, diverging({**candidate.values, "x": candidate.values["x"] / 2})
        )
    p = candidate.proposal
    assert p.learned == "0-20"
    assert not {"bend", "quiet"} & set(p.surrogate_parameters)


LEVELS = {"a": 5, "b": 4, "c": 3}
CATEGORIES = hl.Space.of(
    [hl.Parameter(n, "categorical", choices=tuple(range(k))) for n, k in LEVELS.items()]
)


def searched(noise: float, rough: float) -> list[tuple[int, ...]]:
    """What 40 trials tried of 60 configurations: a sum over categories, a rough part, and noise."""
    rng = np.random.default_rng(1)
    parts = [rng.normal(size=k) for k in LEVELS.values()]
    beside, luck = rough * rng.normal(size=(5, 4, 3)), noise * rng.normal(size=40)
    search, tried = hl.SMBO(CATEGORIES, seed=1), []
    for k in range(40):
        values = search.ask().values
        at = tuple(values[name] for name in LEVELS)
        cost = sum(part[level] for part, level in zip(parts, at, strict=True)) + beside[at]
        search.tell(values, float(cost + luck[k]))
        tried.append(at)
    return tried


def test_noisy_categories_are_measured_again_by_every_second_proposal_at_most() -> None:
    tried = searched(noise=2.0, rough=0.0)
    again = [k for k in range(40) if tried[k] in tried[:k]]
    assert len(again) >= 4
    assert all(k % 2 for k in again)  # those that refine


def test_what_is_rough_and_not_noisy_is_measured_again_once() -> None:
    tried = searched(noise=0.0, rough=1.0)
    assert len(tried) - len(set(tried)) <= 1


def test_repeats_pay_where_costs_are_noisy_and_nothing_is_continuous() -> None:
    rng = np.random.default_rng(0)
    X = CATEGORIES.sample(30, 0)
    y = rng.normal(size=30)
    noisy = GP(CATEGORIES.cube).fit(X, y)
    noisy = GP.from_parameters(CATEGORIES.cube, replace(noisy.parameters, nugget=0.5), X, y)
    exact = GP.from_parameters(CATEGORIES.cube, replace(noisy.parameters, nugget=1e-8), X, y)
    assert repeats_pay(CATEGORIES.cube, noisy, X, y)
    assert not repeats_pay(CATEGORIES.cube, exact, X, y)
    assert repeats_pay(CATEGORIES.cube, noisy, np.vstack([X, X[:1]]), np.r_[y, y[0] + 1])
    alone = np.unique(X, axis=0, return_index=True)[1]  # none of them twice yet
    once = np.vstack([X[alone], X[alone[:1]]])
    assert not repeats_pay(CATEGORIES.cube, noisy, once, np.r_[y[alone], y[alone[0]]])
    line = hl.Space.of([hl.Parameter("x", "float", 0, 1)]).cube
    assert not repeats_pay(line, noisy, X, y)
