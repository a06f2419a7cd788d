"""Rows from which hyperparameters are learnt: a crowd counts as few.

A search crowds where it is good. There, all effects look alike and costs hardly differ; a likelihood
over all rows is one of that corner, and what it says of length-scales and of interactions is then
believed of the whole space. So a row is learnt from if none before it lies nearer than rows of a random
design of this size usually do, by a factor. An exact repeat says how large the noise is and stays. A
random design loses next to nothing.

Symbols
    n        rows
    apart    distance below which a row belongs to a crowd
"""

from __future__ import annotations

import numpy as np
import scipy

from hyperlens.spaces.cube import Cube, FloatArray, IntArray

LOOKED_AT = 2000  # rows, at the most, drawn at random
NEAR = 0.5  # of the median distance to the nearest row in a random design
FEWEST = 40  # rows to learn from; with fewer a crowd is one that lies closer
CLOSER = 0.8
CROWDED = 0.3  # of the rows: where more lie in a crowd, predicting them shows nothing of the space


def spread_out(cube: Cube, X: FloatArray, most: int, rng: np.random.Generator) -> IntArray:
    """Which rows of vectors X (n, d), ascending, are learnt from; at most so many."""
    looked_at = np.sort(rng.permutation(len(X))[:LOOKED_AT])
    if len(X) > FEWEST:
        places = _places(cube, X[looked_at])
        apart = NEAR * _usual(cube, len(looked_at), rng)
        kept = _apart(places, apart)
        while len(kept) < FEWEST:
            apart *= CLOSER
            kept = _apart(places, apart)
        looked_at = looked_at[kept]
    return np.sort(rng.permutation(looked_at)[:most])


def crowd(cube: Cube, X: FloatArray, seed: int = 0) -> float:
    """The part of the rows X (n, d) that lie in one: next to nothing of a random design, half or more
    of a search that has found where it is good."""
    rng = np.random.default_rng(seed)
    some = X[np.sort(rng.permutation(len(X))[:LOOKED_AT])]
    if len(some) < 2:
        return 0.0
    kept = _apart(_places(cube, some), NEAR * _usual(cube, len(some), rng))
    return 1 - len(kept) / len(some)


def _apart(places: FloatArray, apart: float) -> IntArray:
    """Rows that are not nearer than that to one that was kept before, and exact repeats of one."""
    kept: list[int] = []
    for row, place in enumerate(places):
        nearest = np.square(places[kept] - place).sum(axis=1).min(initial=np.inf)
        if nearest >= apart**2 or nearest == 0:
            kept.append(row)
    return np.array(kept)


def _usual(cube: Cube, n: int, rng: np.random.Generator) -> float:
    """Median distance of n random rows to the nearest other one."""
    places = _places(cube, cube.vectors(rng.random((n, cube.d))))
    return float(np.median(scipy.spatial.cKDTree(places).query(places, k=2)[0][:, 1]))


def _places(cube: Cube, X: FloatArray) -> FloatArray:
    """Vectors as points whose distances count: two levels of a category lie 1 apart, and so do an
    active and an inactive parameter."""
    columns = []
    for axis, x in zip(cube.axes, X.T, strict=True):
        active = ~np.isnan(x)
        columns.append((~active)[:, None].astype(float))
        if axis.ordered:
            columns.append(np.where(active, x, 0.0)[:, None])
        else:
            levels = axis.level(np.where(active, x, 0.0))
            columns.append((levels[:, None] == np.arange(axis.levels)) * np.sqrt(0.5))
    return np.hstack(columns)
