"""Importance over the course of training: a line for each parameter."""

from typing import Any

import numpy as np
from plotly.graph_objects import Figure

from hyperlens.explain.curves.course import Course
from hyperlens.plots.curves.learning_curves import step_axis
from hyperlens.plots.parts.colours import (
    BLUE,
    GREEN,
    ORANGE,
    PURPLE,
    VERMILLION,
    see_through,
)
from hyperlens.plots.parts.marks import line, rows
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import safe, short, unshown

COLOURS = (BLUE, ORANGE, GREEN, PURPLE, VERMILLION)
MOST = 5


def draw(record: Course) -> Figure:
    """The parameters with the largest shares; with intervals those that lead at first and at last, for
    more bands hide each other. The others' intervals show where one points."""
    more = unshown(len(record.parameters) - MOST, "parameter", " of a smaller share")
    leading = set(np.argmax(record.share[:, [0, -1]], axis=0).tolist())
    fig = figure(
        360,
        xaxis={"title": {"text": record.axis + more}, **step_axis(record.axis, record.steps)},
        yaxis={"title": {"text": "share of variance"}, "tickformat": ".0%", "rangemode": "tozero"},
    )
    for j, name in enumerate(record.parameters[:MOST]):
        text, colour = safe(short(name)), COLOURS[j]
        edge = np.r_[record.steps, record.steps[::-1]]
        band = np.r_[record.high[j], record.low[j][::-1]]
        looks: dict[str, Any] = {"legendgroup": text, "showlegend": False, "fill": "toself"}
        shade = {"fillcolor": see_through(colour, 0.12), **looks}
        if j in leading:
            fig.add_trace(line(edge, band, text, colour, width=0, **shade))
        hover = (
            f"{safe(name)} at {record.axis} %{{x}}: %{{y:.1%}}"
            "<br>%{customdata[0]:.1%} to %{customdata[1]:.1%}"
        )
        looks = {"mode": "lines+markers", "marker": {"size": 6, "color": colour}}
        looks |= {"legendgroup": text, "customdata": rows(record.low[j], record.high[j])}
        fig.add_trace(line(record.steps, record.share[j], text, colour, hover, **looks))
    return fig
