"""The house style of figures.

Backgrounds are transparent, so a figure fits any page; the report sets text and grid colours anew
when its theme changes.
"""

from typing import Any

from plotly.graph_objects import Figure, layout

from hyperlens.plots.parts.colours import BLUE, GREY, GRID, INK, ORANGE, SKY, VERMILLION

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

_AXIS = {
    "gridcolor": GRID,
    "linecolor": GRID,
    "tickcolor": GRID,
    "zeroline": False,
    "automargin": True,
    "title": {"standoff": 14, "font": {"size": 13}},
    "tickfont": {"size": 12},
    "exponentformat": "power",  # 0.0001 and 100,000 rather than 100µ and 100k, 10^6 beyond
    "minexponent": 5,
    "separatethousands": True,
}

_LEGEND = {"orientation": "h", "x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom"}
_LEGEND |= {"font": {"size": 12}, "itemsizing": "constant"}

TEMPLATE = layout.Template(
    layout={
        "font": {"family": FONT, "size": 13, "color": INK},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "colorway": [BLUE, ORANGE, VERMILLION, SKY],
        "margin": {"l": 12, "r": 16, "t": 44, "b": 12},
        "xaxis": _AXIS,
        "yaxis": _AXIS,
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": GREY, "activecolor": BLUE},
        "hoverlabel": {"font": {"family": FONT, "size": 12}, "align": "left"},
        "legend": _LEGEND,
    }
)


def figure(height: int, **settings: Any) -> Figure:
    """An empty figure in the house style; as wide as its container."""
    return Figure(layout={"template": TEMPLATE, "height": height, "autosize": True, **settings})
