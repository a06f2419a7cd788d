"""The mean effects of several parameters on one scale, so that their sizes can be compared."""

from collections.abc import Sequence

from plotly.graph_objects import Figure

from hyperlens.explain.effects.effect import Effect
from hyperlens.plots.parts.colours import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILLION
from hyperlens.plots.parts.marks import line
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import directed, safe, short, value_text

COLOURS = (BLUE, ORANGE, GREEN, PURPLE, VERMILLION, GREY)
SYMBOLS = ("circle", "diamond", "square", "cross", "x", "triangle-up")
MOST = len(COLOURS)


def draw_marginals(effects: Sequence[Effect]) -> Figure:
    """Each parameter over its own range, from its lower to its upper end; categories in order."""
    first = effects[0]
    fig = figure(
        380,
        xaxis={
            "title": {"text": "place in each range"},
            "range": [-0.04, 1.04],
            "tickmode": "array",
            "tickvals": [0, 0.25, 0.5, 0.75, 1],
            "ticktext": ["lower", "", "middle", "", "upper"],
            "showgrid": False,
        },
        yaxis={"title": {"text": directed(first.objective, first.maximize)}},
        showlegend=True,
    )
    for effect, colour, symbol in zip(effects, COLOURS, SYMBOLS, strict=False):
        count, numeric = len(effect.values[0]), effect.numeric[0]
        ends = numeric and count > 1
        name = safe(short(effect.parameters[0], 30))
        fig.add_trace(
            line(
                [i / (count - 1) if ends else (i + 0.5) / count for i in range(count)],
                effect.mean,
                name,
                colour,
                f"<b>{name} = %{{customdata}}</b><br>mean %{{y:.5g}}",
                width=2.2,
                dash="solid" if numeric else "dot",
                simplify=False,
                mode="lines" if numeric else "lines+markers",
                marker={"symbol": symbol, "size": 9},
                customdata=[safe(value_text(value)) for value in effect.values[0]],
            )
        )
    return fig
