"""Intervals of some numbers beside each other, as bars: as they are, and as they were or may be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plotly.graph_objects import Figure

from hyperlens.plots.parts.axes import parameter_rows
from hyperlens.plots.parts.marks import line
from hyperlens.plots.parts.texts import safe, unshown

MOST = 10  # rows
ROW = 38  # pixels
WIDTH, APART = 7, 0.26  # of a bar in pixels, and between bars in parts of a row

Bar = tuple[str, str, NDArray[np.float64], NDArray[np.float64]]  # name, colour, low, high


def widest(low: NDArray[np.float64], high: NDArray[np.float64]) -> list[int]:
    """Rows that are drawn, the widest first."""
    return [int(k) for k in np.argsort(low - high, kind="stable")[:MOST]]


def interval_axes(
    rows: Sequence[str], order: list[int], what: str, in_shares: bool, most: float
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Both axes of a picture of some rows."""
    _, names = parameter_rows([rows[k] for k in order])
    down = {"tickmode": "array", "tickvals": list(range(len(order))), "ticktext": names["ticktext"]}
    down |= {"range": [len(order) - 0.4, -0.6], "showgrid": False}
    hidden = unshown(len(rows) - len(order), "narrower interval")
    title = "share of variance" if in_shares else safe(what)
    across: dict[str, Any] = {"title": {"text": f"{title}{hidden}"}}
    if in_shares:
        across |= {"tickformat": ".0%", "range": [-0.02, 1.02 * max(most, 0.1)]}
    return across, down


def add_intervals(fig: Figure, order: list[int], bars: Sequence[Bar], **axes: str) -> None:
    """A bar for each row of each kind, the first kind on top."""
    for place, (name, colour, low, high) in enumerate(bars):
        beside = APART * (place - (len(bars) - 1) / 2)
        x: list[float | None] = []
        y: list[float | None] = []
        for row, k in enumerate(order):
            x += [float(low[k]), float(high[k]), None]
            y += [row + beside, row + beside, None]
        fig.add_trace(line(x, y, name, colour, f"{name}: %{{x}}", width=WIDTH, **axes))
