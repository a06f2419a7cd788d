"""The Pareto front among all trials, and how the part of the box that it dominates grew."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from plotly.graph_objects import Figure

from hyperlens.explain.objectives.pareto import ParetoFront
from hyperlens.plots.objectives.close_up import CloseUp
from hyperlens.plots.parts.colours import BLUE, GREY, VERMILLION
from hyperlens.plots.parts.marks import dots, line
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import directed, safe, short, unshown, value_text
from hyperlens.plots.parts.thinning import thinned
from hyperlens.words import number

MOST_PAIRS = 3  # of objectives, one panel each
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
    beyond = _beyond(record, pairs)
    if grown:
        _growth(fig, record, len(pairs), [0.0, below - 0.04], beyond)
    else:
        fig.layout.xaxis.title.text += beyond
    return fig


def draw_front(record: ParetoFront) -> Figure:
    """The front alone, in the first two objectives."""
    fig = figure(HEIGHT)
    _panel(fig, record, 0, 1, 0, [0.0, 1.0], [0.0, 1.0])
    fig.layout.xaxis.title.text += _beyond(record, [(0, 1)])
    return fig


def _beyond(record: ParetoFront, pairs: list[tuple[int, int]]) -> str:
    """How many trials are not in all panels, as a line under a title."""
    near = [_near(record, k) for k in range(len(record.objectives))]
    shown = [
        near[a].holds(record.costs[:, a]) & near[b].holds(record.costs[:, b]) for a, b in pairs
    ]
    where = " in every panel" if len(pairs) > 1 else ""
    count = int((~np.all(shown, axis=0)).sum())
    return unshown(count, "trial", f" far behind the front{where}")


def _near(record: ParetoFront, k: int) -> CloseUp:
    return CloseUp.of(record.costs[:, k], record.front, record.maximize[k])


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
    fig.update_layout({
        f"xaxis{number_}": {
            "title": {"text": directed(record.objectives[a], record.maximize[a])},
            "domain": across, "anchor": f"y{k + 1}", **_near(record, a).axis,
        },
        f"yaxis{number_}": {
            "title": {"text": directed(record.objectives[b], record.maximize[b])},
            "domain": up, "anchor": f"x{k + 1}", **_near(record, b).axis,
        },
    })  # fmt: skip


def _trials(record: ParetoFront, rows: list[int]) -> dict[str, Any]:
    """Which trial each point is, for a page."""
    return {"trials": record.number[rows].tolist()}


def _growth(fig: Figure, record: ParetoFront, k: int, up: list[float], beyond: str) -> None:
    hover = "after trial %{x}: %{y:.1%}"
    shown = thinned(range(len(record.number)), always=[0, len(record.number) - 1])
    fig.add_trace(
        line(record.number[shown], record.hypervolume[shown], "dominated part of the box", BLUE, hover,
             shape="hv", xaxis=f"x{k + 1}", yaxis=f"y{k + 1}", showlegend=False)
    )  # fmt: skip
    fig.update_layout({
        f"xaxis{k + 1}": {
            "title": {"text": f"trial{beyond}"}, "domain": [0.0, 1.0], "anchor": f"y{k + 1}",
        },
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
