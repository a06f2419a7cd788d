"""The leaves of a scikit-learn regression tree as weighted boxes of the latent unit cube.

A leaf is a product of sets, one for each axis that its path splits on. Where it constrains a
conditional axis it is cut into disjoint product boxes of the latents: (ancestors such that the axis
is active, axis inside the leaf's set) and, if the leaf also takes configurations that lack the axis,
(ancestors such that it is inactive, axis free).

Within one tree every axis is cut into cells: at the tree's thresholds and where a condition changes,
or one cell a level for a category with more than two levels. Sets are runs of cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from hyperlens.spaces.cube import WHOLE, BoolArray, Box, Cube, FloatArray, IntArray
from hyperlens.surrogates.random_forest.boxes import Boxes, Cells, walk
from hyperlens.surrogates.random_forest.cutting import Alternatives, cut

INACTIVE = -1.0  # what a tree sees of an inactive coordinate


@dataclass(frozen=True)
class Encoding:
    """How a cube's vectors become the columns that trees split on, and back.

    Ordered axes (and categories of two levels) are one column; other categories one column a level.
    `order` permutes these columns.
    """

    cube: Cube
    order: IntArray | None = None

    @cached_property
    def many(self) -> BoolArray:
        """Which axes are categories with more than two levels."""
        return np.array([not a.ordered and a.levels > 2 for a in self.cube.axes], dtype=bool)

    @cached_property
    def columns(self) -> IntArray:
        """(axis, level) of every column, level -1 for ordered axes; shape (columns, 2)."""
        pairs = [
            (j, level)
            for j, axis in enumerate(self.cube.axes)
            for level in (range(axis.levels) if self.many[j] else (-1,))
        ]
        columns = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        return columns if self.order is None else columns[self.order]

    @cached_property
    def level_ptr(self) -> IntArray:
        """Where the levels of each axis start in flat arrays; only categories of many have any."""
        sizes = [a.levels if m else 0 for a, m in zip(self.cube.axes, self.many, strict=True)]
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    @cached_property
    def conditional(self) -> BoolArray:
        return np.array([j in self.cube.conditions for j in range(self.cube.d)], dtype=bool)

    def apply(self, X: FloatArray) -> np.ndarray[Any, Any]:
        """Vectors (n, d) to tree columns (n, columns), single precision as scikit-learn wants."""
        seen = np.empty((len(X), len(self.columns)), dtype=np.float32)
        for c, (j, level) in enumerate(self.columns):
            x = X[:, j]
            if level < 0:
                seen[:, c] = np.where(np.isnan(x), INACTIVE, x)
            else:
                seen[:, c] = self.cube.axes[j].level(np.nan_to_num(x)) == level
                seen[np.isnan(x), c] = 0.0
        return seen

    @cached_property
    def condition_cuts(self) -> tuple[IntArray, FloatArray]:
        """(axis, place) of every cut that a condition makes on an ordered axis."""
        found = {
            (parent, end)
            for clauses in self.cube.conditions.values()
            for clause in clauses
            for parent, runs in clause
            if not self.many[parent]
            for end in (0.0, 1.0, *(end for run in runs for end in run))
        }
        cuts = sorted(found)
        return (
            np.array([c[0] for c in cuts], dtype=np.int64),
            np.array([c[1] for c in cuts], dtype=np.float64),
        )

    @cached_property
    def alternatives(self) -> Alternatives:
        cut_index = {
            (int(j), float(x)): i for i, (j, x) in enumerate(zip(*self.condition_cuts, strict=True))
        }
        ptr, active, set_ptr = [0], [], [0]
        set_axis, set_low, set_high, set_levels = [], [], [], []
        masks: list[bool] = []
        ancestor_ptr, ancestor = [0], []
        for j in range(self.cube.d):
            if self.conditional[j]:
                ancestor += sorted(self.cube.ancestors(j))
                for is_active, boxes in zip(
                    (True, False), self.cube.activity_boxes(j), strict=True
                ):
                    for box in (b for whole in boxes for b in self._single_runs(whole)):
                        active.append(is_active)
                        for parent, runs in sorted(box.items()):
                            set_axis.append(parent)
                            if self.many[parent]:
                                axis = self.cube.axes[parent]
                                set_low.append(0)
                                set_high.append(0)
                                set_levels.append(len(masks))
                                masks += list(axis.weights(runs) > 0)
                            else:
                                low, high = runs[0]
                                set_low.append(cut_index[parent, low])
                                set_high.append(cut_index[parent, high])
                                set_levels.append(-1)
                        set_ptr.append(len(set_axis))
            ptr.append(len(active))
            ancestor_ptr.append(len(ancestor))

        def ints(x: list[int]) -> IntArray:
            return np.array(x, dtype=np.int64)

        return Alternatives(
            ints(ptr), np.array(active, dtype=bool), ints(set_ptr), ints(set_axis), ints(set_low),
            ints(set_high), ints(set_levels), np.array(masks, dtype=bool), ints(ancestor_ptr),
            ints(ancestor),
        )  # fmt: skip

    def _single_runs(self, box: Box) -> list[Box]:
        """Cut a box so that its set on every ordered axis is one run."""
        choices = [
            [(j, runs)] if self.many[j] else [(j, (run,)) for run in runs]
            for j, runs in box.items()
        ]
        return [dict(choice) for choice in product(*choices)]

    def boxes(
        self, tree: Any, forced: tuple[int, ...] = (), values: FloatArray | None = None
    ) -> Boxes:
        """Boxes of a fitted scikit-learn tree (its `tree_`), with its values or others by node.

        With `forced` axes only the latents where all of them are active are covered.
        """
        feature = np.asarray(tree.feature, dtype=np.int64)
        split = feature >= 0
        column = np.where(split, feature, 0)
        node_axis = np.where(split, self.columns[column, 0], -1)
        node_level = np.where(split, self.columns[column, 1], -1)
        place = self._cuts(np.asarray(tree.threshold), node_axis, node_level)
        ptr, edges, node_cell, condition_cell = self._cells(place, node_axis, node_level)
        cells = Cells(ptr, edges, self.many, self.level_ptr)
        leaves, lacking = walk(
            np.asarray(tree.children_left), np.asarray(tree.children_right),
            np.ascontiguousarray(tree.value[:, 0, 0] if values is None else values),
            node_axis, node_level, node_cell, cells,
            bool(self.cube.conditions),
        )  # fmt: skip
        if self.cube.conditions:
            demand = np.zeros(self.cube.d, dtype=bool)
            demand[[j for j in forced if self.conditional[j]]] = True
            leaves = cut(
                leaves,
                lacking,
                self.conditional,
                demand,
                condition_cell,
                self.alternatives,
                cells,
                False,
            )
        return Boxes._make((*leaves, ptr, edges))

    def _cuts(self, threshold: FloatArray, axis: IntArray, level: IntArray) -> FloatArray:
        """Where on its latent axis each node's threshold cuts; 0 if it only parts the inactive."""
        cut = np.clip(threshold, 0.0, 1.0)
        for j, a in enumerate(self.cube.axes):
            if a.codes is not None and not self.many[j]:
                at = np.flatnonzero((axis == j) & (level < 0))
                assert a.edges is not None
                codes = a.codes.astype(np.float32)  # as the tree saw them
                cut[at] = a.edges[np.searchsorted(codes, threshold[at], side="right")]
        return cut

    def _cells(
        self, cut: FloatArray, axis: IntArray, level: IntArray
    ) -> tuple[IntArray, FloatArray, IntArray, IntArray]:
        """Cell ends of all axes, and the cell index of each node's and each condition's cut."""
        d = self.cube.d
        nodes = np.flatnonzero((axis >= 0) & (level < 0))
        condition_axis, condition_cut = self.condition_cuts
        ends_axis, ends_cut = self._fixed_ends
        axes = np.concatenate([ends_axis, axis[nodes], condition_axis])
        places = np.concatenate([ends_cut, cut[nodes], condition_cut])
        order = np.lexsort((places, axes))
        new = np.ones(len(order), dtype=bool)
        a, p = axes[order], places[order]
        new[1:] = (a[1:] != a[:-1]) | (p[1:] != p[:-1])
        position = np.cumsum(new) - 1
        edges = p[new]
        ptr = np.searchsorted(a[new], np.arange(d + 1)).astype(np.int64)
        index = np.empty(len(order), dtype=np.int64)
        index[order] = position - ptr[a]
        node_cell = np.zeros(len(axis), dtype=np.int64)
        first = len(ends_axis)
        node_cell[nodes] = index[first : first + len(nodes)]
        return ptr, edges, node_cell, index[first + len(nodes) :]

    @cached_property
    def _fixed_ends(self) -> tuple[IntArray, FloatArray]:
        axes: list[int] = []
        places: list[float] = []
        for j, axis in enumerate(self.cube.axes):
            ends = axis.edges if self.many[j] else WHOLE[0]
            assert ends is not None
            axes += [j] * len(ends)
            places += [float(e) for e in ends]
        return np.array(axes, dtype=np.int64), np.array(places)
