"""What every result is: a frozen record that is tabulated, written as JSON, or drawn."""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    from plotly.graph_objects import Figure


@dataclass(frozen=True)
class Record:
    """Base of all results. Subclasses are frozen dataclasses of names, numbers and arrays."""

    @property
    def frame(self) -> pd.DataFrame:
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and texts; what is not finite becomes None."""
        fields = {f.name: plain(getattr(self, f.name)) for f in dataclasses.fields(self)}
        return {"record": type(self).__name__, **fields}

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=1, allow_nan=False, ensure_ascii=False)

    def plot(self) -> Figure:
        """The record as a Plotly figure."""
        from hyperlens.plots import draw  # drawing lies above computing; this is its one door

        return draw(self)


def plain(value: Any) -> Any:
    """A value as JSON can carry it."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)
