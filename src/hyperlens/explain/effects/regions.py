"""Regions of the space in which an effect is known more surely (Moosbauer et al. 2021 section 5).

Symbols
    targets    what regions should be alike in: curves of the variance along the parameter, Eq. 6
    impurity   sum of squared distances to the mean curve of a region, Eq. 6
    MC, OC     mean standard deviation over the grid, and that next to the best trial
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import scipy

from hyperlens.errors import AnalysisError
from hyperlens.explain.effects import region_words as words
from hyperlens.explain.effects.averaging import averaged
from hyperlens.explain.effects.splits import Split, category_split, impurity, ordered_split
from hyperlens.explain.models.curves import Curves, curves
from hyperlens.explain.models.fitting import Fitted
from hyperlens.explain.models.leader import named_or_leader
from hyperlens.explain.models.verdict import Ground, Verdict, grounds, judge, of_region
from hyperlens.record import Record, written_out
from hyperlens.runs.history import History
from hyperlens.spaces.cube import WHOLE, BoolArray, FloatArray, Runs, inside_box, intersect
from hyperlens.spaces.rules import rule_in_words, sides
from hyperlens.surrogates.quality import Quality
from hyperlens.surrogates.threads import one_thread
from hyperlens.tables import Column, Table, table
from hyperlens.words import number, tenths

if TYPE_CHECKING:
    import pandas as pd

Criterion = Literal["l2", "area", "variance", "mean"]
STD = (
    "Standard deviation of the surrogate's prediction, averaged over the parameter's grid and over "
    "the region: how surely the effect is known there."
)


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


@dataclass(frozen=True)
class Regions(Record):
    """A tree of regions for one parameter; `split` and `merge` grow and shrink it step by step."""

    objective: str
    maximize: bool
    parameter: str
    values: tuple[Any, ...]
    log: bool
    numeric: bool
    criterion: Criterion
    curve: str
    surrogate: str
    level: float
    best_value: Any
    tree: tuple[Region, ...]
    quality: Quality
    grounds: tuple[Ground, ...]  # of the verdict, whatever the regions
    notes: tuple[str, ...]
    _grower: Grower | None = field(default=None, repr=False, compare=False)

    @property
    def verdict(self) -> Verdict:
        """On the region that the sentence speaks of."""
        spoken = self.highlighted(self.splits)
        return judge((*self.grounds, of_region(spoken.rule, spoken.trials)))

    @property
    def leaves(self) -> tuple[Region, ...]:
        return tuple(r for r in self.tree if r.children is None)

    @property
    def best(self) -> Region | None:
        """The leaf that holds the best trial."""
        return next((r for r in self.leaves if r.holds_best), None)

    @property
    def splits(self) -> int:
        """How many splits made the tree."""
        return len(self.tree) - len(self.leaves)

    @property
    def leaf_after(self) -> dict[int, range]:
        """After which numbers of splits each region is a leaf: from its making to its own split."""
        inner = sorted((*r.children, r.id) for r in self.tree if r.children is not None)
        made = {child: k for k, (*pair, _) in enumerate(inner, 1) for child in pair}
        split = {parent: k for k, (*_, parent) in enumerate(inner, 1)}
        end = len(inner) + 1
        return {r.id: range(made.get(r.id, 0), split.get(r.id, end)) for r in self.tree}

    def highlighted(self, after: int) -> Region:
        """The leaf to look at after so many splits: the best trial's, else the surest."""
        leaves = [r for r in self.tree if after in self.leaf_after[r.id]]
        return min(leaves, key=lambda r: (not r.holds_best, r.confidence))

    @property
    def sentence(self) -> str:
        """How much surer the effect is in the best trial's region than over the whole space."""
        return words.sentence(self)

    @property
    def caveat(self) -> str:
        """Which numbers these are, and where not to trust the curve."""
        return words.caveat(self)

    @property
    def lead(self) -> tuple[str, ...]:
        return self.sentence, self.caveat

    @property
    def tables(self) -> tuple[Table, ...]:
        """The whole space, then each leaf."""
        rows = (self.tree[0], *(self.leaves if len(self.tree) > 1 else ()))
        part = "Part of the space in which the parameter is active."
        trials = "How many analysed trials lie in the region."
        return (
            table(
                Column("rule", [r.rule for r in rows]),
                Column("share of the space", [r.share for r in rows], tenths, part),
                Column("trials", [r.trials for r in rows], number, trials),
                Column("mean std", [r.confidence for r in rows], lambda s: f"±{number(s)}", STD),
                Column("best trial", ["here" if r.holds_best else "" for r in rows]),
            ),
        )

    @property
    def drawn(self) -> Curves | None:
        """The sampled configurations whose curves were compared."""
        return None if self._grower is None else self._grower.drawn

    def _columns(self) -> dict[str, Any]:
        """One row a leaf."""
        names = ("id", "rule", "share", "points", "trials", "confidence", "holds_best")
        return {name: [getattr(leaf, name) for leaf in self.leaves] for name in names}

    @property
    def curves(self) -> pd.DataFrame:
        """The effect in every region of the tree, one row a region and value."""
        import pandas as pd

        rows = [
            (r.id, r.rule, value, *numbers)
            for r in self.tree
            for value, *numbers in zip(self.values, r.mean, r.low, r.high, strict=True)
        ]
        names = ["id", "rule", written_out(self.parameter), "mean", "low", "high"]
        # texts as they are, whatever is in them
        return pd.DataFrame(rows, columns=names, dtype=object)

    def split(self, region: int) -> Regions:
        """Split one leaf where it gains most."""
        if self._grower is None:
            raise AnalysisError("This record is apart from its run; compute the regions again.")
        return self._grower.split(self, region)

    def merge(self, region: int) -> Regions:
        """Take back the split of a region and everything below it."""
        gone = {region}
        kept = []
        for r in self.tree:
            if r.parent in gone:
                gone.add(r.id)
            else:
                kept.append(replace(r, children=None) if r.id == region else r)
        return replace(self, tree=tuple(kept))


