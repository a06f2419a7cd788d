"""Choosing what is analysed: conditions, states, budgets, objectives made one."""

from __future__ import annotations

import itertools
import math
import operator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import hyperlens as hl
from hyperlens import AnalysisError, History, Objective, Parameter, Space, State, Trial
from hyperlens.explain.models.fidelity import evidence
from hyperlens.explain.models.training import training
from hyperlens.runs.hypervolume import contributions, scaled, volume, weighted
from hyperlens.runs.selection import narrowed
from hyperlens.runs.where import MISSING, parse
from hyperlens.spaces.points import on_front

SPACE = Space.of(
    [
        Parameter("model", "categorical", choices=("svm", "tree", "net")),
        Parameter("lr", "float", 1e-4, 1.0, log=True),
        Parameter("depth", "integer", 1, 9),
        Parameter("batch size", "ordinal", choices=(8, 16, 32)),
    ],
    {"depth": ((("model", "in", ("tree", "net")),),)},
)


def run(n: int = 60, seed: int = 0) -> History:
    X = SPACE.sample(n, seed)
    trials = tuple(
        Trial(
            k,
            values,
            (float(np.sin(k)), float(k)),
            State.PRUNED if k % 5 == 0 else State.COMPLETE,
            budget=float(3 ** (k % 3)),
            seed=k % 2,
            started=1e9 + k,
            ended=1e9 + 2 * k,
        )
        for k, values in enumerate(SPACE.decode(X))
    )
    return History(SPACE, (Objective("error"), Objective("gain", maximize=True)), trials, "a run")


TRIAL: dict[str, Any] = {"model": "svm", "lr": 0.01, "flag": True, "a.b/c": 3, "odd name": "x"}


def find(name: str) -> Any:
    return TRIAL.get(name, MISSING)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("model == 'svm'", True),
        ('model == "tree"', False),
        ("model != 'tree'", True),
        ("lr < 0.1 and lr >= 1e-2", True),
        ("1e-3 < lr <= .01", True),
        ("0.1 < lr", False),
        ("model in ['tree', 'svm']", True),
        ("model not in ('tree',)", True),
        ("not model == 'svm'", False),
        ("not (model == 'tree' or lr > 1)", True),
        ("model == 'tree' or lr == 0.01 and flag == True", True),
        ("(model == 'tree' or lr == 0.01) and flag == False", False),
        ("flag == 1", False),
        ("lr == 0.010", True),
        ("a.b/c == 3", True),
        ("`odd name` == 'x'", True),
        ("depth == 3", False),
        ("depth != 3", False),
        ("not depth == 3", True),
        ("depth in [3]", False),
        ("depth not in [3]", False),
        ("model == 'it\\'s'", False),
        ("lr in []", False),
        ("model in ('svm')", True),
        ("lr == 0.01\n and lambda == 3", False),
        ("-1 < lr", True),
        ("not not (((lr == 0.01)))", True),
    ],
)
def test_a_condition_holds(text: str, holds: bool) -> None:
    assert parse(text).holds(find) is holds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "model",
        "model ==",
        "== 'svm'",
        "model = 'svm'",
        "model == 'svm",
        "model == svm extra",
        "(model == 'svm'",
        "model == 'svm')",
        "model in 'svm'",
        "model in [svm]",
        "lr + 1 == 2",
        "__import__('os').system('x')",
        "lr == 1; import os",
        "lambda: 1",
        "not " * 100 + "lr == 1",
        "(" * 100 + "lr == 1" + ")" * 100,
        "lr == 1" + " or lr == 1" * 2000,
        "\x1b[31m == 1",
    ],
)
def test_what_is_no_condition_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(AnalysisError, match="--where") as problem:
        parse(text)
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("", "it ends too early"),
        ("model ==", "it ends too early"),
        ("(model == 'svm'", r"a '\)' is missing"),
        ("model in ['svm'", r"a '\]' is missing"),
        ("model", "a comparison such as == or < is missing"),
        ("model == svm extra", "'extra' is not understood"),
        ("lr + 1 == 2", r"'\+ 1 == 2' is not understood"),
        ("model in 'svm'", "must follow 'in'"),
        ("model in [svm]", "'svm' in a list must be a value"),
        ("lr(3) == 1", "a name or a value must stand on each side"),
        ("not " * 60 + "lr == 1", "nested deeper than 50"),
        ("(" * 60 + "lr == 1" + ")" * 60, "nested deeper than 50"),
    ],
)
def test_what_is_wrong_with_a_condition_is_said(text: str, because: str) -> None:
    with pytest.raises(AnalysisError, match=because):
        parse(text)


