"""Tunability: games over coalitions by a known function, by brute force on a grid, and by hand."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

import hyperlens as hl
from hyperlens.explain.shapley.games import shapley
from hyperlens.explain.tunability.faithful import faithful_pairs
from hyperlens.explain.tunability.lattice import lowest, members
from hyperlens.explain.tunability.spread import exact_spread
from hyperlens.record import Record
from hyperlens.spaces.points import sobol
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.surrogates.additive.weights import Weights
from hyperlens.surrogates.outlook.as_drawn import AsDrawn, Averaged
from hyperlens.surrogates.outlook.landscape import Drawn, Predicted, grid_of

CUBE = hl.Space.of([hl.Parameter(name, "float", 0.0, 1.0) for name in "abc"])
NESTED = hl.Space.of(
    [
        hl.Parameter("kind", "categorical", choices=("p", "q", "r")),
        hl.Parameter("n", "integer", 1, 4),
        hl.Parameter("x", "float", 0.0, 1.0),
        hl.Parameter("y", "float", 0.0, 1.0),
    ],
    {"x": ((("kind", "in", ("p", "q")),),), "n": ((("kind", "equal", "r"),),)},
)


class Known:
    """A surrogate whose mean is a given function of vectors."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def predict(self, X: Any) -> tuple[Any, Any]:
        return self.function(X), np.full(len(X), 0.1)


def history(space: hl.Space, function: Any, maximize: bool = False) -> hl.History:
    X = space.sample(30, 0)
    costs = function(X) * (-1 if maximize else 1)
    trials = [
        hl.Trial(k, values, (float(c),))
        for k, (values, c) in enumerate(zip(space.decode(X), costs, strict=True))
    ]
    return hl.History(space, (hl.Objective("loss", maximize),), tuple(trials))


def bowl(X: Any) -> Any:
    """At the middle 0.5; a and b are best at 0, where each does what the other would do."""
    return np.maximum(X[:, 0], X[:, 1]) + 2 * (X[:, 2] - 1) ** 2


@cache
def drawn(conditional: bool) -> Drawn:
    """Three functions of an additive process with pairs and triples."""
    space = NESTED if conditional else CUBE
    X = space.sample(50, 1)
    Z = np.nan_to_num(X)
    y = np.sin(5 * Z[:, 0] * Z[:, 1]) + Z[:, 2] * Z[:, -1] + Z[:, 0] ** 2
    weights = Additive(space.cube).fit(X, y).weights
    few = Weights(weights.components, weights.trend[:3], 3 * weights.w[:, :3])
    grids = tuple(grid_of(axis, np.array([0.3]))[::4] for axis in space.cube.axes)
    return Drawn(
        few,
        tuple(
            g if len(g) > 2 else grid_of(a, g) for g, a in zip(grids, space.cube.axes, strict=True)
        ),
    )


def everywhere(functions: Drawn) -> tuple[Any, Any]:
    """All places of the grid, and each function there."""
    places = np.array(list(product(*(range(len(g)) for g in functions.grids))))
    latents = np.stack([g[places[:, j]] for j, g in enumerate(functions.grids)], axis=-1)
    return places, functions.weights.drawn(functions.cube.vectors(latents))


@pytest.mark.parametrize("conditional", [False, True])
def test_drawn_functions_are_the_weights_at_every_place(conditional: bool) -> None:
    functions = drawn(conditional)
    places, values = everywhere(functions)
    some = np.random.default_rng(0).integers(len(places), size=20)
    k = np.tile(places[some], (3, 1, 1))
    np.testing.assert_allclose(functions.at(k), values[some].T, atol=1e-12)
    for j, grid in enumerate(functions.grids):
        change = functions.change(k, j)
        for g in range(len(grid)):
            moved = k.copy()
            moved[..., j] = g
            there = functions.at(moved) - functions.at(k)
            np.testing.assert_allclose(change[..., g], there, atol=1e-12)


