"""Where the true front lies, and how probably each configuration is on it."""

from __future__ import annotations

from typing import Any

import numpy as np
from plotly.graph_objects import Figure, Scatter

from hyperlens.explain.objectives.true_front import TrueFront
from hyperlens.plots.objectives.close_up import CloseUp
from hyperlens.plots.parts.axes import colour_bar
from hyperlens.plots.parts.colours import BAND, BLUE, GREY, INK, see_through
from hyperlens.plots.parts.marks import dots, line
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import directed, safe, unshown
from hyperlens.words import number, tenths


def draw(record: TrueFront) -> Figure:
    """Measured costs of the first two objectives, coloured by probability, above the band."""
    near = [CloseUp.of(record.observed[:, k], record.on, record.maximize[k]) for k in (0, 1)]
    titles = [directed(record.objectives[k], record.maximize[k]) for k in (0, 1)]
    inside = near[0].holds(record.observed[:, 0]) & near[1].holds(record.observed[:, 1])
    count = int((~inside).sum())
    titles[0] += unshown(count, "configuration", " far behind the front")
    fig = figure(
        420,
        xaxis={"title": {"text": titles[0]}, **near[0].axis},
        yaxis={"title": {"text": titles[1]}, **near[1].axis},
    )
    if len(record.across):
        _add_band(fig, record)
    probability = np.nan_to_num(record.probability)
    order = np.argsort(probability, kind="stable")
    marker: dict[str, Any] = {
        "color": probability[order].tolist(),
        "colorscale": [[0.0, see_through(GREY, 0.45)], [1.0, BLUE]],
        "cmin": 0.0,
        "cmax": 1.0,
        "size": np.where(record.on[order], 11, 8).tolist(),
        "line": {"color": INK, "width": np.where(record.on[order], 1.2, 0).tolist()},
        "colorbar": colour_bar("on the front", tickformat=".0%"),
    }
    texts = [_said(record, int(k)) for k in order]
    x, y = record.observed[order, 0], record.observed[order, 1]
    name = "measured; ringed: on the measured front"
    which = {"trials": record.trial[order].tolist(), "own": True}
    fig.add_trace(dots(x, y, name, marker, "%{customdata}", customdata=texts, meta=which))
    return fig


def _add_band(fig: Figure, record: TrueFront) -> None:
    """Between what is attained almost surely and what is attained hardly."""
    low, middle, high = record.band
    shape = "hv"  # from better to worse of the first objective, whatever its direction
    for edge, other in ((low, high),):
        both = np.isfinite(edge) & np.isfinite(other)
        x = record.across[both].tolist()
        looks: dict[str, Any] = {"mode": "lines", "hoverinfo": "skip", "legendgroup": "band"}
        style = {"line": {"width": 0, "shape": shape}}
        fig.add_trace(
            Scatter(x=x, y=edge[both].tolist(), name="low", showlegend=False, **looks, **style)
        )
        name = f"{record.level:.0%} band of the true front"
        fill = {"fill": "tonexty", "fillcolor": BAND}
        fig.add_trace(Scatter(x=x, y=other[both].tolist(), name=name, **fill, **looks, **style))
    known = np.isfinite(middle)
    hover = "attained in half of the draws: %{x:.4g}, %{y:.4g}"
    fig.add_trace(
        line(record.across[known], middle[known], "its middle", BLUE, hover, 1.5, shape=shape)
    )


def _said(record: TrueFront, k: int) -> str:
    lines = [f"trial {record.trial[k]}"]
    for j, name in enumerate(record.objectives):
        measured, expected = record.observed[k, j], record.expected[k, j]
        lines.append(f"{safe(name)} {number(float(measured))}, expected {number(float(expected))}")
    lines.append(f"on the true front: {tenths(float(record.probability[k]))}")
    return "<br>".join(lines)
