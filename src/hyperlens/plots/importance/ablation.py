"""From one configuration to another, one parameter at a time."""

from __future__ import annotations

from plotly.graph_objects import Bar, Figure, Scatter

from hyperlens.explain.importance.ablation import Ablation
from hyperlens.plots.parts.style import (
    BLUE,
    GREY,
    ORANGE,
    category_axis,
    directed,
    figure,
    safe,
    short,
    unshown,
)
from hyperlens.words import number

MOST = 20  # parameters


def draw(record: Ablation) -> Figure:
    """The predicted cost after each change, and the Shapley value of the same change beside it."""
    many = min(len(record.parameters), MOST)
    names = [f"{k} {safe(record.parameters[k])}" for k in range(many)]
    ticks = [
        f"{safe(short(p))} <br><span style='color:{GREY}'>"
        f"{safe(short(_said(a), 12))} → {safe(short(_said(b), 12))} </span>"
        for p, a, b in zip(
            record.parameters[:many],
            record.source_values[:many],
            record.target_values[:many],
            strict=True,
        )
    ]
    fig = figure(
        150 + 54 * max(many, 2),
        xaxis={
            "title": {
                "text": f"change of {directed(record.objective, record.maximize)}"
                + (
                    unshown(f"{len(record.parameters) - many} more")
                    if record.parameters[many:]
                    else ""
                )
            },
            "zeroline": True,
            "zerolinecolor": GREY,
        },
        yaxis={**category_axis(names, ticks, down=True), "showgrid": False},
        bargap=0.4,
    )
    fig.add_trace(
        Bar(
            orientation="h",
            x=record.contribution[:many].tolist(),
            y=names,
            name=f"in this order ({record.method})",
            marker={"color": BLUE, "opacity": 0.85},
            customdata=record.cost[1 : many + 1].tolist(),
            hovertemplate="<b>%{y}</b><br>changes the cost by %{x:.4g}, to %{customdata:.4g}"
            "<extra></extra>",
        )
    )
    fig.add_trace(
        Scatter(
            x=record.shapley[:many].tolist(),
            y=names,
            mode="markers",
            name="in all orders (Shapley)",
            marker={"symbol": "diamond", "color": ORANGE, "size": 11},
            hovertemplate="<b>%{y}</b><br>Shapley value %{x:.4g}<extra></extra>",
        )
    )
    return fig


def _said(value: object) -> str:
    return "inactive" if value is None else number(value)
