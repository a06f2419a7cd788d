"""Random unit cubes with discrete axes and conditions, for tests by brute force."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import strategies as st

from hyperlens.cube import Axis, Clause, Cube, FloatArray, Runs


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


def brute_force_shares(cube: Cube, f: FloatArray) -> tuple[float, FloatArray]:
    """Variance, and V_U for main effects (diagonal) and pairs, of values on `every_latent`."""
    shape = tuple(a.levels for a in cube.axes)
    table = f.reshape(shape)
    weights = [np.diff(a.edges) for a in cube.axes if a.edges is not None]
    d = len(shape)

    def average(over: tuple[int, ...]) -> FloatArray:
        result = table
        for j in over:
            result = np.tensordot(result, weights[j], axes=([j], [0]))[..., None]
            result = np.moveaxis(result, -1, j)
        return result

    everything = tuple(range(d))
    mean = average(everything)
    parts = np.zeros((d, d))
    mains = []
    for j in range(d):
        mains.append(average(tuple(k for k in everything if k != j)) - mean)
        parts[j, j] = float(np.sum(mains[j].ravel() ** 2 * weights[j]))
    for i in range(d):
        for j in range(i + 1, d):
            both = average(tuple(k for k in everything if k not in (i, j)))
            pure = both - mean - mains[i] - mains[j]
            measure = weights[i][:, None] * weights[j][None, :]
            parts[i, j] = float(np.sum(pure.reshape(shape[i], shape[j]) ** 2 * measure))
    all_weights = np.array([np.prod(w) for w in product(*weights)])
    variance = float(np.sum(all_weights * (f - mean.ravel()) ** 2))
    return variance, parts
