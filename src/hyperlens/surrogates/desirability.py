"""How desirable a configuration is where more than one thing is predicted of it: several costs, limits,
and whether it fails.

A trial that fails or exceeds a limit improves nothing. So what is maximised is the expected improvement
times the chance that a trial is of use: to keep all limits and not to fail (Gardner et al. 2014); of
several objectives the improvement is that of the hypervolume, up to a reference point behind the worst
costs where a search explores, so that it looks for the ends of the front, and a front's length behind
the front where it exploits: the farther behind, the more a little beyond an end would add, until it
outweighs all that lies between the ends (Ishibuchi et al. 2018). Until a trial was of use, the chance
alone is maximised. A bound counts a trial of no use as the worst that was seen.

The chance to keep a limit is that of a normal excess, the chance to fail is the mean of a process of 0
and 1. Once everything else is searched, only what fails promises much; so a configuration that is
likelier to fail than RISK, and than most that did not fail were, is passed over whatever it promises;
unless a search dares (optimize/optimizers/weighing.py).

Symbols
    m        objectives
    chance   probability of being of use, a product over limits and failing
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from hyperlens.spaces.cube import FloatArray
from hyperlens.spaces.points import on_front
from hyperlens.surrogates.acquisition import (
    expected_hypervolume_improvement,
    expected_improvement,
    log_chance_kept,
    log_expected_hypervolume_improvement,
    log_expected_improvement,
    lower_confidence_bound,
)
from hyperlens.surrogates.free_boxes import FreeBoxes
from hyperlens.surrogates.gaussian_process.gp import GP
from hyperlens.surrogates.outcomes import Outcomes
from hyperlens.surrogates.random_forest.forest import Forest

RISK = 0.05  # a chance to fail that is taken
STEEP = 1e3  # by which the logarithm of a promise falls, per chance to fail beyond what is taken
SUREST = 1e-6  # a chance that is never quite nothing
Kind = Literal["lcb", "ei", "ehvi", "feasible"]

MARGIN = 0.1  # of the range of costs, by which the reference point lies behind the worst
BEHIND = 1.0  # of the range of the front, by which it lies behind that
EXPLORING = 1.0  # tau from which on a search explores


@dataclass(frozen=True, eq=False)
class Joint:
    """Surrogates that are asked together, those of costs first; `shown` is the one that is explained."""

    models: tuple[GP | Forest, ...]
    shown: int = 0

    def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Means and standard deviations, one row a surrogate, (m + c, k)."""
        means, stds = zip(*(model.predict(X) for model in self.models), strict=True)
        return np.stack(means), np.stack(stds)

    def at(self, shown: int) -> Joint:
        return replace(self, shown=shown)


