"""One hyperparameter: round trips, the measure behind the codes, conditions, and refusals."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperlens.errors import SpaceError
from hyperlens.spaces.cube import contains, measure
from hyperlens.spaces.parameter import MOST_LEVELS, Comparison, Kind, Parameter

# A code carries a few roundings of 2^-53; `exp` and the width of the range enlarge them.
ROUNDING = 1e-12

LINEAR = Parameter("x", "float", -3.0, 5.0)
LOG = Parameter("lr", "float", 1e-6, 1e-1, log=True)
INT = Parameter("k", "integer", -2, 7)
LOG_INT = Parameter("width", "integer", 1, 100, log=True)
BIG = Parameter("big", "integer", 0, 50_000)
BIG_LOG = Parameter("bigger", "integer", 1, 1_000_000, log=True)
SIZES = Parameter("size", "ordinal", choices=(8, 16, 64, 512))
GRADES = Parameter("grade", "ordinal", choices=("low", "middle", "high"))
MIXED = Parameter("mixed", "categorical", choices=(None, True, 1.5, "a", "1"))
EVERY = (LINEAR, LOG, INT, LOG_INT, BIG, BIG_LOG, SIZES, GRADES, MIXED)


def name_of(parameter: Parameter) -> str:
    return parameter.name


# --- values <-> codes -------------------------------------------------------------------------


@given(st.floats(-3.0, 5.0))
def test_float_round_trip_and_code_in_closed_form(value: float) -> None:
    (code,) = LINEAR.encode([value])
    assert code == pytest.approx((value + 3) / 8, abs=ROUNDING)
    assert LINEAR.decode(np.array([code]))[0] == pytest.approx(value, abs=8 * ROUNDING)


@given(st.floats(1e-6, 1e-1))
def test_log_float_round_trip_and_code_in_closed_form(value: float) -> None:
    (code,) = LOG.encode([value])
    assert code == pytest.approx((math.log10(value) + 6) / 5, abs=ROUNDING)
    assert LOG.decode(np.array([code]))[0] == pytest.approx(value, rel=12 * ROUNDING)


@pytest.mark.parametrize("parameter", [INT, LOG_INT, SIZES, GRADES, MIXED], ids=name_of)
def test_every_level_comes_back_as_itself(parameter: Parameter) -> None:
    values = parameter.values
    assert values is not None
    codes = parameter.encode(values)
    back = parameter.decode(codes)
    assert back == list(values)
    assert [type(v) for v in back] == [type(v) for v in values]
    assert parameter.axis.level(codes).tolist() == list(range(len(values)))
    edges = parameter.axis.edges
    assert edges is not None
    assert (edges[:-1] < codes).all()
    assert (codes < edges[1:]).all()
    assert (edges[0], edges[-1]) == (0.0, 1.0)


@pytest.mark.parametrize("parameter", [BIG, BIG_LOG], ids=name_of)
def test_a_big_integer_is_continuous_and_comes_back_whole(parameter: Parameter) -> None:
    assert parameter.axis.levels == 0
    rng = np.random.default_rng(0)
    low, high = int(parameter.lower), int(parameter.upper)
    values = [low, low + 1, high - 1, high, *rng.integers(low, high, 500).tolist()]
    back = parameter.decode(parameter.encode(values))
    assert back == values
    assert {type(v) for v in back} == {int}


def test_integers_are_discrete_up_to_the_most_levels() -> None:
    assert Parameter("k", "integer", 1, MOST_LEVELS).axis.levels == MOST_LEVELS
    assert Parameter("k", "integer", 0, MOST_LEVELS).axis.levels == 0


def test_choices_that_look_alike_stay_apart() -> None:
    alike = Parameter("p", "categorical", choices=(1, True, "1", "True", None, "None", 2.0))
    codes = alike.encode(alike.choices)
    assert len(set(codes.tolist())) == 7
    assert alike.decode(alike.encode([np.True_, np.int64(1), np.str_("1")])) == [True, 1, "1"]
    assert alike.encode([np.True_]) == codes[1]
    assert [(type(v), v) for v in alike.decode(codes)] == [(type(v), v) for v in alike.choices]


def test_a_value_may_come_as_its_text_or_as_a_near_number() -> None:
    assert MIXED.decode(MIXED.encode(["None", "True", "1.5", np.str_("a"), np.True_])) == [
        None,
        True,
        1.5,
        "a",
        True,
    ]
    assert SIZES.decode(SIZES.encode([16.0, np.int64(64), "512", 8.0000001])) == [16, 64, 512, 8]
    assert INT.decode(INT.encode([3.0, "4", np.float32(5)])) == [3, 4, 5]


def test_numeric_is_what_lies_on_a_number_line() -> None:
    assert [p.name for p in EVERY if not p.numeric] == ["grade", "mixed"]
    assert not Parameter("b", "ordinal", choices=(False, True)).numeric


# --- the measure ------------------------------------------------------------------------------

EVEN = (np.arange(100_000) + 0.5) / 100_000  # a cell's share of these is its width +- 1e-5


@pytest.mark.parametrize("parameter", [INT, SIZES, GRADES, MIXED], ids=name_of)
def test_uniform_latents_give_equally_frequent_levels(parameter: Parameter) -> None:
    assert parameter.values is not None
    decoded = parameter.decode(EVEN)
    shares = [sum(v is w or v == w for w in decoded) / 1e5 for v in parameter.values[:3]]
    assert shares == pytest.approx([1 / len(parameter.values)] * 3, abs=1.1e-5)


@pytest.mark.parametrize("parameter", [LOG_INT, BIG_LOG], ids=name_of)
def test_log_integers_own_the_cell_around_them_on_the_log_scale(parameter: Parameter) -> None:
    decoded = np.array(parameter.decode(EVEN))
    whole = math.log((parameter.upper + 0.5) / (parameter.lower - 0.5))
    for k in (1, 2, 10, 77, 100):
        expected = math.log((k + 0.5) / (k - 0.5)) / whole
        assert (decoded == k).mean() == pytest.approx(expected, abs=1.1e-5)


def test_big_linear_integers_are_uniform_up_to_both_ends() -> None:
    edges = np.array([0.49, 0.51]) / 50_001  # the cell of 0 ends at half a step past 0 ...
    assert BIG.decode(edges * 2) == [0, 1]
    assert BIG.decode(1 - edges * 2) == [50_000, 49_999]  # ... and the last one has the same width


def test_floats_are_uniform_on_their_scale() -> None:
    assert LINEAR.decode(np.array([0.0, 0.25, 1.0])) == pytest.approx([-3, -1, 5], abs=8 * ROUNDING)
    expected = [1e-6, 1e-4, 1e-1]
    assert LOG.decode(np.array([0.0, 0.4, 1.0])) == pytest.approx(expected, rel=12 * ROUNDING)


# --- bounds -----------------------------------------------------------------------------------


def test_rounding_past_a_bound_is_forgiven_and_clipped() -> None:
    assert LINEAR.encode([-3.0 - 7e-9, 5.0 + 7e-9]).tolist() == [0.0, 1.0]  # 1e-9 of 8
    assert LOG.encode([1e-6 * (1 - 9e-10), 1e-1 * (1 + 9e-10)]).tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        (LINEAR, -3.0 - 9e-9),
        (LINEAR, 5.0 + 9e-9),
        (LINEAR, math.nan),
        (LINEAR, None),
        (LINEAR, math.inf),
        (LOG, 1e-6 * (1 - 2e-9)),
        (Parameter("decades", "float", 1e-10, 1.0, log=True), 1e-12),
        (Parameter("decades", "float", 1e-10, 1.0, log=True), 0.0),
        (INT, 8),
        (BIG, 50_001),
    ],
)
def test_outside_the_range_is_refused(parameter: Parameter, value: Any) -> None:
    with pytest.raises(SpaceError) as refusal:
        parameter.encode([parameter.lower, value])
    says(refusal, f"'{parameter.name}'", repr(value), "widen the range")


@pytest.mark.parametrize("kind", ["categorical", "ordinal"])
def test_a_single_choice_is_no_parameter(kind: Any) -> None:
    with pytest.raises(SpaceError) as refusal:
        Parameter("solver", kind, choices=("lbfgs",))
    says(refusal, "'solver'", "fewer than two choices; make it a constant")


def says(refusal: pytest.ExceptionInfo[SpaceError], *parts: str) -> None:
    """One sentence, with each of these parts."""
    message = str(refusal.value)
    assert all(part in message for part in parts), message
    assert message.endswith(".")
    assert not re.search(r"[.!?]\s|\n", message), "more than one sentence"


@pytest.mark.parametrize("values", [["abc", 0.5], [None, "0.5", True, "abc"], [0.1, "abc"]])
def test_the_value_that_is_no_number_is_the_one_named(values: list[Any]) -> None:
    with pytest.raises(SpaceError) as refusal:
        LINEAR.encode(values)
    says(refusal, "'x'", "'abc'", "not a number", "make the parameter categorical")


def test_other_refused_values() -> None:
    with pytest.raises(SpaceError) as refusal:
        INT.encode([1, 2.5])
    says(refusal, "'k'", "2.5", "make the parameter a float")
    with pytest.raises(SpaceError) as refusal:
        MIXED.encode(["a", "b"])
    says(refusal, "'mixed'", "'b'", "'None', 'True', '1.5', 'a', '1'", "add the choice")
    for value in (12, 16.1, math.nan, True, None):
        with pytest.raises(SpaceError) as refusal:
            SIZES.encode([value])
        says(refusal, "'size'", repr(value), "'8', '16', '64', '512'", "add the choice")


@pytest.mark.parametrize(
    ("kind", "lower", "upper", "log", "parts"),
    [
        ("float", -math.inf, math.inf, False, ("finite bounds", "set lower and upper")),
        ("float", 0.0, math.nan, False, ("finite bounds", "set lower and upper")),
        ("float", 2.0, 1.0, False, ("2.0", "1.0", "widen its range")),
        ("integer", 3, 3, False, ("3", "make it a constant")),
        ("float", 0.0, 1.0, True, ("log scale from 0.0", "use a positive bound")),
        ("categorical", 0.0, 1.0, False, ("fewer than two choices", "make it a constant")),
    ],
)
def test_impossible_parameters_are_refused_where_they_are_made(
    kind: Kind, lower: float, upper: float, log: bool, parts: tuple[str, ...]
) -> None:
    with pytest.raises(SpaceError) as refusal:
        Parameter("strange", kind, lower, upper, log)
    says(refusal, "'strange'", *parts)


# --- conditions -------------------------------------------------------------------------------

THRESHOLDS: list[tuple[Parameter, Any]] = [
    (INT, 3),
    (LOG_INT, 10),
    (SIZES, 16),
    (GRADES, "middle"),
    (MIXED, True),
]


@pytest.mark.parametrize(("parameter", "value"), THRESHOLDS, ids=lambda v: getattr(v, "name", None))
def test_runs_hold_exactly_the_levels_that_python_says(parameter: Parameter, value: Any) -> None:
    assert parameter.values is not None
    position = list(parameter.values).index(value)
    levels = np.arange(len(parameter.values))
    expected: dict[Comparison, Any] = {
        "equal": levels == position,
        "not equal": levels != position,
        "greater": levels > position,
        "less": levels < position,
    }
    codes = parameter.encode(parameter.values)
    for comparison, truth in expected.items():
        runs = parameter.runs(comparison, value)
        assert (contains(runs, codes) == truth).all(), comparison
        weights = parameter.axis.weights()
        assert measure(runs) == pytest.approx(weights[truth].sum(), abs=ROUNDING)


def test_runs_of_a_set_are_joined_where_they_touch() -> None:
    assert SIZES.runs("in", (8, 16, 512)) == ((0.0, 0.5), (0.75, 1.0))
    assert SIZES.runs("in", [512]) == SIZES.runs("greater", 64) == ((0.75, 1.0),)
    assert SIZES.runs("less", 8) == SIZES.runs("greater", 512) == ()
    assert MIXED.runs("not equal", True) == ((0.0, 0.2), (0.4, 1.0))


@pytest.mark.parametrize(
    ("parameter", "value"), [(LINEAR, 1.0), (LINEAR, 0.3), (LOG, 1e-3), (LOG, 3e-5)]
)
def test_float_comparisons_are_strict(parameter: Parameter, value: float) -> None:
    here = float(parameter.encode([value])[0])
    x = np.array([here - 1e-9, here, here + 1e-9])
    assert contains(parameter.runs("greater", value), x).tolist() == [False, False, True]
    assert contains(parameter.runs("less", value), x).tolist() == [True, False, False]
    lengths = measure(parameter.runs("greater", value)), measure(parameter.runs("less", value))
    assert lengths == pytest.approx((1 - here, here), abs=ROUNDING)


@pytest.mark.parametrize("parameter", [LINEAR, LOG, BIG, BIG_LOG], ids=name_of)
def test_nothing_lies_past_the_bounds(parameter: Parameter) -> None:
    assert parameter.runs("greater", parameter.upper) == ()
    assert parameter.runs("less", parameter.lower) == ()


@pytest.mark.parametrize("parameter", [BIG, BIG_LOG], ids=name_of)
def test_big_integer_comparisons_agree_with_decoded_values(parameter: Parameter) -> None:
    latents = np.random.default_rng(0).random(20_000)
    values = np.array(parameter.decode(latents))
    for threshold in (1, 7, 1000):
        assert (
            contains(parameter.runs("greater", threshold), latents) == (values > threshold)
        ).all()
        assert (contains(parameter.runs("less", threshold), latents) == (values < threshold)).all()


@pytest.mark.parametrize("comparison", ["equal", "not equal", "in"])
def test_one_exact_value_of_a_continuous_axis_is_refused(comparison: Comparison) -> None:
    with pytest.raises(SpaceError) as refusal:
        LINEAR.runs(comparison, (1.0,) if comparison == "in" else 1.0)
    says(refusal, "'x'", "use greater or less")


# --- grid -------------------------------------------------------------------------------------


def test_grids() -> None:
    assert LOG.grid(5).tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert MIXED.decode(MIXED.grid(2)) == list(MIXED.choices)  # categories are never left out
    assert INT.decode(INT.grid(10)) == list(range(-2, 8))
    assert INT.decode(INT.grid(4)) == [-2, 1, 4, 7]  # at 0, 1/3, 2/3 (level 20/3), 1
    assert GRADES.decode(GRADES.grid(2)) == ["low", "high"]


@pytest.mark.parametrize("parameter", [LOG_INT, BIG, BIG_LOG], ids=name_of)
def test_grids_of_many_integers_are_codes_of_whole_numbers(parameter: Parameter) -> None:
    codes = parameter.grid(20)
    values = parameter.decode(codes)
    assert 10 <= len(codes) <= 20
    assert (np.diff(codes) > 0).all()
    assert (values[0], values[-1]) == (parameter.lower, parameter.upper)
    assert (parameter.encode(values) == codes).all()
