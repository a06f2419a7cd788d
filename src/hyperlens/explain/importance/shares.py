"""Shares of variance of one surrogate, with the interval that reflects the data.

Symbols
    U        a set of axes: a main effect, a pair, a triple
    share    V_U / V, averaged over trees for a forest
    halves   random parts of the data on which the surrogate is fitted anew
    n, m     rows of the data, rows of a half
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import scipy

from hyperlens.explain.importance.once import Effects, Once
from hyperlens.explain.models.fitting import Fitted
from hyperlens.explain.models.support import hardly_active
from hyperlens.runs.history import History
from hyperlens.spaces.cube import Cube, FloatArray, IntArray
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.surrogates.gaussian_process.gp import GP
from hyperlens.surrogates.random_forest.forest import Forest
from hyperlens.surrogates.threads import one_thread

HALVES = 32  # parts of the data that a forest's interval is computed from
HALVES_BESIDE = (
    10  # where it is a second opinion, whose interval only says whether the two disagree
)
HALF_TREES = 16  # trees on each
GP_HALVES = 12
NONE = 0.005  # a share that may be so small may be none at all
GP_ROWS = 200  # at the most, in a part that a Gaussian process is fitted to


@dataclass(frozen=True)
class Shares:
    """One entry per effect; `draws` (draws, effects) are of the posterior, or those on each half."""

    effects: Effects
    share: FloatArray
    std: FloatArray  # over the trees of a forest, over draws or halves for a Gaussian process
    low: FloatArray
    high: FloatArray
    draws: FloatArray
    flat: int = 0  # trees left out because they predict the same everywhere
    widened: float = 1.0  # how much wider than the draws an interval of what follows from them is

    def taking_in(self, other: Shares) -> Shares:
        """With intervals that hold another's too, of the effects that it knows."""
        at = {effect: k for k, effect in enumerate(other.effects)}
        low, high = self.low.copy(), self.high.copy()
        for k, effect in enumerate(self.effects):
            if effect in at:
                low[k] = np.fmin(low[k], other.low[at[effect]])
                high[k] = np.fmax(high[k], other.high[at[effect]])
        unknown = np.isnan(self.low)
        return replace(
            self, low=np.where(unknown, np.nan, low), high=np.where(unknown, np.nan, high)
        )


def shares(
    history: History,
    fitted: Fitted,
    order: int,
    level: float | None,
    seed: int,
    bound: float | None = None,
    halves: int = HALVES,
) -> Shares:
    """Shares of a forest or a Gaussian process; the same request is answered from memory.

    Of an additive process also those of its functions with all costs above `bound` equal to it.
    """
    key = ("shares", id(fitted), order, level, seed, bound, halves)
    if key not in history.memory:
        model = fitted.model
        with one_thread():
            if isinstance(model, Additive):
                history.memory[key] = additive_shares(model, order, level, bound)
            elif isinstance(model, Forest):
                history.memory[key] = forest_shares(model, order, level, seed, halves)
            else:
                assert isinstance(model, GP)
                history.memory[key] = gp_shares(model, order, level, seed)
    result: Shares = history.memory[key]
    return result


def known(shares: Shares, fitted: Fitted) -> Shares:
    """Nothing is known of an effect of a parameter that never varied or was hardly ever active, neither
    much nor little; and a share of a surrogate that has learnt too little may be any."""
    untold = fitted.training.unvaried | hardly_active(fitted.training.X)
    stuck = np.array([untold[list(axes)].any() for axes in shares.effects])
    low, high = shares.low, shares.high
    if fitted.quality.verdict == "do not trust":
        low, high = 0.0 * low, 0.0 * high + 1.0
    share, std, low, high = (
        np.where(stuck, np.nan, v) for v in (shares.share, shares.std, low, high)
    )
    return replace(shares, share=share, std=std, low=low, high=high)


