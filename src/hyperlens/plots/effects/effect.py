"""How the cost depends on one parameter (a curve, or points for categories) or on two (a map)."""

import math
from typing import Any

import numpy as np
from plotly.graph_objects import Contour, Figure, Heatmap, Scatter

from hyperlens.explain.effects.effect import Effect
from hyperlens.explain.effects.gaps import shaded
from hyperlens.plots.parts.axes import category_axis, colour_bar, number_axis, tick_axis
from hyperlens.plots.parts.colours import BAND, BLUE, DARK, GREY, SHADE, VERMILLION
from hyperlens.plots.parts.marks import dots, line, rows, star, whiskers
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import directed, labels, safe, short
from hyperlens.plots.parts.thinning import thinned
from hyperlens.words import counted

STRIP = 0.08  # of the height, below the curve: where the trials lie
SINGLE = "single configurations"
MOST_DOTS = 1000  # trials on a map or beside a curve
BULK = 0.95  # of the trials fit beside a curve at each side
MARGIN = 0.04
HEIGHT = 0.5  # of a category's row that its trials take
GOLDEN = 0.618034  # steps that fill a row evenly


def draw(record: Effect) -> Figure:
    """One parameter: mean and band over its values. Two: a map of the mean."""
    if len(record.parameters) == 2:
        return _map(record)
    return _curve(record) if record.numeric[0] else _points(record)


def _curve(record: Effect) -> Figure:
    """Mean and band, a rug of the evaluated values below, the best trial's value marked.

    What no trial supports is shaded. Curves of single configurations wait in the legend.
    """
    x = list(record.values[0])
    fig = figure(
        380,
        xaxis={**_axis(record, 0), "anchor": "y2", "showgrid": False},
        yaxis={
            "title": {"text": directed(record.objective, record.maximize)},
            "domain": [STRIP + 0.03, 1],
        },
        yaxis2={"domain": [0, STRIP], "range": [-1, 1], "visible": False, "fixedrange": True},
    )
    fig.add_trace(_measured(record))
    fig.update_layout(yaxis={"range": _range(record)})
    edge = {"hoverinfo": "skip", "legendgroup": "band", "mode": "lines", "line": {"width": 0}}
    fig.add_trace(Scatter(x=x, y=record.low.tolist(), name="low", showlegend=False, **edge))
    band = {"name": _band(record), "fill": "tonexty", "fillcolor": BAND}
    fig.add_trace(Scatter(x=x, y=record.high.tolist(), **band, **edge))
    looks = {"simplify": False, "customdata": rows(record.low, record.high)}
    hover = _hover(record, "%{x:.5g}", "%{y:.5g}")
    fig.add_trace(line(x, record.mean, "mean", BLUE, hover, 2.5, **looks))
    if len(record.ice_mean):
        fig.add_trace(_single(record, x))
    fig.add_trace(_rug(record))
    if record.best_values is not None:
        best = record.best_values[0]
        fig.add_vline(x=best, line={"color": VERMILLION, "width": 1, "dash": "dot"})
        fig.add_trace(star(best, 0, "%{x:.5g}", yaxis="y2", meta=_best_number(record)))
    _shade(fig, record)
    return fig


def _measured(record: Effect) -> Scatter:
    """What the trials measured."""
    shown = thinned(range(len(record.observed_cost)), MOST_DOTS)
    return dots(
        _seen(record, 0, shown),
        record.observed_cost[shown],
        "measured",
        _bright(record, record.observed_cost[shown]),
        "trial at %{x:.5g}<br>measured %{y:.5g}",
        meta=_numbers(record, shown),
    )


def _bright(record: Effect, cost: np.ndarray) -> dict[str, Any]:
    """Marks that are bright where the cost is good, with an edge that is seen on white and on black."""
    colours = {"colorscale": "Cividis", "reversescale": not record.maximize, "opacity": 0.8}
    edge = {"color": GREY, "width": 0.7}
    return {"color": cost.tolist(), "size": 6, "line": edge, **colours}


def _range(record: Effect) -> list[float] | None:
    """What the axis shows: the band and the bulk of the trials; a few far ones flatten nothing."""
    known = record.observed_cost[np.isfinite(record.observed_cost)]
    low, high = float(np.nanmin(record.low)), float(np.nanmax(record.high))
    if not math.isfinite(high - low) or not len(known):
        return None
    bulk = np.quantile(known, [1 - BULK, BULK])
    low, high = min(low, float(bulk[0])), max(high, float(bulk[1]))
    margin = MARGIN * (high - low)
    return [low - margin, high + margin] if margin > 0 else None


