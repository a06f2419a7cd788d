"""The optimisation trace: what every trial reached, and the best so far."""

from typing import Any

import numpy as np
from plotly.graph_objects import Figure

from hyperlens.explain.run.overview import Overview
from hyperlens.plots.parts.axes import number_axis
from hyperlens.plots.parts.colours import BLUE, GREY, VERMILLION
from hyperlens.plots.parts.marks import dots, line
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import directed
from hyperlens.plots.parts.thinning import improvements, thinned, thinned_note
from hyperlens.words import counted

BULK = 0.9  # of the trials fit on the axis
WORTH = 1.5  # only what is farther away than the bulk by this factor is cut
FENCE = 3.0  # a first trial farther away than so many times the bulk is cut as well
EXCEEDS = "x-thin-open"  # symbol of a trial that is of no use
TRIALS = {"trials": "x"}  # which trial a point is, for a page
MARGIN = 0.06  # of the axis, beyond what is on it


def draw(record: Overview) -> Figure:
    """Every trial as a point, the best so far as steps, the best trial as a star.

    Of very many trials some are drawn; the steps are drawn at each improvement. Few bad trials would
    flatten all else, so the axis ends before them and they are triangles at its edge.
    """
    number, cost, trace = record.number.tolist(), record.cost.tolist(), record.trace.tolist()
    shown = thinned(range(len(number)), always=[*improvements(trace), len(number) - 1])
    fig = figure(
        360,
        xaxis={
            "title": {"text": "trial" + thinned_note(len(shown), len(number))},
            "showgrid": False,
            **number_axis(number, log=False),
        },
        yaxis={"title": {"text": directed(record.objective, record.maximize)}},
    )
    steps, best = ([values[k] for k in shown] for values in (number, trace))
    size = 7 if len(shown) < 500 else 4
    for rows, name, symbol in _groups(record, shown):
        mark = {"color": GREY, "size": size, "opacity": 0.75, "symbol": symbol}
        hover = "trial %{x}: %{y:.5g}" + (", exceeds a limit" if symbol == EXCEEDS else "")
        x, y = [number[k] for k in rows], [cost[k] for k in rows]
        fig.add_trace(dots(x, y, name, mark, hover, meta=TRIALS))
    hover = "best after trial %{x}: %{y:.5g}"
    fig.add_trace(line(steps, best, "best so far", BLUE, hover, 2.5, shape="hv"))
    if (cut := _cut(record)) is not None:
        _add_cut(fig, record, cut)
    mark, hover = {"color": VERMILLION, "size": 14, "symbol": "star"}, "best: trial %{x}, %{y:.5g}"
    best_trial = [record.best_trial], [record.best], "best trial"
    fig.add_trace(dots(*best_trial, mark, hover, meta=TRIALS))
    return fig


def _groups(record: Overview, shown: list[int]) -> list[tuple[list[int], str, str]]:
    """Rows with a name and a symbol: all trials, or those that keep the limits and those that do not."""
    if record.kept is None:
        return [(shown, "each trial", "circle")]
    kept = record.kept
    groups = [
        ([k for k in shown if kept[k]], "each trial that keeps the limits", "circle"),
        ([k for k in shown if not kept[k]], "exceeds a limit", EXCEEDS),
    ]
    return [group for group in groups if group[0]]


def _cut(record: Overview) -> float | None:
    """The worst cost on the axis, None if all fit: it reaches a little farther than the bulk of the
    trials, and than where the best so far began unless that is far away itself."""
    sign = -1.0 if record.maximize else 1.0
    known = record.trace[~np.isnan(record.trace)]
    with np.errstate(over="ignore"):
        lost = sign * (record.cost - record.best)  # how much worse than the best
        began = sign * float(known[0] - record.best)
    lost = lost[np.isfinite(lost)]
    if not len(lost):
        return None
    reach = float(np.quantile(lost, BULK))
    if reach < began <= FENCE * reach:
        reach = began
    if not 0 < reach * WORTH < float(lost.max()):
        return None
    return record.best + sign * float(lost[lost <= reach * WORTH].max())


def _add_cut(fig: Figure, record: Overview, cut: float) -> None:
    """End the axis at a cost and mark the trials beyond at its edge, with their number."""
    sign = -1.0 if record.maximize else 1.0
    beyond = np.flatnonzero(sign * (record.cost - cut) > 0).tolist()
    margin = MARGIN * (cut - record.best)
    ends: list[Any] = [record.best - margin, cut + margin]
    fig.update_layout(yaxis={"range": ends[::-1] if record.maximize else ends})
    shown = thinned(beyond)
    where = "below" if record.maximize else "above"
    symbol = "triangle-down" if record.maximize else "triangle-up"
    fig.add_trace(
        dots(
            record.number[shown],
            [cut + margin / 2] * len(shown),
            f"{counted(len(beyond), 'trial')} {where} {cut:.3g}",
            {"color": GREY, "size": 8, "symbol": symbol},
            "trial %{x}: %{customdata:.5g}, beyond the axis",
            customdata=record.cost[shown].tolist(),
            meta=TRIALS,
        )
    )
