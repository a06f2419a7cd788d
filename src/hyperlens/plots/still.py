"""Figures as still pictures without a browser: a Plotly figure drawn by Matplotlib.

Only what the figures of this package use is known: lines, marks, fills, error bars, bars, maps, and
axes that are linear, logarithmic or categories. What a page shows only on demand is left out.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

import numpy as np
from plotly.graph_objects import Figure as Drawn

from hyperlens.errors import AnalysisError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MISSING = "Still pictures need the extra 'stills'; install it with 'pip install hyperlens[stills]'."
INCHES = 100  # pixels of a Plotly figure to one inch
LINE = 110  # characters of a line of the legend
WIDTH = 760  # pixels, where a figure has no width of its own
DASHES: dict[str, Any] = {"dash": "--", "dot": ":", "dashdot": "-.", "solid": "-"}
MARKS = {
    "circle": "o", "circle-open": "o", "star": "*", "diamond": "D", "line-ns-open": "|",
    "square": "s", "cross": "P", "x": "X", "triangle-up": "^",
}  # fmt: skip
KNOWN = ("scatter", "bar", "heatmap", "contour")


def still(drawn: Drawn) -> Figure:
    """The same picture as a Matplotlib figure."""
    try:
        from matplotlib.figure import Figure as Still
    except ModuleNotFoundError as problem:
        raise AnalysisError(MISSING) from problem
    made = drawn.to_dict()
    layout = _merged(made["layout"])
    height = layout.get("height", 400)
    figure = Still(figsize=(WIDTH / INCHES, height / INCHES), dpi=150, layout="constrained")
    traces = [t for t in made["data"] if t.get("visible", True) is True]
    panels = _panels(traces, layout)
    room = [_share(layout, y) for _, y in panels]
    grid = figure.add_gridspec(len(panels), 1, height_ratios=room)
    for row, (x, y) in enumerate(panels):
        axes = figure.add_subplot(grid[row])
        mine = [t for t in traces if (t.get("xaxis", "x"), t.get("yaxis", "y")) == (x, y)]
        _panel(axes, mine, layout, x, y)
        if any(below == x for below, _ in panels[row + 1 :]):  # the lowest of them has the labels
            axes.tick_params(labelbottom=False)
            axes.set_xlabel("")
        if row == 0:
            _legend(axes, figure, traces, layout)
    return figure


def _merged(layout: dict[str, Any]) -> dict[str, Any]:
    """Axes by Plotly's short names: x, y, x2, y2 ..."""
    found = {k: v for k, v in layout.items() if not re.fullmatch(r"[xy]axis\d*", k)}
    for key, axis in layout.items():
        if match := re.fullmatch(r"([xy])axis(\d*)", key):
            found["".join(match.groups())] = axis
    return found


def _panels(traces: list[dict[str, Any]], layout: dict[str, Any]) -> list[tuple[str, str]]:
    """Pairs of axes, the uppermost first."""
    pairs = dict.fromkeys((t.get("xaxis", "x"), t.get("yaxis", "y")) for t in traces)
    return sorted(pairs, key=lambda p: -_domain(layout, p[1])[1]) or [("x", "y")]


def _domain(layout: dict[str, Any], y: str) -> tuple[float, float]:
    low, high = layout.get(y, {}).get("domain", (0.0, 1.0))
    return float(low), float(high)


def _share(layout: dict[str, Any], y: str) -> float:
    low, high = _domain(layout, y)
    return max(high - low, 0.05)


def _panel(
    axes: Axes, traces: list[dict[str, Any]], layout: dict[str, Any], x: str, y: str
) -> None:
    places = {"x": _Places(layout.get(x, {})), "y": _Places(layout.get(y, {}))}
    _scale(axes, "x", layout.get(x, {}))
    _scale(axes, "y", layout.get(y, {}))
    before: dict[str, Any] | None = None
    offsets = _grouped(traces, layout)
    heights: dict[float, float] | None = {} if layout.get("barmode") == "stack" else None
    for number, trace in enumerate(traces):
        kind = trace.get("type", "scatter")
        if kind not in KNOWN:
            raise AnalysisError(f"A {kind} figure has no still picture; use backend='plotly'.")
        if kind == "scatter":
            _scatter(axes, trace, before, places)
        elif kind == "bar":
            _bar(axes, trace, places, heights, *offsets.get(number, (0.0, 0.72)))
        else:
            _map(axes, trace, places)
        before = trace
    for shape in layout.get("shapes", ()):
        if shape.get("xref", "x") == x and (y == "y" or shape.get("type") == "line"):
            _shape(axes, shape)
    _finish(axes, "x", layout.get(x, {}), places["x"])
    _finish(axes, "y", layout.get(y, {}), places["y"])
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


