"""Where an effect rests on no trial: the stretches of its grid that are nearest to none."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hyperlens.explain.effects.effect import Effect

Gap = tuple[Any, Any]  # the tried values on both sides; None where the range ends


def gaps(record: Effect) -> list[Gap]:
    """Stretches of a numeric parameter without a trial, widest first; one parameter only."""
    if record.support.all():
        return []
    tried = (*record.observed[0], *record.predicted)
    seen = sorted({v for v in tried if v is not None and math.isfinite(v)})
    stretches = []
    for value, trials in zip(record.values[0], record.support.tolist(), strict=True):
        if trials == 0:
            first, last = bisect_left(seen, value), bisect_right(seen, value)
            below = seen[first - 1] if first else None
            above = seen[last] if last < len(seen) else None
            stretches.append((below, above))
    return sorted(dict.fromkeys(stretches), key=lambda gap: -_width(record, gap))


def ends(record: Effect, gap: Gap) -> tuple[float, float]:
    """The two values between which a gap lies: where the range ends, the end of the grid."""
    grid = record.values[0]
    low, high = gap
    return min(grid) if low is None else low, max(grid) if high is None else high


def shaded(record: Effect, gap: Gap) -> tuple[float, float]:
    """The part of a gap that is drawn: a little apart from the trials beside it, so that they lie
    on no shade and two gaps never look like one; half a step of the grid, a quarter of the gap at
    most."""
    grid = record.values[0]
    step = _width(record, (min(grid), max(grid))) / max(len(grid) - 1, 1)
    apart = min(step / 2, _width(record, gap) / 4)
    low, high = ends(record, gap)
    below, above = (0.0 if tried is None else apart for tried in gap)
    if record.log[0]:
        return low * math.exp(below), high * math.exp(-above)
    return low + below, high - above


def _width(record: Effect, gap: Gap) -> float:
    low, high = ends(record, gap)
    return math.log(high / low) if record.log[0] else high - low
