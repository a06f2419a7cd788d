"""Compiled: the variance of a tree, effect by effect, from its boxes.

With w_b the measure of box b, c_b its value less the tree's mean, and S_bj its set on axis j, the
component of a set U of axes is the sum of w_b c_b prod_{j in U} (1[x_j in S_bj] / |S_bj| - 1): only
boxes that constrain every axis of U contribute. Accumulate 1[...] / |S| over the cells by adding at
the corners of each box and summing up once, then centre along every axis: O(corners + cells).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hyperlens.surrogates.random_forest.boxes import compiled

SWEEP_COST = 5.0  # of one box and level of the sweep, in cells of the grid (measured)


@compiled
def shares(boxes: Any, order: int) -> Any:
    """Mean and variance of the tree, and V_U in a (d, d) matrix.

    Main effects stand on the diagonal, pairs (order 2) above it.
    """
    value, weight = boxes.value, boxes.weight
    d = len(boxes.ptr) - 1
    total = 0.0
    mean = 0.0
    for b in range(len(value)):
        total += weight[b]
        mean += weight[b] * value[b]
    mean /= total
    moment = np.empty(len(value))
    variance = 0.0
    for b in range(len(value)):
        moment[b] = weight[b] * (value[b] - mean)
        variance += moment[b] * (value[b] - mean) / total
    parts = np.zeros((d, d))
    _mains(boxes, moment, parts)
    if order > 1:
        _pairs(boxes, moment, parts)
    return mean, variance, parts


@compiled
def main_sums(boxes: Any, moment: Any) -> Any:
    """For every cell of every axis the sum of moment / width over the boxes that cover it and
    constrain that axis; cell i of axis j at ptr[j] + i.
    """
    _, _, box_ptr, axis, width, run_ptr, run_lo, run_hi, ptr, _ = boxes
    sums = np.zeros(ptr[-1])
    for b in range(len(moment)):
        for c in range(box_ptr[b], box_ptr[b + 1]):
            j = axis[c]
            amount = moment[b] / width[c]
            for r in range(run_ptr[c], run_ptr[c + 1]):
                sums[ptr[j] + run_lo[r]] += amount
                sums[ptr[j] + run_hi[r]] -= amount
    for j in range(len(ptr) - 1):
        for i in range(ptr[j] + 1, ptr[j + 1]):
            sums[i] += sums[i - 1]
    return sums


@compiled
def _mains(boxes: Any, moment: Any, parts: Any) -> None:
    ptr, edges = boxes.ptr, boxes.edges
    sums = main_sums(boxes, moment)
    for j in range(len(ptr) - 1):
        mean = 0.0
        square = 0.0
        for i in range(ptr[j], ptr[j + 1] - 1):
            length = edges[i + 1] - edges[i]
            mean += length * sums[i]
            square += length * sums[i] * sums[i]
        parts[j, j] = max(0.0, square - mean * mean)


@compiled
def _pairs(boxes: Any, moment: Any, parts: Any) -> None:
    """Pure interactions of all pairs that share a path; the others are exactly zero."""
    box_ptr, axis, ptr = boxes.box_ptr, boxes.axis, boxes.ptr
    d = len(ptr) - 1
    start = np.zeros(d * d + 1, np.int64)
    for b in range(len(moment)):
        for c in range(box_ptr[b], box_ptr[b + 1]):
            for e in range(c + 1, box_ptr[b + 1]):
                start[min(axis[c], axis[e]) * d + max(axis[c], axis[e]) + 1] += 1
    for k in range(1, len(start)):
        start[k] += start[k - 1]
    filled = start[:-1].copy()
    members = np.empty((start[-1], 3), np.int32)  # box, constraint on the first axis, on the second
    for b in range(len(moment)):
        for c in range(box_ptr[b], box_ptr[b + 1]):
            for e in range(c + 1, box_ptr[b + 1]):
                p, q = (c, e) if axis[c] < axis[e] else (e, c)
                pair = axis[p] * d + axis[q]
                members[filled[pair], 0] = b
                members[filled[pair], 1] = p
                members[filled[pair], 2] = q
                filled[pair] += 1
    grid = np.empty(0)
    for pair in range(d * d):
        found = members[start[pair] : start[pair + 1]]
        if len(found) > 0:
            i, j = pair // d, pair % d
            rows, columns = ptr[i + 1] - ptr[i], ptr[j + 1] - ptr[j]
            if rows * columns < SWEEP_COST * len(found) * np.log2(columns + 1.0):
                if len(grid) < rows * columns:
                    grid = np.empty(2 * rows * columns)
                parts[i, j] = _by_cells(boxes, moment, found, i, j, grid)
            else:
                parts[i, j] = _by_sweep(boxes, moment, found, i, j)


@compiled
def _by_cells(boxes: Any, moment: Any, members: Any, i: int, j: int, grid: Any) -> float:
    """Variance of a pair's component: corners into a grid of cells, then one pass over it."""
    _, _, _, _, width, run_ptr, run_lo, run_hi, ptr, edges = boxes
    rows, columns = ptr[i + 1] - ptr[i], ptr[j + 1] - ptr[j]
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
    running = np.zeros(columns)
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
            running[c] += along
            x = running[c]
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
def _add(tree: Any, at: int, amount: float) -> None:
    at += 1
    while at < len(tree):
        tree[at] += amount
        at += at & -at


