"""When a search may stop: its next trials are expected to gain less than the standard error of a cost.

What is smaller than that error cannot be told from noise (Makarova et al. 2022 stop by a bound of the
regret instead). The gain is that of `surrogates.outlook.prospect`, from all trials that ended with a
cost, at trial counts that grow by a quarter: the same trials and seed give the same decision, so a run
that goes on after a kill stops where it would have.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.runs.stopped import Stopped
from hyperlens.spaces.cube import FloatArray
from hyperlens.spaces.space import Space
from hyperlens.surrogates.bearable import bearable
from hyperlens.surrogates.outlook.prospect import AHEAD, Search, prospect
from hyperlens.surrogates.quality import FAIR_R2, assess
from hyperlens.surrogates.threads import one_thread

GROWTH = 1.25  # of the number of trials from one decision to the next
MOST_PARAMETERS = 60
LARGEST = 1500  # trials that are learnt from: the first half of them, and the last


@dataclass(frozen=True)
class Stop:
    """Stop when the next `ahead` trials are expected to gain less than `error`, the standard error of a
    cost; None takes the noise that a surrogate finds in the costs. Never before `fewest` trials.

    >>> [n for n in range(10, 60) if Stop().due(n) == n]
    [20, 25, 32, 40, 49]
    """

    error: float | None = None
    ahead: int = AHEAD
    fewest: int = 20

    def __post_init__(self) -> None:
        if self.error is not None and not (math.isfinite(self.error) and self.error >= 0):
            raise AnalysisError(
                f"A standard error of {self.error} is none; give a number of at least 0."
            )
        if self.ahead < 1 or self.fewest < 1:
            raise AnalysisError("A search is stopped by what at least 1 trial would gain.")

    def due(self, trials: int) -> int | None:
        """After how many of so many trials it was last to be decided; None if not yet."""
        if trials < self.fewest:
            return None
        steps = int(math.log(trials / self.fewest) / math.log(GROWTH) + 1e-9)
        due = math.ceil(self.fewest * GROWTH ** (steps + 1) - 1e-9)
        return due if due <= trials else math.ceil(self.fewest * GROWTH**steps - 1e-9)

    def decide(
        self, space: Space, X: FloatArray, y: FloatArray, search: Search = "model", seed: int = 0
    ) -> Stopped | None:
        """Whether to stop after trials with these vectors and minimised costs, and why."""
        from hyperlens.surrogates.additive.additive import Additive

        y = bearable(y)
        if np.ptp(y) == 0 or len(space) > MOST_PARAMETERS:
            return None
        rows = np.arange(len(y))
        if len(y) > LARGEST:
            rows = np.r_[: LARGEST // 2, len(y) - LARGEST // 2 : len(y)]
        X, costs = X[rows], y[rows]
        try:
            with one_thread():  # the same decision on any number of cores
                model = Additive(space.cube, seed).fit(X, costs)
                if not assess(model, X, costs, "process").r2 >= FAIR_R2:
                    return None
                known = prospect(model, space, seed)
        except ValueError:  # a covariance that cannot be inverted says nothing
            return None
        gain = float(known.gains(search, self.ahead, seed).mean())
        error = known.noise if self.error is None else self.error
        return Stopped(len(y), self.ahead, gain, error) if gain < error else None


def as_stop(given: bool | float | Stop | None) -> Stop | None:
    """How a search stops, in any form that a user may give: yes, no, or the standard error."""
    if given is None or given is False:
        return None
    if isinstance(given, Stop):
        return given
    return Stop() if given is True else Stop(error=float(given))
