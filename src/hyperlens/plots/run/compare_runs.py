"""Several runs beside each other: the best so far of each, by trials or by time.

Traces carry in `meta["when"]` under which choice of "along" a page shows them.
"""

import math
from typing import Any

from plotly.graph_objects import Figure

from hyperlens.explain.run.compare_runs import RunComparison
from hyperlens.plots.parts.colours import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILLION
from hyperlens.plots.parts.marks import line
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import directed, safe, short
from hyperlens.plots.parts.thinning import improvements, thinned

COLOURS = (BLUE, ORANGE, GREEN, PURPLE, VERMILLION, GREY)
DASHES = ("solid", "dash", "dot")
ALONG = ("trials", "seconds")  # the choices of a page, in the order of `when`


def draw(record: RunComparison) -> Figure:
    """The best so far of each run; by seconds where a page asks for it and times are known."""
    fig = figure(
        400,
        xaxis={"title": {"text": "analysed trials"}, "rangemode": "tozero"},
        yaxis={"title": {"text": directed(record.objective, record.maximize)}},
        showlegend=True,
    )
    for k, run in enumerate(record.runs):
        trace, elapsed = record.trace[k].tolist(), record.elapsed[k].tolist()
        shown = thinned(range(len(trace)), always=[*improvements(trace), len(trace) - 1])
        y, name = [trace[i] for i in shown], safe(short(run, 40))
        looks: dict[str, Any] = {
            "name": name,
            "colour": COLOURS[k % len(COLOURS)],
            "width": 2.2,
            "shape": "hv",
            "dash": DASHES[k // len(COLOURS) % len(DASHES)],
        }
        hover, meta = f"{name}: %{{y:.5g}} after %{{x}} trials", {"when": {"along": [0]}}
        fig.add_trace(line([i + 1 for i in shown], y, hover=hover, meta=meta, **looks))
        if not any(math.isnan(e) for e in elapsed):
            looks |= {"visible": False, "hover": f"{name}: %{{y:.5g}} after %{{x:.4g}} seconds"}
            looks["meta"] = {"when": {"along": [1]}, "xtitle": "seconds since the first start"}
            fig.add_trace(line([elapsed[i] for i in shown], y, **looks))
    return fig
