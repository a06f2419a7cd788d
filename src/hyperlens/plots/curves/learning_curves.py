"""Learning curves by how they ended, and below them how well each step ranks trials as the end does."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from plotly.graph_objects import Figure

from hyperlens.explain.curves.learning_curves import AS_WELL, LearningCurves
from hyperlens.plots.parts.axes import number_axis
from hyperlens.plots.parts.colours import BAND, BLUE, GREY, ORANGE, SKY, VERMILLION, see_through
from hyperlens.plots.parts.marks import dots, line, rows
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import directed
from hyperlens.plots.parts.thinning import thinned_note

UPPER, GAP, LOWER = 320, 80, 170  # pixels
COLOURS = {"complete": BLUE, "pruned": ORANGE, "stopped": ORANGE, "failed": VERMILLION}
SYMBOLS = {"pruned": "circle", "stopped": "circle", "failed": "x", "running": "circle-open"}
BULK = (0.02, 0.98)  # of all values are on the axis
DECADE = 8.0  # budgets that span so many times the smallest are on a log scale


def draw(record: LearningCurves) -> Figure:
    """Above: curves, the best thick, stopped ones and failed ones marked where they ended. Below: the
    rank correlation of each step with the end."""
    whole = UPPER + GAP + LOWER
    across = step_axis(record.axis, record.grid)
    fig = figure(
        whole + 110,
        xaxis={**across, "anchor": "y", "title": {"text": record.axis}},
        yaxis={
            "title": {"text": directed(record.objective, record.maximize)},
            "domain": [1 - UPPER / whole, 1],
            **_reach(record),
        },
        xaxis2={
            **across,
            "anchor": "y2",
            "matches": "x",
            "title": {
                "text": record.axis + thinned_note(len(record.number), record.total, "curves")
            },
        },
        yaxis2={
            "title": {"text": "rank correlation<br>with the end"},
            "anchor": "x2",
            "domain": [0, LOWER / whole],
        },
    )
    for end, count in record.ended.items():
        _add_curves(fig, record, end, count)
    _add_best(fig, record)
    _add_correlation(fig, record)
    return fig


def step_axis(axis: str, steps: NDArray[np.float64]) -> dict[str, Any]:
    """Steps as they are, budgets that span much by their logarithm."""
    log = axis == "budget" and steps[0] > 0 and steps[-1] / steps[0] >= DECADE
    places = steps.tolist()
    if (steps == np.rint(steps)).all():
        places = [int(step) for step in places]
    return number_axis(places, log)


def _reach(record: LearningCurves) -> dict[str, Any]:
    """The ends of the axis, where few values would flatten all others."""
    known = (
        record.values[np.isfinite(record.values)] / 4
    )  # differences of the largest are numbers too
    low, high = np.quantile(known, BULK)
    if not np.isnan(record.best):
        low, high = min(low, record.best / 4), max(high, record.best / 4)
    margin = 0.05 * (high - low)
    if margin == 0 or np.ptp(known) < 1.5 * (high - low):
        return {}
    return {"range": [4 * float(low - margin), 4 * float(high + margin)]}


def _add_curves(fig: Figure, record: LearningCurves, end: str, count: int) -> None:
    """All curves that ended so as one line with gaps, and marks where they ended."""
    shown = [k for k, e in enumerate(record.end) if e == end]
    x: list[float | None] = []
    y: list[float | None] = []
    grid = record.grid.tolist()
    for k in shown:
        known = np.isfinite(record.values[k])
        x += [step for step, there in zip(grid, known, strict=True) if there]
        y += record.values[k][known].tolist()
        if not x or x[-1] != record.last_step[k]:
            x.append(float(record.last_step[k]))
            y.append(float(record.last_value[k]))
        x.append(None)
        y.append(None)
    colour = COLOURS.get(end, GREY)
    name = f"{end} ({count})"
    numbers = [int(record.number[k]) for k in shown]
    looks: dict[str, Any] = {"legendgroup": end, "meta": {"lines": numbers}}
    fig.add_trace(line(x, y, name, see_through(colour, 0.35), width=1, **looks))
    fig.data[-1].hoverinfo = "none"  # a page says the whole configuration
    size = 6 if end in SYMBOLS else 4
    mark = {"color": colour, "size": size, "symbol": SYMBOLS.get(end, "circle"), "opacity": 0.8}
    hover = f"trial %{{customdata}}, {end}: %{{y:.5g}} at {record.axis} %{{x}}"
    steps, values = record.last_step[shown], record.last_value[shown]
    looks |= {"customdata": numbers, "showlegend": False, "meta": {"trials": numbers}}
    fig.add_trace(dots(steps, values, name, mark, hover, **looks))


def _add_best(fig: Figure, record: LearningCurves) -> None:
    for k in np.flatnonzero(record.number == record.best_trial)[:1].tolist():
        hover = f"best trial {record.best_trial}: %{{y:.5g}} at {record.axis} %{{x}}"
        looks: dict[str, Any] = {"connectgaps": True, "meta": {"lines": [record.best_trial]}}
        curve = line(record.grid, record.values[k], "best trial", VERMILLION, hover, 3, **looks)
        fig.add_trace(curve)


def _add_correlation(fig: Figure, record: LearningCurves) -> None:
    lower: dict[str, Any] = {"xaxis": "x2", "yaxis": "y2", "showlegend": False}
    known = np.isfinite(record.low)
    edge = np.r_[record.steps[known], record.steps[known][::-1]]
    band = np.r_[record.high[known], record.low[known][::-1]]
    fig.add_trace(
        line(edge, band, "interval", SKY, width=0, fill="toself", fillcolor=BAND, **lower)
    )
    ends = [float(record.steps[0]), float(record.steps[-1])]
    fig.add_trace(line(ends, [AS_WELL] * 2, "nearly the same", GREY, width=1, dash="dot", **lower))
    hover = (
        f"{record.axis} %{{x}}: %{{y:.2f}} (%{{customdata[0]:.2f}} to %{{customdata[1]:.2f}})"
        f"<br>%{{customdata[2]}} {record.noun}s"
    )
    lower["customdata"] = rows(record.low, record.high, record.count)
    lower |= {"mode": "lines+markers", "marker": {"size": 5, "color": BLUE}}
    fig.add_trace(line(record.steps, record.correlation, "Spearman", BLUE, hover, **lower))
