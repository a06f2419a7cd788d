"""What both figures of regions are made of: axes, curves or points, and what they say on hover.

Each trace for a page that steps through the splits carries in `meta`: `when`, after how many splits
it is shown; `region`, its id; `on` and `off`, its looks when it is highlighted and when not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from plotly.graph_objects import Figure, Scatter

from hyperlens.explain.effects.region_tree import Region
from hyperlens.explain.effects.regions import Regions
from hyperlens.plots.parts.axes import number_axis, tick_axis
from hyperlens.plots.parts.colours import GREY, VERMILLION, see_through
from hyperlens.plots.parts.marks import rows, star, whiskers
from hyperlens.plots.parts.texts import directed, labels, safe, short

WIDE, NARROW = 3.2, 1.4  # lines of a highlighted region, and of others


@dataclass(frozen=True)
class Look:
    """How a region is drawn. `when` are the numbers of splits after which a page shows it, `now`
    says whether it does at first; a picture that stays as it is has no `when`."""

    region: Region
    name: str
    colour: str
    dash: str
    highlighted: bool
    when: Sequence[int] | None = None
    now: bool = True

    def paged(self, **looks: Any) -> dict[str, Any]:
        if self.when is None:
            return {}
        meta = {"when": {"splits": list(self.when)}, "region": self.region.id, **looks}
        return {"meta": meta, "visible": self.now}


def region_axes(record: Regions, rows: int, note: str = "") -> dict[str, Any]:
    """The axes, and for categories the pixels that so many regions in each of them need."""
    cost = directed(record.objective, record.maximize)
    name = safe(short(record.parameter, 40))
    if record.numeric:
        numbers = number_axis(record.values, record.log)
        return {
            "xaxis": {"title": {"text": name + note}, "showgrid": False, **numbers},
            "yaxis": {"title": {"text": cost}},
        }
    names = [safe(short(n)) for n in labels(record.values)]
    return {
        "height": (12 * (rows + 1) + 20) * max(len(names), 2),
        "xaxis": {"title": {"text": cost + note}},
        "yaxis": {
            "title": {"text": name},
            **tick_axis(range(len(names)), names),
            "range": [len(names) - 0.5, -0.5],
            "showgrid": False,
        },
    }


def add_curves(fig: Figure, record: Regions, looks: Sequence[Look]) -> None:
    """The whole space in grey; over it the regions, the highlighted one with its band."""
    x, root = list(record.values), record.tree[0]
    _add_band(fig, x, root, GREY, 0.16)
    for look in looks:
        if look.region is root:
            continue
        if look.highlighted or look.when is not None:
            bands = look.paged(on={"visible": True}, off={"visible": False})
            if look.when is not None:
                bands["visible"] = look.now and look.highlighted
            _add_band(fig, x, look.region, look.colour, 0.22, **bands)
        on, off = (
            {"line": {"color": look.colour, "dash": look.dash, "width": w}} for w in (WIDE, NARROW)
        )
        page = look.paged(on=on, off=off)
        line = on if look.highlighted else off
        fig.add_trace(_mean_line(record, look.region, name=look.name, **page, **line))
    dashed = {"color": GREY, "width": 2, "dash": "dash"}
    fig.add_trace(_mean_line(record, root, name=_whole(record), line=dashed))
    if record.best_value is None:
        return
    fig.add_vline(x=record.best_value, line={"color": VERMILLION, "width": 1, "dash": "dot"})
    nearest = min(range(len(x)), key=lambda k: abs(x[k] - record.best_value))
    for look in looks:
        if look.region.holds_best:
            mark = star(record.best_value, look.region.mean.tolist()[nearest], "%{x:.5g}")
            _add_star(fig, mark, look)


def add_points(fig: Figure, record: Regions, looks: Sequence[Look]) -> None:
    """For every category a point for each region, one below the other, the whole space first."""
    root, texts = record.tree[0], labels(record.values)
    for k, look in enumerate(looks):
        region = look.region
        on = _marker_and_bars(look, large=True)
        off = _marker_and_bars(look, large=region is root)
        fig.add_trace(
            Scatter(
                x=region.mean.tolist(),
                y=[j + _shift(k, len(looks)) for j in range(len(texts))],
                mode="markers",
                name=_whole(record) if region is root else look.name,
                legendgroup=str(region.id),
                customdata=rows(region.low, region.high, map(safe, texts)),
                hovertemplate=_hover(record, region, "%{customdata[2]}", "%{x:.5g}"),
                **look.paged(on=on, off=off),
                **(on if look.highlighted else off),
            )
        )
    if record.best_value not in record.values:
        return
    best = record.values.index(record.best_value)
    for k, look in enumerate(looks):
        if look.region.holds_best and (look.region is not root or len(looks) == 1):
            y, where = best + _shift(k, len(looks)), safe(short(texts[best]))
            _add_star(fig, star(look.region.mean.tolist()[best], y, where), look)


def _shift(k: int, rows: int) -> float:
    """How far below the middle of its category the k-th row stands."""
    return 0.8 * ((k + 0.5) / rows - 0.5)


def _add_star(fig: Figure, mark: Scatter, look: Look) -> None:
    """The best trial, shown whenever its region is."""
    if look.when is not None:
        mark.update(meta={"when": {"splits": list(look.when)}}, visible=look.now)
    fig.add_trace(mark)


def _add_band(
    fig: Figure, x: list[Any], region: Region, colour: str, alpha: float, **more: Any
) -> None:
    looks: dict[str, Any] = {
        "mode": "lines",
        "line": {"width": 0},
        "fillcolor": see_through(colour, alpha),
    }
    looks |= {"legendgroup": str(region.id), "showlegend": False, "hoverinfo": "skip", **more}
    fig.add_trace(Scatter(x=x, y=region.low.tolist(), name="low", **looks))
    fig.add_trace(Scatter(x=x, y=region.high.tolist(), name="high", fill="tonexty", **looks))


def _mean_line(record: Regions, region: Region, **more: Any) -> Scatter:
    return Scatter(
        x=list(record.values),
        y=region.mean.tolist(),
        mode="lines",
        legendgroup=str(region.id),
        customdata=rows(region.low, region.high),
        hovertemplate=_hover(record, region, "%{x:.5g}", "%{y:.5g}"),
        **more,
    )


def _marker_and_bars(look: Look, large: bool) -> dict[str, Any]:
    bars = whiskers(look.region.mean, look.region.low, look.region.high)
    symbol = "diamond" if look.dash == "dot" else "circle"
    return {
        "marker": {"color": look.colour, "size": 11 if large else 7, "symbol": symbol},
        "error_x": bars | {"thickness": 2 if large else 0.8, "width": 4 if large else 0},
    }


def _whole(record: Regions) -> str:
    return f"the whole space and its {100 * record.level:.3g} % band"


def _hover(record: Regions, region: Region, value: str, mean: str) -> str:
    """The rule, a line for each clause; the value and what is expected there."""
    rule = "<br>and ".join(safe(short(clause, 120)) for clause in region.rule.split(" and "))
    name = safe(short(record.parameter))
    band = f"{100 * record.level:.3g} % band %{{customdata[0]:.5g}} to %{{customdata[1]:.5g}}"
    return f"<b>{rule}</b><br>{name} = {value}<br>mean {mean}<br>{band}<extra></extra>"
