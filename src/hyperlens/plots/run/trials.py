"""Every trial as a line through its values: a row for each parameter, the cost in the last row.

Traces carry in `meta["when"]` under which choice of "best" a page shows them.
"""

import math
from itertools import islice, pairwise
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
from hyperlens.words import number

MOST_OTHERS = 3  # objectives beside the one that is explained
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
    measured = _measured(record)
    fig = rows_figure([*names, *measured])
    ends = [_ends(costs[known]) for costs in measured.values()]
    start = {part: 0 for part, *_ in GROUPS}
    for (part, *_), (smaller, *_) in pairwise(GROUPS):
        start[part] = _count(smaller, len(ranked))
    for part, name, most, colour, width, opacity, when in GROUPS:
        members = thinned(ranked[start[part] : _count(part, len(ranked))].tolist(), most)
        if not members:
            continue
        numbers = [int(record.number[k]) for k in members]
        add_lines(
            fig,
            (
                np.append(
                    record.places[k, : len(names)],
                    [
                        _scaled(costs[k], e)
                        for costs, e in zip(measured.values(), ends, strict=True)
                    ],
                )
                for k in members
            ),
            name=name,
            meta={"when": {"best": when}, "lines": numbers},
            line={"color": colour, "width": width, "simplify": False},
            opacity=opacity,
        )
        fig.data[-1].hoverinfo = "none"  # a page says the whole configuration
    ticks = _ticks(record, len(names))
    for j, (costs, e) in enumerate(zip(measured.values(), ends, strict=True)):
        ticks += _costs(costs[known], e, len(names) + j)
    add_values(fig, ticks)
    fig.update_layout(meta={"brush": True})  # a page keeps the lines through what is marked
    return fig


def _measured(record: Trials) -> dict[str, Any]:
    """Rows of what was measured: other objectives first, the one that lines are grouped by last."""
    few_others = dict(islice(record.others.items(), MOST_OTHERS))
    return {**few_others, record.objective: record.cost}


def _count(part: float, total: int) -> int:
    """How many trials are in the best part of them, at least one."""
    return max(math.ceil(part * total), min(1, total))


def _ends(costs: Any) -> tuple[float, float]:
    """The last row reaches over the middle 96 % of the costs; few bad ones would squeeze the rest."""
    costs = costs[np.isfinite(costs)]
    if not len(costs):
        return 0.0, 1.0
    low, high = (4 * float(q) for q in np.quantile(costs / 4, [0.02, 0.98]))  # no difference is inf
    if not high > low:
        around = max(0.5, abs(low) * 1e-6)  # of a huge cost a half is nothing
        low, high = low - around, low + around
    return low, high


def _scaled(cost: float, ends: tuple[float, float]) -> float:
    cost, low, high = float(cost) / 4, ends[0] / 4, ends[1] / 4
    return min(max((cost - low) / (high - low), 0.0), 1.0) if cost == cost else math.nan


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
    return [(0.0, row, f"{below}{number(low, 3)}"), (1.0, row, f"{above}{number(high, 3)}")]
