"""The optimiser: designs, acquisitions without a model, focus search, and the ask/tell contract."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from cubes import discrete_cubes, every_latent
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import trapezoid
from scipy.stats import norm

from hyperlens import Parameter, Space, SpaceError
from hyperlens.optimize import SMBO, Candidate
from hyperlens.optimize.optimizers import designs as sampling
from hyperlens.optimize.optimizers.focus_search import Part, _apart, focus_search
from hyperlens.proposal import from_ranges
from hyperlens.spaces.cube import Axis, Cube, FloatArray
from hyperlens.surrogates.acquisition import (
    expected_improvement,
    log_expected_improvement,
    lower_confidence_bound,
)
from hyperlens.surrogates.description import learnt, rebuild


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def ellipsoid(values: dict[str, Any]) -> float:
    return float(sum((j + 1) * x**2 for j, x in enumerate(values.values())))


def box(d: int, reach: float = 5.12) -> Space:
    return Space.of([Parameter(f"x{j}", "float", -reach, reach) for j in range(d)])


def conditional() -> Space:
    """Two optimizers with a child each, an integer on a log scale, and a category."""
    return Space.of(
        [
            Parameter("optimizer", "categorical", choices=("adam", "sgd", "none")),
            Parameter("momentum", "float", 0.0, 1.0),
            Parameter("beta", "float", 0.1, 0.9),
            Parameter("units", "integer", 1, 64, log=True),
            Parameter("steps", "integer", 1, 100_000),
        ],
        {
            "momentum": ((("optimizer", "equal", "sgd"),),),
            "beta": ((("optimizer", "equal", "adam"),),),
        },
    )


# Designs


@given(st.integers(1, 40), st.integers(1, 6), st.integers(0, 1000))
def test_a_latin_hypercube_puts_one_point_in_every_cell(n: int, d: int, seed: int) -> None:
    points = sampling.latin_hypercube(n, d, rng(seed))
    cells = np.floor(points * n).astype(int)
    assert np.array_equal(np.sort(cells, axis=0), np.tile(np.arange(n)[:, None], (1, d)))


def test_a_maximin_design_is_a_latin_hypercube_and_better_spread_than_random_ones() -> None:
    cube = Cube((Axis(), Axis(), Axis.categorical(3)))
    for seed in range(5):
        chosen = sampling.maximin(cube, 12, rng(seed))
        assert np.array_equal(np.sort(np.floor(chosen * 12), axis=0)[:, 0], np.arange(12))
        others = [
            sampling.smallest_distance(cube, sampling.latin_hypercube(12, 3, rng(1000 + k)))
            for k in range(20)
        ]
        assert sampling.smallest_distance(cube, chosen) > np.quantile(others, 0.8)


def test_the_smallest_distance_counts_categories_as_one_apart() -> None:
    cube = Cube((Axis(), Axis.categorical(4)))
    latents = np.array([[0.5, 0.1], [0.5, 0.9], [0.9, 0.12]])
    assert sampling.smallest_distance(cube, latents) == pytest.approx(0.4)
    assert sampling.smallest_distance(cube, latents[:2]) == 1
    assert sampling.smallest_distance(cube, latents[:1]) == np.inf


@given(discrete_cubes(), st.integers(0, 100))
def test_uniform_points_are_vectors_of_the_cube(cube: Cube, seed: int) -> None:
    vectors = sampling.uniform(cube, 30, rng(seed))
    everything = {tuple(v) for v in np.nan_to_num(cube.vectors(every_latent(cube)[0]), nan=-1)}
    assert {tuple(v) for v in np.nan_to_num(vectors, nan=-1)} <= everything


# Acquisitions

MEAN = np.array([-2.0, 0.0, 0.3, 1.0, 5.0])
STD = np.array([0.5, 1.0, 2.0, 0.1, 1.0])


def test_the_bound_is_the_mean_less_tau_standard_deviations() -> None:
    assert lower_confidence_bound(MEAN, STD, 2.0) == pytest.approx([-3, -2, -3.7, 0.8, 3])


def test_expected_improvement_is_its_integral() -> None:
    for best in (-1.0, 0.4):
        found = expected_improvement(MEAN, STD, best)
        for m, s, value in zip(MEAN, STD, found, strict=True):
            below = np.linspace(min(m, best) - 12 * s, best, 200_001)
            area = trapezoid((best - below) * norm.pdf(below, m, s), below)
            assert value == pytest.approx(area, abs=1e-7)


def test_without_uncertainty_an_improvement_is_certain_or_nothing() -> None:
    mean, none = np.array([1.0, 3.0]), np.zeros(2)
    assert expected_improvement(mean, none, 2.0).tolist() == [1.0, 0.0]
    assert log_expected_improvement(mean, none, 2.0).tolist() == [0.0, -np.inf]


def test_log_expected_improvement_is_the_logarithm_and_falls_where_that_vanishes() -> None:
    mean, one = np.linspace(-5, 5, 100), np.ones(100)
    direct = np.log(expected_improvement(mean, one, 0.0))
    assert log_expected_improvement(mean, one, 0.0) == pytest.approx(direct, rel=1e-6)
    worse, ones = np.geomspace(1, 1e8, 200), np.ones(200)
    far = log_expected_improvement(worse, ones, 0.0)
    assert expected_improvement(worse, ones, 0.0)[-1] == 0
    assert np.isfinite(far).all()
    assert (np.diff(far) < 0).all()
    exact = log_expected_improvement(np.array([20.0]), np.ones(1), 0.0)[0]
    series = norm.logpdf(20) + np.log(1 / 20**2 - 3 / 20**4 + 15 / 20**6)  # Mills' ratio
    assert exact == pytest.approx(series, abs=1e-5)


# Focus search


def test_a_part_is_halved_around_the_best_and_clipped() -> None:
    half = Part().around(Axis(), 0.1, rng())
    assert [half.low, half.high] == pytest.approx([0.0, 0.35])
    again = half.around(Axis(), 0.2, rng())
    assert [again.low, again.high] == pytest.approx([0.1125, 0.2875])


def test_an_ordered_part_is_halved_to_whole_levels_and_a_category_loses_one() -> None:
    ordered = Parameter("n", "integer", 0, 10).axis
    assert ordered.codes is not None
    half = Part.whole(ordered).around(ordered, float(ordered.codes[5]), rng())
    assert half.levels is not None
    assert half.levels.tolist() == [2, 3, 4, 5, 6, 7, 8]  # 5 - 2.5 and 5 + 2.5, floor and ceiling
    category = Axis.categorical(4)
    assert category.codes is not None
    part = Part.whole(category)
    for left in (3, 2, 1, 1):
        part = part.around(category, float(category.codes[2]), rng())
        assert part.levels is not None
        assert len(part.levels) == left
        assert 2 in part.levels


def test_focus_search_finds_the_minimum_of_a_mixed_cube() -> None:
    integer = Parameter("n", "integer", 1, 50).axis
    cube = Cube((Axis(), Axis(), integer, Axis.categorical(5)))
    assert integer.codes is not None
    target = np.array([0.123, 1.0, integer.codes[36], 0.5])

    def score(X: FloatArray) -> FloatArray:
        return np.asarray(((X[:, :3] - target[:3]) ** 2).sum(axis=1) + (X[:, 3] != 0.5))

    rough = focus_search(score, cube, rng(1), polished=0)
    fine = focus_search(score, cube, rng(1))
    assert rough is not None
    assert fine is not None
    assert np.abs(rough.vector - target).max() < 0.05
    assert fine.vector == pytest.approx(target, abs=1e-4)
    assert fine.score <= rough.score


def test_polishing_starts_at_points_that_lie_apart_and_next_to_what_is_given() -> None:
    """A broad bowl hides a needle: points of the bowl alone would never lead to it."""
    needle = np.array([0.9, 0.1])

    def score(X: FloatArray) -> FloatArray:
        bowl = ((X - 0.3) ** 2).sum(axis=1)
        return np.asarray(bowl - 2 * np.exp(-((X - needle) ** 2).sum(axis=1) / 0.002))

    cube = Cube.continuous(2)
    few: dict[str, Any] = {"restarts": 1, "rounds": 2, "points": 5}
    blind = focus_search(score, cube, rng(0), **few)
    led = focus_search(score, cube, rng(0), **few, near=needle[None] + 0.03)
    assert blind is not None
    assert led is not None
    assert blind.vector == pytest.approx([0.3, 0.3], abs=1e-3)
    assert led.vector == pytest.approx(needle, abs=0.01)
    line = np.linspace(0, 1, 101)[:, None]
    chosen = _apart(line, np.abs(line[:, 0] - 0.5), 3)
    assert [round(float(f.vector[0]), 2) for f in chosen] == [0.5, 0.39, 0.61]
    off = np.array([[0.5], [np.nan]])  # active or not is far apart
    assert len(_apart(off, np.zeros(2), 2)) == 2


def test_focus_search_finds_a_minimum_behind_a_condition() -> None:
    space = conditional()
    sgd = space.encode([{"optimizer": "sgd", "momentum": 0.7, "units": 8, "steps": 1}])[0]

    def score(X: FloatArray) -> FloatArray:
        momentum, units, steps = (X[:, space.column(n)] for n in ("momentum", "units", "steps"))
        away = np.where(np.isnan(momentum), 1.0, (momentum - 0.7) ** 2)
        return np.asarray(away + (units - sgd[space.column("units")]) ** 2 + steps**2)

    found = focus_search(score, space.cube, rng(3))
    assert found is not None
    values = space.decode(found.vector[None])[0]
    assert values["optimizer"] == "sgd"
    assert values["units"] == 8
    assert values["momentum"] == pytest.approx(0.7, abs=1e-3)
    assert "beta" not in values


@settings(max_examples=20)
@given(discrete_cubes(), st.integers(0, 100))
def test_focus_search_on_discrete_cubes_agrees_with_trying_everything(
    cube: Cube, seed: int
) -> None:
    heights = rng(seed).normal(size=(cube.d, 5))

    def score(X: FloatArray) -> FloatArray:
        total = np.zeros(len(X))
        for j, axis in enumerate(cube.axes):
            off = np.isnan(X[:, j])
            total += np.where(off, heights[j, 4], heights[j, axis.level(np.where(off, 0, X[:, j]))])
        return total

    found = focus_search(score, cube, rng(seed), points=500)
    everything = cube.vectors(every_latent(cube)[0])
    assert found is not None
    assert found.score == pytest.approx(score(everything).min())


def test_barred_points_are_never_returned() -> None:
    cube = Cube((Axis.categorical(4),))
    assert cube.axes[0].codes is not None
    codes = cube.axes[0].codes

    def score(X: FloatArray) -> FloatArray:
        return np.asarray(X[:, 0])

    found = focus_search(score, cube, rng(), barred=lambda X: X[:, 0] < codes[2])
    assert found is not None
    assert found.vector[0] == codes[2]
    everything = focus_search(score, cube, rng(), barred=lambda X: np.ones(len(X), dtype=bool))
    assert everything is None


# SMBO


def best_of(space: Space, trials: int, **settings: Any) -> float:
    optimiser = SMBO(space, **settings)
    for _ in range(trials):
        proposal = optimiser.ask()
        optimiser.tell(proposal.values, ellipsoid(dict(proposal.values)))
    assert optimiser.best is not None
    return optimiser.best.cost


def test_smbo_beats_random_search_clearly_on_the_ellipsoid() -> None:
    space = box(4)
    ours = best_of(space, 45, nugget=1e-8, seed=0)
    random = np.median(
        [min(map(ellipsoid, space.decode(space.sample(45, seed)))) for seed in range(3)]
    )
    assert random > 2
    assert ours < 0.01


def test_expected_improvement_and_the_forest_make_progress_too() -> None:
    assert best_of(box(2), 25, acquisition="ei") < 0.1
    assert best_of(box(2), 18, surrogate="forest") < 8


def asked(count: int, **settings: Any) -> list[Candidate]:
    optimiser = SMBO(box(2), initial=6, **settings)
    proposals = []
    for _ in range(count):
        proposals.append(optimiser.ask())
        optimiser.tell(proposals[-1].values, ellipsoid(dict(proposals[-1].values)))
    return proposals


def test_the_same_seed_asks_the_same_and_another_seed_something_else() -> None:
    first, again, other = asked(10, seed=1), asked(10, seed=1), asked(10, seed=2)
    assert [p.values for p in first] == [p.values for p in again]
    assert [p.proposal for p in first] == [p.proposal for p in again]
    assert first[0].values != other[0].values
    assert first[-1].values != other[-1].values


def test_a_run_is_resumed_by_telling_its_trials_again() -> None:
    whole = asked(12)
    resumed = SMBO(box(2), initial=6)
    for proposal in whole[:9]:
        resumed.tell(proposal.values, ellipsoid(dict(proposal.values)))
    assert resumed.ask().values == pytest.approx(dict(whole[9].values))


def test_a_proposal_says_what_made_it() -> None:
    optimiser = SMBO(box(2), initial=6, tau=2.0)
    for k in range(9):
        candidate = optimiser.ask()
        p = candidate.proposal
        assert (candidate.number, p.kind) == (k, "initial" if k < 6 else "proposed")
        if p.kind == "initial":
            assert p.mean is None
        else:
            assert p.mean is not None
            assert p.std is not None
            assert p.surrogate == "gp"
            known = from_ranges(p.learned)
            assert known == list(range(k))
            bent = learnt(optimiser.y[known], p.surrogate_parameters)
            cube, X = optimiser.space.cube, optimiser.X[known]
            model = rebuild(p.surrogate, p.surrogate_parameters, cube, X, bent)
            mean, std = model.predict(candidate.vector[None])
            assert p.mean == pytest.approx(mean[0])
            assert p.std == pytest.approx(std[0])
            assert p.bound == p.score == p.mean - 2 * p.std
        optimiser.tell(candidate.vector, ellipsoid(dict(candidate.values)))
    assert not optimiser.awaited


def test_acquisitions_take_turns_unless_one_is_chosen() -> None:
    def made(**settings: Any) -> list[tuple[str | None, float | None]]:
        return [(c.proposal.acquisition, c.proposal.tau) for c in asked(9, **settings)[6:]]

    assert made() == [("ei", 1.0), ("lcb", 0.1), ("ei", 1.0)]
    assert made(tau=2.0) == [("lcb", 2.0)] * 3
    assert made(acquisition="ei") == [("ei", 1.0)] * 3
    assert made(acquisition="lcb") == [("lcb", 1.0)] * 3


def test_the_score_is_the_acquisition_that_was_maximised() -> None:
    for p in (candidate.proposal for candidate in asked(9)[6:]):
        assert p.mean is not None
        assert p.std is not None
        assert p.best is not None
        improvement = expected_improvement(np.array([p.mean]), np.array([p.std]), p.best)[0]
        assert p.score == (improvement if p.acquisition == "ei" else p.mean - 0.1 * p.std)


def test_the_initial_design_has_four_configurations_per_parameter() -> None:
    assert [len(SMBO(box(d)).design) for d in (1, 2, 5)] == [4, 8, 20]
    assert len(SMBO(box(3), initial=7).design) == 7


def test_several_proposals_can_be_out_at_once_and_differ() -> None:
    optimiser = SMBO(box(2), initial=6)
    for _ in range(8):
        p = optimiser.ask()
        optimiser.tell(p.values, ellipsoid(dict(p.values)))
    batch = [optimiser.ask() for _ in range(4)]
    assert [p.number for p in batch] == [8, 9, 10, 11]
    assert batch[-1].proposal.awaited == "8-10"
    for a, b in product(batch, batch):
        assert a is b or np.abs(a.vector - b.vector).max() > 1e-3
    for p in reversed(batch):
        optimiser.tell(p.values, ellipsoid(dict(p.values)))
    assert not optimiser.awaited
    assert len(optimiser.results) == 12


def test_failures_count_as_the_worst_and_are_never_the_best() -> None:
    optimiser = SMBO(box(1), initial=3)
    assert optimiser.best is None
    for cost in (np.nan, 3.0, 1.0):
        optimiser.tell(optimiser.ask().values, cost)
    assert optimiser.y.tolist() == [3.0, 3.0, 1.0]
    assert optimiser.best is not None
    assert optimiser.best.cost == 1.0
    assert optimiser.ask().proposal.kind == "proposed"


def test_equal_costs_do_not_stop_it() -> None:
    optimiser = SMBO(box(2), initial=2)
    for _ in range(5):
        optimiser.tell(optimiser.ask().values, 1.0)
    assert optimiser.ask().proposal.mean is None


@settings(max_examples=6)
@given(st.integers(0, 10_000), st.sampled_from(["lcb", "ei"]))
def test_every_proposal_is_a_valid_configuration(seed: int, acquisition: Any) -> None:
    space = conditional()
    optimiser = SMBO(space, initial=8, acquisition=acquisition, seed=seed)
    noise = rng(seed)
    for _ in range(11):
        p = optimiser.ask()
        assert not len(space.misfits(p.vector[None]))
        assert space.decode(space.encode([p.values])) == [p.values]
        assert space.encode([p.values])[0] == pytest.approx(p.vector, nan_ok=True)
        _configuration(space, dict(p.values)).check_valid_configuration()
        optimiser.tell(p.values, float(noise.normal()))
    assert not optimiser.awaited


def _configuration(space: Space, values: dict[str, Any]) -> Any:
    from ConfigSpace import Configuration

    return Configuration(space.configspace, values=values)


def test_a_small_discrete_space_without_noise_is_tried_out_before_anything_repeats() -> None:
    space = Space.of(
        [
            Parameter("a", "categorical", choices=("p", "q", "r")),
            Parameter("n", "integer", 1, 4),
        ]
    )
    optimiser = SMBO(space, initial=2, nugget=1e-8)
    seen = []
    for k in range(14):
        p = optimiser.ask()
        seen.append(tuple(p.values.values()))
        optimiser.tell(p.values, float(k % 5))
    assert len(set(seen[:12])) == 12


def test_forbidden_configurations_are_never_proposed() -> None:
    from ConfigSpace import (
        ConfigurationSpace,
        ForbiddenAndConjunction,
        ForbiddenEqualsClause,
    )

    configspace = ConfigurationSpace({"a": ["p", "q"], "b": ["p", "q", "r"], "x": (0.0, 1.0)})
    configspace.add(
        ForbiddenAndConjunction(
            ForbiddenEqualsClause(configspace["a"], "q"),
            ForbiddenEqualsClause(configspace["b"], "r"),
        )
    )
    optimiser = SMBO(Space(configspace), initial=6)
    for _ in range(12):
        p = optimiser.ask()
        assert (p.values["a"], p.values["b"]) != ("q", "r")
        optimiser.tell(p.values, (p.values["a"] != "q") + (p.values["b"] != "r") + p.values["x"])


def test_what_cannot_be_optimised_is_refused_with_a_remedy() -> None:
    space = box(2)
    with pytest.raises(SpaceError, match="choose 'lcb' or 'ei'"):
        SMBO(space, acquisition="ucb")  # type: ignore[arg-type]  # what a user might write
    with pytest.raises(SpaceError, match="choose 'gp' or 'forest'"):
        SMBO(space, surrogate="tpe")  # type: ignore[arg-type]  # what a user might write
    with pytest.raises(SpaceError, match="at least 0"):
        SMBO(space, tau=-1.0)
    with pytest.raises(SpaceError, match="None to estimate"):
        SMBO(space, nugget=0.0)
    with pytest.raises(SpaceError, match=r"needs \(n, 2\)"):
        SMBO(space, design=np.zeros((4, 3)))
    with pytest.raises(SpaceError, match=r"needs \(2,\)"):
        SMBO(space).tell(np.zeros(3), 1.0)
    with pytest.raises(SpaceError, match="exactly the parameters that are active"):
        SMBO(conditional()).tell({"optimizer": "sgd", "units": 3, "steps": 7}, 1.0)


def test_data_without_noise_are_believed_to_the_last_digit() -> None:
    """Where none is estimated the surrogate interpolates; a nugget that was given stays."""
    space = Space.of([Parameter("x", "float", -1, 1)])

    def nugget(noise: float, **options: Any) -> float:
        optimiser = SMBO(space, initial=10, **options)
        rng = np.random.default_rng(0)
        for _ in range(11):
            proposal = optimiser.ask()
            cost = float(proposal.values["x"] ** 2 + noise * rng.standard_normal())
            optimiser.tell(proposal.values, cost)
        return float(optimiser.ask().proposal.surrogate_parameters["nugget"])

    assert nugget(0.0) == 1e-10
    assert nugget(0.0, nugget=1e-8) == nugget(0.0, refine=False) == 1e-8
    assert nugget(0.3) > 1e-4
