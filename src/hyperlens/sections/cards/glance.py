"""Figures made small, for a screen of several."""

from __future__ import annotations

import copy
import html
import re
import textwrap
from typing import Any

from hyperlens.plots.parts.texts import safe, short

HEIGHT = 164  # pixels
FONT = 11
LONGEST = 22  # characters of a row's names
UPRIGHT = 20  # characters of a line beside an axis that is so low
WAY = re.compile(r" \((lower|higher) is better\)$")
MARGIN = {"l": 8, "r": 8, "t": 8, "b": 8}


def glance(figure: dict[str, Any], rows: int | None = None, **settings: Any) -> dict[str, Any]:
    """The same without a legend, lower, in smaller type; of an axis of rows the first so many, without
    what stands small below their names."""
    small = copy.deepcopy(figure)
    layout = small["layout"]
    layout |= {"height": HEIGHT, "showlegend": False, "margin": MARGIN}
    layout["font"] = {**layout.get("font", {}), "size": FONT}
    for name in [key for key in layout if key.startswith(("xaxis", "yaxis"))]:
        axis = layout[name]
        powers = axis.get("exponentformat") == "power"  # Plotly draws them a quarter larger
        axis["tickfont"] = {**axis.get("tickfont", {}), "size": FONT - (3 if powers else 1)}
        axis["nticks"] = 5
        if title := axis.get("title"):
            axis["title"] = {**title, "font": {"size": FONT}, "standoff": 6}
            if name.startswith("yaxis"):  # which way is better stands above
                axis["title"]["text"] = _broken(WAY.sub("", title.get("text", "")))
    if rows is not None and "ticktext" in layout.get("yaxis", {}):
        count = min(rows, len(layout["yaxis"]["ticktext"]))
        layout["yaxis"]["range"] = [count - 0.5, -0.5]
        layout["yaxis"]["ticktext"] = [_in_one_line(t) for t in layout["yaxis"]["ticktext"]]
    for name, value in settings.items():
        layout[name] = {**layout.get(name, {}), **value} if isinstance(value, dict) else value
    return small


def _in_one_line(tick: str) -> str:
    """The names of a row, short ones of a long pair, without what stands small below them."""
    text = html.unescape(tick.partition("<br><")[0]).replace("×<br>", "× ")
    if len(text) > LONGEST:
        text = " × ".join(short(name, LONGEST // 2) for name in text.split(" × "))
    return safe(text)


def _broken(title: str) -> str:
    """A title in lines that fit beside the axis, broken between words."""
    return "<br>".join(
        textwrap.wrap(title, UPRIGHT, break_long_words=False, break_on_hyphens=False)
    )