def _single(record: Effect, x: list[Any]) -> Scatter:
    """All curves as one trace, apart from each other by a missing point."""
    across = [*x, None] * len(record.ice_mean)
    along = [y for curve in record.ice_mean.tolist() for y in (*curve, None)]
    looks: dict[str, Any] = {"simplify": False, "connectgaps": False, "opacity": 0.7}
    looks |= {"legendgroup": SINGLE, "visible": "legendonly"}
    switch = {"when": {"single": [1]}}  # of a page
    return line(across, along, SINGLE, GREY, width=0.8, meta=switch, **looks)


def _shade(fig: Figure, record: Effect) -> None:
    """Lightly, and named once in the legend."""
    for k, gap in enumerate(record.gaps):
        low, high = shaded(record, gap)
        where = {"xref": "x", "x0": low, "x1": high, "yref": "y domain", "y0": 0, "y1": 1}
        looks = {"layer": "below", "fillcolor": SHADE, "line": {"width": 0}}
        legend = {"name": "no trial here", "legendgroup": "gaps", "showlegend": k == 0}
        fig.add_shape(type="rect", **where, **looks, **legend)


def _points(record: Effect) -> Figure:
    """For every category a point with its band over its trials, whose number is beside its name.

    A point that no trial supports is hollow.
    """
    places = list(range(len(record.values[0])))
    seen = list(record.observed[0])
    names = [safe(short(n)) for n in labels(record.values[0])]
    used = record.support.astype(int).tolist()
    ticks = [
        f"{name} <br>{_tried(seen.count(value), count)} "
        for name, value, count in zip(names, record.values[0], used, strict=True)
    ]
    fig = figure(
        110 + 52 * max(len(places), 3),
        xaxis={
            "title": {"text": directed(record.objective, record.maximize)},
            "range": _range(record),
        },
        yaxis={
            "title": {"text": safe(short(record.parameters[0], 40))},
            **tick_axis(places, ticks),
            "range": [len(places) - 0.5, -0.5],
            "showgrid": False,
        },
    )
    fig.add_trace(_spread(record))
    symbols = ["circle" if n else "circle-open" for n in record.support.tolist()]
    fig.add_trace(
        dots(
            record.mean,
            places,
            f"mean and {_band(record)}",
            {"color": BLUE, "size": 11, "symbol": symbols},
            _hover(record, "%{customdata[2]}", "%{x:.5g}"),
            error_x=whiskers(record.mean, record.low, record.high, width=6),
            customdata=rows(record.low, record.high, names),
        )
    )
    if record.best_values is not None and record.best_values[0] in record.values[0]:
        best = record.values[0].index(record.best_values[0])
        which = _best_number(record)
        fig.add_trace(star(record.mean.tolist()[best], best, names[best], meta=which))
    fig.update_layout(showlegend=True)
    return fig


def _tried(measured: int, used: int) -> str:
    """How many trials a category has; of some of them the cost may be predicted."""
    trials = counted(max(measured, used), "trial")
    return trials if measured >= used else f"{trials}, <br>{measured} measured"


def _spread(record: Effect) -> Scatter:
    """What the trials of each category measured, apart from each other below and above its middle."""
    known = [k for k, value in enumerate(record.observed[0]) if value in record.values[0]]
    shown = thinned(known, MOST_DOTS)
    apart = [GOLDEN * j % 1 - 0.5 for j in range(len(shown))]
    rows = [record.values[0].index(record.observed[0][k]) for k in shown]
    cost = record.observed_cost[shown]
    return dots(
        cost,
        [row + HEIGHT * a for row, a in zip(rows, apart, strict=True)],
        "measured",
        _bright(record, cost),
        "measured %{x:.5g}",
        meta=_numbers(record, shown),
    )


