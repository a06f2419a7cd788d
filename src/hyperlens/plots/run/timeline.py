"""When the trials ran: a bar for each, or how many at once; and how they ended."""

from typing import Any

import numpy as np
from plotly.graph_objects import Figure

from hyperlens.explain.run.timeline import Timeline
from hyperlens.plots.parts.colours import BLUE, GREY, ORANGE, SKY, VERMILLION
from hyperlens.plots.parts.marks import bars, line
from hyperlens.plots.parts.style import figure

MOST_BARS = 600  # trials drawn each by itself
MOST_LANES = 16
COLOURS = {"complete": BLUE, "pruned": ORANGE, "failed": VERMILLION, "running": SKY}
LANE, ENDED, GAP = 20, 150, 60  # pixels: a lane, the lower panel, between the panels
UPPER: dict[str, Any] = {"xaxis": "x2", "yaxis": "y2"}
UNITS = (
    (3 * 86400, 86400, "days"),
    (3 * 3600, 3600, "hours"),
    (180, 60, "minutes"),
    (0, 1, "seconds"),
)


def draw(record: Timeline) -> Figure:
    """Above: the trials, one lane for each that ran at once. Below: how many ended, and how."""
    divisor, unit = next((d, u) for least, d, u in UNITS if record.span > least or not least)
    each = len(record.number) <= MOST_BARS and record.lanes <= MOST_LANES
    upper = LANE * max(record.lanes, 3) if each else 130
    whole = upper + GAP + ENDED
    fig = figure(
        whole + 110,
        barmode="stack",
        bargap=0.06,
        xaxis={
            "title": {"text": f"{unit} since the first start"},
            "anchor": "y",
            "range": [0, record.span / divisor or 1],
            "showgrid": False,
        },
        xaxis2={"matches": "x", "anchor": "y2", "showticklabels": False, "showgrid": False},
        yaxis={
            "title": {"text": "ended"},
            "domain": [0, ENDED / whole],
            "rangemode": "tozero",
            **_whole_numbers(record),
        },
        yaxis2={
            "title": {"text": "at once"},
            "domain": [(ENDED + GAP) / whole, 1],
            "anchor": "x2",
            "rangemode": "tozero",
        },
    )
    edges = record.edges / divisor
    middle, width = (edges[:-1] + edges[1:]) / 2, np.diff(edges)
    for state, count in record.finished.items():
        hover = f"%{{y}} {state} near %{{x:.3g}} {unit}"
        looks = {"orientation": "v", "width": width.tolist(), "legendgroup": state}
        fig.add_trace(bars(middle, count, state, COLOURS.get(state, GREY), hover, **looks))
    if each:
        _add_lanes(fig, record, divisor)
    else:
        hover = f"%{{y:.3g}} at once near %{{x:.3g}} {unit}"
        at_once = line(middle, record.running, "running at once", GREY, hover, shape="hvh", **UPPER)
        fig.add_trace(at_once)
    return fig


def _whole_numbers(record: Timeline) -> dict[str, Any]:
    """No ticks between whole numbers of trials; of many, Plotly makes none."""
    most = np.sum(list(record.finished.values()), axis=0).max()
    return {"tick0": 0, "dtick": 1} if most <= 5 else {}


def _add_lanes(fig: Figure, record: Timeline, divisor: float) -> None:
    """Every trial as a bar from its start to its end, in the lane in which it ran."""
    lanes = [1, record.lanes] if record.lanes > 1 else [1]
    fig.update_layout(
        yaxis2={
            "range": [record.lanes - 0.4, -0.6],
            "tickmode": "array",
            "tickvals": [lane - 1 for lane in lanes],
            "ticktext": [str(lane) for lane in lanes],
            "showgrid": False,
        }
    )
    start, end = record.start / divisor, record.end / divisor
    seconds = record.end - record.start
    for state in record.finished:
        rows = np.flatnonzero(np.array(record.state) == state)
        colour = COLOURS.get(state, GREY)
        edge = {"width": 0.5, "color": "rgba(255, 255, 255, 0.6)"}
        looks: dict[str, Any] = {
            "marker": {"color": colour, "opacity": 0.85, "line": edge},
            "width": 0.72,
            **UPPER,
        }
        looks |= {"base": start[rows].tolist(), "legendgroup": state, "showlegend": False}
        looks["customdata"] = [[int(record.number[k]), seconds[k]] for k in rows]
        looks["meta"] = {"trials": record.number[rows].tolist()}
        hover = f"trial %{{customdata[0]}}, {state}<br>%{{customdata[1]:.4g}} seconds"
        fig.add_trace(bars((end - start)[rows], record.lane[rows], state, colour, hover, **looks))
