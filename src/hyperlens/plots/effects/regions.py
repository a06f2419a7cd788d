"""The effect of a parameter in each region of a tree, and over the whole space."""

from __future__ import annotations

from plotly.graph_objects import Figure, Scatter

from hyperlens.explain.effects.regions import Region, Regions
from hyperlens.plots.effects.region_parts import (
    band,
    hover_text,
    low_high,
    marker_and_bars,
    mean_line,
    whole_name,
)
from hyperlens.plots.parts.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    VERMILLION,
    directed,
    figure,
    labels,
    number_axis,
    safe,
    short,
    star,
    unshown,
)

MOST = 8  # leaves drawn
COLOURS = (BLUE, ORANGE, GREEN, PURPLE)
LINE = 22  # pixels: a line of the legend
LONGEST_RULE = 66  # characters in the legend, shared among its clauses


def draw(record: Regions) -> Figure:
    """The whole space in grey, the best trial's region with its band, other regions as thin lines."""
    leaves = drawn(record)
    chosen = highlighted(record)
    below = LINE * (len(leaves) + 2) + 64  # the axis title and the legend, a rule a line
    fig = figure(
        350 + below,
        margin={"l": 12, "r": 16, "t": 36, "b": below},
        legend={
            "orientation": "v",
            "yref": "container",
            "y": 0,
            "yanchor": "bottom",
            "x": 0,
            "xanchor": "left",
            "traceorder": "grouped",
        },
    )
    cost = directed(record.objective, record.maximize)
    name = safe(short(record.parameter, 40))
    if record.numeric:
        fig.update_layout(
            xaxis={
                "title": {"text": name + _hidden(record)},
                "showgrid": False,
                **number_axis(record.values, record.log),
            },
            yaxis={"title": {"text": cost}},
        )
        _curves(fig, record, leaves, chosen)
    else:
        names = [safe(short(n)) for n in labels(record.values)]
        rows = 12 * (len(leaves) + 1) + 20  # pixels for a category
        fig.update_layout(
            height=76 + below + rows * max(len(names), 2),
            xaxis={"title": {"text": cost + _hidden(record)}},
            yaxis={
                "title": {"text": name},
                "tickmode": "array",
                "tickvals": list(range(len(names))),
                "ticktext": names,
                "range": [len(names) - 0.5, -0.5],
                "showgrid": False,
            },
        )
        _points(fig, record, leaves, chosen)
    return fig


def drawn(record: Regions) -> tuple[Region, ...]:
    """The leaves that fit: the best trial's, then the largest; in the order of the tree."""
    leaves = record.leaves
    first = sorted(leaves, key=lambda r: (not r.holds_best, -r.share))[:MOST]
    kept = {r.id for r in first}
    return tuple(r for r in leaves if r.id in kept)


def highlighted(record: Regions) -> Region:
    """The leaf drawn with its band: the best trial's, or the surest where none holds it."""
    return record.best or min(drawn(record), key=lambda r: r.confidence)


def _curves(fig: Figure, record: Regions, leaves: tuple[Region, ...], chosen: Region) -> None:
    x = list(record.values)
    root = record.tree[0]
    band(fig, x, root, GREY, 0.16)
    for region, (colour, dash) in zip(leaves, _looks(leaves, chosen), strict=True):
        if region is root:
            break
        if region is chosen:
            band(fig, x, region, colour, 0.22)
        line = {"color": colour, "dash": dash, "width": 3 if region is chosen else 1.4}
        fig.add_trace(mean_line(record, region, name=_legend(region), line=line))
    fig.add_trace(
        mean_line(
            record, root, name=whole_name(record), line={"color": GREY, "width": 2, "dash": "dash"}
        )
    )
    if record.best_value is not None:
        fig.add_vline(x=record.best_value, line={"color": VERMILLION, "width": 1, "dash": "dot"})
        nearest = min(range(len(x)), key=lambda k: abs(x[k] - record.best_value))
        fig.add_trace(star(record.best_value, chosen.mean.tolist()[nearest], "%{x:.5g}"))


def _points(fig: Figure, record: Regions, leaves: tuple[Region, ...], chosen: Region) -> None:
    """For every category a point for each region, one below the other."""
    root = record.tree[0]
    rows = (root, *(r for r in leaves if r is not root))
    looks = [(GREY, "solid"), *_looks(leaves, chosen)]
    texts = labels(record.values)
    for k, (region, (colour, dash)) in enumerate(zip(rows, looks, strict=False)):
        on = region is chosen or region is root
        bounds = zip(low_high(region), texts, strict=True)
        fig.add_trace(
            Scatter(
                x=region.mean.tolist(),
                y=[j + _shift(k, len(rows)) for j in range(len(texts))],
                mode="markers",
                name=whole_name(record) if region is root else _legend(region),
                legendgroup=str(region.id),
                customdata=[[*both, safe(text)] for both, text in bounds],
                hovertemplate=hover_text(record, region, "%{customdata[2]}", "%{x:.5g}"),
                **marker_and_bars(region, colour, dash, on),
            )
        )
    if record.best_value in record.values:
        best = record.values.index(record.best_value)
        k = next(k for k, r in enumerate(rows) if r is chosen)
        where = safe(short(texts[best]))
        y = best + _shift(k, len(rows))
        fig.add_trace(star(chosen.mean.tolist()[best], y, where))


def _shift(k: int, rows: int) -> float:
    """How far below the middle of its category the k-th row stands."""
    return 0.8 * ((k + 0.5) / rows - 0.5)


def _looks(leaves: tuple[Region, ...], chosen: Region) -> list[tuple[str, str]]:
    """Colour and dash of each leaf, blue for the chosen one."""
    all_looks = [(c, d) for d in ("solid", "dot") for c in COLOURS]
    others = iter(all_looks[1:])
    return [all_looks[0] if region is chosen else next(others) for region in leaves]


def _legend(region: Region) -> str:
    clauses = region.rule.split(" and ")
    said = " and ".join(short(c, max(LONGEST_RULE // len(clauses) - 5, 14)) for c in clauses)
    rule = region.rule if len(region.rule) <= LONGEST_RULE else said
    return f"{safe(rule)}{' (holds the best)' * region.holds_best}"


def _hidden(record: Regions) -> str:
    left = len(record.leaves) - MOST
    return unshown(f"{left} smaller region{'s' * (left > 1)}") if left > 0 else ""
