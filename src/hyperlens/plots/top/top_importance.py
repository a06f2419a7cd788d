"""What tells the best from the rest: bars with intervals, and marks of the other answer."""

import numpy as np
from plotly.graph_objects import Figure

from hyperlens.explain.top.top_importance import TopImportance
from hyperlens.plots.parts.axes import parameter_rows
from hyperlens.plots.parts.colours import BLUE, GREY, ORANGE
from hyperlens.plots.parts.marks import bars, dots, rows, whiskers
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import unshown
from hyperlens.words import percent

MOST = 20
TRIALS, SPACE = "in the trials", "over the space"


def draw(record: TopImportance) -> Figure:
    """Shares of the answer that leads, the largest on top; grey what chance alone might give."""
    many = min(len(record.parameters), MOST)
    space = record.leads == "space"
    clear = (record.importance > record.chance)[:many]
    if space:
        below = [f"the largest: {percent(float(p))}" for p in record.space_first[:many]]
    else:
        below = ["beyond chance" if c else "may be chance" for c in clear]
    names, axis = parameter_rows(record.parameters[:many], below)
    of = f"the best {percent(record.quantile)}" if space else f"the best {record.top} trials"
    title = f"part of what tells {of} from the rest"
    both = not np.isnan(record.space_share).all()
    fig = figure(
        120 + 46 * max(many, 2) + 30 * both,
        xaxis={
            "title": {"text": title + unshown(len(record.parameters) - many, "parameter")},
            "tickformat": ".0%",
            "rangemode": "tozero",
        },
        yaxis=axis,
        bargap=0.45,
        showlegend=both,
    )
    mine = (record.share, record.low, record.high)
    over = (record.space_share, record.space_low, record.space_high)
    share, low, high = (x[:many] for x in (over if space else mine))
    colours = BLUE if space else np.where(clear, BLUE, GREY).tolist()
    hover = (
        f"<b>%{{y}}</b><br>%{{x:.1%}}, {record.level:.0%} interval %{{customdata[0]:.1%}} to "
        "%{customdata[1]:.1%}"
    )
    looks = {"error_x": whiskers(share, low, high), "customdata": rows(low, high)}
    name, other = (SPACE, TRIALS) if space else (TRIALS, SPACE)
    fig.add_trace(bars(share, names, name, BLUE, hover, marker={"color": colours}, **looks))
    if both:
        mark = {"symbol": "diamond", "color": ORANGE, "size": 10}
        beside = (mine if space else over)[0][:many]
        fig.add_trace(dots(beside, names, other, mark, f"<b>%{{y}}</b><br>{other} %{{x:.1%}}"))
    return fig
