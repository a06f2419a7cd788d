"""What each model and each budget got."""

from typing import Any

from plotly.graph_objects import Figure

from hyperlens.explain.run.spending import Spending
from hyperlens.plots.parts.axes import category_axis
from hyperlens.plots.parts.colours import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    see_through,
)
from hyperlens.plots.parts.marks import bars, line, sign
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import labels, safe, short

MOST = 20  # models
ROW, GAP, PATH = 34, 96, 200  # pixels: a bar, between the panels, the lower panel
COLOURS = (BLUE, ORANGE, GREEN, PURPLE, VERMILLION, SKY, GREY)


def draw(record: Spending) -> Figure:
    """Above: trials of each model, by budget. Below: each model's part of the trials as they came."""
    names = [safe(n) for n in labels(record.models)][:MOST]
    ticks = [safe(short(n)) for n in labels(record.models)][:MOST]
    several = len(names) > 1
    upper = ROW * max(len(names), 2)
    whole = upper + (GAP + PATH if several else 0)
    fig = figure(
        whole + 120,
        barmode="stack",
        bargap=0.35,
        xaxis={"title": {"text": "trials"}, "anchor": "y", "rangemode": "tozero"},
        yaxis={**category_axis(names, ticks, down=True), "domain": [1 - upper / whole, 1]},
        showlegend=several or len(record.budgets) > 1,
        legend={"traceorder": "normal"},
    )
    _add_trials(fig, record, names)
    if several:
        _add_parts(fig, record, names, PATH / whole)
    return fig


def _add_trials(fig: Figure, record: Spending, names: list[str]) -> None:
    """A bar for each model, divided by budgets; these are named in grey, models have colours."""
    many = len(record.budgets)
    strengths = [0.9 if many == 1 else 0.3 + 0.65 * j / (many - 1) for j in range(many)]
    for j, (budget, strength) in enumerate(zip(record.budgets, strengths, strict=True)):
        at = "" if budget is None else f" at budget {budget:g}"
        both = zip(record.seconds[:, j], record.best[:, j], strict=True)
        fig.add_trace(
            bars(
                record.trials[: len(names), j],
                names,
                "trials" if budget is None else f"budget {budget:g}",
                GREY,
                f"<b>%{{y}}</b><br>%{{x}} trials{at}"
                "<br>%{customdata[0]:.4g} seconds<br>best %{customdata[1]:.5g}",
                showlegend=False,
                marker={"color": [see_through(_colour(i), strength) for i in range(len(names))]},
                customdata=[[float(seconds), float(best)] for seconds, best in both][:MOST],
            )
        )
    for budget, strength in zip(record.budgets, strengths, strict=True):
        if many > 1:
            name = "no budget" if budget is None else f"budget {budget:g}"
            fig.add_trace(sign(name, see_through(GREY, strength)))


def _add_parts(fig: Figure, record: Spending, names: list[str], height: float) -> None:
    """The lower panel, a line for each model."""
    fig.update_layout(
        xaxis2={"title": {"text": "after so many trials"}, "anchor": "y2", "showgrid": False},
        yaxis2={
            "title": {"text": "part of the trials"},
            "tickformat": ".0%",
            "rangemode": "tozero",
            "anchor": "x2",
            "domain": [0, height],
        },
    )
    for i, name in enumerate(names):
        dash = ("solid", "dash", "dot")[i // len(COLOURS) % 3]
        hover = f"{short(name)}: %{{y:.1%}} of %{{x}} trials"
        lower: dict[str, Any] = {"xaxis": "x2", "yaxis": "y2"}
        y = record.path[i]
        fig.add_trace(line(record.steps, y, short(name), _colour(i), hover, dash=dash, **lower))


def _colour(i: int) -> str:
    """Of the i-th model, its bar and its line alike."""
    return COLOURS[i % len(COLOURS)]
