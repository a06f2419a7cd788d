"""Compiled: the average of a product of two trees, exact, which the spread of a forest needs.

A tree is a sum over its boxes of value times indicator. The average of f_t f_u over the latents is
the sum over pairs of boxes of the product of values and the measure of what they have in common: the
product over axes of common lengths. Explained columns are not averaged: a pair of boxes counts at a
grid point that both hold. It is what the pointwise variance of a forest (Moosbauer et al. 2021, Eq. 5)
needs beside the squares of single trees.

Symbols
    reach[b]                     measure of box b over the averaged axes, inside the region
    axis[ptr[b] : ptr[b+1]]      averaged axes that box b constrains, ascending
    start, end[run_ptr[c] : ...] runs of constraint c on its axis, inside the region
    length[c]                    their total
    holds[b, g]                  whether box b holds grid point g of the explained columns
"""

from typing import Any, NamedTuple

import numpy as np

from hyperlens.spaces.cube import BoolArray, Box, FloatArray, IntArray, measure
from hyperlens.surrogates.random_forest.boxes import Boxes, compiled


class Parts(NamedTuple):
    """Boxes of one tree with their runs in place of cells; see the symbols."""

    value: FloatArray
    reach: FloatArray
    ptr: IntArray
    axis: IntArray
    length: FloatArray
    run_ptr: IntArray
    start: FloatArray
    end: FloatArray
    holds: BoolArray


def parts(boxes: Boxes, columns: tuple[int, ...], cells: IntArray, region: Box) -> Parts:
    """The boxes of a tree at grid points given by their cells (g, k) on `columns`. Lengths on an axis
    of the region are parts of what the region has there."""
    box_of = np.repeat(np.arange(len(boxes.value)), np.diff(boxes.box_ptr))
    holds = np.ones((len(boxes.value), len(cells)), dtype=bool)
    explained = np.isin(boxes.axis, columns)
    for c in np.flatnonzero(explained):
        runs = slice(boxes.run_ptr[c], boxes.run_ptr[c + 1])
        at = cells[:, columns.index(int(boxes.axis[c])), None]
        holds[box_of[c]] &= ((boxes.run_lo[runs] <= at) & (at < boxes.run_hi[runs])).any(axis=1)
    averaged = np.flatnonzero(~explained)
    averaged = averaged[np.lexsort((boxes.axis[averaged], box_of[averaged]))]
    axis, box_of = boxes.axis[averaged], box_of[averaged]
    counts = np.diff(boxes.run_ptr)[averaged]
    of = np.repeat(np.arange(len(axis)), counts)  # constraint of each run
    run = np.repeat(boxes.run_ptr[averaged] - np.cumsum(counts) + counts, counts)
    run += np.arange(len(of))
    first = boxes.ptr[axis][of]
    start, end = boxes.edges[first + boxes.run_lo[run]], boxes.edges[first + boxes.run_hi[run]]
    of, start, end = _inside(of, start, end, axis, region)
    length = np.bincount(of, end - start, minlength=len(axis)).astype(np.float64)
    ptr = np.searchsorted(box_of, np.arange(len(boxes.value) + 1))
    reach = np.ones(len(boxes.value))
    np.multiply.at(reach, box_of, length)
    run_ptr = np.searchsorted(of, np.arange(len(axis) + 1))
    return Parts(boxes.value, reach, ptr, axis, length, run_ptr, start, end, holds)


def _inside(
    of: IntArray, start: FloatArray, end: FloatArray, axis: IntArray, region: Box
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Runs of constraints cut to a region and measured in parts of it; their constraints ascend."""
    for j, allowed in region.items():
        here = axis[of] == j
        size = measure(allowed)
        pieces = [
            (of[here], np.maximum(start[here], low) / size, np.minimum(end[here], high) / size)
            for low, high in allowed
        ]
        of = np.concatenate([of[~here], *(p[0] for p in pieces)])
        start = np.concatenate([start[~here], *(p[1] for p in pieces)])
        end = np.concatenate([end[~here], *(p[2] for p in pieces)])
    some = np.flatnonzero(start < end)
    some = some[np.argsort(of[some], kind="stable")]
    return of[some], start[some], end[some]


@compiled
def _common(f: Any, c: int, g: Any, e: int) -> float:
    """Measure of what two constraints on one axis have in common, over the product of theirs."""
    common = 0.0
    for r in range(f.run_ptr[c], f.run_ptr[c + 1]):
        for s in range(g.run_ptr[e], g.run_ptr[e + 1]):
            overlap = min(f.end[r], g.end[s]) - max(f.start[r], g.start[s])
            if overlap > 0:
                common += overlap
    share: float = common / (f.length[c] * g.length[e])
    return share


@compiled
def product(f: Any, g: Any) -> Any:
    """Sums over pairs of boxes at every grid point: of measure times both values, and of measure."""
    points = f.holds.shape[1]
    total, mass = np.zeros(points), np.zeros(points)
    for b in range(len(f.value)):
        if f.reach[b] == 0.0:
            continue
        for e in range(len(g.value)):
            size = f.reach[b] * g.reach[e]
            c, k = f.ptr[b], g.ptr[e]
            while size > 0.0 and c < f.ptr[b + 1] and k < g.ptr[e + 1]:
                if f.axis[c] < g.axis[k]:
                    c += 1
                elif f.axis[c] > g.axis[k]:
                    k += 1
                else:
                    size *= _common(f, c, g, k)
                    c += 1
                    k += 1
            if size > 0.0:
                both = size * f.value[b] * g.value[e]
                for x in range(points):
                    if f.holds[b, x] and g.holds[e, x]:
                        total[x] += both
                        mass[x] += size
    return total, mass
