"""Which model got which budget, and how far each came."""

from __future__ import annotations

from plotly.graph_objects import Bar, Figure, Scatter

from hyperlens.cash.results.model_search import ModelSearch
from hyperlens.plots.parts.style import BLUE, ORANGE, category_axis, figure, labels, safe, short

MOST = 20  # models
ROW = 40  # pixels


def draw(record: ModelSearch) -> Figure:
    """Left: part of the budget that each model got, beside its weight. Right: its best cost."""
    names = [safe(n) for n in labels(record.models)][:MOST]
    shown = [safe(short(n)) for n in labels(record.models)][:MOST]
    whole = float(record.spent.sum()) or 1.0
    fig = figure(
        ROW * max(len(names), 2) + 130,
        bargap=0.35,
        xaxis={"title": {"text": "part of the budget"}, "tickformat": ".0%", "domain": [0, 0.47]},
        xaxis2={"title": {"text": f"best {safe(record.objective)}"}, "domain": [0.55, 1]},
        yaxis={**category_axis(names, shown, down=True), "showgrid": False},
    )
    fig.add_trace(
        Bar(
            orientation="h",
            x=(record.spent / whole).tolist()[:MOST],
            y=names,
            name="got",
            marker={"color": BLUE},
            customdata=[
                [int(record.reached[i, 0]), int(record.reached[i, -1]), int(record.failed[i])]
                for i in range(len(names))
            ],
            hovertemplate="<b>%{y}</b><br>%{x:.1%} of the budget<br>%{customdata[0]} drawn, "
            "%{customdata[1]} on all rows, %{customdata[2]} failed<extra></extra>",
        )
    )
    fig.add_trace(
        Scatter(
            x=record.weights.tolist()[:MOST],
            y=names,
            mode="markers",
            name="chance in a draw",
            marker={"color": ORANGE, "symbol": "line-ns-open", "size": 16, "line": {"width": 3}},
            hovertemplate="<b>%{y}</b><br>drawn with %{x:.1%}<extra></extra>",
        )
    )
    fig.add_trace(
        Scatter(
            x=[leader.cost for leader in record.leaders if leader.model in record.models[:MOST]],
            y=[
                names[record.models.index(leader.model)]
                for leader in record.leaders
                if leader.model in record.models[:MOST]
            ],
            xaxis="x2",
            mode="markers",
            name="a configuration on all rows",
            marker={"color": BLUE, "size": 8, "opacity": 0.6},
            hovertemplate=f"<b>%{{y}}</b><br>{safe(record.objective)} %{{x:.5g}}<extra></extra>",
        )
    )
    return fig
