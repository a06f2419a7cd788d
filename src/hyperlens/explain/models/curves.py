"""The prediction for single configurations as one or two parameters move (ICE, Goldstein et al. 2015).

Symbols
    S        the explained columns, moved over a grid of g points
    m        configurations, drawn by Sobol' from the latents in which S is active
    mean, variance   (m, g): the surrogate's prediction at each
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from hyperlens.spaces.cube import Cube, FloatArray
from hyperlens.spaces.points import sample_active
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.surrogates.gaussian_process.gp import GP


class Predictor(Protocol):
    """Anything that predicts mean and standard deviation at vectors of the unit cube."""

    def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]: ...


def mean_of(model: Predictor, X: FloatArray) -> FloatArray:
    """The predicted mean alone, which a Gaussian process has far sooner than its uncertainty."""
    return model.mean(X) if isinstance(model, (Additive, GP)) else model.predict(X)[0]


def expected_at(model: Predictor, X: FloatArray) -> FloatArray:
    """What is expected to be the cost at single vectors X (n, d): of an additive process the mean of
    functions as they were drawn, which are exacter there than when they are written for the space."""
    return model.costs(X).mean(axis=1) if isinstance(model, Additive) else mean_of(model, X)


@dataclass(frozen=True)
class Curves:
    """One row a configuration, one column a grid point; nan where S cannot be active."""

    latents: FloatArray  # (m, d)
    mean: FloatArray
    variance: FloatArray


def curves(
    model: Predictor,
    cube: Cube,
    columns: tuple[int, ...],
    grid: FloatArray,
    size: int = 1024,
    seed: int = 0,
) -> Curves:
    """Predictions of `size` configurations along the grid (g, len(columns))."""
    latents = sample_active(cube, columns, size, seed)
    parents = {p for c in range(cube.d) for p in cube.parents(c)}
    if isinstance(model, GP) and not parents & set(columns):
        return Curves(latents, *model.curves(columns, grid, cube.vectors(latents)))
    if isinstance(model, Additive) and len(columns) == 1 and not parents & set(columns):
        return Curves(latents, *model.curves(columns[0], grid[:, 0], cube.vectors(latents)))
    mean, variance = np.full((2, len(latents), len(grid)), np.nan)
    for g, point in enumerate(grid):
        moved = latents.copy()
        moved[:, columns] = point
        valid = np.asarray(cube.active(moved)[:, columns].all(axis=1))
        if valid.any():
            predicted, std = model.predict(cube.vectors(moved[valid]))
            mean[valid, g], variance[valid, g] = predicted, std**2
    return Curves(latents, mean, variance)
