"""What there is to gain by tuning: parameters as bars, and below who gains together as a network."""

from typing import Any

import numpy as np
from plotly.graph_objects import Figure

from hyperlens.explain.tunability.tunability import Tunability
from hyperlens.explain.tunability.tunability_words import REST, TITLES
from hyperlens.plots.parts.axes import FEW_TICKS, parameter_rows, tick_axis
from hyperlens.plots.parts.colours import BLUE, GREY, ORANGE, SKY
from hyperlens.plots.parts.marks import bars, dots, line, rows, whiskers
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import safe, short, value_text
from hyperlens.words import effect_name

ROW, NODE, GAP = 46, 34, 90  # pixels: a bar, a row of the network, between the two
ARC = 24  # points of an arc
MOST_EDGES = 12
LEAST = 0.01  # of the largest number: a weaker pair is no line
WIDEST, LARGEST = 9.0, 26.0  # of a line and of a mark
BELOW: dict[str, Any] = {"xaxis": "x2", "yaxis": "y2"}


def draw(record: Tunability) -> Figure:
    """Shapley values with intervals and what each has alone; pairs as arcs between parameters."""
    count = len(record.parameters)
    upper = ROW * max(count, 2)
    lower = NODE * count if count > 2 else 0
    whole = upper + (GAP + lower if lower else 0)
    names, axis = parameter_rows(record.parameters, _moves(record))
    unit = "variance of" if record.game == "sensitivity" else "in units of"
    title = f"{TITLES[record.game].lower()}, {unit} {safe(short(record.objective, 30))}"
    across = {"title": {"text": title}, "anchor": "y", "zeroline": True, "zerolinecolor": GREY}
    fig = figure(
        whole + 130,
        xaxis=across | FEW_TICKS,
        yaxis=axis | {"domain": [1 - upper / whole, 1]},
        bargap=0.45,
        **(_network_axes(record, lower / whole) if lower else {}),
    )
    fig.add_trace(_values(record, names))
    mark = {"symbol": "diamond", "color": ORANGE, "size": 10}
    fig.add_trace(dots(record.alone, names, "alone", mark, "<b>%{y}</b><br>alone %{x:.4g}"))
    if lower:
        _add_network(fig, record)
    return fig


def _network_axes(record: Tunability, height: float) -> dict[str, Any]:
    """Rows of names, and room for the widest arc."""
    last = len(record.parameters) - 1
    ticks = tick_axis(range(last + 1), [safe(short(name)) + " " for name in record.parameters])
    bare = {"showgrid": False, "zeroline": False, "ticks": "", "showline": False}
    rows = {"domain": [0, height], "anchor": "x2", "range": [last + 0.6, -0.6], **ticks, **bare}
    return {
        "yaxis2": rows,
        "xaxis2": {"anchor": "y2", "range": [-0.15 * last, 1.06 * last], "showticklabels": False}
        | bare
        | {"title": {"text": "who gains together, or instead of each other"}},
    }


def _moves(record: Tunability) -> list[str]:
    """From which value to which, where the game leads somewhere."""
    moves = record.game in ("tunability", "mistunability", "ablation")
    return [
        "as one" if name.startswith(REST) else _move(a, b) if moves else f"at {_text(a, 14)}"
        for name, a, b in zip(record.parameters, record.values, record.best_values, strict=True)
    ]


def _move(a: object, b: object) -> str:
    return f"{_text(a, 12)} → {_text(b, 12)}" if a != b else f"stays {_text(a, 14)}"


def _text(value: object, longest: int) -> str:
    return short(value_text(value), longest)


def _values(record: Tunability, names: list[str]) -> Any:
    hover = "<b>%{y}</b><br>on average over all orders %{x:.4g}"
    interval = None
    if record.level is not None and not np.isnan(record.low).all():
        hover += f"<br>{record.level:.0%} interval %{{customdata[0]:.4g}} to %{{customdata[1]:.4g}}"
        interval = whiskers(record.value, record.low, record.high)
    data = rows(record.low, record.high)
    name = "together with others (Shapley)"
    return bars(record.value, names, name, BLUE, hover, error_x=interval, customdata=data)


def _add_network(fig: Figure, record: Tunability) -> None:
    """Parameters below each other, an arc for each pair as wide as it is strong beside the largest of
    all, dotted where the pair may have nothing. So names have room on a narrow page too."""
    row = {name: k for k, name in enumerate(record.parameters)}
    largest = float(np.abs(record.value).max(initial=0.0))
    most = max(largest, float(np.abs(record.interaction).max(initial=0.0)))
    open_ = (record.interaction_low <= 0) & (record.interaction_high >= 0)
    kinds = {True: ("more together", SKY), False: ("less together", ORANGE)}
    named: set[bool] = set()
    shown = list(zip(record.pairs, record.interaction, open_, strict=True))[:MOST_EDGES]
    for pair, value, unsure in shown:
        if not abs(value) > LEAST * most:
            continue
        positive = bool(value > 0)
        name, colour = kinds[positive]
        looks = {"legendgroup": name, "showlegend": positive not in named, **BELOW}
        looks["dash"] = "dot" if unsure else "solid"
        hover = f"{safe(effect_name(pair))}: {value:+.4g}" + ", or nothing" * bool(unsure)
        width = max(WIDEST * abs(value) / most, 1.5)
        arc = _arc(row[pair[0]], row[pair[1]])
        fig.add_trace(line(*arc, name, colour, hover, width, opacity=0.75, simplify=False, **looks))
        named.add(positive)
    part = np.sqrt(np.maximum(record.value, 0.0) / (largest or 1.0))
    marker = {"color": BLUE, "size": (8 + (LARGEST - 8) * part).tolist(), "opacity": 1.0}
    texts = [f"{safe(n)}: {v:.4g}" for n, v in zip(record.parameters, record.value, strict=True)]
    looks = {"showlegend": False, "customdata": texts, "cliponaxis": False, **BELOW}
    fig.add_trace(dots([0.0] * len(row), list(row.values()), "", marker, "%{customdata}", **looks))


def _arc(a: int, b: int) -> tuple[list[float], list[float]]:
    """Half an ellipse from row to row, the wider the farther they are apart."""
    angle = np.linspace(-np.pi / 2, np.pi / 2, ARC)
    return (abs(a - b) * np.cos(angle)).tolist(), ((a + b + (b - a) * np.sin(angle)) / 2).tolist()
