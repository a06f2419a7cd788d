"""What of an objective is shown beside a front: all, unless the front would be a speck of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

SPECK, FAR, MARGIN = 6.0, 2.0, 0.1  # lengths of the front


@dataclass(frozen=True)
class CloseUp:
    """From where to where costs are shown; infinite where all are."""

    low: float = -math.inf
    high: float = math.inf

    @classmethod
    def of(cls, costs: NDArray[np.float64], front: NDArray[np.bool_], maximize: bool) -> CloseUp:
        """The front with what lies FAR times its length behind it, where others lie SPECK times as far
        from each other as it is long."""
        if not front.any():
            return cls()
        low, high = float(costs[front].min()), float(costs[front].max())
        length = high - low
        spread = float(costs.max()) - float(costs.min())  # inf of the largest, without a warning
        if not 0 < length * SPECK < spread:
            return cls()
        behind, ahead = FAR * length, MARGIN * length
        return cls(low - behind, high + ahead) if maximize else cls(low - ahead, high + behind)

    def holds(self, costs: NDArray[np.float64]) -> NDArray[np.bool_]:
        return np.asarray((costs >= self.low) & (costs <= self.high))

    @property
    def axis(self) -> dict[str, Any]:
        """The range of an axis, if it is not that of all."""
        return {"range": [self.low, self.high]} if math.isfinite(self.low) else {}
