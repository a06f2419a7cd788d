"""How strongly pairs of parameters act together, as bars."""

from __future__ import annotations

import math

from plotly.graph_objects import Bar, Figure

from hyperlens.explain.importance.interactions import Interactions
from hyperlens.plots.importance.importance import pair_name
from hyperlens.plots.parts.style import (
    ORANGE,
    category_axis,
    figure,
    safe,
    short,
    unshown,
    whiskers,
)

FEWEST, MOST = 3, 15  # bars
LEAST = 0.0005  # a smaller share than this would be written as 0.0 %


def draw(record: Interactions) -> Figure:
    """Friedman's H of the pairs with the largest share of the variance, the largest share on top.

    A large H of a small share is no large effect, so the share stands beside each name.
    """
    shown = record.pairs[: _count(record)]
    names = [safe(pair_name(p)) for p in shown]
    ticks = [
        f"{safe(_tick(p))} <br>{_percent(s)} "
        for p, s in zip(shown, record.share.tolist(), strict=False)
    ]
    fig = figure(
        110 + 44 * max(len(shown), 3),
        xaxis={
            "title": {"text": "H: 0 alone, 1 only together" + _hidden(record)},
            "range": [0, 1.02],
        },
        yaxis={**category_axis(names, ticks, down=True), "showgrid": False},
        bargap=0.5,
    )
    h, low, high = (x[: len(shown)] for x in (record.h, record.low, record.high))
    hover = "<b>%{y}</b><br>H %{x:.2f}<br>share of variance %{customdata[0]:.2%}"
    bars = None
    if record.level is not None:
        hover += f"<br>{record.level:.0%} interval %{{customdata[1]:.2f}} to %{{customdata[2]:.2f}}"
        bars = whiskers(h, low, high)
    fig.add_trace(
        Bar(
            orientation="h",
            x=h.tolist(),
            y=names,
            name="H",
            marker={"color": ORANGE, "opacity": 0.85},
            error_x=bars,
            customdata=[
                list(row)
                for row in zip(
                    record.share[: len(shown)].tolist(), low.tolist(), high.tolist(), strict=True
                )
            ],
            hovertemplate=hover + "<extra></extra>",
        )
    )
    fig.update_layout(showlegend=False)
    return fig


def _tick(parameters: tuple[str, ...]) -> str:
    """A pair in one line, for its share stands in the next."""
    name = pair_name(parameters)
    return name if len(name) <= 30 else pair_name(tuple(short(p, 14) for p in parameters))


def _percent(share: float) -> str:
    return "share unknown" if math.isnan(share) else f"{share:.1%} of variance"


def _count(record: Interactions) -> int:
    """How many pairs get a bar; they come in order of their share."""
    return min(max(int((record.share >= LEAST).sum()), FEWEST), MOST, len(record.pairs))


def _hidden(record: Interactions) -> str:
    left = len(record.pairs) - _count(record)
    return unshown(f"{left} pair{'s' * (left > 1)} of a smaller share") if left > 0 else ""
