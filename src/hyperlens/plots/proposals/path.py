"""How the reasons changed over a run: desirability, payouts, predictions and configurations."""

from collections.abc import Callable

import numpy as np
from plotly.graph_objects import Figure, Heatmap, Scatter

from hyperlens.explain.proposals.path import ProposalPath
from hyperlens.plots.parts.axes import colour_bar, parameter_rows
from hyperlens.plots.parts.colours import (
    BAND,
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
)
from hyperlens.plots.parts.lines import (
    INACTIVE,
    MOST_ROWS,
    add_lines,
    add_values,
    few,
    rows_figure,
    written,
)
from hyperlens.plots.parts.marks import dots, line, sign
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import directed, safe, short, unshown, value_text
from hyperlens.plots.proposals.why import EXPLOITS, EXPLORES

COLOURS = (BLUE, ORANGE, GREEN, VERMILLION, PURPLE, SKY, INK, GREY)
DASHES = ("solid", "dot", "dash")  # beyond the colours, lines differ by dashes too
MOST = 12  # parameters
WHEN = {"early": SKY, "middle": BLUE, "late": ORANGE}  # thirds of the proposals
ROW = 26  # pixels of a row of configurations
TRIALS = {
    "trials": "x",
    "own": True,
}  # which trial a point is, for a page; it says its own on hover
OFF = "#B4BAC3"  # of a cell that is switched off; no colour of the map's


