"""Tables for a terminal."""

from rich import table as rich
from rich.text import Text

from hyperlens.tables import Table
from hyperlens.terminal.text import printable

MOST_LISTED = 100  # rows of a record on its own
WHOLE = 20  # characters up to which names and numbers stay in one line


def drawn(table: Table, most: int = MOST_LISTED) -> rich.Table:
    """The first rows, and a last one that says how many are left out."""
    lines = rich.Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    shown = [k for k, wide in enumerate(table.wide) if not wide]
    for k in shown:
        longest = max((len(row[k]) for row in table.rows), default=0)
        lines.add_column(
            Text(printable(table.columns[k])),
            justify="right" if table.numeric[k] else "left",
            overflow="fold",
            min_width=min(WHOLE, longest) if table.numeric[k] or not k else None,
        )
    for row in table.rows[:most]:
        lines.add_row(*(Text(printable(row[k])) for k in shown))
    if (left := len(table.rows) + table.more - most) > 0:
        lines.add_row(f"and {left} more")
    return lines


def facts() -> rich.Table:
    """Names of facts, and beside each what it is."""
    pairs = rich.Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    pairs.add_column(style="bold")
    pairs.add_column(overflow="fold")
    return pairs
