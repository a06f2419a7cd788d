"""The legend of a still picture: every name once, above the picture."""

import textwrap
from typing import Any

import numpy as np

from hyperlens.plots.stills.looks import (
    DASHES,
    MARKS,
    colour_map,
    on_a_scale,
    outline,
    plain_text,
    rgba,
)

LINE = 110  # characters of a line
SIGN = 5  # characters that the sign before a name takes
MIDDLE = 0.6  # of a scale of colours: the colour that stands for all of it


def entries(traces: list[dict[str, Any]], layout: dict[str, Any]) -> dict[str, Any]:
    """A sign for each name. A page shows regions in a tree of its own; a picture must name them."""
    regions = any("region" in (trace.get("meta") or {}) for trace in traces)
    if layout.get("showlegend") is False and not regions:
        return {}
    signs: dict[str, Any] = {}
    for trace in traces:
        name = plain_text(trace.get("name") or "")
        if name and trace.get("showlegend") is not False and (sign := _sign(trace)) is not None:
            signs.setdefault("\n".join(textwrap.wrap(name, LINE)) or name, sign)
    for shape in layout.get("shapes", ()):
        if shape.get("showlegend") and shape.get("name"):
            signs.setdefault(plain_text(shape["name"]), _patch(shape.get("fillcolor")))
    return signs if len(signs) > 1 or layout.get("showlegend") else {}


def columns(signs: dict[str, Any]) -> int:
    """How many names stand beside each other."""
    longest = max((len(part) for name in signs for part in name.split("\n")), default=1)
    return max(1, min(len(signs), LINE // (longest + SIGN)))


def _sign(trace: dict[str, Any]) -> Any:
    """A patch or a line with its mark; None for what has no sign, such as a map."""
    from matplotlib.lines import Line2D

    marker, line = trace.get("marker") or {}, trace.get("line") or {}
    colour = marker.get("color") or line.get("color")
    if trace.get("fill") in ("tonexty", "toself"):
        return _patch(trace.get("fillcolor"))
    if trace.get("type") == "bar":
        return _patch(colour)
    if trace.get("type", "scatter") != "scatter":
        return None
    mode = trace.get("mode", "lines")
    looks: dict[str, Any] = {"linestyle": "none"}
    if "lines" in mode:
        looks["linestyle"] = DASHES.get(line.get("dash", "solid"), "-")
    if "markers" in mode:
        symbol = marker.get("symbol", "circle")
        looks["marker"] = MARKS.get(symbol if isinstance(symbol, str) else "circle", "o")
    if on_a_scale(marker):
        from matplotlib import colormaps

        colour = None
        looks["markerfacecolor"] = colormaps.get_cmap(colour_map(marker))(MIDDLE)
    if edge := outline(marker):
        looks |= {
            "markeredgecolor": edge["edgecolors"],
            "markeredgewidth": np.max(edge["linewidths"]),
        }
    return Line2D([], [], color=rgba(colour), **looks)


def _patch(colour: Any) -> Any:
    from matplotlib.patches import Patch

    return Patch(facecolor=rgba(colour), linewidth=0)
