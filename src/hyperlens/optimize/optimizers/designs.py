"""Designs on the latents of a cube: Latin hypercubes, maximin ones, and plain uniform points."""

import numpy as np

from hyperlens.spaces.cube import Cube, FloatArray

TRIES = 100  # Latin hypercubes of which the best spread one is taken


def latin_hypercube(n: int, d: int, rng: np.random.Generator) -> FloatArray:
    """Random latents (n, d): on every axis each of the n equal cells holds exactly one.

    >>> points = latin_hypercube(4, 2, np.random.default_rng(0))
    >>> np.sort((4 * points).astype(int), axis=0).T.tolist()
    [[0, 1, 2, 3], [0, 1, 2, 3]]
    """
    cells = rng.permuted(np.tile(np.arange(n), (d, 1)), axis=1).T
    return np.asarray((cells + rng.random((n, d))) / max(n, 1))


def maximin(cube: Cube, n: int, rng: np.random.Generator, tries: int = TRIES) -> FloatArray:
    """Latents (n, d) of the Latin hypercube, among `tries`, whose two closest points lie farthest
    apart."""
    candidates = [latin_hypercube(n, cube.d, rng) for _ in range(tries)]
    return max(candidates, key=lambda latents: smallest_distance(cube, latents))


def smallest_distance(cube: Cube, latents: FloatArray) -> float:
    """Euclidean distance of the two closest points once discrete axes are snapped; different
    categories are 1 apart. Infinite for fewer than two points."""
    if len(latents) < 2:
        return float("inf")
    first, second = np.triu_indices(len(latents), 1)
    squared = np.zeros(len(first))
    for j, axis in enumerate(cube.axes):
        x = axis.snap(latents[:, j])
        step = x[first] - x[second]
        squared += step**2 if axis.codes is None or axis.ordered else step != 0
    return float(np.sqrt(squared.min()))


def uniform(cube: Cube, n: int, rng: np.random.Generator) -> FloatArray:
    """Vectors (n, d) uniform over the space."""
    return cube.vectors(rng.random((n, cube.d)))
