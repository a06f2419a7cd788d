"""Ablation and local importance: Croppi's table 2, hand arithmetic, conditions and directions."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hyperlens as hl
from hyperlens.explain.models.curves import mean_of
from hyperlens.explain.shapley.coalitions import Game
from hyperlens.explain.shapley.games import shapley
from hyperlens.explain.shapley.two_configurations import mean_between
from hyperlens.spaces.cube import Cube, FloatArray
from hyperlens.surrogates.gaussian_process.gp import GP
from hyperlens.surrogates.random_forest.forest import Forest

CUBE = hl.Space.of([hl.Parameter(name, "float", 0.0, 1.0) for name in ("t1", "t2", "t3")])
NESTED = hl.Space.of(
    [
        hl.Parameter("decay", "float", 0.0, 1.0, default=0.5),
        hl.Parameter("momentum", "float", 0.0, 1.0, default=0.25),
        hl.Parameter("optimizer", "categorical", choices=("adam", "sgd"), default="adam"),
    ],
    {"momentum": ((("optimizer", "equal", "sgd"),),)},
)


class Product:
    """u = t1 + t2 t3 of Croppi 2021 section 3, known without doubt."""

    def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        return X[:, 0] + X[:, 1] * X[:, 2], np.zeros(len(X))


class Switched:
    """1 for adam; for sgd (momentum - 0.9)^2; plus 0.1 decay."""

    def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        decay, momentum = X[:, NESTED.column("decay")], X[:, NESTED.column("momentum")]
        mean = np.where(np.isnan(momentum), 1.0, (momentum - 0.9) ** 2) + 0.1 * decay
        return mean, 0.1 + 0 * mean


def history(space: hl.Space, maximize: bool = False) -> hl.History:
    vectors = space.sample(20, 0)
    model = Product() if space is CUBE else Switched()
    costs = model.predict(vectors)[0]
    trials = tuple(
        hl.Trial(k, values, (float(-c if maximize else c),))
        for k, (values, c) in enumerate(zip(space.decode(vectors), costs, strict=True))
    )
    return hl.History(space, (hl.Objective("u", maximize),), trials)


HALF = {"t1": 0.5, "t2": 0.5, "t3": 0.5}
ZERO = {"t1": 0.0, "t2": 0.0, "t3": 0.0}


# Ablation


def test_the_unfair_split_of_the_thesis() -> None:
    """From (0.5, 0.5, 0.5) to 0: t2 and t3 do the same alone, but who comes first takes it all."""
    found = hl.ablation(history(CUBE), HALF, ZERO, surrogate=Product())
    assert found.parameters == ("t1", "t2", "t3")
    np.testing.assert_allclose(found.first, [-0.5, -0.25, -0.25], atol=1e-15)
    np.testing.assert_allclose(found.contribution, [-0.5, -0.25, 0.0], atol=1e-15)
    np.testing.assert_allclose(found.share, [2 / 3, 1 / 3, 0], atol=1e-15)
    np.testing.assert_allclose(found.shapley, [-0.5, -0.125, -0.125], atol=1e-15)
    np.testing.assert_allclose(found.cost, [0.75, 0.25, 0, 0], atol=1e-15)
    assert found.payout == pytest.approx(-0.75)
    assert "lowers the predicted u by 0.75; 't1' does most of it, 0.5." in found.sentence


def test_table_2_on_a_forest() -> None:
    """The thesis: first round 0.483, 0.262, 0.258; shares 0.66, 0.31, 0.03; Shapley shares 0.66, 0.21,
    0.17. Over redrawn data each of ours spreads by 0.04 (standard deviation of five), hence 0.12."""
    rng = np.random.default_rng(0)
    X = rng.random((10_000, 3))
    u = X[:, 0] + X[:, 1] * X[:, 2] + 0.05 * rng.normal(size=len(X))
    trials = tuple(
        hl.Trial(k, values, (float(cost),))
        for k, (values, cost) in enumerate(zip(CUBE.decode(X), u, strict=True))
    )
    run = hl.History(CUBE, (hl.Objective("u"),), trials)
    found = hl.ablation(run, HALF, ZERO, surrogate="forest").frame.set_index("parameter")
    np.testing.assert_allclose(-found["first"][list(HALF)], [0.483, 0.262, 0.258], atol=0.12)
    share = found["share"]
    fair = found["shapley"] / found["shapley"].sum()
    assert share["t1"] == pytest.approx(0.66, abs=0.12)
    assert sorted(share[["t2", "t3"]]) == pytest.approx([0.03, 0.31], abs=0.12)
    assert fair[list(HALF)].tolist() == pytest.approx([0.66, 0.21, 0.17], abs=0.12)
    assert abs(share["t2"] - share["t3"]) > 0.2 > 0.1 > abs(fair["t2"] - fair["t3"])


def test_each_round_takes_the_best_change() -> None:
    """By hand: every order of changes, and at each step none leads lower."""
    run = history(CUBE)
    model = hl.fit(run, "gp").model
    source, target = run.vectors[3], run.vectors[11]
    found = hl.ablation(run, 3, 11, surrogate="gp")
    at = source.copy()
    for k, name in enumerate(found.parameters):
        left = [CUBE.column(other) for other in found.parameters[k:]]
        tried = np.tile(at, (len(left), 1))
        tried[np.arange(len(left)), left] = target[left]
        means = model.predict(tried)[0]
        assert CUBE.column(name) == left[int(np.argmin(means))]
        assert found.cost[k + 1] == pytest.approx(means.min(), abs=1e-12)
        at[CUBE.column(name)] = target[CUBE.column(name)]
    assert found.contribution.sum() == pytest.approx(found.payout, abs=1e-12)
    assert found.shapley.sum() == pytest.approx(found.payout, abs=1e-10)
    assert found.share.sum() == pytest.approx(1)


def test_backward_walks_from_the_target() -> None:
    found = hl.ablation(history(CUBE), HALF, ZERO, method="backward", surrogate=Product())
    assert found.cost[0] == 0.0
    assert found.cost[-1] == pytest.approx(0.75)
    assert found.parameters[-1] == "t1"  # the dearest to undo comes last
    np.testing.assert_allclose(found.contribution, [0.0, -0.25, -0.5], atol=1e-15)
    assert found.payout == pytest.approx(-0.75)


def test_shapley_between_two_configurations_is_the_mean_over_orders() -> None:
    run = history(CUBE)
    model = hl.fit(run, "gp").model
    source, target = run.vectors[3], run.vectors[11]
    corners = {
        mask: float(model.predict(np.where(mask, target, source)[None])[0][0])
        for mask in product((False, True), repeat=3)
    }
    by_hand = (
        (corners[True, False, False] - corners[False, False, False]) / 3
        + (corners[True, True, False] - corners[False, True, False]) / 6
        + (corners[True, False, True] - corners[False, False, True]) / 6
        + (corners[True, True, True] - corners[False, True, True]) / 3
    )
    found = hl.ablation(run, 3, 11, surrogate="gp")
    assert found.shapley[found.parameters.index("t1")] == pytest.approx(by_hand, abs=1e-12)


def test_a_conditional_parameter_comes_with_its_parent() -> None:
    """adam, decay 0.5 to sgd, momentum 0.9, decay 0: the whole gain of sgd is the optimizer's."""
    found = hl.ablation(
        history(NESTED),
        "default",
        {"optimizer": "sgd", "momentum": 0.9, "decay": 0.0},
        surrogate=Switched(),
    )
    assert found.parameters == ("optimizer", "decay")
    np.testing.assert_allclose(found.contribution, [-1.0, -0.05], atol=1e-12)
    np.testing.assert_allclose(found.shapley, [-1.0, -0.05], atol=1e-12)
    assert found.source_values == ("adam", 0.5)
    assert "'momentum' is active in one of the two only" in found.notes[-1]


