"""Reach: the nearest change of known functions by hand, and runs of which nothing can be said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import hyperlens as hl
from hyperlens.explain.models.leader import named_or_leader
from hyperlens.explain.reach.nearby import _moves, tried_in
from hyperlens.explain.reach.reach import chances
from hyperlens.record import Record

SPACE = hl.Space.of(
    [
        hl.Parameter("a", "float", 0.0, 1.0),
        hl.Parameter("b", "float", 0.0, 1.0),
        hl.Parameter("kind", "categorical", choices=("p", "q")),
    ]
)


class Known:
    """A surrogate that is sure of a function."""

    def __init__(self, function: Any, std: float = 0.0) -> None:
        self.function, self.std = function, std

    def predict(self, X: Any) -> tuple[Any, Any]:
        return self.function(X), np.full(len(X), self.std)


def cost(X: Any) -> Any:
    return X[:, 0] + X[:, 1] - 0.5 * (X[:, 2] > 0.5)


def run(maximize: bool = False) -> hl.History:
    X = SPACE.sample(20, 0)
    X[:3] = (0.8, 0.9, 0.25), (0.0, 0.0, 0.25), (1.0, 1.0, 0.75)  # the ends are tried
    sign = -1 if maximize else 1
    trials = [
        hl.Trial(k, v, (sign * float(c),))
        for k, (v, c) in enumerate(zip(SPACE.decode(X), cost(X), strict=True))
    ]
    return hl.History(SPACE, (hl.Objective("loss", maximize),), tuple(trials))


def test_the_nearest_single_change_of_a_plane() -> None:
    """From 0.8 + 0.9 to at most 1.3: a or b has to fall by 0.4, at last on a grid of 1 / 512."""
    found = hl.reach(run(), 0, 1.3, surrogate=Known(cost))
    assert found.chosen == 0
    assert found.changed[0] in (("a",), ("b",))
    assert 0.4 - 1e-9 <= found.distance[0] <= 0.4 + 1 / 512
    assert found.probability[0] == 1.0
    assert found.cost == pytest.approx(1.7)
    assert "would reach a loss of 1.3 by 1 change, 'a' from 0.8 to" in found.sentence or (
        "'b' from 0.9 to" in found.sentence
    )
    # the category counts as a whole range, so it comes in where nothing else suffices
    further = hl.reach(run(), 0, 0.05, surrogate=Known(cost))
    assert further.chosen == 1
    assert len(further.changed[1]) == 2
    assert further.expected[1] <= 0.05


def test_the_nearest_of_two_changes_is_that_of_all_points_of_a_fine_grid() -> None:
    """A bent function, of an integer too: no point that reaches it lies nearer than the one named, and
    a change of so many changes so many."""
    space = hl.Space.of([hl.Parameter("a", "float", 0.0, 1.0), hl.Parameter("n", "integer", 1, 6)])

    def bent(X: Any) -> Any:
        return (X[:, 0] - 0.1) ** 2 + (X[:, 1] - 0.2) ** 2 + X[:, 0] * X[:, 1]

    X = space.sample(12, 0)
    X[:2] = space.encode([{"a": 0.9, "n": 6}, {"a": 0.0, "n": 1}])
    trials = [
        hl.Trial(k, v, (float(c),))
        for k, (v, c) in enumerate(zip(space.decode(X), bent(X), strict=True))
    ]
    found = hl.reach(
        hl.History(space, (hl.Objective("loss"),), tuple(trials)), 0, 0.4, surrogate=Known(bent)
    )
    a, n = np.meshgrid(
        np.linspace(0, 1, 2001), space.encode([{"a": 0.5, "n": k} for k in range(1, 6)])[:, 1]
    )
    points = np.column_stack([a.ravel(), n.ravel()])
    far = np.abs(points - X[0]).sum(axis=1)[bent(points) <= 0.4]
    assert [len(names) for names in found.changed] == [1, 2]
    assert far.min() - 1 / 2000 <= found.distance[1] <= far.min() + 1 / 256
    moved = space.encode([dict(zip(found.changed[1], found.values[1], strict=True))])[0]
    assert found.distance[1] == pytest.approx(np.abs(moved - X[0]).sum())


def test_no_value_beyond_those_that_were_tried_is_named() -> None:
    """Not a lower one, though it would reach the cost, nor a category that no trial has."""
    values = [{"a": 0.3 + 0.05 * k, "b": 0.2 + 0.05 * k, "kind": "p"} for k in range(12)]
    trials = [
        hl.Trial(k, v, (float(c),))
        for k, (v, c) in enumerate(zip(values, cost(SPACE.encode(values)), strict=True))
    ]
    history = hl.History(SPACE, (hl.Objective("loss"),), tuple(trials))
    for wanted in (1.3, 1.0, 0.7, 0.4, -0.5):
        found = hl.reach(history, 11, wanted, surrogate=Known(cost))
        named = [
            dict(zip(c, v, strict=True)) for c, v in zip(found.changed, found.values, strict=True)
        ]
        assert all("kind" not in one for one in named)
        assert min(one.get("a", 1.0) for one in named) >= 0.3
        assert min(one.get("b", 1.0) for one in named) >= 0.2
        assert (found.chosen < 0) == (wanted < 0.5)
        assert any("lowest and the highest value" in note for note in found.notes) == (wanted < 0.5)


def test_a_maximised_objective_is_reached_upwards() -> None:
    found = hl.reach(run(maximize=True), 0, -1.3, surrogate=Known(cost))
    assert found.chosen == 0
    assert found.expected[0] >= -1.3
    assert (found.low <= found.high).all()


def test_how_sure_it_is_to_be_moves_it_further() -> None:
    near = hl.reach(run(), 0, 1.3, surrogate=Known(cost, 0.1))
    sure = hl.reach(run(), 0, 1.3, sure=0.95, surrogate=Known(cost, 0.1))
    assert near.probability[0] < 0.95 <= sure.probability[0]
    assert sure.distance[0] > near.distance[0]
    assert sure.expected[0] <= 1.3 - 1.64 * 0.1


def test_what_is_out_of_reach_and_what_is_there_already() -> None:
    never = hl.reach(run(), 0, -9.0, surrogate=Known(cost))
    assert never.chosen == -1
    assert "by no change of at most 3 parameters" in never.sentence
    there = hl.reach(run(), 0, 2.0, surrogate=Known(cost))
    own = "Trial 0, expected at 1.7, reaches a loss of 2 as it is with a probability of 100"
    assert there.sentence.startswith(own)
    assert there.changed == ()
    assert len(there.plot().data[0].x) == 1
    # expected to be reached, but not as surely as is wanted
    surer = hl.reach(run(), 0, 1.71, sure=0.9, surrogate=Known(cost, 0.1))
    assert 0.5 < surer.likely < 0.9 <= surer.probability[surer.chosen]
    assert "as it is, and by 1 change" in surer.sentence
    for wrong in ({"cost": float("nan")}, {"cost": 1.0, "sure": 1.5}):
        with pytest.raises(hl.AnalysisError):
            hl.reach(run(), 0, **wrong)  # type: ignore[arg-type]


def test_the_leader_answers_and_the_record_comes_back() -> None:
    found = hl.reach(run(), 0, 1.0, surrogate="additive")
    assert 0 <= found.probability.min() <= found.probability.max() <= 1
    back = Record.from_dict(found.to_dict())
    assert back.plot().to_json() == found.plot().to_json()
    found.plot("matplotlib")
    flat = hl.History(
        SPACE,
        (hl.Objective("loss"),),
        tuple(hl.Trial(k, {"a": k / 20, "b": 0.5, "kind": "p"}, (1.0,)) for k in range(12)),
    )
    assert hl.reach(flat, 0, 0.5).sentence.startswith("Not known, only a guess")


def test_what_was_measured_by_luck_is_said() -> None:
    lucky = Known(lambda X: cost(X) + 1.0)  # expects 1 more than was measured
    own = float(run().best().costs[0])
    found = hl.reach(run(), "best", own, surrogate=lucky)
    assert found.notes[0].startswith(f"It measured {own:.4g} itself")
    assert "It measured" not in str(hl.reach(run(), "best", own, surrogate=Known(cost)).notes)
    assert "of any is" in hl.reach(run(), 0, -9.0, surrogate=Known(cost)).sentence


def test_a_trial_that_diverged_is_not_said_to_cost_what_is_expected() -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"lr": rng.random(40), "wd": rng.random(40)})
    frame["cost"] = np.where(frame.lr > 0.8, 1e6 * (1 + frame.lr), frame.wd)
    history = hl.read(frame, objective="cost")
    apart, near = (int(np.flatnonzero(where)[0]) for where in (frame.lr > 0.8, frame.lr < 0.8))
    for k, told in ((apart, True), (near, False)):
        notes = hl.reach(history, k, 0.1, surrogate="additive").notes
        assert any("what trials like it cost" in note for note in notes) == told


def test_where_trials_crowd_it_is_known_what_they_cost() -> None:
    """Most trials lie in a corner and differ little: a bound just above or below each is told apart."""
    space = hl.Space.of([hl.Parameter(name, "float", 0.0, 1.0) for name in "abcd"])
    even = space.sample(60, 0)
    X = np.vstack([even[:20], 0.7 + 0.1 * (even[20:] - 0.5)])
    y = np.exp(5 * np.square(X - 0.7).sum(axis=1))
    trials = [
        hl.Trial(k, v, (float(c),)) for k, (v, c) in enumerate(zip(space.decode(X), y, strict=True))
    ]
    fitted = hl.fit(hl.History(space, (hl.Objective("loss"),), tuple(trials)), "additive")
    corner, step = slice(20, None), 0.25 * float(np.ptp(y[20:]))
    bounds = float(np.median(y[corner])) + np.array([-step, step])
    middle = X[corner][np.argsort(y[corner])[15:25]]
    below, above = (chances(fitted, middle, float(b))[0].mean() for b in bounds)
    assert below < 0.05
    assert above > 0.95


def test_what_is_inactive_before_and_after_is_no_change() -> None:
    rows = [
        {"a": k / 29, "b": k * 7 % 30 / 29, "kind": "pq"[k % 2]} | ({"m": k / 29} if k % 2 else {})
        for k in range(30)
    ]
    frame = pd.DataFrame(rows).assign(loss=lambda f: f.a + f.b)
    history = hl.read(frame, objective="loss", maximize=False)
    fitted = named_or_leader(history, "gp", seed=0, objective=None)
    start = np.array([0.9 if name in "ab" else 0.25 for name in history.space.names])  # kind is p
    latents, columns = _moves(fitted, tried_in(history.data().X), start, 3, 0)
    active = history.space.cube.active(latents)
    assert all(row[list(S)].all() for row, S in zip(active, columns, strict=True))
