"""The leaves of a scikit-learn regression tree as weighted boxes of the latent unit cube.

From a cube to the columns that trees see, and from a tree back to the cube in three steps: cells
(here), boxes of the leaves (partition.py), boxes of the latents where axes are conditional (cutting.py).

Symbols of boxes.py, and
    X (n, d)              vectors, nan where an axis is inactive
    columns (c, 2)        (axis, level) of each tree column, level -1 for an ordered axis
    cut[i], axis[i], ...  of node i: where its threshold lies on the latent axis that it splits
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from hyperlens.spaces.cube import WHOLE, BoolArray, Box, Cube, FloatArray, IntArray

if TYPE_CHECKING:  # compiled code is loaded when the first boxes are cut
    from hyperlens.surrogates.random_forest.boxes import Boxes
    from hyperlens.surrogates.random_forest.cutting import Alternatives

INACTIVE = -1.0  # what a tree sees of an inactive coordinate


@dataclass(frozen=True)
class Encoding:
    """How a cube's vectors become the columns that trees split on, and back.

    Ordered axes (and categories of two levels) are one column; other categories one column a level.
    `order` permutes these columns.
    """

    cube: Cube
    order: IntArray | None = None

    # From vectors to tree columns

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
        table = np.empty((len(X), len(self.columns)), dtype=np.float32)
        for c, (j, level) in enumerate(self.columns):
            x = X[:, j]
            if level < 0:
                table[:, c] = np.where(np.isnan(x), INACTIVE, x)
            else:
                table[:, c] = self.cube.axes[j].level(np.nan_to_num(x)) == level
                table[np.isnan(x), c] = 0.0
        return table

    # The conditions as arrays, once for all trees

    @cached_property
    def condition_cuts(self) -> tuple[IntArray, FloatArray]:
        """(axis, place) of every cut that a condition makes on an ordered axis."""
        cuts = sorted(
            {
                (parent, end)
                for clauses in self.cube.conditions.values()
                for clause in clauses
                for parent, runs in clause
                if not self.many[parent]
                for end in (0.0, 1.0, *(end for run in runs for end in run))
            }
        )
        axes, places = [c[0] for c in cuts], [c[1] for c in cuts]
        return np.array(axes, dtype=np.int64), np.array(places, dtype=np.float64)

    @cached_property
    def alternatives(self) -> Alternatives:
        """Boxes over the ancestors of each axis, from Cube.activity_boxes; see cutting.py."""
        from hyperlens.surrogates.random_forest.cutting import Alternatives

        cuts = zip(*self.condition_cuts, strict=True)
        cut_index = {(int(j), float(x)): i for i, (j, x) in enumerate(cuts)}
        ptr, active, set_ptr, ancestor_ptr, ancestor = [0], [], [0], [0], []
        sets: list[tuple[int, int, int, int]] = []  # axis, cuts of its ends, place in masks
        masks: list[bool] = []
        for j in range(self.cube.d):
            if self.conditional[j]:
                ancestor += sorted(self.cube.ancestors(j))
                for on, boxes in zip((True, False), self.cube.activity_boxes(j), strict=True):
                    for box in (b for whole in boxes for b in self._single_runs(whole)):
                        active.append(on)
                        for parent, runs in sorted(box.items()):
                            if self.many[parent]:
                                sets.append((parent, 0, 0, len(masks)))
                                masks += list(self.cube.axes[parent].weights(runs) > 0)
                            else:
                                start, end = runs[0]
                                ends = cut_index[parent, start], cut_index[parent, end]
                                sets.append((parent, *ends, -1))
                        set_ptr.append(len(sets))
            ptr.append(len(active))
            ancestor_ptr.append(len(ancestor))

        def ints(x: list[int]) -> IntArray:
            return np.array(x, dtype=np.int64)

        set_axis, low, high, levels = np.array(sets, dtype=np.int64).reshape(-1, 4).T.copy()
        return Alternatives(
            ints(ptr), np.array(active, dtype=bool), ints(set_ptr), set_axis, low, high, levels,
            np.array(masks, dtype=bool), ints(ancestor_ptr), ints(ancestor),
        )  # fmt: skip

    def _single_runs(self, box: Box) -> list[Box]:
        """Cut a box so that its set on every ordered axis is one run."""
        choices = [
            [(j, runs)] if self.many[j] else [(j, (run,)) for run in runs]
            for j, runs in box.items()
        ]
        return [dict(choice) for choice in product(*choices)]

    # From a tree to boxes

    def boxes(
        self, tree: Any, forced: tuple[int, ...] = (), values: FloatArray | None = None
    ) -> Boxes:
        """Boxes of a fitted scikit-learn tree (its `tree_`), with its values or others by node.

        With `forced` axes only the latents where all of them are active are covered.
        """
        from hyperlens.surrogates.random_forest.boxes import Boxes, Cells
        from hyperlens.surrogates.random_forest.cutting import cut
        from hyperlens.surrogates.random_forest.partition import Nodes, partition

        feature = np.asarray(tree.feature, dtype=np.int64)
        split = feature >= 0
        column = np.where(split, feature, 0)
        node_axis = np.where(split, self.columns[column, 0], -1)
        node_level = np.where(split, self.columns[column, 1], -1)
        place = self._cuts(np.asarray(tree.threshold), node_axis, node_level)
        ptr, edges, node_cell, condition_cell = self._cells(place, node_axis, node_level)
        cells = Cells(ptr, edges, self.many, self.level_ptr)
        value = np.ascontiguousarray(tree.value[:, 0, 0] if values is None else values)
        left, right = map(np.ascontiguousarray, (tree.children_left, tree.children_right))
        nodes = Nodes(left, right, value, node_axis, node_level, node_cell)
        leaves, lacking = partition(nodes, cells, bool(self.cube.conditions))
        if self.cube.conditions:
            demand = np.zeros(self.cube.d, dtype=bool)
            demand[[j for j in forced if self.conditional[j]]] = True
            leaves = cut(
                leaves, lacking, self.conditional, demand, condition_cell, self.alternatives, cells
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
