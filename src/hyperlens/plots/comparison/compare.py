"""Average ranks on one line, and bars that join methods which cannot be told apart (Demsar 2006)."""

import math
from collections.abc import Sequence

from plotly.graph_objects import Figure

from hyperlens.comparison import Comparison
from hyperlens.plots.parts.colours import BLUE, INK
from hyperlens.plots.parts.marks import line
from hyperlens.plots.parts.style import figure
from hyperlens.plots.parts.texts import safe, short, unshown

LABEL, BAR, FIRST = 26, 13, 16  # pixels: between labels, between bars, from the line to a bar
MOST_BARS = 16
CHARACTER, NUMBER = 8.2, 56  # pixels of a label's character and of its rank, generously
LONGEST = 22  # characters of a label
ROUNDING = 1e-9  # an average rank may miss a whole number by rounding
ROOM = 0.08  # of the ranks' range, between the outermost rank and its label
AXIS = {"side": "top", "showgrid": False, "showline": True, "linecolor": INK, "linewidth": 1.5}
AXIS |= {"ticks": "inside", "tickcolor": INK, "ticklen": 7, "fixedrange": True}
AXIS["title"] = {"text": "average rank (1 is best)"}
NAMES = {"finner": "Finner", "holm": "Holm", "bonferroni": "Bonferroni"}


def draw(record: Comparison) -> Figure:
    """The best method on the left; labels on both sides, the outermost methods uppermost."""
    names, ranks = list(record.ranks), list(record.ranks.values())
    spans = [(record.ranks[g[0]], record.ranks[g[-1]]) for g in record.groups[:MOST_BARS]]
    rows = packed(spans, ranks[-1] - ranks[0])
    under = FIRST + BAR * (max(rows) + 1 if rows else 0)
    left = (len(names) + 1) // 2
    height = under + LABEL * left + 14
    low = math.floor(ranks[0] + ROUNDING)
    high = max(math.ceil(ranks[-1] - ROUNDING), low + 1)
    pad = ROOM * (high - low)
    ticks = _ticks(low, high)
    fig = figure(
        height + 116,
        margin={"l": _room(names[:left]), "r": _room(names[left:]), "t": 58, "b": 58},
        showlegend=False,
        xaxis={
            **AXIS,
            "range": [low - pad, high + pad],
            "tickvals": ticks,
            "ticktext": [str(tick) for tick in ticks],
        },
        yaxis={"range": [-height, 0], "visible": False, "fixedrange": True},
    )
    _add_groups(fig, record, rows)
    for place, name in enumerate(names):
        on_left = place < left
        below = -under - LABEL * (0.6 + (place if on_left else len(names) - 1 - place))
        _add_method(fig, record, name, below, low - pad if on_left else high + pad)
    paper = {"xref": "paper", "yref": "paper", "yanchor": "top", "yshift": -8}
    font = {"size": 12}
    fig.add_annotation(x=0.5, y=0, text=_legend(record), showarrow=False, font=font, **paper)
    return fig


def _add_method(fig: Figure, record: Comparison, name: str, below: float, end: float) -> None:
    """From the rank down and to the side, where the label stands."""
    rank = record.ranks[name]
    side, other = ("right", -5) if end < rank else ("left", 5)
    hover = f"<b>{safe(name)}</b><br>average rank {rank:.3f}"
    fig.add_trace(line([rank, rank, end], [0, below, below], safe(name), BLUE, hover, 1.3))
    text = f"{safe(short(name, LONGEST))}  <b>{rank:.2f}</b>"
    looks = {"xanchor": side, "align": side, "xshift": other, "font": {"size": 13}}
    fig.add_annotation(x=end, y=below, text=text, showarrow=False, **looks)


def packed(spans: Sequence[tuple[float, float]], width: float) -> list[int]:
    """The row of each bar: the first in which it does not touch another."""
    gap = 0.03 * width
    rows: list[list[tuple[float, float]]] = []
    placed = []
    for low, high in spans:
        for number, row in enumerate(rows):
            if all(high + gap < a or low - gap > b for a, b in row):
                row.append((low, high))
                placed.append(number)
                break
        else:
            rows.append([(low, high)])
            placed.append(len(rows) - 1)
    return placed


def _add_groups(fig: Figure, record: Comparison, rows: Sequence[int]) -> None:
    """Each bar spans its group; a dot marks each member, since a bar may pass over another."""
    for group, row in zip(record.groups[:MOST_BARS], rows, strict=True):
        x, y = [record.ranks[name] for name in group], [-(FIRST + BAR * row)] * len(group)
        hover = "cannot be told apart: " + ", ".join(safe(short(name)) for name in group)
        looks = {"mode": "lines+markers", "marker": {"color": INK, "size": 9}}
        fig.add_trace(line(x, y, "cannot be told apart", INK, hover, 5, **looks))


def _room(names: Sequence[str]) -> int:
    """Pixels beside the ranks for these labels."""
    return int(CHARACTER * max(len(short(n, LONGEST)) for n in names)) + NUMBER


def _ticks(low: int, high: int) -> list[int]:
    span = high - low
    step = 1 if span <= 12 else 2 if span <= 24 else 5
    return [tick for tick in range(low, high + 1) if tick % step == 0 or tick == 1]


def _legend(record: Comparison) -> str:
    test = "Wilcoxon signed-rank test"
    if record.friedman is not None:
        test += f" with {NAMES[record.correction]}'s correction"
    more = unshown(len(record.groups) - MOST_BARS, "group")
    joins = "Bars join" if len(record.groups) != 1 else "The bar joins"
    if not record.groups:
        return f"Every two methods differ<br>({test}, level {record.alpha:g})"
    return f"{joins} methods that cannot be told apart<br>({test}, level {record.alpha:g}){more}"
