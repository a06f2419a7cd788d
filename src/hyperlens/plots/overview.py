"""The optimisation trace: what every trial reached, and the best so far."""

from __future__ import annotations

from plotly.graph_objects import Figure, Scatter

from hyperlens.explain.overview import Overview
from hyperlens.plots.style import BLUE, GREY, VERMILLION, directed, figure, number_axis
from hyperlens.plots.thinning import thinned, thinned_note


def draw_overview(record: Overview) -> Figure:
    """Every trial as a point, the best so far as steps, the best trial as a star.

    Of very many trials some are drawn; the steps are drawn at each improvement.
    """
    number, cost, trace = record.number.tolist(), record.cost.tolist(), record.trace.tolist()
    steps = [k for k in range(len(trace)) if k == 0 or trace[k] != trace[k - 1]]
    shown = thinned(range(len(number)), always=[*steps, len(number) - 1])
    fig = figure(
        360,
        xaxis={
            "title": {"text": "trial" + thinned_note(len(shown), len(number))},
            "showgrid": False,
            **number_axis(number, log=False),
        },
        yaxis={"title": {"text": directed(record.objective, record.maximize)}},
    )
    fig.add_trace(
        Scatter(
            x=[number[k] for k in shown],
            y=[cost[k] for k in shown],
            mode="markers",
            name="each trial",
            marker={"color": GREY, "size": 7 if len(shown) < 500 else 4, "opacity": 0.75},
            hovertemplate="trial %{x}: %{y:.5g}<extra></extra>",
        )
    )
    fig.add_trace(
        Scatter(
            x=[number[k] for k in shown],
            y=[trace[k] for k in shown],
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
