"""What more trials would bring: expected gains with their intervals, and what is too small to count."""

from __future__ import annotations

from plotly.graph_objects import Figure, Scatter

from hyperlens.explain.next.forecast import SEARCHES, Forecast
from hyperlens.plots.parts.axes import tick_axis
from hyperlens.plots.parts.colours import BLUE, INK, ORANGE, see_through
from hyperlens.plots.parts.marks import line
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import safe, short
from hyperlens.words import number, percent

COLOURS = {"model": BLUE, "random": ORANGE}


def draw(record: Forecast) -> Figure:
    """A line and a band for each kind of search, and the standard error of a cost across."""
    more = record.more.tolist()
    fig = figure(
        360,
        xaxis={"title": {"text": "more trials"}, "type": "log", **tick_axis(more, map(str, more))},
        yaxis={
            "title": {"text": f"gain of the true {safe(short(record.objective, 40))}"},
            "rangemode": "tozero",
        },
        showlegend=True,
    )
    level = percent(record.level)
    for s, search in enumerate(record.searches):
        low, high = record.low[s].tolist(), record.high[s].tolist()
        fig.add_trace(
            Scatter(
                x=[*more, *more[::-1]],
                y=[*high, *low[::-1]],
                mode="lines",  # by default so few points are drawn as dots too
                fill="toself",
                fillcolor=see_through(COLOURS[search], 0.16),
                line={"width": 0},
                hoverinfo="skip",
                showlegend=False,
            )
        )
        fig.add_trace(
            line(
                more,
                record.gain[s],
                SEARCHES[search],
                COLOURS[search],
                f"{SEARCHES[search]}, %{{x}} more: %{{y:.3g}}"
                f"<br>{level} interval %{{customdata[0]:.3g}} to %{{customdata[1]:.3g}}",
                mode="lines+markers",
                customdata=[list(pair) for pair in zip(low, high, strict=True)],
            )
        )
    if record.error > 0:
        name = f"standard error of a cost, {number(record.error, 2)}"
        fig.add_trace(line([more[0], more[-1]], [record.error] * 2, name, INK, dash="dash"))
    return fig
