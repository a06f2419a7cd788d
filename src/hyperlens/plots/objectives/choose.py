"""What each value of a chosen trial does to each objective, side by side."""

from __future__ import annotations

import numpy as np
from plotly.graph_objects import Figure

from hyperlens.explain.objectives.choose import Choice
from hyperlens.plots.parts.axes import parameter_rows
from hyperlens.plots.parts.colours import BLUE, GREY, ORANGE
from hyperlens.plots.parts.marks import bars
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import safe, short, small, unshown, value_text

MOST, MOST_PANELS = 20, 3  # parameters, objectives
GAP = 0.05  # between panels, of the width


def draw(record: Choice) -> Figure:
    """A panel for each objective: bars of what a value adds to it, what is good in blue."""
    because = record.because
    if because is None:
        raise TypeError(
            "There is no plot for a Choice without reasons; choose(..., why=True) has them."
        )
    count = min(len(record.objectives), MOST_PANELS)
    weight = np.abs(because.contributions / np.where(because.spread > 0, because.spread, np.inf))
    rows = np.argsort(-weight.max(axis=1), kind="stable")[:MOST]
    told = [record.parameters[j] for j in rows]
    values = [short(value_text(record.values.get(name)), 14) for name in told]
    names, axis = parameter_rows(told, values)
    fig = figure(
        150 + 40 * max(len(names), 2), yaxis=axis, bargap=0.35, barmode="overlay", showlegend=False
    )
    wide = (1 - GAP * (count - 1)) / count
    for k in range(count):
        number = k + 1 if k else ""
        own, name = because.contributions[rows, k], record.objectives[k]
        good = own > 0 if record.maximize[k] else own < 0
        hover = f"<b>%{{y}}</b><br>adds %{{x:.4g}} to {safe(name)}"
        looks = {"color": np.where(good, BLUE, ORANGE).tolist(), "opacity": 0.85}
        fig.add_trace(bars(own, names, safe(name), BLUE, hover, marker=looks, xaxis=f"x{number}"))
        left = k * (wide + GAP)
        way = "higher" if record.maximize[k] else "lower"
        title = f"adds to {safe(short(name, 24))}" + small(f"{way} is better")
        title += unshown(len(record.parameters) - len(rows), "parameter") if k == 0 else ""
        fig.update_layout({
            f"xaxis{number}": {
                "title": {"text": title}, "domain": [left, min(left + wide, 1.0)],
                "zeroline": True, "zerolinecolor": GREY, "anchor": "y",
            }
        })  # fmt: skip
    return fig
