"""Compiled: the variance of a tree, effect by effect, from its boxes (Hutter et al. 2014, Algorithm 2).

The paper evaluates each marginal at every value of its axes. Here each component is a sum over boxes:
with S_bj the set of box b on axis j, Theorem 6 and Eq. 4 give

    f_U(x) = sum_b w_b (c_b - f_0) prod_{j in U} (1[x_j in S_bj] / |S_bj| - 1)

so only boxes that constrain every axis of U contribute. Their 1[...] / |S| are added up over the cells
by steps: plus at the start of each run, minus behind its end, one running sum (pairs: see pairs.py):

    steps   0  +a   0   0  -a   0        S_bj = cells 1 to 4
    sums    0   a   a   a   0   0

Symbols of boxes.py, and
    w_b, c_b     weight[b] and value[b]
    f_0          mean of the tree
    moment[b]    w_b (c_b - f_0)
    V, V_U       variance of the tree and of its component f_U (Eq. 5 and 6)
"""

from typing import Any

import numpy as np

from hyperlens.surrogates.random_forest.boxes import compiled
from hyperlens.surrogates.random_forest.pairs import pair_variances


@compiled
def shares(boxes: Any, order: int) -> Any:
    """f_0, V, and V_U in a (d, d) matrix: main effects on the diagonal, pairs (order 2) above it."""
    value, weight = boxes.value, boxes.weight
    d = len(boxes.ptr) - 1
    total = 0.0
    mean = 0.0
    for b in range(len(value)):  # Algorithm 2, line 2
        total += weight[b]
        mean += weight[b] * value[b]
    mean /= total
    moment = np.empty(len(value))
    variance = 0.0
    for b in range(len(value)):  # line 3
        moment[b] = weight[b] * (value[b] - mean)
        variance += moment[b] * (value[b] - mean) / total
    parts = np.zeros((d, d))
    _main_variances(boxes, moment, parts)  # lines 5 to 10, k = 1
    if order > 1:
        pair_variances(boxes, moment, parts)  # k = 2
    return mean, variance, parts


@compiled
def _main_variances(boxes: Any, moment: Any, parts: Any) -> None:
    """V_j of every axis: the variance of its sums, whose mean is what -1 in f_j takes away."""
    ptr, edges = boxes.ptr, boxes.edges
    sums = _main_sums(boxes, moment)
    for j in range(len(ptr) - 1):
        mean = 0.0
        square = 0.0
        for i in range(ptr[j], ptr[j + 1] - 1):
            length = edges[i + 1] - edges[i]
            mean += length * sums[i]
            square += length * sums[i] * sums[i]
        parts[j, j] = max(0.0, square - mean * mean)


@compiled
def _main_sums(boxes: Any, moment: Any) -> Any:
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


# Three axes at once: pairs of boxes instead of cells


@compiled
def triples(boxes: Any, axes: Any) -> Any:
    """V_U of sets U of three axes (k, 3), ascending; from the definition of f_U, over pairs of boxes

    V_U = sum_{b,c} moment_b moment_c prod_{j in U} (|S_bj and S_cj| / (|S_bj| |S_cj|) - 1).
    """
    value, weight = boxes.value, boxes.weight
    mean = 0.0
    for b in range(len(value)):
        mean += weight[b] * value[b]
    constraint = _constraints(boxes)
    variances = np.zeros(len(axes))
    members = np.empty(len(value), np.int64)  # boxes that constrain all three
    for u in range(len(axes)):
        n = 0
        for b in range(len(value)):
            named = True
            for k in range(3):
                named = named and constraint[b, axes[u, k]] >= 0
            if named:
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
                    j = axes[u, k]
                    product *= _overlap(boxes, constraint[b, j], constraint[c, j], j) - 1.0
                total += product
        variances[u] = max(0.0, total)
    return variances


@compiled
def _constraints(boxes: Any) -> Any:
    """The constraint of each box on each axis, -1 where there is none, shape (boxes, d)."""
    n, d = len(boxes.value), len(boxes.ptr) - 1
    constraint = np.empty((n, d), np.int32)
    for b in range(n):
        for j in range(d):
            constraint[b, j] = -1
        for c in range(boxes.box_ptr[b], boxes.box_ptr[b + 1]):
            constraint[b, boxes.axis[c]] = c
    return constraint


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


# The marginal prediction


@compiled
def marginal(boxes: Any, columns: Any, cells: Any) -> Any:
    """Average of the tree over all other axes (Hutter et al. 2014, Theorem 6), at points given by
    their cells (g, k) on `columns`.

    Where the boxes cover only part of the latents, the average is over that part.
    """
    value, weight, box_ptr, axis, width, run_ptr, run_lo, run_hi, _, _ = boxes
    points = len(cells)
    total = np.zeros(points)
    mass = np.zeros(points)
    member = np.empty(len(columns), np.int64)  # constraint on each column, -1 where there is none
    for b in range(len(value)):
        density = weight[b]  # |S_b| over the other axes: that over all of them without `columns`
        for k in range(len(columns)):
            member[k] = -1
        for c in range(box_ptr[b], box_ptr[b + 1]):
            for k in range(len(columns)):
                if axis[c] == columns[k]:
                    member[k] = c
                    density /= width[c]
        for g in range(points):
            inside = True  # 1[x_U in S_bU]
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
