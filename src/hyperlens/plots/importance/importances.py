"""Shares of variance over the whole space and among the good, as bars beside each other."""

import numpy as np
from plotly.graph_objects import Bar, Figure

from hyperlens.explain.importance.importance_words import where
from hyperlens.explain.importance.importances import Importances
from hyperlens.plots.importance.importance import tick
from hyperlens.plots.parts.axes import category_axis
from hyperlens.plots.parts.colours import BLUE, GREY
from hyperlens.plots.parts.marks import bars, rows, whiskers
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import safe, unshown
from hyperlens.spaces.cube import FloatArray

MOST = 12  # effects
ROW = 44  # pixels


def draw(record: Importances) -> Figure:
    """The largest effects of the leading answer, largest on top; below each bar the other answer's."""
    first, other, beside = record.leading, record.other, record.beside
    shown = first.parameters[:MOST]
    names = [safe(name) for name in first.names[:MOST]]
    left, total = len(first.parameters) - MOST, float(np.nansum(first.share[MOST:]))
    hidden = unshown(left, f"smaller effect{'s' * (left > 1)}, {total:.1%}")
    fig = figure(
        130 + ROW * max(len(shown), 3),
        xaxis={
            "title": {"text": f"share of variance{hidden}"},
            "tickformat": ".0%",
            "rangemode": "tozero",
        },
        yaxis=category_axis(names, [tick(p, first.when) for p in shown], down=True),
        bargap=0.3,
        bargroupgap=0.08,
        barmode="group",
    )
    fig.add_trace(_bars(names, where(first), BLUE, first.level, first.share, first.low, first.high))
    fig.add_trace(_bars(names, where(other), GREY, other.level, *beside.values()))
    return fig


def _bars(
    names: list[str],
    part: str,
    colour: str,
    level: float | None,
    share: FloatArray,
    low: FloatArray,
    high: FloatArray,
) -> Bar:
    """One answer."""
    share, low, high = (numbers[:MOST] for numbers in (share, low, high))
    hover = f"<b>%{{y}}</b><br>{part}<br>share %{{x:.1%}}"
    interval = None
    if level is not None:
        hover += f"<br>{level:.0%} interval %{{customdata[0]:.1%}} to %{{customdata[1]:.1%}}"
        interval = whiskers(share, low, high, width=3)
    return bars(share, names, part, colour, hover, error_x=interval, customdata=rows(low, high))
