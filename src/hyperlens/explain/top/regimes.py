"""Where trials lie on each parameter, who of them is the top, and how far that tells parameters apart.

PED-ANOVA (Watanabe et al. 2023), with conditions by regimes (Baba et al. 2026): a parameter matters as
far as the density of its values among the top differs from that among all, where it is active.

Symbols
    gamma    part of the trials that are the top
    alpha, beta   parts of the top, and of all trials, in which the parameter is active
    importance    gamma^2 alpha^2 / beta D (densities.py)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hyperlens.explain.top.densities import divergence, grid_size
from hyperlens.spaces.cube import BoolArray, FloatArray, IntArray
from hyperlens.spaces.parameter import Parameter
from hyperlens.spaces.space import Space

FEWEST_ACTIVE = 2  # trials of a regime that say something


@dataclass(frozen=True)
class Places:
    """Points of a parameter's grid: that of each trial, -1 where it is inactive."""

    at: IntArray
    size: int
    ordered: bool

    @staticmethod
    def of(parameter: Parameter, column: FloatArray) -> Places:
        active = ~np.isnan(column)
        at, axis = np.full(len(column), -1, dtype=np.int64), parameter.axis
        if not axis.ordered:
            at[active] = axis.level(column[active])
            return Places(at, axis.levels, False)
        if parameter.choices:
            level, size = axis.level(column[active]), grid_size(axis.levels, False, 0.0)
            at[active] = np.ceil(level * (size - 1) / max(axis.levels - 1, 1) - 0.5)
            return Places(at, size, True)
        span = float(parameter.upper - parameter.lower + 1) if axis.levels else 0.0
        size = grid_size(axis.levels, parameter.log, span)
        place = column[active]
        if axis.levels:  # levels own cells; the grid reaches from the first to the last
            values = np.array(parameter.decode(place), dtype=float)
            low, high = float(parameter.lower), float(parameter.upper)
            if parameter.log:
                values, low, high = np.log(values), math.log(low), math.log(high)
            place = (values - low) / (high - low) if high > low else 0 * values
        at[active] = np.clip(np.ceil(place * (size - 1) - 0.5), 0, size - 1)
        return Places(at, size, True)


def places_of(space: Space, X: FloatArray) -> list[Places]:
    """Of vectors X (n, d) on each parameter."""
    return [Places.of(p, X[:, j]) for j, p in enumerate(space.parameters)]


def top_of(y: FloatArray, quantile: float) -> tuple[BoolArray, float]:
    """The best part of the costs, those equal to the last one with it; and that cost."""
    last = math.ceil(quantile * len(y)) - 1
    bound = float(np.partition(y, last)[last])
    return y <= bound, bound


def importances(axes: list[Places], rows: IntArray, top: BoolArray) -> FloatArray:
    """Of each parameter, from some trials of which some are the top."""
    found = np.zeros(len(axes))
    gamma = top.sum() / len(rows)
    for j, axis in enumerate(axes):
        at = axis.at[rows]
        region = at >= 0
        mine = top & region
        if axis.size < 2 or region.sum() < FEWEST_ACTIVE or not mine.any():
            continue
        alpha, beta = mine.sum() / top.sum(), region.sum() / len(rows)
        best, all_ = (np.bincount(at[part], minlength=axis.size) for part in (mine, region))
        found[j] = gamma**2 * alpha**2 / beta * divergence(best, all_, axis.ordered)
    return found


def parts(importance: FloatArray) -> FloatArray:
    """Of the sum of all, equal ones where nothing tells anything."""
    total = importance.sum()
    return importance / total if total > 0 else np.full(len(importance), 1 / len(importance))
