"""Compiled: the boxes of a regression tree's leaves (Hutter et al. 2014, Algorithm 1).

ComputePartitioning calls itself for the left and the right child with a copy of the partition. Here
the path is a stack and there is one partition, `state`, which is narrowed on the way down and restored
on the way back, so that a node costs one axis and not all of them.

    visit   what is done at a node            state on its axis j
    0       go left   (lines 4 and 5)         hi[j] lowered to the threshold, or the level forbidden
    1       go right  (lines 4 and 6)         hi[j] restored, lo[j] raised, or all other levels forbidden
    2       back up   (line 7)                as it was before the node

Symbols of boxes.py, and
    path      for each depth: the node, how often it was visited, what to restore
    lacks[j]  whether the path also takes configurations that lack axis j: they go left at every split,
              for an inactive coordinate is -1 in a column of numbers and 0 in one of a level
"""

from typing import Any, NamedTuple

import numpy as np

from hyperlens.spaces.cube import FloatArray, IntArray
from hyperlens.surrogates.random_forest.boxes import (
    append,
    compiled,
    inlined,
    longer,
    no_boxes,
    trimmed,
    whole,
)


class Nodes(NamedTuple):
    """A tree by node: children (-1 at a leaf), value, and the split: its axis, level and cell."""

    left: IntArray
    right: IntArray
    value: FloatArray
    axis: IntArray
    level: IntArray  # of a category with many levels, else -1
    cell: IntArray  # of the threshold on an ordered axis


class _Path(NamedTuple):
    node: Any
    visit: Any
    bound: Any  # hi or lo of its axis before the node, or whether its level was allowed
    lacks: Any  # before the node went right
    mark: Any  # where its forbidden levels start in `forbidden`


@inlined
def _go_left(nodes: Any, depth: int, path: Any, state: Any, cells: Any) -> None:
    """Line 4, left: below the threshold, or any level but this one."""
    _, hi, allowed = state
    node = path.node[depth]
    j = nodes.axis[node]
    if cells.many[j]:
        level = cells.level_ptr[j] + nodes.level[node]
        path.bound[depth] = allowed[level]
        allowed[level] = False
    else:
        path.bound[depth] = hi[j]
        hi[j] = min(hi[j], nodes.cell[node])


@inlined
def _go_right(
    nodes: Any, depth: int, path: Any, state: Any, cells: Any, forbidden: Any, n_forbidden: int
) -> int:
    """Line 4, right: above the threshold, or this level alone."""
    lo, hi, allowed = state
    node = path.node[depth]
    j = nodes.axis[node]
    if cells.many[j]:
        level = cells.level_ptr[j] + nodes.level[node]
        allowed[level] = path.bound[depth]
        path.mark[depth] = n_forbidden
        for r in range(cells.level_ptr[j], cells.level_ptr[j + 1]):
            if r != level and allowed[r]:
                allowed[r] = False
                forbidden[n_forbidden] = r
                n_forbidden += 1
    else:
        hi[j] = path.bound[depth]
        path.bound[depth] = lo[j]
        lo[j] = max(lo[j], nodes.cell[node])
    return n_forbidden


@inlined
def _back_up(
    j: int, depth: int, path: Any, state: Any, cells: Any, forbidden: Any, n_forbidden: int
) -> int:
    lo, _, allowed = state
    if cells.many[j]:
        while n_forbidden > path.mark[depth]:
            n_forbidden -= 1
            allowed[forbidden[n_forbidden]] = True
    else:
        lo[j] = path.bound[depth]
    return n_forbidden


@compiled
def partition(nodes: Any, cells: Any, all_of_it: bool) -> Any:
    """Boxes of all leaves, conditional axes taken as they stand, and for each constraint whether the
    leaf also takes configurations that lack its axis. `all_of_it` as in `append`.
    """
    state = whole(cells)
    d, size = len(cells.many), len(nodes.left)
    lacks = np.ones(d, np.bool_)
    splits = np.zeros(d, np.int64)  # of the path on each axis
    axes, n_axes = np.empty(d, np.int64), 0  # that the path splits on
    forbidden, n_forbidden = np.empty(cells.level_ptr[d] + 1, np.int64), 0
    out, count = no_boxes(size)
    lacking = np.empty(8 * size, np.bool_)
    path = _Path(
        np.zeros(size + 1, np.int64), np.zeros(size + 1, np.int8), np.empty(size + 1, np.int64),
        np.empty(size + 1, np.bool_), np.empty(size + 1, np.int64),
    )  # fmt: skip
    depth = 0
    while depth >= 0:
        node = path.node[depth]
        if nodes.left[node] < 0:  # line 1: a leaf is a box
            first = count[1]
            out = append(out, count, nodes.value[node], state, axes[:n_axes], cells, all_of_it)
            while count[1] >= len(lacking):
                lacking = longer(lacking)
            for c in range(first, count[1]):
                lacking[c] = lacks[out[3][c]]
            depth -= 1
            continue
        j = nodes.axis[node]  # line 3
        visit = path.visit[depth]
        path.visit[depth] += 1
        if visit == 2:
            n_forbidden = _back_up(j, depth, path, state, cells, forbidden, n_forbidden)
            lacks[j] = path.lacks[depth]
            splits[j] -= 1
            n_axes -= splits[j] == 0
            depth -= 1
            continue
        if visit == 0:
            if splits[j] == 0:
                axes[n_axes] = j
                n_axes += 1
            splits[j] += 1
            _go_left(nodes, depth, path, state, cells)
        else:
            path.lacks[depth] = lacks[j]
            lacks[j] = False
            n_forbidden = _go_right(nodes, depth, path, state, cells, forbidden, n_forbidden)
        depth += 1
        path.node[depth] = nodes.left[node] if visit == 0 else nodes.right[node]
        path.visit[depth] = 0
    return trimmed(out, count), lacking[: count[1]].copy()
