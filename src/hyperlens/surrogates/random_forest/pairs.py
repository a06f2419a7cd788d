"""Compiled: the variance of every pure interaction of two axes of a tree.

The component of axes i and j (anova.py) is A(x_i, x_j) = sum_b a_b 1[x_i in S_bi] 1[x_j in S_bj],
centred along both axes, where a_b = moment_b / (|S_bi| |S_bj|). Centring takes away the row means R and
the column means C, whose means are both M, so that

    V_ij = E[A^2] - E[R^2] - E[C^2] + M^2

Two ways to these four numbers; which is shorter depends on how many cells and boxes there are.

    by cells: A from its steps at the corners        by sweep: one row of A at a time; boxes that start
    of each box, by a running sum over a grid        or end in row r change an interval of the row

        j -->                                            j -->
      i +---+-------+---+                              i
      | |   | +a    |-a |   starts                     |  row r      +-----+   + v
      v +---+-------+---+                              v        +---+     +-+
        |   | a   a | 0 |                                   ----+           +------
        +---+-------+---+                                          low   high
        |   | -a    |+a |   ends                        O(boxes log cells) instead of O(cells)

Symbols of boxes.py and anova.py, and
    members (m, 3)   boxes that constrain both axes, and their constraints p on i and q on j
    rows, columns    ends of cells on i and on j: one more than cells
    square, row_square, column_square, mean    E[A^2], E[R^2], E[C^2], M
"""

from typing import Any

import numpy as np

from hyperlens.surrogates.random_forest.boxes import compiled

SWEEP_COST = 5.0  # of one box and level of the sweep, in cells of the grid (measured)


@compiled
def pair_variances(boxes: Any, moment: Any, parts: Any) -> None:
    """V_ij into parts (d, d), i < j; pairs that share no path are exactly zero."""
    ptr = boxes.ptr
    d = len(ptr) - 1
    start, members = _members(boxes, len(moment))
    grid = np.empty(0)
    for pair in range(d * d):
        own = members[start[pair] : start[pair + 1]]
        if len(own) > 0:
            i, j = pair // d, pair % d
            rows, columns = ptr[i + 1] - ptr[i], ptr[j + 1] - ptr[j]
            if rows * columns < SWEEP_COST * len(own) * np.log2(columns + 1.0):
                if len(grid) < rows * columns:
                    grid = np.empty(2 * rows * columns)
                parts[i, j] = _by_cells(boxes, moment, own, i, j, grid)
            else:
                parts[i, j] = _by_sweep(boxes, moment, own, i, j)


@compiled
def _members(boxes: Any, n: int) -> Any:
    """Members of all pairs, those of pair i d + j from start[i d + j] on: counted, then filled in."""
    box_ptr, axis = boxes.box_ptr, boxes.axis
    d = len(boxes.ptr) - 1
    start = np.zeros(d * d + 1, np.int64)
    for b in range(n):
        for c in range(box_ptr[b], box_ptr[b + 1]):
            for e in range(c + 1, box_ptr[b + 1]):
                start[min(axis[c], axis[e]) * d + max(axis[c], axis[e]) + 1] += 1
    for k in range(1, len(start)):
        start[k] += start[k - 1]
    end = start[:-1].copy()
    members = np.empty((start[-1], 3), np.int32)
    for b in range(n):
        for c in range(box_ptr[b], box_ptr[b + 1]):
            for e in range(c + 1, box_ptr[b + 1]):
                p, q = (c, e) if axis[c] < axis[e] else (e, c)
                pair = axis[p] * d + axis[q]
                members[end[pair], 0] = b
                members[end[pair], 1] = p
                members[end[pair], 2] = q
                end[pair] += 1
    return start, members


# By cells


@compiled
def _by_cells(boxes: Any, moment: Any, members: Any, i: int, j: int, grid: Any) -> float:
    """V_ij by the grid of all cells, in one pass over it."""
    ptr, edges = boxes.ptr, boxes.edges
    rows, columns = ptr[i + 1] - ptr[i], ptr[j + 1] - ptr[j]
    _corners(boxes, moment, members, rows, columns, grid)
    above = np.zeros(columns)  # the row of A that is being made
    column_mean = np.zeros(columns)
    square = 0.0
    row_square = 0.0
    mean = 0.0
    for r in range(rows - 1):
        height = edges[ptr[i] + r + 1] - edges[ptr[i] + r]
        along = 0.0
        row_mean = 0.0
        row_total = 0.0
        for c in range(columns - 1):
            along += grid[r * columns + c]
            above[c] += along
            x = above[c]  # A in cell (r, c)
            part = (edges[ptr[j] + c + 1] - edges[ptr[j] + c]) * x
            row_mean += part
            row_total += part * x
            column_mean[c] += height * x
        square += height * row_total
        row_square += height * row_mean * row_mean
        mean += height * row_mean
    column_square = 0.0
    for c in range(columns - 1):
        column_square += (edges[ptr[j] + c + 1] - edges[ptr[j] + c]) * column_mean[c] ** 2
    return max(0.0, square - row_square - column_square + mean * mean)


