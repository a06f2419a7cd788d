"""A tree of regions, grown split by split (Moosbauer et al. 2021 Algorithm 1).

Symbols
    targets    what regions should be alike in, a row for each sampled configuration
    MC, OC     mean standard deviation over the grid, and that next to the best trial
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import scipy

from hyperlens.errors import AnalysisError
from hyperlens.explain.effects.averaging import averaged
from hyperlens.explain.effects.splits import Split, category_split, impurity, ordered_split
from hyperlens.explain.models.curves import Curves
from hyperlens.explain.models.fitting import Fitted
from hyperlens.runs.history import History
from hyperlens.spaces.cube import WHOLE, BoolArray, FloatArray, Runs, inside_box, intersect
from hyperlens.spaces.rules import rule_in_words, sides

LEVELS = 3  # of a tree of which nothing else is asked


@dataclass(frozen=True)
class Region:
    """A node of the tree: a box of the space and the effect in it, in the user's direction."""

    id: int
    parent: int | None
    level: int
    rule: str
    share: float  # of the space in which the parameter is active
    points: int  # of the sample
    trials: int
    confidence: float  # MC
    confidence_best: float  # OC
    holds_best: bool
    mean: FloatArray
    std: FloatArray
    low: FloatArray
    high: FloatArray
    box: Mapping[int, Runs] = field(repr=False)  # column -> part of its axis
    children: tuple[int, int] | None = None


Tree = tuple[Region, ...]  # the whole space first, children after their parents


def leaves(tree: Tree) -> Tree:
    return tuple(region for region in tree if region.children is None)


def leaf_of_best(tree: Tree) -> Region | None:
    """The leaf that holds the best trial."""
    return next((region for region in leaves(tree) if region.holds_best), None)


