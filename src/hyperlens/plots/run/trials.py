"""Every trial as a line through its values: a row for each parameter, the cost in the last row.

Traces carry in `meta["when"]` under which choice of "best" a page shows them.
"""

import math
from itertools import pairwise
from typing import Any

import numpy as np
from plotly.graph_objects import Figure

from hyperlens.explain.run.trials import Trials
from hyperlens.plots.parts.colours import BLUE, GREY, ORANGE
from hyperlens.plots.parts.lines import (
    INACTIVE,
    MOST_ROWS,
    add_lines,
    add_values,
    few,
    rows_figure,
    written,
)
from hyperlens.plots.parts.thinning import thinned

SHOWN = ("all", "best 25 %", "best 5 %")  # the choices of a page, in the order of `when`

# up to which part of the trials, by rank; lines at the most; looks; shown under these choices
GROUPS: tuple[tuple[float, str, int, str, float, float, list[int]], ...] = (
    (1.0, "the rest", 200, GREY, 0.8, 0.35, [0]),
    (0.25, "best 25 %", 100, BLUE, 1.1, 0.6, [0, 1]),
    (0.05, "best 5 %", 40, ORANGE, 1.7, 0.9, [0, 1, 2]),
)


def draw(record: Trials) -> Figure:
    """Lines of the analysed trials in three groups by their cost, the best on top."""
    names = record.parameters[:MOST_ROWS]
    known = np.flatnonzero(record.analysed)
    sign = -1.0 if record.maximize else 1.0
    ranked = known[np.argsort(sign * record.cost[known], kind="stable")]
    fig = rows_figure([*names, record.objective])
    ends = _ends(record.cost[known])
    start = {part: 0 for part, *_ in GROUPS}
    for (part, *_), (smaller, *_) in pairwise(GROUPS):
        start[part] = _count(smaller, len(ranked))
    for part, name, most, colour, width, opacity, when in GROUPS:
        members = ranked[start[part] : _count(part, len(ranked))]
        if not len(members):
            continue
        add_lines(
            fig,
            (
                np.append(record.places[k, : len(names)], _scaled(record.cost[k], ends))
                for k in thinned(members.tolist(), most)
            ),
            name=name,
            meta={"when": {"best": when}},
            line={"color": colour, "width": width, "simplify": False},
            opacity=opacity,
        )
    add_values(fig, [*_ticks(record, len(names)), *_costs(record.cost[known], ends, len(names))])
    return fig


def _count(part: float, total: int) -> int:
    """How many trials are in the best part of them, at least one."""
    return max(math.ceil(part * total), min(1, total))


def _ends(costs: Any) -> tuple[float, float]:
    """The last row reaches over the middle 96 % of the costs; few bad ones would squeeze the rest."""
    if not len(costs):
        return 0.0, 1.0
    low, high = (float(q) for q in np.quantile(costs, [0.02, 0.98]))
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def _scaled(cost: float, ends: tuple[float, float]) -> float:
    low, high = ends
    return min(max((float(cost) - low) / (high - low), 0.0), 1.0)


def _ticks(record: Trials, rows: int) -> list[tuple[float, int, str]]:
    """Values under each row, and "off" where a parameter can be so."""
    ticks = []
    for j in range(rows):
        ticks += [(place, j, written(value)) for place, value in few(record.ticks[j])]
        if np.isnan(record.places[:, j]).any():
            ticks.append((INACTIVE, j, "off"))
    return ticks


def _costs(costs: Any, ends: tuple[float, float], row: int) -> list[tuple[float, int, str]]:
    """The ends of the last row; a sign where trials beyond one of them stand at it."""
    low, high = ends
    below = "≤ " if (costs < low).any() else ""
    above = "≥ " if (costs > high).any() else ""
    return [(0.0, row, f"{below}{low:.3g}"), (1.0, row, f"{above}{high:.3g}")]
