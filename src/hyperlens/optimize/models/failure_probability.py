"""How likely random search misses the best configuration: Sarigiannis et al.'s lemma 1 and theorem 1.

Symbols (Sarigiannis et al. 2020 section 3.2)
    M        models; the best one is any of them with the same chance
    theta    size of a model's space, counted in configurations that can be told apart (at least 1)
    K        trials: configurations drawn (the paper's budget)
    P_F      1/M sum (1 - p / theta)^K (Eq. 6), p the chance of drawing the model
Theorem 1 says that p = theta / sum theta misses less often than p = 1/M unless all theta are equal.
Its proof needs (1 - 1/(M theta))^K to be convex, which holds while 2 M theta <= K + 1. For fewer
trials the order may be the reverse (M = 2, theta = 1 and 3, K = 1: 3/4 against 2/3), so the record
says from how many trials on the theorem holds.
"""

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.optimize.models.model_sampling import ROOT, log_sizes
from hyperlens.record import Record
from hyperlens.spaces.cube import FloatArray, IntArray
from hyperlens.spaces.space import Space
from hyperlens.tables import Column, Table, table

POINTS = 60  # of a curve
LARGEST = 1e15  # a size beyond which 1 - p / theta is 1 in floating point


@dataclass(frozen=True)
class FailureProbability(Record):
    """`uniform[i]` and `weighted[i]` are P_F (Eq. 8 and 10) of a search with `trials[i]` draws.

    `holds_from` are the fewest trials from which on weighted misses less often, None where all sizes
    are equal; from `proved_from` on the theorem's proof holds.
    """

    models: tuple[str, ...]
    theta: FloatArray
    weights: FloatArray
    trials: IntArray
    uniform: FloatArray
    weighted: FloatArray
    holds_from: int | None
    proved_from: int
    notes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        if self.holds_from is None:
            return "All models are of the same size, so weighted and uniform sampling are the same."
        if self.holds_from == 1:
            return (
                "Weighting by size misses the best configuration less often however many are drawn."
            )
        return (
            f"Weighting by size misses the best configuration less often from {self.holds_from} draws "
            f"on (the proof of theorem 1 covers {self.proved_from} and more); below that, uniform "
            "sampling does."
        )

    @property
    def tables(self) -> tuple[Table, ...]:
        size, chance = "{:.6g}".format, "{:.4f}".format
        return (
            table(
                Column("model", self.models),
                Column("size", self.theta, size),
                Column("weight", self.weights, chance),
            ),
            table(
                Column("drawn", self.trials, "{:d}".format),
                Column("missed, uniform", self.uniform, chance),
                Column("missed, weighted", self.weighted, chance),
            ),
        )

    def _columns(self) -> dict[str, Any]:
        return self._fields("trials", "uniform", "weighted")


def failure_probability(
    models: Space | Mapping[str, float] | Sequence[float],
    trials: int | Sequence[int] | None = None,
    *,
    volume: bool = False,
    root: str = ROOT,
) -> FailureProbability:
    """Compare uniform sampling of models with weighting by the size of their spaces.

    `models` gives theta for each model, or is a space with a root: then theta is 2^N (Eq. 5), or
    with `volume` the product of spans (Eq. 7). Without `trials`, a range that shows both
    curves.

    >>> record = failure_probability({"small": 1, "large": 3}, trials=[1, 10])
    >>> record.uniform.round(3).tolist(), record.weighted.round(3).tolist()
    ([0.667, 0.081], [0.75, 0.056])
    """
    sizes = _sizes(models, volume, root)
    theta = np.array(list(sizes.values()))
    m, largest = len(theta), float(theta.max())
    proved = max(1, math.ceil(2 * m * largest) - 1)
    draws = _draws(trials, float(theta.sum()))
    weights = theta / theta.sum()
    holds = None if np.ptp(theta) == 0 else _holds_from(theta, proved)
    return FailureProbability(
        models=tuple(sizes),
        theta=theta,
        weights=weights,
        trials=draws,
        uniform=missed(theta, np.full(m, 1 / m), draws),
        weighted=missed(theta, weights, draws),
        holds_from=holds,
        proved_from=proved,
    )


def missed(theta: FloatArray, p: FloatArray, trials: IntArray) -> FloatArray:
    """P_F of lemma 1 (Eq. 6) for each number of trials."""
    with np.errstate(divide="ignore"):  # a model of one configuration, drawn for certain
        once = np.log1p(-p / theta)
    return np.asarray(np.exp(np.asarray(trials)[:, None] * once).mean(axis=1))


def _holds_from(theta: FloatArray, proved: int) -> int:
    """Fewest trials from which on weighted misses less often, by bisection below the proof's.

    The uniform curve divided by the weighted one is a mean of exponentials in K, so it is convex,
    and it is 1 at K = 0: it crosses 1 once more at most.
    """

    def better(trials: int) -> bool:
        at = np.array([trials])
        even = missed(theta, np.full(len(theta), 1 / len(theta)), at)
        return bool(missed(theta, theta / theta.sum(), at)[0] < even[0])

    return 1 + bisect_left(range(1, proved), True, key=better)


def _sizes(
    models: Space | Mapping[str, float] | Sequence[float], volume: bool, root: str
) -> dict[str, float]:
    if isinstance(models, Space):
        logs = log_sizes(models, root, counted=not volume)
        sizes = {name: math.exp(min(size, 700.0)) for name, size in logs.items()}
    elif isinstance(models, Mapping):
        sizes = {str(name): float(size) for name, size in models.items()}
    else:
        sizes = {str(k): float(size) for k, size in enumerate(models, 1)}
    if not sizes:
        raise AnalysisError("There is no model; give the size of at least one.")
    for name, size in sizes.items():
        if not 1.0 <= size <= LARGEST:
            raise AnalysisError(
                f"The space of model '{name}' has the size {size:g}; measure ranges in steps that "
                f"can be told apart, so that every size lies between 1 and {LARGEST:g}."
            )
    return sizes


def _draws(trials: int | Sequence[int] | None, whole: float) -> IntArray:
    if trials is None:
        ends = np.geomspace(1, max(10.0, 8 * whole), POINTS)
        return np.unique(np.rint(ends).astype(np.int64))
    counts = np.atleast_1d(np.asarray(trials))
    if not len(counts) or (counts < 0).any() or (counts != np.floor(counts)).any():
        raise AnalysisError("Trials are a number of draws; give whole numbers from 0 on.")
    return counts.astype(np.int64)
