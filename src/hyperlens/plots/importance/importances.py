"""Shares of variance over the whole space and among the good, as bars beside each other."""

import numpy as np
from numpy.typing import NDArray
from plotly.graph_objects import Bar, Figure

from hyperlens.explain.importance.importance_words import where
from hyperlens.explain.importance.importances import Importances
from hyperlens.plots.importance.importance import tick
from hyperlens.plots.parts.axes import category_axis
from hyperlens.plots.parts.colours import BLUE, GREY
from hyperlens.plots.parts.marks import bars, rows, whiskers
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import safe, unshown

MOST = 10  # effects
ROW = 48  # pixels


def draw(record: Importances) -> Figure:
    """The largest effects of both answers, in the order of the leading one, whose bar is the upper."""
    first, other, beside = record.leading, record.other, record.beside
    larger = np.nan_to_num(np.fmax(first.share, beside["share"]), nan=-1.0)
    places = np.sort(np.argsort(-larger, kind="stable")[:MOST])
    shown = [first.parameters[k] for k in places]
    names = [safe(first.names[k]) for k in places]
    left = len(first.parameters) - len(shown)
    total = float(np.nansum(first.share) - np.nansum(first.share[places]))
    hidden = unshown(left, "smaller effect", f", {max(total, 0.0):.1%}")
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
    own = (first.share, first.low, first.high)
    answers = ((first, BLUE, own), (other, GREY, tuple(beside.values())))
    for answer, colour, numbers in answers:
        drawn = (column[places] for column in numbers)
        fig.add_trace(_bars(names, where(answer), colour, answer.level, *drawn))
    return fig


def _bars(
    names: list[str],
    part: str,
    colour: str,
    level: float | None,
    share: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
) -> Bar:
    """One answer."""
    hover = f"<b>%{{y}}</b><br>{part}<br>share %{{x:.1%}}"
    interval = None
    if level is not None:
        hover += f"<br>{level:.0%} interval %{{customdata[0]:.1%}} to %{{customdata[1]:.1%}}"
        interval = whiskers(share, low, high, width=3)
    return bars(share, names, part, colour, hover, error_x=interval, customdata=rows(low, high))
