"""What trials that were run to settle a question made of its intervals, beside what was expected."""

from __future__ import annotations

from plotly.graph_objects import Figure

from hyperlens.explain.confirm.confirmed import Confirmed
from hyperlens.plots.confirm.intervals import ROW, add_intervals, interval_axes, widest
from hyperlens.plots.parts.colours import BLUE, GREY, SKY
from hyperlens.plots.parts.style import figure


def draw(record: Confirmed) -> Figure:
    """Three bars a row: before, expected, after."""
    order = widest(record.before_low, record.before_high)
    highest = (record.before_high, record.expected_high, record.after_high)
    most = max(float(high.max()) for high in highest)
    across, down = interval_axes(record.rows, order, record.objective, record.in_shares, most)
    fig = figure(110 + ROW * max(len(order), 2), xaxis=across, yaxis=down, showlegend=True)
    level = f"{record.level:.0%} interval"
    bars = (
        (f"{level} before", GREY, record.before_low, record.before_high),
        ("expected after the trials", SKY, record.expected_low, record.expected_high),
        ("after them", BLUE, record.after_low, record.after_high),
    )
    add_intervals(fig, order, bars)
    return fig
