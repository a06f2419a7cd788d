"""How many evaluations each model got, and how far each came."""

from plotly.graph_objects import Figure

from hyperlens.cash.results.model_search import ModelSearch
from hyperlens.plots.parts.axes import category_axis
from hyperlens.plots.parts.colours import BLUE, ORANGE
from hyperlens.plots.parts.marks import bars, dots
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import labels, safe, short

MOST = 20  # models
ROW = 40  # pixels


def draw(record: ModelSearch) -> Figure:
    """Left: part of the evaluations that each model got, beside its weight. Right: its best cost."""
    names = [safe(n) for n in labels(record.models)][:MOST]
    ticks = [safe(short(n)) for n in labels(record.models)][:MOST]
    share = record.spent / (float(record.spent.sum()) or 1.0)
    fig = figure(
        ROW * max(len(names), 2) + 130,
        bargap=0.35,
        xaxis={
            "title": {"text": "part of the evaluations"},
            "tickformat": ".0%",
            "domain": [0, 0.47],
        },
        xaxis2={"title": {"text": f"best {safe(record.objective)}"}, "domain": [0.55, 1]},
        yaxis=category_axis(names, ticks, down=True),
    )
    fig.add_trace(
        bars(
            share[:MOST],
            names,
            "got",
            BLUE,
            "<b>%{y}</b><br>%{x:.1%} of the evaluations<br>%{customdata[0]} drawn, "
            "%{customdata[1]} on all rows, %{customdata[2]} failed",
            marker={"color": BLUE},
            customdata=[
                [int(record.reached[i, 0]), int(record.reached[i, -1]), int(record.failed[i])]
                for i in range(len(names))
            ],
        )
    )
    mark = {"color": ORANGE, "symbol": "line-ns-open", "size": 16, "line": {"width": 3}}
    hover = "<b>%{y}</b><br>drawn with %{x:.1%}"
    fig.add_trace(dots(record.weights[:MOST], names, "chance in a draw", mark, hover))
    leaders = [leader for leader in record.leaders if leader.model in record.models[:MOST]]
    fig.add_trace(
        dots(
            [leader.cost for leader in leaders],
            [names[record.models.index(leader.model)] for leader in leaders],
            "a configuration on all rows",
            {"color": BLUE, "size": 8, "opacity": 0.6},
            f"<b>%{{y}}</b><br>{safe(record.objective)} %{{x:.5g}}",
            xaxis="x2",
        )
    )
    return fig
