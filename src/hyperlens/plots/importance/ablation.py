"""From one configuration to another, one parameter at a time."""

from plotly.graph_objects import Figure

from hyperlens.explain.importance.ablation import Ablation
from hyperlens.plots.parts.axes import parameter_rows
from hyperlens.plots.parts.colours import BLUE, GREY, ORANGE
from hyperlens.plots.parts.marks import bars, dots
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import directed, short, unshown, value_text

MOST = 20  # parameters


def draw(record: Ablation) -> Figure:
    """The predicted cost after each change, and the Shapley value of the same change beside it."""
    changes = [
        f"{short(value_text(a), 12)} → {short(value_text(b), 12)}"
        for a, b in zip(record.source_values, record.target_values, strict=True)
    ]
    names, axis = parameter_rows(record.parameters[:MOST], changes[:MOST])
    title = f"change of {directed(record.objective, record.maximize)}"
    title += unshown(len(record.parameters) - MOST, "parameter")
    fig = figure(
        150 + 54 * max(len(names), 2),
        xaxis={"title": {"text": title}, "zeroline": True, "zerolinecolor": GREY},
        yaxis=axis,
        bargap=0.4,
    )
    fig.add_trace(
        bars(
            record.contribution[:MOST],
            names,
            f"in this order ({record.method})",
            BLUE,
            "<b>%{y}</b><br>changes the cost by %{x:.4g}, to %{customdata:.4g}",
            customdata=record.cost[1 : MOST + 1].tolist(),
        )
    )
    mark = {"symbol": "diamond", "color": ORANGE, "size": 11}
    hover = "<b>%{y}</b><br>Shapley value %{x:.4g}"
    fig.add_trace(dots(record.shapley[:MOST], names, "in all orders (Shapley)", mark, hover))
    return fig
