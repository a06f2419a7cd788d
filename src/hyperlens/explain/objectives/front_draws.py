"""Draws of the true costs of configurations, and the fronts of these draws.

Symbols
    D, m, k   draws, configurations, objectives
    T         true costs, minimised, (D, m, k)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.explain.models.fitting import MOST_GP_TRIALS, check_scale
from hyperlens.explain.objectives.pareto import with_all
from hyperlens.runs.history import Data, History, Objective
from hyperlens.runs.hypervolume import MOST_OBJECTIVES, volume
from hyperlens.runs.repeats import Configurations, configurations
from hyperlens.spaces.cube import BoolArray, FloatArray, IntArray
from hyperlens.spaces.points import on_front
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.surrogates.additive.true_costs import Measured, differ, true_costs
from hyperlens.surrogates.threads import one_thread

DRAWS = 1000
MOST = 150  # configurations that are compared: those of the first fronts
WIDER = 1.6  # an interval of the hypervolume than its draws: errors of many trials add up
POINTS = 60  # of the band


@dataclass(frozen=True)
class Compared:
    """Configurations that are compared, by their first trials; `tried` are all, by objective."""

    tried: list[Configurations]
    trial: IntArray  # (m,)
    observed: FloatArray  # (m, k)
    useful: int  # configurations that keep the limits


def compared(history: History, seed: int) -> Compared:
    rows = with_all(history)
    tried = [_tried(history, o, rows).at_most(MOST_GP_TRIALS, seed) for o in history.objectives]
    trial = reduce(np.intersect1d, [t.trial for t in tried])
    trial = trial[np.isin(trial, _keeping(history, tried[0], rows))]
    observed = np.column_stack([t.observed[_places(t, trial)] for t in tried])
    chosen = _first_fronts(observed, MOST)
    return Compared(tried, trial[chosen], observed[chosen], len(trial))


def nondominated(T: FloatArray) -> BoolArray:
    """Which configurations no other one of the same draw beats, (D, m), of costs T (D, m, k).

    >>> nondominated(np.array([[[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]])).tolist()
    [[True, True, False]]
    """
    beaten = np.zeros(T.shape[:2], dtype=bool)
    for j in range(T.shape[1]):
        rival = T[:, j : j + 1]
        beaten |= (rival <= T).all(axis=2) & (rival < T).any(axis=2)
    return ~beaten


@dataclass(frozen=True)
class Drawn:
    costs: FloatArray  # (D, m)
    noise: float
    known: bool


def _tried(history: History, objective: Objective, rows: IntArray) -> Configurations:
    costs = objective.sign * history.measured(objective)[rows]
    check_scale(costs)
    return configurations(history, Data(history.vectors[rows], costs, rows))


def _places(tried: Configurations, trial: IntArray) -> IntArray:
    """Where the configurations of these first trials stand."""
    place = {t: k for k, t in enumerate(tried.trial.tolist())}
    return np.array([place[t] for t in trial.tolist()], dtype=np.int64)


def _keeping(history: History, tried: Configurations, rows: IntArray) -> IntArray:
    """First trials of configurations that keep the limits; of all where none does."""
    numbers = np.array([history.trials[i].number for i in rows])
    broken = {int(n) for n in numbers[~history.feasible[rows]]}
    kept = np.array([t for t in tried.trial if int(t) not in broken], dtype=np.int64)
    return kept if len(kept) else tried.trial


def _first_fronts(costs: FloatArray, most: int) -> IntArray:
    """Rows of the front, of the front without these, and so on, until there are as many as wanted."""
    left = np.arange(len(costs))
    found: list[IntArray] = []
    while len(left) and sum(map(len, found)) < most:
        first = on_front(costs[left])
        found.append(left[first])
        left = left[~first]
    return np.sort(np.concatenate(found)[:most])


def drawn_costs(
    history: History,
    tried: Configurations,
    trial: IntArray,
    noise: float | None,
    seed: int,
    rng: np.random.Generator,
) -> Drawn:
    """Draws of the true costs of the compared configurations, of one objective."""
    at = _places(tried, trial)
    measured = Measured(tried.X, tried.y, tried.which)
    if tried.y.min() == tried.y.max():
        return Drawn(np.tile(tried.observed[at], (DRAWS, 1)), 0.0, True)
    try:
        with one_thread():
            model = Additive(history.space.cube, seed).learn(tried.X[tried.which], tried.y)
            truth = true_costs(
                history.space.cube, measured, model, noise, seed, among=at, every=True
            )
    except ValueError as problem:
        raise AnalysisError(f"No Gaussian process can be fitted: {problem}.") from problem
    chosen = rng.integers(len(truth.draws), size=DRAWS)
    if len(truth.draws) >= DRAWS:
        chosen = rng.permutation(len(truth.draws))[:DRAWS]
    deviation = float(np.sqrt(np.mean(truth.noise**2)))
    return Drawn(truth.draws[chosen], deviation, noise == 0 or differ(measured, model))


def volumes(
    T: FloatArray, inside: BoolArray, best: FloatArray, worst: FloatArray, tails: list[float]
) -> FloatArray:
    """Quantiles of the part of the box that the front of each draw dominates."""
    if T.shape[2] > MOST_OBJECTIVES:
        return np.full(3, np.nan)
    wide = np.where(worst > best, worst - best, 1.0)
    reference = (worst - best) / wide
    scaled = np.maximum((T - best) / wide, 0.0)
    volumes = [volume(c[on], reference) for c, on in zip(scaled, inside, strict=True)]
    low, middle, high = np.quantile(volumes, tails)
    return np.array([
        max(middle - WIDER * (middle - low), 0.0), middle, min(middle + WIDER * (high - middle), 1.0)
    ])  # fmt: skip


def band_of(
    T: FloatArray, observed: FloatArray, tails: list[float]
) -> tuple[FloatArray, FloatArray]:
    """A grid of the first objective and the second one that is attained there, (3, grid)."""
    if T.shape[2] != 2:
        return np.empty(0), np.empty((3, 0))
    on = on_front(observed)
    low, high = np.quantile(T[:, :, 0].min(axis=1), 0.05), observed[on, 0].max()
    reach = float(high - low)
    grid = np.linspace(low, high + 0.1 * reach, POINTS)
    order = np.argsort(T[:, :, 0], axis=1)
    first = np.take_along_axis(T[:, :, 0], order, axis=1)
    second = np.minimum.accumulate(np.take_along_axis(T[:, :, 1], order, axis=1), axis=1)
    attained = np.full((len(T), POINTS), np.inf)
    for d in range(len(T)):
        k = np.searchsorted(first[d], grid, side="right") - 1
        attained[d, k >= 0] = second[d, k[k >= 0]]
    band = np.quantile(attained, tails[::-1], axis=0, method="inverted_cdf")
    return grid, np.where(np.isfinite(band), band, np.nan)
