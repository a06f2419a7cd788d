"""What all figures share: colours, typography, and how user text is put into them.

Backgrounds are transparent and the greys keep their contrast on white and on black, so a figure
fits any page; the report sets text and grid colours anew when its theme changes.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Any

from plotly.graph_objects import Figure, layout

from hyperlens.words import number

# Okabe and Ito's palette, told apart with every common colour vision; blue a little lighter than
# theirs, to be seen on black as well
BLUE, SKY, ORANGE, VERMILLION = "#2485C1", "#56B4E9", "#E69F00", "#D55E00"
GREEN, PURPLE = "#009E73", "#CC79A7"
GREY = "#8A919C"
INK = "#6B7280"
DARK = "#20242B"  # outline on a map, whatever the page
BAND = "rgba(86, 180, 233, 0.24)"
SHADE = "rgba(128, 134, 145, 0.13)"
GRID = "rgba(128, 134, 145, 0.22)"

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
LONGEST = 26  # characters of a tick label

_AXIS = {
    "gridcolor": GRID,
    "linecolor": GRID,
    "tickcolor": GRID,
    "zeroline": False,
    "automargin": True,
    "title": {"standoff": 14, "font": {"size": 13}},
    "tickfont": {"size": 12},
}

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
        "legend": {
            "orientation": "h",
            "x": 0,
            "xanchor": "left",
            "y": 1,
            "yanchor": "bottom",
            "font": {"size": 12},
            "itemsizing": "constant",
        },
    }
)


def figure(height: int, **settings: Any) -> Figure:
    """An empty figure in the house style; as wide as its container."""
    return Figure(layout={"template": TEMPLATE, "height": height, "autosize": True, **settings})


def safe(text: object) -> str:
    """User text as Plotly shows it literally: no tags, no links, no hover template fields.

    Plotly decodes `&lt;`, `&gt;`, `&amp;` and numbered entities, but not `&quot;`.

    >>> safe('<b>%{x}</b>')
    '&lt;b&gt;&#37;{x}&lt;/b&gt;'
    """
    return html.escape(str(text), quote=False).replace("%{", "&#37;{")


def short(text: str, longest: int = LONGEST) -> str:
    """Text cut in its middle where it is too long for a tick."""
    if len(text) <= longest:
        return text
    half = (longest - 1) // 2
    return f"{text[: longest - 1 - half]}…{text[-half:]}"


def directed(objective: str, maximize: bool) -> str:
    """Axis title of an objective: its name and which way is better."""
    return f"{safe(short(objective, 40))} ({'higher' if maximize else 'lower'} is better)"


def unshown(count: int, what: str) -> str:
    """A line under an axis title: how many of what did not fit into the figure; empty if all did."""
    return small(f"not shown: {count} {what}") if count > 0 else ""


def small(text: str) -> str:
    """A small line of its own under an axis title."""
    return f"<br><span style='font-size:11px'>{text}</span>"


def value_text(value: object) -> str:
    """A parameter's value; None is inactive."""
    return "inactive" if value is None else number(value)


def labels(values: Sequence[Any]) -> list[str]:
    """One text per value, different for different values (1 and "1"), not yet escaped."""
    texts = [str(v) for v in values]
    return texts if len(set(texts)) == len(texts) else [repr(v) for v in values]


def category_axis(names: Sequence[str], ticks: Sequence[str], down: bool = False) -> dict[str, Any]:
    """An axis of categories in the given order, even where their names look like numbers."""
    ends = [-0.5, len(names) - 0.5]
    return {
        "range": ends[::-1] if down else ends,
        "type": "category",
        "categoryorder": "array",
        "categoryarray": list(names),
        "tickmode": "array",
        "tickvals": list(names),
        "ticktext": list(ticks),
        "showgrid": False,
    }


def parameter_rows(
    parameters: Sequence[str], below: Sequence[str] | None = None
) -> tuple[list[str], dict[str, Any]]:
    """Names that are different even where they look alike, and their axis downwards; below each tick
    stands a grey text."""
    names = [f"{k} {safe(name)}" for k, name in enumerate(parameters)]
    ticks = [safe(short(name)) for name in parameters]
    if below is not None:
        grey = [f" <br><span style='color:{GREY}'>{safe(text)} </span>" for text in below]
        ticks = [tick + text for tick, text in zip(ticks, grey, strict=True)]
    return names, category_axis(names, ticks, down=True)


def colour_bar(title: str, **more: Any) -> dict[str, Any]:
    text = {"text": title, "side": "right", "font": {"size": 13}}
    return {"title": text, "thickness": 12, "outlinewidth": 0, **more}


def number_axis(values: Sequence[float], log: bool) -> dict[str, Any]:
    """An axis of numbers: ticks at each decade of a logarithm, never between whole numbers."""
    if not log:
        whole = all(isinstance(v, int) for v in values) and max(values) - min(values) <= 10
        return {"type": "linear", "dtick": 1} if whole else {"type": "linear"}
    decades = math.log10(max(values) / min(values))
    if decades < 1.5:
        return {"type": "log", "nticks": 6}
    powers = decades > 3
    return {
        "type": "log",
        "dtick": max(1, round(decades / 6)),
        "exponentformat": "power" if powers else "none",
        "tickfont": {"size": 10 if powers else 12},  # Plotly draws powers a quarter larger
        "tickangle": 0,
        "minor": {"ticks": "outside", "ticklen": 3, "dtick": "D1", "tickcolor": GRID},
    }


def see_through(colour: str, alpha: float) -> str:
    """A colour one can look through."""
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {alpha})"