@compiled
def _corners(boxes: Any, moment: Any, members: Any, rows: int, columns: int, grid: Any) -> None:
    """The steps of A at the four corners of every box, into a grid (rows, columns), flat."""
    width, run_ptr, run_lo, run_hi = boxes.width, boxes.run_ptr, boxes.run_lo, boxes.run_hi
    for k in range(rows * columns):
        grid[k] = 0.0
    for m in range(len(members)):
        b, p, q = members[m, 0], members[m, 1], members[m, 2]
        amount = moment[b] / (width[p] * width[q])
        for r in range(run_ptr[p], run_ptr[p + 1]):
            top, bottom = run_lo[r] * columns, run_hi[r] * columns
            for s in range(run_ptr[q], run_ptr[q + 1]):
                grid[top + run_lo[s]] += amount
                grid[top + run_hi[s]] -= amount
                grid[bottom + run_lo[s]] -= amount
                grid[bottom + run_hi[s]] += amount


# By sweep


@compiled
def _by_sweep(boxes: Any, moment: Any, members: Any, i: int, j: int) -> float:
    """V_ij by sweeping over axis i, from row to row.

    The current row is kept by its steps in two Fenwick trees (step, and step times the place of the
    step), which give integrals of the row up to any place; adding v on an interval changes the integral
    of its square by 2 v (integral there) + v^2 (length).
    """
    ptr, edges = boxes.ptr, boxes.edges
    rows, columns = ptr[i + 1] - ptr[i], ptr[j + 1] - ptr[j]
    place = edges[ptr[j] : ptr[j + 1]]
    start, interval, change, column_step = _events(boxes, moment, members, rows, columns)
    steps = np.zeros(columns + 1)
    placed = np.zeros(columns + 1)
    row_total = 0.0  # integral of the row's square
    row_mean = 0.0
    square = 0.0
    row_square = 0.0
    mean = 0.0
    for r in range(rows - 1):
        for m in range(start[r], start[r + 1]):
            low, high, v = interval[m, 0], interval[m, 1], change[m]
            length = place[high] - place[low]
            inside = (
                place[high] * _sum_before(steps, high) - _sum_before(placed, high)
                - place[low] * _sum_before(steps, low) + _sum_before(placed, low)
            )  # fmt: skip
            row_total += v * (2.0 * inside + v * length)
            row_mean += v * length
            _add(steps, low, v)
            _add(placed, low, v * place[low])
            _add(steps, high, -v)
            _add(placed, high, -v * place[high])
        height = edges[ptr[i] + r + 1] - edges[ptr[i] + r]
        square += height * row_total
        row_square += height * row_mean * row_mean
        mean += height * row_mean
    column_square = 0.0
    along = 0.0
    for c in range(columns - 1):
        along += column_step[c]
        column_square += (place[c + 1] - place[c]) * along * along
    return max(0.0, square - row_square - column_square + mean * mean)


@compiled
def _events(boxes: Any, moment: Any, members: Any, rows: int, columns: int) -> Any:
    """What changes in each row: intervals (low, high) on axis j and by how much, those of row r from
    start[r] on; and the steps of the column means.
    """
    width, run_ptr, run_lo, run_hi = boxes.width, boxes.run_ptr, boxes.run_lo, boxes.run_hi
    start = np.zeros(rows + 1, np.int64)
    for m in range(len(members)):
        p, q = members[m, 1], members[m, 2]
        for r in range(run_ptr[p], run_ptr[p + 1]):
            start[run_lo[r] + 1] += run_ptr[q + 1] - run_ptr[q]
            start[run_hi[r] + 1] += run_ptr[q + 1] - run_ptr[q]
    for k in range(1, len(start)):
        start[k] += start[k - 1]
    end = start[:-1].copy()
    interval = np.empty((start[-1], 2), np.int64)
    change = np.empty(start[-1])
    column_step = np.zeros(columns)
    for m in range(len(members)):
        b, p, q = members[m, 0], members[m, 1], members[m, 2]
        amount = moment[b] / (width[p] * width[q])
        for s in range(run_ptr[q], run_ptr[q + 1]):
            column_step[run_lo[s]] += amount * width[p]
            column_step[run_hi[s]] -= amount * width[p]
            for r in range(run_ptr[p], run_ptr[p + 1]):
                for row, sign in ((run_lo[r], 1.0), (run_hi[r], -1.0)):
                    interval[end[row], 0] = run_lo[s]
                    interval[end[row], 1] = run_hi[s]
                    change[end[row]] = sign * amount
                    end[row] += 1
    return start, interval, change, column_step


@compiled
def _add(tree: Any, at: int, amount: float) -> None:
    """Add to entry `at` of a Fenwick tree (Fenwick 1994)."""
    at += 1
    while at < len(tree):
        tree[at] += amount
        at += at & -at


@compiled
def _sum_before(tree: Any, at: int) -> float:
    """Sum of the entries before `at`."""
    total = 0.0
    while at > 0:
        total += tree[at]
        at -= at & -at
    return total