@dataclass(frozen=True, eq=False)
class Desirability:
    """What is made of the means and standard deviations of a `Joint`, rows beyond the objectives being
    excesses over limits.

    `kind` is the bound, the expected improvement on `best`, that of the hypervolume in the `free` boxes
    where deviations are `tau` as large, or the chance alone; `worst` is what a trial of no use costs by
    the bound.
    """

    kind: Kind
    objectives: int = 1
    tau: float = 1.0
    best: float = np.nan
    worst: float = np.nan
    free: FreeBoxes | None = None
    limits: int = 0  # rows beyond them are of failing
    risk: float = RISK

    @property
    def larger(self) -> bool:
        """Is a larger score more desirable?"""
        return self.kind != "lcb"

    def log_chance(self, mean: FloatArray, std: FloatArray) -> FloatArray:
        """Logarithm of the chance to be of use, (k,)."""
        limits = slice(self.objectives, self.objectives + self.limits)
        kept = log_chance_kept(mean[limits], std[limits]).sum(axis=0)
        return np.asarray(kept + np.log(np.maximum(1 - self.failing(mean), SUREST)))

    def failing(self, mean: FloatArray) -> FloatArray:
        """The chance to fail, (k,); 0 where no trial did."""
        rows = mean[self.objectives + self.limits :]
        return np.asarray(np.clip(rows.sum(axis=0) + 0.5 * len(rows), 0.0, 1.0))

    def score(self, mean: FloatArray, std: FloatArray) -> FloatArray:
        """What is recorded and explained, (k,)."""
        chance = np.exp(self.log_chance(mean, std))
        if self.kind == "feasible":
            return chance
        if self.kind == "ehvi":
            assert self.free is not None
            costs = slice(self.objectives)
            unsure = self.tau * std[costs]
            gain = expected_hypervolume_improvement(mean[costs], unsure, self.free)
        elif self.kind == "ei":
            gain = expected_improvement(mean[0], std[0], self.best)
        else:
            bound = lower_confidence_bound(mean[0], std[0], self.tau)
            return np.asarray(chance * bound + (1 - chance) * self.worst)
        return np.asarray(gain * chance)

    def cost(self, mean: FloatArray, std: FloatArray) -> FloatArray:
        """What a search minimises: the same order, told apart where the score itself vanishes, (k,)."""
        if self.kind == "lcb":
            return self.score(mean, std)
        chance = self.log_chance(mean, std)
        chance = chance - STEEP * np.maximum(self.failing(mean) - self.risk, 0.0)
        if self.kind == "feasible":
            return -chance
        if self.kind == "ei":
            return -(log_expected_improvement(mean[0], std[0], self.best) + chance)
        assert self.free is not None
        costs = slice(self.objectives)
        gain = log_expected_hypervolume_improvement(mean[costs], self.tau * std[costs], self.free)
        return -(gain + chance)


def desirability(
    known: Outcomes, model: Joint, kind: Kind, tau: float, awaited: FloatArray
) -> Desirability:
    """How desirable a configuration is after these outcomes, while vectors (k, d) are awaited.

    What there is to improve on are predictions for what was of use, and, of several objectives, for
    what is awaited and will rather be of use than not.
    """
    m = known.objectives
    plan = Desirability("feasible", m, limits=known.excess.shape[1])
    if known.failed.any() and not known.failed.all():
        usual = np.median(plan.failing(model.predict(known.X[~known.failed])[0]))
        plan = replace(plan, risk=max(RISK, float(usual)))
    if not known.feasible.any():
        return plan
    means, _ = model.predict(known.X[known.feasible])
    if m == 1:
        worst = float(known.costs[~known.failed].max())
        return replace(plan, kind=kind, tau=tau, best=float(means[0].min()), worst=worst)
    plan = replace(plan, kind="ehvi", tau=tau)
    points = means[:m].T
    if len(awaited):
        believed, unsure = model.predict(awaited)
        likely = plan.log_chance(believed, unsure) >= np.log(0.5)
        points = np.vstack([points, believed[:m, likely].T])
    reference = reference_point(known.costs[~known.failed])
    if tau < EXPLORING:
        behind = reference_point(known.costs[known.feasible], of_front=True)
        reference = np.minimum(behind, reference)
    return replace(plan, free=FreeBoxes.of(points, reference))


def reference_point(costs: FloatArray, of_front: bool = False) -> FloatArray:
    """A little behind the worst of costs (n, m); or as far behind the worst of those that no other beats
    as these reach. Nearer to the front there is no reward for going beyond its ends, which a young front
    has in the wrong places.

    >>> reference_point(np.array([[0.0, 2.0], [1.0, 0.0], [2.0, 2.0]])).tolist()
    [2.2, 2.2]
    >>> reference_point(np.array([[0.0, 2.0], [1.0, 0.0], [2.0, 2.0]]), of_front=True).tolist()
    [2.0, 4.0]
    """
    wide = np.ptp(costs, axis=0)
    wide = MARGIN * np.where(wide > 0, wide, 1.0)
    if of_front:
        costs = costs[on_front(costs)]
        own = BEHIND * np.ptp(costs, axis=0)
        wide = np.where(own > 0, own, wide)
    return np.asarray(costs.max(axis=0) + wide)
