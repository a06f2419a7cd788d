"""What more trials would find: drawn functions, searched as a search would.

A draw of an additive process is a function that agrees with the trials there are. A random search of
k more trials finds the lowest of its values at k configurations: of N values in ascending order, none
of the first i is found with probability (1 - i / N)^k, so the value that is found is drawn by its
rank. A search by a model goes a part phi of a way for which each draw is searched for its lowest value.
The distance to that is too short where the process is too sure and too long where it knows little; half
of how far the best quarter of the trials reaches errs otherwise, so the way is the geometric mean of the
two, and what is gained at most FARTHEST times the distance. phi depends on how much longer the run gets,
k / n; it was learnt on runs of TPE on LCBench tasks with an even number (docs/results/forecast.md), as
was how often nothing better is found: as rarely as if each trial were RECORDS random ones, for a random
search of n trials finds nothing better in k more with probability n / (n + k).

Gains are of the true cost: that of the configuration that is expected to be best, less that of the
best new one; none is below 0. Where there are limits, only what keeps them in a draw is of use to it
(limited.py), and the best is one that was measured to keep them.

Symbols
    D        draws
    N        configurations at which draws are looked at
    n, k     trials of different configurations there are, more trials
    phi      part of the way that a search by a model goes
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import scipy

from hyperlens.spaces.cube import FloatArray
from hyperlens.spaces.points import keys
from hyperlens.spaces.space import Space
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.surrogates.outlook.limited import Limits

Look = Callable[[FloatArray], FloatArray]  # drawn costs (N, D) of configurations (N, d)
Search = Literal["model", "random"]

POINTS = 2048  # N
ROUNDS = 4  # of the search for the lowest value of each draw
AROUND = 8  # points looked at around each of the lowest found so far
REACH = 0.2  # of an axis: how far these lie, half as far in each further round
MOVED = 0.3  # of the axes are moved, at least two of them
MIDDLE, GROWTH, SPREAD = 0.5, 0.5, 1.2  # of phi where it is not 0
GOOD = 0.25  # of the trials
FARTHEST = 3.0
RECORDS = 5.0
AHEAD = 100  # trials whose expected gain decides whether to stop: fewer always gain little
TIMES = 16  # outcomes of a search drawn for each draw


@dataclass(frozen=True)
class Prospect:
    """Draws at configurations, and what is lowest in each; costs are minimised ones."""

    trials: int
    best: FloatArray  # true cost of the configuration that is expected to be best, (D,)
    values: FloatArray  # at N random configurations, ascending, (N, D)
    lowest: FloatArray  # (D,)
    at: FloatArray  # where it is lowest, vectors (D, d)
    noise: float  # standard deviation of the noise at the best
    reach: float  # how far the best quarter of the trials reaches above the best
    look: Look | None = None  # the drawn costs themselves

    def gains(self, search: Search, k: int, seed: int = 0) -> FloatArray:
        """Gains of a search of k more trials, as many for each draw, (TIMES * D,)."""
        places = _spread(len(self.best), seed)
        if search == "random":
            ranks = len(self.values) * -np.expm1(np.log1p(-places) / k)
            at = np.minimum(ranks.astype(np.int64), len(self.values) - 1)
            found = np.take_along_axis(self.values, at, axis=0)
            return np.asarray(np.maximum(self.best - found, 0.0).ravel())
        distance = np.maximum(self.best - self.lowest, 0.0)
        gains = np.sqrt(distance * self.reach / 2) * part(k / self.trials, places)
        return np.asarray(np.minimum(gains, FARTHEST * distance).ravel())


def _spread(draws: int, seed: int) -> FloatArray:
    """Numbers between 0 and 1, evenly spread for each draw, (TIMES, D)."""
    rng = np.random.default_rng(seed)
    return np.asarray((np.arange(TIMES)[:, None] + rng.random((TIMES, draws))) / TIMES)


def part(longer: float, places: FloatArray) -> FloatArray:
    """Quantiles of phi for a run that gets longer by this part of its trials: 0 with the probability
    (1 + longer)^-RECORDS, else log-normal around MIDDLE longer^GROWTH."""
    none = (1 + longer) ** -RECORDS
    some = np.clip((places - none) / (1 - none), 0.0, 1.0 - 1e-9)
    phi = MIDDLE * longer**GROWTH * np.exp(SPREAD * scipy.special.ndtri(some))
    return np.asarray(np.where(places < none, 0.0, phi))


def prospect(
    model: Additive, space: Space, seed: int = 0, limits: Limits | None = None
) -> Prospect:
    """Draws of a fitted process, looked at and searched."""
    rng = np.random.default_rng([seed, 3])
    look: Look = model.costs if limits is None else partial(limits.costs, model)
    tried = model.costs(model.X)
    mean = tried.mean(axis=1)
    now = int(np.argmin(mean if limits is None else np.where(limits.kept, mean, np.inf)))
    X = space.sample(POINTS, rng)
    values = look(X)
    of_use = tried if limits is None else np.where(limits.kept[:, None], tried, model.y.max())
    lowest, at = _lowest(look, space, np.vstack([model.X, X]), np.vstack([of_use, values]), rng)
    noise = float(model.noise(mean[[now]])[0])
    first = np.array([*keys(model.X).values()])  # repeats are no further trials
    useful = mean[first] if limits is None else mean[first[limits.kept[first]]]
    reach = float(np.quantile(useful, GOOD)) - float(mean[now])
    return Prospect(len(first), tried[now], np.sort(values, axis=0), lowest, at, noise, reach, look)


def _lowest(
    look: Look, space: Space, X: FloatArray, values: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """The lowest value of each draw and where it is: ever nearer around the lowest so far."""
    lowest, at = values.min(axis=0), X[values.argmin(axis=0)]
    for round in range(ROUNDS):
        around = _moved(space, np.unique(at, axis=0), REACH / 2**round, rng)
        if not len(around):
            continue
        values = look(around)
        first = values.argmin(axis=0)
        lower = values[first, np.arange(len(lowest))] < lowest
        at = np.where(lower[:, None], around[first], at)
        lowest = np.minimum(lowest, values.min(axis=0))
    return lowest, at


def _moved(space: Space, X: FloatArray, reach: float, rng: np.random.Generator) -> FloatArray:
    """Configurations around others: some coordinates of each moved, or drawn anew where there is no
    distance between values."""
    X = np.repeat(X, AROUND, axis=0)
    n, d = X.shape
    drawn = rng.random((n, d))
    latents = np.where(np.isnan(X), drawn, X)
    chosen = rng.random((n, d)) < max(MOVED, min(2 / d, 1.0))
    moved = np.clip(latents + reach * rng.normal(size=(n, d)), 0.0, 1.0)
    ordered = np.array([axis.ordered for axis in space.cube.axes])
    latents = np.where(chosen, np.where(ordered, moved, drawn), latents)
    vectors = space.cube.vectors(latents)
    return np.asarray(vectors[~space.forbidden(vectors)])
