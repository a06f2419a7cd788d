"""What was read of a run: in how many trials each parameter was set."""

from __future__ import annotations

from plotly.graph_objects import Bar, Figure

from hyperlens.explain.run.validation import Validation
from hyperlens.plots.parts.style import BLUE, category_axis, figure, safe, short

MOST_BARS = 100


def draw(record: Validation) -> Figure:
    """One bar for each parameter."""
    shown = record.parameters[:MOST_BARS]
    names = [str(k) for k in range(len(shown))]  # two names may look alike when shortened
    ticks = [safe(short(p.name)) for p in shown]
    fig = figure(
        140 + 26 * len(names),
        xaxis={"title": {"text": f"trials that set it, of {record.trials}"}, "rangemode": "tozero"},
        yaxis={"showgrid": False, **category_axis(names, ticks, down=True)},
    )
    fig.add_trace(
        Bar(
            x=[p.trials for p in shown],
            y=names,
            orientation="h",
            marker={"color": BLUE},
            customdata=[safe(p.name) for p in shown],
            hovertemplate="%{customdata}: %{x} trials<extra></extra>",
        )
    )
    return fig
