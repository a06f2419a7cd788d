"""When the trials ran: a bar for each, or how many at once; and how they ended."""

from __future__ import annotations

from typing import Any

import numpy as np
from plotly.graph_objects import Bar, Figure, Scatter

from hyperlens.explain.run.timeline import Timeline
from hyperlens.plots.parts.style import BLUE, GREY, ORANGE, SKY, VERMILLION, figure

MOST_BARS = 600  # trials drawn each by itself
MOST_LANES = 16
COLOURS = {"complete": BLUE, "pruned": ORANGE, "failed": VERMILLION, "running": SKY}
LANE, ENDED, GAP = 20, 150, 60  # pixels: a lane, the lower panel, between the panels
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
        xaxis2={
            "matches": "x",
            "anchor": "y2",
            "showticklabels": False,
            "showgrid": False,
        },
        yaxis={
            "title": {"text": "ended"},
            "domain": [0, ENDED / whole],
            "rangemode": "tozero",
            **_whole_numbers(record),
        },
        yaxis2={"domain": [(ENDED + GAP) / whole, 1], "anchor": "x2", "rangemode": "tozero"},
    )
    width = [(b - a) / divisor for a, b in zip(record.edges[:-1], record.edges[1:], strict=True)]
    middle = ((record.edges[:-1] + record.edges[1:]) / 2 / divisor).tolist()
    for state, count in record.finished.items():
        fig.add_trace(
            Bar(
                x=middle,
                y=count.tolist(),
                width=width,
                name=state,
                legendgroup=state,
                marker={"color": COLOURS.get(state, GREY), "opacity": 0.85},
                hovertemplate=f"%{{y}} {state} near %{{x:.3g}} {unit}<extra></extra>",
            )
        )
    if each:
        _lanes(fig, record, divisor)
        fig.update_layout(
            yaxis2={
                "title": {"text": "at once"},
                "range": [record.lanes - 0.4, -0.6],
                "tickmode": "array",
                "tickvals": [0, record.lanes - 1] if record.lanes > 1 else [0],
                "ticktext": ["1", str(record.lanes)] if record.lanes > 1 else ["1"],
                "showgrid": False,
            }
        )
    else:
        fig.update_layout(yaxis2={"title": {"text": "at once"}})
        fig.add_trace(
            Scatter(
                x=middle,
                y=record.running.tolist(),
                xaxis="x2",
                yaxis="y2",
                mode="lines",
                name="running at once",
                line={"color": GREY, "width": 2, "shape": "hvh"},
                hovertemplate=f"%{{y:.3g}} at once near %{{x:.3g}} {unit}<extra></extra>",
            )
        )
    return fig


def _whole_numbers(record: Timeline) -> dict[str, Any]:
    """No ticks between whole numbers of trials; of many, Plotly makes none."""
    most = np.sum(list(record.finished.values()), axis=0).max()
    return {"tick0": 0, "dtick": 1} if most <= 5 else {}


def _lanes(fig: Figure, record: Timeline, divisor: float) -> None:
    start, end = (record.start / divisor).tolist(), (record.end / divisor).tolist()
    lane, number = record.lane.tolist(), record.number.tolist()
    for state in record.finished:
        rows = [k for k, s in enumerate(record.state) if s == state]
        fig.add_trace(
            Bar(
                orientation="h",
                x=[end[k] - start[k] for k in rows],
                base=[start[k] for k in rows],
                y=[lane[k] for k in rows],
                width=0.72,
                xaxis="x2",
                yaxis="y2",
                name=state,
                legendgroup=state,
                showlegend=False,
                marker={
                    "color": COLOURS.get(state, GREY),
                    "opacity": 0.85,
                    "line": {"width": 0.5, "color": "rgba(255, 255, 255, 0.6)"},
                },
                customdata=[[number[k], record.end[k] - record.start[k]] for k in rows],
                hovertemplate=f"trial %{{customdata[0]}}, {state}<br>%{{customdata[1]:.4g}} seconds"
                "<extra></extra>",
            )
        )
