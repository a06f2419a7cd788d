"""What a still picture is drawn with: lines, marks, fills, error bars, bars and maps of Plotly's
figures by Matplotlib's means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hyperlens.plots.stills.looks import (
    DASHES,
    MARKS,
    colour_map,
    on_a_scale,
    outline,
    percent,
    plain_text,
    rgba,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BRIGHT = 0.5  # of a cell whose text is black


class Places:
    """Where values stand on an axis: numbers as they are, categories in their order."""

    def __init__(self, axis: dict[str, Any]) -> None:
        self.names = list(axis.get("categoryarray", ())) if axis.get("type") == "category" else None

    def __call__(self, values: Any) -> Any:
        if self.names is None:
            return np.array([np.nan if v is None else v for v in plain(values)], dtype=float)
        at = {name: float(k) for k, name in enumerate(self.names)}
        return np.array([at.get(v, np.nan) for v in plain(values)], dtype=float)


def plain(values: Any) -> list[Any]:
    return [] if values is None else list(values)


def draw_scatter(
    axes: Axes, trace: dict[str, Any], before: dict[str, Any] | None, places: dict[str, Places]
) -> None:
    x, y = places["x"](trace.get("x")), places["y"](trace.get("y"))
    line, marker = trace.get("line", {}), trace.get("marker", {})
    mode = trace.get("mode", "lines")
    alpha = trace.get("opacity", 1.0)
    if trace.get("fill") == "tonexty" and before is not None:
        lower = places["y"](before.get("y"))
        axes.fill_between(x, lower, y, color=rgba(trace.get("fillcolor")), linewidth=0)
    elif trace.get("fill") == "toself":
        axes.fill(x, y, color=rgba(trace.get("fillcolor")), linewidth=0)
    elif "lines" in mode and line.get("width", 2) > 0:
        step = {"hv": "steps-post", "hvh": "steps-mid"}.get(line.get("shape", ""), "default")
        axes.plot(
            x, y, color=rgba(line.get("color")), linewidth=0.7 * line.get("width", 2), alpha=alpha,
            linestyle=DASHES.get(line.get("dash", "solid"), "-"), drawstyle=step,
        )  # fmt: skip
    if "markers" in mode:
        clipped = trace.get("cliponaxis") is not False
        _marks(axes, x, y, {"color": line.get("color"), **marker}, alpha, clipped)
    if "text" in mode:
        for at, up, text in zip(x, y, trace.get("text", ()), strict=False):
            axes.text(
                at, up, plain_text(text), ha="center", va="center", fontsize=7, color="#5a6372"
            )
    for bars, name in ((trace.get("error_x"), "xerr"), (trace.get("error_y"), "yerr")):
        if bars:
            _whiskers(axes, x, y, bars, name)


def _marks(axes: Axes, x: Any, y: Any, marker: dict[str, Any], alpha: float, clipped: bool) -> None:
    symbols = marker.get("symbol", "circle")
    each = list(symbols) if isinstance(symbols, (list, tuple)) else [symbols] * len(x)
    colours: Any = marker.get("color")
    size = np.broadcast_to(0.55 * np.asarray(marker.get("size", 6), dtype=float), len(x))
    edge = outline(marker)
    widths = np.broadcast_to(edge.get("linewidths", 0.0), len(x))
    for symbol in dict.fromkeys(each):
        rows = [k for k, s in enumerate(each) if s == symbol]
        looks: dict[str, Any] = {"marker": MARKS.get(symbol, "o")}
        looks["s"] = size[rows] ** 2 * (2.8 if symbol == "star" else 1.6)
        alike = len(set(widths[rows])) == 1  # beside unknown places Matplotlib takes one width only
        ring = {**edge, "linewidths": widths[rows][0] if alike else widths[rows]} if edge else {}
        looks |= {"alpha": alpha * marker.get("opacity", 1.0), "clip_on": clipped}
        if on_a_scale(marker):
            looks |= {"c": [colours[k] for k in rows], "cmap": colour_map(marker)}
            looks |= {"vmin": marker.get("cmin"), "vmax": marker.get("cmax"), **ring}
        elif str(symbol).endswith("-open") and symbol != "line-ns-open":
            looks |= {"facecolors": "none", "edgecolors": rgba(colours)}
        elif symbol == "line-ns-open":
            looks["color"] = rgba(colours)
        else:
            looks |= {"facecolors": rgba(colours), "linewidths": 0, **ring}
        dots = axes.scatter(x[rows], y[rows], zorder=3, **looks)
    if on_a_scale(marker) and marker.get("colorbar"):
        _colour_bar(axes, dots, marker["colorbar"])


def _whiskers(axes: Axes, x: Any, y: Any, bars: dict[str, Any], name: str) -> None:
    low, high = (
        np.maximum(np.array(plain(bars.get(k)), float), 0) for k in ("arrayminus", "array")
    )
    ends: dict[str, Any] = {name: np.array([np.nan_to_num(low), np.nan_to_num(high)])}
    axes.errorbar(x, y, fmt="none", ecolor="#3c4450", elinewidth=1, capsize=2.5, **ends)


def bar_places(
    traces: list[dict[str, Any]], layout: dict[str, Any]
) -> dict[int, tuple[float, float]]:
    """Shift and width of bars that stand beside each other."""
    bars = [k for k, t in enumerate(traces) if t.get("type") == "bar" and t.get("visible", True)]
    if layout.get("barmode", "group") != "group" or len(bars) < 2:
        return {}
    width = 0.72 / len(bars)
    return {k: ((n - (len(bars) - 1) / 2) * width, width) for n, k in enumerate(bars)}


def draw_bars(
    axes: Axes,
    trace: dict[str, Any],
    places: dict[str, Places],
    heights: dict[float, float] | None,
    shift: float,
    width: float,
) -> None:
    x, y = places["x"](trace.get("x")), places["y"](trace.get("y"))
    marker = trace.get("marker", {})
    colour = marker.get("color")
    several = isinstance(colour, (list, tuple))
    looks = {
        "color": [rgba(c) for c in colour] if several else rgba(colour),
        "alpha": marker.get("opacity"),
    }
    wide = trace.get("width")
    thick = width if wide is None else np.array(wide, dtype=float)
    base = trace.get("base")
    if trace.get("orientation") == "h":
        left = _stacked(heights, y, x) if base is None else np.array(base, dtype=float)
        axes.barh(y + shift, x, thick, left=left, **looks)
        if trace.get("error_x"):
            _whiskers(axes, x, y + shift, trace["error_x"], "xerr")
    else:
        axes.bar(x + shift, y, thick, bottom=_stacked(heights, x, y), **looks)


def _stacked(heights: dict[float, float] | None, at: Any, lengths: Any) -> Any:
    """Where bars begin: on top of what was drawn at the same place, if they are to be stacked."""
    if heights is None:
        return np.zeros(len(at))
    begin = np.array([heights.get(float(a), 0.0) for a in at])
    for a, length in zip(at, np.nan_to_num(lengths), strict=True):
        heights[float(a)] = heights.get(float(a), 0.0) + float(length)
    return begin


def draw_map(axes: Axes, trace: dict[str, Any], places: dict[str, Places]) -> None:
    x, y = places["x"](trace.get("x")), places["y"](trace.get("y"))
    z = np.array([[np.nan if v is None else v for v in row] for row in trace["z"]], dtype=float)
    cells = axes.pcolormesh(
        x, y, z, cmap=colour_map(trace), shading="nearest", vmin=trace.get("zmin"),
        vmax=trace.get("zmax"),
    )  # fmt: skip
    if trace.get("showscale") is not False:
        _colour_bar(axes, cells, trace.get("colorbar", {}))
    texts = trace.get("text")
    if texts is None or not trace.get("texttemplate"):
        return
    for i, row in enumerate(y):
        for j, column in enumerate(x):
            red, green, blue, _ = cells.to_rgba(z[i, j])
            dark = 0.299 * red + 0.587 * green + 0.114 * blue < BRIGHT
            axes.text(
                column, row, plain_text(texts[i][j]), ha="center", va="center", fontsize=7,
                color="white" if dark else "black",
            )  # fmt: skip


def _colour_bar(axes: Axes, marks: Any, looks: dict[str, Any]) -> None:
    bar = axes.figure.colorbar(marks, ax=axes)
    bar.set_label(plain_text(looks.get("title", {}).get("text", "")), fontsize=9)
    bar.ax.tick_params(labelsize=8)
    if looks.get("tickvals") is not None:
        bar.set_ticks(list(looks["tickvals"]), labels=[plain_text(t) for t in looks["ticktext"]])
    elif str(looks.get("tickformat", "")).endswith("%"):
        bar.ax.yaxis.set_major_formatter(percent)
