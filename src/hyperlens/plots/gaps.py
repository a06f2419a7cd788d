"""Where an effect rests on no trial: the stretches of its grid that are nearest to none."""

from __future__ import annotations

import math
from typing import Any

from hyperlens.explain.effects import Effect

Gap = tuple[Any, Any]  # the tried values on both sides; None where the range ends


def gaps(record: Effect) -> list[Gap]:
    """Stretches of a numeric parameter without a trial, widest first; one parameter only."""
    seen = sorted(v for v in record.observed[0] if v is not None and math.isfinite(v))
    found = []
    for value, trials in zip(record.values[0], record.support.tolist(), strict=True):
        if trials == 0:
            below = max((v for v in seen if v < value), default=None)
            above = min((v for v in seen if v > value), default=None)
            found.append((below, above))
    return sorted(dict.fromkeys(found), key=lambda gap: -_width(record, gap))


def ends(record: Effect, gap: Gap) -> tuple[float, float]:
    """The two values between which a gap is drawn: where the range ends, the end of the grid."""
    grid = record.values[0]
    low, high = gap
    return min(grid) if low is None else low, max(grid) if high is None else high


def untried(record: Effect) -> list[Any]:
    """Categories that no trial used."""
    tried = zip(record.values[0], record.support.tolist(), strict=True)
    return [value for value, trials in tried if trials == 0]


def _width(record: Effect, gap: Gap) -> float:
    low, high = ends(record, gap)
    return math.log(high / low) if record.log[0] else high - low
