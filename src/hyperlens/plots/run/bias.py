"""Where the search looked: distance from an even search, as it went on and for each parameter."""

from plotly.graph_objects import Figure

from hyperlens.explain.run.bias import Bias
from hyperlens.plots.parts.axes import category_axis, number_axis
from hyperlens.plots.parts.colours import BLUE, GREY, ORANGE
from hyperlens.plots.parts.marks import bars, line
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import safe, short, unshown

MOST = 15  # bars
PATH, GAP, BAR = 220, 90, 30  # pixels: the upper panel, between the panels, a bar


def draw(record: Bias) -> Figure:
    """Above: the discrepancy over the trials, beside an even search's. Below: each parameter's."""
    shown = record.parameters[:MOST]
    names = [safe(n) for n in shown]
    lower = BAR * max(len(shown), 2)
    whole = PATH + GAP + lower
    x, left = record.iteration.tolist(), len(record.parameters) - MOST
    hidden = unshown(left, "parameter", " nearer to even")
    fig = figure(
        whole + 110,
        xaxis={
            "title": {"text": "trials"},
            "anchor": "y",
            "showgrid": False,
            **number_axis(x, log=False),
        },
        yaxis={
            "title": {"text": "distance from even"},
            "domain": [1 - PATH / whole, 1],
            "rangemode": "tozero",
        },
        xaxis2={
            "title": {"text": f"distance from even, each parameter alone{hidden}"},
            "anchor": "y2",
            "rangemode": "tozero",
        },
        yaxis2={
            **category_axis(names, [safe(short(n)) for n in shown], down=True),
            "anchor": "x2",
            "domain": [0, lower / whole],
        },
        bargap=0.38,
        barmode="overlay",
    )
    hover = "after %{x} trials: %{y:.3f} from even"
    looks = {"mode": "lines+markers", "marker": {"size": 5}}
    fig.add_trace(line(x, record.path, "this search", BLUE, hover, 2.5, **looks))
    hover = "an even search of %{x} trials: about %{y:.3f}"
    even = "an even search (expected)"
    fig.add_trace(line(x, record.expected_path, even, GREY, hover, 1.5, dash="dash"))
    hover, axes = (
        "<b>%{y}</b><br>%{x:.3f} from even<br>p %{customdata:.3f}",
        {"xaxis": "x2", "yaxis": "y2"},
    )
    odd = record.uneven
    for title, colour, uneven in (("uneven", ORANGE, True), ("as if even", GREY, False)):
        rows = [k for k, name in enumerate(shown) if (name in odd) is uneven]
        if rows:
            mmd, p = record.parameter_mmd[rows], record.parameter_p[rows].tolist()
            where = [names[k] for k in rows]
            fig.add_trace(bars(mmd, where, title, colour, hover, customdata=p, **axes))
    return fig
