"""How strongly pairs of parameters act together, as bars."""

import math

from plotly.graph_objects import Figure

from hyperlens.explain.importance.interactions import Interactions
from hyperlens.plots.parts.axes import category_axis
from hyperlens.plots.parts.colours import ORANGE
from hyperlens.plots.parts.marks import bars, rows, whiskers
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import safe, short, unshown
from hyperlens.words import effect_name

FEWEST, MOST = 3, 15  # bars
LEAST = 0.0005  # a smaller share than this would be written as 0.0 %


def draw(record: Interactions) -> Figure:
    """Friedman's H of the pairs with the largest share of the variance, the largest share on top.

    A large H of a small share is no large effect, so the share stands beside each name.
    """
    many = min(max(int((record.share >= LEAST).sum()), FEWEST), MOST, len(record.pairs))
    pairs, left = record.pairs[:many], len(record.pairs) - many
    share, h, low, high = (x[:many] for x in (record.share, record.h, record.low, record.high))
    names = [safe(effect_name(p)) for p in pairs]
    ticks = [f"{safe(_tick(p))} <br>{_percent(s)} " for p, s in zip(pairs, share, strict=True)]
    hidden = unshown(left, "pair", " of a smaller share")
    title = {"text": f"H: 0 alone, 1 only together{hidden}"}
    fig = figure(
        110 + 44 * max(many, 3),
        xaxis={"title": title, "range": [0, 1.02]},
        yaxis=category_axis(names, ticks, down=True),
        bargap=0.5,
        showlegend=False,
    )
    hover = "<b>%{y}</b><br>H %{x:.2f}<br>share of variance %{customdata[0]:.2%}"
    interval = None
    if record.level is not None:
        hover += f"<br>{record.level:.0%} interval %{{customdata[1]:.2f}} to %{{customdata[2]:.2f}}"
        interval = whiskers(h, low, high)
    fig.add_trace(
        bars(h, names, "H", ORANGE, hover, error_x=interval, customdata=rows(share, low, high))
    )
    return fig


def _tick(parameters: tuple[str, ...]) -> str:
    """A pair in one line, for its share stands in the next."""
    name = effect_name(parameters)
    return name if len(name) <= 30 else effect_name(tuple(short(p, 14) for p in parameters))


def _percent(share: float) -> str:
    return "share unknown" if math.isnan(share) else f"{share:.1%} of variance"
