"""Shapley values of a prediction: exactly, or by sampled permutations with intervals.

exact     every coalition over the whole background.
paired    every background row with random orders of the players and their reverses. Each row is
          used equally often, so contributions add up to the payout; the interval is that of the
          orders, within rows. Rounds are added until intervals are narrow.
sampled   Croppi 2021 algorithm 2: K steps, each with one background row and one order drawn at
          random, shared by all parameters. Contributions miss the payout by the sampling error of
          the average.

Symbols: see coalitions.py.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import scipy

from hyperlens.errors import AnalysisError
from hyperlens.explain.shapley import product_kernel as gaussian
from hyperlens.explain.shapley.coalitions import BATCH, Game
from hyperlens.explain.shapley.games import shapley
from hyperlens.spaces.cube import FloatArray
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.surrogates.desirability import Joint
from hyperlens.surrogates.gaussian_process.gp import GP

Method = Literal["auto", "exact", "paired", "sampled"]
METHODS: tuple[Method, ...] = ("auto", "exact", "paired", "sampled")

MOST_OPERATIONS = 1e11  # 2^m B n^2 of a Gaussian process, a few seconds
MOST_PREDICTIONS = 1 << 18  # 2^m B of any other model
EACH_OPERATIONS, EACH_PREDICTIONS = 2e6, 64  # what a coalition costs beside
FAR_TOO_MANY = 64  # times as many are refused even where exactness is asked for
NARROW = 0.02  # width of an interval, in payouts, at which paired sampling stops
FEWEST_ROUNDS, MOST_ROUNDS = 2, 16
FEWEST_ROWS = 256  # of a round: a smaller background is repeated
STEPS = 1000  # of the thesis's estimator, unless said otherwise


@dataclass(frozen=True)
class Part:
    """One quantity: contributions (d,) and half the width of their intervals, 0 where exact."""

    contribution: FloatArray
    reach: FloatArray
    actual: float
    average: float

    @property
    def payout(self) -> float:
        return self.actual - self.average


@dataclass(frozen=True)
class Attribution:
    """Parts in the order of the game's quantities."""

    parts: tuple[Part, ...]
    method: Method
    samples: int  # orders that were drawn, 0 where every coalition was taken


def attribute(
    game: Game,
    method: Method = "auto",
    *,
    uniform: bool = False,
    samples: int | None = None,
    level: float = 0.95,
    seed: int = 0,
    threads: int | None = None,
) -> Attribution:
    """Contributions of x's values to every quantity, of which the first must be the mean.

    `uniform` says that the background stands for the whole space: a Gaussian process then has the
    contributions to its mean in closed form.
    """
    rng = np.random.default_rng([seed, 1])
    if method == "auto":
        method = "exact" if _cost(game) <= 1 else "paired"
    if method == "sampled":
        return _sampled(game, STEPS if samples is None else samples, level, rng)
    mean = _closed_mean(game) if uniform else None
    if method == "exact":
        attribution = _exact(game, threads)
    else:
        attribution = _paired(game, samples, level, rng, watched=0 if mean is None else 1)
    if mean is None:
        return attribution
    return replace(attribution, parts=(mean, *attribution.parts[1:]))


def _closed_mean(game: Game, actual: float | None = None) -> Part | None:
    if isinstance(game.model, Joint):
        alone = replace(game, model=game.model.models[game.model.shown])
        return _closed_mean(alone, float(game.actual[0]))
    if isinstance(game.model, Additive):
        closed = None if game.cube.conditions else game.model.weights.contributions(game.vector)
    elif isinstance(game.model, GP):
        closed = gaussian.mean_contributions(game.model, game.vector)
    else:
        return None
    if closed is None:
        return None
    contribution, average = closed
    actual = float(game.actual[0]) if actual is None else actual
    return Part(contribution, np.zeros(len(contribution)), actual, average)


