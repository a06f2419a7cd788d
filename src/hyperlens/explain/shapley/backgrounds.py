"""What a configuration is compared with: the whole space, its surroundings, or another one.

A background is latents (B, d). Where a configuration leaves a parameter inactive, that parameter's
latent is free, and drawn from the whole axis.
"""

from typing import Literal

import numpy as np
import scipy

from hyperlens.spaces.cube import Cube, FloatArray
from hyperlens.spaces.points import sobol

Kind = Literal["global", "local", "hybrid"]
KINDS: tuple[Kind, ...] = ("global", "local", "hybrid")

SIZE = 1024
WIDTH = 0.2  # of a local background, in parts of an axis


def background(
    kind: Kind,
    cube: Cube,
    vector: FloatArray,
    size: int = SIZE,
    width: float = WIDTH,
    seed: int = 0,
) -> FloatArray:
    """Sobol' points of the space, of a box of the given width around a vector, or half of each."""
    latents = sobol(size, cube.d, seed)
    if kind == "global":
        return latents
    first = 0 if kind == "local" else size // 2  # both halves of a Sobol' sequence are even
    latents[first:] = near(cube, vector, latents[first:], width)
    return latents


def near(cube: Cube, vector: FloatArray, latents: FloatArray, width: float) -> FloatArray:
    """Uniform latents moved into a box around a vector, which ends where the axes end.

    Categories have no neighbours: with probability `width` any of them, else that of the vector.
    """
    moved = latents.copy()
    for j, (axis, x) in enumerate(zip(cube.axes, vector, strict=True)):
        if np.isnan(x):
            continue
        if axis.ordered:
            low, high = max(x - width / 2, 0.0), min(x + width / 2, 1.0)
            moved[:, j] = low + latents[:, j] * (high - low)
        else:
            moved[:, j] = np.where(latents[:, j] < width, latents[:, j] / width, x)
    return moved


def single(cube: Cube, vector: FloatArray, size: int = SIZE, seed: int = 0) -> FloatArray:
    """One configuration: a single row, or many where it leaves parameters inactive."""
    inactive = np.isnan(vector)
    if not inactive.any():
        return vector[None].copy()
    latents = np.tile(vector, (size, 1))
    latents[:, inactive] = sobol(size, int(inactive.sum()), seed)
    return latents


def latin_hypercube(cube: Cube, size: int, seed: int) -> FloatArray:
    """The thesis's population: a random Latin hypercube."""
    return np.asarray(
        scipy.stats.qmc.LatinHypercube(cube.d, rng=np.random.default_rng([seed, 2])).random(size)
    )