def additive_shares(
    model: Additive, order: int, level: float | None, bound: float | None = None
) -> Shares:
    """Shares and quantiles of the posterior, wider than it by what the search itself shows is needed."""
    effects, drawn = model.drawn_shares(order, bound)
    unknown = np.full(len(effects), np.nan)
    if not model.sets:
        return Shares(effects, unknown, unknown, unknown, unknown, np.empty((0, len(effects))))
    draws = np.empty((0, len(effects))) if level is None else drawn.T
    share = np.array(list(model.shares(order, bound).values()))
    spread = posterior(drawn, share, level, model.widened, model.expected_shares(order, bound))
    return Shares(effects, share, *spread, draws, widened=model.widened)


def posterior(
    drawn: FloatArray,
    share: FloatArray,
    level: float | None,
    widened: float,
    expected: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Standard deviation, low and high of drawn shares (shares, D), around what they are said to be.

    Draws give something to every effect of which little is known, for a square is never negative;
    their mean function, in which shares are what is `expected`, has nothing of it and gives the effects
    that are known too much. An interval reaches as far below the lowest of these as draws reach below
    their median, and as far above what is said, or the middle between that and what is expected, as
    they reach above it. Square roots are about evenly spread.
    """
    std = drawn.std(axis=1)
    if level is None:
        unknown = np.full(len(share), np.nan)
        return std, unknown, unknown
    expected = share if expected is None else expected
    roots = np.sqrt(drawn)
    middle = np.median(roots, axis=1)
    below, above = drawn_interval(roots, level, widened)
    lowest = np.min([middle, np.sqrt(share), np.sqrt(expected)], axis=0)
    highest = np.max([middle, np.sqrt(share), np.sqrt((share + expected) / 2)], axis=0)
    low = np.maximum(lowest - (middle - below), 0.0) ** 2
    high = np.minimum(highest + (above - middle), 1.0) ** 2
    return std, np.where(low < NONE, 0.0, np.minimum(low, share)), np.maximum(high, share)


def drawn_interval(
    drawn: FloatArray, level: float, widened: float
) -> tuple[FloatArray, FloatArray]:
    """Quantiles of drawn numbers between 0 and 1 (numbers, D), that much farther from the median."""
    tail = (1 - level) / 2
    low, middle, high = np.quantile(drawn, [tail, 0.5, 1 - tail], axis=1)
    return (
        np.maximum(middle - widened * (middle - low), 0.0),
        np.minimum(middle + widened * (high - middle), 1.0),
    )


def forest_shares(
    forest: Forest, order: int, level: float | None, seed: int, count: int = HALVES
) -> Shares:
    """Mean over trees. The interval is drawn out to where shares are heading as data grow.

    The variance over `count` random halves is that over whole data sets (delete-half jackknife). Each
    half's forest is small, so part of what is seen is noise of its trees, W / trees. Half of that is
    taken off: taking off all of it left intervals too narrow on small noisy runs, see
    docs/results/interval_coverage.md.
    """
    # Shares: V_U / V of each tree, and their mean (Hutter et al. 2014 Algorithm 2)
    decomposition = forest.shares(order)
    cube = forest.cube or Cube.continuous(forest.X.shape[1])
    once = Once.of(cube, decomposition.effects)
    unknown = np.full(len(once.effects), np.nan)
    none = np.empty((0, len(unknown)))
    if not len(decomposition.shares):
        return Shares(once.effects, unknown, unknown, unknown, unknown, none, decomposition.flat)
    each = once.merged(decomposition.shares)
    share, std = each.mean(axis=0), each.std(axis=0)
    if level is None:
        return Shares(once.effects, share, std, unknown, unknown, none, decomposition.flat)
    # Halves: the same on random halves of the data
    halves = _parts(len(forest.y), (len(forest.y) + 1) // 2, count, seed)

    def one(k: int) -> FloatArray:
        small = Forest(forest.cube, HALF_TREES, seed + k + 1, threads=1)
        small.fit(forest.X[halves[k]], forest.y[halves[k]])
        return once.merged(small.shares(order, decomposition.effects).shares)

    drawn = [shares for shares in _each(one, count, forest.threads) if len(shares) > 1]
    if len(drawn) < 2:
        return Shares(once.effects, share, std, unknown, unknown, none, decomposition.flat)
    # Interval: the variance between halves less half of the noise of their few trees
    draws = np.array([shares.mean(axis=0) for shares in drawn])
    between = draws.var(axis=0, ddof=1)
    within = np.mean([shares.var(axis=0, ddof=1) for shares in drawn], axis=0)
    spread = np.sqrt(np.maximum(between - within / (2 * HALF_TREES), between / 4))
    low, high = _bounds(share, heading(share, draws), spread, level, len(draws))
    return Shares(once.effects, share, std, low, high, draws, decomposition.flat)


def gp_shares(gp: GP, order: int, level: float | None, seed: int) -> Shares:
    """Closed form. The interval is that of refits on random parts of m rows, whose variance is
    (n - m) / m times that over whole data sets.
    """
    # Shares: closed form of the posterior mean
    exact = gp.shares(order)
    once = Once.of(gp.cube, tuple(exact))
    share = np.clip(once.merged(np.array([list(exact.values())]))[0], 0.0, 1.0)  # rounding
    unknown = np.full(len(once.effects), np.nan)
    n = len(gp.y)
    if level is None or n < 4 or gp.variance <= 0:
        share = share if gp.variance > 0 else unknown
        empty = np.empty((0, len(once.effects)))
        return Shares(once.effects, share, unknown, unknown, unknown, empty)
    # Interval: refits on parts of m rows
    m = min((n + 1) // 2, GP_ROWS)
    parts = _parts(n, m, GP_HALVES, seed)

    def one(k: int) -> FloatArray:
        small = GP(gp.cube, starts=1, seed=seed + k + 1).fit(gp.X[parts[k]], gp.y[parts[k]])
        return np.array(list(small.shares(order).values()))

    draws = once.merged(np.array(_each(one, GP_HALVES, 1)))
    spread = draws.std(axis=0, ddof=1) * math.sqrt(m / (n - m))
    low, high = _bounds(share, share, spread, level, len(draws))
    return Shares(once.effects, share, spread, low, high, draws)


def heading(share: FloatArray, draws: FloatArray) -> FloatArray:
    """Where a share is heading as data grow.

    A forest's error shrinks about as 1 / sqrt(n), so what it still lacks at n is 1 / (sqrt 2 - 1)
    times what it gained from n / 2 to n.
    """
    gained = share - draws.mean(axis=0)
    return np.asarray(np.clip(share + gained / (math.sqrt(2.0) - 1.0), 0.0, 1.0))


def ranks(low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The best and the worst rank (1 is the largest) that intervals leave open; nan without one."""
    above = (low[:, None] > high).sum(axis=0)  # certainly larger
    reach = (high[:, None] >= low).sum(axis=0)  # perhaps as large
    first, last = (np.where(np.isnan(low), np.nan, place) for place in (above + 1.0, 1.0 * reach))
    return first, last


def _parts(n: int, m: int, count: int, seed: int) -> list[IntArray]:
    rng = np.random.default_rng(seed)
    return [rng.permutation(n)[:m] for _ in range(count)]


def _each(one: Callable[[int], FloatArray], count: int, threads: int) -> list[FloatArray]:
    if threads == 1:
        return [one(k) for k in range(count)]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(one, range(count)))


def _bounds(
    share: FloatArray, towards: FloatArray, spread: FloatArray, level: float, draws: int
) -> tuple[FloatArray, FloatArray]:
    """Interval around share and `towards`, even in the square root, where spreads are about even."""
    quantile = float(scipy.stats.t.ppf((1 + level) / 2, draws - 1))
    reach = quantile * spread / (2 * np.sqrt(np.maximum(np.maximum(share, spread), 1e-300)))
    low = np.maximum(np.sqrt(np.minimum(share, towards)) - reach, 0.0) ** 2
    high = np.minimum(np.sqrt(np.maximum(share, towards)) + reach, 1.0) ** 2
    return low, high