@compiled
def _sum_before(tree: Any, at: int) -> float:
    total = 0.0
    while at > 0:
        total += tree[at]
        at -= at & -at
    return total


@compiled
def _by_sweep(boxes: Any, moment: Any, members: Any, i: int, j: int) -> float:
    """The same variance by sweeping over axis i: O(boxes log cells) where cells are many.

    The current row A is kept by its steps in two Fenwick trees (step, and step times the place of the
    step), which give integrals of A up to any place; adding v on an interval changes the integral of
    A^2 by 2 v (integral of A there) + v^2 (its length).
    """
    _, _, _, _, width, run_ptr, run_lo, run_hi, ptr, edges = boxes
    rows, columns = ptr[i + 1] - ptr[i], ptr[j + 1] - ptr[j]
    place = edges[ptr[j] : ptr[j + 1]]
    start = np.zeros(rows + 1, np.int64)
    for m in range(len(members)):
        p, q = members[m, 1], members[m, 2]
        for r in range(run_ptr[p], run_ptr[p + 1]):
            start[run_lo[r] + 1] += run_ptr[q + 1] - run_ptr[q]
            start[run_hi[r] + 1] += run_ptr[q + 1] - run_ptr[q]
    for k in range(1, len(start)):
        start[k] += start[k - 1]
    filled = start[:-1].copy()
    event = np.empty((start[-1], 2), np.int64)  # from, to on axis j
    change = np.empty(start[-1])
    column_mean = np.zeros(columns)
    for m in range(len(members)):
        b, p, q = members[m, 0], members[m, 1], members[m, 2]
        amount = moment[b] / (width[p] * width[q])
        for s in range(run_ptr[q], run_ptr[q + 1]):
            column_mean[run_lo[s]] += amount * width[p]
            column_mean[run_hi[s]] -= amount * width[p]
            for r in range(run_ptr[p], run_ptr[p + 1]):
                for row, sign in ((run_lo[r], 1.0), (run_hi[r], -1.0)):
                    event[filled[row], 0] = run_lo[s]
                    event[filled[row], 1] = run_hi[s]
                    change[filled[row]] = sign * amount
                    filled[row] += 1
    steps = np.zeros(columns + 1)
    placed = np.zeros(columns + 1)
    now_square = 0.0
    now_mean = 0.0
    square = 0.0
    row_square = 0.0
    mean = 0.0
    for r in range(rows - 1):
        for m in range(start[r], start[r + 1]):
            low, high, v = event[m, 0], event[m, 1], change[m]
            length = place[high] - place[low]
            inside = (
                place[high] * _sum_before(steps, high) - _sum_before(placed, high)
                - place[low] * _sum_before(steps, low) + _sum_before(placed, low)
            )  # fmt: skip
            now_square += v * (2.0 * inside + v * length)
            now_mean += v * length
            _add(steps, low, v)
            _add(placed, low, v * place[low])
            _add(steps, high, -v)
            _add(placed, high, -v * place[high])
        height = edges[ptr[i] + r + 1] - edges[ptr[i] + r]
        square += height * now_square
        row_square += height * now_mean * now_mean
        mean += height * now_mean
    column_square = 0.0
    along = 0.0
    for c in range(columns - 1):
        along += column_mean[c]
        column_square += (place[c + 1] - place[c]) * along * along
    return max(0.0, square - row_square - column_square + mean * mean)


