"""Whether a search may measure a configuration again: where that pays.

Near a configuration of continuous parameters lie others that tell as much of it as a repeat. Categories
and whole numbers have none so near, and where costs are noisy the luckiest one would stay the best.
"""

from __future__ import annotations

import numpy as np

from hyperlens.spaces.cube import Cube, FloatArray
from hyperlens.spaces.points import configurations_of
from hyperlens.surrogates.additive.true_costs import Measured
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
    which = configurations_of(X)
    _, first = np.unique(which, return_index=True)
    return Measured(X[first], y, which).exact
