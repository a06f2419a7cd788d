"""Conditional parameters: named with their condition, with their share where they are active."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

import hyperlens as hl
from hyperlens import Parameter, Space
from hyperlens.surrogates.protocol import SurrogateKind
from hyperlens.words import effect_name

SPACE = Space.of(
    [
        Parameter("model", "categorical", choices=("mlp", "svm", "tree")),
        Parameter("scale", "float"),
        Parameter("lr", "float"),
        Parameter("solver", "categorical", choices=("adam", "sgd")),
        Parameter("momentum", "float"),
        Parameter("C", "float"),
    ],
    {
        "lr": ((("model", "equal", "mlp"),),),
        "solver": ((("model", "equal", "mlp"),),),
        "momentum": ((("solver", "equal", "sgd"),),),
        "C": ((("model", "equal", "svm"),),),
    },
)
CHILDREN = {"lr", "solver", "momentum", "C"}
ACTIVE = {"lr": 1 / 3, "solver": 1 / 3, "momentum": 1 / 6, "C": 1 / 3}


def cost(v: dict[str, Any]) -> float:
    """The tree is best, though nothing can be tuned in it; what matters most is the C of the svm."""
    own = {
        "mlp": 1 + v.get("lr", 0) + (2 * v.get("momentum", 0) if v.get("solver") == "sgd" else 0.4),
        "svm": 1 + 4 * v.get("C", 0),
        "tree": 0.0,
    }
    return float(own[v["model"]] + 0.5 * v["scale"])


@cache
def run(trials: int = 250) -> hl.History:
    X = SPACE.sample(trials, 0)
    frame = pd.DataFrame(SPACE.decode(X), columns=list(SPACE.names))
    frame["cost"] = [cost(v) for v in SPACE.decode(X)]
    return hl.read(frame, space=SPACE, objective="cost")


@cache
def importance(surrogate: SurrogateKind = "additive") -> hl.Importance:
    return hl.importance(run(), surrogate=surrogate)


# Var(slope x U) is slope^2 / 12. Where lr is active: lr 1, momentum 4 in half of it, scale 1/4, and the
# solver's means 1.4 of adam and 2 of sgd differ by 0.6.
MLP = (1 + 4 / 2 + 0.25) / 12 + 0.6**2 / 4
WHERE_ACTIVE = {
    "lr": 1 / 12 / MLP,
    "solver": 0.6**2 / 4 / MLP,
    "momentum": 4 / (1 + 4 + 0.25),
    "C": 16 / (16 + 0.25),
}


@pytest.mark.parametrize("surrogate", ["additive", "gp"])
def test_shares_where_a_parameter_is_active(surrogate: SurrogateKind) -> None:
    """The surrogate predicts with R2 over 0.97, and 512 Sobol' points know a variance to about 3 %."""
    record = importance(surrogate)
    assert record.quality.r2 > 0.97
    assert {child.parameter for child in record.conditional} == CHILDREN
    for child in record.conditional:
        assert child.active == pytest.approx(ACTIVE[child.parameter])
        assert child.share == pytest.approx(WHERE_ACTIVE[child.parameter], abs=0.06)
        assert child.low <= child.share <= child.high


def test_effects_are_named_with_their_conditions_nested_ones_too() -> None:
    names = dict(zip(importance().parameters, importance().names, strict=True))
    assert names["C",] == "C, when model is svm"
    assert names["momentum",] == "momentum, when solver is sgd"
    assert names["scale", "C"] == "scale × C, when model is svm"
    assert names["scale",] == "scale"
    when = {"lr": "model is mlp", "solver": "model is mlp"}
    assert effect_name(("lr", "solver"), when) == "lr × solver, when model is mlp"


def test_what_the_best_trial_does_not_have_is_said_to_be_so() -> None:
    assert run().best().values["model"] == "tree"
    record = importance()
    first = record.parameters[0]
    assert first in (("C",), ("model",))
    assert all(not child.used for child in record.conditional)
    remark = (
        "which the best trial does not use" if first == ("C",) else "not used by the best trial"
    )
    assert remark in record.sentence


def test_the_table_has_shares_where_active_only_for_conditional_parameters() -> None:
    table = importance().tables[0]
    place = table.columns.index("where active")
    for row in table.rows:
        single = row[0].split(", when")[0] in CHILDREN
        assert bool(row[place]) is single


def test_a_run_without_conditions_has_no_such_column() -> None:
    x = np.random.default_rng(0).random((40, 2))
    frame = pd.DataFrame(x, columns=["a", "b"])
    frame["cost"] = x.sum(axis=1)
    space = Space.of([Parameter("a", "float"), Parameter("b", "float")])
    record = hl.importance(hl.read(frame, space=space, objective="cost"), surrogate="forest")
    assert record.conditional == ()
    assert "where active" not in record.tables[0].columns


def test_figures_say_when_below_the_name() -> None:
    ticks = importance().plot().layout.yaxis.ticktext
    assert any(t.startswith("C<br>") and "when model is svm" in t for t in ticks)
