"""Chances beside how often what they are of came."""

from plotly.graph_objects import Figure

from hyperlens.cash.results.calibration import Calibration
from hyperlens.plots.parts.colours import BLUE, INK
from hyperlens.plots.parts.marks import dots, line, rows, whiskers
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import safe


def draw(record: Calibration) -> Figure:
    """On the line chances are true; whiskers are intervals of what came."""
    fig = figure(
        420,
        xaxis={
            "title": {"text": f"chance of {safe(record.event)}"},
            "tickformat": ".0%",
            "range": [0, 1],
        },
        yaxis={"title": {"text": "part that came"}, "tickformat": ".0%", "range": [0, 1]},
    )
    fig.add_trace(line([0, 1], [0, 1], "true chances", INK, width=1, dash="dot"))
    fig.add_trace(
        dots(
            record.said,
            record.came,
            "held-out rows",
            {"color": BLUE, "size": 9},
            "said %{x:.1%}, came %{y:.1%}<br>%{customdata[0]} rows",
            mode="lines+markers",
            error_y=whiskers(record.came, record.low, record.high),
            customdata=rows(record.rows),
        )
    )
    return fig
