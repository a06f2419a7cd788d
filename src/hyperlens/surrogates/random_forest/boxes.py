"""Product boxes of the latents: how a tree's partition (Hutter et al. 2014, Eq. 2) is stored.

Within one tree every axis is cut into cells: at the tree's thresholds and where a condition changes,
or one cell a level for a category with more than two levels. A box allows, on each axis that it
constrains, some runs of cells; an axis that it does not name is whole.

    axis 1                              box b names axes 0 and 1, so it has two constraints,
    edges 1.0 +----+---------+----+     c = box_ptr[b] and c + 1:
              |    |         |    |       axis[c]     = 0, one run: cells 1 to 2 (lo 1, hi 2)
          0.3 +----+#########+----+       axis[c + 1] = 1, one run: cells 0 to 1 (lo 0, hi 1)
              |    |## b ####|    |     width 0.5 and 0.3, weight 0.5 * 0.3
          0.0 +----+---------+----+
              0   0.2       0.7   1     axis 0

Symbols
    d                            axes
    edges[ptr[j] : ptr[j+1]]     ends of the cells of axis j, from 0 to 1
    value[b]                     c_b, what the tree predicts in box b
    weight[b]                    measure of box b, prod_j |S_bj|
    axis[box_ptr[b] : ...]       axes that box b constrains, one constraint c each
    width[c]                     |S_bj|, measure of constraint c on its axis
    run_lo, run_hi[run_ptr[c]:]  S_bj, its runs of cells
    lo[j], hi[j]                 the run that the current path allows on an ordered axis
    allowed[level_ptr[j] + k]    whether it allows level k of a category with many levels
"""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from hyperlens.spaces.cube import BoolArray, Box, FloatArray, IntArray, measure

COMPILED = find_spec("numba") is not None  # else Python computes the same numbers, later


def njit(**options: Any) -> Callable[[Any], Any]:
    """Numba's, where it is installed."""
    if not COMPILED:
        return lambda function: function
    import numba

    decorator: Callable[[Any], Any] = numba.njit(**options)
    return decorator


# Numba numbers the files in which it keeps a function's forms for different types. Two processes that
# compile different forms at once may swap them, and then memory is read as what it is not: so what is
# kept has one form, and what has several is kept only with the compiled functions that use it.
compiled = njit(cache=True, nogil=True, error_model="numpy")
several_forms = njit(nogil=True, error_model="numpy")
inlined = njit(inline="always", nogil=True, error_model="numpy")  # into a compiled function


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


# Boxes as they are, seen from NumPy


def within(boxes: Boxes, region: Box) -> Boxes:
    """The same boxes with the measures that they have inside a region, up to a common factor."""
    weight = boxes.weight.copy()
    run_axis = np.repeat(boxes.axis, np.diff(boxes.run_ptr))
    start = boxes.edges[boxes.ptr[run_axis] + boxes.run_lo]
    end = boxes.edges[boxes.ptr[run_axis] + boxes.run_hi]
    box_of = np.repeat(np.arange(len(weight)), np.diff(boxes.box_ptr))
    for j, runs in region.items():
        own = np.flatnonzero(boxes.axis == j)
        common = sum(
            np.clip(np.minimum(end, high) - np.maximum(start, low), 0.0, None) for low, high in runs
        )
        inside = np.add.reduceat(common, boxes.run_ptr[:-1]) if len(boxes.axis) else np.empty(0)
        weight[box_of[own]] *= inside[own] / (boxes.width[own] * measure(runs))
    return boxes._replace(weight=weight)


def grid_cells(boxes: Boxes, columns: tuple[int, ...], grid: FloatArray) -> IntArray:
    """Cells on `columns` in which grid points (g, k) lie, shape (g, k)."""
    cells = np.empty(grid.shape, dtype=np.int64)
    for k, j in enumerate(columns):
        ends = boxes.edges[boxes.ptr[j] : boxes.ptr[j + 1]]
        cells[:, k] = np.searchsorted(ends, grid[:, k], side="right") - 1
        np.clip(cells[:, k], 0, len(ends) - 2, out=cells[:, k])
    return cells


# Boxes being collected, compiled


@compiled
def whole(cells: Any) -> Any:
    """The state of a path that constrains nothing: lo, hi, allowed."""
    d = len(cells.many)
    hi = np.empty(d, np.int64)
    for j in range(d):
        hi[j] = cells.ptr[j + 1] - cells.ptr[j] - 1
    return np.zeros(d, np.int64), hi, np.ones(cells.level_ptr[d] + 1, np.bool_)


