"""Whether what was known beforehand was right: results of the initial design by where they come from."""

from __future__ import annotations

import numpy as np
from plotly.graph_objects import Figure

from hyperlens.explain.proposals.hindsight import EVEN, NAMES, Hindsight
from hyperlens.plots.parts.axes import category_axis
from hyperlens.plots.parts.colours import BLUE, GREY
from hyperlens.plots.parts.marks import dots
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import safe


def draw(record: Hindsight) -> Figure:
    """A row of points for each kind of knowledge, the even design below; a line at the median."""
    kinds = [kind for kind in (*record.knowledge, EVEN) if kind in record.origin]
    fig = figure(
        150 + 44 * len(kinds),
        xaxis={"title": {"text": safe(record.objective)}},
        yaxis=category_axis(kinds, [NAMES[kind] for kind in kinds], down=True),
        showlegend=False,
    )
    origin = np.array(record.origin)
    for kind in kinds:
        own = (origin == kind) & ~np.isnan(record.result)
        colour = GREY if kind == EVEN else BLUE
        mark = {"color": colour, "size": 9, "opacity": 0.65}
        hover = "trial %{customdata}: %{x:.4g}"
        rows, trials = [kind] * int(own.sum()), record.trial[own].tolist()
        fig.add_trace(dots(record.result[own], rows, NAMES[kind], mark, hover, customdata=trials))
        middle = record.median(kind)
        if np.isfinite(middle):
            line = {"color": colour, "size": 26, "symbol": "line-ns-open", "line": {"width": 3}}
            fig.add_trace(dots([middle], [kind], "median", line, "median %{x:.4g}"))
    return fig
