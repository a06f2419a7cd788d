"""Importance over the course of training: a line for each parameter."""

from typing import Any

from plotly.graph_objects import Figure

from hyperlens.explain.curves.course import Course
from hyperlens.plots.curves.learning_curves import step_axis
from hyperlens.plots.parts.colours import (
    BLUE,
    GREEN,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
)
from hyperlens.plots.parts.marks import line, whiskers
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import safe, short, unshown

COLOURS = (BLUE, ORANGE, GREEN, PURPLE, VERMILLION, SKY)
MOST = len(COLOURS)


def draw(record: Course) -> Figure:
    """The parameters with the largest shares, with their intervals at each step."""
    more = unshown(len(record.parameters) - MOST, "parameters with smaller shares")
    fig = figure(
        360,
        xaxis={"title": {"text": record.axis + more}, **step_axis(record.axis, record.steps)},
        yaxis={"title": {"text": "share of variance"}, "tickformat": ".0%", "rangemode": "tozero"},
    )
    for j, name in enumerate(record.parameters[:MOST]):
        colour = COLOURS[j]
        bars = whiskers(record.share[j], record.low[j], record.high[j]) | {"color": colour}
        hover = f"{safe(name)} at {record.axis} %{{x}}: %{{y:.1%}}"
        looks: dict[str, Any] = {
            "mode": "lines+markers",
            "marker": {"size": 6, "color": colour},
            "error_y": bars,
        }
        fig.add_trace(
            line(record.steps, record.share[j], safe(short(name)), colour, hover, **looks)
        )
    return fig
