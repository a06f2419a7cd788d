"""The forest's leaves, shares and marginals against brute force."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from cubes import brute_force_shares, discrete_cubes, every_latent
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestRegressor

import hyperlens as hl
from hyperlens.spaces.cube import Axis, Cube, FloatArray, Runs, inside_box
from hyperlens.surrogates.random_forest import anova, cutting, pairs, partition
from hyperlens.surrogates.random_forest.boxes import Boxes, grid_cells
from hyperlens.surrogates.random_forest.forest import Forest

MIXED = Cube(
    (Axis.categorical(3), Axis(), Axis.categorical(4), Axis(), Axis()),
    {
        1: (((0, ((0.0, 1 / 3),)),),),  # active at the first level of axis 0
        2: (((0, ((1 / 3, 1.0),)),),),
        3: (((2, ((0.0, 0.25), (0.5, 0.75))),),),  # nested: below axis 2
        4: (((1, ((0.3, 0.6),)),), ((2, ((0.75, 1.0),)),)),  # either parent, one continuous
    },
)


def box_of(boxes: Boxes, latents: FloatArray) -> list[list[int]]:
    """Which boxes hold each latent point, by looking at every one."""
    d = len(boxes.ptr) - 1
    cells = grid_cells(boxes, tuple(range(d)), latents)
    found: list[list[int]] = [[] for _ in latents]
    for b in range(len(boxes.value)):
        inside = np.ones(len(latents), dtype=bool)
        for c in range(boxes.box_ptr[b], boxes.box_ptr[b + 1]):
            runs = range(boxes.run_ptr[c], boxes.run_ptr[c + 1])
            x = cells[:, boxes.axis[c]]
            inside &= np.any([(boxes.run_lo[r] <= x) & (x < boxes.run_hi[r]) for r in runs], axis=0)
        for i in np.flatnonzero(inside):
            found[i].append(b)
    return found


def random_cost(cube: Cube, X: FloatArray, rng: np.random.Generator) -> FloatArray:
    filled = np.nan_to_num(X, nan=-0.7)
    return np.sin(5 * filled @ rng.normal(size=cube.d)) + filled @ rng.normal(size=cube.d)


@given(cube=discrete_cubes(), seed=st.integers(0, 1000))
@settings(max_examples=60, deadline=None)
def test_boxes_part_the_latents_and_say_what_the_tree_says(cube: Cube, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = cube.vectors(rng.random((40, cube.d)))
    forest = Forest(cube, trees=2, seed=seed, threads=1).fit(X, random_cost(cube, X, rng))
    latents, measure = every_latent(cube)
    columns = forest.encoding.apply(cube.vectors(latents))
    for estimator in forest.estimators:
        boxes = forest.encoding.boxes(estimator.tree_)
        found = box_of(boxes, latents)
        assert all(len(b) == 1 for b in found)
        says = estimator.tree_.value[estimator.tree_.apply(columns), 0, 0]
        np.testing.assert_array_equal(boxes.value[[b[0] for b in found]], says)
        held = np.bincount([b[0] for b in found], weights=measure, minlength=len(boxes.value))
        np.testing.assert_allclose(boxes.weight, held, atol=1e-12)


def test_boxes_of_a_mixed_conditional_cube_with_continuous_parents() -> None:
    rng = np.random.default_rng(3)
    X = MIXED.vectors(rng.random((300, MIXED.d)))
    forest = Forest(MIXED, trees=5, threads=1).fit(X, random_cost(MIXED, X, rng))
    latents = rng.random((2000, MIXED.d))
    columns = forest.encoding.apply(MIXED.vectors(latents))
    for estimator in forest.estimators:
        boxes = forest.encoding.boxes(estimator.tree_)
        assert boxes.weight.sum() == pytest.approx(1.0, abs=1e-12)
        found = box_of(boxes, latents)
        assert all(len(b) == 1 for b in found)
        says = estimator.tree_.value[estimator.tree_.apply(columns), 0, 0]
        np.testing.assert_array_equal(boxes.value[[b[0] for b in found]], says)


@given(cube=discrete_cubes(), seed=st.integers(0, 1000))
@settings(max_examples=60, deadline=None)
def test_shares_equal_enumeration_of_all_latents(cube: Cube, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = cube.vectors(rng.random((40, cube.d)))
    forest = Forest(cube, trees=1, seed=seed, threads=1).fit(X, random_cost(cube, X, rng))
    tree = forest.estimators[0].tree_
    latents, _ = every_latent(cube)
    says = tree.value[tree.apply(forest.encoding.apply(cube.vectors(latents))), 0, 0]
    expected = brute_force_shares(cube, says, 3)
    _, variance, parts = anova.shares(forest.encoding.boxes(tree), 2)
    assert variance == pytest.approx(expected[()], abs=1e-12)
    found = forest.shares(3)
    if not found.flat:
        for effect, share in zip(found.effects, found.shares[0], strict=True):
            assert share * variance == pytest.approx(expected[effect], abs=1e-12)
            if len(effect) < 3:
                assert parts[effect[0], effect[-1]] == pytest.approx(expected[effect], abs=1e-12)


def test_sweep_and_cells_give_the_same_variance() -> None:
    rng = np.random.default_rng(1)
    X = MIXED.vectors(rng.random((400, MIXED.d)))
    forest = Forest(MIXED, trees=3, threads=1).fit(X, random_cost(MIXED, X, rng))
    checked = 0
    for estimator in forest.estimators:
        boxes = forest.encoding.boxes(estimator.tree_)
        moment = boxes.weight * (boxes.value - boxes.weight @ boxes.value)
        for i in range(MIXED.d):
            for j in range(i + 1, MIXED.d):
                members = _members(boxes, i, j)
                if len(members):
                    grid = np.empty(np.diff(boxes.ptr)[i] * np.diff(boxes.ptr)[j])
                    cells = pairs._by_cells(boxes, moment, members, i, j, grid)
                    sweep = pairs._by_sweep(boxes, moment, members, i, j)
                    assert sweep == pytest.approx(cells, abs=1e-12)
                    checked += cells > 1e-6
    assert checked > 10


def _members(boxes: Boxes, i: int, j: int) -> np.ndarray:
    rows = []
    for b in range(len(boxes.value)):
        at = {int(boxes.axis[c]): c for c in range(boxes.box_ptr[b], boxes.box_ptr[b + 1])}
        if i in at and j in at:
            rows.append((b, at[i], at[j]))
    return np.array(rows, dtype=np.int32).reshape(-1, 3)


@given(cube=discrete_cubes(), seed=st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_marginals_are_averages_over_the_latents_where_the_axes_are_active(
    cube: Cube, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    X = cube.vectors(rng.random((40, cube.d)))
    forest = Forest(cube, trees=2, seed=seed, threads=1).fit(X, random_cost(cube, X, rng))
    latents, measure = every_latent(cube)
    active = cube.active(latents)
    columns = (cube.d - 1,) if cube.d % 2 else (0, cube.d - 1)
    known = active[:, list(columns)].all(axis=1)
    if not known.any():
        return
    seen = forest.encoding.apply(cube.vectors(latents))
    grid = np.unique(latents[known][:, list(columns)], axis=0)
    ours = forest.marginals(columns, grid)
    for t, estimator in enumerate(forest.estimators):
        says = estimator.tree_.value[estimator.tree_.apply(seen), 0, 0]
        for g, point in enumerate(grid):
            here = known & (latents[:, list(columns)] == point).all(axis=1)
            expected = np.average(says[here], weights=measure[here])
            assert ours[t, g] == pytest.approx(expected, abs=1e-12)


@given(cube=discrete_cubes(), seed=st.integers(0, 1000), cut=st.booleans())
@settings(max_examples=40, deadline=None)
def test_pointwise_variance_is_the_average_of_the_predicted_ones(
    cube: Cube, seed: int, cut: bool
) -> None:
    """Over every latent cell where the columns, and those of the region, are active and inside."""
    rng = np.random.default_rng(seed)
    X = np.repeat(cube.vectors(rng.random((15, cube.d))), 2, axis=0)  # leaves with a spread
    forest = Forest(cube, trees=3, seed=seed, threads=1).fit(X, rng.normal(size=len(X)))
    latents, measure = every_latent(cube)
    columns = (cube.d - 1,) if cube.d % 2 else (0, cube.d - 1)
    region: dict[int, Runs] = {}
    if cut and 1 not in columns:
        edges = cube.axes[1].edges
        assert edges is not None
        ends = [(float(a), float(b)) for a, b in pairwise(edges)]
        region = {1: tuple(ends[k] for k in range(0, len(ends), 2))}
    known = cube.active(latents)[:, [*columns, *region]].all(axis=1)
    known &= inside_box(latents, region)
    if not known.any():
        return
    grid = np.unique(latents[known][:, list(columns)], axis=0)
    ours = forest.pointwise(columns, grid, region)
    variance = forest.predict(cube.vectors(latents))[1] ** 2
    for g, point in enumerate(grid):
        here = known & (latents[:, list(columns)] == point).all(axis=1)
        expected = np.average(variance[here], weights=measure[here])
        assert ours[g] == pytest.approx(expected, abs=1e-12)


def test_the_band_of_a_big_forest_is_sampled_unless_asked_for_exactly() -> None:
    space = hl.Space.of([hl.Parameter(name, "float", 0.0, 1.0) for name in "ab"])
    X = space.sample(300, 0)
    costs = np.random.default_rng(0).normal(size=300)
    trials = (
        hl.Trial(i, v, (c,)) for i, (v, c) in enumerate(zip(space.decode(X), costs, strict=True))
    )
    history = hl.History(space, (hl.Objective("loss"),), tuple(trials))
    sampled = hl.effect(history, "a", surrogate="forest", grid=4)
    exact = hl.effect(history, "a", surrogate="forest", grid=4, exact=True)
    assert any("Sobol'" in note for note in sampled.notes)
    assert not any("Sobol'" in note for note in exact.notes)
    np.testing.assert_array_equal(sampled.mean, exact.mean)
    np.testing.assert_allclose(sampled.std, exact.std, rtol=0.05)
    assert (sampled.std != exact.std).any()


def test_neither_names_nor_order_of_columns_change_the_shares() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((80, 4))
    y = X[:, 0] * X[:, 1] + X[:, 2]
    order = np.array([2, 0, 3, 1])
    one = Forest(trees=8).fit(X, y).shares()
    other = Forest(trees=8).fit(X[:, order], y).shares()
    named = {
        frozenset(order[list(u)].tolist()): other.shares[:, k] for k, u in enumerate(other.effects)
    }
    for k, effect in enumerate(one.effects):
        np.testing.assert_allclose(named[frozenset(effect)], one.shares[:, k], atol=1e-12)


def test_prediction_is_scikit_learns_mean() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((60, 3)), rng.normal(size=60)
    forest = Forest(trees=16).fit(X, y)
    columns = forest.encoding.apply(X)
    sklearns = RandomForestRegressor(16, random_state=0).fit(columns, y)
    np.testing.assert_allclose(forest.predict(X)[0], sklearns.predict(columns), atol=1e-12)


def test_a_tree_that_has_not_seen_a_configuration_has_not_seen_its_repeats() -> None:
    """What was drawn for each configuration cannot be told from others, but from its repeats."""
    rng = np.random.default_rng(0)
    X, own = rng.random((30, 3)), rng.normal(size=30)
    forest = Forest().fit(np.repeat(X, 4, axis=0), np.repeat(own, 4))
    mean, _ = forest.holdout(np.arange(120))
    assert np.mean((mean - np.repeat(own, 4)) ** 2) > 0.9 * own.var()
    assert mean.std() > 0.1  # by trees, and not by the mean of all costs


def test_prediction_has_the_spread_of_trees_and_leaves() -> None:
    rng = np.random.default_rng(0)
    X = np.repeat(rng.random((30, 3)), 2, axis=0)  # duplicates: leaves with spread of their own
    y = rng.normal(size=60)
    forest = Forest(trees=16).fit(X, y)
    _, std = forest.predict(X)
    columns = forest.encoding.apply(X)
    each = np.array([e.tree_.value[e.tree_.apply(columns), 0, 0] for e in forest.estimators])
    leaf = np.array([e.tree_.impurity[e.tree_.apply(columns)] for e in forest.estimators])
    np.testing.assert_allclose(std**2, each.var(axis=0) + leaf.mean(axis=0), atol=1e-12)


def test_a_constant_cost_leaves_no_tree_with_variance() -> None:
    X = np.random.default_rng(0).random((20, 2))
    shares = Forest(trees=4).fit(X, np.ones(20)).shares()
    assert shares.flat == 4
    assert shares.shares.shape == (0, 3)


def test_what_numba_keeps_in_files_has_one_form() -> None:
    """Files of two forms may be swapped by two processes that compile at once, and then they crash."""
    rng = np.random.default_rng(0)
    X = MIXED.vectors(rng.random((40, MIXED.d)))
    for cube, x in ((MIXED, X), (Cube(tuple(Axis() for _ in range(2))), rng.random((40, 2)))):
        for y in (rng.random(40), np.ones(40)):  # trees of one node have arrays of one number
            Forest(cube, trees=2, threads=1).fit(x, y).shares()
    entrances = (partition.partition, cutting.cut, anova.shares)
    assert [len(entrance.signatures) for entrance in entrances] == [1, 1, 1]


def test_holdout_asks_only_trees_that_have_not_seen_a_row() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((40, 2)), rng.normal(size=40)
    forest = Forest(trees=12).fit(X, y)
    mean, _ = forest.holdout(np.arange(40))
    columns = forest.encoding.apply(X)
    bags = RandomForestRegressor(12, random_state=0).fit(columns, y).estimators_samples_
    for row in range(40):
        voters = [e for e, bag in zip(forest.estimators, bags, strict=True) if row not in bag]
        says = [e.predict(columns[[row]])[0] for e in voters]
        assert mean[row] == pytest.approx(np.mean(says) if says else y.mean(), abs=1e-12)


def test_growing_forests_in_threads_leaves_warnings_as_they_are() -> None:
    X = np.random.default_rng(0).random((30, 3))
    before = list(warnings.filters)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda k: Forest(trees=4, seed=k).fit(X, X[:, 0]), range(60)))
    assert list(warnings.filters) == before


def test_any_number_of_threads_gives_the_same_trees() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((50, 3)), rng.normal(size=50)
    one, two = (Forest(trees=8, threads=t).fit(X, y).shares().shares for t in (1, 3))
    np.testing.assert_array_equal(one, two)
