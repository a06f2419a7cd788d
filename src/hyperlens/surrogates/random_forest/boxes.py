"""Compiled: from the nodes of a regression tree to product boxes of the latents.

Within one tree every axis is cut into cells: at the tree's thresholds and where a condition changes,
or one cell a level for a category with more than two levels. A box allows, on each axis that it
constrains, some runs of cells.

Symbols
    edges[ptr[j] : ptr[j+1]]     ends of the cells of axis j, from 0 to 1
    weight[b], value[b]          measure of box b and what the tree predicts in it
    axis[box_ptr[b] : ...]       axes that box b constrains
    width[c]                     measure of constraint c on its axis
    run_lo, run_hi[run_ptr[c]:]  its runs of cells
    lo[j], hi[j]                 the run that the current path allows on an ordered axis
    allowed[level_ptr[j] + k]    whether it allows level k of a category with many levels
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from hyperlens.spaces.cube import BoolArray, FloatArray, IntArray

compiled = njit(cache=True, nogil=True, error_model="numpy")


class Boxes(NamedTuple):
    """All boxes of one tree; see the table of symbols."""

    value: FloatArray
    weight: FloatArray
    box_ptr: IntArray
    axis: IntArray
    width: FloatArray
    run_ptr: IntArray
    run_lo: IntArray
    run_hi: IntArray
    ptr: IntArray
    edges: FloatArray


class Cells(NamedTuple):
    """How the axes are cut in one tree; `many` marks categories with more than two levels."""

    ptr: IntArray
    edges: FloatArray
    many: BoolArray
    level_ptr: IntArray


@compiled
def _longer(a: Any) -> Any:
    """Twice the room. A loop, because assigning slices takes long to compile."""
    b = np.empty(2 * len(a), a.dtype)
    for i in range(len(a)):
        b[i] = a[i]
    return b


@compiled
def whole(cells: Any) -> Any:
    """The state of a path that constrains nothing: lo, hi, allowed."""
    d = len(cells.many)
    hi = np.empty(d, np.int64)
    for j in range(d):
        hi[j] = cells.ptr[j + 1] - cells.ptr[j] - 1
    return np.zeros(d, np.int64), hi, np.ones(cells.level_ptr[d] + 1, np.bool_)


@compiled
def results(size: int) -> Any:
    """Empty, growable results and their counts of boxes, constraints and runs."""
    return (
        np.empty(size, np.float64), np.empty(size, np.float64), np.zeros(size + 1, np.int64),
        np.empty(8 * size, np.int64), np.empty(8 * size, np.float64),
        np.zeros(8 * size + 1, np.int64), np.empty(8 * size, np.int64),
        np.empty(8 * size, np.int64),
    ), np.zeros(3, np.int64)  # fmt: skip


@compiled
def trimmed(out: Any, count: Any) -> Any:
    boxes, constraints, runs = count
    return (
        out[0][:boxes].copy(), out[1][:boxes].copy(), out[2][: boxes + 1].copy(),
        out[3][:constraints].copy(), out[4][:constraints].copy(), out[5][: constraints + 1].copy(),
        out[6][:runs].copy(), out[7][:runs].copy(),
    )  # fmt: skip


@compiled
def emit(
    out: Any,
    count: Any,
    value: float,
    state: Any,
    axes: Any,
    cells: Any,
    keep_empty: bool,
) -> Any:
    """Append the box that `state` describes on `axes`; an empty one is dropped unless told."""
    out_value, out_weight, box_ptr, axis, out_width, run_ptr, run_lo, run_hi = out
    lo, hi, allowed = state
    ptr, edges, many, level_ptr = cells
    n_box, n_con, n_run = count
    if n_box + 2 >= len(out_value):
        out_value, out_weight, box_ptr = _longer(out_value), _longer(out_weight), _longer(box_ptr)
    while n_con + len(axes) + 2 >= len(axis):
        axis, out_width, run_ptr = _longer(axis), _longer(out_width), _longer(run_ptr)
    weight = 1.0
    for q in range(len(axes)):
        j = axes[q]
        first = ptr[j]
        width = 0.0
        if many[j]:
            base = level_ptr[j]
            levels = level_ptr[j + 1] - base
            total = 0
            for k in range(levels):
                total += allowed[base + k]
            if total == levels and not keep_empty:
                continue
            while n_run + levels + 2 >= len(run_lo):
                run_lo, run_hi = _longer(run_lo), _longer(run_hi)
            inside = False
            for k in range(levels):
                if allowed[base + k]:
                    if not inside:
                        run_lo[n_run] = k
                    run_hi[n_run] = k + 1
                    width += edges[first + k + 1] - edges[first + k]
                    inside = True
                elif inside:
                    n_run += 1
                    inside = False
            n_run += inside
        else:
            if lo[j] == 0 and hi[j] == ptr[j + 1] - first - 1 and not keep_empty:
                continue
            while n_run + 2 >= len(run_lo):
                run_lo, run_hi = _longer(run_lo), _longer(run_hi)
            run_lo[n_run] = lo[j]
            run_hi[n_run] = hi[j]
            width = edges[first + hi[j]] - edges[first + lo[j]]
            n_run += 1
        axis[n_con] = j
        out_width[n_con] = width
        n_con += 1
        run_ptr[n_con] = n_run
        weight *= width
    if weight > 0.0 or keep_empty:
        out_value[n_box] = value
        out_weight[n_box] = weight
        box_ptr[n_box + 1] = n_con
        count[0] = n_box + 1
        count[1] = n_con
        count[2] = n_run
    return out_value, out_weight, box_ptr, axis, out_width, run_ptr, run_lo, run_hi


@compiled
def walk(
    left: Any,
    right: Any,
    value: Any,
    node_axis: Any,
    node_level: Any,
    node_cell: Any,
    cells: Any,
    keep_empty: bool,
) -> Any:
    """Boxes of all leaves, conditional axes taken as they stand, and for each constraint whether the
    leaf also takes configurations that lack its axis. Empty boxes are kept where they are to be cut.
    """
    many, level_ptr = cells.many, cells.level_ptr
    lo, hi, allowed = whole(cells)
    d = len(many)
    takes_lacking = np.ones(d, np.bool_)
    used = np.zeros(d, np.int64)
    axes = np.empty(d, np.int64)
    n_axes = 0
    out, count = results(len(left))
    lacking = np.empty(8 * len(left), np.bool_)

    # the path from the root, and what to restore on the way back
    stack = np.zeros(len(left) + 1, np.int64)
    stage = np.zeros(len(left) + 1, np.int8)
    kept = np.empty(len(left) + 1, np.int64)
    kept_lacking = np.empty(len(left) + 1, np.bool_)
    undo = np.empty(64, np.int64)
    undo_mark = np.empty(len(left) + 1, np.int64)
    n_undo = 0
    depth = 0
    while depth >= 0:
        node = stack[depth]
        if left[node] < 0:
            before = count[1]
            out = emit(out, count, value[node], (lo, hi, allowed), axes[:n_axes], cells, keep_empty)
            while count[1] >= len(lacking):
                lacking = _longer(lacking)
            for c in range(before, count[1]):
                lacking[c] = takes_lacking[out[3][c]]
            depth -= 1
            continue
        j = node_axis[node]
        at = level_ptr[j] + node_level[node]
        if stage[depth] == 0:  # go left: below the threshold, or not this level
            stage[depth] = 1
            if used[j] == 0:
                axes[n_axes] = j
                n_axes += 1
            used[j] += 1
            if many[j]:
                kept[depth] = allowed[at]
                allowed[at] = False
            else:
                kept[depth] = hi[j]
                hi[j] = min(hi[j], node_cell[node])
            depth += 1
            stack[depth] = left[node]
            stage[depth] = 0
        elif stage[depth] == 1:  # go right: above the threshold, or this level alone
            stage[depth] = 2
            kept_lacking[depth] = takes_lacking[j]
            takes_lacking[j] = False
            if many[j]:
                allowed[at] = kept[depth]
                undo_mark[depth] = n_undo
                for r in range(level_ptr[j], level_ptr[j + 1]):
                    if r != at and allowed[r]:
                        allowed[r] = False
                        if n_undo + 1 >= len(undo):
                            undo = _longer(undo)
                        undo[n_undo] = r
                        n_undo += 1
            else:
                hi[j] = kept[depth]
                kept[depth] = lo[j]
                lo[j] = max(lo[j], node_cell[node])
            depth += 1
            stack[depth] = right[node]
            stage[depth] = 0
        else:  # back up
            takes_lacking[j] = kept_lacking[depth]
            if many[j]:
                while n_undo > undo_mark[depth]:
                    n_undo -= 1
                    allowed[undo[n_undo]] = True
            else:
                lo[j] = kept[depth]
            used[j] -= 1
            n_axes -= used[j] == 0
            depth -= 1
    return trimmed(out, count), lacking[: count[1]].copy()
