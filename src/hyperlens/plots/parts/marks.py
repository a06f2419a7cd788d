"""What figures are drawn with: lines, dots and bars in the house style, with what they say on hover.

Numbers may be arrays or lists; without a `hover` text a trace says nothing.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from plotly.graph_objects import Bar, Scatter

from hyperlens.plots.parts.colours import DARK, INK, VERMILLION


def line(
    x: Any, y: Any, name: str, colour: str, hover: str = "", width: float = 2, **looks: Any
) -> Scatter:
    """A line; `dash` and `shape` go to Plotly's line, all other looks to its trace."""
    style: dict[str, Any] = {
        key: looks.pop(key) for key in ("dash", "shape", "simplify") if key in looks
    }
    style |= {"color": colour, "width": width}
    looks = {"mode": "lines", "line": style} | looks
    return Scatter(x=_plain(x), y=_plain(y), name=name, **_hover(hover), **looks)


def dots(
    x: Any, y: Any, name: str, marker: dict[str, Any], hover: str = "", **looks: Any
) -> Scatter:
    looks = {"mode": "markers", "marker": marker} | looks
    return Scatter(x=_plain(x), y=_plain(y), name=name, **_hover(hover), **looks)


def bars(x: Any, y: Any, name: str, colour: str, hover: str, **looks: Any) -> Bar:
    """Bars to the right, one for each row."""
    looks = {"orientation": "h", "marker": {"color": colour, "opacity": 0.85}} | looks
    return Bar(x=_plain(x), y=_plain(y), name=name, **_hover(hover), **looks)


def sign(name: str, colour: str) -> Scatter:
    """A square in the legend, for what no trace of its own stands for."""
    return dots([None], [None], name, {"symbol": "square", "size": 12, "color": colour})


def star(
    x: Any, y: Any, where: str, yaxis: str = "y", outline: int = 0, meta: Any = None
) -> Scatter:
    """The best trial; `where` says its place on hover."""
    edge = {"color": DARK, "width": outline}
    marker = {"symbol": "star", "color": VERMILLION, "size": 14, "line": edge}
    hover = f"best trial: {where}"
    looks = {"yaxis": yaxis, "cliponaxis": False, "meta": meta}
    return dots([x], [y], "best trial", marker, hover, **looks)


def whiskers(
    value: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64], width: int = 4
) -> dict[str, Any]:
    """Error bars from low to high around a value."""
    ends = {"array": (high - value).tolist(), "arrayminus": (value - low).tolist()}
    looks = {"color": INK, "thickness": 1.5, "width": width}
    return {"type": "data", "symmetric": False, **ends, **looks}


def rows(*columns: Any) -> list[list[Any]]:
    """Numbers that a hover text names, a row for each mark."""
    return [list(row) for row in zip(*map(_plain, columns), strict=True)]


def _plain(values: Any) -> list[Any]:
    plain: list[Any] = values.tolist() if isinstance(values, np.ndarray) else list(values)
    return plain


def _hover(text: str) -> dict[str, str]:
    return {"hovertemplate": f"{text}<extra></extra>"} if text else {"hoverinfo": "skip"}
