"""Why each trial of a path was proposed, for a page that steps through the trials.

Traces carry in `meta["when"]` the place of their trial in the path.
"""

from typing import Any

from plotly.graph_objects import Figure

from hyperlens.explain.proposals.path import ProposalPath
from hyperlens.plots.parts.axes import parameter_rows
from hyperlens.plots.parts.colours import BLUE, INK, ORANGE
from hyperlens.plots.parts.marks import bars, dots
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import safe, short, value_text
from hyperlens.plots.proposals.path import MOST
from hyperlens.plots.proposals.why import BOTH, BOTH_MARK, EXPLOITS, EXPLORES


def draw_reasons(record: ProposalPath, shown: int) -> Figure:
    """Bars of the mean and of the uncertainty times tau, the bound as a mark; trial `shown` first."""
    rows = record.strongest[:MOST]
    names, axis = parameter_rows([record.parameters[j] for j in rows])
    better = "right" if record.maximize else "left"
    title = (
        f"contribution to the bound of {safe(short(record.objective, 30))}, "
        f"tau {record.tau[0]:g} ({better} is desirable)"
    )
    fig = figure(
        140 + 46 * max(len(rows), 2),
        xaxis={"title": {"text": title}, "zeroline": True, "zerolinecolor": INK},
        yaxis=axis,
        bargap=0.35,
    )
    for k, worth in enumerate(record.worth.tolist()):
        page: dict[str, Any] = {"meta": {"when": {"trial": [k]}}, "visible": k == shown}
        values = [safe(value_text(record.values[k][j])) for j in rows]
        for name, colour, numbers in (
            (EXPLOITS, BLUE, record.mean[k, rows]),
            (EXPLORES, ORANGE, worth * record.uncertainty[k, rows]),
        ):
            hover = f"<b>%{{y}}</b> = %{{customdata}}<br>{name} %{{x:.4g}}"
            fig.add_trace(bars(numbers, names, name, colour, hover, customdata=values, **page))
        hover = "<b>%{y}</b><br>bound %{x:.4g}"
        fig.add_trace(dots(record.bound[k, rows], names, BOTH, BOTH_MARK, hover, **page))
    return fig
