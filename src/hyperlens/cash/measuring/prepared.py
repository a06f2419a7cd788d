"""Columns of each split as numbers, made once for all configurations that see them so."""

from __future__ import annotations

from typing import Any

from hyperlens.cash.models.preprocessing import preparation
from hyperlens.spaces.cube import IntArray

MOST_CELLS = 40_000_000  # kept at once, of eight bytes each


class Prepared:
    """What was prepared so far; nothing is kept beyond MOST_CELLS."""

    def __init__(self) -> None:
        self._kept: dict[tuple[bool, int, int], tuple[Any, Any]] = {}
        self._cells = 0

    def columns(
        self, X: Any, y: Any, train: IntArray, held: IntArray, scaled: bool
    ) -> tuple[Any, Any]:
        """Those of the rows that are trained on, and of the held-out ones."""
        key = (scaled, hash(train.tobytes()), hash(held.tobytes()))
        if key in self._kept:
            return self._kept[key]
        steps = preparation(scaled)
        learnt = steps.fit_transform(X.iloc[train], y[train])
        found = (learnt, steps.transform(X.iloc[held]))
        cells = sum(part.size for part in found)
        if self._cells + cells <= MOST_CELLS:
            self._cells += cells
            self._kept[key] = found
        return found
