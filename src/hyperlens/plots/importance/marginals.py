"""The mean effects of several parameters on one scale, so that their sizes can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plotly.graph_objects import Figure, Scatter

from hyperlens.explain.effects.effect import Effect
from hyperlens.plots.parts.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    VERMILLION,
    directed,
    figure,
    safe,
    short,
)

MOST = 6
COLOURS = (BLUE, ORANGE, GREEN, PURPLE, VERMILLION, GREY)
SYMBOLS = ("circle", "diamond", "square", "cross", "x", "triangle-up")


def draw_marginals(effects: Sequence[Effect]) -> Figure:
    """Each parameter over its own range, from its lower to its upper end; categories in order."""
    first = effects[0]
    fig = figure(
        380,
        xaxis={
            "title": {"text": "place in each range"},
            "range": [-0.04, 1.04],
            "tickmode": "array",
            "tickvals": [0, 0.25, 0.5, 0.75, 1],
            "ticktext": ["lower", "", "middle", "", "upper"],
            "showgrid": False,
        },
        yaxis={"title": {"text": directed(first.objective, first.maximize)}},
    )
    for k, effect in enumerate(effects[:MOST]):
        values, count = effect.values[0], len(effect.values[0])
        numeric = effect.numeric[0]
        spread = [
            i / (count - 1) if numeric and count > 1 else (i + 0.5) / count for i in range(count)
        ]
        name = safe(short(effect.parameters[0], 30))
        fig.add_trace(
            Scatter(
                x=spread,
                y=effect.mean.tolist(),
                mode="lines" if numeric else "lines+markers",
                name=name,
                line={
                    "color": COLOURS[k],
                    "width": 2.2,
                    "dash": "solid" if numeric else "dot",
                    "simplify": False,
                },
                marker={"symbol": SYMBOLS[k], "size": 9},
                customdata=[_said(v) for v in values],
                hovertemplate=f"<b>{name} = %{{customdata}}</b><br>mean %{{y:.5g}}<extra></extra>",
            )
        )
    fig.update_layout(showlegend=True)
    return fig


def _said(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else safe(value)
