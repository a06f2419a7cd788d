"""Configurations as lines through rows: a row for each parameter, with its own scale from 0 to 1.

Rows lie below each other, so that any number of parameters with long names fits a narrow page.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plotly.graph_objects import Figure, Scatter

from hyperlens.plots.parts.axes import tick_axis
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import safe, short

ROW = 58  # pixels
MOST_ROWS = 20
INACTIVE = -0.17  # where a line passes a parameter that is switched off
FEW = 6  # values of a row that are all written, if they are short
SHORT, LONG = 7, 12  # characters: of a short value, and of any
UNDER = "rgba(255, 255, 255, 0.8)"  # between a value and the lines below it; a page sets its own


def rows_figure(names: Sequence[str]) -> Figure:
    """An empty figure with a row for each name, the first on top."""
    across = {"range": [INACTIVE - 0.06, 1.06], "visible": False, "fixedrange": True}
    down = tick_axis(range(len(names)), [safe(short(n, 18)) for n in names])
    down |= {"range": [len(names) - 0.55, -0.35], "fixedrange": True}
    return figure(110 + ROW * len(names), xaxis=across, yaxis=down)


def add_lines(fig: Figure, places: Iterable[NDArray[np.float64]], **looks: Any) -> None:
    """One trace of lines, each through its place in every row; nan is switched off."""
    x: list[float | None] = []
    y: list[float | None] = []
    for place in places:
        x += [*np.where(np.isnan(place), INACTIVE, place).tolist(), None]
        y += [*range(len(place)), None]
    fig.add_trace(Scatter(x=x, y=y, mode="lines", hoverinfo="skip", **looks))


def add_values(fig: Figure, values: Sequence[tuple[float, int, str]]) -> None:
    """What stands at a place of a row, written below it, on a ground of its own."""
    looks = {"font": {"size": 11}, "bgcolor": UNDER, "borderpad": 0, "showarrow": False}
    texts = [{"x": x, "y": row + 0.3, "text": safe(text), **looks} for x, row, text in values]
    fig.update_layout(annotations=[*fig.layout.annotations, *texts])  # one by one takes far longer


def few(ticks: Sequence[tuple[float, Any]]) -> list[tuple[float, Any]]:
    """All of few short values, else the first, the middle and the last."""
    long = any(len(written(v)) > SHORT for _, v in ticks)
    if len(ticks) <= (3 if long else FEW):
        return list(ticks)
    return [ticks[0], ticks[len(ticks) // 2], ticks[-1]]


def written(value: Any) -> str:
    """A value as it fits below a row.

    >>> written(1.179e-05), written(63.1), written("a_long_category")
    ('1.2e-05', '63', 'a_long…egory')
    """
    if not isinstance(value, float):
        return short(str(value), LONG)
    rounded = float(f"{value:.2g}")
    return f"{rounded:.0f}" if 10 <= abs(rounded) < 1e5 else f"{rounded:g}"