SIGNS = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, ">=": operator.ge}


@given(st.sampled_from(list(SIGNS)), st.integers(-9, 9), st.integers(-9, 9))
def test_comparisons_agree_with_python(sign: str, a: int, b: int) -> None:
    assert parse(f"x {sign} {b}").holds({"x": a}.get) is SIGNS[sign](a, b)


@given(st.text(max_size=40))
def test_any_text_is_a_condition_or_refused(text: str) -> None:
    with suppress(AnalysisError):
        parse(text).holds(find)


def test_numbers_and_texts_are_not_ordered() -> None:
    with pytest.raises(AnalysisError, match="cannot be compared"):
        parse("model < 3").holds(find)


def test_where_chooses_trials_and_narrows_the_space() -> None:
    history = run()
    chosen = history.select(where="model == 'tree' and lr < 0.1 and 2 < depth <= 6")
    assert chosen.trials
    assert all(
        t.values["model"] == "tree" and t.values["lr"] < 0.1 and 2 < t.values["depth"] <= 6
        for t in chosen.trials
    )
    assert set(chosen.space.names) == {"lr", "depth", "batch size"}
    assert chosen.space.constants["model"] == "tree"
    assert chosen.space["lr"].upper == 0.1
    assert (chosen.space["depth"].lower, chosen.space["depth"].upper) == (3, 6)
    assert chosen.space.conditions == {}
    assert "where model == 'tree'" in chosen.notes[-1]
    svm = history.select(where="model == 'svm'")
    assert "depth" not in svm.space.names
    two = history.select(where="model in ['svm', 'tree']")
    assert two.space["model"].choices == ("svm", "tree")
    assert two.space.conditions == {"depth": "model in tree"}
    either = history.select(where="model == 'svm' or lr < 0.01")
    assert either.space is history.space


@given(
    st.sampled_from(["model", "lr", "depth", "batch size"]),
    st.sampled_from(["==", "!=", "<", "<=", ">", ">="]),
    st.sampled_from(["'svm'", "'net'", "0.01", "4", "16", "100", "-1"]),
)
def test_a_narrowed_space_holds_what_satisfies_its_condition(
    name: str, sign: str, value: str
) -> None:
    condition = parse(f"`{name}` {sign} {value}")
    rows = SPACE.decode(SPACE.sample(64, 0))
    try:
        kept = [r for r in rows if condition.holds(lambda key, r=r: r.get(key, MISSING))]  # type: ignore[misc]
    except AnalysisError:
        reject()  # an order of words; Hypothesis fails where too much is refused
    space = narrowed(SPACE, condition)
    vectors = space.encode(kept)
    assert len(space.misfits(vectors)) == 0


def test_states_budget_and_last() -> None:
    history = run()
    pruned = history.select(states=["complete", "pruned"], budget=3.0)
    assert {t.budget for t in pruned.trials} == {3.0}
    assert len(pruned.data().rows) == len(pruned.trials)
    assert any("count with the cost at which they were stopped" in s for s in pruned.warnings())
    assert len(history.select(budget=3.0).data().rows) < len(pruned.data().rows)
    last = history.select(last=7)
    assert [t.number for t in last.trials] == list(range(53, 60))
    facts = history.select(
        where="number < 10 and seed == 1 and duration >= 3 and state == 'complete'"
    )
    assert [t.number for t in facts.trials] == [3, 7, 9]
    by_cost = history.select(where="gain > 50")
    assert [t.number for t in by_cost.trials] == list(range(51, 60))


