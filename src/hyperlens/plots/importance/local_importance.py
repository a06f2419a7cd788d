"""Importance around one configuration: what each parameter alone could change."""

from plotly.graph_objects import Figure

from hyperlens.explain.importance.local_importance import LocalImportance
from hyperlens.plots.parts.axes import parameter_rows
from hyperlens.plots.parts.colours import BLUE
from hyperlens.plots.parts.marks import bars
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import safe, short, unshown, value_text

MOST = 20  # parameters


def draw(record: LocalImportance) -> Figure:
    """Share of the variance along each parameter, the others where they are."""
    values = [short(value_text(value), 20) for value in record.values[:MOST]]
    names, axis = parameter_rows(record.parameters[:MOST], values)
    left = unshown(len(record.parameters) - MOST, "parameter")
    title = {"text": f"share of the local variance{left}"}
    fig = figure(
        120 + 46 * max(len(names), 2),
        xaxis={"title": title, "tickformat": ".0%", "rangemode": "tozero"},
        yaxis=axis,
        bargap=0.5,
    )
    best = zip(record.best_values, record.best.tolist(), strict=True)
    fig.add_trace(
        bars(
            record.share[:MOST],
            names,
            "share",
            BLUE,
            "<b>%{y}</b><br>share %{x:.1%}<br>best %{customdata[1]:.4g} at %{customdata[0]}",
            customdata=[[safe(value_text(value)), cost] for value, cost in best][:MOST],
        )
    )
    return fig
