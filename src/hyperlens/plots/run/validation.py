"""What was read of a run: in how many trials each parameter was set."""

from plotly.graph_objects import Figure

from hyperlens.explain.run.validation import Validation
from hyperlens.plots.parts.axes import category_axis
from hyperlens.plots.parts.colours import BLUE
from hyperlens.plots.parts.marks import bars
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import safe, short

MOST_BARS = 100


def draw(record: Validation) -> Figure:
    """One bar for each parameter."""
    shown = record.parameters[:MOST_BARS]
    rows = [str(k) for k in range(len(shown))]  # two names may look alike when shortened
    names = [safe(p.name) for p in shown]
    fig = figure(
        140 + 26 * len(rows),
        xaxis={"title": {"text": f"trials that set it, of {record.trials}"}, "rangemode": "tozero"},
        yaxis=category_axis(rows, [safe(short(p.name)) for p in shown], down=True),
    )
    count, hover = [p.trials for p in shown], "%{customdata}: %{x} trials"
    fig.add_trace(bars(count, rows, "trials", BLUE, hover, customdata=names))
    return fig
