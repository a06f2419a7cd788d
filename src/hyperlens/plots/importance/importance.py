"""Shares of variance as bars."""

from collections.abc import Mapping

import numpy as np
from plotly.graph_objects import Bar, Figure

from hyperlens.explain.importance.importance import Importance
from hyperlens.plots.parts.axes import category_axis
from hyperlens.plots.parts.colours import BLUE, ORANGE
from hyperlens.plots.parts.marks import bars, whiskers
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import safe, short, small, unshown
from hyperlens.words import effect_name, effect_when

MOST = 15  # bars


def draw(record: Importance) -> Figure:
    """The largest effects, largest on top; whiskers are the interval, hover adds the tree spread.

    What does not fit is summed up under the axis.
    """
    shown = record.parameters[:MOST]
    names = [safe(name) for name in record.names[:MOST]]
    left, total = len(record.parameters) - MOST, float(np.nansum(record.share[MOST:]))
    hidden = unshown(left, "smaller effect", f", {total:.1%}")
    title = {"text": f"share of variance{hidden}"}
    fig = figure(
        110 + 34 * max(len(shown), 3),
        xaxis={"title": title, "tickformat": ".0%", "rangemode": "tozero"},
        yaxis=category_axis(names, [tick(p, record.when) for p in shown], down=True),
        bargap=0.38,
        barmode="overlay",
    )
    for name, colour, alone in (("one parameter", BLUE, True), ("interaction", ORANGE, False)):
        rows = [i for i, p in enumerate(shown) if (len(p) == 1) is alone]
        if rows:
            fig.add_trace(_bars(record, rows, [names[i] for i in rows], name, colour))
    fig.update_layout(showlegend=len(fig.data) > 1)
    return fig


def tick(parameters: tuple[str, ...], when: Mapping[str, str]) -> str:
    """Names that fit beside a bar, a long pair in two lines; small below them when they are active."""
    names = [safe(short(p, 22)) for p in parameters]
    text = (" × " if len(effect_name(parameters)) <= 16 else " ×<br>").join(names)
    condition = effect_when(parameters, when)
    return text + (small(safe(short(f"when {condition}", 28))) if condition else "")


def _bars(record: Importance, rows: list[int], names: list[str], name: str, colour: str) -> Bar:
    share, low, high = record.share[rows], record.low[rows], record.high[rows]
    hover = "<b>%{y}</b><br>share %{x:.1%}<br>spread over "
    hover += record.spread_of + " ± %{customdata[0]:.1%}"
    interval = None
    if record.level is not None:
        hover += f"<br>{record.level:.0%} interval %{{customdata[1]:.1%}} to %{{customdata[2]:.1%}}"
        interval = whiskers(share, low, high)
    numbers = [[record.std[i], record.low[i], record.high[i]] for i in rows]
    return bars(share, names, name, colour, hover, error_x=interval, customdata=numbers)
