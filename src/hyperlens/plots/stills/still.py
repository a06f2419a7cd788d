"""Figures as still pictures without a browser: a Plotly figure drawn by Matplotlib.

Only what the figures of this package use is known: lines, marks, fills, error bars, bars, maps, and
axes that are linear, logarithmic or categories. What a page shows only on demand is left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from plotly.graph_objects import Figure as PlotlyFigure

from hyperlens.errors import AnalysisError
from hyperlens.plots.stills.legend import columns, entries
from hyperlens.plots.stills.looks import percent, plain_text, rgba
from hyperlens.plots.stills.traces import Places, bar_places, draw_bars, draw_map, draw_scatter

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MISSING = "Still pictures need the extra 'stills'; install it with 'pip install hyperlens[stills]'."
INCHES = 100  # pixels of a Plotly figure to one inch
WIDTH = 760  # pixels, where a figure has no width of its own
ROW, BELOW = 18, 60  # pixels: a line of the legend, and what an axis needs below the picture
KNOWN = ("scatter", "bar", "heatmap", "contour")

Way = Literal["x", "y"]


def still(figure: PlotlyFigure) -> Figure:
    """The same picture as a Matplotlib figure."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as problem:
        raise AnalysisError(MISSING) from problem
    content = figure.to_dict()
    layout = _short_names(content["layout"])
    traces = [t for t in content["data"] if t.get("visible", True) is True]
    signs = entries(traces, layout)
    size = (WIDTH / INCHES, _height(layout, signs) / INCHES)
    picture = Figure(figsize=size, dpi=150, layout="constrained")
    panels = _panels(traces, layout)
    room = [max(float(np.ptp(_domain(layout, y))), 0.05) for _, y in panels]
    grid = picture.add_gridspec(len(panels), 1, height_ratios=room)
    first: dict[str, Axes] = {}  # of the panels that share an axis
    for row, (x, y) in enumerate(panels):
        one = layout.get(x, {}).get("matches", x)
        axes = picture.add_subplot(grid[row], sharex=first.get(one))
        first.setdefault(one, axes)
        mine = [t for t in traces if (t.get("xaxis", "x"), t.get("yaxis", "y")) == (x, y)]
        _panel(axes, mine, layout, x, y)
        if any(below == x for below, _ in panels[row + 1 :]):  # the lowest of them has the labels
            axes.tick_params(labelbottom=False)
            axes.set_xlabel("")
    if signs:
        looks: dict[str, Any] = {"fontsize": 8, "frameon": False, "ncols": columns(signs)}
        picture.legend([*signs.values()], [*signs], loc="outside upper left", **looks)
    return picture


def _height(layout: dict[str, Any], signs: dict[str, Any]) -> float:
    """Pixels: as on a page, but with the legend above and as high as it is."""
    height = layout.get("height", 400) - max(layout.get("margin", {}).get("b", 0) - BELOW, 0)
    lines = sum(name.count("\n") + 1 for name in signs)
    return float(height + ROW * max(lines / columns(signs) - 1, 0))


def _short_names(layout: dict[str, Any]) -> dict[str, Any]:
    """Axes by Plotly's short names: x, y, x2, y2 ..."""
    return {re.sub(r"^([xy])axis(\d*)$", r"\1\2", key): part for key, part in layout.items()}


def _panels(traces: list[dict[str, Any]], layout: dict[str, Any]) -> list[tuple[str, str]]:
    """Pairs of axes, the uppermost first."""
    pairs = dict.fromkeys((t.get("xaxis", "x"), t.get("yaxis", "y")) for t in traces)
    return sorted(pairs, key=lambda p: -_domain(layout, p[1])[1]) or [("x", "y")]


def _domain(layout: dict[str, Any], y: str) -> tuple[float, float]:
    low, high = layout.get(y, {}).get("domain", (0.0, 1.0))
    return float(low), float(high)


