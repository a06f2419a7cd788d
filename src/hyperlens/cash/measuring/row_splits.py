"""Splits of rows that are not exchangeable: those of a group stay together, or the later ones are held
out."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from hyperlens.cash.data.column_kinds import TableError
from hyperlens.spaces.cube import IntArray

Split = Literal["random", "time"]
HELD_OUT = 0.2  # part of the groups, or of the rows, that a single split measures on

Rows = list[tuple[IntArray, IntArray]]


def by_group(groups: Any, splits: int, seed: int) -> Rows:
    """No group is in both parts of a split; of several splits, each group is held out once."""
    from sklearn.model_selection import GroupKFold, GroupShuffleSplit

    different = len(np.unique(groups))
    if different < max(2, splits):
        raise TableError(
            f"{different} groups are too few for {max(2, splits)} parts of which each has its own; "
            "choose fewer folds, or leave groups out."
        )
    kind: Any = GroupShuffleSplit(1, test_size=HELD_OUT, random_state=seed)
    if splits > 1:
        kind = GroupKFold(splits, shuffle=True, random_state=seed)
    return list(kind.split(np.zeros(len(groups)), groups=groups))


def by_time(rows: int, splits: int) -> Rows:
    """Rows are in the order of time: each split trains on all rows before those that it holds out."""
    if rows < 2 * (splits + 1):
        raise TableError(
            f"{rows} rows are too few for {splits} splits by time, of which each needs rows before and "
            "after; choose fewer folds."
        )
    size = max(1, int(HELD_OUT * rows) if splits == 1 else rows // (splits + 1))
    starts = rows - size * np.arange(splits, 0, -1)
    return [(np.arange(start), np.arange(start, start + size)) for start in starts]
