"""What tells the best part of the space from the rest, in functions that agree with the trials.

A search draws its trials where it is good, so that its best differ from the others by little, and by
other parameters than those that lead there; no resampling of trials can undo that. Functions drawn from
the surrogate can be asked everywhere: of each, the best part of evenly spread configurations is held
against all of them, by the same densities. Where the search has not been, functions differ, and
intervals are wide.

Symbols
    N, D     configurations (Sobol' points of the latents), drawn functions
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hyperlens.explain.top.regimes import importances, parts, places_of, top_of
from hyperlens.spaces.cube import FloatArray
from hyperlens.spaces.points import sobol
from hyperlens.spaces.space import Space
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.surrogates.threads import one_thread

POINTS = 4096  # N
FEWEST = 20  # of them that are the top, for densities to be of something


@dataclass(frozen=True)
class OverSpace:
    """Of each parameter, (d,): its share, the mean over functions, with an interval; and in which part
    of the functions it is the largest."""

    share: FloatArray
    low: FloatArray
    high: FloatArray
    first: FloatArray


def over_space(
    model: Additive, space: Space, quantile: float, level: float, seed: int
) -> OverSpace:
    """Shares over functions of a fitted process, which are as much wider as all its intervals."""
    size = max(POINTS, int(np.ceil(FEWEST / quantile)))
    X = space.cube.vectors(sobol(size, len(space), seed))
    X = X[~space.forbidden(X)]
    with one_thread():
        costs = model.costs(X)  # (N, D)
    places, rows = places_of(space, X), np.arange(len(X))
    drawn = np.array([parts(importances(places, rows, top_of(y, quantile)[0])) for y in costs.T])
    share = drawn.mean(axis=0)
    tails = [(1 - level) / 2, 0.5, (1 + level) / 2]
    left, middle, right = np.quantile(drawn, tails, axis=0)
    low = np.maximum(middle - model.widened * (middle - left), 0.0)
    high = np.minimum(middle + model.widened * (right - middle), 1.0)
    wider = middle + model.widened * (drawn - middle)
    first = np.bincount(wider.argmax(axis=1), minlength=len(space)) / len(drawn)
    return OverSpace(share, np.minimum(low, share), np.maximum(high, share), first)