def _panel(
    axes: Axes, traces: list[dict[str, Any]], layout: dict[str, Any], x: str, y: str
) -> None:
    sides: dict[Way, dict[str, Any]] = {"x": layout.get(x, {}), "y": layout.get(y, {})}
    places: dict[str, Places] = {way: Places(axis) for way, axis in sides.items()}
    for way, axis in sides.items():
        if axis.get("type") == "log":
            axes.set(**{f"{way}scale": "log"})
    before: dict[str, Any] | None = None
    offsets = bar_places(traces, layout)
    heights: dict[float, float] | None = {} if layout.get("barmode") == "stack" else None
    for number, trace in enumerate(traces):
        kind = trace.get("type", "scatter")
        if kind not in KNOWN:
            raise AnalysisError(f"A {kind} figure has no still picture; use backend='plotly'.")
        if kind == "scatter":
            draw_scatter(axes, trace, before, places)
        elif kind == "bar":
            draw_bars(axes, trace, places, heights, *offsets.get(number, (0.0, 0.72)))
        else:
            draw_map(axes, trace, places)
        before = trace
    for shape in layout.get("shapes", ()):
        if shape.get("xref", "x") == x and (y == "y" or shape.get("type") == "line"):
            _shape(axes, shape)
    for note in layout.get("annotations", ()):
        if (note.get("xref", "x"), note.get("yref", "y")) in ((x, y), ("paper", "paper")):
            _note(axes, note)
    for way, axis in sides.items():
        _ticks(axes, way, axis, places[way], _whole(traces, way))
        _finish(axes, way, axis)
    axes.spines["right"].set_visible(False)
    axes.spines["left"].set_visible(sides["y"].get("visible") is not False)
    axes.spines["bottom" if sides["x"].get("side") == "top" else "top"].set_visible(False)
    if sides["x"].get("visible") is False:
        axes.spines["bottom"].set_visible(False)


def _shape(axes: Axes, shape: dict[str, Any]) -> None:
    if shape.get("type") == "line" and shape.get("x0") == shape.get("x1"):
        line = shape.get("line", {})
        axes.axvline(shape["x0"], color=rgba(line.get("color")), linewidth=1, linestyle=":")
    elif shape.get("type") == "rect":
        axes.axvspan(shape["x0"], shape["x1"], color=rgba(shape.get("fillcolor")), linewidth=0)


def _note(axes: Axes, note: dict[str, Any]) -> None:
    """A text of the figure, on white where it has a ground of its own."""
    sides = {"auto": "center", "middle": "center"}
    across, along = (sides.get(a, a) for a in (note.get(k, "auto") for k in ("xanchor", "yanchor")))
    ground = {"facecolor": "white", "alpha": 0.8, "linewidth": 0, "pad": 0.6}
    axes.annotate(
        plain_text(note.get("text", "")), (note["x"], note["y"]),
        xycoords="data" if note.get("xref", "x") != "paper" else "axes fraction",
        xytext=(0.7 * note.get("xshift", 0), 0.7 * note.get("yshift", 0)),
        textcoords="offset points", ha=across, va=along, color="#3c4450",
        fontsize=0.62 * note.get("font", {}).get("size", 13),
        bbox=ground if note.get("bgcolor") else None, annotation_clip=False,
    )  # fmt: skip


def _whole(traces: list[dict[str, Any]], way: Way) -> bool:
    """Are all values along an axis whole numbers?"""
    values = [v for t in traces if t.get(way) is not None for v in t[way] if v is not None]
    return bool(values) and all(isinstance(v, (int, np.integer)) for v in values)


def _ticks(axes: Axes, way: Way, axis: dict[str, Any], places: Places, whole: bool) -> None:
    from matplotlib.ticker import MaxNLocator, MultipleLocator

    one = axes.xaxis if way == "x" else axes.yaxis
    axes.tick_params(axis=way, labelsize=8)
    linear = axis.get("type") != "log"
    if axis.get("visible") is False:
        one.set_visible(False)
    elif axis.get("showticklabels") is False:  # not of the axes that share theirs with this one
        hidden: dict[str, Any] = {"labelbottom": False} if way == "x" else {"labelleft": False}
        axes.tick_params(axis=way, length=0, **hidden)
    elif axis.get("tickmode") == "array" or axis.get("tickvals") is not None or places.names:
        ticks = places(axis.get("tickvals", places.names))
        one.set_ticks(ticks, [plain_text(t) for t in axis.get("ticktext", ticks)])
    elif str(axis.get("tickformat", "")).endswith("%"):
        one.set_major_formatter(percent)
    elif linear and isinstance(axis.get("dtick"), (int, float)):
        one.set_major_locator(MultipleLocator(axis["dtick"]))
    elif linear and whole:
        one.set_major_locator(MaxNLocator(nbins="auto", steps=[1, 2, 5, 10], integer=True))


def _finish(axes: Axes, way: Way, axis: dict[str, Any]) -> None:
    """Title, ends and grid."""
    one = axes.xaxis if way == "x" else axes.yaxis
    one.set_label_text(plain_text(axis.get("title", {}).get("text", "")), fontsize=9)
    if way == "x" and axis.get("side") == "top":
        axes.xaxis.tick_top()
        axes.xaxis.set_label_position("top")
    ends = axis.get("range")
    if ends is not None and None not in ends:
        log = axis.get("type") == "log"
        axes.set(**{f"{way}lim": [10.0**e if log else float(e) for e in ends]})
    if axis.get("showgrid") is not False and axis.get("visible") is not False:
        axes.grid(axis=way, color="#e2e6ec", linewidth=0.6)
        axes.set_axisbelow(True)
