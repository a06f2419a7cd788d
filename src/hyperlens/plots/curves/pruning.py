"""Stopped trials: where they would have ended beside the best, or where they stood when they were."""

import numpy as np
from plotly.graph_objects import Figure

from hyperlens.explain.curves.pruning import Pruning
from hyperlens.plots.parts.axes import category_axis
from hyperlens.plots.parts.colours import BLUE, GREY, ORANGE, VERMILLION
from hyperlens.plots.parts.marks import dots, line, rows, whiskers
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import directed, small
from hyperlens.plots.parts.thinning import thinned

MOST = 12  # trials whose ends are shown
ROW = 26  # pixels


def draw(record: Pruning) -> Figure:
    """The ends of those that most likely would have been best; without any, where they stood."""
    return _ends(record) if np.isfinite(record.expected).any() else _standing(record)


def _ends(record: Pruning) -> Figure:
    shown = np.flatnonzero(np.isfinite(record.expected))[:MOST]
    names = [f"trial {n}" for n in record.trial[shown]]
    which = small(f"the {len(shown)} of {record.told} that most likely would have been best")
    fig = figure(
        130 + ROW * len(shown),
        xaxis={"title": {"text": directed(record.objective, record.maximize) + which}},
        yaxis=category_axis(names, names, down=True),
    )
    value, low, high = (field[shown] for field in (record.expected, record.low, record.high))
    hover = (
        f"%{{y}}: {record.word} at {record.axis} %{{customdata[0]}} with %{{customdata[1]:.5g}}"
        "<br>expected end %{x:.5g} (%{customdata[2]:.5g} to %{customdata[3]:.5g})"
        "<br>better than the best with %{customdata[4]:.1%}"
    )
    data = rows(record.step[shown], record.value[shown], low, high, record.chance[shown])
    trials = {"trials": record.trial[shown].tolist(), "own": True}
    bars = {"error_x": whiskers(value, low, high), "meta": trials}
    mark = {"color": BLUE, "size": 9}
    fig.add_trace(dots(value, names, "expected end", mark, hover, customdata=data, **bars))
    mark = {"color": ORANGE, "size": 8, "symbol": "diamond-open"}
    hover = f"%{{y}}: %{{x:.5g}} when {record.word}"
    fig.add_trace(dots(record.value[shown], names, f"when {record.word}", mark, hover, meta=trials))
    best = f"best trial, {record.best_trial}"
    fig.add_trace(line([record.best] * 2, [names[0], names[-1]], best, VERMILLION, dash="dot"))
    return fig


def _standing(record: Pruning) -> Figure:
    shown = thinned(range(len(record.trial)))
    fig = figure(
        340,
        xaxis={"title": {"text": f"{record.axis} at which it was {record.word}"}},
        yaxis={"title": {"text": directed(record.objective, record.maximize)}},
    )
    step, value, median = (field[shown] for field in (record.step, record.value, record.median))
    mark = {"color": ORANGE, "size": 7, "opacity": 0.75}
    hover = "trial %{customdata}: %{y:.5g} at %{x}"
    trials = record.trial[shown].tolist()
    looks = {"customdata": trials, "meta": {"trials": trials}}
    fig.add_trace(dots(step, value, record.word, mark, hover, **looks))
    known = np.isfinite(median)
    mark = {"color": GREY, "size": 8, "symbol": "line-ew-open"}
    fig.add_trace(dots(step[known], median[known], "median of those before", mark))
    return fig