class _Places:
    """Where values stand on an axis: numbers as they are, categories in their order."""

    def __init__(self, axis: dict[str, Any]) -> None:
        self.names = list(axis.get("categoryarray", ())) if axis.get("type") == "category" else None

    def __call__(self, values: Any) -> Any:
        if self.names is None:
            return np.array([np.nan if v is None else v for v in _plain(values)], dtype=float)
        at = {name: float(k) for k, name in enumerate(self.names)}
        return np.array([at.get(v, np.nan) for v in _plain(values)], dtype=float)


def _plain(values: Any) -> list[Any]:
    return [] if values is None else list(values)


def _scatter(
    axes: Axes, trace: dict[str, Any], before: dict[str, Any] | None, places: dict[str, _Places]
) -> None:
    x, y = places["x"](trace.get("x")), places["y"](trace.get("y"))
    line, marker = trace.get("line", {}), trace.get("marker", {})
    mode = trace.get("mode", "lines")
    alpha = trace.get("opacity", 1.0)
    if trace.get("fill") == "tonexty" and before is not None:
        lower = places["y"](before.get("y"))
        axes.fill_between(x, lower, y, color=_rgba(trace.get("fillcolor")), linewidth=0)
    elif trace.get("fill") == "toself":
        axes.fill(x, y, color=_rgba(trace.get("fillcolor")), linewidth=0)
    elif "lines" in mode and line.get("width", 2) > 0:
        step = {"hv": "steps-post", "hvh": "steps-mid"}.get(line.get("shape", ""), "default")
        axes.plot(
            x, y, color=_rgba(line.get("color")), linewidth=0.7 * line.get("width", 2), alpha=alpha,
            linestyle=DASHES.get(line.get("dash", "solid"), "-"), drawstyle=step,
        )  # fmt: skip
    if "markers" in mode:
        _marks(axes, x, y, {"color": line.get("color"), **marker}, alpha)
    if "text" in mode:
        for at, up, text in zip(x, y, trace.get("text", ()), strict=False):
            axes.text(at, up, said(text), ha="center", va="center", fontsize=7, color="#5a6372")
    for bars, name in ((trace.get("error_x"), "xerr"), (trace.get("error_y"), "yerr")):
        if bars:
            _whiskers(axes, x, y, bars, name)


def _marks(axes: Axes, x: Any, y: Any, marker: dict[str, Any], alpha: float) -> None:
    symbols = marker.get("symbol", "circle")
    each = list(symbols) if isinstance(symbols, (list, tuple)) else [symbols] * len(x)
    colours: Any = marker.get("color")
    size = 0.55 * float(marker.get("size", 6))
    numbers = colours is not None and not isinstance(colours, str)
    for symbol in dict.fromkeys(each):
        rows = [k for k, s in enumerate(each) if s == symbol]
        looks: dict[str, Any] = {"marker": MARKS.get(symbol, "o"), "s": size**2 * 1.6}
        looks["alpha"] = alpha * marker.get("opacity", 1.0)
        if numbers:
            looks |= {"c": [colours[k] for k in rows], "cmap": _colours(marker)}
        elif str(symbol).endswith("-open") and symbol != "line-ns-open":
            looks |= {"facecolors": "none", "edgecolors": _rgba(colours)}
        else:
            looks["color"] = _rgba(colours)
        axes.scatter(x[rows], y[rows], zorder=3, **looks)


def _whiskers(axes: Axes, x: Any, y: Any, bars: dict[str, Any], name: str) -> None:
    low, high = (
        np.maximum(np.array(_plain(bars.get(k)), float), 0) for k in ("arrayminus", "array")
    )
    ends: dict[str, Any] = {name: np.array([np.nan_to_num(low), np.nan_to_num(high)])}
    axes.errorbar(x, y, fmt="none", ecolor="#3c4450", elinewidth=1, capsize=2.5, **ends)


def _grouped(
    traces: list[dict[str, Any]], layout: dict[str, Any]
) -> dict[int, tuple[float, float]]:
    """Shift and width of bars that stand beside each other."""
    bars = [k for k, t in enumerate(traces) if t.get("type") == "bar" and t.get("visible", True)]
    if layout.get("barmode", "group") != "group" or len(bars) < 2:
        return {}
    width = 0.72 / len(bars)
    return {k: ((n - (len(bars) - 1) / 2) * width, width) for n, k in enumerate(bars)}


def _bar(
    axes: Axes,
    trace: dict[str, Any],
    places: dict[str, _Places],
    heights: dict[float, float] | None,
    shift: float,
    width: float,
) -> None:
    x, y = places["x"](trace.get("x")), places["y"](trace.get("y"))
    marker = trace.get("marker", {})
    looks = {"color": _rgba(marker.get("color")), "alpha": marker.get("opacity", 1.0)}
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


