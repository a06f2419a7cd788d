"""What tells the best trials from the rest, as bars with intervals."""

import numpy as np
from plotly.graph_objects import Figure

from hyperlens.explain.top.top_importance import TopImportance
from hyperlens.plots.parts.axes import parameter_rows
from hyperlens.plots.parts.colours import BLUE, GREY
from hyperlens.plots.parts.marks import bars, rows, whiskers
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import unshown

MOST = 20


def draw(record: TopImportance) -> Figure:
    """Shares, the largest on top; grey what chance alone might give."""
    many = min(len(record.parameters), MOST)
    clear = record.importance > record.chance
    below = ["beyond chance" if c else "may be chance" for c in clear[:many]]
    names, axis = parameter_rows(record.parameters[:many], below)
    title = f"part of what tells the best {record.top} from the rest"
    fig = figure(
        120 + 46 * max(many, 2),
        xaxis={
            "title": {"text": title + unshown(len(record.parameters) - many, "parameter")},
            "tickformat": ".0%",
            "rangemode": "tozero",
        },
        yaxis=axis,
        bargap=0.45,
        showlegend=False,
    )
    share, low, high = (x[:many] for x in (record.share, record.low, record.high))
    colours = np.where(clear[:many], BLUE, GREY).tolist()
    hover = (
        f"<b>%{{y}}</b><br>%{{x:.1%}}, {record.level:.0%} interval %{{customdata[0]:.1%}} to "
        "%{customdata[1]:.1%}"
    )
    looks = {"error_x": whiskers(share, low, high), "customdata": rows(low, high)}
    fig.add_trace(bars(share, names, "share", BLUE, hover, marker={"color": colours}, **looks))
    return fig
