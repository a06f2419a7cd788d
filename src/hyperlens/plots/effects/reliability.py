"""How sure and how right an effect is in each region, beside the whole space."""

from plotly.graph_objects import Figure

from hyperlens.explain.effects.reliability import Reliability
from hyperlens.plots.parts.axes import category_axis
from hyperlens.plots.parts.colours import BLUE, GREEN, ORANGE
from hyperlens.plots.parts.marks import dots
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import safe, short

MOST = 40  # rows
SHOWN = (
    ("mc", "MC", BLUE, "circle"),
    ("oc", "OC", ORANGE, "diamond"),
    ("nll", "NLL", GREEN, "square"),
)


def draw(record: Reliability) -> Figure:
    """Gains over the whole space, one row a region; right of zero is better."""
    rows = range(min(len(record.where), MOST))
    names = [f"{k}: {safe(record.where[k])}" for k in rows]
    ticks = [safe(short(record.where[k], 44)) for k in rows]
    fig = figure(
        140 + 26 * len(names),
        xaxis={"title": {"text": "gain over the whole space"}, "tickformat": ".0%"},
        yaxis={**category_axis(names, ticks, down=True), "showgrid": True},
    )
    for key, label, colour, symbol in SHOWN:
        gain, mark = record.gain[key][:MOST], {"color": colour, "symbol": symbol, "size": 9}
        hover = f"<b>%{{y}}</b><br>{label} %{{customdata:.3g}}, gain %{{x:.0%}}"
        numbers = getattr(record, key)[:MOST].tolist()
        fig.add_trace(dots(gain, names, label, mark, hover, customdata=numbers))
    return fig
