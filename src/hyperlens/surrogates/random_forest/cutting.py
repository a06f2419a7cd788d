"""Compiled: leaves that constrain conditional axes, cut into product boxes of the latents.

A leaf says of a conditional axis: active and inside a set, or (where it also takes configurations that
lack the axis) inactive. In terms of the latents each is a union of disjoint boxes over the axis and its
ancestors, its *alternatives*. Axis x below is active where the category m is a:

    leaf "x > 0.4"                       leaf "x <= 0.4" (an inactive x is -1 for a tree)

    x 1.0 +----+---------+               x 1.0 +----+---------+    1st alternative: m = a, x <= 0.4
          |####|         |                     |    |#########|    2nd alternative: m = b or c, x free
      0.4 +----+    x    |                 0.4 +----+#########|
          |    | inactive|                     |####|#########|
      0.0 +----+---------+                 0.0 +----+---------+
            a     b, c     m                     a     b, c     m

With several such axes a box is one alternative of each, and all of them intersected. Combinations are
tried depth first: one axis after another is narrowed, and restored from a log afterwards.

Symbols of boxes.py, and
    conditional[j]     whether axis j has a condition
    lacking[c]         whether the leaf of constraint c takes configurations that lack its axis
    demand[j]          whether axis j has to be active
    condition_cell[i]  cell at which condition cut i lies in this tree
    split[0 : n]       axes of the leaf that have alternatives
    choice[q]          the alternative of split[q] that is being tried
    held               the leaf's own sets on these axes: lo, hi, allowed
    log                (axis, lo, hi) before a narrowing, or (axis, level, -1) for a level forbidden
"""

from typing import Any, NamedTuple

import numpy as np

from hyperlens.spaces.cube import BoolArray, IntArray
from hyperlens.surrogates.random_forest.boxes import (
    append,
    compiled,
    inlined,
    no_boxes,
    several_forms,
    trimmed,
    whole,
)


class Alternatives(NamedTuple):
    """For each axis, disjoint boxes over its ancestors where it is active, then where it is not.

    Axis j has the alternatives ptr[j]..ptr[j+1]. Alternative a consists of the sets
    set_ptr[a]..set_ptr[a+1] on axes set_axis: from condition cut set_low to set_high on an ordered
    axis, the mask in `levels` from set_levels on for a category with many levels.
    """

    ptr: IntArray
    active: BoolArray
    set_ptr: IntArray
    set_axis: IntArray
    set_low: IntArray
    set_high: IntArray
    set_levels: IntArray
    levels: BoolArray
    ancestor_ptr: IntArray
    ancestor: IntArray


# The state of one axis


@compiled
def _load(leaves: Any, b: int, state: Any, cells: Any) -> None:
    """Set the state of the axes that leaf b constrains."""
    _, _, box_ptr, axis, _, run_ptr, run_lo, run_hi = leaves
    lo, hi, allowed = state
    for c in range(box_ptr[b], box_ptr[b + 1]):
        j = axis[c]
        if cells.many[j]:
            for r in range(cells.level_ptr[j], cells.level_ptr[j + 1]):
                allowed[r] = False
            for r in range(run_ptr[c], run_ptr[c + 1]):
                for k in range(run_lo[r], run_hi[r]):
                    allowed[cells.level_ptr[j] + k] = True
        else:
            lo[j] = run_lo[run_ptr[c]]
            hi[j] = run_hi[run_ptr[c]]


@compiled
def _free(j: int, state: Any, cells: Any) -> None:
    """Let the state allow all of axis j."""
    lo, hi, allowed = state
    lo[j] = 0
    hi[j] = cells.ptr[j + 1] - cells.ptr[j] - 1
    for r in range(cells.level_ptr[j], cells.level_ptr[j + 1]):
        allowed[r] = True


@inlined
def _hold(j: int, state: Any, held: Any, cells: Any) -> None:
    """Put the leaf's set on axis j aside, and free the axis."""
    held[0][j] = state[0][j]
    held[1][j] = state[1][j]
    for r in range(cells.level_ptr[j], cells.level_ptr[j + 1]):
        held[2][r] = state[2][r]
    _free(j, state, cells)


@compiled
def _intersect(
    j: int, low: int, high: int, mask: Any, start: int, state: Any, cells: Any, log: Any, n_log: int
) -> Any:
    """Narrow axis j to [low, high) or to the mask; returns whether anything is left, and n_log."""
    lo, hi, allowed = state
    if not cells.many[j]:
        log[n_log, 0], log[n_log, 1], log[n_log, 2] = j, lo[j], hi[j]
        lo[j] = max(lo[j], low)
        hi[j] = min(hi[j], high)
        return lo[j] < hi[j], n_log + 1
    base = cells.level_ptr[j]
    some = False
    for k in range(cells.level_ptr[j + 1] - base):
        if allowed[base + k]:
            if mask[start + k]:
                some = True
            else:
                allowed[base + k] = False
                log[n_log, 0], log[n_log, 1], log[n_log, 2] = j, base + k, -1
                n_log += 1
    return some, n_log


