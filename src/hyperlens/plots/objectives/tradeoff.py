"""Shares of effects in the weighted sum of two objectives, as lines with bands over the weight."""

from __future__ import annotations

from plotly.graph_objects import Figure, Scatter

from hyperlens.explain.objectives.tradeoff import Tradeoff
from hyperlens.plots.parts.colours import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    see_through,
)
from hyperlens.plots.parts.marks import line, rows
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import safe, short, small, unshown

COLOURS = (BLUE, ORANGE, GREEN, VERMILLION, PURPLE, SKY)  # one an effect
LEAST = 0.01  # an effect that never has more is not drawn


def draw(record: Tradeoff) -> Figure:
    """A line for each effect that matters somewhere, dotted lines where another takes over."""
    a, b = (safe(short(name, 28)) for name in record.objectives)
    shown = [k for k in range(len(record.names)) if record.share[k].max() >= LEAST][: len(COLOURS)]
    left = len(record.names) - len(shown)
    fig = figure(
        400,
        xaxis={
            "title": {
                "text": f"weight of {b}"
                + small(f"0: {a} alone, 1: {b} alone")
                + unshown(left, "effect")
            },
            "range": [-0.02, 1.02],
        },
        yaxis={"title": {"text": "share of the variance"}, "tickformat": ".0%", "range": [0, 1.02]},
    )
    x = record.weight.tolist()
    for k, colour in zip(shown, COLOURS, strict=False):
        name = safe(short(record.names[k], 28))
        edge = {"hoverinfo": "skip", "legendgroup": name, "mode": "lines", "showlegend": False}
        width = {"line": {"width": 0}}
        fig.add_trace(Scatter(x=x, y=record.low[k].tolist(), name="low", **edge, **width))
        fill = {"fill": "tonexty", "fillcolor": see_through(colour, 0.18)}
        fig.add_trace(Scatter(x=x, y=record.high[k].tolist(), name="high", **fill, **edge, **width))
        hover = (
            f"<b>{name}</b><br>weight %{{x:.2f}}: %{{y:.1%}}<br>{record.level:.0%} interval "
            "%{customdata[0]:.1%} to %{customdata[1]:.1%}"
        )
        looks = {"legendgroup": name, "simplify": False}
        data = rows(record.low[k], record.high[k])
        fig.add_trace(line(x, record.share[k], name, colour, hover, 2.5, customdata=data, **looks))
    for takeover in record.leaders[1:]:
        fig.add_vline(x=takeover.weight, line={"color": GREY, "width": 1, "dash": "dot"})
    return fig