@pytest.mark.parametrize(
    ("how", "because"),
    [
        ({"states": ["done"]}, "no state 'done'"),
        ({"states": []}, "No state"),
        ({"budget": 5.0}, "choose one of '1', '3', '9'"),
        ({"where": "nope == 1"}, "no 'nope' to compare"),
        ({"where": "lr > 5"}, "choose less strictly"),
        ({"last": 0}, "choose 1 or more"),
        ({"weights": {}}, "correct --weights"),
        ({"weights": {"error": 0.0}}, "All weights are 0"),
        ({"weights": {"error": -1.0}}, "not negative"),
        ({"weights": {"nope": 1.0}}, "no objective 'nope'"),
    ],
)
def test_what_cannot_be_chosen(how: dict[str, Any], because: str) -> None:
    with pytest.raises(AnalysisError, match=because) as problem:
        run().select(**how)
    assert "\n" not in str(problem.value)


def test_weights_respect_directions() -> None:
    history = run()
    gain = history.select(weights={"gain": 1.0})
    assert gain.best().number == history.best("gain").number
    error = history.select(weights={"error": 2.0, "gain": 0.0})
    assert error.best().number == history.best("error").number
    both = history.select(weights={"error": 1.0, "gain": 3.0})
    assert len(both.objectives) == 1
    assert "1 × error + 3 × gain" in both.notes[-1]


costs = arrays(float, st.tuples(st.integers(1, 8), st.integers(1, 3)), elements=st.integers(0, 6))


@given(costs)
def test_the_front_by_definition(points: Any) -> None:
    front = on_front(points)
    for i, point in enumerate(points):
        beaten = [
            (other <= point).all() and ((other < point).any() or j < i)
            for j, other in enumerate(points)
            if j != i
        ]
        assert front[i] == (not any(beaten))


@given(costs)
def test_the_volume_by_counting_cells(points: Any) -> None:
    reference = np.full(points.shape[1], 7.0)
    cells = itertools.product(range(7), repeat=points.shape[1])
    counted = sum(bool((points <= np.array(cell)).all(axis=1).any()) for cell in cells)
    assert volume(points, reference) == pytest.approx(counted)


@settings(max_examples=60)
@given(costs.filter(lambda points: points.shape[1] > 1))
def test_contributions_by_leaving_out(points: Any) -> None:
    found = contributions(points)
    places, front = scaled(points), on_front(scaled(points))
    reference = np.full(points.shape[1], 1.1)
    whole = volume(places, reference)
    for i in range(len(points)):
        first = int(np.flatnonzero((places == places[i]).all(axis=1))[0])  # of equal points
        if front[first]:
            copies = (places == places[i]).all(axis=1)
            assert found[i] == pytest.approx(whole - volume(places[~copies], reference), abs=1e-9)
            assert found[i] > 0
        else:
            assert found[i] <= 0
            best = min(
                float(np.linalg.norm(np.clip(places[i] - corner, 0, None)))
                for corner in corners(places[front])
            )
            assert -found[i] == pytest.approx(best, abs=1e-9)


def corners(front: Any) -> list[Any]:
    """Corners of everything that the front does not dominate, by trying all combinations."""
    levels = [[*sorted(set(column)), math.inf] for column in front.T]
    return [
        np.array(corner)
        for corner in itertools.product(*levels)
        if not (front < np.array(corner)).all(axis=1).any()
    ]


def test_weighted_costs_are_a_mean_of_scaled_ones() -> None:
    points = np.array([[0.0, 10.0], [1.0, 30.0], [0.5, 20.0]])
    assert weighted(points, np.array([1.0, 3.0])).tolist() == [0.0, 1.0, 0.5]
    huge = np.array([[-1e308, 0.0], [1e308, 1.0]])
    assert np.isfinite(scaled(huge)).all()


def test_hypervolume_is_maximised_and_in_the_right_direction() -> None:
    history = run().select(states=["complete", "pruned"], budget=9.0, where="seed == 1")
    found = history.select(hypervolume=True)
    assert found.objective().maximize
    value = {t.number: t.costs[0] for t in found.trials}
    for a, b in itertools.permutations(history.trials, 2):
        if a.costs[0] < b.costs[0] and a.costs[1] > b.costs[1]:  # a dominates b
            assert value[b.number] <= 0
    best = found.best()
    assert value[best.number] > 0
    with pytest.raises(AnalysisError, match="needs 2 to 4 objectives"):
        found.select(hypervolume=True)