@several_forms
def _take_back(state: Any, log: Any, n_log: int, mark: int) -> int:
    """Undo what was logged after the mark, the latest first."""
    lo, hi, allowed = state
    while n_log > mark:
        n_log -= 1
        if log[n_log, 2] < 0:
            allowed[log[n_log, 1]] = True
        else:
            lo[log[n_log, 0]] = log[n_log, 1]
            hi[log[n_log, 0]] = log[n_log, 2]
    return n_log


# The alternatives of one leaf


@compiled
def _list_axes(
    leaves: Any, lacking: Any, b: int, conditional: Any, demand: Any, alt: Any, seen: Any,
    axes: Any, split: Any, may_lack: Any,
) -> Any:  # fmt: skip
    """List the axes that boxes of leaf b may constrain, and among them those with alternatives.

    First what the leaf names, then what is demanded, then the ancestors of both.
    """
    _, _, box_ptr, axis, _, _, _, _ = leaves
    n_axes, n_split = 0, 0
    for c in range(box_ptr[b], box_ptr[b + 1]):
        j = axis[c]
        seen[j] = b
        axes[n_axes] = j
        n_axes += 1
        if conditional[j]:
            may_lack[n_split] = lacking[c] and not demand[j]
            split[n_split] = j
            n_split += 1
    for j in range(len(demand)):
        if demand[j] and seen[j] != b:
            seen[j] = b
            axes[n_axes] = j
            n_axes += 1
            may_lack[n_split] = False
            split[n_split] = j
            n_split += 1
    for q in range(n_split):
        for r in range(alt.ancestor_ptr[split[q]], alt.ancestor_ptr[split[q] + 1]):
            i = alt.ancestor[r]
            if seen[i] != b:
                seen[i] = b
                axes[n_axes] = i
                n_axes += 1
    return n_axes, n_split


@compiled
def _empty_log(alt: Any, cells: Any) -> Any:
    """Room for the sets of one alternative of every axis; a level is forbidden once at a time."""
    d, most = len(cells.many), 0
    for a in range(len(alt.active)):
        most = max(most, alt.set_ptr[a + 1] - alt.set_ptr[a])
    return np.empty((d * (most + 1) + cells.level_ptr[d] + 1, 3), np.int64)


@compiled
def cut(
    leaves: Any, lacking: Any, conditional: Any, demand: Any, condition_cell: Any, alt: Any,
    cells: Any,
) -> Any:  # fmt: skip
    """Cut leaves that constrain conditional axes into product boxes of the latents."""
    value, d = leaves[0], len(conditional)
    state, held, log = whole(cells), whole(cells), _empty_log(alt, cells)
    axes, split, may_lack = np.empty(d, np.int64), np.empty(d, np.int64), np.empty(d, np.bool_)
    seen = np.full(d, -1, np.int64)  # last leaf that listed an axis
    choice, mark = np.empty(d + 1, np.int64), np.zeros(d + 1, np.int64)
    out, count = no_boxes(len(value))
    for b in range(len(value)):
        # The leaf as it stands; its sets on conditional axes wait until they are known to be active
        _load(leaves, b, state, cells)
        n_axes, n_split = _list_axes(
            leaves, lacking, b, conditional, demand, alt, seen, axes, split, may_lack
        )
        for q in range(n_split):
            _hold(split[q], state, held, cells)
            choice[q] = alt.ptr[split[q]] - 1
        # One alternative for each of them, depth first
        level, n_log = 0, 0
        while level >= 0:
            if level == n_split:
                out = append(out, count, value[b], state, axes[:n_axes], cells, False)
                level -= 1
                continue
            n_log = _take_back(state, log, n_log, mark[level])
            own = split[level]
            choice[level] += 1
            a = choice[level]
            if a >= alt.ptr[own + 1] or not (alt.active[a] or may_lack[level]):
                choice[level] = alt.ptr[own] - 1  # active ones come first: none is left here
                level -= 1
                continue
            some = True  # its ancestors decide whether it is active ...
            for s in range(alt.set_ptr[a], alt.set_ptr[a + 1]):
                j, levels = alt.set_axis[s], alt.set_levels[s]
                low, high = 0, 0  # a set of levels has no ends
                if levels < 0:
                    low, high = condition_cell[alt.set_low[s]], condition_cell[alt.set_high[s]]
                some, n_log = _intersect(j, low, high, alt.levels, levels, state, cells, log, n_log)
                if not some:
                    break
            if some and alt.active[a]:  # ... and then it lies in the leaf's set, else it is free
                low, high, levels = held[0][own], held[1][own], cells.level_ptr[own]
                some, n_log = _intersect(own, low, high, held[2], levels, state, cells, log, n_log)
            if some:
                level += 1
                mark[level] = n_log
        _take_back(state, log, n_log, 0)
        for q in range(n_axes):
            _free(axes[q], state, cells)
    return trimmed(out, count)
