"""What promises to lower the loss most in a second, of many configurations of a space of models.

One random forest learns the losses and another the seconds that they took; both are at home where most
hyperparameters are inactive. The expected improvement over the expected seconds is what a configuration
promises (Snoek et al. 2012 section 3.2).
"""

from __future__ import annotations

import numpy as np

from hyperlens.spaces.cube import Cube, FloatArray
from hyperlens.surrogates.acquisition import expected_improvement
from hyperlens.surrogates.random_forest.forest import Forest

TREES = 16
BAD = 0.6  # of the losses are told apart; those that are worse are all alike
AT_LEAST = 0.02  # seconds that asking and storing take beside any evaluation


def gain_per_second(
    candidates: FloatArray,
    X: FloatArray,
    losses: FloatArray,
    seconds: FloatArray,
    cube: Cube,
    seed: int = 0,
) -> FloatArray:
    """Of candidates (m, d), by losses (n,) and seconds (n,) that vectors X (n, d) came to."""
    told = np.minimum(losses, np.quantile(losses, BAD))
    mean, std = Forest(cube, TREES, seed, threads=1).fit(X, told).predict(candidates)
    gain = expected_improvement(mean, std, float(told.min()))
    spent = np.log(np.maximum(seconds, AT_LEAST))
    slowly, _ = Forest(cube, TREES, seed, threads=1).fit(X, spent).predict(candidates)
    return np.asarray(gain / np.exp(slowly))
