"""Where the search looked: distance from an even search, as it went on and for each parameter."""

from __future__ import annotations

from plotly.graph_objects import Bar, Figure, Scatter

from hyperlens.explain.run.bias import Bias
from hyperlens.plots.parts.style import (
    BLUE,
    GREY,
    ORANGE,
    category_axis,
    figure,
    number_axis,
    safe,
    short,
    unshown,
)

MOST = 15  # bars
PATH, GAP, BAR = 220, 90, 30  # pixels: the upper panel, between the panels, a bar
UNEVEN = 0.05  # a p-value up to this says that an even search would hardly look so


def draw(record: Bias) -> Figure:
    """Above: the discrepancy over the trials, beside an even search's. Below: each parameter's."""
    shown = record.parameters[:MOST]
    names = [safe(n) for n in shown]
    lower = BAR * max(len(shown), 2)
    whole = PATH + GAP + lower
    ticks = record.iteration.tolist()
    fig = figure(
        whole + 110,
        xaxis={
            "title": {"text": "trials"},
            "anchor": "y",
            "showgrid": False,
            **number_axis(ticks, log=False),
        },
        yaxis={
            "title": {"text": "distance from even"},
            "domain": [1 - PATH / whole, 1],
            "rangemode": "tozero",
        },
        xaxis2={
            "title": {"text": "distance from even, each parameter alone" + _hidden(record)},
            "anchor": "y2",
            "rangemode": "tozero",
        },
        yaxis2={
            **category_axis(names, [safe(short(n)) for n in shown], down=True),
            "anchor": "x2",
            "domain": [0, lower / whole],
            "showgrid": False,
        },
        bargap=0.38,
        barmode="overlay",
    )
    _path(fig, record)
    for title, colour, uneven in (("uneven", ORANGE, True), ("as if even", GREY, False)):
        rows = [k for k, p in enumerate(record.parameter_p[:MOST]) if bool(p <= UNEVEN) is uneven]
        if rows:
            sign = "≤" if uneven else ">"
            fig.add_trace(
                Bar(
                    orientation="h",
                    x=record.parameter_mmd[rows].tolist(),
                    y=[names[k] for k in rows],
                    xaxis="x2",
                    yaxis="y2",
                    name=f"{title} (p {sign} {UNEVEN:g})",
                    marker={"color": colour, "opacity": 0.85},
                    customdata=record.parameter_p[rows].tolist(),
                    hovertemplate="<b>%{y}</b><br>MMD %{x:.3f}<br>p %{customdata:.3f}"
                    "<extra></extra>",
                )
            )
    return fig


def _path(fig: Figure, record: Bias) -> None:
    x = record.iteration.tolist()
    fig.add_trace(
        Scatter(
            x=x,
            y=record.path.tolist(),
            mode="lines+markers",
            name="this search",
            line={"color": BLUE, "width": 2.5},
            marker={"size": 5},
            hovertemplate="after %{x} trials: MMD %{y:.3f}<extra></extra>",
        )
    )
    fig.add_trace(
        Scatter(
            x=x,
            y=record.expected_path.tolist(),
            mode="lines",
            name="an even search (expected)",
            line={"color": GREY, "width": 1.5, "dash": "dash"},
            hovertemplate="an even search of %{x} trials: about %{y:.3f}<extra></extra>",
        )
    )


def _hidden(record: Bias) -> str:
    left = len(record.parameters) - MOST
    return unshown(f"{left} parameter{'s' * (left > 1)} nearer to even") if left > 0 else ""
