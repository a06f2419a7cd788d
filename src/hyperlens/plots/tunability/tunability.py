"""What there is to gain by tuning: parameters as bars, and below who gains together as a network."""

import math
from typing import Any

import numpy as np
from plotly.graph_objects import Figure

from hyperlens.explain.tunability.tunability import Tunability
from hyperlens.explain.tunability.tunability_words import TITLES
from hyperlens.plots.parts.axes import parameter_rows
from hyperlens.plots.parts.colours import BLUE, GREY, ORANGE, SKY
from hyperlens.plots.parts.marks import bars, dots, line, rows, whiskers
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import safe, short, value_text
from hyperlens.words import effect_name

ROW, NETWORK, GAP = 46, 260, 70  # pixels: a bar, the network, between the two
MOST_EDGES = 12
LEAST = 0.01  # of the largest number: a weaker pair is no line
WIDEST, LARGEST = 9.0, 34.0  # of a line and of a mark
BELOW: dict[str, Any] = {"xaxis": "x2", "yaxis": "y2"}


def draw(record: Tunability) -> Figure:
    """Shapley values with intervals and what each has alone; pairs as lines between parameters."""
    upper = ROW * max(len(record.parameters), 2)
    lower = NETWORK if len(record.parameters) > 2 else 0
    whole = upper + (GAP + lower if lower else 0)
    names, axis = parameter_rows(record.parameters, _moves(record))
    unit = "variance of" if record.game == "sensitivity" else "in units of"
    title = f"{TITLES[record.game].lower()}, {unit} {safe(short(record.objective, 30))}"
    below = {"domain": [0, lower / whole], "anchor": "x2", "range": [-1.45, 1.45], "visible": False}
    fig = figure(
        whole + 130,
        xaxis={"title": {"text": title}, "anchor": "y", "zeroline": True, "zerolinecolor": GREY},
        yaxis=axis | {"domain": [1 - upper / whole, 1]},
        bargap=0.45,
        **({"yaxis2": below, "xaxis2": _across()} if lower else {}),
    )
    fig.add_trace(_values(record, names))
    mark = {"symbol": "diamond", "color": ORANGE, "size": 10}
    fig.add_trace(dots(record.alone, names, "alone", mark, "<b>%{y}</b><br>alone %{x:.4g}"))
    if lower:
        _add_network(fig, record)
    return fig


def _across() -> dict[str, Any]:
    return {"anchor": "y2", "range": [-2.5, 2.5], "visible": False}


def _moves(record: Tunability) -> list[str]:
    """From which value to which, where the game leads somewhere."""
    if record.game not in ("tunability", "mistunability", "ablation"):
        return [f"at {short(value_text(v), 14)}" for v in record.values]
    both = zip(record.values, record.best_values, strict=True)
    return [
        f"{short(value_text(a), 12)} → {short(value_text(b), 12)}"
        if a != b
        else f"stays {short(value_text(a), 14)}"
        for a, b in both
    ]


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
    """Parameters on a ring, a line for each pair as wide as it is strong beside the largest of all,
    dotted where the pair may have nothing."""
    count = len(record.parameters)
    angle = math.pi / 2 - 2 * math.pi * np.arange(count) / count
    at = {
        name: (1.6 * math.cos(a), math.sin(a))
        for name, a in zip(record.parameters, angle, strict=True)
    }
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
        (x0, y0), (x1, y1) = at[pair[0]], at[pair[1]]
        name, colour = kinds[positive]
        looks = {"legendgroup": name, "showlegend": positive not in named, **BELOW}
        looks["dash"] = "dot" if unsure else "solid"
        hover = f"{safe(effect_name(pair))}: {value:+.4g}" + ", or nothing" * bool(unsure)
        width = max(WIDEST * abs(value) / most, 1.5)
        middle = [(x0 + x1) / 2, (y0 + y1) / 2]
        ends = ([x0, middle[0], x1], [y0, middle[1], y1])
        fig.add_trace(line(*ends, name, colour, hover, width, opacity=0.75, **looks))
        named.add(positive)
    for name, value in zip(record.parameters, record.value, strict=True):
        size = 8 + (LARGEST - 8) * math.sqrt(max(float(value), 0.0) / (largest or 1.0))
        marker = {"color": BLUE, "size": size, "opacity": 1.0}
        hover = f"{safe(name)}: {value:.4g}"
        fig.add_trace(
            dots([at[name][0]], [at[name][1]], "", marker, hover, showlegend=False, **BELOW)
        )
    x, y = np.array([at[name] for name in record.parameters]).T
    y = y + np.where(y >= 0, 0.32, -0.32)  # above or below, where a narrow page has room
    texts = [safe(short(name, 14)) for name in record.parameters]
    looks = {"mode": "text", "showlegend": False, "cliponaxis": False, **BELOW}
    fig.add_trace(dots(x, y, "", {}, text=texts, **looks))