def test_a_maximised_objective_is_turned_round() -> None:
    """The surrogate's costs are minimised: Product predicts minus the score."""
    found = hl.ablation(history(CUBE, maximize=True), HALF, ZERO, surrogate=Product())
    np.testing.assert_allclose(found.contribution, [0.5, 0.25, 0.0], atol=1e-15)
    np.testing.assert_allclose(found.cost, [-0.75, -0.25, 0, 0], atol=1e-15)
    assert "raises the predicted u by 0.75" in found.sentence


def test_ablation_refuses() -> None:
    run = history(CUBE)
    for options, message in (
        ({"method": "sideways"}, "no method 'sideways'"),
        ({"source": "nowhere"}, "no configuration 'nowhere'"),
        ({"source": "best"}, "they are equal"),
        ({"source": 99}, "no trial 99"),
        ({"source": {"t1": 0.3}}, "contradicts"),
    ):
        with pytest.raises(hl.AnalysisError, match=message):
            hl.ablation(run, **options)


def test_ablation_frame_and_json() -> None:
    found = hl.ablation(history(CUBE), HALF, ZERO, surrogate=Product())
    columns = ["parameter", "source", "target", "cost", "std", "contribution", "share", "first"]
    assert list(found.frame) == [*columns, "shapley"]
    assert json.loads(found.to_json())["payout"] == found.payout


# Local importance


def test_local_importance_by_hand() -> None:
    """At (t1, t2, t3) the variances are 1/12, t3^2/12 and t2^2/12."""
    found = hl.local_importance(
        history(CUBE), {"t1": 0.9, "t2": 0.5, "t3": 0.25}, surrogate=Product()
    )
    assert found.parameters == ("t1", "t3", "t2")
    total = 1 + 0.25 + 0.0625
    np.testing.assert_allclose(found.share, np.array([1, 0.25, 0.0625]) / total, atol=1e-12)
    np.testing.assert_allclose(found.std**2, np.array([1, 0.25, 0.0625]) / 12, rtol=1e-5)
    assert found.cost == pytest.approx(0.9 + 0.125)
    assert found.best[0] == pytest.approx(0.125, abs=1e-3)
    assert found.best_values[0] == pytest.approx(0, abs=1e-3)


