"""Which of many points are drawn, so that a figure of a long run stays quick."""

from collections.abc import Iterable, Sequence

from hyperlens.plots.parts.texts import small

MOST_POINTS = 2000


def thinned(rows: Sequence[int], most: int = MOST_POINTS, always: Iterable[int] = ()) -> list[int]:
    """At most about `most` of these rows, evenly spread, and all that must be there.

    >>> thinned(range(10), 4, always=[7])
    [0, 3, 6, 7, 9]
    """
    if len(rows) <= most:
        return list(rows)
    step = (len(rows) - 1) / (most - 1)
    return sorted({rows[round(k * step)] for k in range(most)} | set(always))


def thinned_note(shown: int, total: int, noun: str = "trials") -> str:
    """A line under an axis: how many are drawn; empty if all are."""
    return small(f"{shown} of {total} {noun} are drawn") if shown < total else ""


def improvements(trace: Sequence[float]) -> list[int]:
    """Where the best so far changes, its first place included; nan is no change."""
    known = [(k, x) for k, x in enumerate(trace) if k == 0 or x == x]
    return [k for k, x in known if k == 0 or x != trace[k - 1]]
