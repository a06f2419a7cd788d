"""The effect of a parameter over runs: each run's, their mean, and where a further run is expected."""

from __future__ import annotations

from typing import Any

from plotly.graph_objects import Figure, Scatter

from hyperlens.explain.across.pooled_effect import PooledEffect
from hyperlens.plots.parts.axes import category_axis, number_axis
from hyperlens.plots.parts.colours import BAND, BLUE, GREY, ORANGE
from hyperlens.plots.parts.marks import dots, line, whiskers
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import labels, safe, short

UNIT = "standard deviations of the costs"


def draw(record: PooledEffect) -> Figure:
    """Curves and bands over numbers, points with whiskers over categories."""
    if record.numeric:
        x: list[Any] = list(record.values)
        axis = number_axis(record.values, record.log)
    else:
        names = labels(record.values)
        x = [safe(name) for name in names]
        axis = category_axis(x, [safe(short(name)) for name in names])
    better = "higher" if record.maximize else "lower"
    fig = figure(
        380,
        xaxis={**axis, "title": {"text": safe(short(record.parameter, 40))}, "showgrid": False},
        yaxis={
            "title": {"text": f"{safe(short(record.objective))}, {UNIT}<br>({better} is better)"}
        },
        showlegend=True,
    )
    if record.numeric:
        _bands(fig, record, x)
    for k, run in enumerate(record.runs):
        _run(fig, record, x, k, run)
    hover = "%{x}<br>over all runs %{y:.2f}"
    if record.numeric:
        fig.add_trace(line(x, record.mean, "over all runs", BLUE, hover, 2.5, simplify=False))
    else:
        error = whiskers(record.mean, record.low, record.high, width=6)
        mark = {"color": BLUE, "size": 11}
        fig.add_trace(dots(x, record.mean, "over all runs", mark, hover, error_y=error))
    return fig


def _bands(fig: Figure, record: PooledEffect, x: list[Any]) -> None:
    """Where a further run is expected, as far as that is known, and within it the mean."""
    level = f"{100 * record.level:.3g} %"
    for low, high, name, colour in (
        (record.next_low, record.next_high, f"a further run, {level}", "rgba(128, 128, 128, 0.15)"),
        (record.low, record.high, f"their mean, {level}", BAND),
    ):
        edge = {"hoverinfo": "skip", "legendgroup": name, "mode": "lines", "line": {"width": 0}}
        fig.add_trace(Scatter(x=x, y=low.tolist(), name="low", showlegend=False, **edge))
        fill = {"name": name, "fill": "tonexty", "fillcolor": colour}
        fig.add_trace(Scatter(x=x, y=high.tolist(), **fill, **edge))


def _run(fig: Figure, record: PooledEffect, x: list[Any], k: int, run: str) -> None:
    """One run; all of them are one line of the legend."""
    looks = {"legendgroup": "runs", "showlegend": k == 0}
    hover = f"{safe(short(run))}<br>%{{x}}<br>%{{y:.2f}}"
    if record.numeric:
        fig.add_trace(line(x, record.effect[k], "each run", GREY, hover, 1, **looks))
    else:
        mark = {"color": ORANGE, "size": 7, "opacity": 0.7}
        fig.add_trace(dots(x, record.effect[k], "each run", mark, hover, **looks))
