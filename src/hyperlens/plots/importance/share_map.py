"""Shares of variance of all pairs as a map, single parameters on its diagonal."""

import math
from typing import Any

from plotly.graph_objects import Figure, Heatmap

from hyperlens.explain.importance.importance import Importance
from hyperlens.plots.parts.axes import category_axis, colour_bar
from hyperlens.plots.parts.colours import BLUE, see_through
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import safe, short, unshown

MOST = 16  # parameters


def draw_heatmap(record: Importance) -> Figure:
    """Rows and columns in order of importance; a cell is the share of the two beyond each alone."""
    everyone = list(dict.fromkeys(name for p in record.parameters for name in p))
    alone = [p[0] for p in record.parameters if len(p) == 1]
    names = sorted(everyone, key=lambda n: alone.index(n) if n in alone else len(alone))[:MOST]
    share = dict(zip((frozenset(p) for p in record.parameters), record.share.tolist(), strict=True))
    z = [
        [share.get(frozenset((a, b)), 0.0) if i >= j else None for j, b in enumerate(names)]
        for i, a in enumerate(names)
    ]
    keys = [safe(n) for n in names]
    ticks = [safe(short(n, 14)) for n in names]
    left = unshown(len(everyone) - len(names), "less important parameter")
    fig = figure(
        130 + 34 * max(len(names), 4),
        xaxis={**category_axis(keys, ticks), "tickangle": -40, "title": {"text": left}},
        yaxis=category_axis(keys, ticks, down=True),
    )
    looks: dict[str, Any] = {
        "zmin": 0,
        "colorscale": [[0.0, see_through(BLUE, 0.0)], [1.0, BLUE]],  # nothing is the background
        "xgap": 2,
        "ygap": 2,
        "name": "share of variance",
    }
    looks |= {"texttemplate": "%{text}", "textfont": {"size": 11}, "hoverongaps": False}
    looks["hovertemplate"] = "%{y} × %{x}<br>share %{z:.2%}<extra></extra>"
    looks["colorbar"] = colour_bar("share of variance", tickformat=".0%")
    texts = [[_percent(v) for v in row] for row in z]
    fig.add_trace(Heatmap(x=keys, y=keys, z=z, text=texts, **looks))
    return fig


def _percent(share: float | None) -> str:
    if share is None or math.isnan(share) or share < 0.005:
        return ""
    return f"{100 * share:.0f}"
