"""The space to search next beside the old one: a row for each parameter, on its old axis."""

from __future__ import annotations

import numpy as np
from plotly.graph_objects import Figure

from hyperlens.explain.next.advise import Advice
from hyperlens.plots.parts.axes import parameter_rows
from hyperlens.plots.parts.colours import BLUE, GREEN, GREY, ORANGE, VERMILLION
from hyperlens.plots.parts.marks import dots, line
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import safe, unshown

MOST_ROWS = 24
ROW = 34  # pixels
COLOURS = {"fix": GREEN, "drop": ORANGE, "log": ORANGE, "widen": VERMILLION, "narrow": BLUE}
KEPT = "as it is"


def draw(record: Advice) -> Figure:
    """Grey: the old range. Coloured: the new one. Black: where drawn functions are lowest."""
    changed = dict(zip(record.parameters, record.actions, strict=True))
    order = sorted(range(len(record.rows)), key=lambda j: record.rows[j] not in changed)[:MOST_ROWS]
    shown = [record.rows[j] for j in order]
    names, down = parameter_rows(shown, [changed.get(name, KEPT) for name in shown])
    left = unshown(len(record.rows) - len(shown), "parameter")
    fig = figure(
        110 + ROW * max(len(names), 2),
        xaxis={"title": {"text": f"on the axis of the old range{left}"}, "showgrid": False},
        yaxis=down,
        showlegend=True,
    )
    told = {
        name: f"{action}: {safe(before)} to {safe(after)}"
        for name, action, before, after in zip(
            record.parameters, record.actions, record.before, record.after, strict=True
        )
    }
    seen: set[str] = set()
    for j, name in zip(order, names, strict=True):
        first = not seen
        fig.add_trace(
            line([0, 1], [name, name], "old range", GREY, width=10, opacity=0.35, showlegend=first)
        )
        action = changed.get(record.rows[j])
        if action is not None:
            span = [float(record.start[j]), float(record.end[j])]
            looks = {"showlegend": action not in seen, "mode": "lines+markers"}
            marker = {"size": 9, "color": COLOURS[action]}
            hover = told[record.rows[j]]
            fig.add_trace(
                line(
                    span,
                    [name] * 2,
                    action,
                    COLOURS[action],
                    hover,
                    width=5,
                    marker=marker,
                    **looks,
                )
            )
            seen.add(action)
        seen.add(KEPT)
    _add_places(fig, record, order, names)
    return fig


def _add_places(fig: Figure, record: Advice, order: list[int], names: list[str]) -> None:
    """The middle of the places at which drawn functions are lowest, and nine tenths of them."""
    rows = [k for k, j in enumerate(order) if np.isfinite(record.places[j]).all()]
    if not rows:
        return
    q = record.places[[order[k] for k in rows]]
    bars = {
        "type": "data",
        "symmetric": False,
        "array": (q[:, 4] - q[:, 2]).tolist(),
        "arrayminus": (q[:, 2] - q[:, 0]).tolist(),
        "thickness": 1.5,
        "width": 4,
    }
    marker = {
        "symbol": "diamond",
        "size": 7,
        "color": "#20242B",
        "line": {"width": 1, "color": "white"},
    }
    fig.add_trace(
        dots(
            q[:, 2],
            [names[k] for k in rows],
            "where drawn functions are lowest",
            marker,
            "lowest at %{x:.2f} of the axis, nine tenths of the functions between the ends",
            error_x=bars,
        )
    )