def _cost(game: Game) -> float:
    """Of every coalition, in parts of what is affordable."""
    coalitions, rows = 2.0 ** len(game.players), len(game.background)
    if isinstance(game.model, GP):
        return coalitions * (rows * len(game.model.X) ** 2 + EACH_OPERATIONS) / MOST_OPERATIONS
    return coalitions * (rows + EACH_PREDICTIONS) / MOST_PREDICTIONS


def _exact(game: Game, threads: int | None) -> Attribution:
    if _cost(game) > FAR_TOO_MANY:
        raise AnalysisError(
            f"{len(game.players)} parameters have too many coalitions to take each of them; use "
            "method='paired', whose intervals are narrow."
        )
    model = game.model
    worth = gaussian.worth(model, game, threads) if isinstance(model, GP) else game.worth()
    phi = shapley(worth)
    return _spread(game, phi, np.zeros(phi.shape), worth[0], "exact", 0)


def _paired(
    game: Game, samples: int | None, level: float, rng: np.random.Generator, watched: int
) -> Attribution:
    """Until the intervals of all quantities from `watched` on are narrow."""
    m, q = len(game.players), len(game.actual)
    rows = np.tile(np.arange(len(game.background)), -(-FEWEST_ROWS // len(game.background)))
    size = len(rows)
    rounds = MOST_ROUNDS if samples is None else max(-(-samples // size), FEWEST_ROUNDS)
    total, square = np.zeros((2, size, m, q))
    average = game.background_quantities.mean(axis=1)
    payout = np.abs(game.actual - average)
    for done in range(1, rounds + 1):
        # Every row once more, with a new order and its reverse
        orders = rng.permuted(np.tile(np.arange(m), (size, 1)), axis=1)
        gains = (game.along(rows, orders) + game.along(rows, orders[:, ::-1])) / 2
        total += gains
        square += gains**2
        if done < FEWEST_ROUNDS:
            continue
        # The variance of orders within rows: rows themselves are no sample
        within = np.maximum(square - total**2 / done, 0).sum(axis=0) / (size * (done - 1))
        error = np.sqrt(within / (size * done))
        reach = float(scipy.stats.t.ppf((1 + level) / 2, size * (done - 1))) * error
        if samples is None and (2 * reach <= NARROW * payout)[:, watched:].all():
            break
    phi = total.sum(axis=0) / (size * done)
    return _spread(game, phi, reach, average, "paired", size * done)


def _sampled(game: Game, steps: int, level: float, rng: np.random.Generator) -> Attribution:
    # Croppi 2021 algorithm 2: K steps of a row and an order; phi_j is the mean of j's gains
    m = len(game.players)
    rows = rng.integers(len(game.background), size=steps)
    orders = rng.permuted(np.tile(np.arange(m), (steps, 1)), axis=1)
    at_once = max(BATCH // max(m, 1), 1)
    gains = np.concatenate(
        [
            game.along(rows[k : k + at_once], orders[k : k + at_once])
            for k in range(0, steps, at_once)
        ]
    )
    phi, spread = gains.mean(axis=0), gains.std(axis=0, ddof=1)
    reach = float(scipy.stats.t.ppf((1 + level) / 2, steps - 1)) * spread / np.sqrt(steps)
    average = game.background_quantities.mean(axis=1)
    return _spread(game, phi, reach, average, "sampled", steps)


def _spread(
    game: Game,
    phi: FloatArray,
    reach: FloatArray,
    average: FloatArray,
    method: Method,
    samples: int,
) -> Attribution:
    """Players' values over all columns; a column that is no player contributes nothing."""
    both = np.zeros((len(average), 2, game.cube.d))
    both[:, 0, game.players], both[:, 1, game.players] = phi.T, reach.T
    numbers = zip(both, game.actual, average, strict=True)
    return Attribution(
        tuple(Part(p, r, float(v), float(a)) for (p, r), v, a in numbers), method, samples
    )
