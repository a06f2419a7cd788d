"""A comparison of methods in a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from hyperlens.comparison import Comparison
from hyperlens.terminal.tables import MOST_LISTED, layout
from hyperlens.terminal.text import digits, number, printable


@layout.register
def _(record: Comparison) -> Iterator[RenderableType]:
    yield _ranks(record)
    yield Text()
    yield _pairs(record)
    yield Text()
    for sentence in record.sentences:
        yield Text(printable(sentence))


def _ranks(record: Comparison) -> Table:
    """A mark in the same column joins methods that cannot be told apart."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("method", overflow="fold")
    table.add_column("average rank", justify="right")
    table.add_column("cannot be told apart")
    for name, rank in record.ranks.items():
        marks = " ".join("|" if name in group else " " for group in record.groups[:20])
        table.add_row(Text(printable(name)), digits(rank), marks)
    return table


def _pairs(record: Comparison) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("pair", overflow="fold")
    for title in ("w-l-t", "difference", f"{1 - record.alpha:.0%} interval", "effect", "p"):
        table.add_column(title, justify="right")
    if record.friedman is not None:
        table.add_column(f"p ({record.correction})", justify="right")
    for pair in record.pairs[:MOST_LISTED]:
        row: list[RenderableType] = [
            Text(printable(f"{pair.first} : {pair.second}")),
            f"{pair.wins}-{pair.losses}-{pair.zeros}",
            number(pair.difference),
            "unknown" if pair.low != pair.low else f"{number(pair.low)} to {number(pair.high)}",
            digits(pair.effect),
            _p(pair.p),
        ]
        if record.friedman is not None:
            row.append(Text(_p(pair.adjusted), style="bold" if pair.different else ""))
        table.add_row(*row)
    if len(record.pairs) > MOST_LISTED:
        table.add_row(f"and {len(record.pairs) - MOST_LISTED} more")
    return table


def _p(p: float) -> str:
    return f"{p:.3f}" if p >= 0.001 else f"{p:.1e}"
