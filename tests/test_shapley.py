"""Shapley values: their axioms, closed forms against enumeration, intervals against exact values."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations, product
from math import factorial

import numpy as np
import pytest
from cubes import discrete_cubes, every_latent
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from test_gp import FLAT, NESTED, random_gp, sample

from hyperlens.errors import AnalysisError
from hyperlens.explain.shapley import product_kernel as gaussian
from hyperlens.explain.shapley.attribution import Part, attribute
from hyperlens.explain.shapley.backgrounds import background, near, single
from hyperlens.explain.shapley.coalitions import Game
from hyperlens.explain.shapley.games import shapley
from hyperlens.spaces.cube import Axis, Cube, FloatArray
from hyperlens.spaces.points import sobol
from hyperlens.surrogates.gaussian_process.gp import GP
from hyperlens.surrogates.gaussian_process.posterior import Parameters
from hyperlens.surrogates.random_forest.forest import Forest


def games(most: int = 5) -> st.SearchStrategy[FloatArray]:
    """The worth of every coalition of up to `most` players in two games."""
    return st.integers(1, most).flatmap(
        lambda m: arrays(np.float64, (1 << m, 2), elements=st.floats(-10, 10))
    )


def both(mean: FloatArray, std: FloatArray) -> FloatArray:
    return np.stack([mean, std])


# The axioms


@given(games())
def test_values_are_the_mean_gain_over_all_orders(worth: FloatArray) -> None:
    m = len(worth).bit_length() - 1
    total = np.zeros((m, 2))
    for order in permutations(range(m)):
        coalition = 0
        for j in order:
            total[j] += worth[coalition | 1 << j] - worth[coalition]
            coalition |= 1 << j
    np.testing.assert_allclose(shapley(worth), total / factorial(m), atol=1e-12)


@given(games())
def test_efficiency(worth: FloatArray) -> None:
    np.testing.assert_allclose(shapley(worth).sum(axis=0), worth[-1] - worth[0], atol=1e-11)


@given(games(), st.floats(-3, 3), st.floats(-3, 3))
def test_linearity(worth: FloatArray, a: float, b: float) -> None:
    mixed = worth @ np.array([[a], [b]])
    expected = shapley(worth) @ np.array([[a], [b]])
    np.testing.assert_allclose(shapley(mixed), expected, atol=1e-11)


@given(games(), st.data())
def test_symmetry(worth: FloatArray, data: st.DataObject) -> None:
    """Two players who may be exchanged in every coalition are worth the same."""
    m = len(worth).bit_length() - 1
    i, j = data.draw(st.integers(0, m - 1)), data.draw(st.integers(0, m - 1))
    exchanged = [
        s & ~(1 << i) & ~(1 << j) | (s >> i & 1) << j | (s >> j & 1) << i for s in range(1 << m)
    ]
    found = shapley(worth + worth[exchanged])
    np.testing.assert_allclose(found[i], found[j], atol=1e-11)


@given(games(), st.data(), st.floats(-5, 5))
def test_dummy(worth: FloatArray, data: st.DataObject, own: float) -> None:
    """A player who adds the same to every coalition is worth just that."""
    m = len(worth).bit_length() - 1
    j = data.draw(st.integers(0, m - 1))
    members = np.arange(1 << m)
    dummy = worth[members & ~(1 << j)] + own * (members >> j & 1)[:, None]
    np.testing.assert_allclose(shapley(dummy)[j], own, atol=1e-11)


def test_not_all_coalitions_are_refused() -> None:
    with pytest.raises(ValueError, match="3 coalitions"):
        shapley(np.zeros((3, 1)))


# Mixtures


def naive_worth(game: Game, weights: FloatArray) -> FloatArray:
    """Every coalition by itself; weights (B,) sum to one."""
    found = []
    for coalition in range(1 << len(game.players)):
        mixed = game.background.copy()
        for k, column in enumerate(game.players):
            if coalition >> k & 1:
                mixed[:, column] = game.vector[column]
        mean, std = game.model.predict(game.cube.vectors(mixed))
        found.append(game.quantities(mean, std) @ weights)
    return np.array(found)


@pytest.mark.parametrize("cube", [Cube.continuous(3), FLAT, NESTED])
def test_both_enumerations_are_the_naive_one(cube: Cube) -> None:
    model = random_gp(cube, 9, 3)
    for x in sample(cube, 6, 4):
        game = Game(model, cube, x, sobol(7, cube.d, 5), both)
        naive = naive_worth(game, np.full(7, 1 / 7))
        np.testing.assert_allclose(game.worth(), naive, atol=1e-12)
        np.testing.assert_allclose(gaussian.worth(model, game), naive, atol=1e-12)


@settings(max_examples=40)
@given(discrete_cubes(), st.integers(0, 1000))
def test_factors_are_shared_rightly_on_conditional_spaces(cube: Cube, seed: int) -> None:
    model, x = random_gp(cube, 8, seed), sample(cube, 1, seed + 1)[0]
    game = Game(model, cube, x, np.random.default_rng(seed).random((12, cube.d)), both)
    np.testing.assert_allclose(gaussian.worth(model, game), game.worth(), atol=1e-11)


def test_chunks_and_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model = random_gp(NESTED, 90, 6)  # more columns than one strip of the triangular product
    game = Game(model, NESTED, sample(NESTED, 1, 7)[0], sobol(64, 4, 0), both)
    whole = gaussian.worth(model, game, threads=1)
    monkeypatch.setattr(gaussian, "CHUNK", 900)
    parts = gaussian.worth(model, game, threads=1)
    np.testing.assert_allclose(parts, whole, atol=1e-12)
    assert gaussian.worth(model, game, threads=3).tobytes() == parts.tobytes()


def test_a_player_without_a_say_follows_the_background() -> None:
    model = random_gp(FLAT, 10, 8)
    x = sample(FLAT, 1, 9)[0]
    x[1] = np.nan
    game = Game(model, FLAT, x, sobol(9, 3, 1), both)
    np.testing.assert_allclose(gaussian.worth(model, game), game.worth(), atol=1e-12)
    assert len(game.worth()) == 4


# The mean in closed form


@settings(max_examples=60)
@given(discrete_cubes(), st.integers(0, 1000))
def test_closed_mean_is_the_sum_over_all_cells(cube: Cube, seed: int) -> None:
    model, x = random_gp(cube, 8, seed), sample(cube, 1, seed + 1)[0]
    points, weights = every_latent(cube)
    worth = naive_worth(Game(model, cube, x, points, both), weights)[:, :1]
    found = gaussian.mean_contributions(model, x)
    assert found is not None
    phi, average = found
    players = ~np.isnan(x)
    np.testing.assert_allclose(phi[players], shapley(worth)[:, 0], atol=1e-10)
    assert (phi[~players] == 0).all()
    assert average == pytest.approx(worth[0, 0], abs=1e-10)


@pytest.mark.parametrize("d", [1, 2, 3, 6, 9])
def test_closed_mean_of_continuous_columns_is_the_enumeration(d: int) -> None:
    """v(S) = mu + s sum_i beta_i prod_(j in S) u_ij prod_(j not in S) w_ij, for all 2^d S."""
    cube = Cube.continuous(d)
    model, x = random_gp(cube, 20, d), sample(cube, 1, 30 + d)[0]
    u, w = np.ones((2, d, 20))
    for j, factor in enumerate(model.factors):
        u[j] = factor.value(x[j], model.X[:, j])
        w[j] = factor.integral(model.X[:, j], ((0.0, 1.0),))
    worth = [
        model.parameters.trend
        + 0.95 * np.prod(np.where(np.array(joined)[:, None], u, w), axis=0) @ model.beta
        for joined in product((False, True), repeat=d)
    ]
    # product() counts with the last player fastest, coalitions with the first
    expected = shapley(np.array(worth)[:, None])[::-1, 0]
    found = gaussian.mean_contributions(model, x)
    assert found is not None
    np.testing.assert_allclose(found[0], expected, atol=1e-12)
    assert found[1] == pytest.approx(worth[0], abs=1e-12)


def test_closed_mean_on_a_mixed_space_is_the_midpoint_rule() -> None:
    """20 cells an axis. The error is of second order: 8.5e-4, 2.1e-4, 5.2e-5 for 10, 20, 40."""
    model = random_gp(NESTED, 12, 11)
    cells = (np.arange(20) + 0.5) / 20
    middles = [cells if a.codes is None else a.codes for a in NESTED.axes]
    widths = [np.full(20, 1 / 20) if a.edges is None else np.diff(a.edges) for a in NESTED.axes]
    points = np.array(list(product(*middles)))
    weights = np.array([np.prod(w) for w in product(*widths)])
    for x in sample(NESTED, 3, 12):
        found = gaussian.mean_contributions(model, x)
        assert found is not None
        worth = naive_worth(Game(model, NESTED, x, points, both), weights)
        players = ~np.isnan(x)
        np.testing.assert_allclose(found[0][players], shapley(worth)[:, 0], atol=4e-4)


def test_entangled_conditions_have_no_closed_form() -> None:
    """13 categories that all decide on a fourteenth column: 2^13 scenarios."""
    half = ((0.0, 0.5),)
    cube = Cube(
        (*(Axis.categorical(2) for _ in range(13)), Axis()),
        {13: (tuple((p, half) for p in range(13)),)},
    )
    model = random_gp(cube, 5, 0)
    x = sample(cube, 1, 1)[0]
    assert gaussian.mean_contributions(model, x) is None
    game = Game(model, cube, x, sobol(8, 14, 0), both)
    mean = attribute(game, "paired", uniform=True).parts[0]
    assert mean.contribution.sum() == pytest.approx(mean.payout, abs=1e-9)


def test_equal_columns_and_columns_without_effect() -> None:
    """Symmetry and dummy of a Gaussian process: columns 0 and 1 enter alike, column 2 not at all."""
    rng = np.random.default_rng(0)
    X = rng.random((20, 3))
    X = np.vstack([X, X[:, [1, 0, 2]]])
    y = np.tile(rng.normal(size=20), 2)
    parameters = Parameters((0.4, 0.4, 1e9), (None,) * 3, (None,) * 3, 0.1, 1.0, 0.2)
    model = GP.from_parameters(Cube.continuous(3), parameters, X, y)
    latents = sobol(32, 3, 0)
    latents = np.vstack([latents, latents[:, [1, 0, 2]]])
    game = Game(model, model.cube, np.array([0.3, 0.3, 0.9]), latents, both)
    for part in attribute(game, uniform=True).parts:
        assert part.contribution[0] == pytest.approx(part.contribution[1], abs=1e-10)
        assert part.contribution[2] == pytest.approx(0, abs=1e-8)
        assert part.contribution.sum() == pytest.approx(part.payout, abs=1e-10)


# Croppi 2021 table 2


class Product:
    """u = t1 + t2 t3, known without doubt."""

    def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        return X[:, 0] + X[:, 1] * X[:, 2], np.zeros(len(X))


def test_table_2_of_the_thesis_exactly() -> None:
    """A grid of midpoints has the same means and products of means as the unit cube."""
    middles = (np.arange(4) + 0.5) / 4
    grid = np.array(list(product(middles, repeat=3)))
    game = Game(Product(), Cube.continuous(3), np.zeros(3), grid, both)
    mean, std = attribute(game).parts
    np.testing.assert_allclose(mean.contribution, [-1 / 2, -1 / 8, -1 / 8], atol=1e-15)
    assert mean.payout == pytest.approx(-3 / 4, abs=1e-15)
    assert not std.contribution.any()


# Sampled permutations


def exact_and_game() -> tuple[tuple[Part, ...], Game]:
    """Of a small game, with two quantities."""
    model = random_gp(FLAT, 15, 21)
    game = Game(model, FLAT, sample(FLAT, 1, 22)[0], sobol(16, 3, 2), both)
    return attribute(game, "exact").parts, game


def test_paired_orders_add_up_and_cover_the_exact_values() -> None:
    """90 % intervals over 200 seeds: 180 expected, standard deviation 4.2 for each number."""
    exact, game = exact_and_game()
    held = np.zeros((2, 3))
    for seed in range(200):
        found = attribute(game, "paired", samples=500, level=0.9, seed=seed)
        assert found.samples == 512  # whole rounds of 16 rows, each repeated 16 times
        for q, part in enumerate(found.parts):
            assert part.contribution.sum() == pytest.approx(part.payout, abs=1e-12)
            held[q] += np.abs(part.contribution - exact[q].contribution) <= part.reach
    assert held.min() >= 165, held
    assert held.max() < 200, held  # as wide as they need to be, not wider


def test_the_thesis_estimator_covers_the_exact_values() -> None:
    """As above; its intervals hold the sampling of background rows as well."""
    exact, game = exact_and_game()
    held = np.zeros((2, 3))
    for seed in range(200):
        found = attribute(game, "sampled", samples=60, level=0.9, seed=seed)
        for q, part in enumerate(found.parts):
            held[q] += np.abs(part.contribution - exact[q].contribution) <= part.reach
    assert held.min() >= 165, held
    assert held.max() < 200, held


def test_the_thesis_estimator_misses_the_payout_by_its_average_alone() -> None:
    """All parameters share row and order, so each step's gains add up to f(x) - f(z)."""
    _, game = exact_and_game()
    rows, rng = np.array([3, 3, 7]), np.random.default_rng(0)
    orders = rng.permuted(np.tile(np.arange(3), (3, 1)), axis=1)
    gains = game.along(rows, orders)
    expected = game.actual - game.background_quantities[:, rows].T
    np.testing.assert_allclose(gains.sum(axis=1), expected, atol=1e-12)


