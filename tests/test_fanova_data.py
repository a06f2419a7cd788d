"""Functional ANOVA against recorded numbers: a tree by hand arithmetic, and the Online LDA grid."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import hyperlens as hl
from hyperlens import Parameter, Space
from hyperlens.spaces.cube import Axis, Cube, IntArray
from hyperlens.surrogates.random_forest import anova
from hyperlens.surrogates.random_forest.boxes import Boxes
from hyperlens.surrogates.random_forest.leaves import Encoding

Find = Callable[[str], Path]

RANGE = 100.0  # of x1
CUTOFFS = {
    "no_cutoff": (-np.inf, np.inf),
    "cutoffs(-inf,3.5)": (-np.inf, 3.5),
    "cutoffs(-inf,2.5)": (-np.inf, 2.5),
    "cutoffs(2.25,2.75)": (2.25, 2.75),
}


@pytest.fixture
def toy(data: Find) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(data("fanova_fixtures/expected_toy.json").read_text())
    return found


def toy_boxes(toy: dict[str, Any], low: float = -np.inf, high: float = np.inf) -> Boxes:
    """Boxes of the recorded tree, as scikit-learn would hold it, its leaves cut off at two ends.

    Columns are x1, then "x2 is 0", "x2 is 1", "x2 is 2": a 0 goes right.
    """
    splits = toy["tree"]["splits"]
    root, left = (float(splits[node].removeprefix("x1<=")) / RANGE for node in ("root", "left"))
    assert splits["right"] == "x2 in {0}"
    one, two, zero, other = np.clip(toy["tree"]["leaves"], low, high)
    tree = SimpleNamespace(
        children_left=np.array([1, 3, 5, -1, -1, -1, -1]),
        children_right=np.array([2, 4, 6, -1, -1, -1, -1]),
        feature=np.array([0, 0, 1, -2, -2, -2, -2]),
        threshold=np.array([root, left, 0.5, -2, -2, -2, -2]),
        value=np.array([0, 0, 0, one, two, other, zero]).reshape(-1, 1, 1),
    )
    return Encoding(Cube((Axis(), Axis.categorical(3)))).boxes(tree)


def cell(boxes: Boxes, axis: int, code: float) -> int:
    ends = boxes.edges[boxes.ptr[axis] : boxes.ptr[axis + 1]]
    return int(np.searchsorted(ends, code, side="right") - 1)


def marginal(boxes: Boxes, **values: float) -> float:
    """The average over the other parameter; x2 is given by its level."""
    codes = {"x1": lambda v: v / RANGE, "x2": lambda v: (v + 0.5) / 3}
    axes: IntArray = np.array([("x1", "x2").index(name) for name in values], dtype=np.int64)
    cells = [
        cell(boxes, j, codes[n](v)) for j, (n, v) in zip(axes.tolist(), values.items(), strict=True)
    ]
    return float(anova.marginal(boxes, axes, np.array([cells], dtype=np.int64))[0])


@pytest.mark.parametrize("name", CUTOFFS)
def test_mean_and_variance_of_the_recorded_tree(toy: dict[str, Any], name: str) -> None:
    mean, variance, _ = anova.shares(toy_boxes(toy, *CUTOFFS[name]), 2)
    expected = toy[name]
    # the file prints its thresholds with nine decimals, of a range of 100
    assert mean == pytest.approx(expected.get("root") or expected["node_marginals"][0], abs=1e-9)
    assert variance == pytest.approx(expected["total_variance"], abs=1e-9)


@pytest.mark.parametrize("name", ["no_cutoff", "cutoffs(-inf,3.5)"])
def test_marginals_of_the_recorded_tree(toy: dict[str, Any], name: str) -> None:
    boxes = toy_boxes(toy, *CUTOFFS[name])
    asked = [key for key in toy[name] if key.startswith("marg(")]
    assert len(asked) >= 4
    for key in asked:
        pairs = (part.split("=") for part in key[5:-1].split(","))
        found = marginal(boxes, **{n: float(v) for n, v in pairs})
        assert found == pytest.approx(toy[name][key], abs=1e-9), key


def test_leaves_of_the_recorded_tree_have_the_recorded_sizes(toy: dict[str, Any]) -> None:
    boxes = toy_boxes(toy)
    sizes = dict(zip(boxes.value.tolist(), boxes.weight.tolist(), strict=True))
    expected = dict(zip(toy["tree"]["leaves"], toy["subspace_sizes"][3:], strict=True))
    for value, size in expected.items():
        assert sizes[value] == pytest.approx(size / toy["subspace_sizes"][0], abs=1e-10)


def test_shares_of_the_recorded_tree_by_hand(toy: dict[str, Any]) -> None:
    """Main effects are variances of marginals; with two parameters the pair is what remains."""
    boxes = toy_boxes(toy)
    mean, variance, parts = anova.shares(boxes, 2)
    widths = np.diff([0.0, 0.19955408871, 0.59537304438, 1.0])
    first = [marginal(boxes, x1=x) - mean for x in (10, 50, 90)]
    second = [marginal(boxes, x2=x) - mean for x in (0, 1, 2)]
    assert parts[0, 0] == pytest.approx(float(widths @ np.square(first)), abs=1e-12)
    assert parts[1, 1] == pytest.approx(float(np.mean(np.square(second))), abs=1e-12)
    assert parts[0, 1] == pytest.approx(variance - parts[0, 0] - parts[1, 1], abs=1e-12)


# Online LDA: 6 x 6 x 8 grid, each point measured: the exact ANOVA is known (Hutter et al. 2014 4.1)


@pytest.fixture
def grid(data: Find) -> pd.DataFrame:
    return pd.read_csv(data("online_lda/online_lda_grid.csv"))


@pytest.fixture
def exact(data: Find) -> dict[str, dict[frozenset[str], float]]:
    """Percent of the variance by effect."""
    found = json.loads(data("fanova_fixtures/expected_online_lda_exact.json").read_text())
    return {
        cost: {frozenset(k.split(":")): v for k, v in found[cost].items() if k != "variance"}
        for cost in ("perplexity", "runtime_s")
    }


def shares(
    grid: pd.DataFrame, rows: pd.DataFrame, cost: str, order: int, seed: int = 0
) -> dict[frozenset[str], float]:
    """Percent by effect as a forest sees it, largest first."""
    levels = {n: tuple(np.unique(grid[n]).tolist()) for n in ("kappa", "tau0", "S")}
    space = Space.of([Parameter(n, "ordinal", choices=v, default=v[0]) for n, v in levels.items()])
    run = hl.read(rows, space=space, objective=cost)
    found = hl.importance(run, order, surrogate="forest", level=None, seed=seed)
    return {
        frozenset(u): 100 * float(s) for u, s in zip(found.parameters, found.share, strict=True)
    }


@pytest.mark.parametrize("cost", ["perplexity", "runtime_s"])
@pytest.mark.parametrize("seed", range(3))
def test_a_forest_on_the_whole_grid_agrees_with_its_exact_anova(
    grid: pd.DataFrame, exact: dict[str, dict[frozenset[str], float]], cost: str, seed: int
) -> None:
    found = shares(grid, grid, cost, order=3, seed=seed)
    large = {u: share for u, share in exact[cost].items() if share > 5}
    assert len(large) >= 4
    for effect, share in large.items():
        assert found[effect] == pytest.approx(share, abs=3), sorted(effect)


def test_forests_on_100_random_points_rank_as_the_grid_does(grid: pd.DataFrame) -> None:
    expected = [frozenset({"S"}), frozenset({"kappa", "S"})]
    right = sum(
        list(shares(grid, grid.sample(100, random_state=draw), "perplexity", order=2))[:2]
        == expected
        for draw in range(10)
    )
    assert right >= 9
