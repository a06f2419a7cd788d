"""How much a prediction varies while a coalition of parameters does, all others staying put.

Of an additive process in closed form: with the others fixed, what is left is again a sum of products
of orthonormal functions, so its variance is the sum of the squares of their coefficients. With
conditions, or of any other surrogate, over Sobol' points.

A function that is not known varies more than its mean does, so variances of draws alone would never
say that nothing may vary. Their covariances with the first function, the mean, can: they are what draws
have of the shape that the mean shows.

Symbols
    S        a coalition, here by axes (2^m, d)
    T, R     axes of an effect that vary, and that stay
    w_T      coefficients of the products of T: the sum over R of those of T and R, at the place
"""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from hyperlens.spaces.cube import BoolArray, Cube, FloatArray, IntArray
from hyperlens.spaces.points import sobol
from hyperlens.surrogates.outlook.landscape import Drawn

ROWS = 1 << 16  # predicted over all coalitions together
MOST = 1024  # of one coalition


def exact_spread(drawn: Drawn, place: IntArray, axes: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Variance of each function over the axes of each coalition, and its covariance with the first,
    (2^m, D) each. Without conditions only."""
    components = drawn.components
    parts: dict[tuple[int, ...], list[tuple[tuple[int, ...], FloatArray]]] = {}
    for U, w in drawn.w.items():
        widths = [components.sizes[len(U) - 1][c] for c in U]
        for size in range(1, len(U) + 1):
            for T in combinations(U, size):
                left = w.reshape(len(w), *widths)
                for position in reversed(range(len(U))):
                    if U[position] not in T:
                        c = U[position]
                        here = drawn.phi[c][place[c], : widths[position]]
                        left = np.tensordot(left, here, axes=(1 + position, 0))
                stays = tuple(c for c in U if c not in T)
                parts.setdefault(T, []).append((stays, left))
    total = np.zeros((len(axes), len(drawn.weights.trend)))
    shared = np.zeros_like(total)
    for T, found in parts.items():
        varying = np.flatnonzero(axes[:, T].all(axis=1))
        stay = np.array([~axes[varying][:, R].any(axis=1) for R, _ in found]).T.astype(float)
        widest = np.max([left.shape[1:] for _, left in found], axis=0)
        padded = np.zeros((len(found), total.shape[1], *widest))
        for r, (_, left) in enumerate(found):
            inside: tuple[Any, ...] = (r, slice(None), *(slice(size) for size in left.shape[1:]))
            padded[inside] = left
        w_T = (stay @ padded.reshape(len(found), -1)).reshape(len(varying), total.shape[1], -1)
        total[varying] += np.square(w_T).sum(axis=2)
        shared[varying] += (w_T * w_T[:, :1]).sum(axis=2)
    return total, shared


def sampled_spread(
    values: Callable[[FloatArray], FloatArray],
    cube: Cube,
    latents: FloatArray,
    axes: BoolArray,
    seed: int,
) -> tuple[FloatArray, FloatArray]:
    """The same over Sobol' points of functions at vectors (n, D), around latents (d,)."""
    points = sobol(max(min(ROWS // len(axes), MOST), 16), cube.d, seed)
    total, shared = [], []
    for varies in axes:
        found = values(cube.vectors(np.where(varies, points, latents)))
        away = found - found.mean(axis=0)
        total.append(np.square(away).mean(axis=0))
        shared.append((away * away[:, :1]).mean(axis=0))
    return np.array(total), np.array(shared)
