"""Why a configuration was proposed: what each parameter did for the mean and for the uncertainty."""

from __future__ import annotations

from plotly.graph_objects import Bar, Figure, Scatter

from hyperlens.explain.proposals.why import Why
from hyperlens.plots.parts.style import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    category_axis,
    figure,
    safe,
    short,
    unshown,
    whiskers,
)
from hyperlens.words import number

MOST = 20  # parameters
EXPLOITS, EXPLORES = "mean (exploitation)", "uncertainty (exploration)"


def draw(record: Why) -> Figure:
    """Each parameter's contribution to the bound, and its two parts: that of the mean, and that of
    the uncertainty times tau. Left is desirable; right where the objective is maximised."""
    many = min(len(record.parameters), MOST)
    names = [f"{k} {safe(record.parameters[k])}" for k in range(many)]
    fig = figure(
        150 + 54 * max(many, 2),
        xaxis={
            "title": {"text": _title(record) + _hidden(record)},
            "zeroline": True,
            "zerolinecolor": INK,
        },
        yaxis={**category_axis(names, _ticks(record, many), down=True), "showgrid": False},
        bargap=0.35,
    )
    sign = 1.0 if record.maximize else -1.0
    scale = sign * record.tau
    parts = (
        (EXPLOITS, BLUE, record.mean, record.mean_low, record.mean_high),
        (
            f"{EXPLORES}, times tau",
            ORANGE,
            scale * record.uncertainty,
            scale * (record.uncertainty_low if scale >= 0 else record.uncertainty_high),
            scale * (record.uncertainty_high if scale >= 0 else record.uncertainty_low),
        ),
    )
    for name, colour, value, low, high in parts:
        sampled = bool((high[:many] > low[:many]).any())
        fig.add_trace(
            Bar(
                orientation="h",
                x=value[:many].tolist(),
                y=names,
                name=name,
                marker={"color": colour, "opacity": 0.85},
                error_x=whiskers(value[:many], low[:many], high[:many]) if sampled else None,
                hovertemplate=f"<b>%{{y}}</b><br>{name} %{{x:.4g}}<extra></extra>",
            )
        )
    fig.add_trace(
        Scatter(
            x=record.bound[:many].tolist(),
            y=names,
            mode="markers",
            name="bound (both together)",
            marker={"symbol": "diamond", "size": 11, "color": INK, "line": {"width": 0}},
            customdata=[[safe(s)] for s in record.sentences[:many]],
            hovertemplate="<b>%{y}</b><br>bound %{x:.4g}<extra></extra>",
        )
    )
    return fig


def _ticks(record: Why, many: int) -> list[str]:
    """Names with their values below."""
    ticks = []
    for name, value in zip(record.parameters[:many], record.values[:many], strict=True):
        text = "inactive" if value is None else number(value)
        ticks.append(
            f"{safe(short(name))} <br><span style='color:{GREY}'>{safe(short(text, 20))} </span>"
        )
    return ticks


def _title(record: Why) -> str:
    better = "right" if record.maximize else "left"
    said = (
        f"contribution to the bound of {safe(short(record.objective, 30))} ({better} is desirable)"
    )
    return f"{said}<br><span style='font-size:11px'>{_payout(record)}</span>"


def _payout(record: Why) -> str:
    """Prediction, what it is compared with, and payout; of the score too, where that ranks."""
    parts = {"bound": "bound"} | ({} if record.score is None else {"score": "ranked by the score"})
    texts = [
        f"{name} {record.actual[part]:.4g}, {record.compared_with} {record.average[part]:.4g}: "
        f"payout {record.payout[part]:.4g}"
        for part, name in parts.items()
    ]
    return "<br>".join(safe(text) for text in texts)


def _hidden(record: Why) -> str:
    left = len(record.parameters) - MOST
    return unshown(f"{left} parameters that weigh less") if left > 0 else ""
