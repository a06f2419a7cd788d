"""How often trials fail, by the values of the parameters that it depends on most."""

import numpy as np
from plotly.graph_objects import Figure

from hyperlens.explain.run.failures import Failures
from hyperlens.plots.parts.axes import category_axis
from hyperlens.plots.parts.colours import BLUE, GREY, ORANGE
from hyperlens.plots.parts.marks import dots, rows, whiskers
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import safe, short, unshown

MOST = 4  # parameters
ROW = 26  # pixels


def draw(record: Failures) -> Figure:
    """A row for each value: the counted rate with its interval, and the forest's expectation."""
    shown = range(min(MOST, len(record.parameters)))
    places = [(j, i) for j in shown for i in range(len(record.values[j]))]
    names = [f"{j}.{i}" for j, i in places]
    left = len(record.parameters) - MOST
    hidden = unshown(left, "parameter", " of less weight")
    fig = figure(
        110 + ROW * len(places),
        xaxis={
            "title": {"text": f"{record.chance}{hidden}"},
            "tickformat": ".0%",
            "range": [-0.02, 1.02],
        },
        yaxis=category_axis(names, [_tick(record, j, i) for j, i in places], down=True),
        shapes=[_line(k - 0.5) for k, (_, i) in enumerate(places) if i == 0 and k],
        showlegend=True,
    )
    flat = {
        name: np.array([parts[j][i] for j, i in places], dtype=float)
        for name, parts in (
            ("rate", record.rates), ("low", record.low), ("high", record.high),
            ("expected", record.expected), ("failed", record.failed), ("tried", record.tried),
        )
    }  # fmt: skip
    middle = np.where(np.isnan(flat["rate"]), (flat["low"] + flat["high"]) / 2, flat["rate"])
    known = flat["tried"] > 0
    colours = [BLUE if one else "rgba(0,0,0,0)" for one in known]
    fig.add_trace(
        dots(
            middle, names, "counted, with its interval", {"color": colours, "size": 9},
            "<b>%{customdata[0]}</b><br>%{customdata[1]} of %{customdata[2]} trials "
            f"{record.happened}<br>"
            f"{record.level:.0%} interval %{{customdata[3]:.0%}} to %{{customdata[4]:.0%}}",
            error_x=whiskers(middle, flat["low"], flat["high"]),
            customdata=rows(
                [safe(f"{record.parameters[j]}: {record.values[j][i]}") for j, i in places],
                flat["failed"], flat["tried"], flat["low"], flat["high"],
            ),
        )
    )  # fmt: skip
    marker = {"symbol": "diamond-open", "color": ORANGE, "size": 9}
    name = "expected over the whole space"
    fig.add_trace(dots(flat["expected"], names, name, marker, "the forest expects %{x:.0%}"))
    return fig


def _tick(record: Failures, j: int, i: int) -> str:
    """The value, below the name of its parameter where it is the first."""
    value = safe(short(record.values[j][i], 22))
    return value if i else f"<b>{safe(short(record.parameters[j], 22))}</b>  {value}"


def _line(y: float) -> dict[str, object]:
    ends = {"x0": 0, "x1": 1, "xref": "paper", "y0": y, "y1": y}
    return {"type": "line", **ends, "line": {"color": GREY, "width": 0.5}}