def test_more_rounds_until_intervals_are_narrow() -> None:
    _, game = exact_and_game()
    rough = attribute(replace(game, quantities=lambda mean, std: std[None]), "paired")
    assert 512 < rough.samples < 4096
    assert (2 * rough.parts[0].reach <= 0.02 * abs(rough.parts[0].payout)).all()
    assert (2 * rough.parts[0].reach > 0.005 * abs(rough.parts[0].payout)).any()


def test_the_same_seed_draws_the_same_orders() -> None:
    _, game = exact_and_game()
    for method in ("paired", "sampled"):
        first, again, other = (
            attribute(game, method, samples=32, seed=seed).parts[1].contribution
            for seed in (4, 4, 5)
        )
        assert first.tobytes() == again.tobytes()
        assert (first != other).any()


def test_too_many_coalitions_are_sampled_or_refused() -> None:
    cube = Cube.continuous(24)
    model = random_gp(cube, 6, 0)
    game = Game(model, cube, sample(cube, 1, 1)[0], sobol(8, 24, 0), both)
    assert attribute(game, samples=2).method == "paired"
    with pytest.raises(AnalysisError, match="24 parameters have too many coalitions"):
        attribute(game, "exact")
    with pytest.raises(AnalysisError, match="24 parameters have too many coalitions"):
        attribute(replace(game, model=Forest(cube, 2).fit(model.X, model.y)), "exact")
    few = np.where(np.arange(24) < 6, game.vector, np.nan)
    assert attribute(replace(game, vector=few)).method == "exact"