def _map(record: Effect) -> Figure:
    """Mean over the product of two grids; bright is better; dots are trials, the star the best."""
    shape = (len(record.values[0]), len(record.values[1]))
    surface: dict[str, Any] = {
        "x": _grid(record, 0),
        "y": _grid(record, 1),
        "z": record.mean.reshape(shape).T.tolist(),  # Plotly wants rows along y
        "customdata": record.std.reshape(shape).T.tolist(),
        "colorscale": "Cividis",
        "reversescale": not record.maximize,
        "name": "mean",
        "hovertemplate": "%{x}, %{y}<br>mean %{z:.5g}<br>std %{customdata:.3g}<extra></extra>",
        "colorbar": colour_bar(directed(record.objective, record.maximize), tickfont={"size": 12}),
    }
    fig = figure(460, xaxis=_full(record, 0), yaxis=_full(record, 1))
    if all(record.numeric):
        lines = {"color": "rgba(255, 255, 255, 0.3)", "width": 0.6}
        fig.add_trace(Contour(**surface, contours={"coloring": "heatmap"}, line=lines))
    else:
        gaps = [0 if numeric else 2 for numeric in record.numeric]
        fig.add_trace(Heatmap(**surface, xgap=gaps[0], ygap=gaps[1]))
    shown = thinned(range(len(record.observed_cost)), MOST_DOTS)
    edge = {"color": DARK, "width": 1}
    fig.add_trace(
        dots(
            _seen(record, 0, shown),
            _seen(record, 1, shown),
            "trials",
            {"color": "rgba(255, 255, 255, 0.85)", "size": 7, "line": edge},
            "trial at %{x}, %{y}<br>measured %{customdata:.5g}",
            cliponaxis=False,
            customdata=record.observed_cost[shown].tolist(),
            meta=_numbers(record, shown),
        )
    )
    if record.best_values is not None:
        x, y = (_place(record, k, record.best_values[k]) for k in (0, 1))
        if x is not None and y is not None:
            fig.add_trace(star(x, y, "%{x}, %{y}", outline=1, meta=_best_number(record)))
    fig.update_layout(showlegend=True)
    return fig


def _axis(record: Effect, k: int) -> dict[str, Any]:
    title = {"title": {"text": safe(short(record.parameters[k], 40))}}
    if record.numeric[k]:
        return title | number_axis(record.values[k], record.log[k])
    names = labels(record.values[k])
    return title | category_axis(_grid(record, k), [safe(short(n)) for n in names])


def _full(record: Effect, k: int) -> dict[str, Any]:
    """The axis of a map: no margin around the grid of parameter k, whole cells of whole numbers."""
    axis = _axis(record, k)
    if record.numeric[k]:
        grid = sorted(math.log10(v) if record.log[k] else v for v in record.values[k])
        below, above = 0.0, 0.0
        cells = not all(record.numeric) and all(isinstance(v, int) for v in record.values[k])
        if cells and len(grid) > 1:
            below, above = (grid[1] - grid[0]) / 2, (grid[-1] - grid[-2]) / 2
        axis["range"] = [grid[0] - below, grid[-1] + above]
    return axis | {"showgrid": False}


def _grid(record: Effect, k: int) -> list[Any]:
    """Where the values of parameter k stand on its axis: numbers, or names of categories."""
    if record.numeric[k]:
        return list(record.values[k])
    return [safe(n) for n in labels(record.values[k])]


def _place(record: Effect, k: int, value: Any) -> Any:
    """Where one value stands on the axis of parameter k; None if it has no place there."""
    if not record.numeric[k]:
        known = value in record.values[k]
        return _grid(record, k)[record.values[k].index(value)] if known else None
    return None if value is None or not math.isfinite(value) else value


def _seen(record: Effect, k: int, shown: list[int]) -> list[Any]:
    """Where some trials stand on the axis of parameter k; None where it was inactive."""
    return [_place(record, k, record.observed[k][trial]) for trial in shown]


def _rug(record: Effect) -> Scatter:
    shown = thinned(range(len(record.observed_cost)))
    return dots(
        _seen(record, 0, shown),
        [0] * len(shown),
        "trials",
        {"symbol": "line-ns-open", "color": GREY, "size": 12, "opacity": 0.8},
        "trial at %{x:.5g}<br>measured %{customdata:.5g}",
        yaxis="y2",
        customdata=record.observed_cost[shown].tolist(),
        meta=_numbers(record, shown),
    )


def _numbers(record: Effect, shown: list[int]) -> dict[str, Any] | None:
    """Which trial each point is, for a page."""
    numbers = record.observed_number
    return {"trials": [numbers[k] for k in shown]} if numbers else None


def _best_number(record: Effect) -> dict[str, Any] | None:
    """The same of the best of them."""
    cost = -record.observed_cost if record.maximize else record.observed_cost
    known = len(cost) and not np.isnan(cost).all()
    return _numbers(record, [int(np.nanargmin(cost))]) if known else None


def _band(record: Effect) -> str:
    return f"{100 * record.level:.3g} % band"


def _hover(record: Effect, value: str, mean: str) -> str:
    name = safe(short(record.parameters[0]))
    band = f"{_band(record)} %{{customdata[0]:.5g}} to %{{customdata[1]:.5g}}"
    return f"<b>{name} = {value}</b><br>mean {mean}<br>{band}"
