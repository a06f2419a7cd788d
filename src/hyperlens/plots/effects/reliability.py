"""How sure and how right an effect is in each region, beside the whole space."""

from __future__ import annotations

from plotly.graph_objects import Figure, Scatter

from hyperlens.explain.effects.reliability import Reliability
from hyperlens.plots.parts.style import BLUE, GREEN, ORANGE, category_axis, figure, safe, short

MOST = 40  # rows
SHOWN = (
    ("mc", "MC", BLUE, "circle"),
    ("oc", "OC", ORANGE, "diamond"),
    ("nll", "NLL", GREEN, "square"),
)


def draw(record: Reliability) -> Figure:
    """Gains over the whole space, one row a region; right of zero is better."""
    rows = range(min(len(record.where), MOST))
    names = [f"{k}: {safe(record.where[k])}" for k in rows]
    ticks = [safe(short(record.where[k], 44)) for k in rows]
    fig = figure(
        140 + 26 * len(names),
        xaxis={"title": {"text": "gain over the whole space"}, "tickformat": ".0%"},
        yaxis={**category_axis(names, ticks, down=True), "showgrid": True},
    )
    for key, label, colour, symbol in SHOWN:
        fig.add_trace(
            Scatter(
                mode="markers",
                x=record.gain[key][: len(names)].tolist(),
                y=names,
                name=label,
                marker={"color": colour, "symbol": symbol, "size": 9},
                customdata=getattr(record, key)[: len(names)].tolist(),
                hovertemplate="<b>%{y}</b><br>"
                f"{label} %{{customdata:.3g}}, gain %{{x:.0%}}<extra></extra>",
            )
        )
    return fig
