"""Where trials lie on one parameter, as densities on a grid, and how far two of them are apart.

A kernel for each occupied point of the grid, as wide as Scott's rule says, and one that is all over it
with the weight of one trial (Watanabe et al. 2023): discretised normals on ordered grids, a lifted
level for categories.

Symbols
    G        points of a grid
    counts   trials at each point, (G,)
    D        Pearson divergence of p from q: sum of q (p / q - 1)^2
"""

import numpy as np
import scipy

from hyperlens.spaces.cube import FloatArray, IntArray

STEPS = 50  # of a grid, at the most
PRIOR = 1.0  # weight of the kernel that is all over the grid, in trials
NARROWEST = 0.5 / 1.64  # standard deviation of a kernel: nine tenths of it within one step
NONE = 1e-12  # added to densities


def grid_size(levels: int, log: bool, span: float) -> int:
    """Points of an ordered parameter: its levels if they are few; of integers by their logarithm one
    for each doubling of `span`, how many there are."""
    if levels and log:
        return min(int(np.ceil(np.log2(span))) + 1, STEPS)
    return min(levels, STEPS) if levels else STEPS


def ordered_density(counts: IntArray) -> FloatArray:
    """Of trials on an ordered grid, (G,)."""
    G = len(counts)
    at = np.flatnonzero(counts)
    weights = counts[at].astype(float)
    n, heap = weights.sum(), np.cumsum(weights)
    mean = at @ weights / n
    spread = np.sqrt((at - mean) ** 2 @ weights / max(1.0, n - 1))
    first = np.searchsorted(heap, n // 4, side="left")
    third = min(len(at) - 1, int(np.searchsorted(heap, n * 3 // 4, side="right")))
    width = 1.059 * min((at[third] - at[first]) / 1.34, spread) * n**-0.2
    mu = np.append(at, (G - 1) / 2)
    sigma = np.append(np.full(len(at), max(width, NARROWEST)), float(G))
    edges = scipy.special.ndtr((np.arange(G + 1)[:, None] - 0.5 - mu) / sigma)
    kernels = np.diff(edges, axis=0) / (edges[-1] - edges[0])
    return np.asarray(kernels @ np.append(weights, PRIOR) / (n + PRIOR))


def category_density(counts: IntArray) -> FloatArray:
    """Of trials on categories, (G,)."""
    at = np.flatnonzero(counts)
    lifted = np.full((len(at) + 1, len(counts)), PRIOR / (len(at) + 1))
    lifted[np.arange(len(at)), at] += 1
    lifted /= lifted.sum(axis=1, keepdims=True)
    weights = np.append(counts[at], PRIOR)
    return np.asarray(weights @ lifted / weights.sum())


def divergence(top: IntArray, region: IntArray, ordered: bool) -> float:
    """D of the density of the top's counts from that of all, both on one grid."""
    density = ordered_density if ordered else category_density
    p, q = density(top) + NONE, density(region) + NONE
    return float(q @ (p / q - 1) ** 2)
