"""The effect of a parameter in each region of a tree, and over the whole space."""

from plotly.graph_objects import Figure

from hyperlens.explain.effects.region_tree import Region
from hyperlens.explain.effects.regions import Regions
from hyperlens.plots.effects.region_parts import Look, add_curves, add_points, region_axes
from hyperlens.plots.parts.colours import BLUE, GREEN, GREY, ORANGE, PURPLE
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import safe, short, unshown

MOST = 8  # leaves drawn
COLOURS = (BLUE, ORANGE, GREEN, PURPLE)
LINE = 22  # pixels: a line of the legend
LEGEND = {"orientation": "v", "yref": "container", "y": 0, "yanchor": "bottom"}
LEGEND |= {"x": 0, "xanchor": "left", "traceorder": "grouped"}
LONGEST_RULE = 66  # characters in the legend, shared among its clauses


def draw(record: Regions) -> Figure:
    """The whole space in grey, the best trial's region with its band, other regions as thin lines."""
    looks = _looks(record)
    below = LINE * (len(looks) + 2) + 64  # the axis title and the legend, a rule a line
    left = len(record.leaves) - MOST
    note = unshown(left, "smaller region")
    axes = region_axes(record, len(looks), note)
    fig = figure(
        below + (350 if record.numeric else 76 + axes.pop("height")),
        margin={"l": 12, "r": 16, "t": 36, "b": below},
        legend=LEGEND,
        **axes,
    )
    if record.numeric:
        add_curves(fig, record, looks)
    else:
        root = record.tree[0]
        parts = [look for look in looks if look.region is not root]
        whole = Look(root, "", GREY, "solid", highlighted=True)
        add_points(fig, record, [whole, *parts])
    return fig


def _looks(record: Regions) -> list[Look]:
    """The leaves that fit, the best trial's and then the largest, in the order of the tree.

    The best trial's is blue and highlighted, or the surest of them where none holds it.
    """
    first = sorted(record.leaves, key=lambda r: (not r.holds_best, -r.share))[:MOST]
    highlighted = record.best or min(first, key=lambda r: r.confidence)
    blue, *others = [(c, d) for d in ("solid", "dot") for c in COLOURS]
    fresh = iter(others)
    return [
        Look(r, _legend(r), *(blue if r is highlighted else next(fresh)), r is highlighted)
        for r in record.leaves
        if r.id in {f.id for f in first}
    ]


def _legend(region: Region) -> str:
    clauses = region.rule.split(" and ")
    longest = max(LONGEST_RULE // len(clauses) - 5, 14)
    fits = len(region.rule) <= LONGEST_RULE
    rule = region.rule if fits else " and ".join(short(c, longest) for c in clauses)
    return f"{safe(rule)}{' (holds the best)' * region.holds_best}"