def _map(axes: Axes, trace: dict[str, Any], places: dict[str, _Places]) -> None:
    x, y = places["x"](trace.get("x")), places["y"](trace.get("y"))
    z = np.array([[np.nan if v is None else v for v in row] for row in trace["z"]], dtype=float)
    drawn = axes.pcolormesh(x, y, z, cmap=_colours(trace), shading="nearest")
    bar = axes.figure.colorbar(drawn, ax=axes)
    bar.set_label(said(trace.get("colorbar", {}).get("title", {}).get("text", "")), fontsize=9)
    bar.ax.tick_params(labelsize=8)
    texts = trace.get("text")
    if texts is not None and trace.get("texttemplate"):
        for row, line in zip(y, texts, strict=True):
            for column, text in zip(x, line, strict=True):
                axes.text(
                    column, row, said(text), ha="center", va="center", fontsize=7, color="white"
                )


def _colours(looks: dict[str, Any]) -> str:
    return "cividis_r" if looks.get("reversescale") else "cividis"


def _shape(axes: Axes, shape: dict[str, Any]) -> None:
    if shape.get("type") == "line" and shape.get("x0") == shape.get("x1"):
        line = shape.get("line", {})
        axes.axvline(shape["x0"], color=_rgba(line.get("color")), linewidth=1, linestyle=":")
    elif shape.get("type") == "rect":
        axes.axvspan(shape["x0"], shape["x1"], color=_rgba(shape.get("fillcolor")), linewidth=0)


def _scale(axes: Axes, which: str, axis: dict[str, Any]) -> None:
    if axis.get("type") == "log":
        (axes.set_xscale if which == "x" else axes.set_yscale)("log")


def _finish(axes: Axes, which: str, axis: dict[str, Any], places: _Places) -> None:
    one = axes.xaxis if which == "x" else axes.yaxis
    title = said(axis.get("title", {}).get("text", ""))
    one.set_label_text(title, fontsize=9)
    axes.tick_params(axis="x" if which == "x" else "y", labelsize=8)
    if axis.get("visible") is False:
        one.set_visible(False)
    elif axis.get("showticklabels") is False:
        one.set_ticks([])
    elif axis.get("tickmode") == "array" or places.names is not None:
        ticks = places(axis.get("tickvals", places.names))
        one.set_ticks(ticks, [said(t) for t in axis.get("ticktext", ticks)])
    elif str(axis.get("tickformat", "")).endswith("%"):
        one.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    ends = axis.get("range")
    if ends is not None and None not in ends:
        log = axis.get("type") == "log"
        low, high = ((10.0**e if log else float(e)) for e in ends)
        (axes.set_xlim if which == "x" else axes.set_ylim)(low, high)
    if axis.get("showgrid") is not False and axis.get("visible") is not False:
        axes.grid(axis="x" if which == "x" else "y", color="#e2e6ec", linewidth=0.6)
        axes.set_axisbelow(True)


def _legend(
    axes: Axes, figure: Figure, traces: list[dict[str, Any]], layout: dict[str, Any]
) -> None:
    """One line above the picture, a name once."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    if layout.get("showlegend") is False:
        return
    made: dict[str, Any] = {}
    for trace in traces:
        name = said(trace.get("name") or "")
        if not name or trace.get("showlegend") is False or name in made:
            continue
        colour = trace.get("marker", {}).get("color") or trace.get("line", {}).get("color")
        if trace.get("fill") in ("tonexty", "toself"):
            made[name] = Patch(color=_rgba(trace.get("fillcolor")))
        elif trace.get("type") == "bar":
            made[name] = Patch(color=_rgba(colour))
        elif trace.get("type", "scatter") == "scatter" and (
            isinstance(colour, str) or colour is None
        ):
            marks = "markers" in trace.get("mode", "lines")
            symbol = trace.get("marker", {}).get("symbol", "circle")
            mark = MARKS.get(symbol if isinstance(symbol, str) else "circle", "o")
            line: Any = DASHES.get(trace.get("line", {}).get("dash", "solid"), "-")
            made[name] = Line2D(
                [], [], color=_rgba(colour), marker=mark if marks else None,
                linestyle=line if "lines" in trace.get("mode", "lines") else "none",
            )  # fmt: skip
    columns = max(1, min(len(made), LINE // max((len(name) + 5 for name in made), default=1)))
    if len(made) > 1 or (made and layout.get("showlegend")):
        figure.legend(
            list(made.values()), list(made), loc="outside upper left", ncols=columns,
            fontsize=8, frameon=False,
        )  # fmt: skip


def said(text: object) -> str:
    """Plotly's text without its tags, and entities as they are read.

    >>> said("<b>a</b><br>&lt;b")
    'a\\n<b'
    """
    plain = re.sub(r"<br\s*/?>", "\n", str(text))
    plain = re.sub(r"</?(b|i|span|sub|sup)\b[^>]*>", "", plain)
    return html.unescape(plain).replace("$", r"\$").strip()


def _rgba(colour: Any) -> Any:
    """A colour as Matplotlib takes it; grey where there is none."""
    if not isinstance(colour, str):
        return "#8A919C"
    if match := re.fullmatch(r"rgba?\(([^)]*)\)", colour.strip()):
        parts = [float(p) for p in match[1].split(",")]
        return (*(p / 255 for p in parts[:3]), *parts[3:])
    return colour
