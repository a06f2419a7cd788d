"""What the configurations of a run truly cost, and the noise of a cost: estimated once, for all who ask.

Whether the best is the best (next/winner.py) and which gain is too small to be told from noise
(next/forecast.py) are said by the same draws (surrogates/additive/true_costs.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.explain.models.fitting import MOST_GP_PARAMETERS, check_scale
from hyperlens.runs.history import History
from hyperlens.runs.repeats import Configurations, configurations
from hyperlens.spaces.cube import IntArray
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.surrogates.additive.true_costs import Measured, TrueCosts, true_costs
from hyperlens.surrogates.threads import one_thread
from hyperlens.words import counted, number

MOST_COMPARED = 800  # configurations, the best among them: each doubling takes eight times as long


@dataclass(frozen=True, eq=False)
class Compared:
    """All configurations that were `tried`, the `small` part of them that was learnt from, those of it
    that may be chosen (`useful`; `limited` says why not all), and draws of what they truly cost."""

    tried: Configurations
    small: Configurations
    useful: IntArray
    limited: tuple[str, ...]
    measured: Measured
    model: Additive
    truth: TrueCosts

    @property
    def noise(self) -> float:
        """Standard deviation of a repeated cost where the best are; 0 where costs are exact."""
        return float(np.sqrt(np.mean(self.truth.noise**2)))


def compared(
    history: History, noise: float | None = None, seed: int = 0, objective: str | None = None
) -> Compared:
    """The configurations of a run by what they truly cost; remembered. `noise` as far as it is known."""
    key = ("compared", noise, seed, history.objective(objective).name)
    if key not in history.memory:
        history.memory[key] = _compared(history, noise, seed, objective)
    found: Compared = history.memory[key]
    return found


def _compared(history: History, noise: float | None, seed: int, objective: str | None) -> Compared:
    name = history.objective(objective).name
    check_scale(history.data(objective).y)
    tried = configurations(history, history.data(objective))
    _check(history, tried, name)
    small = tried.at_most(MOST_COMPARED, seed)
    measured = Measured(small.X, small.y, small.which)
    useful, limited = _useful(history, tried, small, name)
    with one_thread():
        model = _learnt(history, small, seed)
        truth = true_costs(history.space.cube, measured, model, noise, seed, useful)
    return Compared(tried, small, useful, limited, measured, model, truth)


def _check(history: History, tried: Configurations, objective: str) -> None:
    trials, count = len(tried.y), len(tried.trial)
    if count == 1:
        same = "Only one trial is" if trials == 1 else f"All {trials} analysed trials are"
        what = "analysed" if trials == 1 else "of one configuration"
        raise AnalysisError(
            f"{same} {what}, so there is nothing that it could be better than; run others too."
        )
    if np.ptp(tried.observed) == 0:
        cost = number(history.shown(float(tried.observed[0]), objective))
        raise AnalysisError(
            f"All {count} configurations have the same '{objective}', {cost}, so none is better than "
            "another; measure something in which they differ."
        )
    if len(history.space) > MOST_GP_PARAMETERS:
        raise AnalysisError(
            f"With {len(history.space)} parameters noise cannot be told from what they do; repeat the "
            "best few trials and compare their means."
        )


def _learnt(history: History, tried: Configurations, seed: int) -> Additive:
    """Hyperparameters given all costs."""
    try:
        return Additive(history.space.cube, seed).learn(tried.X[tried.which], tried.y)
    except ValueError as problem:
        raise AnalysisError(f"No Gaussian process can be fitted: {problem}.") from problem


def _useful(
    history: History, tried: Configurations, small: Configurations, objective: str
) -> tuple[IntArray, tuple[str, ...]]:
    """Which configurations may be chosen, those that keep all limits, and a note."""
    every = np.arange(len(small.trial))
    broken = ~history.feasible[history.data(objective).rows]
    if not broken.any():
        return every, ()
    kept = tried.trial[np.bincount(tried.which, broken) == 0]
    useful = np.flatnonzero(np.isin(small.trial, kept))
    if not len(useful):
        limits = " and ".join(history.limits)
        raise AnalysisError(
            f"No configuration keeps {limits}, so that none can be called the best; find one that does."
        )
    if len(useful) == 1:
        raise AnalysisError(
            f"Only the configuration of trial {small.trial[useful[0]]} keeps the limits, so there is "
            "nothing that it could be better than; run others that keep them too."
        )
    note = (
        f"{len(useful)} of {counted(len(small.trial), 'configuration')} keep the limits and can be the "
        "best; all were learnt from."
    )
    return useful, (note,)