def draw(record: ProposalPath) -> Figure:
    """The desirability paths (Croppi 2021 figures 6 and 12): what each parameter did for the bound."""
    title = f"contribution to the bound of {safe(short(record.objective, 24))}"
    left = unshown(len(record.parameters) - MOST, "parameter", " of less weight")
    fig = _over_trials(420, title, zero=True, note=left)
    for k, j in enumerate(record.strongest[:MOST]):
        name = safe(short(record.parameters[j]))
        values = [safe(value_text(row[j])) for row in record.values]
        parts = (values, record.mean[:, j].tolist(), record.uncertainty[:, j].tolist())
        fig.add_trace(
            line(
                record.trial,
                record.bound[:, j],
                name,
                COLOURS[k % len(COLOURS)],
                f"<b>{name}</b> = %{{customdata[0]}}<br>trial %{{x}}: bound %{{y:.4g}}"
                "<br>mean %{customdata[1]:.4g}, uncertainty %{customdata[2]:.4g}",
                dash=DASHES[k // len(COLOURS) % len(DASHES)],
                customdata=[list(row) for row in zip(*parts, strict=True)],
                meta=TRIALS,
            )
        )
    return fig


def draw_payouts(record: ProposalPath) -> Figure:
    """Croppi 2021 figure 15: how much better than average each proposal looked, and by which part."""
    fig = _over_trials(340, f"payout, {safe(short(record.objective, 30))}", zero=True)
    for name, colour, values in (
        (EXPLOITS, BLUE, record.payout["mean"]),
        (EXPLORES, ORANGE, record.worth * record.payout["uncertainty"]),
        ("bound", INK, record.payout["bound"]),
    ):
        hover = f"trial %{{x}}: {name} %{{y:.4g}}"
        fig.add_trace(line(record.trial, values, name, colour, hover, meta=TRIALS))
    return fig


def draw_predictions(record: ProposalPath) -> Figure:
    """Croppi 2021 figures 3 and 9: what was predicted of each proposal, and what it then cost."""
    fig = _over_trials(340, directed(record.objective, record.maximize))
    x = record.trial.tolist()
    mean, std = record.actual["mean"], record.actual["uncertainty"]
    fig.add_trace(
        Scatter(
            x=x + x[::-1],
            y=(mean + std).tolist() + (mean - std).tolist()[::-1],
            mode="lines",
            fill="toself",
            fillcolor=BAND,
            line={"width": 0},
            name="± one standard deviation",
            hoverinfo="skip",
        )
    )
    hover = "trial %{{x}}: {} %{{y:.4g}}".format
    fig.add_trace(line(x, mean, "predicted", BLUE, hover("predicted"), meta=TRIALS))
    bound = record.actual["bound"]
    looks = {"dash": "dash", "meta": TRIALS}
    fig.add_trace(line(x, bound, "bound", ORANGE, hover("bound"), 1.5, **looks))
    mark = {"color": INK, "size": 6}
    fig.add_trace(dots(x, record.measured, "measured", mark, hover("measured"), meta=TRIALS))
    return fig


def draw_configurations(record: ProposalPath) -> Figure:
    """Croppi 2021 figures 4 and 7: where on its axis each parameter was, trial by trial; grey if
    inactive."""
    names, axis = parameter_rows(record.parameters)
    fig = _over_trials(140 + ROW * len(names))
    fig.update_layout(yaxis=axis)
    cells = {"x": record.trial.tolist(), "y": names, "xgap": 0.5, "ygap": 2, "hoverongaps": False}
    cells["meta"] = TRIALS
    ends = {"tickvals": [0, 1], "ticktext": ["lowest", "highest"]}
    fig.add_trace(
        Heatmap(
            **cells,
            z=record.vectors.T.tolist(),
            zmin=0,
            zmax=1,
            colorscale="Cividis",
            name="place on its axis",
            text=[[safe(value_text(row[j])) for row in record.values] for j in range(len(names))],
            colorbar=colour_bar("place on its axis", tickfont={"size": 12}, **ends),
            hovertemplate="trial %{x}<br><b>%{y}</b> = %{text}<extra></extra>",
        )
    )
    if np.isnan(record.vectors).any():
        fig.add_trace(
            Heatmap(
                **cells,
                z=np.where(np.isnan(record.vectors.T), 1.0, np.nan).tolist(),
                colorscale=[[0, OFF], [1, OFF]],
                showscale=False,
                name="cells inactive",
                hovertemplate="trial %{x}<br><b>%{y}</b> is inactive<extra></extra>",
            )
        )
        fig.add_trace(sign("inactive", OFF))
        fig.update_layout(showlegend=True)
    return fig


def draw_parallel(record: ProposalPath) -> Figure:
    """Croppi 2021 figures 4, 7 and 13: configurations as lines over all parameters, by when they
    came."""
    rows = record.strongest[:MOST_ROWS]
    fig = rows_figure([record.parameters[j] for j in rows])
    thirds = np.array_split(np.arange(len(record.trial)), len(WHEN))
    nobody = np.empty(0, dtype=np.int64)  # numbers of the initial design are not kept
    groups = [("initial design", GREY, 1.0, record.design_vectors, nobody)]
    groups += [
        (f"{name} proposals", colour, 1.2, record.vectors[part], record.trial[part])
        for (name, colour), part in zip(WHEN.items(), thirds, strict=True)
    ]
    if (best := _best(record)) is not None:
        of_best = record.vectors[[best]], record.trial[[best]]
        groups.append(("best of them", VERMILLION, 3.0, *of_best))
    for name, colour, width, vectors, numbers in groups:
        if len(vectors):
            add_lines(
                fig,
                vectors[:, rows],
                name=name,
                meta={"lines": numbers.tolist()} if len(numbers) else None,
                line={"color": colour, "width": width, "simplify": False},
                opacity=0.9 if width > 2 else 0.55,
            )
    add_values(fig, [(p, row, t) for row, j in enumerate(rows) for p, t in _tried(record, j)])
    return fig


VIEWS: dict[str, Callable[[ProposalPath], Figure]] = {
    "desirability": draw,
    "payouts": draw_payouts,
    "predictions": draw_predictions,
    "configurations": draw_configurations,
    "parallel": draw_parallel,
}


def _over_trials(height: int, title: str = "", zero: bool = False, note: str = "") -> Figure:
    """An empty figure of something over the trials."""
    zeros = {"zeroline": True, "zerolinecolor": INK} if zero else {}
    return figure(
        height,
        xaxis={"title": {"text": f"trial{note}"}, "showgrid": False},
        yaxis={"title": {"text": title}, **zeros} if title else {},
    )


def _best(record: ProposalPath) -> int | None:
    """Row of the best measured proposal, if any was measured."""
    if not np.isfinite(record.measured).any():
        return None
    return int((np.nanargmax if record.maximize else np.nanargmin)(record.measured))


def _tried(record: ProposalPath, j: int) -> list[tuple[float, str]]:
    """What was tried, by its place: all of few levels or whole numbers, else the lowest and the
    highest number; and where it is off."""
    places = [*record.design_vectors[:, j].tolist(), *record.vectors[:, j].tolist()]
    values = [row[j] for row in (*record.design, *record.values)]
    at = {p: v for p, v in zip(places, values, strict=True) if p == p}
    ticks = [(place, at[place]) for place in sorted(at)]
    if record.numeric[j] and any(isinstance(v, float) for _, v in ticks):
        ticks = [*ticks[:1], *ticks[1:][-1:]]
    texts = [(p, written(v)) for p, v in few(ticks)]
    return [*texts, (INACTIVE, "off")] if any(p != p for p in places) else texts
