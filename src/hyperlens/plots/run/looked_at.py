"""Where a search has looked: how its trials are spread along each parameter."""

from __future__ import annotations

import numpy as np
from plotly.graph_objects import Figure, Heatmap

from hyperlens.explain.run.trials import Trials
from hyperlens.plots.parts.axes import parameter_rows, tick_axis
from hyperlens.plots.parts.colours import BLUE, see_through
from hyperlens.plots.parts.style import figure

PARTS = 10  # of a range
MOST = 8  # parameters


def draw_looked_at(record: Trials, first: tuple[str, ...] = ()) -> Figure:
    """A row for each parameter, those of `first` on top, from its lowest value to its highest; the
    stronger a part, the more of the trials lay there. What is empty was never looked at."""
    order = [name for name in first if name in record.parameters]
    order += [name for name in record.parameters if name not in order]
    shown = order[:MOST]
    names, rows = parameter_rows(shown)
    counts = np.array([_counts(record.places[:, record.parameters.index(n)]) for n in shown])
    part = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    fig = figure(
        110 + 26 * max(len(shown), 3),
        xaxis=tick_axis([0, PARTS - 1], ["lowest", "highest"]) | {"showgrid": False},
        yaxis=rows,
    )
    looks = {"colorscale": [[0.0, see_through(BLUE, 0.0)], [1.0, BLUE]], "showscale": False}
    fig.add_trace(
        Heatmap(
            x=list(range(PARTS)),
            y=names,
            z=np.sqrt(part).tolist(),  # few trials are to be told from none
            zmin=0.0,
            zmax=1.0,
            customdata=counts.tolist(),
            xgap=2,
            ygap=4,
            hovertemplate="%{customdata} trials in this tenth of the range<extra></extra>",
            **looks,
        )
    )
    return fig


def _counts(places: np.ndarray) -> np.ndarray:
    """Trials in each part of a range."""
    known = places[~np.isnan(places)]
    return np.bincount(np.minimum((known * PARTS).astype(int), PARTS - 1), minlength=PARTS)
