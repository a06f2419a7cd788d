"""Importance along a trade-off: against closed forms, at its ends, in words and figures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import hyperlens as hl
from hyperlens.cli import app
from hyperlens.explain.importance.shares import additive_shares
from hyperlens.spaces.cube import FloatArray
from hyperlens.surrogates.additive.additive import Additive

SPACE = hl.Space.of([hl.Parameter(name, "float", 0.0, 1.0) for name in "abc"])


def run(first: FloatArray, second: FloatArray, X: FloatArray, up: bool = False) -> hl.History:
    rows = zip(SPACE.decode(X), first.tolist(), second.tolist(), strict=True)
    trials = tuple(hl.Trial(k, v, (x, -y if up else y)) for k, (v, x, y) in enumerate(rows))
    return hl.History(SPACE, (hl.Objective("loss"), hl.Objective("latency", up)), trials)


@pytest.fixture(scope="module")
def linear() -> hl.History:
    """loss 3 a + b, latency -2 a + 4 c: of a weighted sum each share is a square of a slope."""
    X = SPACE.sample(40, 1)
    a, b, c = X.T
    return run(3 * a + b, -2 * a + 4 * c, X)


def slopes(weight: FloatArray) -> FloatArray:
    """Of the sum of both in units of their standard deviations (3, weights)."""
    loss, latency = np.array([3.0, 1.0, 0.0]), np.array([-2.0, 0.0, 4.0])
    units = [np.sqrt((s**2).sum() / 12) for s in (loss, latency)]
    return np.outer(loss / units[0], 1 - weight) + np.outer(latency / units[1], weight)


def test_shares_are_the_true_ones_for_every_weight(linear: hl.History) -> None:
    found = hl.tradeoff(linear)
    true = slopes(found.weight) ** 2
    true /= true.sum(axis=0)
    order = ["abc".index(name) for name in found.names]
    np.testing.assert_allclose(found.share, true[order], atol=0.02)
    inside = (found.low <= true[order] + 1e-3) & (true[order] - 1e-3 <= found.high)
    assert inside.mean() > 0.9
    np.testing.assert_allclose(found.unit, [np.sqrt(10 / 12), np.sqrt(20 / 12)], rtol=0.03)
    assert found.correlation == pytest.approx(-6 / np.sqrt(10 * 20), abs=0.03)
    # a leads until its slope is that of c: (1 - w) 3 / u - 2 w / v = 4 w / v
    u, v = np.sqrt(10), np.sqrt(20)
    crossing = (3 / u) / (3 / u + 6 / v)
    assert [found.names[t.effect] for t in found.leaders] == ["a", "c"]
    assert found.leaders[1].weight == pytest.approx(crossing, abs=0.03)
    assert found.leaders[1].low <= crossing <= found.leaders[1].high
    assert "a matters most for loss (9" in found.sentence
    assert "Towards latency, c takes over from a weight of" in found.sentence
    assert "are at odds over the space" in found.reading


def test_an_effect_that_leads_only_in_between_and_gives_the_lead_back() -> None:
    """loss 3 a + b, latency -3 a + 1.2 b: in between a cancels out, and b leads."""
    X = SPACE.sample(40, 1)
    a, b, _ = X.T
    found = hl.tradeoff(run(3 * a + b, -3 * a + 1.2 * b, X))
    u, v = np.sqrt(10), np.sqrt(9 + 1.2**2)
    crossings = [(2 / u) / (2 / u + 4.2 / v), (4 / u) / (4 / u + 1.8 / v)]
    assert [found.names[t.effect] for t in found.leaders] == ["a", "b", "a"]
    for takeover, crossing in zip(found.leaders[1:], crossings, strict=True):
        assert takeover.weight == pytest.approx(crossing, abs=0.03)
        assert takeover.low <= takeover.weight <= takeover.high


def test_its_ends_are_the_importance_of_each_objective(linear: hl.History) -> None:
    found = hl.tradeoff(linear, order=2)
    for k, objective in ((0, "loss"), (-1, "latency")):
        fitted = hl.fit(linear, "additive", objective=objective)
        assert isinstance(fitted.model, Additive)
        alone = additive_shares(fitted.model, 2, 0.9)  # what importance says of it
        own = dict(zip(found.parameters, found.share[:, k], strict=True))
        for effect, share, low, high in zip(
            alone.effects, alone.share, alone.low, alone.high, strict=True
        ):
            name = tuple("abc"[j] for j in effect)
            assert own[name] == pytest.approx(share, abs=1e-12)
            row = found.parameters.index(name)
            assert (found.low[row, k], found.high[row, k]) == pytest.approx((low, high))


def test_a_maximised_objective_is_weighed_as_a_cost(linear: hl.History) -> None:
    X = linear.vectors
    a, b, c = X.T
    other = hl.tradeoff(run(3 * a + b, -2 * a + 4 * c, X, up=True))
    np.testing.assert_allclose(other.share, hl.tradeoff(linear).share, atol=1e-9)


def test_by_ranges_the_same_curve_has_other_weights(linear: hl.History) -> None:
    ours, other = hl.tradeoff(linear), hl.tradeoff(linear, scale="range")
    costs = np.array([t.costs for t in linear.trials])
    np.testing.assert_allclose(other.unit, np.ptp(costs, axis=0))
    u, w = 1 - other.weight, other.weight
    same = (w / other.unit[1] * ours.unit[1]) / (
        u / other.unit[0] * ours.unit[0] + w / other.unit[1] * ours.unit[1]
    )
    a = other.names.index("a")
    expected = np.interp(same, ours.weight, ours.share[ours.names.index("a")])
    np.testing.assert_allclose(other.share[a], expected, atol=0.01)


def test_what_cannot_be_traded_says_so(linear: hl.History) -> None:
    X = linear.vectors
    with pytest.raises(hl.AnalysisError, match="latency is the same in every trial"):
        hl.tradeoff(run(X[:, 0], np.ones(len(X)), X))
    with pytest.raises(hl.AnalysisError, match="a trade-off needs two"):
        hl.tradeoff(hl.History(SPACE, (hl.Objective("x"),), (hl.Trial(0, {}, (1.0,)),)))
    wrongs: tuple[dict[str, Any], ...] = (
        {"between": ("loss", "loss")},
        {"order": 3},
        {"scale": "x"},
        {"level": 2},
    )
    for wrong in wrongs:
        with pytest.raises(hl.AnalysisError, match=r"name two|choose"):
            hl.tradeoff(linear, **wrong)
    noise = np.random.default_rng(0).normal(size=(2, len(X)))
    assert "is not known" in hl.tradeoff(run(noise[0], noise[1], X)).sentence


def test_one_parameter_may_lead_all_the_way(linear: hl.History) -> None:
    X = linear.vectors
    alike = run(3 * X[:, 0] + X[:, 1], 2 * X[:, 0] + X[:, 2], X)
    same = hl.tradeoff(alike)
    both = hl.effects_of(alike, "a", surrogate="additive")
    assert (both.heading, both.sentence) == (
        "Effect of a on loss and latency",
        "a: loss and latency are best at 0.",
    )
    assert "and for every weighted sum of both" in same.sentence
    assert "get better together" in same.reading


def test_what_does_not_clearly_lead_is_not_named(linear: hl.History) -> None:
    X = linear.vectors
    a, b, c = X.T
    found = hl.tradeoff(run(a + b, 4 * c, X))
    assert found.ends[0] is None
    assert found.sentence.startswith("No effect clearly matters most for loss, c matters most for")
    assert [found.names[t.effect] for t in found.leaders] == ["c"]
    assert 0 < found.leaders[0].weight < 1


def test_effects_of_one_parameter_on_all_objectives(linear: hl.History) -> None:
    found = hl.effects_of(linear, "a", surrogate="additive")
    for mine, objective in zip(found.effects, ("loss", "latency"), strict=True):
        alone = hl.effect(linear, "a", surrogate="additive", band="joint", objective=objective)
        np.testing.assert_array_equal(mine.mean, alone.mean)
        np.testing.assert_array_equal(mine.high, alone.high)
    assert "loss is best at 0, latency is best at 1. No value is nearly best" in found.sentence
    assert (
        "loss hardly changes with it" in hl.effects_of(linear, "c", surrogate="additive").sentence
    )
    assert {trace.yaxis for trace in found.plot().data} == {"y", "y2"}
    assert hl.EffectsOf.from_json(found.to_json()).sentence == found.sentence
    with pytest.raises(hl.AnalysisError, match="one objective, loss; ask for the effect of a"):
        hl.effects_of(hl.History(SPACE, linear.objectives[:1], (hl.Trial(0, {}, (1.0,)),)), "a")


def test_it_is_drawn_and_printed(linear: hl.History, tmp_path: object) -> None:
    found = hl.tradeoff(linear)
    assert hl.Tradeoff.from_json(found.to_json()).sentence == found.sentence
    assert "a" in {trace.name for trace in found.plot().data}
    path = f"{tmp_path}/run.db"
    hl.convert(linear, "optuna", path)
    shown = CliRunner().invoke(app, ["tradeoff", path, "--between", "latency"])
    assert "name two different ones" in str(shown.exception)
