"""Exact partial dependence of a Gaussian process, with both of its variances.

Moosbauer et al. 2021 estimate it by a sample of the other columns; here the averages are integrals.

Symbols of averages.py and posterior.py, and
    S            explained columns; the others are averaged over
    u (g, n)     prod_(j in S) k_j(x_j, c_ij) at each grid point
    b (g, n)     u w
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hyperlens.spaces.cube import Box, FloatArray, IntArray, Runs, contains
from hyperlens.surrogates.gaussian_process.posterior import Posterior


@dataclass(frozen=True)
class Marginal:
    """Partial dependence on a grid of g points, in the units of the costs; nan at a point where
    the explained columns cannot all be active.

    `mean`: the posterior mean averaged over the other columns (Moosbauer et al. 2021, Eq. 3).
    `joint`: the variance of that average (Eq. 4), without the nugget, which averages out. `pointwise`:
    the average of the predictive variances (Eq. 5), with the nugget, as `GP.predict` gives them.
    """

    mean: FloatArray
    joint: FloatArray
    pointwise: FloatArray


def partial_dependence(
    posterior: Posterior, columns: tuple[int, ...], grid: FloatArray, region: Box
) -> Marginal:
    """See Marginal. Grid points that lie in the same parts share one average."""
    cube, averages = posterior.cube, posterior.averages
    grid = np.column_stack([cube.axes[c].snap(grid[:, j]) for j, c in enumerate(columns)])
    parts = [averages.parts(c) for c in columns]
    labels = np.column_stack([_label(p, grid[:, j]) for j, p in enumerate(parts)])
    others = {c: runs for c, runs in region.items() if c not in columns}
    result = np.full((3, len(grid)), np.nan)
    for label in np.unique(labels, axis=0):
        at = {c: parts[j][label[j]] for j, c in enumerate(columns)}
        here = np.all(labels == label, axis=1)
        result[:, here] = _in_one_part(posterior, columns, grid[here], at, others)
    return Marginal(*result)


def _label(parts: Sequence[Runs], x: FloatArray) -> IntArray:
    """Which part each number lies in."""
    return np.asarray(np.argmax([contains(part, x) for part in parts], axis=0), dtype=np.int64)


def _in_one_part(
    posterior: Posterior,
    columns: tuple[int, ...],
    grid: FloatArray,
    at: dict[int, Runs],
    region: Box,
) -> FloatArray:
    """Mean, joint and pointwise variance, shape (3, g); the columns lie in the parts `at`."""
    averages, n = posterior.averages, len(posterior.X)
    w, double = np.ones(n), 1.0
    P = posterior.inverse.ravel()[averages.flat] * averages.twice  # becomes Q_il P_il
    for block, members in enumerate(posterior.cube.blocks):
        fixed = {c: part for c, part in at.items() if c in members}
        average = averages.average(block, fixed, region)
        if average is None:
            return np.full((3, 1), np.nan)
        w *= average.w
        P *= average.P
        double *= average.double
    u = np.ones((len(grid), n))
    for j, c in enumerate(columns):
        u *= posterior.factors[c].value(grid[:, j, None], posterior.X[None, :, c])
    b, s, v = u * w, posterior.signal, posterior.parameters.variance
    lower = np.zeros(n * n)
    lower[averages.flat] = P
    quadratic = np.einsum("gi,gi->g", u @ lower.reshape(n, n), u)
    joint = s * double - s**2 * np.einsum("gi,gi->g", b @ posterior.inverse, b)
    return np.stack(
        [
            posterior.parameters.trend + s * (b @ posterior.beta),  # Eq. 3: mu + s b'beta
            v * np.maximum(joint, 0),  # Eq. 4: v (s E[k(X,X')] - s^2 b'Qb)
            v * np.maximum(1 - s**2 * quadratic, 0),  # Eq. 5: v (1 - s^2 sum_il Q_il P_il u_i u_l)
        ]
    )
