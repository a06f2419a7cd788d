"""Regions by confidence splitting, against brute force and hand-made functions."""

from __future__ import annotations

import re
from functools import partial
from itertools import combinations

import numpy as np
import pytest
from cubes import discrete_cubes, every_latent
from hypothesis import given
from hypothesis import strategies as st

import hyperlens as hl
from hyperlens.explain.effects.splits import category_split, impurity, ordered_split
from hyperlens.explain.models.curves import curves
from hyperlens.spaces.cube import Axis, Cube, FloatArray, inside_box
from hyperlens.spaces.parameter import Parameter
from hyperlens.spaces.rules import sides
from hyperlens.surrogates import GP, Forest
from hyperlens.surrogates.additive.additive import Additive


def study(n: int = 60, seed: int = 0) -> hl.History:
    """A run that looked mostly at small `a`; `child` exists only for kind y."""
    space = hl.Space.of(
        [
            hl.Parameter("a", "float", 1e-3, 1.0, log=True),
            hl.Parameter("b", "float", 0.0, 2.0),
            hl.Parameter("k", "integer", 1, 5),
            hl.Parameter("kind", "categorical", choices=("x", "y", "z")),
            hl.Parameter("child", "float", 0.0, 1.0),
        ],
        {"child": ((("kind", "equal", "y"),),)},
    )
    rng = np.random.default_rng(seed)
    latents = rng.random((n, 5))
    latents[:, space.column("a")] **= 3
    trials = []
    for i, values in enumerate(space.decode(space.cube.vectors(latents))):
        cost = (np.log10(values["a"]) + 2) ** 2 + values["b"] * (values["kind"] == "x")
        cost += 0.1 * values["k"] + values.get("child", 0.5)
        trials.append(hl.Trial(i, values, (float(cost),)))
    return hl.History(space, (hl.Objective("loss"),), tuple(trials))


# Splits


def two_sides(T: FloatArray, left: np.ndarray) -> float:
    return impurity(T) - impurity(T[left]) - impurity(T[~left])


