"""Why a search stopped before all its trials: what more were expected to gain."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import Any

from hyperlens.words import counted, number


@dataclass(frozen=True)
class Stopped:
    """After how many trials, what was expected of how many more, and the standard error of a cost."""

    trials: int
    ahead: int
    gain: float
    error: float

    @property
    def sentence(self) -> str:
        return (
            f"The search stopped after {counted(self.trials, 'trial')}: {self.ahead} more were expected "
            f"to gain {number(self.gain, 2)}, less than the standard error of a cost, "
            f"{number(self.error, 2)}."
        )

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_dict(stored: Any) -> Stopped | None:
        """What a storage kept; None where that is nothing of the kind."""
        if not isinstance(stored, dict):
            return None
        values: list[Any] = [stored.get(f.name) for f in fields(Stopped)]
        if not all(type(v) in (int, float) and math.isfinite(v) for v in values):
            return None
        trials, ahead, gain, error = values
        return Stopped(int(trials), int(ahead), float(gain), float(error))
