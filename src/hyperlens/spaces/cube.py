"""The unit cube that surrogates work on: what each axis is and when it is active.

Every parameter owns one latent coordinate, uniform on [0, 1] and independent of the others. A
*vector* is what a surrogate sees of a latent point: discrete coordinates snap to the code of their
level, inactive coordinates are nan.

Symbols
    n, d     number of points, and of axes (columns of a vector)
    latents  (n, d), each coordinate uniform on [0, 1]
    vectors  (n, d), codes of levels, nan where inactive
    runs     a subset of an axis: disjoint half-open intervals of [0, 1], ascending
    box      a product of such subsets: {column: runs}, columns not named are free
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

Runs = tuple[tuple[float, float], ...]
Box = Mapping[int, Runs]
Clause = tuple[tuple[int, Runs], ...]  # all of (parent column, where it must lie)

WHOLE: Runs = ((0.0, 1.0),)
_SLIVER = 1e-14  # the single number between "less than v" and "greater than v" has no measure


@dataclass(frozen=True)
class Axis:
    """One coordinate. Continuous without `edges`; otherwise level k owns [edges[k], edges[k+1]).

    `edges` has shape (levels + 1,), `codes` (levels,): `codes[k]` stands for level k in a vector and
    lies inside the level's cell.
    `ordered` is False for categories, whose levels have no order and no distance.
    """

    edges: FloatArray | None = None
    codes: FloatArray | None = None
    ordered: bool = True

    @staticmethod
    def categorical(levels: int) -> Axis:
        edges = np.arange(levels + 1) / levels
        return Axis(edges, (edges[:-1] + edges[1:]) / 2, ordered=False)

    @property
    def levels(self) -> int:
        """Number of levels, 0 for a continuous axis."""
        return 0 if self.codes is None else len(self.codes)

    def level(self, x: FloatArray) -> IntArray:
        """Level of each latent or coded number on a discrete axis, (n,) -> (n,)."""
        assert self.edges is not None
        cell = np.searchsorted(self.edges, x, side="right") - 1
        return np.asarray(np.clip(cell, 0, self.levels - 1), dtype=np.int64)

    def snap(self, latent: FloatArray) -> FloatArray:
        """The code that each latent number shows as, (n,) -> (n,)."""
        if self.codes is None:
            return latent
        return np.asarray(self.codes[self.level(latent)])

    def weights(self, runs: Runs = WHOLE) -> FloatArray:
        """Measure of each level inside `runs`, shape (levels,)."""
        assert self.edges is not None
        inside = np.zeros(self.levels)
        for low, high in runs:
            inside += np.diff(np.clip(self.edges, low, high))
        return inside


@dataclass(frozen=True)
class Scenario:
    """A box of latents in which activity does not change. `runs[i]` is None where inactive."""

    columns: tuple[int, ...]
    runs: tuple[Runs | None, ...]
    weight: float


@dataclass(frozen=True)
class Cube:
    """Axes and conditions. A column is active when any clause holds, its parents active."""

    axes: tuple[Axis, ...]
    conditions: Mapping[int, tuple[Clause, ...]] = field(default_factory=dict)

    @staticmethod
    def continuous(d: int) -> Cube:
        return Cube(tuple(Axis() for _ in range(d)))

    @property
    def d(self) -> int:
        return len(self.axes)

    def parents(self, column: int) -> frozenset[int]:
        return frozenset(p for clause in self.conditions.get(column, ()) for p, _ in clause)

    def ancestors(self, column: int) -> frozenset[int]:
        parents = self.parents(column)
        return parents.union(*map(self.ancestors, parents))

    @cached_property
    def order(self) -> tuple[int, ...]:
        """All columns, parents before children."""
        depth = {c: self._depth(c) for c in range(self.d)}
        return tuple(sorted(range(self.d), key=lambda c: (depth[c], c)))

    def _depth(self, column: int) -> int:
        return 1 + max((self._depth(p) for p in self.parents(column)), default=-1)

    @cached_property
    def blocks(self) -> tuple[tuple[int, ...], ...]:
        """Columns grouped so that activity in one block does not depend on another."""
        block_of = list(range(self.d))
        for child in self.conditions:
            for parent in self.parents(child):
                old, new = block_of[child], block_of[parent]
                block_of = [new if b == old else b for b in block_of]
        return tuple(
            tuple(c for c in self.order if block_of[c] == b) for b in sorted(set(block_of))
        )

    def active(self, latents: FloatArray) -> BoolArray:
        """Which coordinates of latent points are active, (n, d) -> (n, d)."""
        active = np.ones(latents.shape, dtype=bool)
        for column in self.order:
            if column in self.conditions:
                holds = np.zeros(len(latents), dtype=bool)
                for clause in self.conditions[column]:
                    met = np.ones(len(latents), dtype=bool)
                    for parent, runs in clause:
                        met &= active[:, parent] & contains(runs, latents[:, parent])
                    holds |= met
                active[:, column] = holds
        return active

    def vectors(self, latents: FloatArray) -> FloatArray:
        """What a surrogate sees of latent points: codes, nan where inactive, (n, d) -> (n, d)."""
        vectors = np.empty(latents.shape)
        for j, axis in enumerate(self.axes):
            vectors[:, j] = axis.snap(latents[:, j])
        if self.conditions:
            vectors[~self.active(latents)] = np.nan
        return vectors

    def scenarios(self, columns: tuple[int, ...]) -> Iterator[Scenario]:
        """Disjoint boxes that cover the latents of `columns` (closed under parents).

        Activity is constant within each; their weights sum to one.
        """
        ordered = tuple(c for c in self.order if c in set(columns))
        parts = {c: self._parts(c, ordered) for c in ordered}

        def grow(index: int, part: dict[int, Runs | None], weight: float) -> Iterator[Scenario]:
            if index == len(ordered):
                yield Scenario(ordered, tuple(part[c] for c in ordered), weight)
                return
            column = ordered[index]
            if self._holds(column, part):
                for runs in parts[column]:
                    yield from grow(index + 1, {**part, column: runs}, weight * measure(runs))
            else:
                yield from grow(index + 1, {**part, column: None}, weight)

        yield from grow(0, {}, 1.0)

    def share(self, box: Box, active: tuple[int, ...] = ()) -> float:
        """Measure of the latents where all of `active` and of `box` are active and inside `box`."""
        total = 1.0
        for block in self.blocks:
            sides = {c: box.get(c, WHOLE) for c in block if c in box or c in active}
            if not sides:
                continue
            inside = 0.0
            for scenario in self.scenarios(block):
                part = scenario.weight
                for column, runs in zip(scenario.columns, scenario.runs, strict=True):
                    if column in sides:
                        common = () if runs is None else intersect(runs, sides[column])
                        part *= measure(common) / measure(runs or WHOLE)
                inside += part
            total *= inside
        return total

    def descendants(self, column: int) -> frozenset[int]:
        return frozenset(c for c in range(self.d) if column in self.ancestors(c))

    def activity_boxes(self, column: int) -> tuple[tuple[Box, ...], tuple[Box, ...]]:
        """Disjoint boxes over the ancestors of `column`: where it is active, where it is not."""
        active: list[Box] = []
        inactive: list[Box] = []
        for scenario in self.scenarios((*self.ancestors(column), column)):
            sides = dict(zip(scenario.columns, scenario.runs, strict=True))
            own = sides.pop(column)
            box = {c: runs for c, runs in sides.items() if runs is not None and runs != WHOLE}
            (inactive if own is None else active).append(box)
        return tuple(active), tuple(inactive)

    def _holds(self, column: int, part: Mapping[int, Runs | None]) -> bool:
        """Is `column` active, given the runs that each parent lies in?"""
        if column not in self.conditions:
            return True
        return any(
            all(measure(intersect(part[parent] or (), runs)) > 0 for parent, runs in clause)
            for clause in self.conditions[column]
        )

    def _parts(self, column: int, among: tuple[int, ...]) -> tuple[Runs, ...]:
        """Cut an axis so that no condition of a column in `among` changes within a part."""
        mentions = [
            runs
            for child in among
            for clause in self.conditions.get(child, ())
            for parent, runs in clause
            if parent == column
        ]
        cuts = sorted({0.0, 1.0, *(end for runs in mentions for run in runs for end in run)})
        groups: dict[tuple[bool, ...], list[tuple[float, float]]] = {}
        for low, high in pairwise(cuts):
            if high - low < _SLIVER:
                continue
            middle = np.array([(low + high) / 2])
            signature = tuple(bool(contains(runs, middle)[0]) for runs in mentions)
            groups.setdefault(signature, []).append((low, high))
        return tuple(map(joined, groups.values()))


def joined(runs: Iterable[tuple[float, float]]) -> Runs:
    """Ascending runs with neighbours that touch merged."""
    merged: list[tuple[float, float]] = []
    for low, high in runs:
        if merged and merged[-1][1] == low:
            merged[-1] = (merged[-1][0], high)
        else:
            merged.append((low, high))
    return tuple(merged)


def measure(runs: Runs) -> float:
    """Total length."""
    return sum(high - low for low, high in runs)


def contains(runs: Runs, x: FloatArray) -> BoolArray:
    """Which numbers (n,) lie in `runs`; the end point 1 belongs to the last run that reaches it."""
    inside = np.zeros(x.shape, dtype=bool)
    for low, high in runs:
        inside |= (x >= low) & ((x < high) | (high >= 1.0))
    return inside


def inside_box(points: FloatArray, box: Box) -> BoolArray:
    """Which rows (n, d) lie in the box; nan, an inactive coordinate, lies outside."""
    inside = np.ones(len(points), dtype=bool)
    for column, runs in box.items():
        inside &= contains(runs, points[:, column])
    return inside


def intersect(a: Runs, b: Runs) -> Runs:
    """Common part, possibly empty."""
    pairs = ((max(p[0], q[0]), min(p[1], q[1])) for p in a for q in b)
    return tuple(sorted((low, high) for low, high in pairs if low < high))
