"""The unit cube: scenarios and boxes against brute force over cells and sampled latents.

Weights are sums and products of fewer than 100 numbers below one, each rounded to 2^-53, so
1e-12 is well above what rounding can do and far below the measure of any cell here.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import numpy as np
import pytest
from cubes import discrete_cubes, every_latent
from hypothesis import given
from hypothesis import strategies as st

from hyperlens.spaces.cube import (
    WHOLE,
    Axis,
    BoolArray,
    Box,
    Cube,
    FloatArray,
    Runs,
    Scenario,
    contains,
    intersect,
    measure,
)

ROUNDING = 1e-12

AND_OR = Cube(
    (Axis(), Axis.categorical(3), Axis(), Axis()),
    # 2: x0 in [.2, .5) or [.7, 1], and category 0;  3: x0 < .3, or category 2
    {
        2: (((0, ((0.2, 0.5), (0.7, 1.0))), (1, ((0.0, 1 / 3),))),),
        3: (((0, ((0.0, 0.3),)),), ((1, ((2 / 3, 1.0),)),)),
    },
)
NESTED = Cube(
    (Axis(), Axis(), Axis.categorical(2), Axis()),
    # 3 <- 1 <- 0 in a chain, and the parents stand after their children in the order of columns
    {1: (((3, ((0.25, 1.0),)),),), 0: (((1, ((0.0, 0.5),)), (2, ((0.5, 1.0),))),)},
)
DIAMOND = Cube(
    (Axis(), Axis(), Axis(), Axis()),
    # 1 and 2 exclude each other; 3 hangs on either of them
    {
        1: (((0, ((0.0, 0.4),)),),),
        2: (((0, ((0.4, 1.0),)),),),
        3: (((1, ((0.5, 1.0),)),), ((2, ((0.0, 0.1),)),)),
    },
)
RANGE = Cube(  # the same parent twice in one clause: .25 < x0 < .75
    (Axis(), Axis()), {1: (((0, ((0.25, 1.0),)), (0, ((0.0, 0.75),))),)}
)
ALWAYS = Cube((Axis(), Axis()), {1: (((0, WHOLE),),)})  # a condition that every parent fulfils
HAND_MADE = {
    "and/or": AND_OR,
    "nested": NESTED,
    "diamond": DIAMOND,
    "range": RANGE,
    "always": ALWAYS,
}


def in_scenario(scenario: Scenario, latents: FloatArray) -> BoolArray:
    inside = np.ones(len(latents), dtype=bool)
    for column, runs in zip(scenario.columns, scenario.runs, strict=True):
        if runs is not None:
            inside &= contains(runs, latents[:, column])
    return inside


def in_box(box: Box, latents: FloatArray) -> BoolArray:
    inside = np.ones(len(latents), dtype=bool)
    for column, runs in box.items():
        inside &= contains(runs, latents[:, column])
    return inside


def times_covered(masks: Iterable[BoolArray]) -> list[int]:
    return sorted(set(np.sum(list(masks), axis=0).tolist()))


def box_measure(box: Box) -> float:
    return float(np.prod([measure(runs) for runs in box.values()]))


def check_scenarios(cube: Cube, latents: FloatArray) -> None:
    """Every latent lies in exactly one scenario, which tells its activity; weights sum to one."""
    scenarios = list(cube.scenarios(tuple(range(cube.d))))
    active = cube.active(latents)
    assert times_covered(in_scenario(s, latents) for s in scenarios) == [1]
    assert sum(s.weight for s in scenarios) == pytest.approx(1.0, abs=ROUNDING)
    for scenario in scenarios:
        assert sorted(scenario.columns) == list(range(cube.d))
        expected = np.array([runs is not None for runs in scenario.runs])
        there = active[in_scenario(scenario, latents)][:, list(scenario.columns)]
        assert (there == expected).all()
        sides = [measure(runs) for runs in scenario.runs if runs is not None]
        assert scenario.weight == pytest.approx(float(np.prod(sides)), abs=ROUNDING)


def check_boxes(cube: Cube, latents: FloatArray) -> None:
    """The boxes of a column part the latents into where it is active and where it is not."""
    for column in range(cube.d):
        on, off = cube.activity_boxes(column)
        boxes = (*on, *off)
        assert times_covered(in_box(b, latents) for b in boxes) == [1]
        assert sum(map(box_measure, boxes)) == pytest.approx(1.0, abs=ROUNDING)
        is_on = np.zeros(len(latents), dtype=bool)
        for box in on:
            is_on |= in_box(box, latents)
        assert (is_on == cube.active(latents)[:, column]).all()
        assert all(set(b) <= cube.ancestors(column) for b in boxes)
        assert WHOLE not in [runs for b in boxes for runs in b.values()]


@given(discrete_cubes())
def test_scenarios_of_discrete_cubes_against_every_cell(cube: Cube) -> None:
    latents, _ = every_latent(cube)
    check_scenarios(cube, latents)


@given(discrete_cubes())
def test_scenario_weights_are_the_measure_of_their_cells(cube: Cube) -> None:
    latents, weights = every_latent(cube)
    for scenario in cube.scenarios(tuple(range(cube.d))):
        cells = weights[in_scenario(scenario, latents)].sum()
        assert scenario.weight == pytest.approx(cells, abs=ROUNDING)


@given(discrete_cubes())
def test_activity_boxes_of_discrete_cubes_against_every_cell(cube: Cube) -> None:
    latents, _ = every_latent(cube)
    check_boxes(cube, latents)


@pytest.mark.parametrize("name", HAND_MADE)
def test_scenarios_and_boxes_with_continuous_parents(name: str) -> None:
    latents = np.random.default_rng(0).random((4000, HAND_MADE[name].d))
    check_scenarios(HAND_MADE[name], latents)
    check_boxes(HAND_MADE[name], latents)


def test_activity_by_hand() -> None:
    points = np.array([[0.1, 0.1, 0.5, 0.5], [0.6, 0.9, 0.5, 0.5], [0.8, 0.1, 0.5, 0.5]])
    # x0=.1: 2 off, 3 on (x0 < .3). x0=.6, category 2: 3 on. x0=.8, category 0: 2 on, 3 off.
    assert AND_OR.active(points)[:, 2:].tolist() == [[False, True], [False, True], [True, False]]


def test_activity_of_a_chain_needs_every_ancestor() -> None:
    # column 0 needs x1 < .5 and category 1, and column 1 needs x3 >= .25
    points = np.array([[0.5, 0.1, 0.9, 0.9], [0.5, 0.1, 0.9, 0.1], [0.5, 0.9, 0.9, 0.9]])
    assert NESTED.active(points)[:, :2].tolist() == [[True, True], [False, False], [False, True]]


def test_probability_of_being_active_by_hand() -> None:
    def chance(cube: Cube, column: int) -> float:
        return sum(map(box_measure, cube.activity_boxes(column)[0]))

    assert chance(AND_OR, 2) == pytest.approx(0.6 / 3, abs=ROUNDING)
    assert chance(AND_OR, 3) == pytest.approx(1 - 0.7 * 2 / 3, abs=ROUNDING)
    assert chance(NESTED, 0) == pytest.approx(0.75 * 0.5 * 0.5, abs=ROUNDING)
    assert chance(DIAMOND, 3) == pytest.approx(0.4 * 0.5 + 0.6 * 0.1, abs=ROUNDING)
    assert chance(RANGE, 1) == pytest.approx(0.5, abs=ROUNDING)


def test_scenarios_of_some_columns_do_not_cut_for_the_others() -> None:
    # without column 2 nothing splits x0 at .2, .5 or .7
    runs = {s.runs[0] for s in AND_OR.scenarios((0, 1, 3))}
    assert runs == {((0.0, 0.3),), ((0.3, 1.0),)}


def test_the_single_number_between_less_and_greater_is_no_scenario() -> None:
    past = float(np.nextafter(0.5, 1.0))
    cube = Cube(
        (Axis(), Axis(), Axis()),
        {1: (((0, ((0.0, 0.5),)),),), 2: (((0, ((past, 1.0),)),),)},
    )
    weights = [s.weight for s in cube.scenarios((0, 1, 2))]
    assert weights == pytest.approx([0.5, 0.5], abs=ROUNDING)


def test_parents_ancestors_and_order() -> None:
    assert NESTED.parents(0) == {1, 2}
    assert NESTED.ancestors(0) == {1, 2, 3}
    assert DIAMOND.ancestors(3) == {0, 1, 2}
    assert NESTED.order == (2, 3, 1, 0)


@given(discrete_cubes(most_axes=5))
def test_order_puts_parents_before_children(cube: Cube) -> None:
    place = {c: i for i, c in enumerate(cube.order)}
    assert sorted(cube.order) == list(range(cube.d))
    assert all(place[p] < place[c] for c in range(cube.d) for p in cube.parents(c))


@given(discrete_cubes(most_axes=5))
def test_blocks_are_the_connected_components_of_the_conditions(cube: Cube) -> None:
    linked = np.eye(cube.d, dtype=bool)
    for child in range(cube.d):
        for parent in cube.parents(child):
            linked[child, parent] = linked[parent, child] = True
    reach = np.linalg.matrix_power(linked.astype(int), cube.d) > 0
    assert sorted(c for block in cube.blocks for c in block) == list(range(cube.d))
    block_of = {c: i for i, block in enumerate(cube.blocks) for c in block}
    for a, b in combinations(range(cube.d), 2):
        assert (block_of[a] == block_of[b]) == reach[a, b]
    for block in cube.blocks:
        assert list(block) == [c for c in cube.order if c in block]


def test_blocks_by_hand() -> None:
    cube = Cube((Axis(),) * 5, {4: (((0, ((0.0, 0.5),)),),), 3: (((2, ((0.0, 0.5),)),),)})
    assert set(cube.blocks) == {(0, 4), (1,), (2, 3)}


@given(discrete_cubes())
def test_vectors_are_nan_exactly_where_inactive(cube: Cube) -> None:
    latents = np.random.default_rng(1).random((200, cube.d))
    seen, active = cube.vectors(latents), cube.active(latents)
    assert (np.isnan(seen) == ~active).all()
    for j, axis in enumerate(cube.axes):
        assert axis.codes is not None
        codes = axis.codes[axis.level(latents[:, j])]
        assert (seen[active[:, j], j] == codes[active[:, j]]).all()


def test_vectors_leave_the_latents_alone_and_know_no_columns() -> None:
    latents = np.full((2, 2), 0.1)
    assert np.isnan(RANGE.vectors(latents)).tolist() == [[False, True]] * 2
    assert (latents == 0.1).all()
    assert Cube(()).vectors(np.empty((3, 0))).shape == (3, 0)
    assert Cube.continuous(3).vectors(np.full((1, 3), 0.25)).tolist() == [[0.25] * 3]


# --- axes -------------------------------------------------------------------------------------


def test_level_and_snap_by_hand() -> None:
    axis = Axis(np.array([0.0, 0.1, 0.6, 1.0]), np.array([0.02, 0.3, 0.9]))
    latent = np.array([0.0, 0.0999, 0.1, 0.59, 0.6, 1.0])
    assert axis.level(latent).tolist() == [0, 0, 1, 1, 2, 2]
    assert axis.snap(latent).tolist() == [0.02, 0.02, 0.3, 0.3, 0.9, 0.9]
    assert axis.levels == 3
    assert Axis().levels == 0
    assert Axis().snap(latent).tolist() == latent.tolist()
    assert not Axis.categorical(4).ordered


@given(st.integers(2, 60))
def test_snapping_twice_is_snapping_once(levels: int) -> None:
    axis = Axis.categorical(levels)
    assert axis.codes is not None
    assert axis.level(axis.codes).tolist() == list(range(levels))
    once = axis.snap(np.linspace(0, 1, 97))
    assert (axis.snap(once) == once).all()


@st.composite
def some_runs(draw: st.DrawFn) -> Runs:
    """Disjoint runs between multiples of 1/16, possibly none, possibly reaching 1."""
    ends = sorted(draw(st.sets(st.integers(0, 16), max_size=8)))
    return tuple((a / 16, b / 16) for a, b in zip(ends[::2], ends[1::2], strict=False))


PROBES = (np.arange(32) + 0.5) / 32  # two in each sixteenth, none on an end


@given(some_runs(), st.integers(2, 9))
def test_axis_weights_sum_to_the_measure_of_the_runs(runs: Runs, levels: int) -> None:
    axis = Axis.categorical(levels)
    assert axis.weights(runs).sum() == pytest.approx(measure(runs), abs=ROUNDING)
    assert axis.weights() == pytest.approx(np.full(levels, 1 / levels), abs=ROUNDING)


@given(some_runs())
def test_axis_weights_are_the_common_length_with_each_cell(runs: Runs) -> None:
    axis = Axis(np.array([0.0, 0.25, 0.3125, 1.0]), np.array([0.1, 0.3, 0.5]))
    cells: list[Runs] = [((0.0, 0.25),), ((0.25, 0.3125),), ((0.3125, 1.0),)]
    common = [measure(intersect(cell, runs)) for cell in cells]
    assert axis.weights(runs).tolist() == common  # sixteenths are exact


@given(some_runs(), some_runs())
def test_intersect_is_the_set_of_common_points(a: Runs, b: Runs) -> None:
    common = intersect(a, b)
    assert (contains(common, PROBES) == contains(a, PROBES) & contains(b, PROBES)).all()
    assert common == intersect(b, a)
    assert intersect(a, WHOLE) == a
    assert intersect(a, a) == a
    assert measure(common) <= min(measure(a), measure(b))
    assert list(common) == sorted(common)
    assert all(low < high for low, high in common)  # runs that only touch have nothing in common


@given(some_runs())
def test_measure_is_the_share_of_an_even_grid_inside(runs: Runs) -> None:
    assert measure(runs) == contains(runs, PROBES).mean()  # both exact: multiples of 1/32


def test_runs_are_half_open_and_the_last_one_owns_the_end() -> None:
    x = np.array([0.0, 0.2, 0.5, 0.7, 1.0])
    assert contains(((0.2, 0.5),), x).tolist() == [False, True, False, False, False]
    assert contains(((0.0, 0.2), (0.5, 1.0)), x).tolist() == [True, False, True, True, True]
    assert not contains((), x).any()
    assert measure(()) == 0
