"""Compiled: leaves that constrain conditional axes, cut into product boxes of the latents.

A leaf says of a conditional axis: active and inside a set, or (where it also takes configurations that
lack the axis) inactive. In terms of the latents each is a union of disjoint boxes over the axis and its
ancestors. Symbols as in boxes.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hyperlens.spaces.cube import BoolArray, IntArray
from hyperlens.surrogates.random_forest.boxes import compiled, emit, results, trimmed, whole


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


@compiled
def _longer_log(a: Any) -> Any:
    b = np.empty((2 * len(a), 3), np.int64)
    for i in range(len(a)):
        for k in range(3):
            b[i, k] = a[i, k]
    return b


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
    lo, hi, allowed = state
    lo[j] = 0
    hi[j] = cells.ptr[j + 1] - cells.ptr[j] - 1
    for r in range(cells.level_ptr[j], cells.level_ptr[j + 1]):
        allowed[r] = True


@compiled
def _intersect(
    j: int, low: int, high: int, mask: Any, start: int, state: Any, cells: Any, log: Any, n_log: int
) -> Any:
    """Narrow axis j to [low, high) or to the mask; returns whether anything is left, and the log."""
    lo, hi, allowed = state
    if cells.many[j]:
        base = cells.level_ptr[j]
        levels = cells.level_ptr[j + 1] - base
        while n_log + levels + 1 >= len(log):
            log = _longer_log(log)
        some = False
        for k in range(levels):
            if allowed[base + k]:
                if mask[start + k]:
                    some = True
                else:
                    allowed[base + k] = False
                    log[n_log, 0], log[n_log, 1], log[n_log, 2] = j, base + k, -1
                    n_log += 1
        return some, log, n_log
    if n_log + 1 >= len(log):
        log = _longer_log(log)
    log[n_log, 0], log[n_log, 1], log[n_log, 2] = j, lo[j], hi[j]
    lo[j] = max(lo[j], low)
    hi[j] = min(hi[j], high)
    return lo[j] < hi[j], log, n_log + 1


@compiled
def _take_back(state: Any, log: Any, n_log: int, mark: int) -> int:
    lo, hi, allowed = state
    while n_log > mark:
        n_log -= 1
        if log[n_log, 2] < 0:
            allowed[log[n_log, 1]] = True
        else:
            lo[log[n_log, 0]] = log[n_log, 1]
            hi[log[n_log, 0]] = log[n_log, 2]
    return n_log


@compiled
def cut(
    leaves: Any,
    lacking: Any,
    conditional: Any,
    demand: Any,
    condition_cell: Any,
    alt: Any,
    cells: Any,
    keep_empty: bool,
) -> Any:
    """Cut leaves that constrain conditional axes into product boxes of the latents.

    For each such axis one alternative is chosen: active with the leaf's set, or inactive and free if
    the leaf takes configurations that lack it. Axes in `demand` must be active. All combinations that
    leave something are found by backtracking.
    """
    value, _, box_ptr, axis, _, _, _, _ = leaves
    d = len(conditional)
    state = whole(cells)
    held_lo = np.empty(d, np.int64)
    held_hi = np.empty(d, np.int64)
    held = np.ones(cells.level_ptr[d] + 1, np.bool_)
    axes = np.empty(d, np.int64)  # all that may be constrained
    split = np.empty(d, np.int64)  # those with alternatives
    may_lack = np.empty(d, np.bool_)
    seen = np.full(d, -1, np.int64)
    choice = np.empty(d + 1, np.int64)
    mark = np.zeros(d + 1, np.int64)
    log = np.empty((64, 3), np.int64)
    out, count = results(len(value))
    for b in range(len(value)):
        _load(leaves, b, state, cells)
        n_axes = 0
        n_split = 0
        for c in range(box_ptr[b], box_ptr[b + 1]):
            j = axis[c]
            seen[j] = b
            axes[n_axes] = j
            n_axes += 1
            if conditional[j]:
                may_lack[n_split] = lacking[c] and not demand[j]
                split[n_split] = j
                n_split += 1
        for j in range(d):
            if demand[j] and seen[j] != b:
                seen[j] = b
                axes[n_axes] = j
                n_axes += 1
                may_lack[n_split] = False
                split[n_split] = j
                n_split += 1
        for q in range(n_split):
            j = split[q]
            for r in range(alt.ancestor_ptr[j], alt.ancestor_ptr[j + 1]):
                i = alt.ancestor[r]
                if seen[i] != b:
                    seen[i] = b
                    axes[n_axes] = i
                    n_axes += 1
            held_lo[j] = state[0][j]
            held_hi[j] = state[1][j]
            for r in range(cells.level_ptr[j], cells.level_ptr[j + 1]):
                held[r] = state[2][r]
            _free(j, state, cells)
        level = 0
        n_log = 0
        if n_split > 0:
            choice[0] = alt.ptr[split[0]] - 1
        while level >= 0:
            if level == n_split:
                out = emit(out, count, value[b], state, axes[:n_axes], cells, keep_empty)
                level -= 1
                continue
            n_log = _take_back(state, log, n_log, mark[level])
            own = split[level]
            choice[level] += 1
            a = choice[level]
            if a >= alt.ptr[own + 1] or not (alt.active[a] or may_lack[level]):
                level -= 1  # active alternatives come first: nothing is left at this level
                continue
            some = True
            for s in range(alt.set_ptr[a], alt.set_ptr[a + 1]):
                j = alt.set_axis[s]
                some, log, n_log = _intersect(
                    j, condition_cell[alt.set_low[s]], condition_cell[alt.set_high[s]],
                    alt.levels, alt.set_levels[s], state, cells, log, n_log,
                )  # fmt: skip
                if not some:
                    break
            if some and alt.active[a]:
                some, log, n_log = _intersect(
                    own, held_lo[own], held_hi[own], held, cells.level_ptr[own], state, cells, log,
                    n_log,
                )  # fmt: skip
            if some:
                level += 1
                mark[level] = n_log
                if level < n_split:
                    choice[level] = alt.ptr[split[level]] - 1
        _take_back(state, log, n_log, 0)
        for q in range(n_axes):
            _free(axes[q], state, cells)
    return trimmed(out, count)