@pytest.mark.parametrize("conditional", [False, True])
def test_coalitions_reach_what_brute_force_finds(conditional: bool) -> None:
    functions = drawn(conditional)
    places, values = everywhere(functions)
    d = len(functions.grids)
    start = np.array([len(g) // 2 for g in functions.grids])
    value, place = lowest(functions, start, tuple((j,) for j in range(d)))
    for S, inside in enumerate(members(d)):
        allowed = (places[:, ~inside] == start[~inside]).all(axis=1)
        np.testing.assert_allclose(value[S], values[allowed].min(axis=0), atol=1e-9)
        assert (place[S][:, ~inside] == start[~inside]).all()


def test_variance_in_closed_form_is_that_of_many_points() -> None:
    functions = drawn(False)
    start = np.array([1, 2, 3])
    latents = np.array([g[k] for g, k in zip(functions.grids, start, strict=True)])
    axes = members(3)
    exact, shared = exact_spread(functions, start, axes)
    points = sobol(4096, 3, 0)
    for S, inside in enumerate(axes):
        away = functions.weights.drawn(np.where(inside, points, latents))
        away = away - away.mean(axis=0)
        sampled = np.square(away).mean(axis=0)
        np.testing.assert_allclose(exact[S], sampled, rtol=0.01, atol=1e-12)
        size = np.sqrt(sampled * sampled[0])
        with_first = (away * away[:, :1]).mean(axis=0)
        assert (np.abs(shared[S] - with_first) <= 0.01 * size + 1e-12).all()


def test_games_of_a_known_function_by_hand() -> None:
    run = history(CUBE, bowl)
    found = hl.tunability(run, surrogate=Known(bowl), level=None)
    by_name = found.frame.set_index("parameters")
    # c gains 0.5 whoever joins; a or b alone nothing, both together 0.5
    assert (found.cost, found.reached, found.whole) == pytest.approx((1.0, 0.0, 1.0))
    assert by_name.value[("c",)] == pytest.approx(0.5)
    assert by_name.value[("a",)] == by_name.value[("b",)] == pytest.approx(0.25)
    assert by_name.alone[("a",)] == pytest.approx(0.0, abs=1e-12)
    assert by_name.value[("a", "b")] == pytest.approx(0.5)
    assert found.parameters[0] == "c"
    assert found.sentence.startswith(
        "From the midpoint of the space, tuning all parameters takes the predicted loss from 1 to 0, "
        "better by 1; 'c' has most"
    )
    worst = hl.tunability(run, "mistunability", surrogate=Known(bowl), level=None)
    assert worst.whole == pytest.approx(0.5 + 1.5)
    spread = hl.tunability(run, "sensitivity", surrogate=Known(bowl), level=None)
    assert spread.whole == pytest.approx(1 / 18 + 4 * (1 / 5 - 1 / 9), rel=0.02)
    left = hl.tunability(run, "bias", surrogate=Known(bowl), level=None)
    gained = hl.tunability(run, "ablation", surrogate=Known(bowl), level=None)
    best = bowl(run.data().X).min()
    assert gained.whole == pytest.approx(1 - best)
    assert left.whole == pytest.approx(best)


def test_a_maximised_objective_gains_upwards() -> None:
    run = history(CUBE, bowl, maximize=True)
    found = hl.tunability(run, surrogate=Known(bowl), level=None)
    assert (found.cost, found.reached, found.whole) == pytest.approx((-1.0, 0.0, 1.0))


def test_what_nothing_activates_gains_nothing() -> None:
    """The default is p, where n is inactive: n gains only with kind."""
    own = NESTED.column

    def cost(X: Any) -> Any:
        Z = np.nan_to_num(X)
        return 1.0 - Z[:, own("n")] - 0.1 * Z[:, own("x")]

    found = hl.tunability(history(NESTED, cost), surrogate=Known(cost), level=None)
    alone = dict(zip(found.parameters, found.alone.tolist(), strict=True))
    assert alone["n"] == alone["y"] == 0.0
    assert alone["x"] == pytest.approx(0.05)
    # kind alone brings n at its own default
    start = NESTED["n"].encode([NESTED["n"].default])[0]
    assert alone["kind"] == pytest.approx(start - 0.05)
    assert dict(zip(found.pairs, found.interaction, strict=True))[("kind", "n")] > 0
    # what draws say of it is nothing either, and not what rounding leaves
    found = hl.tunability(history(NESTED, _without_n), surrogate="additive")
    limits = (found.low, found.high, found.interaction_low, found.interaction_high)
    numbers = np.abs(np.concatenate(limits))
    assert not ((numbers > 0) & (numbers < 1e-12)).any()


def _without_n(X: Any) -> Any:
    """Best far from where n is active."""
    away = 5.0 * np.isfinite(X[:, NESTED.column("n")])
    return away + np.nan_to_num(X[:, NESTED.column("x")]) ** 2


def test_faithful_interactions_of_a_game_of_pairs_are_its_own() -> None:
    """A game that is a sum over singles and pairs is met exactly; added triples are spread evenly."""
    rng = np.random.default_rng(0)
    inside = members(5).astype(float)
    single, pair = rng.normal(size=5), np.triu(rng.normal(size=(5, 5)), 1)
    worth = inside @ single + np.einsum("sa,ab,sb->s", inside, pair, inside)
    found = faithful_pairs(np.column_stack([worth, worth + inside[:, :3].prod(axis=1)]))
    np.testing.assert_allclose(found[:, 0], pair[np.triu_indices(5, 1)], atol=1e-9)
    extra = (found[:, 1] - found[:, 0]).reshape(-1)
    among = [k for k, (a, b) in enumerate(zip(*np.triu_indices(5, 1), strict=True)) if b < 3]
    assert extra[among] == pytest.approx([extra[among[0]]] * 3)
    assert extra[among[0]] > 0


def test_many_parameters_play_with_the_rest_as_one() -> None:
    space = hl.Space.of([hl.Parameter(f"x{j:02d}", "float", 0.0, 1.0) for j in range(14)])

    def cost(X: Any) -> Any:
        return X @ np.arange(14.0)

    found = hl.tunability(history(space, cost), surrogate=Known(cost), level=None)
    assert len(found.parameters) == 10
    assert found.parameters[0] == "x13"
    assert "the other 5 parameters" in found.parameters
    assert found.value.sum() == pytest.approx(found.whole) == pytest.approx(91 / 2)
    evenly = Known(lambda X: X.sum(axis=1))
    said = hl.tunability(history(space, cost), surrogate=evenly, level=None).sentence
    assert "; the other 5 parameters have most" in said
    assert "alone they have 2.5." in said


def test_a_process_of_so_many_parameters_that_it_has_no_triples_plays() -> None:
    space = hl.Space.of([hl.Parameter(f"x{j:02d}", "float", 0.0, 1.0) for j in range(20)])
    found = hl.tunability(history(space, lambda X: 3 * X[:, 4] + X[:, 7]))
    assert found.parameters[0] == "x04"
    assert found.value.sum() == pytest.approx(found.whole)


def test_intervals_hold_the_value_and_nothing_is_possible_of_noise() -> None:
    """c does nothing: what it gains may be nothing; a does, and that is sure."""
    rng = np.random.default_rng(5)
    X = CUBE.sample(60, 5)
    y = 3 * (X[:, 0] - 0.2) ** 2 + 0.05 * rng.normal(size=60)
    trials = [
        hl.Trial(k, v, (float(c),)) for k, (v, c) in enumerate(zip(CUBE.decode(X), y, strict=True))
    ]
    run = hl.History(CUBE, (hl.Objective("loss"),), tuple(trials))
    found = hl.tunability(run, surrogate="additive")
    assert (found.low <= found.value).all()
    assert (found.value <= found.high).all()
    low = dict(zip(found.parameters, found.low.tolist(), strict=True))
    assert found.parameters[0] == "a"
    assert low["a"] > 0.1
    assert low["b"] == low["c"] == 0.0
    assert found.whole_low <= 0.27 <= found.whole_high  # 3 * 0.3 ** 2
    back = Record.from_dict(found.to_dict())
    assert back.plot().to_json() == found.plot().to_json()
    assert shapley(np.zeros((4, 1))).tolist() == [[0.0], [0.0]]


def test_what_is_asked_wrongly_and_what_cannot_be_known() -> None:
    run = history(CUBE, bowl)
    with pytest.raises(hl.AnalysisError, match="no game 'chess'"):
        hl.tunability(run, "chess")  # type: ignore[arg-type]
    flat = hl.tunability(history(CUBE, lambda X: np.ones(len(X))), surrogate="additive")
    assert flat.sentence == (
        "Not known, only a guess: tuning gains nothing over the midpoint of the space in the "
        "predicted loss."
    )
    assert flat.whole == 0.0
    flat.plot()
    one = hl.Space.of([hl.Parameter("a", "float", 0.0, 1.0)])
    single = hl.tunability(history(one, lambda X: X[:, 0]), surrogate="forest")
    assert single.pairs == ()
    single.plot("matplotlib")


def test_a_surrogate_of_any_kind_is_searched_point_by_point() -> None:
    grids = tuple(np.linspace(0, 1, 5) for _ in range(3))
    landscape = Predicted(bowl, CUBE.cube, grids)
    value, _ = lowest(landscape, np.array([2, 2, 2]), ((0,), (1,), (2,)))
    assert value[:, 0].tolist() == pytest.approx([1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.5, 0.0])


@cache
def crowded() -> hl.History:
    """Most trials crowd around the best, which steep costs far away hide from the whole."""
    even = CUBE.sample(60, 0)
    X = np.vstack([even[:20], 0.7 + 0.1 * (even[20:] - 0.5)])
    return of_costs(CUBE, X, np.exp(9 * np.square(X - 0.7).sum(axis=1)))


def of_costs(space: hl.Space, X: Any, y: Any) -> hl.History:
    pairs = enumerate(zip(space.decode(X), y, strict=True))
    trials = tuple(hl.Trial(k, v, (float(c),)) for k, (v, c) in pairs)
    return hl.History(space, (hl.Objective("loss"),), trials)


@pytest.mark.parametrize("game", ["tunability", "mistunability"])
def test_what_is_promised_is_what_is_expected_there(game: Any) -> None:
    """All costs are above 1; written for the whole space the surrogate goes far below."""
    found = hl.tunability(crowded(), game, surrogate="additive")
    model = _additive(crowded())
    best = CUBE.encode([dict(zip(found.parameters, found.best_values, strict=True))])
    here, there = model.costs(np.vstack([np.full((1, 3), 0.5), best])).mean(axis=1)
    assert (found.cost, found.reached) == pytest.approx((here, there), rel=1e-6)
    if game == "tunability":
        assert found.reached > 0.9
        assert model.mean(CUBE.sample(500, 0)).min() < 0


def _additive(run: hl.History) -> Additive:
    data = run.data()
    return Additive(run.space.cube).fit(data.X, data.y)


@pytest.mark.parametrize("conditional", [False, True])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_mean_as_drawn_is_searched_as_brute_force_does(conditional: bool, sign: float) -> None:
    space = NESTED if conditional else CUBE
    X = space.sample(50, 1)
    Z = np.nan_to_num(X)
    model = _additive(
        of_costs(space, X, np.exp(np.sin(5 * Z[:, 0] * Z[:, 1]) + Z[:, 2] * Z[:, -1]))
    )
    grids = tuple(grid_of(axis, np.array([0.3]), 8) for axis in space.cube.axes)
    functions = AsDrawn.of(model, 256)
    landscape = Averaged(functions, grids, sign)
    places = np.array(list(product(*(range(len(g)) for g in grids))))
    latents = np.stack([g[places[:, j]] for j, g in enumerate(grids)], axis=-1)
    costs = model.costs(space.cube.vectors(latents))
    np.testing.assert_allclose(functions.at(space.cube.vectors(latents)), costs, rtol=1e-9)
    start = np.array([len(g) // 2 for g in grids])
    players = tuple((j,) for j in range(len(grids)))
    mean = lowest(landscape, start, players)[0]
    each = functions.back(sign * lowest(functions.landscape(grids, sign), start, players)[0].T).T
    for S, inside in enumerate(members(len(grids))):
        allowed = (places[:, ~inside] == start[~inside]).all(axis=1)
        assert mean[S, 0] == pytest.approx((sign * costs[allowed].mean(axis=1)).min(), rel=1e-9)
        exact = (sign * costs[allowed]).min(axis=0)
        assert (sign * each[S] >= exact - 1e-9).all()
        there = sign * each[S] < exact + 1e-9
        assert there.mean() > 0.8  # to a draw's best no way of one axis at a time need lead
