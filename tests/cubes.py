"""Random unit cubes with discrete axes and conditions, for tests by brute force."""

from __future__ import annotations

from functools import reduce
from itertools import combinations, product

import numpy as np
from hypothesis import strategies as st

from hyperlens.spaces.cube import Axis, Clause, Cube, FloatArray, Runs


@st.composite
def discrete_cubes(draw: st.DrawFn, most_axes: int = 4) -> Cube:
    """Cubes whose axes are all discrete, with nested, and-ed and or-ed conditions."""
    d = draw(st.integers(2, most_axes))
    axes = []
    for _ in range(d):
        levels = draw(st.integers(2, 4))
        if draw(st.booleans()):
            axes.append(Axis.categorical(levels))
        else:
            widths = np.array(draw(st.lists(st.integers(1, 3), min_size=levels, max_size=levels)))
            edges = np.concatenate([[0.0], np.cumsum(widths) / widths.sum()])
            axes.append(Axis(edges, (edges[:-1] + edges[1:]) / 2))
    conditions = {}
    for child in range(1, d):
        if draw(st.booleans()):
            clauses = draw(st.lists(_clause(axes, child), min_size=1, max_size=2))
            conditions[child] = tuple(clauses)
    return Cube(tuple(axes), conditions)


@st.composite
def _clause(draw: st.DrawFn, axes: list[Axis], child: int) -> Clause:
    parents = draw(st.sets(st.integers(0, child - 1), min_size=1, max_size=2))
    return tuple((p, draw(_levels(axes[p]))) for p in sorted(parents))


@st.composite
def _levels(draw: st.DrawFn, axis: Axis) -> Runs:
    some = draw(st.sets(st.integers(0, axis.levels - 1), min_size=1, max_size=axis.levels - 1))
    assert axis.edges is not None
    return tuple((float(axis.edges[k]), float(axis.edges[k + 1])) for k in sorted(some))


def every_latent(cube: Cube) -> tuple[FloatArray, FloatArray]:
    """One latent point in every cell of a discrete cube, and the measure of the cell."""
    middles, widths = [], []
    for axis in cube.axes:
        assert axis.edges is not None
        middles.append((axis.edges[:-1] + axis.edges[1:]) / 2)
        widths.append(np.diff(axis.edges))
    points = np.array(list(product(*middles)))
    weights = np.array([np.prod(w) for w in product(*widths)])
    return points, weights


def brute_force_shares(cube: Cube, f: FloatArray, order: int = 2) -> dict[tuple[int, ...], float]:
    """V_U of values on `every_latent` for all U up to an order; V itself under the empty set."""
    shape = tuple(a.levels for a in cube.axes)
    table = f.reshape(shape)
    weights = [np.diff(a.edges) for a in cube.axes if a.edges is not None]
    everything = range(len(shape))

    def average(over: set[int]) -> FloatArray:
        result = table
        for j in over:
            result = np.moveaxis(np.tensordot(result, weights[j], ([j], [0]))[..., None], -1, j)
        return result

    measure = reduce(np.multiply.outer, weights)
    parts: dict[tuple[int, ...], FloatArray] = {(): average(set(everything))}
    found: dict[tuple[int, ...], float] = {(): float(np.sum(measure * (table - parts[()]) ** 2))}
    for size in range(1, order + 1):
        for U in combinations(everything, size):
            smaller = [w for k in range(size) for w in combinations(U, k)]
            pure = average(set(everything) - set(U)) - sum(parts[w] for w in smaller)
            parts[U] = pure
            found[U] = float(np.sum(np.broadcast_to(pure, shape) ** 2 * measure))
    return found