def regions(
    history: History,
    parameter: str,
    *,
    levels: int | None = None,
    splits: int | None = None,
    until: float | None = None,
    min_size: int = 2,
    min_improvement: float = 0.0,
    criterion: Criterion = "l2",
    curve: Literal["variance", "std"] = "variance",
    surrogate: Any = None,
    level: float = 0.95,
    grid: int = 20,
    sample: int = 1024,
    seed: int = 0,
    objective: str | None = None,
) -> Regions:
    """Split the space so that the uncertainty of `parameter`'s effect is alike within each region.

    `levels` splits every region that many times over; `splits` splits best first; `until` splits the
    best trial's region until its mean standard deviation is at most that. The default is three levels.
    A split must leave `min_size` points on both sides and take away the part `min_improvement` of the
    impurity of the whole space. `surrogate` is the run's leader unless one is named or given, as for
    an effect.
    """
    _check(criterion, levels, splits, until)
    column = history.space.column(parameter)
    fitted = named_or_leader(history, surrogate, seed=seed, objective=objective)
    codes, values = history.space.grid(parameter, grid)
    with one_thread():
        drawn = curves(fitted.model, history.space.cube, (column,), codes[:, None], sample, seed)
    grower = Grower(
        history, objective, parameter, column, codes, fitted, level, drawn,
        _targets(fitted, history, drawn, criterion, curve), min_size, min_improvement, seed,
    )  # fmt: skip
    target = history.objective(objective)
    tree = Regions(
        objective=target.name,
        maximize=target.maximize,
        parameter=parameter,
        values=tuple(values),
        log=history.space[parameter].log,
        numeric=history.space[parameter].numeric,
        criterion=criterion,
        curve=curve,
        surrogate=fitted.name,
        level=level,
        best_value=history.best(objective).values.get(parameter),
        tree=(grower.root(),),
        quality=fitted.quality,
        grounds=grounds(history, fitted, (column,)),
        notes=fitted.notes,
        _grower=grower,
    )
    return grower.grown(tree, levels, splits, until)