@compiled
def triples(boxes: Any, wanted: Any) -> Any:
    """V_U of sets of three axes (k, 3), ascending.

    V_U = sum_{b,c} m_b m_c prod_{j in U} (|S_bj and S_cj| / (|S_bj| |S_cj|) - 1) over pairs of boxes
    that constrain all three.
    """
    value, weight, box_ptr, axis = boxes.value, boxes.weight, boxes.box_ptr, boxes.axis
    d = len(boxes.ptr) - 1
    mean = 0.0
    for b in range(len(value)):
        mean += weight[b] * value[b]
    constraint = np.empty((len(value), d), np.int32)  # -1: none on this axis
    for b in range(len(value)):
        for j in range(d):
            constraint[b, j] = -1
        for c in range(box_ptr[b], box_ptr[b + 1]):
            constraint[b, axis[c]] = c
    found = np.zeros(len(wanted))
    members = np.empty(len(value), np.int64)
    for u in range(len(wanted)):
        n = 0
        for b in range(len(value)):
            if (
                constraint[b, wanted[u, 0]] >= 0
                and constraint[b, wanted[u, 1]] >= 0
                and constraint[b, wanted[u, 2]] >= 0
            ):
                members[n] = b
                n += 1
        total = 0.0
        for p in range(n):
            b = members[p]
            own = weight[b] * (value[b] - mean)
            for q in range(p, n):
                c = members[q]
                product = own * weight[c] * (value[c] - mean) * (1.0 if p == q else 2.0)
                for k in range(3):
                    j = wanted[u, k]
                    product *= _overlap(boxes, constraint[b, j], constraint[c, j], j) - 1.0
                total += product
        found[u] = max(0.0, total)
    return found


@compiled
def _overlap(boxes: Any, c: int, e: int, j: int) -> float:
    """Measure common to two constraints on axis j, over the product of their measures."""
    run_ptr, run_lo, run_hi = boxes.run_ptr, boxes.run_lo, boxes.run_hi
    common = 0.0
    for r in range(run_ptr[c], run_ptr[c + 1]):
        for s in range(run_ptr[e], run_ptr[e + 1]):
            low, high = max(run_lo[r], run_lo[s]), min(run_hi[r], run_hi[s])
            if low < high:
                common += boxes.edges[boxes.ptr[j] + high] - boxes.edges[boxes.ptr[j] + low]
    share: float = common / (boxes.width[c] * boxes.width[e])
    return share


@compiled
def marginal(boxes: Any, columns: Any, cells: Any) -> Any:
    """Average of the tree over all other axes, at points given by their cells (g, k) on `columns`.

    Where the boxes cover only part of the latents, the average is over that part.
    """
    value, weight, box_ptr, axis, width, run_ptr, run_lo, run_hi, _, _ = boxes
    points = len(cells)
    total = np.zeros(points)
    mass = np.zeros(points)
    member = np.empty(len(columns), np.int64)
    for b in range(len(value)):
        density = weight[b]
        for k in range(len(columns)):
            member[k] = -1
        for c in range(box_ptr[b], box_ptr[b + 1]):
            for k in range(len(columns)):
                if axis[c] == columns[k]:
                    member[k] = c
                    density /= width[c]
        for g in range(points):
            inside = True
            for k in range(len(columns)):
                if member[k] >= 0 and inside:
                    inside = False
                    for r in range(run_ptr[member[k]], run_ptr[member[k] + 1]):
                        if run_lo[r] <= cells[g, k] < run_hi[r]:
                            inside = True
                            break
            if inside:
                total[g] += density * value[b]
                mass[g] += density
    return total / mass
