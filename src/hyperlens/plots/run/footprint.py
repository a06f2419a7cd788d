"""The evaluated configurations on a plane, coloured by how good they are."""

import numpy as np
from plotly.graph_objects import Figure

from hyperlens.explain.run.footprint import Footprint
from hyperlens.plots.parts.axes import colour_bar
from hyperlens.plots.parts.colours import GREY
from hyperlens.plots.parts.marks import dots, rows, star
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import directed

COLOUR_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def draw(record: Footprint) -> Figure:
    """Bright is better, by rank; small grey dots are an even sample of the space."""
    hidden = {"showgrid": False, "showticklabels": False, "ticks": "", "showline": False}
    fig = figure(
        460,
        xaxis={**hidden, "title": {"text": "near means alike"}},
        yaxis={**hidden, "scaleanchor": "x"},
    )
    pale = {"color": GREY, "size": 3.5, "opacity": 0.5}
    fig.add_trace(dots(record.even[:, 0], record.even[:, 1], "an even search", pale))
    others = ~np.isfinite(record.cost)
    if others.any():
        cross = {"symbol": "x-thin", "size": 6, "line": {"color": GREY, "width": 1.2}}
        hover = "trial %{customdata}: failed, pruned, or at a smaller budget"
        where, numbers = (record.x[others], record.y[others]), record.number[others].tolist()
        looks = {"customdata": numbers, "meta": {"trials": numbers}}
        fig.add_trace(dots(*where, "not analysed", cross, hover, **looks))
    _add_trials(fig, record, ~others)
    best = int(np.flatnonzero(record.number == record.best_trial)[0])
    x, y, where_best = float(record.x[best]), float(record.y[best]), f"trial {record.best_trial}"
    fig.add_trace(star(x, y, where_best, outline=1, meta={"trials": [record.best_trial]}))
    return fig


def _add_trials(fig: Figure, record: Footprint, known: np.ndarray) -> None:
    """The analysed trials, in the colour of their rank."""
    cost, number = record.cost[known], record.number[known]
    order = np.argsort(np.argsort(cost, kind="stable"), kind="stable")
    title = directed(record.objective, record.maximize)
    costs = [f"{np.quantile(cost, q):.3g}" for q in COLOUR_TICKS]
    marker = {
        "color": (order / max(len(cost) - 1, 1)).tolist(),
        "cmin": 0,
        "cmax": 1,
        "colorscale": "Cividis",
        "reversescale": not record.maximize,
        "size": 9 if len(cost) < 400 else 6,
        "line": {"color": GREY, "width": 0.8},
        "colorbar": colour_bar(title, tickvals=list(COLOUR_TICKS), ticktext=costs),
    }
    hover = "trial %{customdata[0]}: %{customdata[1]:.5g}"
    looks = {"customdata": rows(number, cost), "meta": {"trials": number.tolist()}}
    fig.add_trace(dots(record.x[known], record.y[known], "trials", marker, hover, **looks))