def test_local_importance_of_the_process_is_its_own_variance() -> None:
    """By the kernel's single integrals and a fine sum: E f = mu + s sum_i a_i w_i along the axis."""
    run = history(CUBE)
    model = hl.fit(run, "gp").model
    assert isinstance(model, GP)
    x = run.vectors[5]
    found = hl.local_importance(run, 5, surrogate="gp")
    grid = (np.arange(5000) + 0.5) / 5000
    for j, name in enumerate(CUBE.names):
        a = (1 - model.parameters.nugget) * model.beta
        for k in range(3):
            if k != j:
                a = a * model.factors[k].value(x[k], model.X[:, k])
        average = a @ model.factors[j].integral(model.X[:, j], ((0.0, 1.0),))
        curve = model.factors[j].value(grid[:, None], model.X[None, :, j]) @ a
        variance = float(np.mean((curve - average) ** 2))
        std = found.std[found.parameters.index(name)]
        assert std**2 == pytest.approx(variance, rel=1e-4)


def test_a_parent_moves_with_its_childs_default() -> None:
    """At adam: sgd comes with momentum 0.25, whose cost is 0.65^2; levels weigh a half each."""
    found = hl.local_importance(history(NESTED), "default", surrogate=Switched())
    at = found.parameters.index("optimizer")
    assert found.std[at] == pytest.approx((1 - 0.65**2) / 2, abs=1e-12)
    assert found.best_values[at] == "sgd"
    inactive = found.parameters.index("momentum")
    assert found.share[inactive] == 0
    assert found.values[inactive] is None


def test_local_importance_of_a_maximised_objective() -> None:
    lower = hl.local_importance(history(CUBE), HALF, surrogate=Product())
    upper = hl.local_importance(history(CUBE, maximize=True), HALF, surrogate=Product())
    np.testing.assert_allclose(lower.share, upper.share)
    np.testing.assert_allclose(lower.best, -upper.best)
    assert upper.cost == -lower.cost
    assert list(lower.frame) == ["parameter", "value", "share", "std", "best", "best_value"]
    assert json.loads(lower.to_json())["share"] == lower.share.tolist()


def test_where_nothing_varies() -> None:
    class Constant:
        def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
            return np.full(len(X), 2.0), np.zeros(len(X))

    run = history(CUBE)
    found = hl.local_importance(run, surrogate=Constant())
    assert np.isnan(found.share).all()
    assert "no parameter changes" in found.sentence
    flat = hl.ablation(run, HALF, ZERO, surrogate=Constant())
    assert np.isnan(flat.share).all()
    assert "changes nothing" in flat.sentence
    trials = tuple(replace(t, costs=(1.0,)) for t in run.trials)
    hl.local_importance(replace(run, trials=trials))


# The closed forms between two configurations


MIXED = Cube(
    (
        *Cube.continuous(3).axes,
        hl.Parameter("c", "categorical", choices=("a", "b", "c", "d")).axis,
        hl.Parameter("k", "integer", 1, 5).axis,
        hl.Parameter("s", "categorical", choices=(True, False)).axis,
    )
)


@given(seed=st.integers(0, 2**32 - 1), few=st.booleans())
@settings(max_examples=20, deadline=None)
def test_closed_forms_between_two_configurations_equal_enumeration(seed: int, few: bool) -> None:
    rng = np.random.default_rng(seed)
    X = MIXED.vectors(rng.random((40, MIXED.d)))
    y = X[:, 0] * X[:, 1] + np.sin(5 * X[:, 2]) * (X[:, 3] > 0.5) + X[:, 4] + rng.normal(0, 0.1, 40)
    source, target = MIXED.vectors(rng.random((2, MIXED.d)))
    if few:
        target[1:4] = source[1:4]
    for model in (GP(MIXED, starts=1).fit(X, y), Forest(MIXED, trees=8, seed=1).fit(X, y)):
        found = mean_between(model, MIXED, source, target)
        assert found is not None
        game = Game(model, MIXED, target, source[None], lambda mean, std: mean[None])
        np.testing.assert_allclose(found, shapley(game.worth())[:, 0], atol=1e-10)
        assert found[source == target] == pytest.approx(0, abs=1e-12)
        np.testing.assert_allclose(mean_of(model, X), model.predict(X)[0], rtol=0, atol=1e-12)


def test_no_closed_form_where_parameters_are_conditional() -> None:
    cube = NESTED.cube
    model = GP(cube, starts=1).fit(NESTED.sample(20, 0), np.arange(20.0))
    assert mean_between(model, cube, *NESTED.sample(2, 1)) is None
