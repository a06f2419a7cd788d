"""Costs that diverged: far above all others, with nothing in between.

A few costs of 1e6 among costs of 1 hold all of the variance, so whatever is learnt from them together
is learnt from those few. Such costs are an outcome of their own, like a failure. Costs that spread
evenly over many orders of magnitude are no such thing: they have no gap, and are a matter of the scale
on which they are learnt.

Symbols
    y        minimised costs in order; the first k are the body, the others the tail
    d        y - min y
    gap      between body and tail, at least FAR times the reach of the body, and on the scale of
             log d at least WIDE times the mean step between the costs of the body
    part     of the variance of all costs that goes away with the tail, at least MOST
"""

import math
from dataclasses import dataclass

import numpy as np

from hyperlens.spaces.cube import BoolArray, FloatArray

FEWEST = 20  # costs, from which on it is known what is usual
FAR = 2.0  # reaches of the body between body and tail
WIDE = 8.0  # mean steps: among n even ones, one as wide has a chance of n exp(-8)
MOST = 0.999
BIGGER = 3.0  # times the largest of the body by its size, which no score between bounds is
BOUNDED = 100.0  # a score or a percentage: at chance level is not diverged


@dataclass(frozen=True)
class Tail:
    """Which costs are in the tail, a round cost that separates them, and their part of the variance."""

    inside: BoolArray
    above: float
    part: float


def find_tail(costs: FloatArray) -> Tail | None:
    """The tail of minimised, finite costs; None where there is none, as almost always."""
    n = len(costs)
    if n < FEWEST or float(np.abs(costs).max()) <= BOUNDED:
        return None
    y = np.sort(costs / np.abs(costs).max())
    for k in _gaps(y):
        part = 1.0 - float(np.var(y[:k]) * k / (np.var(y) * n))
        if part >= MOST:
            above = _round_between(*(float(np.sort(costs)[i]) for i in (k - 1, k)))
            return Tail(costs > above, above, part)
    return None


def _gaps(y: FloatArray) -> list[int]:
    """Sizes of bodies, more than half of all, above which there is a clear gap."""
    n, d = len(y), y - y[0]
    first = int(np.argmax(d > 0))  # costs equal to the best say nothing of a step
    start = first + (n - first) // 4
    sizes = []
    for k in range(n // 2 + 1, n):
        reach, gap = float(d[k - 1]), float(d[k] - d[k - 1])
        if reach <= 0 or k - 1 <= start or gap < FAR * reach:
            continue
        step = math.log(reach / d[start]) / (k - 1 - start)
        wide = math.log(float(d[k]) / reach) >= WIDE * step
        if wide and abs(float(y[k])) >= BIGGER * float(np.abs(y[:k]).max()):
            sizes.append(k)
    return sizes


def _round_between(low: float, high: float) -> float:
    """The number of fewest digits between two costs, near the lower one."""
    for digits in range(1, 17):
        for value in (low + (high - low) / 10, (low + high) / 2):
            rounded = float(f"{value:.{digits}g}")
            if low <= rounded < high:
                return rounded
    return low