def _check(criterion: str, *stops: float | None) -> None:
    if criterion not in get_args(Criterion):
        raise AnalysisError(
            f"There is no criterion '{criterion}'; choose 'l2', 'area', 'variance' or 'mean'."
        )
    if sum(stop is not None for stop in stops) > 1:
        raise AnalysisError("Levels, splits and until exclude each other; give one of them.")


def _targets(
    fitted: Fitted, history: History, drawn: Curves, criterion: Criterion, curve: str
) -> FloatArray:
    """A curve or a number for each configuration (Moosbauer et al. 2021 C.3.2)."""
    if criterion in ("variance", "mean"):
        mean, std = fitted.model.predict(history.space.cube.vectors(drawn.latents))
        return (mean if criterion == "mean" else std**2)[:, None]
    T = np.sqrt(drawn.variance) if curve == "std" else drawn.variance
    T = np.where(np.isnan(T), np.nanmean(T, axis=0), T)
    return T.mean(axis=1, keepdims=True) if criterion == "area" else T


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

    def root(self) -> Region:
        return self._region(0, None, 0, {})

    def grown(
        self, tree: Regions, levels: int | None, splits: int | None, until: float | None
    ) -> Regions:
        if until is not None:
            tree = self.until(tree, until)
        elif splits is not None:
            tree = self.best_first(tree, splits)
        else:
            tree = self.by_levels(tree, 3 if levels is None else levels)
        return replace(tree, tree=self.known(tree.tree))

    def split(self, tree: Regions, region: int) -> Regions:
        leaf = next((r for r in tree.leaves if r.id == region), None)
        if leaf is None:
            known = ", ".join(str(r.id) for r in tree.leaves)
            raise AnalysisError(f"There is no leaf {region}; choose one of {known}.")
        chosen = self._best(leaf)
        if chosen is None:
            raise AnalysisError(f"Region {region} cannot be split further; choose another one.")
        grown = self._apply(tree, leaf, chosen)
        return replace(grown, tree=self.known(grown.tree))

    def by_levels(self, tree: Regions, levels: int) -> Regions:
        for depth in range(levels):
            for leaf in tree.leaves:
                if leaf.level == depth and (chosen := self._best(leaf)):
                    tree = self._apply(tree, leaf, chosen)
        return tree

    def best_first(self, tree: Regions, splits: int) -> Regions:
        heap: list[tuple[float, int, Region, Split]] = []

        def offer(leaf: Region) -> None:
            if chosen := self._best(leaf):
                heapq.heappush(heap, (-chosen.gain, leaf.id, leaf, chosen))

        offer(tree.tree[0])
        for _ in range(splits):
            if not heap:
                break
            _, _, leaf, chosen = heapq.heappop(heap)
            before = len(tree.tree)
            tree = self._apply(tree, leaf, chosen)
            for child in tree.tree[before:]:
                offer(child)
        return tree

    def until(self, tree: Regions, confidence: float) -> Regions:
        while leaf := tree.best:
            if self.known((replace(leaf, parent=None),))[0].confidence <= confidence:
                break
            chosen = self._best(leaf)
            if chosen is None:
                note = f"No further split brings the mean standard deviation to {confidence:g}."
                return replace(tree, notes=(*tree.notes, note))
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

    def _apply(self, tree: Regions, leaf: Region, chosen: Split) -> Regions:
        box = dict(leaf.box)
        rows = np.flatnonzero(self._rows(box))
        j = chosen.column
        x = self.drawn.latents[rows, j]
        axis = self.history.space.cube.axes[j]
        left, right = sides(self.history.space.parameters[j], axis, x, chosen.left)
        first = max(r.id for r in tree.tree) + 1
        children = [
            self._region(
                first + k, leaf.id, leaf.level + 1, box | {j: intersect(box.get(j, WHOLE), side)}
            )
            for k, side in enumerate((left, right))
        ]
        old = [replace(r, children=(first, first + 1)) if r.id == leaf.id else r for r in tree.tree]
        return replace(tree, tree=(*old, *children))

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

    def known(self, tree: tuple[Region, ...]) -> tuple[Region, ...]:
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
