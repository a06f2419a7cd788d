"""A point of the Pareto front: what its neighbours trade, and what each value does to each objective."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from hyperlens.explain.models.fitting import Fitted, fit
from hyperlens.explain.models.verdict import Verdict, grounds, judge
from hyperlens.explain.objectives.pareto import ParetoFront
from hyperlens.explain.shapley import backgrounds
from hyperlens.explain.shapley.attribution import attribute
from hyperlens.explain.shapley.coalitions import Game
from hyperlens.runs.history import History
from hyperlens.spaces.cube import FloatArray
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.surrogates.threads import one_thread

LARGEST = sys.float_info.max  # a difference of huge costs is no more


@dataclass(frozen=True)
class Trade:
    """The next trial of the front that is better in one objective, and what of each it gains: positive
    is better, in the order of the objectives."""

    objective: str
    trial: int
    gain: FloatArray


@dataclass(frozen=True)
class Reasons:
    """What each value of a configuration adds to each objective (parameters, objectives), in the user's
    directions: Shapley values of the expected objectives. With the `average` of the space they add up to
    what is `expected` there. `spread` is the standard deviation of each objective over the trials."""

    contributions: FloatArray
    expected: FloatArray
    average: FloatArray
    spread: FloatArray
    verdict: Verdict


def trades(front: ParetoFront, row: int) -> tuple[Trade, ...]:
    """One for each objective that the front has better, the smallest step first in each."""
    sign = np.where(front.maximize, -1.0, 1.0)
    costs, members = sign * front.costs, front.members
    found = []
    for k, name in enumerate(front.objectives):
        better = members[costs[members, k] < costs[row, k]]
        if len(better):
            next_ = int(better[np.argmax(costs[better, k])])
            with np.errstate(over="ignore"):
                gain = np.clip(costs[row] - costs[next_], -LARGEST, LARGEST)
            found.append(Trade(name, int(front.number[next_]), gain))
    return tuple(found)


def beaten_by(front: ParetoFront, row: int) -> int | None:
    """A trial of the front that is at least as good in all and better in one; None if none is."""
    sign = np.where(front.maximize, -1.0, 1.0)
    costs, members = sign * front.costs, front.members
    at_least = (costs[members] <= costs[row]).all(axis=1)
    better = members[at_least & (costs[members] < costs[row]).any(axis=1)]
    return int(front.number[better[0]]) if len(better) else None


def reasons(history: History, vector: FloatArray, spread: FloatArray, seed: int) -> Reasons:
    """By additive processes of all trials, one for each objective."""
    fitted = [fit(history, "additive", objective=o.name, seed=seed) for o in history.objectives]
    with one_thread():
        parts = [_contributions(history, one, vector, seed) for one in fitted]
    sign = np.array([o.sign for o in history.objectives])
    own, average = np.column_stack([p for p, _ in parts]), np.array([a for _, a in parts])
    every = range(len(history.space.names))
    return Reasons(
        contributions=sign * own,
        expected=sign * (own.sum(axis=0) + average),
        average=sign * average,
        spread=spread,
        verdict=judge(g for one in fitted for g in grounds(history, one, every)),
    )


def _contributions(
    history: History, fitted: Fitted, vector: FloatArray, seed: int
) -> tuple[FloatArray, float]:
    """Shapley values (d,) of the minimised mean over the space, and its average: in closed form, or by
    coalitions where parameters have conditions."""
    cube, model = history.space.cube, fitted.model
    assert isinstance(model, Additive)
    if not cube.conditions:
        return model.weights.contributions(vector)
    latents = backgrounds.background("global", cube, vector, backgrounds.SIZE, 1.0, seed)
    game = Game(model, cube, vector, latents, lambda mean, _: mean[None])
    (part,) = attribute(game, seed=seed).parts
    return part.contribution, part.average
