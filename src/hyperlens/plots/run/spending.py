"""What each model and each budget got."""

from __future__ import annotations

from plotly.graph_objects import Bar, Figure, Scatter

from hyperlens.explain.run.spending import Spending
from hyperlens.plots.parts.style import (
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
    see_through,
    short,
)

MOST = 20  # models
ROW, GAP, PATH = 34, 96, 200  # pixels: a bar, between the panels, the lower panel
COLOURS = (BLUE, ORANGE, GREEN, PURPLE, VERMILLION, SKY, GREY)


def draw(record: Spending) -> Figure:
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
                showlegend=False,
                marker={
                    "color": [
                        see_through(_colour(i), _strength(j, len(record.budgets)))
                        for i in range(len(names))
                    ]
                },
                customdata=[
                    [float(s), float(b)]
                    for s, b in zip(record.seconds[:, j], record.best[:, j], strict=True)
                ][:MOST],
                hovertemplate="<b>%{y}</b><br>%{x} trials"
                + ("" if budget is None else f" at budget {budget:g}")
                + "<br>%{customdata[0]:.4g} seconds<br>best %{customdata[1]:.5g}<extra></extra>",
            )
        )
    if len(record.budgets) > 1:
        _name_budgets(fig, record)
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
                        "color": _colour(i),
                        "width": 2,
                        "dash": ("solid", "dash", "dot")[i // len(COLOURS) % 3],
                    },
                    hovertemplate=f"{short(name)}: %{{y:.1%}} of %{{x}} trials<extra></extra>",
                )
            )
    fig.update_layout(
        showlegend=several or len(record.budgets) > 1, legend={"traceorder": "normal"}
    )
    return fig


def _colour(i: int) -> str:
    """Of the i-th model, its bar and its line alike."""
    return COLOURS[i % len(COLOURS)]


def _strength(j: int, count: int) -> float:
    """How opaque a budget is: weak if small, strong if large."""
    return 0.9 if count == 1 else 0.3 + 0.65 * j / (count - 1)


def _name_budgets(fig: Figure, record: Spending) -> None:
    """The strengths of the budgets in the legend, in grey since each model has its colour."""
    for j, budget in enumerate(record.budgets):
        fig.add_trace(
            Scatter(
                x=[None],
                y=[None],
                mode="markers",
                name="no budget" if budget is None else f"budget {budget:g}",
                marker={
                    "symbol": "square",
                    "size": 12,
                    "color": see_through(GREY, _strength(j, len(record.budgets))),
                },
                hoverinfo="skip",
            )
        )