def fidelities(honest: bool) -> History:
    """Many cheap trials, few expensive ones; cheap costs tell of expensive ones, or nothing."""
    space = Space.of([Parameter(f"x{j}", "float", 0.0, 1.0) for j in range(3)])
    rng = np.random.default_rng(0)
    X = space.sample(150, 0)
    trials = []
    for k, (x, values) in enumerate(zip(X, space.decode(X), strict=True)):
        truth = float(np.sin(5 * x[0]) + x[1] ** 2)
        cheap = truth + 0.05 if honest else float(rng.normal())
        trials.append(Trial(k, values, (cheap,), State.PRUNED if k % 2 else State.COMPLETE, 1.0))
        if k % 6 == 0:
            trials.append(Trial(1000 + k, values, (truth,), State.COMPLETE, 9.0))
    return History(space, (Objective("error"),), tuple(trials))


def test_lower_budgets_are_used_where_they_tell_something() -> None:
    history = fidelities(honest=True)
    assert len(history.data().rows) == 25
    found = evidence(history)
    assert len(found.rows) == 150
    assert found.sentence is not None
    assert found.sentence.startswith("150 of 175 trials were pruned (75) or have a budget below 9")
    assert "125 configurations count with the cost that a forest predicts" in found.sentence
    assert found.most
    trials = [history.trials[i] for i in found.rows]
    assert [t.budget == 9.0 for t in trials] == found.measured.tolist()
    costs = np.array([t.costs[0] for t in trials])
    assert (found.y == costs)[found.measured].all()
    truth = [np.sin(5 * t.values["x0"]) + t.values["x1"] ** 2 for t in trials]
    assert np.corrcoef(truth, found.y)[0, 1] > 0.95
    record = hl.effect(history, "x0", surrogate="forest")
    assert found.sentence in record.notes
    assert len(record.observed_cost) == 25  # predicted costs are not shown as measured ones
    assert record.support.sum() == 150


def test_lower_budgets_that_mislead_are_not_used() -> None:
    history = fidelities(honest=False)
    found = evidence(history)
    assert found.sentence is not None
    assert "and are left out: with them" in found.sentence
    assert len(found.rows) == 25
    assert {history.trials[i].budget for i in found.rows} == {9.0}
    assert training(history).aside == (found.sentence,)


def test_budgets_that_cannot_be_checked_or_do_not_exist() -> None:
    history = fidelities(honest=True)
    few = History(history.space, history.objectives, history.trials[:20])
    assert "too few to test" in str(evidence(few).sentence)
    plain = tuple(Trial(k, t.values, t.costs) for k, t in enumerate(history.trials))
    assert evidence(History(history.space, history.objectives, plain)).sentence is None
    for same in (history.select(budget=9.0), history.select(budget="largest")):
        found = evidence(same)
        assert found.sentence is None
        assert found.measured.all()
        assert len(found.rows) == 25
    both = history.select(states=["complete", "pruned"])
    assert evidence(both).sentence is None  # asked for with the costs that they have


def test_selected_runs_are_explained() -> None:
    history = run(80).select(where="model != 'net'", states=["complete", "pruned"])
    hl.importance(history, level=None)
    hl.effect(history, "lr")
    hl.bias(history)
    assert hl.overview(history).trials == len(history.trials)


def test_a_condition_drops_what_depends_on_what_it_drops() -> None:
    """The child of a parameter that can never be active goes with it."""
    space = hl.Space.of(
        [
            hl.Parameter("model", "categorical", choices=("a", "b", "c")),
            hl.Parameter("kernel", "categorical", choices=("rbf", "poly")),
            hl.Parameter("degree", "integer", 1, 5),
            hl.Parameter("depth", "integer", 1, 9),
        ],
        {
            "kernel": ((("model", "equal", "a"),),),
            "degree": ((("kernel", "equal", "poly"),),),
            "depth": ((("model", "equal", "b"),),),
        },
    )
    trials = tuple(
        hl.Trial(i, values, (float(i),))
        for i, values in enumerate(space.decode(space.sample(60, 0)))
    )
    found = hl.History(space, (hl.Objective("loss"),), trials).select(where="model == 'b'")
    assert found.space.names == ("depth",)
