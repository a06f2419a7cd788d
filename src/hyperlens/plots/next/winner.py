"""Whether the best is best: leading trials as measured and as expected, and how probable each is."""

from plotly.graph_objects import Figure

from hyperlens.explain.next.winner import Winner
from hyperlens.plots.parts.axes import FEW_TICKS, category_axis
from hyperlens.plots.parts.colours import BLUE, ORANGE
from hyperlens.plots.parts.marks import bars, dots, rows, whiskers
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import safe, short

ROW = 34  # pixels
COSTS, PROBABILITIES = [0.0, 0.56], [0.72, 1.0]  # of the width; labels of the two stay apart


def draw(record: Winner) -> Figure:
    """A row for each trial: the measured cost, the expected one with its interval, the probability."""
    names = [str(trial) for trial in record.trial.tolist()]
    ticks = [
        f"<b>trial {name}</b>" if int(name) == record.recommended else f"trial {name}"
        for name in names
    ]
    fig = figure(
        120 + ROW * len(names),
        xaxis={"title": {"text": safe(short(record.objective, 32))}, "domain": COSTS, **FEW_TICKS},
        xaxis2={
            "title": {"text": "probability"},
            "domain": PROBABILITIES,
            "range": [0, 1.02],
            "tickformat": ".0%",
            "tickvals": [0, 0.5, 1],
            "anchor": "y",
        },
        yaxis=category_axis(names, ticks, down=True),
        showlegend=True,
    )
    which = {"trials": record.trial.tolist(), "own": True}
    told = rows(
        names, record.observed, record.expected, record.low, record.high, record.probability
    )
    fig.add_trace(
        dots(
            record.expected, names, "expected after the noise", {"color": BLUE, "size": 9},
            "<b>trial %{customdata[0]}</b><br>expected %{customdata[2]:.4g}<br>"
            f"{record.level:.0%} interval %{{customdata[3]:.4g}} to %{{customdata[4]:.4g}}",
            error_x=whiskers(record.expected, record.low, record.high),
            customdata=told, meta=which,
        )
    )  # fmt: skip
    marker = {"symbol": "diamond-open", "color": ORANGE, "size": 9}
    hover = "<b>trial %{customdata[0]}</b><br>measured %{x:.4g}"
    fig.add_trace(
        dots(record.observed, names, "measured", marker, hover, customdata=told, meta=which)
    )
    hover = "<b>trial %{customdata[0]}</b><br>the best with %{x:.1%}"
    fig.add_trace(
        bars(
            record.probability,
            names,
            "",
            BLUE,
            hover,
            xaxis="x2",
            customdata=told,
            meta=which,
            showlegend=False,
        )
    )
    return fig
