"""Shares of variance as bars."""

from __future__ import annotations

import numpy as np
from plotly.graph_objects import Bar, Figure

from hyperlens.explain.importance.importance import Importance
from hyperlens.plots.parts.style import (
    BLUE,
    ORANGE,
    category_axis,
    figure,
    safe,
    short,
    unshown,
    whiskers,
)

MOST = 15  # bars


def draw(record: Importance) -> Figure:
    """The largest effects, largest on top; whiskers are the interval, hover adds the tree spread.

    What does not fit is summed up under the axis.
    """
    shown = record.parameters[:MOST]
    names = [safe(pair_name(p)) for p in shown]
    fig = figure(
        110 + 34 * max(len(shown), 3),
        xaxis={
            "title": {"text": "share of variance" + _hidden(record)},
            "tickformat": ".0%",
            "rangemode": "tozero",
        },
        yaxis={**category_axis(names, [_tick(p) for p in shown], down=True), "showgrid": False},
        bargap=0.38,
        barmode="overlay",
    )
    for title, colour, alone in (("one parameter", BLUE, True), ("interaction", ORANGE, False)):
        rows = [i for i, p in enumerate(shown) if (len(p) == 1) is alone]
        if rows:
            fig.add_trace(_bars(record, rows, [names[i] for i in rows], title, colour))
    fig.update_layout(showlegend=len(fig.data) > 1)
    return fig


def pair_name(parameters: tuple[str, ...]) -> str:
    """How an effect is called: "a", or "a × b"."""
    return " × ".join(parameters)


def _tick(parameters: tuple[str, ...]) -> str:
    """Names that fit beside a bar, a long pair in two lines."""
    names = [safe(short(p, 22)) for p in parameters]
    return (" × " if len(pair_name(parameters)) <= 16 else " ×<br>").join(names)


def _bars(record: Importance, rows: list[int], names: list[str], title: str, colour: str) -> Bar:
    share = record.share[rows]
    hover = "<b>%{y}</b><br>share %{x:.1%}<br>spread over "
    hover += record.spread_of + " ± %{customdata[0]:.1%}"
    bars = None
    if record.level is not None:
        hover += f"<br>{record.level:.0%} interval %{{customdata[1]:.1%}} to %{{customdata[2]:.1%}}"
        bars = whiskers(share, record.low[rows], record.high[rows])
    return Bar(
        orientation="h",
        x=share.tolist(),
        y=names,
        name=title,
        marker={"color": colour, "opacity": 0.85},
        error_x=bars,
        customdata=[[record.std[i], record.low[i], record.high[i]] for i in rows],
        hovertemplate=hover + "<extra></extra>",
    )


def _hidden(record: Importance) -> str:
    left = len(record.parameters) - MOST
    if left <= 0:
        return ""
    total = float(np.nansum(record.share[MOST:]))
    return unshown(f"{left} smaller effect{'s' * (left > 1)}, {total:.1%}")
