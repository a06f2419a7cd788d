"""Runs of one space: pooled shares with those of each run, and below which runs are alike."""

from typing import Any

import numpy as np
from plotly.graph_objects import Figure

from hyperlens.explain.across.across import Across
from hyperlens.plots.parts.axes import parameter_rows
from hyperlens.plots.parts.colours import BLUE, GREY, ORANGE
from hyperlens.plots.parts.marks import bars, dots, whiskers
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import safe, short, unshown

ROW, MAP, GAP, MOST = 46, 280, 70, 15  # pixels: a bar, the map, between the two; bars
ROOM = 1.0  # of the map's width to either side of its middle, for the names of runs
LIFT, NAME = 0.07, 0.4  # of the map: how far a name is from its point, and its width
BELOW: dict[str, Any] = {"xaxis": "x2", "yaxis": "y2"}
BARE = {"showticklabels": False, "showgrid": False, "zeroline": False, "ticks": ""}


def draw(record: Across) -> Figure:
    """Bars of pooled shares, a dot for each run; runs as points, close where effects are alike."""
    many = min(len(record.parameters), MOST)
    upper = ROW * max(many, 2)
    whole = upper + GAP + MAP
    below = [f"I² {i2:.0%}" for i2 in record.i2[:many]]
    names, axis = parameter_rows(record.parameters[:many], below)
    title = "share of the variance" + unshown(
        len(record.parameters) - many, "parameter", " of a smaller share"
    )
    fig = figure(
        whole + 130,
        xaxis={"title": {"text": title}, "anchor": "y", "rangemode": "tozero", "tickformat": ".0%"},
        yaxis=axis | {"domain": [1 - upper / whole, 1]},
        xaxis2={
            "anchor": "y2",
            "title": {"text": "runs: close where effects are alike"},
            **BARE,
        },
        yaxis2={"domain": [0, MAP / whole], "anchor": "x2", **BARE},
        bargap=0.45,
    )
    shown = slice(0, many)
    mean, low, high = (x[shown] for x in (record.pooled, record.low, record.high))
    hover = "<b>%{y}</b><br>over all runs %{x:.1%}"
    error = whiskers(mean, low, high)
    fig.add_trace(bars(mean, names, "over all runs", BLUE, hover, error_x=error))
    across = np.tile(names, len(record.runs))
    runs = [safe(run) for run in np.repeat(record.runs, many)]
    mark = {"color": ORANGE, "size": 7, "opacity": 0.7}
    hover = "<b>%{customdata}</b><br>%{x:.1%}"
    values = record.share[:, shown].ravel()
    fig.add_trace(dots(values, across, "each run", mark, hover, customdata=runs))
    x, y = record.places.T
    span, middle = float(np.ptp(x)) or 1.0, float(x.max() + x.min()) / 2
    fig.update_xaxes(range=[middle - ROOM * span, middle + ROOM * span], selector={"anchor": "y2"})
    point = {"color": GREY, "size": 10}
    texts = [safe(short(run, 14)) for run in record.runs]
    hover, looks = "%{customdata}", {"showlegend": False, **BELOW}
    fig.add_trace(dots(x, y, "", point, hover, customdata=[safe(r) for r in record.runs], **looks))
    lift = _lifts(x / span, y / (float(np.ptp(y)) or 1.0)) * (float(np.ptp(y)) or 1.0)
    fig.add_trace(dots(x, y + lift, "", {}, mode="text", text=texts, cliponaxis=False, **looks))
    return fig


def _lifts(x: Any, y: Any) -> Any:
    """How far above its point a name stands; below it where another point is close above."""
    beside = np.abs(x[:, None] - x) < NAME
    close = beside & (y - y[:, None] > 0) & (y - y[:, None] < 2 * LIFT)
    return np.where(close.any(axis=1), -LIFT, LIFT)