@compiled
def no_boxes(size: int) -> Any:
    """Empty arrays in the order of `Boxes`, and the counts of boxes, constraints and runs in them."""
    return (
        np.empty(size, np.float64), np.empty(size, np.float64), np.zeros(size + 1, np.int64),
        np.empty(8 * size, np.int64), np.empty(8 * size, np.float64),
        np.zeros(8 * size + 1, np.int64), np.empty(8 * size, np.int64),
        np.empty(8 * size, np.int64),
    ), np.zeros(3, np.int64)  # fmt: skip


@compiled
def trimmed(out: Any, count: Any) -> Any:
    """The arrays without the room that is left in them."""
    boxes, constraints, runs = count
    return (
        out[0][:boxes].copy(), out[1][:boxes].copy(), out[2][: boxes + 1].copy(),
        out[3][:constraints].copy(), out[4][:constraints].copy(), out[5][: constraints + 1].copy(),
        out[6][:runs].copy(), out[7][:runs].copy(),
    )  # fmt: skip


@several_forms
def longer(a: Any) -> Any:
    """Twice the room. A loop, because assigning slices takes long to compile."""
    b = np.empty(2 * len(a), a.dtype)
    for i in range(len(a)):
        b[i] = a[i]
    return b


@inlined
def _with_room(out: Any, count: Any, constraints: int, runs: int) -> Any:
    """The arrays, longer where one more box with so many constraints and runs would not fit."""
    value, weight, box_ptr, axis, width, run_ptr, run_lo, run_hi = out
    if count[0] + 2 >= len(value):
        value, weight, box_ptr = longer(value), longer(weight), longer(box_ptr)
    while count[1] + constraints + 2 >= len(axis):
        axis, width, run_ptr = longer(axis), longer(width), longer(run_ptr)
    while count[2] + runs + 2 >= len(run_lo):
        run_lo, run_hi = longer(run_lo), longer(run_hi)
    return value, weight, box_ptr, axis, width, run_ptr, run_lo, run_hi


@inlined
def _level_runs(j: int, allowed: Any, cells: Any, run_lo: Any, run_hi: Any, n_run: int) -> Any:
    """Write the allowed levels of a category as runs: their measure, and how many runs there are."""
    first, base = cells.ptr[j], cells.level_ptr[j]
    width = 0.0
    inside = False
    for k in range(cells.level_ptr[j + 1] - base):
        if allowed[base + k]:
            if not inside:
                run_lo[n_run] = k
            run_hi[n_run] = k + 1
            width += cells.edges[first + k + 1] - cells.edges[first + k]
            inside = True
        elif inside:
            n_run += 1
            inside = False
    return width, n_run + inside


@several_forms
def append(
    out: Any, count: Any, value: float, state: Any, axes: Any, cells: Any, all_of_it: bool
) -> Any:
    """Append the box that `state` describes on `axes`; returns the arrays, which may be new ones.

    Axes that it leaves whole are not named and a box of measure 0 is dropped, unless `all_of_it` is
    wanted, which is so where the box is to be cut further.
    """
    lo, hi, allowed = state
    ptr, edges, many, level_ptr = cells
    out = _with_room(out, count, len(axes), len(axes) + level_ptr[len(many)])
    out_value, out_weight, box_ptr, axis, out_width, run_ptr, run_lo, run_hi = out
    n_box, n_con, n_run = count
    weight = 1.0
    for q in range(len(axes)):
        j = axes[q]
        first, size = n_run, ptr[j + 1] - ptr[j] - 1
        if many[j]:
            width, n_run = _level_runs(j, allowed, cells, run_lo, run_hi, n_run)
            if run_lo[first] == 0 and run_hi[first] == size and n_run > first and not all_of_it:
                n_run = first  # the whole axis is no constraint
                continue
        else:
            if lo[j] == 0 and hi[j] == size and not all_of_it:
                continue
            run_lo[n_run] = lo[j]
            run_hi[n_run] = hi[j]
            width = edges[ptr[j] + hi[j]] - edges[ptr[j] + lo[j]]
            n_run += 1
        axis[n_con] = j
        out_width[n_con] = width
        n_con += 1
        run_ptr[n_con] = n_run
        weight *= width  # |P_i| = prod_j |Theta_j^(i)| (Hutter et al. 2014, Def. 4)
    if weight > 0.0 or all_of_it:
        out_value[n_box] = value
        out_weight[n_box] = weight
        box_ptr[n_box + 1] = n_con
        count[0], count[1], count[2] = n_box + 1, n_con, n_run
    return out
