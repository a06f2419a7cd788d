"""A tree of regions as it grew: every region's effect, for a page that steps through the splits.

Each trace of a region carries in `meta`: `when`, after how many splits it is shown; `region`, its id;
`on` and `off`, its looks when it is highlighted and when not. Nothing has to be computed to move on.
"""

from __future__ import annotations

from plotly.graph_objects import Figure, Scatter

from hyperlens.explain.effects.regions import Regions
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
    SKY,
    VERMILLION,
    directed,
    figure,
    labels,
    number_axis,
    safe,
    short,
    star,
)

COLOURS = (BLUE, ORANGE, GREEN, PURPLE, SKY, "#8C6D31", "#4B4FA3")
DASHES = ("solid", "dot", "dashdot")


def draw_growth(record: Regions) -> Figure:
    """The whole space in grey; over it the regions after each number of splits."""
    fig = figure(400, showlegend=False)
    cost = directed(record.objective, record.maximize)
    name = safe(short(record.parameter, 40))
    if record.numeric:
        fig.update_layout(
            xaxis={
                "title": {"text": name},
                "showgrid": False,
                **number_axis(record.values, record.log),
            },
            yaxis={"title": {"text": cost}},
        )
        _curves(fig, record)
    else:
        names = [safe(short(n)) for n in labels(record.values)]
        rows = 12 * (len(record.leaves) + 1) + 20  # pixels for a category
        fig.update_layout(
            height=110 + rows * max(len(names), 2),
            xaxis={"title": {"text": cost}},
            yaxis={
                "title": {"text": name},
                "tickmode": "array",
                "tickvals": list(range(len(names))),
                "ticktext": names,
                "range": [len(names) - 0.5, -0.5],
                "showgrid": False,
            },
        )
        _points(fig, record)
    return fig


def splits(record: Regions) -> int:
    """How many splits made the tree."""
    return len(record.tree) - len(record.leaves)


def leaf_after(record: Regions) -> dict[int, range]:
    """After which numbers of splits each region is a leaf: from when it was made to its own split."""
    inner = sorted(
        (r for r in record.tree if r.children is not None), key=lambda r: r.children or (0, 0)
    )
    made = {child: k for k, r in enumerate(inner, 1) for child in r.children or ()}
    split = {r.id: k for k, r in enumerate(inner, 1)}
    return {r.id: range(made.get(r.id, 0), split.get(r.id, len(inner) + 1)) for r in record.tree}


def looks_of(record: Regions) -> dict[int, tuple[str, str]]:
    """Colour and dash of each region, different for all leaves at any time.

    The larger child keeps its parent's; the whole space is grey, so both its children get new ones.
    """
    fresh = iter([(c, d) for d in DASHES for c in COLOURS])
    found = {record.tree[0].id: (GREY, "dash")}
    share = {r.id: r.share for r in record.tree}
    for region in sorted(record.tree, key=lambda r: r.children or (0, 0)):
        if region.children is None:
            continue
        larger = max(region.children, key=lambda k: (share[k], -k))
        for child in region.children:
            kept = child == larger and region.parent is not None
            found[child] = found[region.id] if kept else next(fresh, (GREY, "dot"))
    return found


def highlighted(record: Regions, after: int) -> int:
    """The region that is highlighted after so many splits: the best trial's, else the surest."""
    when = leaf_after(record)
    leaves = [r for r in record.tree if after in when[r.id]]
    return min(leaves, key=lambda r: (not r.holds_best, r.confidence)).id


def _curves(fig: Figure, record: Regions) -> None:
    x, root, last = list(record.values), record.tree[0], splits(record)
    when, chosen = leaf_after(record), highlighted(record, splits(record))
    looks = looks_of(record)
    band(fig, x, root, GREY, 0.16)
    for region in record.tree[1:]:
        shown = last in when[region.id]
        meta = {"when": {"splits": list(when[region.id])}, "region": region.id}
        bands = {"on": {"visible": True}, "off": {"visible": False}}
        colour, dash = looks[region.id]
        band(fig, x, region, colour, 0.22, meta=meta | bands, visible=shown and region.id == chosen)
        lines = {
            key: {"line": {"color": colour, "dash": dash, "width": width}}
            for key, width in (("on", 3.2), ("off", 1.4))
        }
        now = lines["on" if region.id == chosen else "off"]
        name = safe(region.rule)
        fig.add_trace(mean_line(record, region, name=name, meta=meta | lines, visible=shown, **now))
    line = {"color": GREY, "width": 2, "dash": "dash"}
    fig.add_trace(mean_line(record, root, name=whole_name(record), line=line))
    if record.best_value is not None:
        fig.add_vline(x=record.best_value, line={"color": VERMILLION, "width": 1, "dash": "dot"})
        nearest = min(range(len(x)), key=lambda k: abs(x[k] - record.best_value))
        for region in record.tree:
            if region.holds_best:
                mark = star(record.best_value, region.mean.tolist()[nearest], "%{x:.5g}")
                mark.update(meta={"when": {"splits": list(when[region.id])}})
                mark.update(visible=last in when[region.id])
                fig.add_trace(mark)


def _points(fig: Figure, record: Regions) -> None:
    """For every category a point for each region, one below the other, anew after each split."""
    root, last, when = record.tree[0], splits(record), leaf_after(record)
    texts, styles = labels(record.values), looks_of(record)
    for after in range(last + 1):
        chosen = highlighted(record, after)
        leaves = [r for r in record.tree[1:] if after in when[r.id]]
        rows = (root, *leaves)
        for k, region in enumerate(rows):
            y = [j + 0.8 * ((k + 0.5) / len(rows) - 0.5) for j in range(len(texts))]
            looks = {
                "on": marker_and_bars(region, *styles[region.id], large=True),
                "off": marker_and_bars(region, *styles[region.id], large=region is root),
            }
            meta = {"when": {"splits": [after]}, "region": region.id, **looks}
            fig.add_trace(
                Scatter(
                    x=region.mean.tolist(),
                    y=y,
                    mode="markers",
                    name=whole_name(record) if region is root else safe(region.rule),
                    meta=meta,
                    visible=after == last,
                    customdata=[
                        [*both, safe(text)]
                        for both, text in zip(low_high(region), texts, strict=True)
                    ],
                    hovertemplate=hover_text(record, region, "%{customdata[2]}", "%{x:.5g}"),
                    **looks["on" if region.id == chosen else "off"],
                )
            )
            holds = region.holds_best and (region is not root or not leaves)
            if holds and record.best_value in record.values:
                best = record.values.index(record.best_value)
                mark = star(region.mean.tolist()[best], y[best], safe(short(texts[best])))
                mark.update(meta={"when": {"splits": [after]}}, visible=after == last)
                fig.add_trace(mark)
