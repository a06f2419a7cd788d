"""The effect of one parameter on all objectives: panels above each other with one axis of values."""

from __future__ import annotations

from typing import Any

from plotly.graph_objects import Figure, Scatter

from hyperlens.explain.objectives.effects_of import EffectsOf
from hyperlens.plots.parts.axes import category_axis, number_axis
from hyperlens.plots.parts.colours import BAND, BLUE
from hyperlens.plots.parts.marks import dots, line, rows, whiskers
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import directed, labels, safe, short

BETWEEN = "band %{customdata[0]:.5g} to %{customdata[1]:.5g}"
HEIGHT, GAP = 190, 0.06  # of a panel; between panels, of the whole


def draw(record: EffectsOf) -> Figure:
    """Mean and band of each objective; points for categories."""
    count = len(record.effects)
    first = record.effects[0]
    fig = figure(90 + HEIGHT * count)
    numeric = first.numeric[0]
    names = [safe(short(n)) for n in labels(record.values)]
    keys = list(map(str, range(len(names))))
    axis: dict[str, Any] = (
        number_axis(record.values, first.log[0]) if numeric else category_axis(keys, names)
    )
    title = {"title": {"text": safe(short(record.parameter, 40))}}
    fig.update_layout(xaxis={**axis, **title, "anchor": f"y{count}" if count > 1 else "y"})
    x = list(record.values) if numeric else keys
    tall = (1 - GAP * (count - 1)) / count
    for k, e in enumerate(record.effects):
        top = 1 - k * (tall + GAP)
        on = {"yaxis": f"y{k + 1}" if k else "y", "showlegend": k == 0}
        fig.update_layout({
            f"yaxis{k + 1 if k else ''}": {
                "title": {"text": directed(short(e.objective, 24), e.maximize)},
                "domain": [max(top - tall, 0.0), top],
            }
        })  # fmt: skip
        hover = f"{safe(e.objective)} %{{y:.5g}}<br>{BETWEEN}"
        data = rows(e.low, e.high)
        band = f"{e.level:.0%} {e.band} band"
        if not numeric:
            fig.add_trace(
                dots(x, e.mean, f"mean and {band}", {"color": BLUE, "size": 10}, hover,
                     error_y=whiskers(e.mean, e.low, e.high), customdata=data, **on)
            )  # fmt: skip
            continue
        edge: dict[str, Any] = {"hoverinfo": "skip", "mode": "lines", "line": {"width": 0}}
        hidden = {"yaxis": on["yaxis"], "showlegend": False}
        fig.add_trace(Scatter(x=x, y=e.low.tolist(), name="low", **edge, **hidden))
        fill = {"fill": "tonexty", "fillcolor": BAND, "name": band}
        fig.add_trace(Scatter(x=x, y=e.high.tolist(), **fill, **edge, **on))
        fig.add_trace(line(x, e.mean, "mean", BLUE, hover, 2.5, customdata=data, **on))
    return fig
