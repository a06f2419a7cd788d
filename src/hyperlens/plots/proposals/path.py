"""How the reasons changed over a run: desirability, payouts, predictions and configurations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from plotly.graph_objects import Figure, Heatmap, Scatter

from hyperlens.explain.proposals.path import ProposalPath
from hyperlens.plots.parts.lines import (
    INACTIVE,
    MOST_ROWS,
    add_lines,
    add_values,
    few,
    rows_figure,
    written,
)
from hyperlens.plots.parts.style import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    category_axis,
    directed,
    figure,
    safe,
    short,
    unshown,
)

COLOURS = (BLUE, ORANGE, GREEN, VERMILLION, PURPLE, SKY, INK, GREY)
DASHES = ("solid", "dot", "dash")  # beyond the colours, lines differ by dashes too
MOST = 12  # parameters
WHEN = {"early": SKY, "middle": BLUE, "late": ORANGE}  # thirds of the proposals
ROW = 26  # pixels of a row of configurations
OFF = "#B4BAC3"  # of a cell that is switched off; no colour of the map's


def draw(record: ProposalPath) -> Figure:
    """The desirability paths (Croppi 2021 figures 6 and 12): what each parameter did for the bound."""
    fig = figure(
        420,
        xaxis={"title": {"text": "trial" + _hidden(record)}, "showgrid": False},
        yaxis={
            "title": {"text": f"contribution to the bound of {safe(short(record.objective, 24))}"},
            "zeroline": True,
            "zerolinecolor": INK,
        },
    )
    for k, j in enumerate(strongest(record)):
        name = safe(short(record.parameters[j]))
        fig.add_trace(
            Scatter(
                x=record.trial.tolist(),
                y=record.bound[:, j].tolist(),
                mode="lines",
                name=name,
                line={
                    "color": COLOURS[k % len(COLOURS)],
                    "dash": DASHES[k // len(COLOURS) % len(DASHES)],
                    "width": 2,
                },
                customdata=[
                    [safe(_said(row[j])), m, u]
                    for row, m, u in zip(
                        record.values,
                        record.mean[:, j].tolist(),
                        record.uncertainty[:, j].tolist(),
                        strict=True,
                    )
                ],
                hovertemplate=f"<b>{name}</b> = %{{customdata[0]}}<br>trial %{{x}}: bound %{{y:.4g}}"
                "<br>mean %{customdata[1]:.4g}, uncertainty %{customdata[2]:.4g}<extra></extra>",
            )
        )
    return fig


def draw_payouts(record: ProposalPath) -> Figure:
    """Croppi 2021 figure 15: how much better than average each proposal looked, and by which part."""
    sign = 1.0 if record.maximize else -1.0
    fig = figure(
        340,
        xaxis={"title": {"text": "trial"}, "showgrid": False},
        yaxis={
            "title": {"text": f"payout, {safe(short(record.objective, 30))}"},
            "zeroline": True,
            "zerolinecolor": INK,
        },
    )
    lines = (
        ("mean (exploitation)", BLUE, record.payout["mean"]),
        (
            "uncertainty (exploration), times tau",
            ORANGE,
            sign * record.tau * record.payout["uncertainty"],
        ),
        ("bound", INK, record.payout["bound"]),
    )
    for name, colour, values in lines:
        fig.add_trace(
            Scatter(
                x=record.trial.tolist(),
                y=values.tolist(),
                mode="lines",
                name=name,
                line={"color": colour, "width": 2},
                hovertemplate=f"trial %{{x}}: {name} %{{y:.4g}}<extra></extra>",
            )
        )
    return fig


def draw_predictions(record: ProposalPath) -> Figure:
    """Croppi 2021 figures 3 and 9: what was predicted of each proposal, and what it then cost."""
    fig = figure(
        340,
        xaxis={"title": {"text": "trial"}, "showgrid": False},
        yaxis={"title": {"text": directed(record.objective, record.maximize)}},
    )
    x = record.trial.tolist()
    mean, std = record.actual["mean"], record.actual["uncertainty"]
    fig.add_trace(
        Scatter(
            x=x + x[::-1],
            y=(mean + std).tolist() + (mean - std).tolist()[::-1],
            fill="toself",
            fillcolor="rgba(86, 180, 233, 0.24)",
            line={"width": 0},
            name="± one standard deviation",
            hoverinfo="skip",
        )
    )
    fig.add_trace(
        Scatter(
            x=x,
            y=mean.tolist(),
            mode="lines",
            name="predicted",
            line={"color": BLUE, "width": 2},
            hovertemplate="trial %{x}: predicted %{y:.4g}<extra></extra>",
        )
    )
    fig.add_trace(
        Scatter(
            x=x,
            y=record.actual["bound"].tolist(),
            mode="lines",
            name="bound",
            line={"color": ORANGE, "width": 1.5, "dash": "dash"},
            hovertemplate="trial %{x}: bound %{y:.4g}<extra></extra>",
        )
    )
    fig.add_trace(
        Scatter(
            x=x,
            y=record.measured.tolist(),
            mode="markers",
            name="measured",
            marker={"color": INK, "size": 6},
            hovertemplate="trial %{x}: measured %{y:.4g}<extra></extra>",
        )
    )
    return fig


def draw_configurations(record: ProposalPath) -> Figure:
    """Croppi 2021 figures 4 and 7: where on its axis each parameter was, trial by trial; grey if inactive."""
    names = [f"{j} {safe(n)}" for j, n in enumerate(record.parameters)]
    fig = figure(
        140 + ROW * len(names),
        xaxis={"title": {"text": "trial"}, "showgrid": False},
        yaxis={
            **category_axis(names, [safe(short(n)) for n in record.parameters], down=True),
            "showgrid": False,
        },
    )
    fig.add_trace(
        Heatmap(
            x=record.trial.tolist(),
            y=names,
            z=record.vectors.T.tolist(),
            zmin=0,
            zmax=1,
            colorscale="Cividis",
            xgap=0.5,
            ygap=2,
            hoverongaps=False,
            name="place on its axis",
            text=[[safe(_said(row[j])) for row in record.values] for j in range(len(names))],
            colorbar={
                "title": {"text": "place on its axis", "side": "right", "font": {"size": 13}},
                "tickfont": {"size": 12},
                "tickvals": [0, 1],
                "ticktext": ["lowest", "highest"],
                "thickness": 12,
            },
            hovertemplate="trial %{x}<br><b>%{y}</b> = %{text}<extra></extra>",
        )
    )
    if np.isnan(record.vectors).any():
        _add_inactive(fig, record, names)
    return fig


def _add_inactive(fig: Figure, record: ProposalPath, names: list[str]) -> None:
    """Grey cells where a parameter was switched off, named in the legend."""
    fig.add_trace(
        Heatmap(
            x=record.trial.tolist(),
            y=names,
            z=np.where(np.isnan(record.vectors.T), 1.0, np.nan).tolist(),
            colorscale=[[0, OFF], [1, OFF]],
            showscale=False,
            xgap=0.5,
            ygap=2,
            hoverongaps=False,
            name="cells inactive",
            hovertemplate="trial %{x}<br><b>%{y}</b> is inactive<extra></extra>",
        )
    )
    fig.add_trace(
        Scatter(
            x=[None],
            y=[None],
            mode="markers",
            name="inactive",
            marker={"symbol": "square", "size": 12, "color": OFF},
            hoverinfo="skip",
        )
    )
    fig.update_layout(showlegend=True)


def draw_parallel(record: ProposalPath) -> Figure:
    """Croppi 2021 figures 4, 7 and 13: configurations as lines over all parameters, by when they came."""
    chosen = strongest(record, MOST_ROWS)
    fig = rows_figure([record.parameters[j] for j in chosen])
    thirds = np.array_split(np.arange(len(record.trial)), len(WHEN))
    groups = [("initial design", GREY, 1.0, record.design_vectors)]
    groups += [
        (f"{name} proposals", colour, 1.2, record.vectors[rows])
        for (name, colour), rows in zip(WHEN.items(), thirds, strict=True)
    ]
    if (best := _best(record)) is not None:
        groups.append(("best of them", VERMILLION, 3.0, record.vectors[[best]]))
    for name, colour, width, vectors in groups:
        if len(vectors):
            add_lines(
                fig,
                vectors[:, chosen],
                name=name,
                line={"color": colour, "width": width, "simplify": False},
                opacity=0.9 if width > 2 else 0.55,
            )
    add_values(fig, [(p, row, t) for row, j in enumerate(chosen) for p, t in _tried(record, j)])
    return fig


VIEWS: dict[str, Callable[[ProposalPath], Figure]] = {
    "desirability": draw,
    "payouts": draw_payouts,
    "predictions": draw_predictions,
    "configurations": draw_configurations,
    "parallel": draw_parallel,
}


def strongest(record: ProposalPath, most: int = MOST) -> list[int]:
    """Parameters with the largest contributions to the bound on average."""
    weight = abs(record.bound).mean(axis=0)
    return sorted(range(len(record.parameters)), key=lambda j: -float(weight[j]))[:most]


def _best(record: ProposalPath) -> int | None:
    """Row of the best measured proposal, if any was measured."""
    if not np.isfinite(record.measured).any():
        return None
    sign = -1.0 if record.maximize else 1.0
    return int(np.nanargmin(sign * record.measured))


def _tried(record: ProposalPath, j: int) -> list[tuple[float, str]]:
    """What was tried, by its place: all of few levels or whole numbers, else the lowest and the
    highest number; and where it is off."""
    places = [*record.design_vectors[:, j].tolist(), *record.vectors[:, j].tolist()]
    values = [row[j] for row in (*record.design, *record.values)]
    found = {p: v for p, v in zip(places, values, strict=True) if p == p}
    known = sorted(found.items(), key=lambda tick: tick[0])
    if record.numeric[j] and any(isinstance(v, float) for _, v in known):
        known = [*known[:1], *known[1:][-1:]]
    texts = [(p, written(v)) for p, v in few(known)]
    return [*texts, (INACTIVE, "off")] if any(p != p for p in places) else texts


def _said(value: object) -> str:
    if value is None:
        return "inactive"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _hidden(record: ProposalPath) -> str:
    left = len(record.parameters) - MOST
    return unshown(f"{left} parameters that weigh less") if left > 0 else ""
