"""Cells and rows of the tables of the page."""

from __future__ import annotations

import math
from collections.abc import Iterable

from benchmarks.optimizers.courses import FLOOR


def regret(log: float) -> str:
    return (
        ""
        if math.isnan(log)
        else f"below {FLOOR:g}"
        if log <= math.log10(FLOOR)
        else f"{10**log:.2g}"
    )


def row(cells: Iterable[object]) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def head(cells: list[object]) -> list[str]:
    return [row(cells), "|" + "---|" * len(cells)]
