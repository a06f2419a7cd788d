"""Tables for a terminal."""

from collections.abc import Sequence

from rich import table as rich
from rich.console import Console
from rich.text import Text

from hyperlens.tables import Table
from hyperlens.terminal.text import printable

MOST_LISTED = 100  # rows of a record on its own
WHOLE = 20  # characters up to which names and numbers stay in one line
TEXT = 8  # the same of other texts
GAP = 2  # characters between columns


def drawn(table: Table, most: int = MOST_LISTED) -> rich.Table:
    """The first rows, below how many are left out; as many columns as fit whole."""
    rows = table.rows[:most]
    shown = [
        k
        for k, wide in enumerate(table.wide)
        if not wide and (not rows or any(row[k] for row in rows))
    ]
    widths = _widths(table, rows, shown, Console().width)
    lines = rich.Table(box=None, padding=(0, GAP, 0, 0), header_style="bold")
    for k, width in widths.items():
        lines.add_column(
            Text(printable(table.columns[k])),
            justify="right" if table.numeric[k] else "left",
            overflow="fold",
            width=width,
        )
    for row in rows:
        lines.add_row(*(Text(printable(row[k])) for k in widths))
    below = []
    if (left := len(table.rows) + table.more - most) > 0:
        below.append(f"and {left} more")
    if len(widths) < len(shown):
        left_out = [printable(table.columns[k]) for k in shown if k not in widths]
        below.append(f"Too wide to be shown here, see --format json: {', '.join(left_out)}")
    if below:
        lines.caption, lines.caption_justify = Text("\n".join(below)), "left"
    return lines


def _least(table: Table, rows: Sequence[tuple[str, ...]], k: int) -> int:
    """The characters that column k needs: whole names and numbers, whole words of its title."""
    longest = max((len(row[k]) for row in rows), default=0)
    words = max((len(word) for word in table.columns[k].split()), default=0)
    return max(min(WHOLE if table.numeric[k] or not k else TEXT, longest), words)


def _widths(
    table: Table, rows: Sequence[tuple[str, ...]], shown: Sequence[int], room: int
) -> dict[int, int]:
    """The first columns that have room beside each other, two at least, and how wide each is."""
    widths = {k: _least(table, rows, k) for k in shown}
    while len(widths) > 2 and sum(widths.values()) + GAP * len(widths) > room:
        widths.popitem()
    for k in widths:  # what is left makes for fewer lines
        wished = max(len(table.columns[k]), *(len(row[k]) for row in rows), 0)
        left = room - sum(widths.values()) - GAP * len(widths)
        widths[k] += max(min(wished - widths[k], left), 0)
    return widths


def facts() -> rich.Table:
    """Names of facts, and beside each what it is."""
    pairs = rich.Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    pairs.add_column(style="bold")
    pairs.add_column(overflow="fold")
    return pairs
