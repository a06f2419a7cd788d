"""Whether a search may measure a configuration again: where that pays.

Near a configuration of continuous parameters lie others that tell as much of it as a repeat. Categories
and whole numbers have none so near, and where costs are noisy the luckiest one would stay the best.
"""

from __future__ import annotations

import numpy as np

from hyperlens.spaces.cube import Cube, FloatArray
from hyperlens.surrogates.gaussian_process.gp import GP
from hyperlens.surrogates.random_forest.forest import Forest

NOISY = 1e-6  # part of the variance: costs with less noise than that are taken for exact


def repeats_pay(cube: Cube, model: GP | Forest, X: FloatArray, y: FloatArray) -> bool:
    """Is nothing continuous, and are costs noisy? What a surrogate takes for noise may be roughness, so
    that none is left once repeats agree."""
    if any(axis.codes is None for axis in cube.axes) or not isinstance(model, GP):
        return False
    return model.parameters.nugget > NOISY and not _repeats_agree(X, y)


def _repeats_agree(X: FloatArray, y: FloatArray) -> bool:
    """Was any configuration measured again, and each with the same cost?"""
    _, which, count = np.unique(
        np.nan_to_num(X, nan=-1.0), axis=0, return_inverse=True, return_counts=True
    )
    low, high = np.full(len(count), np.inf), np.full(len(count), -np.inf)
    np.minimum.at(low, which.ravel(), y)
    np.maximum.at(high, which.ravel(), y)
    again = count > 1
    return bool(again.any() and (low[again] == high[again]).all())
