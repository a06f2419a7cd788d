"""Functional ANOVA: which parameters and interactions the variance of the cost comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hyperlens.cube import FloatArray
from hyperlens.record import Record
from hyperlens.surrogates.quality import Quality

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Importance(Record):
    """Shares of the forest's variance, one per effect, largest first.

    `std` is the spread over trees. `low` and `high` bound the share at level `interval` as the data
    would vary if the run were repeated; nan when `interval` is None. `rest` is what is left for
    interactions of higher order.
    """

    objective: str
    parameters: tuple[tuple[str, ...], ...]
    share: FloatArray
    std: FloatArray
    low: FloatArray
    high: FloatArray
    rest: float
    interval: float | None
    order: int
    trees: int
    trials: int
    seed: int
    quality: Quality
    notes: tuple[str, ...]

    @property
    def frame(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(
            {
                "parameters": list(self.parameters),
                "share": self.share,
                "std": self.std,
                "low": self.low,
                "high": self.high,
            }
        )