@dataclass(frozen=True)
class Grower:
    """What growing a tree of regions needs beside the tree."""

    history: History
    objective: str | None
    parameter: str
    column: int
    codes: FloatArray
    fitted: Fitted
    level: float
    drawn: Curves
    targets: FloatArray
    min_size: int
    min_improvement: float
    seed: int

    # Growing: by levels, best first, or until the best trial's region is sure enough

    def grown(self, levels: int | None, splits: int | None, until: float | None) -> Tree:
        root = (self._region(0, None, 0, {}),)
        if until is not None:
            tree = self.until(root, until)
        elif splits is not None:
            tree = self.best_first(root, splits)
        else:
            tree = self.by_levels(root, LEVELS if levels is None else levels)
        return self.known(tree)

    def split(self, tree: Tree, region: int) -> Tree:
        leaf = next((r for r in leaves(tree) if r.id == region), None)
        if leaf is None:
            known = ", ".join(str(r.id) for r in leaves(tree))
            raise AnalysisError(f"There is no leaf {region}; choose one of {known}.")
        chosen = self._best(leaf)
        if chosen is None:
            raise AnalysisError(f"Region {region} cannot be split further; choose another one.")
        return self.known(self._apply(tree, leaf, chosen))

    def by_levels(self, tree: Tree, levels: int) -> Tree:
        for depth in range(levels):
            for leaf in leaves(tree):
                if leaf.level == depth and (chosen := self._best(leaf)):
                    tree = self._apply(tree, leaf, chosen)
        return tree

    def best_first(self, tree: Tree, splits: int) -> Tree:
        heap: list[tuple[float, int, Region, Split]] = []

        def offer(leaf: Region) -> None:
            if chosen := self._best(leaf):
                heapq.heappush(heap, (-chosen.gain, leaf.id, leaf, chosen))

        offer(tree[0])
        for _ in range(splits):
            if not heap:
                break
            _, _, leaf, chosen = heapq.heappop(heap)
            before = len(tree)
            tree = self._apply(tree, leaf, chosen)
            for child in tree[before:]:
                offer(child)
        return tree

    def until(self, tree: Tree, confidence: float) -> Tree:
        while leaf := leaf_of_best(tree):
            if self.known((replace(leaf, parent=None),))[0].confidence <= confidence:
                break
            chosen = self._best(leaf)
            if chosen is None:
                break
            tree = self._apply(tree, leaf, chosen)
        return tree

    # One step of Algorithm 1: the best split of a node, and its two regions

    def _best(self, leaf: Region) -> Split | None:
        """The split that gains most among columns active in the whole node (Appendix B)."""
        rows = self._rows(leaf.box)
        T = self.targets[rows]
        cube = self.history.space.cube
        active = np.asarray(cube.active(self.drawn.latents[rows]).all(axis=0))
        barred = {self.column} | cube.descendants(self.column)
        options = []
        for j in range(cube.d):
            if j in barred or not active[j] or len(T) < 2:
                continue
            x = self.drawn.latents[rows, j]
            axis = cube.axes[j]
            if axis.codes is not None and not axis.ordered:
                split = category_split(j, axis.level(x), T, self.min_size)
            else:
                split = ordered_split(j, axis.snap(x), T, self.min_size)
            if split is not None:
                options.append(split)
        best = max(options, key=lambda s: s.gain, default=None)
        floor = max(self.min_improvement * impurity(self.targets), 1e-300)
        return best if best is not None and best.gain >= floor else None

    def _apply(self, tree: Tree, leaf: Region, chosen: Split) -> Tree:
        box = dict(leaf.box)
        rows = np.flatnonzero(self._rows(box))
        j = chosen.column
        x = self.drawn.latents[rows, j]
        axis = self.history.space.cube.axes[j]
        left, right = sides(self.history.space.parameters[j], axis, x, chosen.left)
        first = max(r.id for r in tree) + 1
        children = [
            self._region(
                first + k, leaf.id, leaf.level + 1, box | {j: intersect(box.get(j, WHOLE), side)}
            )
            for k, side in enumerate((left, right))
        ]
        old = [replace(r, children=(first, first + 1)) if r.id == leaf.id else r for r in tree]
        return (*old, *children)

    def _region(self, id: int, parent: int | None, depth: int, box: dict[int, Runs]) -> Region:
        """A region whose effect is still to be computed."""
        cube = self.history.space.cube
        best = self.history.space.encode([self.history.best(self.objective).values])
        unknown = np.full(len(self.codes), np.nan)
        return Region(
            id=id,
            parent=parent,
            level=depth,
            rule=rule_in_words(self.history.space, box),
            share=cube.share(box, (self.column,)) / cube.share({}, (self.column,)),
            points=int(self._rows(box).sum()),
            trials=int(inside_box(self.fitted.training.X, box | {self.column: WHOLE}).sum()),
            confidence=math.nan,
            confidence_best=math.nan,
            holds_best=bool(inside_box(best, box | {self.column: WHOLE})[0]),
            mean=unknown,
            std=unknown,
            low=unknown,
            high=unknown,
            box=box,
        )

    # The effect in each region: exact in the leaves (Eq. 5), weighted means above them

    def known(self, tree: Tree) -> Tree:
        """The same tree with every effect: exact in leaves, inner ones as weighted means of theirs.

        Both the mean and the mean of pointwise variances (Eq. 5) of a region are the means of its
        parts' by their share of the space.
        """
        by_id: dict[int, Region] = {}
        for region in reversed(tree):  # children come after parents
            if not np.isnan(region.mean).all():
                by_id[region.id] = region
            elif region.children is None:
                average = averaged(
                    self.fitted, (self.column,), self.codes[:, None], self.seed, region.box
                )
                sign = self.history.objective(self.objective).sign
                by_id[region.id] = self._with(region, sign * average.mean, average.pointwise)
            else:
                parts = [by_id[k] for k in region.children]
                weights = [p.share for p in parts]
                mean = np.average([p.mean for p in parts], axis=0, weights=weights)
                variance = np.average([p.std**2 for p in parts], axis=0, weights=weights)
                by_id[region.id] = self._with(region, mean, variance)
        return tuple(by_id[region.id] for region in tree)

    def _with(self, region: Region, mean: FloatArray, variance: FloatArray) -> Region:
        std = np.sqrt(variance)
        reach = float(scipy.stats.norm.ppf((1 + self.level) / 2)) * std
        best = self.history.space.encode([self.history.best(self.objective).values])
        near = best[0, self.column]
        at = None if np.isnan(near) else int(np.argmin(np.abs(self.codes - near)))
        return replace(
            region,
            mean=mean,
            std=std,
            low=mean - reach,
            high=mean + reach,
            confidence=float(np.nanmean(std)),
            confidence_best=math.nan if at is None else float(std[at]),
        )

    def _rows(self, box: Mapping[int, Runs]) -> BoolArray:
        return inside_box(self.drawn.latents, box)
