"""The mean effects of several parameters on one scale, so that their sizes can be compared."""

from collections.abc import Sequence
from typing import Any

from plotly.graph_objects import Figure, Scatter

from hyperlens.explain.effects.effect import Effect
from hyperlens.plots.parts.axes import tick_axis
from hyperlens.plots.parts.colours import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILLION
from hyperlens.plots.parts.marks import line
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import directed, labels, safe, short, value_text

COLOURS = (BLUE, ORANGE, GREEN, PURPLE, VERMILLION, GREY)
SYMBOLS = ("circle", "diamond", "square", "cross", "x", "triangle-up")
MOST = len(COLOURS)
EACH, WIDEST = 0.09, 0.55  # of the width: what a category takes, and all of them together
BETWEEN = 0.04  # ranges and categories


def draw_marginals(effects: Sequence[Effect]) -> Figure:
    """Ranges from their lower to their upper end; beside them categories, each at its name."""
    first, shown = effects[0], effects[:MOST]
    levels = [len(effect.values[0]) for effect in shown if not effect.numeric[0]]
    ranges = len(levels) < len(shown)
    width = (min(EACH * sum(levels), WIDEST) if ranges else 1.0) if levels else 0.0
    fig = figure(
        380,
        yaxis={"title": {"text": directed(first.objective, first.maximize)}},
        showlegend=True,
    )
    if ranges:
        fig.update_layout(xaxis=_of_ranges(1 - width - BETWEEN if levels else 1.0))
    names: list[str] = []
    for effect, colour, symbol in zip(shown, COLOURS, SYMBOLS, strict=False):
        if effect.numeric[0]:
            fig.add_trace(_line(effect, colour))
        else:
            axis = "x2" if ranges else "x"
            fig.add_trace(_categories(effect, colour, symbol, len(names), axis))
            names += [safe(short(name, 12)) for name in labels(effect.values[0])]
    if levels:
        ticks = tick_axis(range(len(names)), names) | {"showgrid": False}
        ticks |= {"range": [-0.6, len(names) - 0.4], "domain": [1 - width, 1]}
        fig.update_layout({"xaxis2" if ranges else "xaxis": ticks})
    return fig


def _of_ranges(end: float) -> dict[str, Any]:
    ticks = tick_axis([0, 0.25, 0.5, 0.75, 1], ["lower", "", "middle", "", "upper"])
    title = {"title": {"text": "place in each range"}}
    return {**ticks, **title, "range": [-0.04, 1.04], "showgrid": False, "domain": [0, end]}


def _line(effect: Effect, colour: str) -> Scatter:
    count = len(effect.values[0])
    places = [i / (count - 1) if count > 1 else 0.5 for i in range(count)]
    return _trace(effect, colour, places, simplify=False)


def _categories(effect: Effect, colour: str, symbol: str, begin: int, axis: str) -> Scatter:
    places = [begin + i for i in range(len(effect.values[0]))]
    looks = {"mode": "markers", "marker": {"symbol": symbol, "size": 9, "color": colour}}
    return _trace(effect, colour, places, xaxis=axis, **looks)


def _trace(effect: Effect, colour: str, places: Sequence[float], **looks: Any) -> Scatter:
    name = safe(short(effect.parameters[0], 30))
    hover = f"<b>{name} = %{{customdata}}</b><br>mean %{{y:.5g}}"
    values = [safe(value_text(value)) for value in effect.values[0]]
    return line(places, effect.mean, name, colour, hover, width=2.2, customdata=values, **looks)
