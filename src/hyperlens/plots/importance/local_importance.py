"""Importance around one configuration: what each parameter alone could change."""

from __future__ import annotations

from plotly.graph_objects import Bar, Figure

from hyperlens.explain.importance.local_importance import LocalImportance
from hyperlens.plots.parts.style import BLUE, GREY, category_axis, figure, safe, short, unshown
from hyperlens.words import number

MOST = 20  # parameters


def draw(record: LocalImportance) -> Figure:
    """Share of the variance along each parameter, the others where they are."""
    many = min(len(record.parameters), MOST)
    names = [f"{k} {safe(record.parameters[k])}" for k in range(many)]
    ticks = [
        f"{safe(short(p))} <br><span style='color:{GREY}'>{safe(short(_said(v), 20))} </span>"
        for p, v in zip(record.parameters[:many], record.values[:many], strict=True)
    ]
    fig = figure(
        120 + 46 * max(many, 2),
        xaxis={
            "title": {
                "text": "share of the local variance"
                + (
                    unshown(f"{len(record.parameters) - many} more")
                    if record.parameters[many:]
                    else ""
                )
            },
            "tickformat": ".0%",
            "rangemode": "tozero",
        },
        yaxis={**category_axis(names, ticks, down=True), "showgrid": False},
        bargap=0.5,
    )
    fig.add_trace(
        Bar(
            orientation="h",
            x=record.share[:many].tolist(),
            y=names,
            name="share",
            marker={"color": BLUE, "opacity": 0.85},
            customdata=[
                [safe(_said(v)), b]
                for v, b in zip(record.best_values[:many], record.best[:many].tolist(), strict=True)
            ],
            hovertemplate="<b>%{y}</b><br>share %{x:.1%}<br>best %{customdata[1]:.4g} at "
            "%{customdata[0]}<extra></extra>",
        )
    )
    return fig


def _said(value: object) -> str:
    return "inactive" if value is None else number(value)
