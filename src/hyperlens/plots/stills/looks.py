"""Plotly's colours, signs and texts as Matplotlib takes them."""

import html
import re
from typing import Any

import numpy as np

DASHES: dict[str, Any] = {"dash": "--", "dot": ":", "dashdot": "-.", "solid": "-"}
MARKS = {
    "circle": "o", "circle-open": "o", "star": "*", "diamond": "D", "line-ns-open": "|",
    "square": "s", "cross": "P", "x": "X", "triangle-up": "^", "triangle-down": "v",
}  # fmt: skip


def on_a_scale(marker: dict[str, Any]) -> bool:
    """Are the colours numbers on a scale?"""
    colours = marker.get("color")
    return isinstance(colours, (list, tuple, np.ndarray)) and not any(
        isinstance(c, str) for c in colours
    )


def outline(marker: dict[str, Any]) -> dict[str, Any]:
    """The edge of a mark, if it has one; of several, each may have its own."""
    line = marker.get("line", {})
    widths = 0.7 * np.asarray(line.get("width") or 0.0, dtype=float)
    if not widths.any():
        return {}
    return {"edgecolors": rgba(line.get("color")), "linewidths": widths.tolist()}


def percent(value: float, _: object = None) -> str:
    """A tick of a share."""
    return f"{100 * value:.3g} %"


def colour_map(looks: dict[str, Any]) -> Any:
    """Cividis, bright for much or for little, or a scale of its own."""
    scale = looks.get("colorscale")
    if isinstance(scale, (list, tuple)):
        from matplotlib.colors import ListedColormap, to_rgba_array

        places, colours = [at for at, _ in scale], to_rgba_array([rgba(c) for _, c in scale])
        steps = np.linspace(0, 1, 256)
        own = ListedColormap(np.transpose([np.interp(steps, places, one) for one in colours.T]))
        return own.reversed() if looks.get("reversescale") else own
    return "cividis_r" if looks.get("reversescale") else "cividis"


def plain_text(text: object) -> str:
    """Plotly's text without its tags, and entities as they are read.

    >>> plain_text("<b>a</b><br>&lt;b")
    'a\\n<b'
    """
    lines = re.sub(r"<br\s*/?>", "\n", str(text))
    bare = re.sub(r"</?(b|i|span|sub|sup)\b[^>]*>", "", lines)
    return html.unescape(bare).replace("$", r"\$").strip()


def rgba(colour: Any) -> Any:
    """A colour as Matplotlib takes it; grey where there is none."""
    if not isinstance(colour, str):
        return "#8A919C"
    if match := re.fullmatch(r"rgba?\(([^)]*)\)", colour.strip()):
        parts = [float(p) for p in match[1].split(",")]
        return (*(p / 255 for p in parts[:3]), *parts[3:])
    return colour
