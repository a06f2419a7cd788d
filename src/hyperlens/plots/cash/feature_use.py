"""How much worse a model is when a column is shuffled."""

from plotly.graph_objects import Figure

from hyperlens.cash.results.feature_use import FeatureUse
from hyperlens.plots.parts.axes import category_axis
from hyperlens.plots.parts.colours import BLUE
from hyperlens.plots.parts.marks import bars, whiskers
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import labels, safe, short

MOST = 20  # columns
ROW = 26  # pixels


def draw(record: FeatureUse) -> Figure:
    """The most used columns; whiskers are two standard errors over shuffles."""
    names = [safe(n) for n in labels(record.columns)][:MOST]
    ticks = [safe(short(n)) for n in labels(record.columns)][:MOST]
    fig = figure(
        ROW * max(len(names), 3) + 110,
        bargap=0.35,
        xaxis={"title": {"text": f"{safe(record.metric)} is worse by"}},
        yaxis=category_axis(names, ticks, down=True),
    )
    rise, error = record.rise[:MOST], record.error[:MOST]
    reach = whiskers(rise, rise - 2 * error, rise + 2 * error)
    fig.add_trace(bars(rise, names, "shuffled", BLUE, "<b>%{y}</b><br>%{x:.4g}", error_x=reach))
    return fig
