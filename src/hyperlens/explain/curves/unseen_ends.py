"""Where stopped curves would have ended: sequential regression from the last step backwards.

What stops a curve is what it showed so far. So those that went on from a step tell, by regression on
what they had there, where those that were stopped there would have ended: the ends are missing at random
given the curve, in a monotone pattern (Little and Rubin 2002, chapter 7). From the last step to the
first,

    F = a + b v_c + e,      e normal with variance s^2,      b normal around 1 beforehand, not below 0,

is fitted to all curves that went on from step c, with the ends that those stopped later were given
already, and gives ends to those stopped at c. A slope of 1 keeps the distances between curves, 0 forgets
them; those that went on are alike, so few of them say little of it. a, b, s and e are drawn from their
posterior (multiple imputation), so that doubt adds up on the way.

    F     cost at the end
    v_c   cost at step c
    D     draws
"""

from __future__ import annotations

import numpy as np

from hyperlens.spaces.cube import BoolArray, FloatArray, IntArray

DRAWS = 400
FEWEST = 10  # curves that went on
SLOPE, SPREAD = 1.0, 0.5  # of b beforehand
FENCE = (
    3.0  # interquartile ranges above the upper quartile; what lies higher is learnt from as there
)


def unseen_ends(
    values: FloatArray, final: FloatArray, halted: BoolArray, seed: int = 0
) -> tuple[IntArray, FloatArray]:
    """Which stopped curves an end can be told of, (h,), and draws of these ends, (D, h).

    `values` (m, c) are costs at some steps, nan where a curve has none; `final` (m,), nan where unseen.
    """
    rng = np.random.default_rng(seed)
    reach = _last_known(values)
    ends = np.tile(final, (DRAWS, 1))
    for c in range(values.shape[1] - 1, -1, -1):
        asked = np.flatnonzero(halted & (reach == c))
        seen = np.flatnonzero(np.isfinite(values[:, c]) & np.isfinite(ends[0]))
        if len(asked) and len(seen) >= FEWEST:
            ends[:, asked] = _drawn(values[seen, c], ends[:, seen], values[asked, c], rng)
    told = np.flatnonzero(halted & np.isfinite(ends[0]) & ~np.isfinite(final))
    return told, ends[:, told]


def _last_known(values: FloatArray) -> IntArray:
    """Position of the last known value of each row, -1 where there is none."""
    known = np.isfinite(values)
    last = values.shape[1] - 1 - np.argmax(known[:, ::-1], axis=1)
    return np.asarray(np.where(known.any(axis=1), last, -1))


def _drawn(v: FloatArray, F: FloatArray, new: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draws (D, h) of ends at new values (h,), learnt from values v (n,) and draws of ends F (D, n)."""
    n, draws = len(v), len(F)
    v, F = _fenced(v[None])[0], _fenced(F)
    centre, level = v.mean(), F.mean(axis=1)
    across = v - centre
    size = float((across**2).sum())
    slope = F @ across / max(size, np.finfo(float).tiny)
    rest = ((F - level[:, None] - slope[:, None] * across) ** 2).sum(axis=1)
    s = np.sqrt(rest / rng.chisquare(n - 2, size=draws))
    told, before = size / np.maximum(s, np.finfo(float).eps * (1 + np.abs(level))) ** 2, SPREAD**-2
    b = (told * slope + before * SLOPE) / (told + before)
    b = np.maximum(b + rng.standard_normal(draws) / np.sqrt(told + before), 0.0)
    a = level + s / np.sqrt(n) * rng.standard_normal(draws)
    ends = a[:, None] + b[:, None] * (new - centre)
    return np.asarray(ends + s[:, None] * rng.standard_normal(ends.shape))


def _fenced(rows: FloatArray) -> FloatArray:
    """Each row with what diverged at the edge of the others."""
    lower, upper = np.quantile(rows, [0.25, 0.75], axis=1)
    return np.asarray(np.minimum(rows, (upper + FENCE * (upper - lower))[:, None]))
