"""What each model and each budget got."""

from __future__ import annotations

from plotly.graph_objects import Bar, Figure, Scatter

from hyperlens.explain.spending import Spending
from hyperlens.plots.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    category_axis,
    figure,
    labels,
    safe,
    short,
)

MOST = 20  # models
ROW, GAP, PATH = 34, 96, 200  # pixels: a bar, between the panels, the lower panel
COLOURS = (BLUE, ORANGE, GREEN, PURPLE, VERMILLION, SKY, GREY)


def draw_spending(record: Spending) -> Figure:
    """Above: trials of each model, by budget. Below: each model's part of the trials as they came."""
    names = [safe(n) for n in labels(record.models)][:MOST]
    several = len(names) > 1
    upper = ROW * max(len(names), 2)
    whole = upper + (GAP + PATH if several else 0)
    fig = figure(
        whole + 120,
        barmode="stack",
        bargap=0.35,
        xaxis={"title": {"text": "trials"}, "anchor": "y", "rangemode": "tozero"},
        yaxis={
            **category_axis(
                names, [safe(short(n)) for n in labels(record.models)][:MOST], down=True
            ),
            "domain": [1 - upper / whole, 1],
            "showgrid": False,
        },
    )
    for j, budget in enumerate(record.budgets):
        fig.add_trace(
            Bar(
                orientation="h",
                x=record.trials[: len(names), j].tolist(),
                y=names,
                name="trials" if budget is None else f"budget {budget:g}",
                marker={"color": _shade(j, len(record.budgets)), "opacity": 0.9},
                customdata=[
                    [float(s), float(b)]
                    for s, b in zip(record.seconds[:, j], record.best[:, j], strict=True)
                ][:MOST],
                hovertemplate="<b>%{y}</b><br>%{x} trials"
                + ("" if budget is None else f" at budget {budget:g}")
                + "<br>%{customdata[0]:.4g} seconds<br>best %{customdata[1]:.5g}<extra></extra>",
            )
        )
    if several:
        fig.update_layout(
            xaxis2={"title": {"text": "after so many trials"}, "anchor": "y2", "showgrid": False},
            yaxis2={
                "title": {"text": "part of the trials"},
                "tickformat": ".0%",
                "rangemode": "tozero",
                "anchor": "x2",
                "domain": [0, PATH / whole],
            },
        )
        for i, name in enumerate(names):
            fig.add_trace(
                Scatter(
                    x=record.steps.tolist(),
                    y=record.path[i].tolist(),
                    xaxis="x2",
                    yaxis="y2",
                    mode="lines",
                    name=short(name),
                    line={
                        "color": COLOURS[i % len(COLOURS)],
                        "width": 2,
                        "dash": ("solid", "dash", "dot")[i // len(COLOURS) % 3],
                    },
                    hovertemplate=f"{short(name)}: %{{y:.1%}} of %{{x}} trials<extra></extra>",
                )
            )
    fig.update_layout(showlegend=several or len(record.budgets) > 1)
    return fig


def _shade(j: int, count: int) -> str:
    """One blue for one budget; from light to dark for several."""
    if count == 1:
        return BLUE
    part = j / (count - 1)
    red, green, blue = (round(a + part * (b - a)) for a, b in ((158, 11), (206, 77), (237, 128)))
    return f"rgb({red}, {green}, {blue})"
