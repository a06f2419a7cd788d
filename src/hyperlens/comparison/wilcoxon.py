"""Two methods over many data sets: Wilcoxon's signed-rank test and how large the difference is.

Symbols (Wilcoxon 1945)
    d        differences of a pair, one a data set; those that rounding could have made are zero
    R+, R-   sums of the ranks of |d| where d > 0 and where d < 0
Zero differences are ranked with the others and then left out of the test (Pratt 1959). In the sums
their ranks are split evenly, as in Demsar 2006: R+ - R- and the p-value are the same either way.
"""

from dataclasses import dataclass

import numpy as np
import scipy

from hyperlens.comparison.friedman import ROUNDING, average_ranks
from hyperlens.spaces.cube import FloatArray, IntArray

EXACT = 200  # up to so many differences the null distribution is exact, ties or not
ALL_PAIRS = 2000  # up to so many differences their pairwise means are all written out


@dataclass(frozen=True)
class SignedRank:
    """`plus`, `minus`: R+ and R-. `effect` is (R+ - R-) / (R+ + R-), from -1 to 1."""

    plus: float
    minus: float
    wins: int
    losses: int
    zeros: int
    p: float
    effect: float


def signed_rank(d: FloatArray, scale: FloatArray) -> SignedRank:
    """Two-sided test that differences are symmetric around zero; `scale` is the size of the
    numbers that each was taken of."""
    tolerance = ROUNDING * scale
    size = np.where(np.abs(d) <= tolerance, 0.0, np.abs(d))
    ranks = average_ranks(size, tolerance)
    zero = size == 0.0
    up, down = ~zero & (d > 0), ~zero & (d < 0)
    plus, minus = float(ranks[up].sum()), float(ranks[down].sum())
    split = float(ranks[zero].sum()) / 2
    doubled = np.rint(2 * ranks[~zero]).astype(np.int64)  # shared ranks are whole or half
    if len(doubled) <= EXACT:
        low = round(2 * min(plus, minus))
        p = min(1.0, 2.0 * float(below(doubled, low).sum()))
    else:
        z = abs(plus - minus) / 2 / np.sqrt(np.sum((doubled / 2.0) ** 2) / 4)
        p = float(2 * scipy.stats.norm.sf(z))
    total = plus + minus + 2 * split
    return SignedRank(
        plus=plus + split,
        minus=minus + split,
        wins=int(up.sum()),
        losses=int(down.sum()),
        zeros=int(zero.sum()),
        p=p,
        effect=(plus - minus) / total if total else 0.0,
    )


def below(numbers: IntArray, most: int) -> FloatArray:
    """Chance of each sum 0, 1, ..., `most` when every number is taken or left by a fair coin."""
    chance = np.zeros(most + 1)
    chance[0] = 1.0
    for number in numbers.tolist():
        chance *= 0.5
        if number <= most:
            chance[number:] += chance[: most + 1 - number].copy()
    return chance


def shift(d: FloatArray, scale: FloatArray, level: float) -> tuple[float, float, float]:
    """Hodges and Lehmann's median of the pairwise means of d, with its interval; nan where so few
    differences bound nothing at this level. What rounding could have made is zero."""
    n = len(d)
    pairs = n * (n + 1) // 2
    wanted = [(pairs + 1) // 2, pairs // 2 + 1]
    outside = _outside(n, (1 - level) / 2)
    if outside:
        wanted += [outside, pairs + 1 - outside]
    order = np.argsort(d, kind="stable")
    means, slack = ordered_means(d[order], ROUNDING * scale[order], wanted)
    middle = _rounded(float(means[0] + means[1]) / 2, float(slack[:2].max()))
    return (middle, float(means[2]), float(means[3])) if outside else (middle, np.nan, np.nan)


def ordered_means(
    d: FloatArray, tolerance: FloatArray, places: list[int]
) -> tuple[FloatArray, FloatArray]:
    """The means (d_i + d_j) / 2, i <= j, of ascending d that are smallest but so many, and how far
    rounding may have moved each; those that it could have moved from zero are zero."""
    n = len(d)
    if n <= ALL_PAIRS:
        i, j = np.triu_indices(n)
        sums, slack = d[i] + d[j], np.maximum(tolerance[i], tolerance[j])
        sums[np.abs(sums) <= slack] = 0.0
        at = np.array(places) - 1
        chosen = np.argpartition(sums, np.unique(at))[at]
        return sums[chosen] / 2, slack[chosen]
    bounds = [_bisected(d, tolerance, place) for place in places]
    return np.array([_rounded(*each) for each in bounds]) / 2, np.array([s for _, s in bounds])


def _rounded(x: float, tolerance: float) -> float:
    return 0.0 if abs(x) <= tolerance else x


def _bisected(d: FloatArray, tolerance: FloatArray, place: int) -> tuple[float, float]:
    """The smallest number that at least `place` sums d_i + d_j, i <= j, do not exceed, and the
    tolerance of the sum that it is."""
    low, high = np.nextafter(2 * d[0], -np.inf), 2 * d[-1]
    while True:
        middle = low + (high - low) / 2
        if middle in (low, high):
            above = np.clip(np.searchsorted(d, high - d), 1, len(d) - 1)
            j = above - (high - d - d[above - 1] < d[above] - high + d)  # the nearer of two
            i = int(np.argmin(np.abs(d + d[j] - high)))
            return float(high), float(max(tolerance[i], tolerance[j[i]]))
        counts = np.searchsorted(d, middle - d, side="right") - np.arange(len(d))
        if np.maximum(counts, 0).sum() >= place:
            high = middle
        else:
            low = middle


def _outside(n: int, tail: float) -> int:
    """How many of the ordered pairwise means lie at or beyond an end of the interval."""
    if n <= EXACT:
        chance = np.cumsum(below(np.arange(1, n + 1), n * (n + 1) // 4))
        return int(np.searchsorted(chance, tail, side="right"))
    spread = np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    return int(n * (n + 1) / 4 - scipy.stats.norm.isf(tail) * spread)
