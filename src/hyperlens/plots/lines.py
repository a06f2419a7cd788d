"""Configurations as lines through rows: a row for each parameter, with its own scale from 0 to 1.

Rows lie below each other, so that any number of parameters with long names fits a narrow page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plotly.graph_objects import Figure, Scatter

from hyperlens.plots.style import figure, safe, short

ROW = 58  # pixels
MOST_ROWS = 20
INACTIVE = -0.1  # where a line passes a parameter that is switched off


def rows_figure(names: Sequence[str]) -> Figure:
    """An empty figure with a row for each name, the first on top."""
    return figure(
        110 + ROW * len(names),
        xaxis={"range": [INACTIVE - 0.06, 1.06], "visible": False, "fixedrange": True},
        yaxis={
            "range": [len(names) - 0.55, -0.35],
            "tickmode": "array",
            "tickvals": list(range(len(names))),
            "ticktext": [safe(short(n, 18)) for n in names],
            "fixedrange": True,
        },
    )


def add_lines(fig: Figure, places: Iterable[NDArray[np.float64]], **looks: Any) -> None:
    """One trace of lines, each through its place in every row; nan is switched off."""
    x: list[float | None] = []
    y: list[float | None] = []
    for place in places:
        x += [*np.where(np.isnan(place), INACTIVE, place).tolist(), None]
        y += [*range(len(place)), None]
    fig.add_trace(Scatter(x=x, y=y, mode="lines", hoverinfo="skip", **looks))


def add_values(fig: Figure, values: Sequence[tuple[float, int, str]], name: str) -> None:
    """What stands at a place of a row, written below it."""
    fig.add_trace(
        Scatter(
            x=[place for place, _, _ in values],
            y=[row + 0.3 for _, row, _ in values],
            mode="text",
            text=[safe(text) for _, _, text in values],
            textfont={"size": 11},
            name=name,
            showlegend=False,
            hoverinfo="skip",
        )
    )
