"""Several runs beside each other: the best so far of each, by trials or by time.

Traces carry in `meta["when"]` under which choice of "along" a page shows them.
"""

from __future__ import annotations

import math

from plotly.graph_objects import Figure, Scatter

from hyperlens.explain.run.compare_runs import RunComparison
from hyperlens.plots.parts.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    VERMILLION,
    directed,
    figure,
    safe,
    short,
)
from hyperlens.plots.parts.thinning import thinned

COLOURS = (BLUE, ORANGE, GREEN, PURPLE, VERMILLION, GREY)
DASHES = ("solid", "dash", "dot")
ALONG = ("trials", "seconds")  # the choices of a page, in the order of `when`


def draw(record: RunComparison) -> Figure:
    """The best so far of each run; by seconds where a page asks for it and times are known."""
    fig = figure(
        400,
        xaxis={"title": {"text": "analysed trials"}, "rangemode": "tozero"},
        yaxis={"title": {"text": directed(record.objective, record.maximize)}},
    )
    for k, run in enumerate(record.runs):
        trace = record.trace[k].tolist()
        steps = [i for i in range(len(trace)) if i == 0 or trace[i] != trace[i - 1]]
        shown = thinned(range(len(trace)), always=[*steps, len(trace) - 1])
        name = safe(short(run, 40))
        looks = {
            "mode": "lines",
            "name": name,
            "line": {
                "color": COLOURS[k % len(COLOURS)],
                "width": 2.2,
                "shape": "hv",
                "dash": DASHES[k // len(COLOURS) % len(DASHES)],
            },
        }
        fig.add_trace(
            Scatter(
                x=[i + 1 for i in shown],
                y=[trace[i] for i in shown],
                meta={"when": {"along": [0]}},
                hovertemplate=f"{name}: %{{y:.5g}} after %{{x}} trials<extra></extra>",
                **looks,
            )
        )
        elapsed = record.elapsed[k].tolist()
        if not any(math.isnan(e) for e in elapsed):
            fig.add_trace(
                Scatter(
                    x=[elapsed[i] for i in shown],
                    y=[trace[i] for i in shown],
                    meta={"when": {"along": [1]}, "xtitle": "seconds since the first start"},
                    visible=False,
                    hovertemplate=f"{name}: %{{y:.5g}} after %{{x:.4g}} seconds<extra></extra>",
                    **looks,
                )
            )
    fig.update_layout(showlegend=True)
    return fig
