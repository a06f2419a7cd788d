"""What is beyond chance where several parameters are asked at once (Holm 1979)."""

from collections.abc import Sequence

import numpy as np

from hyperlens.spaces.cube import FloatArray

BY_CHANCE = 0.05  # the chance that anything is said of a parameter of which nothing is so
EACH = (
    40  # permutations a parameter, so that the smallest p-value is below the level of one of them
)


def beyond_chance(parameters: Sequence[str], p: FloatArray) -> list[str]:
    """The parameters of which something is so, the surest first.

    >>> beyond_chance(("a", "b", "c"), np.array([0.2, 0.002, 0.03]))
    ['b']
    """
    found: list[str] = []
    for k, j in enumerate(np.argsort(p, kind="stable").tolist()):
        if p[j] > BY_CHANCE / (len(p) - k):
            break
        found.append(parameters[j])
    return found
