"""What few changes of a trial are expected to reach, beside the cost that is wanted."""

from plotly.graph_objects import Figure

from hyperlens.explain.reach.reach import Reach
from hyperlens.plots.parts.axes import FEW_TICKS, parameter_rows
from hyperlens.plots.parts.colours import BLUE, GREY, VERMILLION
from hyperlens.plots.parts.marks import dots, rows, whiskers
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import directed, safe, short
from hyperlens.words import number


def draw(record: Reach) -> Figure:
    """A row for each number of changes: the expected cost with its interval, and the wanted one."""
    texts = [
        [
            f"{short(n, 12)} {_brief(a)} → {_brief(b)}"
            for n, a, b in zip(changed, before, values, strict=True)
        ]
        for changed, before, values in zip(
            record.changed, record.before, record.values, strict=True
        )
    ]
    likely = [f"probability {p:.0%}" for p in record.probability]
    names, axis = parameter_rows([record.start, *map(str, texts)])
    axis["ticktext"] = [
        "".join(f"{safe(text)} <br>" for text in lines)
        + f"<span style='color:{GREY}'>{below} </span>"
        for lines, below in zip([[record.start], *texts], ["as it is", *likely], strict=True)
    ]
    fig = figure(
        150 + 72 * max(len(names), 2),
        xaxis={"title": {"text": directed(record.objective, record.maximize)}, **FEW_TICKS},
        yaxis=axis,
        shapes=[
            {
                "type": "line", "xref": "x", "yref": "paper", "y0": 0, "y1": 1,
                "x0": record.wanted, "x1": record.wanted,
                "line": {"color": VERMILLION, "width": 2, "dash": "dash"},
            }
        ],
        annotations=[
            {
                "x": record.wanted, "y": 1, "yref": "paper", "text": "wanted", "showarrow": False,
                "xanchor": "left", "yanchor": "bottom", "font": {"size": 11},
            }
        ],
        showlegend=False,
    )  # fmt: skip
    mark = {"symbol": "diamond", "color": GREY, "size": 11}
    fig.add_trace(dots([record.cost], names[:1], "", mark, "expected as it is: %{x:.4g}"))
    hover = "expected %{x:.4g}<br>probability %{customdata[0]:.0%}"
    error = whiskers(record.expected, record.low, record.high)
    looks = {"error_x": error, "customdata": rows(record.probability)}
    point = {"color": BLUE, "size": 11}
    fig.add_trace(dots(record.expected, names[1:], "", point, hover, **looks))
    return fig


def _brief(value: object) -> str:
    """A value to three digits, so that points have room beside the names of changes."""
    return "inactive" if value is None else short(number(value, 3), 10)
