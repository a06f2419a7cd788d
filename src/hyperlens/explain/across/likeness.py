"""How alike runs are by the effects of their parameters: of each parameter, and as a map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from hyperlens.spaces.cube import FloatArray

if TYPE_CHECKING:
    from hyperlens.explain.across.pooled_effect import PooledEffect


def alike(effects: Sequence[PooledEffect]) -> FloatArray:
    """Mean correlation over pairs of runs, of each parameter; nan where an effect is flat."""
    found = []
    for one in effects:
        rows = np.nan_to_num(one.effect)
        size = np.linalg.norm(rows, axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            correlation = rows @ rows.T / np.outer(size, size)
        pairs = correlation[np.triu_indices(len(rows), 1)]
        known = np.isfinite(pairs)
        found.append(float(np.mean(pairs[known])) if known.any() else np.nan)
    return np.array(found)


def places(effects: Sequence[PooledEffect]) -> FloatArray:
    """Runs in a plane, as far apart as their effects (classical scaling), (runs, 2)."""
    rows = np.hstack([one.effect / np.sqrt(one.effect.shape[1]) for one in effects])
    rows = np.nan_to_num(rows)
    left, values, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    plane = (left * values)[:, :2]
    plane = np.pad(plane, ((0, 0), (0, 2 - plane.shape[1])))
    largest = np.abs(plane).argmax(axis=0)
    return np.asarray(plane * np.where(plane[largest, [0, 1]] < 0, -1.0, 1.0))
