"""May this surrogate be explained? Cross-validated fit, ranking and band coverage, and a verdict.

Symbols
    m, s     mean and standard deviation predicted for a trial that was left out
    R2       1 - sum (y - m)^2 / sum (y - mean of y)^2
    coverage part of the trials with |y - m| <= 1.96 s; 95 % if the band is honest
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from hyperlens.notebook import view
from hyperlens.spaces.cube import BoolArray, FloatArray
from hyperlens.spaces.points import configurations_of
from hyperlens.surrogates.protocol import Surrogate
from hyperlens.words import counted, decimals, percent

FEWEST = 10  # trials below which no number of a cross-validation means anything
GOOD_R2, FAIR_R2 = 0.7, 0.3
GOOD_COVERAGE = 0.8
BAND = 1.959963984540054  # 97.5 % quantile of the normal distribution

Word = Literal["trust", "caution", "do not trust"]


@dataclass(frozen=True, repr=False)
class Quality:
    """Cross-validated quality; r2, rank_correlation and coverage are nan where undefined."""

    surrogate: str
    r2: float
    rank_correlation: float
    coverage: float
    trials: int
    folds: int
    verdict: Word
    sentence: str

    def __repr__(self) -> str:
        numbers = f"R2 {decimals(self.r2)}, rank correlation {decimals(self.rank_correlation)}"
        coverage = f"coverage {decimals(self.coverage)}, {counted(self.trials, 'trial')}"
        return f"<Quality of the {self.surrogate}: {self.verdict}; {numbers}, {coverage}>"

    def _repr_html_(self) -> str:
        return view(f"Quality of the {self.surrogate}", self.sentence, verdict=self.verdict)


def assess(
    model: Surrogate,
    X: FloatArray,
    y: FloatArray,
    name: str,
    measured: BoolArray | None = None,
    folds: int = 5,
    seed: int = 0,
) -> Quality:
    """Cross-validate a model that is fitted on X, y, leaving out one seeded fold after another.

    Only `measured` costs are left out and predicted, where some are not. All trials of one configuration
    are left out together, or else it would have been seen. With fewer configurations than folds, each
    is left out alone.

    Trust needs R2 >= 0.7 and a 95 % band that covers at least 80 %; caution needs R2 >= 0.3.
    """
    rows = np.arange(len(y)) if measured is None else np.flatnonzero(measured)
    y = y[rows]
    which = configurations_of(X[rows])
    count = int(which.max(initial=-1)) + 1
    trials, folds = len(rows), min(folds, count)
    if count < 2 or np.ptp(y) == 0:
        sentence = f"All {trials} costs are equal, so there is nothing for the {name} to explain."
        if count < 2:
            one = "trial" if trials < 2 else "configuration"
            sentence = f"The {name} cannot be assessed: there is only one {one}."
        unknown = math.nan
        return Quality(name, unknown, unknown, unknown, trials, folds, "do not trust", sentence)
    mean, std = np.empty(trials), np.empty(trials)
    order = np.random.default_rng(seed).permutation(count)
    for part in np.array_split(order, folds):
        fold = np.flatnonzero(np.isin(which, part)) if count < trials else part
        mean[fold], std[fold] = model.holdout(rows[fold])
    scale = np.ptp(y)  # before squaring, so that no cost is too large or small to square
    r2 = 1 - float(np.sum(((y - mean) / scale) ** 2) / np.sum(((y - y.mean()) / scale) ** 2))
    rank = rank_correlation(y, mean)
    coverage = float(np.mean(np.abs(y - mean) <= BAND * std))
    verdict, reason = _judge(r2, coverage, trials)
    explained = "none" if r2 < 0.005 else percent(r2)
    sentence = (
        f"Cross-validated on {trials} trials, the {name} explains {explained} of the variance "
        f"(R2 {r2:.2f}), ranks trials with correlation {rank:.2f}, and its 95 % band covers "
        f"{percent(coverage)}: {reason}."
    )
    return Quality(name, r2, rank, coverage, trials, folds, verdict, sentence)


def rank_correlation(a: FloatArray, b: FloatArray) -> float:
    """Spearman's correlation; 0 where one side does not vary."""
    from scipy.stats import rankdata  # here, because scipy.stats takes long to import

    ranks = [rankdata(v) - (len(v) + 1) / 2 for v in (a, b)]
    norm = float(np.linalg.norm(ranks[0]) * np.linalg.norm(ranks[1]))
    return float(ranks[0] @ ranks[1]) / norm if norm > 0 else 0.0


def _judge(r2: float, coverage: float, trials: int) -> tuple[Word, str]:
    if trials < FEWEST:
        return "do not trust", f"do not trust it, for fewer than {FEWEST} trials prove nothing"
    if r2 < FAIR_R2:
        return "do not trust", "do not trust what it shows, it has learnt too little"
    if r2 < GOOD_R2:
        return "caution", "read it with caution, large effects only"
    if coverage < GOOD_COVERAGE:
        return "caution", "the picture can be trusted, its bands are too narrow"
    return "trust", "its picture can be trusted"
