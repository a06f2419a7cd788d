"""Interactions of two players that explain a game most faithfully (Tsai et al. 2023).

The faithful index of order two is the game that is a sum over single players and pairs, nearest to the
given one under the weights of the Shapley kernel, and equal to it for nobody and for everybody. Of order
one it would be the Shapley values.

Symbols
    m        players
    v        worth of every coalition, (2^m, games); of nobody 0
    Z        which singles and pairs are inside a coalition, (2^m, m + m (m - 1) / 2)
"""

import math
from itertools import combinations

import numpy as np

from hyperlens.explain.tunability.lattice import members
from hyperlens.spaces.cube import FloatArray


def faithful_pairs(worth: FloatArray) -> FloatArray:
    """Of each pair in the order of `combinations`, (pairs, games), from the worth of all coalitions.

    >>> faithful_pairs(np.array([[0.0], [1.0], [3.0], [10.0]])).round(9).tolist()
    [[6.0]]
    """
    m = len(worth).bit_length() - 1
    pairs = list(combinations(range(m), 2))
    if not pairs:
        return np.empty((0, worth.shape[1]))
    inside = members(m)
    Z = np.hstack([inside, np.array([inside[:, a] & inside[:, b] for a, b in pairs]).T])
    proper, everyone = Z[1:-1].astype(float), Z[-1].astype(float)
    size = inside[1:-1].sum(axis=1)
    root = np.sqrt([1 / (math.comb(m, s) * s * (m - s)) for s in size])[:, None]
    gains = worth - worth[0]
    # What everybody has is met exactly: the last pair is what the others leave of it
    last, most = gains[-1], proper[:, -1:]
    A = root * (proper[:, :-1] - most * everyone[:-1])
    b = root * (gains[1:-1] - most * last)
    solved = np.linalg.lstsq(A, b, rcond=None)[0]
    index = np.vstack([solved, last - everyone[:-1] @ solved])
    return np.asarray(index[m:])
