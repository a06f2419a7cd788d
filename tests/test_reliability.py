"""Effects against a known truth, and surrogates of other libraries."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.ensemble import BaggingRegressor, GradientBoostingRegressor, RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import BayesianRidge

import hyperlens as hl
from hyperlens.explain.effects.reliability import nll
from hyperlens.spaces.cube import FloatArray
from hyperlens.spaces.points import sample_box
from hyperlens.surrogates import GP


def truth(values: Mapping[str, Any]) -> float:
    """The child costs only where it is active."""
    cost = 3 * values["x"] ** 2 + 2 * values["y"] * (values["kind"] == "b")
    return float(cost + values.get("child", 0.0))


def of_frame(frame: pd.DataFrame) -> FloatArray:
    cost = 3 * frame["x"] ** 2 + 2 * frame["y"] * (frame["kind"] == "b")
    return np.asarray(cost + frame["child"].fillna(0.0))


def study(n: int = 50, maximize: bool = False) -> hl.History:
    space = hl.Space.of(
        [
            hl.Parameter("x", "float", -1.0, 1.0),
            hl.Parameter("y", "float", 0.0, 1.0),
            hl.Parameter("kind", "categorical", choices=("a", "b")),
            hl.Parameter("child", "float", 0.0, 1.0),
        ],
        {"child": ((("kind", "equal", "b"),),)},
    )
    sign = -1.0 if maximize else 1.0
    trials = tuple(
        hl.Trial(i, values, (sign * truth(values),))
        for i, values in enumerate(space.decode(space.sample(n, 0)))
    )
    return hl.History(space, (hl.Objective("loss", maximize),), trials)


def test_nll_is_minus_the_log_density() -> None:
    rng = np.random.default_rng(0)
    truth, mean, std = rng.normal(size=(3, 7))
    std = np.abs(std) + 0.1
    assert nll(truth, mean, std) == pytest.approx(-norm(mean, std).logpdf(truth).mean())
    assert nll(truth, mean, np.zeros(7)) == np.inf


def test_an_effect_against_the_truth() -> None:
    """E[3 x^2 + ...] = 3 x^2 + P(b) (2 E[y] + E[child]) = 3 x^2 + 0.75."""
    history = study()
    effect = hl.effect(history, "x")
    found = hl.reliability(history, effect, truth, sample=512)
    exact = 3 * np.array(effect.values[0]) ** 2 + 0.75
    assert found.nll[0] == pytest.approx(nll(exact, effect.mean, effect.std), rel=0.02)
    assert found.mc[0] == pytest.approx(effect.std.mean())
    assert effect.best_values is not None
    at = np.argmin(np.abs(np.array(effect.values[0]) - effect.best_values[0]))
    assert found.oc[0] == pytest.approx(effect.std[at])
    assert found.gain["mc"][0] == 0


def test_regions_against_the_truth() -> None:
    history = study()
    tree = hl.regions(history, "y", levels=2, sample=128)
    found = hl.reliability(history, tree, truth, sample=64)
    assert len(found.where) == len(tree.tree) + 1
    for k, region in enumerate(tree.tree):
        assert found.mc[k] == pytest.approx(region.confidence)
        assert found.oc[k] == pytest.approx(region.confidence_best)
        latents = sample_box(history.space.cube, region.box, 64, 0)
        means = []
        for value in tree.values:
            latents[:, history.space.column("y")] = value
            rows = history.space.decode(history.space.cube.vectors(latents))
            means.append(np.mean([truth(values) for values in rows]))
        assert found.nll[k] == pytest.approx(nll(np.array(means), region.mean, region.std))
    for name, gain in found.gain.items():
        numbers = getattr(found, name)
        np.testing.assert_allclose(gain, (numbers[0] - numbers) / abs(numbers[0]))
    assert tree.best is not None
    assert found.points[-1] == tree.best.points
    by_frame = hl.reliability(history, tree, of_frame, sample=64, vectorized=True)
    assert by_frame.to_json() == found.to_json()
    assert json.loads(found.to_json())["gain"]["mc"][0] == 0
    assert len(found.plot().data) == 3
    assert list(found.frame.columns[:2]) == ["where", "points"]


def test_the_neighbourhood_is_what_lies_nearest() -> None:
    """Its band is the mean of the curves of so many nearest configurations."""
    history = study()
    tree = hl.regions(history, "x", levels=1, sample=64)
    found = hl.reliability(history, tree, truth, sample=4)
    assert tree.drawn is not None
    best = history.space.encode([history.best().values])[0]
    vectors = history.space.cube.vectors(tree.drawn.latents)
    away = []
    for vector in vectors:
        total = 0.0
        for j in set(range(4)) - {history.space.column("x")}:
            off = np.isnan(vector[j]), np.isnan(best[j])
            total += (off[0] != off[1]) if any(off) else abs(vector[j] - best[j])
        away.append(total)
    near = np.argsort(away, kind="stable")[: found.points[-1]]
    std = np.sqrt(tree.drawn.variance[near].mean(axis=0))
    assert found.mc[-1] == pytest.approx(std.mean())


def test_a_conditional_parameter_counts_where_it_is_active() -> None:
    history = study()
    effect = hl.effect(history, "child")
    found = hl.reliability(history, effect, truth, sample=1024)
    exact = np.array(effect.values[0]) + 1.0 + 2 * 0.5  # E[3 x^2] = 1, kind is b
    assert found.nll[0] == pytest.approx(nll(exact, effect.mean, effect.std), rel=0.05)


def test_the_users_direction() -> None:
    history, turned = study(), study(maximize=True)
    one = hl.reliability(history, hl.effect(history, "x"), truth)
    other = hl.reliability(turned, hl.effect(turned, "x"), lambda values: -truth(values))
    assert one.nll[0] == pytest.approx(other.nll[0], rel=1e-6)
    trees = (hl.regions(h, "x", levels=1, sample=64) for h in (history, turned))
    a = hl.reliability(history, next(trees), truth, sample=8)
    b = hl.reliability(turned, next(trees), lambda values: -truth(values), sample=8)
    np.testing.assert_allclose(a.nll, b.nll, rtol=1e-6)


@pytest.mark.parametrize(
    ("function", "vectorized"), [(lambda v: np.nan, False), (lambda frame: [1.0], True)]
)
def test_a_truth_that_is_none(function: Any, vectorized: bool) -> None:
    history = study(20)
    with pytest.raises(hl.AnalysisError, match="one finite cost for each"):
        hl.reliability(history, hl.effect(history, "x"), function, vectorized=vectorized)
    with pytest.raises(hl.AnalysisError, match="one parameter"):
        hl.reliability(history, hl.effect(history, ("x", "y")), truth)


# Surrogates of other libraries


def flat() -> hl.History:
    space = hl.Space.of([hl.Parameter(name, "float", 0.0, 1.0) for name in "ab"])
    X = space.sample(40, 1)
    costs = np.sin(4 * X[:, 0]) + X[:, 1]
    trials = (
        hl.Trial(i, v, (c,)) for i, (v, c) in enumerate(zip(space.decode(X), costs, strict=True))
    )
    return hl.History(space, (hl.Objective("loss"),), tuple(trials))


@pytest.mark.parametrize(
    "model",
    [
        GaussianProcessRegressor(alpha=1e-4),
        BayesianRidge(),
        RandomForestRegressor(20, random_state=0),
        BaggingRegressor(n_estimators=12, max_features=0.5, random_state=0),
    ],
)
def test_regressors_of_scikit_learn(model: Any) -> None:
    history = flat()
    data = history.data()
    model.fit(data.X, data.y)
    effect = hl.effect(history, "a", surrogate=model, grid=5)
    assert any("Sobol'" in note for note in effect.notes)
    grid = np.repeat(np.linspace(0, 1, 5), 2000)
    points = np.column_stack([grid, np.tile(np.random.default_rng(0).random(2000), 5)])
    np.testing.assert_allclose(
        effect.mean, model.predict(points).reshape(5, -1).mean(axis=1), atol=0.05
    )
    assert (effect.std > 0).all()
    tree = hl.regions(history, "a", surrogate=model, levels=1, sample=64)
    assert len(tree.tree) == 3


def test_a_model_that_does_not_say_how_sure_it_is() -> None:
    history = flat()
    data = history.data()
    boosted = GradientBoostingRegressor(n_estimators=5).fit(data.X, data.y)
    with pytest.raises(hl.AnalysisError, match="returns the mean and the standard deviation"):
        hl.effect(history, "a", surrogate=boosted)
    with pytest.raises(hl.AnalysisError, match="predicts nothing"):
        hl.effect(history, "a", surrogate=object())


def test_our_own_fitted_elsewhere_is_exact() -> None:
    history = flat()
    data = history.data()
    model = GP(history.space.cube, 1e-6).fit(data.X, data.y)
    found = hl.effect(history, "a", surrogate=model, band="joint")
    exact = model.partial_dependence((0,), np.linspace(0, 1, 20)[:, None])
    np.testing.assert_allclose(found.mean, exact.mean)
    np.testing.assert_allclose(found.std, np.sqrt(exact.joint))


def test_interactions_come_with_the_effects_of_the_strongest() -> None:
    found = hl.interactions(study(), surrogate="gp", level=None, effects=2, grid=4)
    assert [e.parameters for e in found.effects] == list(found.pairs[:2])
    assert len(found.effects[0].mean) >= 8
