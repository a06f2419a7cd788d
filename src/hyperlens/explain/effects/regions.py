"""Regions of the space in which an effect is known more surely (Moosbauer et al. 2021 section 5).

Symbols
    targets    what regions should be alike in: curves of the variance along the parameter, Eq. 6
    impurity   sum of squared distances to the mean curve of a region, Eq. 6
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.explain.effects import region_words as words
from hyperlens.explain.effects.region_tree import Grower, Region, Tree, leaf_of_best, leaves
from hyperlens.explain.models.curves import Curves, curves
from hyperlens.explain.models.fitting import Fitted
from hyperlens.explain.models.leader import named_or_leader
from hyperlens.explain.models.verdict import Ground, Verdict, grounds, judge, of_region
from hyperlens.record import Record, written_out
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History
from hyperlens.spaces.cube import FloatArray
from hyperlens.surrogates.quality import Quality
from hyperlens.surrogates.threads import one_thread
from hyperlens.tables import Column, Table, table
from hyperlens.words import number, tenths

if TYPE_CHECKING:
    import pandas as pd

Criterion = Literal["l2", "area", "variance", "mean"]
STD = (
    "Standard deviation of the surrogate's prediction, averaged over the parameter's grid and over "
    "the region: how well the effect is known there."
)


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
    tree: Tree
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
        return leaves(self.tree)

    @property
    def best(self) -> Region | None:
        """The leaf that holds the best trial."""
        return leaf_of_best(self.tree)

    @property
    def gain(self) -> float:
        """By which part of it the uncertainty is smaller in the region that the sentence names than over
        the whole space; negative where it is larger."""
        root, leaves = self.tree[0].confidence, [r.confidence for r in self.leaves]
        named = min(leaves) if self.best is None else self.best.confidence
        return 1 - named / root if root > 0 else 0.0

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
        shown = written_out(self.parameter)
        own = f"{shown} value" if shown in ("id", "rule", "mean", "low", "high") else shown
        names = ["id", "rule", own, "mean", "low", "high"]
        # texts as they are, whatever is in them
        return pd.DataFrame(rows, columns=names, dtype=object)

    def split(self, region: int) -> Regions:
        """Split one leaf where it gains most."""
        if self._grower is None:
            raise AnalysisError("This record is apart from its run; compute the regions again.")
        return replace(self, tree=self._grower.split(self.tree, region))

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


@of_a_run
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
    tree = grower.grown(levels, splits, until)
    target = history.objective(objective)
    return Regions(
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
        tree=tree,
        quality=fitted.quality,
        grounds=grounds(history, fitted, (column,)),
        notes=(*fitted.notes, *_not_reached(tree, until)),
        _grower=grower,
    )


def _not_reached(tree: Tree, until: float | None) -> tuple[str, ...]:
    """That the best trial's region is not as sure as it was to be."""
    best = leaf_of_best(tree)
    if until is None or best is None or best.confidence <= until:
        return ()
    return (f"No further split brings the mean standard deviation to {until:g}.",)


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
