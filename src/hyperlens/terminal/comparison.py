"""A comparison of methods in a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from hyperlens.comparison import Comparison
from hyperlens.terminal.tables import MOST_LISTED, count_rest, layout, table
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
    rows = table("method", "average rank")
    rows.add_column("cannot be told apart")
    for name, rank in record.ranks.items():
        marks = " ".join("|" if name in group else " " for group in record.groups[:20])
        rows.add_row(Text(printable(name)), digits(rank), marks)
    return rows


def _pairs(record: Comparison) -> Table:
    interval = f"{1 - record.alpha:.0%} interval"
    adjusted = [] if record.friedman is None else [f"p ({record.correction})"]
    rows = table("pair", "w-l-t", "difference", interval, "effect", "p", *adjusted)
    for pair in record.pairs[:MOST_LISTED]:
        row: list[RenderableType] = [
            Text(printable(f"{pair.first} : {pair.second}")),
            f"{pair.wins}-{pair.losses}-{pair.zeros}",
            number(pair.difference),
            "unknown" if pair.low != pair.low else f"{number(pair.low)} to {number(pair.high)}",
            digits(pair.effect),
            _p(pair.p),
        ]
        if adjusted:
            row.append(Text(_p(pair.adjusted), style="bold" if pair.different else ""))
        rows.add_row(*row)
    return count_rest(rows, record.pairs)


def _p(p: float) -> str:
    return f"{p:.3f}" if p >= 0.001 else f"{p:.1e}"
