"""A tree of regions as it grew: every region's effect, for a page that steps through the splits."""

from plotly.graph_objects import Figure

from hyperlens.explain.effects.region_tree import Region
from hyperlens.explain.effects.regions import Regions
from hyperlens.plots.effects.region_parts import Look, add_curves, add_points, region_axes
from hyperlens.plots.parts.colours import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import safe

COLOURS = (BLUE, ORANGE, GREEN, PURPLE, SKY, "#8C6D31", "#4B4FA3")
DASHES = ("solid", "dot", "dashdot")


def draw_growth(record: Regions) -> Figure:
    """The whole space in grey; over it the regions after each number of splits."""
    axes = region_axes(record, len(record.leaves))
    height = 400 if record.numeric else 110 + axes.pop("height")
    fig = figure(height, showlegend=False, **axes)
    last, styles = record.splits, colours_and_dashes(record)

    def look(region: Region, highlighted: int, when: list[int]) -> Look:
        here = region.id == highlighted
        return Look(region, safe(region.rule), *styles[region.id], here, when, now=last in when)

    if record.numeric:
        here = record.highlighted(last).id
        add_curves(fig, record, [look(r, here, list(record.leaf_after[r.id])) for r in record.tree])
        return fig
    for after in range(last + 1):
        here = record.highlighted(after).id
        leaves = [r for r in record.tree[1:] if after in record.leaf_after[r.id]]
        add_points(fig, record, [look(r, here, [after]) for r in (record.tree[0], *leaves)])
    return fig


def colours_and_dashes(record: Regions) -> dict[int, tuple[str, str]]:
    """Colour and dash of each region, different for all leaves at any time.

    The larger child keeps its parent's; the whole space is grey, so both its children get new ones.
    """
    fresh = iter([(c, d) for d in DASHES for c in COLOURS])
    styles = {record.tree[0].id: (GREY, "dash")}
    share = {r.id: r.share for r in record.tree}
    for region in sorted(record.tree, key=lambda r: r.children or (0, 0)):
        if region.children is None:
            continue
        larger = max(region.children, key=lambda k: (share[k], -k))
        for child in region.children:
            same = child == larger and region.parent is not None
            styles[child] = styles[region.id] if same else next(fresh, (GREY, "dot"))
    return styles
