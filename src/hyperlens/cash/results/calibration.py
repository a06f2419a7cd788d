"""Are the chances that a model gives true? By how often what it said so likely came, on held-out rows.

Symbols
    said     mean chance of the rows of a bin: of the second of two classes, of more of the likeliest
    came     part of these rows of which it was so; low and high are its 90 % interval (Jeffreys)
    error    mean over rows of |said - came| of their bin: the expected calibration error
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import beta

from hyperlens.record import Record
from hyperlens.spaces.cube import FloatArray, IntArray

BINS = 10
LEVEL = 0.9


@dataclass(frozen=True)
class Calibration(Record):
    """One row a bin of chances that has rows; `event` is what the chances are of."""

    event: str
    said: FloatArray
    came: FloatArray
    low: FloatArray
    high: FloatArray
    rows: IntArray
    error: float

    @property
    def sentence(self) -> str:
        """How far chances are from what came."""
        apart = int(np.sum((self.said < self.low) | (self.said > self.high)))
        bins = f"{apart} of {len(self.said)} bins lie outside what chance explains"
        return (
            f"On {int(self.rows.sum())} held-out rows chances of {self.event} differ by "
            f"{100 * self.error:.1f} percentage points on average from how often that came; {bins}."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        return (
            "These rows chose the members of the ensemble, so it looks a little better than it is.",
        )

    def _columns(self) -> dict[str, Any]:
        return {
            "said": self.said,
            "came": self.came,
            "low": self.low,
            "high": self.high,
            "rows": self.rows,
        }


def calibration(chances: FloatArray, codes: IntArray, classes: Any) -> Calibration:
    """Of chances (n, k) of k classes for rows of these codes."""
    if chances.shape[1] == 2:
        event, p, true = f"'{classes[1]}'", chances[:, 1], codes == 1
    else:
        event, p, true = "the likeliest class", chances.max(axis=1), chances.argmax(axis=1) == codes
    place = np.minimum((p * BINS).astype(int), BINS - 1)
    _, place, rows = np.unique(place, return_inverse=True, return_counts=True)
    said = np.bincount(place, p) / rows
    hits = np.bincount(place, true.astype(float))
    came = hits / rows
    tail = (1 - LEVEL) / 2
    low, high = (beta.ppf(q, hits + 0.5, rows - hits + 0.5) for q in (tail, 1 - tail))
    error = float(np.sum(rows * np.abs(said - came)) / rows.sum())
    return Calibration(event, said, came, low, high, rows.astype(np.int64), error)
