"""Inferred conditions: small cases by hand, random hierarchies recovered exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperlens.importers.spaces.conditions import infer
from hyperlens.spaces.clauses import Clauses
from hyperlens.spaces.parameter import Parameter
from hyperlens.spaces.space import Space

MODEL = Parameter("model", "categorical", choices=("svm", "tree"))
KERNEL = Parameter("kernel", "categorical", choices=("poly", "rbf", "linear"))
DEGREE = Parameter("degree", "integer", 1, 5)
DEPTH = Parameter("depth", "integer", 1, 30)
LR = Parameter("lr", "float", 0.0, 1.0)


def _svm(kernel: str, **more: Any) -> dict[str, Any]:
    return {"model": "svm", "kernel": kernel, **more}


def test_a_chain_comes_out_nested() -> None:
    rows: list[dict[str, Any]] = [
        _svm("poly", degree=2),
        _svm("rbf"),
        _svm("linear"),
        {"model": "tree", "depth": 3},
    ] * 20
    found = infer([MODEL, KERNEL, DEGREE, DEPTH], rows)
    assert found.clauses == {
        "kernel": ((("model", "equal", "svm"),),),
        "degree": ((("kernel", "equal", "poly"),),),
        "depth": ((("model", "equal", "tree"),),),
    }
    assert found.sentences[1] == "Inferred from 80 trials: 'degree' is active when kernel is poly."
    assert not found.flags


def test_nothing_is_said_about_a_flat_space() -> None:
    found = infer([MODEL, LR], [{"model": "svm", "lr": 0.1}, {"model": "tree", "lr": 0.2}])
    assert (found.clauses, found.flags, found.sentences) == ({}, {}, ())


def test_an_untried_value_counts_as_not_activating_and_is_named() -> None:
    rows: list[dict[str, Any]] = [{"kernel": "poly", "degree": 2}, {"kernel": "rbf"}] * 5
    found = infer([KERNEL, DEGREE], rows)
    assert found.clauses == {"degree": ((("kernel", "equal", "poly"),),)}
    assert found.sentences == (
        "Inferred from 10 trials: 'degree' is active when kernel is poly; "
        "linear was never tried and counts as not activating.",
    )


def test_an_integer_switches_by_several_values() -> None:
    layers = Parameter("layers", "integer", 1, 3)
    rows: list[dict[str, Any]] = [
        {"layers": 1},
        {"layers": 2, "lr": 0.1},
        {"layers": 3, "lr": 0.2},
    ] * 3
    found = infer([layers, LR], rows)
    assert found.clauses == {"lr": ((("layers", "in", (2, 3)),),)}
    assert "layers is 2 or 3." in found.sentences[0]


def test_an_integer_that_never_repeats_explains_nothing_by_chance() -> None:
    rows: list[dict[str, Any]] = [
        {"depth": k + 1, **({"lr": 0.5} if k % 3 == 0 else {})} for k in range(12)
    ]
    assert infer([DEPTH, LR], rows).flags == {"lr set": ("lr",)}


def test_the_first_of_equal_explanations_wins() -> None:
    other = Parameter("other", "categorical", choices=("a", "b"))
    rows: list[dict[str, Any]] = [
        {"model": "svm", "other": "a", "lr": 0.1},
        {"model": "tree", "other": "b"},
    ] * 4
    assert infer([MODEL, other, LR], rows).clauses["lr"][0][0][0] == "model"
    assert infer([other, MODEL, LR], rows).clauses["lr"][0][0][0] == "other"


def test_the_nearest_of_several_explanations_wins() -> None:
    model = Parameter("model", "categorical", choices=("svm", "ridge", "tree"))
    kernel = Parameter("kernel", "categorical", choices=("poly", "rbf"))
    rows: list[dict[str, Any]] = [
        {"model": "svm", "kernel": "poly", "degree": 2},
        {"model": "ridge", "kernel": "rbf"},
        {"model": "tree"},
    ] * 4  # 'degree' goes with svm as well as with poly
    assert infer([model, kernel, DEGREE], rows).clauses == {
        "kernel": ((("model", "in", ("svm", "ridge")),),),
        "degree": ((("kernel", "equal", "poly"),),),
    }


def test_a_parent_must_explain_every_trial() -> None:
    rows: list[dict[str, Any]] = [{"model": "svm", "lr": 0.1}, {"model": "tree"}] * 10
    assert infer([MODEL, LR], rows).clauses == {"lr": ((("model", "equal", "svm"),),)}
    assert infer([MODEL, LR], [*rows, {"model": "svm"}]).flags == {"lr set": ("lr",)}
    assert infer([MODEL, LR], [*rows, {"model": "tree", "lr": 0.1}]).flags == {"lr set": ("lr",)}
    assert infer([MODEL, LR], [*rows, {"lr": 0.1}]).clauses["lr"][0][0][0] == "lr set"


def test_unexplained_presence_becomes_one_shared_flag() -> None:
    momentum = Parameter("momentum", "float", 0.0, 1.0)
    taken = Parameter("lr set", "float", 0.0, 1.0)
    present = [True, False, False, True]
    rows: list[dict[str, Any]] = [
        {"model": "svm", "lr set": 0.5, **({"lr": 0.1, "momentum": 0.9} if p else {})}
        for p in present
    ]
    found = infer([MODEL, taken, LR, momentum], rows)
    assert found.flags == {"lr set?": ("lr", "momentum")}
    assert [found.flagged(row)["lr set?"] for row in rows] == ["yes", "no", "no", "yes"]
    assert "'lr' and 'momentum' are set in some trials only" in found.sentences[0]
    space = found.space([MODEL, taken, LR, momentum], {})
    vectors = space.encode([{**row, **found.flagged(row)} for row in rows])
    assert len(space.misfits(vectors)) == 0


@pytest.mark.parametrize("rows", [[], [{"model": "svm"}]])
def test_tiny_runs_pass(rows: list[dict[str, Any]]) -> None:
    assert infer([MODEL], rows).clauses == {}


@st.composite
def _hierarchies(draw: st.DrawFn) -> tuple[list[Parameter], dict[str, Clauses]]:
    """Categories of two to four choices, each below an earlier one or at the top."""
    parameters: list[Parameter] = []
    clauses: dict[str, Clauses] = {}
    depth: dict[str, int] = {}
    for k in range(draw(st.integers(2, 7))):
        name = f"p{k}"
        levels = draw(st.integers(2, 4))
        parents = [p for p in parameters if p.kind == "categorical" and depth[p.name] < 2]
        parent = draw(st.sampled_from([None, *parents])) if parents else None
        depth[name] = 0
        if parent is not None:
            size = draw(st.integers(1, len(parent.choices) - 1))
            chosen = draw(st.permutations(parent.choices))[:size]
            active = tuple(c for c in parent.choices if c in chosen)
            one = (parent.name, "equal", active[0])
            many = (parent.name, "in", active)
            clauses[name] = (((one if len(active) == 1 else many),),)  # type: ignore[assignment]
            depth[name] = depth[parent.name] + 1
        if draw(st.booleans()) or k == 0:
            choices = tuple(f"c{i}" for i in range(levels))
            parameters.append(Parameter(name, "categorical", choices=choices))
        else:
            parameters.append(Parameter(name, "float", 0.0, 1.0))
    return parameters, clauses


@settings(max_examples=60, deadline=None)
@given(_hierarchies(), st.integers(0, 2**32 - 1))
def test_a_well_sampled_hierarchy_is_recovered(
    hierarchy: tuple[list[Parameter], dict[str, Clauses]], seed: int
) -> None:
    parameters, clauses = hierarchy
    space = Space.of(parameters, clauses)
    rows = space.decode(space.sample(1500, np.random.default_rng(seed)))
    found = infer(parameters, rows)
    assert found.clauses == clauses
    assert not found.flags
    assert len(found.sentences) == len(clauses)
