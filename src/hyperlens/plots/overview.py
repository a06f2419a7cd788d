"""The optimisation trace: what every trial reached, and the best so far."""

from __future__ import annotations

from plotly.graph_objects import Figure, Scatter

from hyperlens.explain.overview import Overview
from hyperlens.plots.style import BLUE, GREY, VERMILLION, directed, figure, number_axis


def draw_overview(record: Overview) -> Figure:
    """Every trial as a point, the best so far as steps, the best trial as a star."""
    number = record.number.tolist()
    fig = figure(
        360,
        xaxis={"title": {"text": "trial"}, "showgrid": False, **number_axis(number, log=False)},
        yaxis={"title": {"text": directed(record.objective, record.maximize)}},
    )
    fig.add_trace(
        Scatter(
            x=number,
            y=record.cost.tolist(),
            mode="markers",
            name="each trial",
            marker={"color": GREY, "size": 7, "opacity": 0.75},
            hovertemplate="trial %{x}: %{y:.5g}<extra></extra>",
        )
    )
    fig.add_trace(
        Scatter(
            x=number,
            y=record.trace.tolist(),
            mode="lines",
            name="best so far",
            line={"color": BLUE, "width": 2.5, "shape": "hv"},
            hovertemplate="best after trial %{x}: %{y:.5g}<extra></extra>",
        )
    )
    fig.add_trace(
        Scatter(
            x=[record.best_trial],
            y=[record.best],
            mode="markers",
            name="best trial",
            marker={"color": VERMILLION, "size": 14, "symbol": "star"},
            hovertemplate="best: trial %{x}, %{y:.5g}<extra></extra>",
        )
    )
    return fig
