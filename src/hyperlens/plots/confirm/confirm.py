"""Intervals as they are and as they are expected after some trials, and where these trials lie."""

from __future__ import annotations

import numpy as np
from plotly.graph_objects import Figure

from hyperlens.explain.confirm.confirm import Confirm
from hyperlens.plots.confirm.intervals import ROW, add_intervals, interval_axes, widest
from hyperlens.plots.parts.colours import BLUE, GREY, ORANGE
from hyperlens.plots.parts.lines import INACTIVE, MOST_ROWS, add_values, few, rows_figure, written
from hyperlens.plots.parts.marks import dots
from hyperlens.plots.parts.texts import safe, value_text
from hyperlens.plots.parts.thinning import thinned

MOST_KNOWN = 400  # trials drawn
GAP, AROUND = 96, 80  # pixels: between the two pictures, and around both


def draw(record: Confirm) -> Figure:
    """Intervals above; below a row for each parameter: trials to run among those that are known."""
    names = record.parameters[:MOST_ROWS]
    fig = rows_figure(names)
    order = widest(record.low, record.high)
    lower, upper = float(fig.layout.height) - AROUND, ROW * max(len(order), 2)
    whole = lower + GAP + upper
    most = max(float(high.max()) for high in (record.high, record.expected_high))
    across, down = interval_axes(record.rows, order, record.objective, record.in_shares, most)
    fig.update_layout(
        height=int(whole + AROUND),
        xaxis2=across | {"anchor": "y2"},
        yaxis2=down | {"anchor": "x2", "domain": [1 - upper / whole, 1]},
    )
    fig.layout.yaxis.domain = [0, lower / whole]
    bars = (
        (f"{record.level:.0%} interval now", GREY, record.low, record.high),
        ("expected after the trials", BLUE, record.expected_low, record.expected_high),
    )
    add_intervals(fig, order, bars, xaxis="x2", yaxis="y2")
    _places(fig, record, len(names))
    return fig


def _places(fig: Figure, record: Confirm, rows: int) -> None:
    known = record.known[thinned(range(len(record.known)), MOST_KNOWN), :rows]
    x = np.where(np.isnan(known), INACTIVE, known).ravel()
    y = np.tile(np.arange(rows), len(known))
    fig.add_trace(dots(x, y, "trials so far", {"color": GREY, "size": 6, "opacity": 0.35}))
    new = record.places[:, :rows]
    x = np.where(np.isnan(new), INACTIVE, new).ravel()
    y = np.tile(np.arange(rows), len(new))
    values = list(record.values.values())
    texts = [
        [k + 1, safe(record.parameters[j]), safe(value_text(values[j][k]))]
        for k in range(len(new))
        for j in range(rows)
    ]
    fig.add_trace(
        dots(
            x, y, "trials to run", {"color": ORANGE, "size": 9, "symbol": "diamond-open"},
            "trial %{customdata[0]} to run<br>%{customdata[1]}: %{customdata[2]}",
            customdata=texts,
        )
    )  # fmt: skip
    marks = []
    for j in range(rows):
        marks += [(place, j, written(value)) for place, value in few(record.ticks[j])]
        if np.isnan(record.known[:, j]).any() or np.isnan(record.places[:, j]).any():
            marks.append((INACTIVE, j, "off"))
    add_values(fig, marks)
