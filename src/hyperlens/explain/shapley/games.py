"""Shapley values of games whose worth is known for every coalition (Shapley 1953; Croppi 2021 Eq. 6).

Symbols
    m        players; a coalition is a number whose bit j says whether player j is in it
    v        worth of a coalition; several games are solved side by side
"""

import math

import numpy as np

from hyperlens.spaces.cube import FloatArray


def shapley(worth: FloatArray) -> FloatArray:
    """Values (m, games) from the worth (2^m, games) of every coalition.

    phi_j = sum over S without j of |S|! (m - 1 - |S|)! / m! (v(S + j) - v(S)).

    >>> shapley(np.array([[0.0], [1.0], [3.0], [10.0]]))[:, 0].tolist()
    [4.0, 6.0]
    """
    m = len(worth).bit_length() - 1
    if len(worth) != 1 << m:
        raise ValueError(f"{len(worth)} coalitions are not all of any number of players")
    games = worth.shape[1]
    if m == 0:
        return np.empty((0, games))
    table = worth.reshape((2,) * m + (games,))
    weight = coalition_weights(m)
    phi = np.empty((m, games))
    for j in range(m):
        without, joined = np.moveaxis(table, m - 1 - j, 0).reshape(2, -1, games)
        phi[j] = weight @ (joined - without)  # Croppi 2021 Eq. 6
    return phi


def coalition_weights(m: int) -> FloatArray:
    """Weight of each of the 2^(m - 1) coalitions of the others; they sum to one."""
    by_size = np.array([1 / (m * math.comb(m - 1, s)) for s in range(m)])
    size = np.zeros(1, dtype=np.int64)
    for _ in range(m - 1):
        size = np.concatenate([size, size + 1])
    return np.asarray(by_size[size])