@given(st.integers(4, 25), st.integers(1, 3), st.integers(1, 3), st.integers(0, 999))
def test_threshold_is_the_best_of_all(n: int, g: int, least: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, T = rng.integers(0, 6, n) / 6.0, rng.normal(size=(n, g))
    options = [x <= t for t in np.unique(x)[:-1]]
    gains = [two_sides(T, s) for s in options if least <= s.sum() <= n - least]
    found = ordered_split(7, x, T, least)
    if not gains:
        assert found is None
        return
    assert found is not None
    assert found.gain == pytest.approx(max(gains), abs=1e-9)
    assert two_sides(T, found.left) == pytest.approx(found.gain, abs=1e-9)


@given(st.integers(6, 30), st.integers(2, 6), st.integers(1, 3), st.integers(0, 999))
def test_subset_of_levels_is_the_best_of_all(n: int, levels: int, g: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    level, T = rng.integers(0, levels, n), rng.normal(size=(n, g))
    present = np.unique(level)
    gains = [
        two_sides(T, np.isin(level, chosen))
        for k in range(1, len(present))
        for chosen in combinations(present, k)
    ]
    found = category_split(0, level, T, 1)
    if len(present) < 2:
        assert found is None
        return
    assert found is not None
    assert found.gain == pytest.approx(max(gains), abs=1e-9)
    assert two_sides(T, found.left) == pytest.approx(found.gain, abs=1e-9)


def test_a_cut_lies_strictly_between_the_nearest_points() -> None:
    x, left = np.array([0.1, 0.14]), np.array([True, False])
    assert sides(Parameter("x", "float", 0, 1), Axis(), x, left) == (((0.0, 0.12),), ((0.12, 1.0),))


def test_many_levels_are_split_by_what_most_rows_differ_in() -> None:
    """Ten levels of 50 rows lie at (1, 0) or (-1, 0); two single rows at (0, 5) and (0, -5)."""
    curves = np.array([[(-1.0) ** k, 0.0] for k in range(10)] + [[0.0, 5.0], [0.0, -5.0]])
    level = np.r_[np.repeat(np.arange(10), 50), 10, 11]
    split = category_split(0, level, curves[level], 1)
    assert split is not None
    sides = [set(split.left[level % 2 == k][:-1].tolist()) for k in (0, 1)]
    assert sides in ([{True}, {False}], [{False}, {True}])


def test_many_levels_of_a_single_number_are_split_optimally() -> None:
    """With one number a level the best subset is contiguous in the levels' means (Fisher 1958)."""
    rng = np.random.default_rng(0)
    level, T = rng.integers(0, 12, 200), rng.normal(size=(200, 1))
    best = max(
        two_sides(T, np.isin(level, chosen))
        for k in range(1, 12)
        for chosen in combinations(range(12), k)
    )
    found = category_split(0, level, T, 1)
    assert found is not None
    assert found.gain == pytest.approx(best)


# Curves


def test_curves_are_predictions_row_by_row() -> None:
    history = study()
    cube = history.space.cube
    column = history.space.column("a")
    grid = np.linspace(0, 1, 4)[:, None]
    for name in ("gp", "forest"):
        model = hl.fit(history, name).model
        drawn = curves(model, cube, (column,), grid, 32)
        for g, x in enumerate(grid[:, 0]):
            moved = drawn.latents.copy()
            moved[:, column] = x
            mean, std = model.predict(cube.vectors(moved))
            np.testing.assert_allclose(drawn.mean[:, g], mean, atol=1e-10)
            np.testing.assert_allclose(drawn.variance[:, g], std**2, atol=1e-10)


def test_curves_of_a_parent_switch_its_children() -> None:
    history = study()
    cube, column = history.space.cube, history.space.column("kind")
    model = hl.fit(history, "gp").model
    codes, _ = history.space.grid("kind")
    drawn = curves(model, cube, (column,), codes[:, None], 16)
    moved = drawn.latents.copy()
    moved[:, column] = codes[1]
    np.testing.assert_allclose(drawn.mean[:, 1], model.predict(cube.vectors(moved))[0], atol=1e-12)


@given(discrete_cubes(), st.integers(0, 99))
def test_share_of_a_box_is_the_measure_of_its_latents(cube: Cube, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points, measure = every_latent(cube)
    column = int(rng.integers(cube.d))
    other = int(rng.integers(cube.d))
    edges = cube.axes[column].edges
    assert edges is not None
    box = {column: ((0.0, float(edges[1])),)}
    active = cube.active(points)
    held = active[:, column] & active[:, other] & inside_box(points, box)
    assert cube.share(box, (other,)) == pytest.approx(measure[held].sum(), abs=1e-12)


# Trees of regions


@pytest.mark.parametrize("surrogate", ["gp", "forest"])
def test_the_whole_effect_is_the_weighted_mean_of_the_leaves(surrogate: str) -> None:
    history = study()
    found = hl.regions(history, "a", levels=2, surrogate=surrogate, sample=256)
    assert len(found.leaves) >= 3
    shares = np.array([leaf.share for leaf in found.leaves])
    assert shares.sum() == pytest.approx(1.0, abs=1e-12)
    whole = hl.effect(history, "a", surrogate=surrogate)
    np.testing.assert_allclose(shares @ [r.mean for r in found.leaves], whole.mean, atol=1e-9)
    if surrogate == "gp":
        np.testing.assert_allclose(
            shares @ [r.std**2 for r in found.leaves], whole.std**2, atol=1e-9
        )


def test_the_effect_in_a_region_is_the_average_of_its_predictions() -> None:
    history = study()
    found = hl.regions(history, "b", levels=2, surrogate="gp")
    cube, column = history.space.cube, history.space.column("b")
    codes, _ = history.space.grid("b")
    model = hl.fit(history, "gp").model
    latents = np.random.default_rng(1).random((60_000, cube.d))
    for leaf in found.leaves:
        inside = latents[inside_box(latents, leaf.box)]
        active = cube.active(inside)[:, list(leaf.box)].all(axis=1)
        inside = inside[active]
        assert len(inside) / len(latents) == pytest.approx(leaf.share, abs=0.01)
        inside[:, column] = codes[3]
        mean, std = model.predict(cube.vectors(inside))
        error = 4 * mean.std() / np.sqrt(len(inside)) + 1e-9
        assert leaf.mean[3] == pytest.approx(mean.mean(), abs=error)
        spread = 4 * (std**2).std() / np.sqrt(len(inside)) + 1e-9
        assert leaf.std[3] ** 2 == pytest.approx(np.mean(std**2), abs=spread)


def test_rules_name_every_trial_once_and_the_best_in_one_leaf() -> None:
    """The rules, read as conditions on trials, choose the trials that each leaf counts."""
    history = study()
    tree = hl.regions(history, "a", levels=3, surrogate="gp")
    assert sum(leaf.trials for leaf in tree.leaves) == 60
    assert [leaf.holds_best for leaf in tree.leaves].count(True) == 1
    assert len({leaf.rule for leaf in tree.leaves}) == len(tree.leaves) == 8
    for leaf in tree.leaves:
        condition = re.sub(r"kind is (\w)", r"kind == '\1'", leaf.rule)
        inside = history.select(where=condition).trials
        assert len(inside) == leaf.trials
        assert (history.best() in inside) == leaf.holds_best


def test_splitting_parts_what_is_known_well_from_what_is_not() -> None:
    """Variances are means of the leaves', so some leaf lies below the whole and some above."""
    found = hl.regions(study(), "a", levels=3)
    spread = [leaf.confidence for leaf in found.leaves]
    assert min(spread) < 0.9 * found.tree[0].confidence
    assert max(spread) > 1.1 * found.tree[0].confidence


def test_growing_by_hand_and_taking_back() -> None:
    history = study()
    tree = hl.regions(history, "a", levels=0)
    assert [r.rule for r in tree.leaves] == ["everywhere"]
    once = tree.split(0)
    assert [r.rule for r in once.tree] == [r.rule for r in hl.regions(history, "a", levels=1).tree]
    twice = once.split(1)
    assert len(twice.leaves) == 3
    assert [r.rule for r in twice.merge(1).leaves] == [r.rule for r in once.leaves]
    assert twice.merge(0).leaves[0].children is None
    with pytest.raises(hl.AnalysisError, match="no leaf 0"):
        twice.split(0)


def test_stopping_rules() -> None:
    history = study()
    regions = partial(hl.regions, surrogate="gp")
    assert len(regions(history, "a", splits=4).leaves) == 5
    first = regions(history, "a", splits=1)
    assert first.tree[1].rule == regions(history, "a", levels=1).tree[1].rule
    assert len(regions(history, "a", levels=2, min_improvement=0.99).leaves) == 1
    sizes = [r.points for r in regions(history, "a", levels=4, min_size=100).leaves]
    assert min(sizes) >= 100
    whole = first.tree[0].confidence
    assert len(regions(history, "a", until=1.01 * whole).leaves) == 1
    steps = regions(history, "b", until=0.9 * regions(history, "b", levels=0).tree[0].confidence)
    assert steps.best is not None
    if not steps.notes:
        assert steps.best.confidence <= 0.9 * steps.tree[0].confidence
    hopeless = regions(history, "a", until=0.0, min_size=200)
    assert any("No further split" in note for note in hopeless.notes)
    with pytest.raises(hl.AnalysisError, match="exclude each other"):
        regions(history, "a", levels=1, splits=1)


@pytest.mark.parametrize("criterion", ["l2", "area", "variance", "mean"])
def test_every_criterion_splits(criterion: str) -> None:
    found = hl.regions(study(), "b", levels=1, criterion=criterion)  # type: ignore[arg-type]
    assert len(found.leaves) == 2


def test_a_conditional_parameter_counts_only_where_it_is_active() -> None:
    history = study()
    found = hl.regions(history, "child", levels=2)
    assert all("kind" not in leaf.rule for leaf in found.leaves)  # it is y in all of them
    active = sum("child" in t.values for t in history.trials)
    assert sum(leaf.trials for leaf in found.leaves) == active


def test_a_constant_surrogate_of_variance_100_has_a_band_of_10() -> None:
    """Moosbauer et al. 2021 Appendix A.1: not 0, as the spread of the curves' means would say."""

    class Constant:
        def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
            return np.full(len(X), 3.0), np.full(len(X), 10.0)

    effect = hl.effect(study(), "a", surrogate=Constant())
    np.testing.assert_allclose(effect.std, 10.0)
    np.testing.assert_allclose(effect.mean, 3.0)
    assert any("Sobol'" in note for note in effect.notes)


def test_given_surrogates_are_averaged_as_our_own() -> None:
    history = study()
    model = hl.fit(history, "gp").model

    class Wrapped:
        def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
            return model.predict(X)

    sampled = hl.effect(history, "b", surrogate=Wrapped())
    exact = hl.effect(history, "b", surrogate="gp")
    scale = np.ptp(history.data().y)
    np.testing.assert_allclose(sampled.mean, exact.mean, atol=0.01 * scale)
    np.testing.assert_allclose(sampled.std, exact.std, rtol=0.02)


# Bias and interactions


def test_discrepancy_is_the_double_sum() -> None:
    from hyperlens.explain.run.bias import discrepancy, gram

    rng = np.random.default_rng(0)
    P = rng.random((9, 2))
    K = gram(P)
    n, m = 4, 5
    inner = sum(K[i, j] for i in range(n) for j in range(n)) / n**2
    outer = sum(K[i, j] for i in range(n, 9) for j in range(n, 9)) / m**2
    cross = sum(K[i, j] for i in range(n) for j in range(n, 9)) / (n * m)
    assert discrepancy(K, n) == pytest.approx(np.sqrt(inner + outer - 2 * cross))
    distances = [np.linalg.norm(P[i] - P[j]) for i in range(9) for j in range(i)]
    assert K[0, 1] == pytest.approx(
        np.exp(-(np.linalg.norm(P[0] - P[1]) ** 2) / (2 * np.median(distances) ** 2))
    )


def test_bias_names_the_parameter_that_was_searched_unevenly() -> None:
    found = hl.bias(study(100))
    assert found.parameters[0] == "a"
    assert found.parameter_p[0] < 0.01
    assert found.mmd > found.expected
    assert found.p < 0.05
    assert len(found.path) == len(found.iteration)
    assert found.iteration[-1] == 100
    assert found.path[-1] == pytest.approx(found.mmd)


def test_an_even_search_is_not_called_biased() -> None:
    space = study().space
    p = []
    for seed in range(12):
        values = space.decode(space.sample(60, seed + 100))
        trials = tuple(hl.Trial(i, v, (0.0,)) for i, v in enumerate(values))
        p.append(hl.bias(hl.History(space, (hl.Objective("y"),), trials), seed=seed).p)
    assert sum(x <= 0.05 for x in p) <= 3  # 12 draws at 5 %: more than 3 has probability 0.002


def test_friedmans_h_of_sums_and_products() -> None:
    space = hl.Space.of([hl.Parameter(n, "float", 0.0, 1.0) for n in "abc"])
    values = space.decode(space.sample(120, 1))
    trials = tuple(
        hl.Trial(i, v, (v["a"] + 4 * (v["b"] - 0.5) * (v["c"] - 0.5),))
        for i, v in enumerate(values)
    )
    found = hl.interactions(hl.History(space, (hl.Objective("y"),), trials))
    h = dict(zip(found.pairs, found.h, strict=True))
    assert found.pairs[0] == ("b", "c")
    assert h["b", "c"] > 0.97
    assert h["a", "b"] < 0.1
    assert (found.low <= found.h).all()
    assert (found.h <= found.high).all()


def test_an_interval_of_h_is_as_much_wider_than_the_posterior_as_those_of_shares() -> None:
    """A run that went where it is good: its beginning surprises the rest."""
    rng = np.random.default_rng(0)
    space = hl.Space.of([hl.Parameter(n, "float", 0.0, 1.0) for n in "abc"])
    X = np.vstack([rng.random((20, 3)), 0.15 * rng.random((60, 3))])
    y = np.exp(3 * X[:, 0]) + 4 * X[:, 1] * X[:, 2] + 0.05 * rng.normal(size=80)
    costs = zip(space.decode(X), y.tolist(), strict=True)
    trials = tuple(hl.Trial(i, v, (c,)) for i, (v, c) in enumerate(costs))
    history = hl.History(space, (hl.Objective("y"),), trials)
    model = hl.fit(history, "additive").model
    assert isinstance(model, Additive)
    effects, drawn = model.drawn_shares(2)
    found = hl.interactions(history, surrogate="additive", level=0.9, effects=0)
    for pair, h, low, high in zip(found.pairs, found.h, found.low, found.high, strict=True):
        at = [effects.index((space.column(n),)) for n in pair]
        both = effects.index(tuple(sorted(space.column(n) for n in pair)))
        each = np.sqrt(drawn[both] / (drawn[at].sum(axis=0) + drawn[both]))
        first, middle, last = np.quantile(each, [0.05, 0.5, 0.95])
        assert high == pytest.approx(max(h, min(1, middle + model.widened * (last - middle))))
        assert low == pytest.approx(min(h, max(0, middle - model.widened * (middle - first))))


def test_friedmans_h_is_that_of_the_partial_dependences() -> None:
    history = study()
    found = hl.interactions(history, surrogate="gp", level=None)
    h = {frozenset(pair): value for pair, value in zip(found.pairs, found.h, strict=True)}
    both = hl.effect(history, ("b", "k"), surrogate="gp", grid=40)
    b, k = (hl.effect(history, name, surrogate="gp", grid=40) for name in ("b", "k"))
    table = both.mean.reshape(len(b.mean), len(k.mean))
    weights = np.full(len(b.mean), 1.0)
    weights[[0, -1]] = 0.5  # trapezoids on the continuous axis
    weights = (weights / weights.sum())[:, None] / len(k.mean)
    centre = (weights * table).sum()
    pure = table - b.mean[:, None] - k.mean[None, :] + centre
    ratio = (weights * pure**2).sum() / (weights * (table - centre) ** 2).sum()
    assert h[frozenset({"b", "k"})] == pytest.approx(np.sqrt(ratio), abs=0.01)


def test_models_are_what_their_names_say() -> None:
    assert isinstance(hl.fit(study(), "gp").model, GP)
    assert isinstance(hl.fit(study(), "forest").model, Forest)
