"""The Pareto front among all trials, and how the part of the box that it dominates grew."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plotly.graph_objects import Figure

from hyperlens.explain.objectives.pareto import ParetoFront
from hyperlens.plots.parts.colours import BLUE, GREY, VERMILLION
from hyperlens.plots.parts.marks import dots, line
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import directed, safe, short, unshown, value_text
from hyperlens.plots.parts.thinning import thinned
from hyperlens.words import number

MOST_PAIRS = 3  # of objectives, one panel each
SPECK, FAR, MARGIN = 6.0, 2.0, 0.1  # lengths of the front
MOST_LINES = 12  # of a configuration on hover
HEIGHT, GROWTH = 380, 170
GAP = 0.09  # between panels, of the width
STEPS = (
    "hv"  # members come the best in the first objective first: between two of them nothing is known
)
# to be better than the worse of both


def draw(record: ParetoFront) -> Figure:
    """A panel for each two objectives, trials of the front in colour; below, the hypervolume."""
    pairs = list(combinations(range(len(record.objectives)), 2))[:MOST_PAIRS]
    grown = bool(np.isfinite(record.hypervolume).all())
    below = GROWTH / (HEIGHT + GROWTH) if grown else 0.0
    fig = figure(HEIGHT + GROWTH * grown)
    width = (1 - GAP * (len(pairs) - 1)) / len(pairs)
    for k, (a, b) in enumerate(pairs):
        left = k * (width + GAP)
        _panel(fig, record, a, b, k, [left, min(left + width, 1.0)], [below + 0.12 * grown, 1.0])
    if grown:
        _growth(fig, record, len(pairs), [0.0, below - 0.04])
    return fig


def draw_front(record: ParetoFront) -> Figure:
    """The front alone, in the first two objectives."""
    fig = figure(HEIGHT)
    _panel(fig, record, 0, 1, 0, [0.0, 1.0], [0.0, 1.0])
    return fig


def _panel(
    fig: Figure, record: ParetoFront, a: int, b: int, k: int, across: list[float], up: list[float]
) -> None:
    x, y = record.costs[:, a], record.costs[:, b]
    axes: dict[str, Any] = {"xaxis": f"x{k + 1}", "yaxis": f"y{k + 1}", "showlegend": k == 0}
    compared = np.isin(np.arange(len(x)), record.compared)
    mark: dict[str, Any] = {"color": GREY, "size": 6, "opacity": 0.6}
    for group, name, symbol in (
        (compared & ~record.front, "each trial", "circle"),
        (~compared, "exceeds a limit", "x-thin-open"),
    ):
        others = thinned(np.flatnonzero(group).tolist())
        if others:
            fig.add_trace(
                dots(x[others], y[others], name, {**mark, "symbol": symbol}, "%{customdata}",
                     customdata=[_said(record, i) for i in others], meta=_trials(record, others), **axes)
            )  # fmt: skip
    rows = record.members
    if len(record.objectives) == 2:
        fig.add_trace(line(x[rows], y[rows], "front", BLUE, width=1.5, shape=STEPS, **axes))
    texts = [_said(record, i, place) for place, i in enumerate(rows.tolist())]
    mark = {"color": BLUE, "size": 9}
    fig.add_trace(
        dots(
            x[rows],
            y[rows],
            "on the front",
            mark,
            "%{customdata}",
            customdata=texts,
            meta=_trials(record, rows.tolist()),
            **axes,
        )
    )
    at = np.flatnonzero(record.number == record.knee)
    mark = {"color": VERMILLION, "size": 14, "symbol": "star"}
    fig.add_trace(
        dots(x[at], y[at], "knee", mark, "%{customdata}",
             customdata=[f"knee: {_said(record, int(at[0]))}"],
             meta=_trials(record, at.tolist()), **axes)
    )  # fmt: skip
    number_ = k + 1 if k else ""
    near = [_near(record, each) for each in (a, b)]
    inside = np.all([(record.costs[:, j] >= low) & (record.costs[:, j] <= high)
                     for j, (low, high) in zip((a, b), near, strict=True)], axis=0)  # fmt: skip
    beyond = unshown(int((~inside).sum()), "trials far behind the front")
    fig.update_layout({
        f"xaxis{number_}": {
            "title": {"text": directed(record.objectives[a], record.maximize[a]) + beyond},
            "domain": across, "anchor": f"y{k + 1}", **_range(near[0]),
        },
        f"yaxis{number_}": {
            "title": {"text": directed(record.objectives[b], record.maximize[b])},
            "domain": up, "anchor": f"x{k + 1}", **_range(near[1]),
        },
    })  # fmt: skip


def _near(record: ParetoFront, k: int) -> tuple[float, float]:
    """What is shown of an objective: all, or, where the front would be a speck of it, the front with
    what lies FAR times its length behind it."""
    low, high = _ends(record.costs[record.front, k])
    length = high - low
    lowest, highest = _ends(record.costs[:, k])
    if not 0 < length * SPECK < highest - lowest:
        return -math.inf, math.inf
    behind, ahead = FAR * length, MARGIN * length
    return (low - behind, high + ahead) if record.maximize[k] else (low - ahead, high + behind)


def _ends(costs: NDArray[np.float64]) -> tuple[float, float]:
    return float(costs.min()), float(costs.max())


def _range(near: tuple[float, float]) -> dict[str, Any]:
    return {"range": list(near)} if math.isfinite(near[0]) else {}


def _trials(record: ParetoFront, rows: list[int]) -> dict[str, Any]:
    """Which trial each point is, for a page."""
    return {"trials": record.number[rows].tolist()}


def _growth(fig: Figure, record: ParetoFront, k: int, up: list[float]) -> None:
    hover = "after trial %{x}: %{y:.1%}"
    shown = thinned(range(len(record.number)), always=[0, len(record.number) - 1])
    fig.add_trace(
        line(record.number[shown], record.hypervolume[shown], "dominated part of the box", BLUE, hover,
             shape="hv", xaxis=f"x{k + 1}", yaxis=f"y{k + 1}", showlegend=False)
    )  # fmt: skip
    fig.update_layout({
        f"xaxis{k + 1}": {"title": {"text": "trial"}, "domain": [0.0, 1.0], "anchor": f"y{k + 1}"},
        f"yaxis{k + 1}": {
            "title": {"text": "hypervolume"}, "domain": up, "anchor": f"x{k + 1}",
            "tickformat": ".0%", "rangemode": "tozero",
        },
    })  # fmt: skip


def _said(record: ParetoFront, row: int, place: int | None = None) -> str:
    """A trial with all its objectives, and its configuration if it is a member of the front."""
    costs = zip(record.objectives, record.costs[row].tolist(), strict=True)
    lines = [f"trial {record.number[row]}", *(f"{safe(n)} {number(c)}" for n, c in costs)]
    if place is not None:
        configuration = [
            f"{safe(name)}: {safe(short(value_text(column[place])))}"
            for name, column in zip(record.parameters, record.values, strict=True)
        ]
        lines += configuration[:MOST_LINES]
    return "<br>".join(lines)
