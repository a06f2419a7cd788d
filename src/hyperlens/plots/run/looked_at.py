"""Where a search has looked: how its trials are spread along each parameter."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from plotly.graph_objects import Bar, Figure

from hyperlens.explain.run.trials import Trials
from hyperlens.plots.parts.axes import parameter_rows, tick_axis
from hyperlens.plots.parts.colours import BLUE, INK, see_through
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import safe, short, value_text
from hyperlens.words import counted

PARTS = 10  # of a range
MOST = 8  # parameters
GAP = 0.006  # between cells, of the width
LETTERS = 26  # that fit in a row
STRONG = 0.6  # a cell on which white is read best


class Cell(NamedTuple):
    """A part of an axis, with how many trials lay there."""

    low: float
    high: float
    trials: int
    said: str  # of which part
    label: str = ""


def draw_looked_at(record: Trials, first: tuple[str, ...] = ()) -> Figure:
    """A row for each parameter, those of `first` on top: a range from its lowest value to its highest,
    choices by their names. The stronger a part, the more of the trials lay there; what is empty was
    never looked at."""
    order = [name for name in first if name in record.parameters]
    order += [name for name in record.parameters if name not in order]
    shown = [record.parameters.index(name) for name in order[:MOST]]
    names, rows = parameter_rows([record.parameters[j] for j in shown])
    cells = [_levels(record, j) or _tenths(record.places[:, j]) for j in shown]
    ranges = any(not cell.label for row in cells for cell in row)
    fig = figure(
        110 + 26 * max(len(shown), 3),
        xaxis=tick_axis([0.05, 0.95] if ranges else [], ["lowest", "highest"] if ranges else [])
        | {"showgrid": False, "range": [0, 1]},
        yaxis=rows,
        bargap=0.2,
        barmode="overlay",
    )
    for name, row in zip(names, cells, strict=True):
        total = max(sum(cell.trials for cell in row), 1)
        strength = [math.sqrt(cell.trials / total) for cell in row]  # few are to be told from none
        fig.add_trace(
            Bar(
                orientation="h",
                y=[name] * len(row),
                base=[cell.low + GAP / 2 for cell in row],
                x=[cell.high - cell.low - GAP for cell in row],
                marker={"color": [see_through(BLUE, round(s, 3)) for s in strength]},
                text=[cell.label for cell in row],
                textposition="inside",
                insidetextanchor="middle",
                textangle=0,
                constraintext="none",
                textfont={"size": 9, "color": ["#FFFFFF" if s > STRONG else INK for s in strength]},
                hovertext=[f"{counted(cell.trials, 'trial')} {cell.said}" for cell in row],
                hovertemplate="%{hovertext}<extra></extra>",
                showlegend=False,
            )
        )
    return fig


def _levels(record: Trials, j: int) -> list[Cell]:
    """A cell for each value of a parameter that has a few; none if it has a range."""
    ticks, values = [value for _, value in record.ticks[j]], record.values[j]
    known = [value for value in values if value is not None]
    if any(value not in ticks for value in known):
        return []
    width = 1 / len(ticks)
    return [
        Cell(
            k * width,
            (k + 1) * width,
            known.count(value),
            f"with {safe(record.parameters[j])} = {safe(value_text(value))}",
            safe(short(value_text(value), max(LETTERS // len(ticks), 3))),
        )
        for k, value in enumerate(ticks)
    ]


def _tenths(places: np.ndarray) -> list[Cell]:
    """Equal parts of a range."""
    known = places[~np.isnan(places)]
    counts = np.bincount(np.minimum((known * PARTS).astype(int), PARTS - 1), minlength=PARTS)
    return [
        Cell(k / PARTS, (k + 1) / PARTS, int(count), "in this tenth of the range")
        for k, count in enumerate(counts)
    ]
