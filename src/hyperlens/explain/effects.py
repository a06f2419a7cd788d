"""Partial dependence: how the cost depends on one or two parameters, with a confidence band."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

from hyperlens.cube import FloatArray
from hyperlens.record import Record
from hyperlens.surrogates.quality import Quality

if TYPE_CHECKING:
    import pandas as pd

Band = Literal["pointwise", "joint"]


@dataclass(frozen=True)
class Effect(Record):
    """The cost as a function of one or two parameters, averaged over all others.

    `values` holds the grid of each parameter; mean, std, low, high run over its product, the last
    parameter fastest, in the user's direction. `std` is `pointwise` (P0 Eq. 5: how unsure a single
    prediction is, on average) or `joint` (P0 Eq. 4: how unsure the average itself is).
    """

    objective: str
    maximize: bool
    parameters: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]
    log: tuple[bool, ...]
    numeric: tuple[bool, ...]
    mean: FloatArray
    std: FloatArray
    low: FloatArray
    high: FloatArray
    pointwise: FloatArray
    joint: FloatArray
    band: Band
    level: float
    surrogate: str
    observed: tuple[tuple[Any, ...], ...]  # one per parameter: its value in each analysed trial
    observed_cost: FloatArray
    incumbent: tuple[Any, ...] | None  # None where the best trial leaves a parameter inactive
    quality: Quality
    notes: tuple[str, ...]

    @property
    def frame(self) -> pd.DataFrame:
        import pandas as pd

        if len(self.parameters) == 1:
            columns: dict[str, Any] = {"value": list(self.values[0])}
        else:
            points = list(product(*self.values))
            columns = {p: [x[k] for x in points] for k, p in enumerate(self.parameters)}
        numbers = {k: getattr(self, k) for k in ("mean", "std", "low", "high")}
        return pd.DataFrame(columns | numbers)