def test_one_player_and_none() -> None:
    """One parameter has the whole payout; a configuration without any has nothing to explain."""
    cube = Cube.continuous(1)
    model = random_gp(cube, 5, 1)
    game = Game(model, cube, np.array([0.3]), sobol(8, 1, 0), both)
    for method in ("exact", "paired", "sampled"):
        part = attribute(game, method).parts[1]
        if method != "sampled":
            assert part.contribution[0] == pytest.approx(part.payout, abs=1e-12)
    none = replace(game, vector=np.array([np.nan]))
    assert attribute(none, "exact").parts[0].contribution.tolist() == [0.0]


# Backgrounds


def test_a_local_background_stays_near() -> None:
    cube = Cube((Axis(), Axis.categorical(4), Axis()))
    x = np.array([0.95, cube.axes[1].codes[2], 0.5])  # type: ignore[index]
    points = background("local", cube, x, 512, width=0.2)
    assert points[:, 0].min() >= 0.85
    assert points[:, 0].max() <= 1.0
    assert points[:, 0].mean() == pytest.approx(0.925, abs=1e-3)
    same = np.asarray(cube.axes[1].level(points[:, 1])) == 2
    assert same.mean() == pytest.approx(0.85, abs=0.01)  # 0.8, and a quarter of the rest
    hybrid = background("hybrid", cube, x, 512, width=0.2)
    assert hybrid[:256, 2].min() < 0.01
    np.testing.assert_array_equal(hybrid[256:], near(cube, x, sobol(512, 3, 0)[256:], 0.2))


def test_one_configuration_as_a_background() -> None:
    assert single(FLAT, np.array([0.1, 0.4, 0.5])).tolist() == [[0.1, 0.4, 0.5]]
    inactive = np.array([0.9, np.nan, np.nan, 0.2])
    points = single(NESTED, inactive, 64)
    assert points.shape == (64, 4)
    assert set(points[:, 0]) == {0.9}
    assert np.ptp(points[:, 1]) > 0.9


def test_sobol_points_are_as_many_as_asked_for() -> None:
    assert sobol(1000, 3, 0).shape == (1000, 3)
    assert sobol(1, 2, 0).shape == (1, 2)
    np.testing.assert_array_equal(sobol(5, 2, 3), sobol(8, 2, 3)[:5])
