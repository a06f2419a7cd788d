"""Costs that can be computed with: their squares, sums and differences are numbers."""

import numpy as np

from hyperlens.spaces.cube import FloatArray

LARGEST = 1e100  # by its size; a larger one is only known to be bad, or good


def bearable(costs: FloatArray) -> FloatArray:
    """Minimised costs, of which one that is too large is as bad as the worst of the others, and one
    that is too small is brought to the smallest.

    >>> bearable(np.array([1.0, 1e308, 2.0]))
    array([1., 2., 2.])
    """
    costs = np.maximum(np.asarray(costs, dtype=np.float64), -LARGEST)
    known = costs <= LARGEST
    return np.where(known, costs, costs[known].max() if known.any() else LARGEST)
