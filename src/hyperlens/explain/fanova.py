"""Functional ANOVA: which parameters and interactions the variance of the cost comes from."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import t as student

from hyperlens.cube import FloatArray
from hyperlens.errors import AnalysisError, listed
from hyperlens.explain.fitting import fit
from hyperlens.history import Data, History
from hyperlens.record import Record
from hyperlens.surrogates.forest import Forest, TreeShares
from hyperlens.surrogates.quality import Quality

if TYPE_CHECKING:
    import pandas as pd

HALVES = 32  # random halves of the data that an interval is computed from
HALF_TREES = 16  # trees in the forest of each half


@dataclass(frozen=True)
class Importance(Record):
    """Shares of the forest's variance, one per effect, largest first.

    `std` is the spread over trees. `low` and `high` bound the share at level `interval` as the data
    would vary if the run were repeated; nan when `interval` is None. `rest` is what is left for
    interactions of higher order.
    """

    objective: str
    parameters: tuple[tuple[str, ...], ...]
    share: FloatArray
    std: FloatArray
    low: FloatArray
    high: FloatArray
    rest: float
    interval: float | None
    order: int
    trees: int
    trials: int
    seed: int
    quality: Quality
    notes: tuple[str, ...]

    @property
    def frame(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(
            {
                "parameters": list(self.parameters),
                "share": self.share,
                "std": self.std,
                "low": self.low,
                "high": self.high,
            }
        )


def importance(
    history: History,
    order: int = 2,
    *,
    interval: float | None = 0.9,
    trees: int = 64,
    seed: int = 0,
    objective: str | None = None,
) -> Importance:
    """Shares of variance of every parameter and every pair (order 2), by P4 on a random forest.

    The average over the space is uniform on the search's own scale: a log parameter by its logarithm.
    """
    if order not in (1, 2):
        raise AnalysisError(f"Interactions of order {order} are not computed; choose 1 or 2.")
    if interval is not None and not 0 < interval < 1:
        raise AnalysisError(
            f"An interval of {interval} is not a level; choose one between 0 and 1."
        )
    data = history.data(objective)
    names = history.space.names
    fitted = fit(history, "forest", seed, objective, trees)
    forest = fitted.model
    assert isinstance(forest, Forest)
    found = forest.shares(order)
    effects = tuple(tuple(names[j] for j in effect) for effect in found.effects)
    unknown = np.full(len(effects), np.nan)
    share, std, low, high, rest = unknown, unknown, unknown, unknown, math.nan
    if len(found.shares):
        share, std = found.shares.mean(axis=0), found.shares.std(axis=0)
        rest = max(0.0, 1.0 - float(share.sum()))
        if interval is not None:
            low, high = bounds(share, *over_halves(forest, order, seed), interval)
    ranked = np.argsort(-np.nan_to_num(share), kind="stable")
    return Importance(
        objective=history.objective(objective).name,
        parameters=tuple(effects[k] for k in ranked),
        share=share[ranked],
        std=std[ranked],
        low=low[ranked],
        high=high[ranked],
        rest=rest,
        interval=interval,
        order=order,
        trees=trees,
        trials=len(data.y),
        seed=seed,
        quality=fitted.quality,
        notes=_notes(history, data, found),
    )


def over_halves(forest: Forest, order: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Mean share over random halves of the data, and the spread shares have over redrawn data.

    The variance over random halves of the data is that over whole data sets (delete-half jackknife).
    Each half's forest is small, so part of what is seen is noise of its trees, W / trees. Half of that
    is taken off: taking off all of it left intervals too narrow on small noisy runs, see
    docs/results/interval_coverage.md.
    """
    rng = np.random.default_rng(seed)
    n = len(forest.y)
    halves = [rng.permutation(n)[: (n + 1) // 2] for _ in range(HALVES)]

    def one(k: int) -> FloatArray:
        small = Forest(forest.cube, HALF_TREES, seed + k + 1, threads=1)
        return small.fit(forest.X[halves[k]], forest.y[halves[k]]).shares(order).shares

    with ThreadPoolExecutor(forest.threads) as pool:
        found = [shares for shares in pool.map(one, range(HALVES)) if len(shares) > 1]
    if len(found) < 2:
        unknown = np.full(forest.shares(order).shares.shape[1], np.nan)
        return unknown, unknown
    means = np.array([shares.mean(axis=0) for shares in found])
    between = means.var(axis=0, ddof=1)
    within = np.mean([shares.var(axis=0, ddof=1) for shares in found], axis=0)
    spread = np.sqrt(np.maximum(between - within / (2 * HALF_TREES), between / 4))
    return means.mean(axis=0), spread


def bounds(
    share: FloatArray, halves: FloatArray, spread: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Interval of each share: symmetric in its square root, where spreads are about even, and drawn
    out to where the share is heading as data grow.

    A forest's error shrinks about as 1 / sqrt(n), so what it still lacks at n is 1 / (sqrt 2 - 1)
    times what it gained from n / 2 to n.
    """
    heading = np.clip(share + (share - halves) / (math.sqrt(2.0) - 1.0), 0.0, 1.0)
    quantile = float(student.ppf((1 + level) / 2, HALVES - 1))
    reach = quantile * spread / (2 * np.sqrt(np.maximum(share, 1e-12)))
    low = np.maximum(np.sqrt(np.minimum(share, heading)) - reach, 0.0) ** 2
    high = np.minimum(np.sqrt(np.maximum(share, heading)) + reach, 1.0) ** 2
    return low, high


def _notes(history: History, data: Data, found: TreeShares) -> tuple[str, ...]:
    notes = []
    if not len(found.shares):
        notes.append(
            f"All {len(data.y)} analysed costs lead to one prediction everywhere, so no share can be "
            "known; more trials with different costs are needed."
        )
    elif found.flat:
        notes.append(f"{found.flat} trees without any variance were left out.")
    same = [
        name
        for j, name in enumerate(history.space.names)
        if len(np.unique(data.X[:, j][~np.isnan(data.X[:, j])])) < 2
    ]
    if same and len(found.shares):
        notes.append(
            f"Never varied in these trials, so nothing can be known of its importance: {listed(same)}."
        )
    if history.space.configspace.forbidden_clauses:
        notes.append("Forbidden combinations count as part of the space here.")
    return tuple(notes)
