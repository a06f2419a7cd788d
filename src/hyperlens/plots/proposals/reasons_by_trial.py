"""Why each trial of a path was proposed, for a page that steps through the trials.

Traces carry in `meta["when"]` the place of their trial in the path.
"""

from __future__ import annotations

from plotly.graph_objects import Bar, Figure, Scatter

from hyperlens.explain.proposals.path import ProposalPath
from hyperlens.plots.parts.style import BLUE, INK, ORANGE, category_axis, figure, safe, short
from hyperlens.plots.proposals.path import strongest
from hyperlens.plots.proposals.why import EXPLOITS, EXPLORES


def draw_reasons(record: ProposalPath, shown: int) -> Figure:
    """Bars of the mean and of the uncertainty times tau, the bound as a mark; trial `shown` first."""
    chosen = strongest(record)
    names = [f"{j} {safe(record.parameters[j])}" for j in chosen]
    better = "right" if record.maximize else "left"
    fig = figure(
        140 + 46 * max(len(chosen), 2),
        xaxis={
            "title": {
                "text": f"contribution to the bound of {safe(short(record.objective, 30))}, "
                f"tau {record.tau[0]:g} ({better} is desirable)"
            },
            "zeroline": True,
            "zerolinecolor": INK,
        },
        yaxis={
            **category_axis(names, [safe(short(record.parameters[j])) for j in chosen], down=True),
            "showgrid": False,
        },
        bargap=0.35,
    )
    sign = 1.0 if record.maximize else -1.0
    for k in range(len(record.trial)):
        more = {"meta": {"when": {"trial": [k]}}, "visible": k == shown, "y": names}
        values = [_said(record.values[k][j]) for j in chosen]
        explored = sign * record.tau[k] * record.uncertainty[k, chosen]
        parts = (
            (EXPLOITS, BLUE, record.mean[k, chosen]),
            (f"{EXPLORES}, times tau", ORANGE, explored),
        )
        for name, colour, numbers in parts:
            fig.add_trace(
                Bar(
                    orientation="h",
                    x=numbers.tolist(),
                    name=name,
                    marker={"color": colour, "opacity": 0.85},
                    customdata=values,
                    hovertemplate=f"<b>%{{y}}</b> = %{{customdata}}<br>{name} %{{x:.4g}}"
                    "<extra></extra>",
                    **more,
                )
            )
        fig.add_trace(
            Scatter(
                x=record.bound[k, chosen].tolist(),
                mode="markers",
                name="bound (both together)",
                marker={"symbol": "diamond", "size": 11, "color": INK, "line": {"width": 0}},
                hovertemplate="<b>%{y}</b><br>bound %{x:.4g}<extra></extra>",
                **more,
            )
        )
    return fig


def _said(value: object) -> str:
    if value is None:
        return "inactive"
    return f"{value:.4g}" if isinstance(value, float) else safe(value)
