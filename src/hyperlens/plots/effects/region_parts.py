"""What all figures of regions are made of: bands, lines, points, and what they say on hover."""

from __future__ import annotations

from typing import Any

from plotly.graph_objects import Figure, Scatter

from hyperlens.explain.effects.regions import Region, Regions
from hyperlens.plots.parts.style import safe, see_through, short, whiskers

WHOLE = "the whole space"


def band(fig: Figure, x: list[Any], region: Region, colour: str, alpha: float, **more: Any) -> None:
    for side in ("low", "high"):
        fig.add_trace(
            Scatter(
                x=x,
                y=getattr(region, side).tolist(),
                mode="lines",
                name=side,
                legendgroup=str(region.id),
                showlegend=False,
                line={"width": 0},
                fill="tonexty" if side == "high" else None,
                fillcolor=see_through(colour, alpha),
                hoverinfo="skip",
                **more,
            )
        )


def mean_line(record: Regions, region: Region, **more: Any) -> Scatter:
    return Scatter(
        x=list(record.values),
        y=region.mean.tolist(),
        mode="lines",
        legendgroup=str(region.id),
        customdata=low_high(region),
        hovertemplate=hover_text(record, region, "%{x:.5g}", "%{y:.5g}"),
        **more,
    )


def marker_and_bars(region: Region, colour: str, dash: str, large: bool) -> dict[str, Any]:
    bars = whiskers(region.mean, region.low, region.high)
    return {
        "marker": {
            "color": colour,
            "size": 11 if large else 7,
            "symbol": "diamond" if dash == "dot" else "circle",
        },
        "error_x": bars | {"thickness": 2 if large else 0.8, "width": 4 if large else 0},
    }


def whole_name(record: Regions) -> str:
    return f"{WHOLE} and its {100 * record.level:.3g} % band"


def low_high(region: Region) -> list[list[Any]]:
    return [list(row) for row in zip(region.low.tolist(), region.high.tolist(), strict=True)]


def hover_text(record: Regions, region: Region, value: str, mean: str) -> str:
    name = safe(short(record.parameter))
    band = f"{100 * record.level:.3g} % band %{{customdata[0]:.5g}} to %{{customdata[1]:.5g}}"
    return (
        f"<b>{_folded(region.rule)}</b><br>{name} = {value}<br>mean {mean}<br>{band}<extra></extra>"
    )


def _folded(rule: str) -> str:
    """The rule, a line for each clause."""
    return "<br>and ".join(safe(short(part, 120)) for part in rule.split(" and "))
