"""The evaluated configurations on a plane, coloured by how good they are."""

from __future__ import annotations

import numpy as np
from plotly.graph_objects import Figure, Scatter

from hyperlens.explain.run.footprint import Footprint
from hyperlens.plots.parts.style import GREY, directed, figure, star

COLOUR_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def draw(record: Footprint) -> Figure:
    """Bright is better, by rank; small grey dots are an even sample of the space."""
    known = np.flatnonzero(np.isfinite(record.cost))
    best = int(np.flatnonzero(record.number == record.best_trial)[0])
    shown = known.tolist()
    cost = record.cost[shown]
    order = np.argsort(np.argsort(cost, kind="stable"), kind="stable")
    rank = order / max(len(cost) - 1, 1)
    at = [float(np.quantile(cost, q)) for q in COLOUR_TICKS]
    hidden = {"showgrid": False, "showticklabels": False, "ticks": "", "showline": False}
    fig = figure(
        460,
        xaxis={
            **hidden,
            "title": {"text": "near means alike"},
        },
        yaxis={**hidden, "scaleanchor": "x"},
    )
    fig.add_trace(
        Scatter(
            x=record.even[:, 0].tolist(),
            y=record.even[:, 1].tolist(),
            mode="markers",
            name="an even search",
            marker={"color": GREY, "size": 3.5, "opacity": 0.5},
            hoverinfo="skip",
        )
    )
    others = np.flatnonzero(~np.isfinite(record.cost)).tolist()
    if others:
        fig.add_trace(
            Scatter(
                x=record.x[others].tolist(),
                y=record.y[others].tolist(),
                mode="markers",
                name="not analysed",
                marker={"symbol": "x-thin", "size": 6, "line": {"color": GREY, "width": 1.2}},
                customdata=record.number[others].tolist(),
                hovertemplate="trial %{customdata}: failed, pruned, or at a smaller budget"
                "<extra></extra>",
            )
        )
    fig.add_trace(
        Scatter(
            x=record.x[shown].tolist(),
            y=record.y[shown].tolist(),
            mode="markers",
            name="trials",
            marker={
                "color": rank.tolist(),
                "cmin": 0,
                "cmax": 1,
                "colorscale": "Cividis",
                "reversescale": not record.maximize,
                "size": 9 if len(shown) < 400 else 6,
                "line": {"color": GREY, "width": 0.8},
                "colorbar": {
                    "title": {
                        "text": directed(record.objective, record.maximize),
                        "side": "right",
                        "font": {"size": 13},
                    },
                    "tickvals": list(COLOUR_TICKS),
                    "ticktext": [f"{v:.3g}" for v in at],
                    "thickness": 12,
                    "outlinewidth": 0,
                },
            },
            customdata=[[int(record.number[k]), float(record.cost[k])] for k in shown],
            hovertemplate="trial %{customdata[0]}: %{customdata[1]:.5g}<extra></extra>",
        )
    )
    fig.add_trace(
        star(float(record.x[best]), float(record.y[best]), f"trial {record.best_trial}", outline=1)
    )
    return fig
