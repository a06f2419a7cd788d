"""Short formulas: constants of known functions found again, a second route to each fit, odd runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hyperlens as hl
from hyperlens.explain.formula.forms import BY_NAME, FORMS, fitted
from hyperlens.explain.formula.formula import _fit
from hyperlens.explain.formula.spelling import spelled

X, LOG = np.linspace(0.5, 4.0, 40), np.logspace(-5, 0, 40)
SPACE = hl.Space.of(
    [
        hl.Parameter("lr", "float", 1e-5, 1.0, log=True),
        hl.Parameter("wd", "float", 0.0, 1.0),
        hl.Parameter("opt", "categorical", choices=("adam", "sgd")),
    ]
)


def run(cost: Callable[[dict[str, Any]], float], trials: int = 40) -> hl.History:
    values = SPACE.decode(SPACE.sample(trials, 0))
    made = [hl.Trial(k, v, (float(cost(v)),)) for k, v in enumerate(values)]
    return hl.History(SPACE, (hl.Objective("loss"),), tuple(made))


@cache
def bowl() -> hl.History:
    return run(lambda v: 0.3 + 0.05 * (math.log10(v["lr"]) + 2) ** 2 + 0.1 * v["wd"])


CONSTANTS: dict[str, tuple[float, ...]] = {
    "constant": (0.7,),
    "linear": (0.3, -2.0),
    "logarithm": (0.3, 0.4),
    "inverse": (0.3, 0.5),
    "root": (0.3, 0.5),
    "inverse root": (0.3, 0.5),
    "square": (0.3, 0.2),
    "inverse square": (0.3, 0.2),
    "quadratic": (0.3, 0.2, 1.7),
    "step": (0.3, 0.2, 1.75),
    "rising hinge": (0.3, 0.2, 1.7),
    "falling hinge": (0.3, 0.2, 1.7),
    "two slopes": (0.3, 0.2, 1.7),
    "saturating": (0.3, 0.6, 0.8),
    "two hinges": (0.3, 0.2, 0.7, 1.7),
    "two-sided bowl": (0.3, 0.2, 0.7, 1.7),
    "sigmoid": (0.3, 0.6, 1.7, 4.0),
}


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_constants_of_a_form_are_found_again(form: Any) -> None:
    true = CONSTANTS[form.name]
    y = form.at(true, X, False)
    found = fitted(form, X, False, y, np.ones(len(X)))
    assert form.at(found, X, False) == pytest.approx(y, abs=1e-6)
    if form.name != "step":  # anywhere between two points is the same
        assert found == pytest.approx(true, rel=1e-4)
    tolerance = np.full(len(X), 0.05 * max(float(np.ptp(y)), 0.01))
    short = _fit(form, X, False, y, tolerance)
    assert short is not None
    assert short[2] < 0.1
    assert short[0] == pytest.approx(true, rel=0.05)


@given(
    a=st.floats(-9, 9), b=st.floats(0.1, 9), c=st.floats(-4.5, -0.5), noise=st.integers(0, 10**6)
)
def test_no_other_vertex_is_nearer(a: float, b: float, c: float, noise: int) -> None:
    """A quadratic by its normal equations, which need no knot."""
    rng = np.random.default_rng(noise)
    z, w = np.log10(LOG), rng.uniform(0.5, 2, len(LOG))
    y = a + b * (z - c) ** 2 + 0.1 * rng.normal(size=len(z))
    found = BY_NAME["quadratic"].at(fitted(BY_NAME["quadratic"], LOG, True, y, w), LOG, True)
    plain = np.polyval(np.polyfit(z, y, 2, w=w), z)
    assert found == pytest.approx(plain, abs=1e-5 * (1 + np.abs(plain).max()))


@pytest.mark.parametrize(
    ("name", "constants", "log", "text"),
    [
        ("quadratic", (0.3, -0.2, -2.0), True, "0.3 - 0.2·(log10(x) + 2)²"),
        ("step", (0.3, 0.2, 0.01), True, "0.3 for x < 0.01, else 0.5"),
        ("falling hinge", (1.0, 2.0, 3.0), False, "1 + 2·max(0, 3 - x)"),
        ("inverse", (1.0, -2.0), False, "1 - 2/x"),
        ("sigmoid", (1.0, 2.0, 3.0, 4.0), False, "1 + 2/(1 + exp(-4·(x - 3)))"),
    ],
)
def test_formulas_are_written_as_people_do(
    name: str, constants: tuple[float, ...], log: bool, text: str
) -> None:
    assert spelled(BY_NAME[name], constants, "x", log, 3) == text
    x = np.array([0.005, 2.0, 5.0])  # the text computes what `at` does
    python = text.replace("·", "*").replace("²", "**2").replace(" for ", " if ")
    python = (
        python.replace(", else", " else").replace("log10", "math.log10").replace("exp", "math.exp")
    )
    said = [eval(python, {"math": math, "x": value, "max": max}) for value in x]
    assert BY_NAME[name].at(constants, x, log) == pytest.approx(said)


def test_a_known_effect_is_said_with_its_error() -> None:
    found = hl.formula(bowl(), "lr")
    assert found.forms[0] == "quadratic"
    assert found.constants[0] == pytest.approx((0.35, 0.05, -2.0), abs=0.01)
    assert found.chosen == 0
    assert found.most[0] == pytest.approx(np.abs(found.curve - found.mean).max())
    assert found.at(found.values) == pytest.approx(found.curve)
    base, steep = (f"{number:g}" for number in found.constants[0][:2])
    assert f"is nearly loss ≈ {base} + {steep}·(log10(lr) + 2)²: at most" in found.sentence
    linear = hl.formula(bowl(), "wd")
    assert (linear.forms[0], linear.size[0]) == ("linear", 2)
    fits = found.outside <= 1
    assert (found.size[fits] == np.sort(found.size[fits])).all()  # the shortest that fit come first
    assert not fits[fits.sum() :].any()


def test_what_is_not_known_asks_for_no_formula() -> None:
    noise = np.random.default_rng(1).normal(size=40)
    found = hl.formula(run(lambda v: noise[int(v["wd"] * 39)]), "lr")
    assert found.sentence.startswith("Not known, only a guess: ")
    assert found.size[0] <= 2
    flat = hl.formula(run(lambda v: 1.0, 12), "lr")
    assert "for every 'lr'" in flat.sentence


def test_what_has_no_formula_says_so() -> None:
    with pytest.raises(hl.AnalysisError, match="'opt' has names as values"):
        hl.formula(bowl(), "opt")
    wavy = hl.formula(run(lambda v: math.sin(9 * v["wd"]), 60), "wd")
    assert wavy.chosen == -1
    assert wavy.sentence.startswith("No short formula fits the effect of 'wd'")
    drawn = [trace.name for trace in wavy.plot().data]
    assert drawn[-1].endswith("which does not fit")


def test_the_objective_that_is_maximised_keeps_its_direction() -> None:
    up = hl.History(SPACE, (hl.Objective("gain", maximize=True),), bowl().trials)
    assert hl.formula(up, "wd").constants[0][1] == pytest.approx(0.1, abs=0.01)
