"""Costs as a search learns them: the bad ones drawn nearer, so that the good ones are told apart.

    z = y                                   up to the knee
    z = knee + s log(1 + (y - knee) / s)    beyond it,  s = knee - best

Costs may reach over orders of magnitude, or diverge. A stationary process then spends its variance on
the worst of them. Up to the knee, the median, nothing changes, so what is predicted of good
configurations is in the user's unit; and as a search goes on, the knee comes down. Costs without a tail
are hardly changed.

Symbols
    y, z     costs, bent costs (n,)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hyperlens.spaces.cube import FloatArray

KNEE = 0.5  # quantile of the costs
ROUNDING = 1e-12  # of the range: costs closer to the best than that are ties with it


@dataclass(frozen=True)
class Bend:
    """Where costs begin to be drawn nearer, and how fast."""

    knee: float
    scale: float

    @staticmethod
    def of(y: FloatArray) -> Bend | None:
        """None where there is nothing to bend: all costs are equal.

        >>> Bend.of(np.array([0.0, 1.0, 2.0, 3.0, 1e6]))
        Bend(knee=2.0, scale=2.0)
        """
        low, knee = float(y.min()), float(np.quantile(y, KNEE))
        tie = ROUNDING * float(y.max() - low)
        above = (y - low)[y - low > tie]
        if not len(above):
            return None
        scale = knee - low if knee - low > tie else float(np.quantile(above, KNEE))
        return Bend(knee, scale)

    def __call__(self, y: FloatArray) -> FloatArray:
        """Bent costs."""
        beyond = np.maximum(y - self.knee, 0.0) / self.scale
        return np.where(beyond > 0, self.knee + self.scale * np.log1p(beyond), y)

    def to_list(self) -> list[float]:
        return [self.knee, self.scale]

    @staticmethod
    def from_list(stored: Sequence[float]) -> Bend:
        knee, scale = map(float, stored)
        return Bend(knee, scale)
