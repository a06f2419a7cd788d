"""Overtuning: what of a search's progress was lost again on data that it did not see.

    ot_t = test(best_t) - min over s <= t of test(best_s)

where best_t is the best of the first t trials by what the search minimised, and test what was measured
of it elsewhere (Schneider et al. 2025). Relative to what the search had gained on the test by then,
test(best_1) - min over s <= t of test(best_s), a value above 1 says that it ended worse than it began.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.runs.history import History
from hyperlens.spaces.cube import FloatArray, IntArray
from hyperlens.words import number, percent


@dataclass(frozen=True)
class Overtuning:
    """Of the trials that have both: each that was the best when it came, and its cost elsewhere.

    `test` is in the user's direction, `overtuning` is how much worse than the best of them so far.
    """

    objective: str
    trials: int
    trial: IntArray
    test: FloatArray
    overtuning: FloatArray
    relative: float  # of what was gained on the test; nan where nothing was

    @property
    def sentence(self) -> str:
        """How much was lost again, and to which trial one would go back."""
        last, lost = int(self.trial[-1]), float(self.overtuning[-1])
        reached = f"{self.objective} of trial {last}, {number(float(self.test[-1]))},"
        if len(self.trial) == 1:
            return f"The {reached} is that of the first best: no later trial was better."
        if lost == 0:
            return f"The {reached} is the best of all that led the search: it did not overtune."
        best = int(np.flatnonzero(self.overtuning == 0)[-1])
        told = (
            f"The {reached} is {number(lost)} worse than that of trial {self.trial[best]}, which led "
            "before it: the search overtuned"
        )
        if not math.isfinite(self.relative):
            return f"{told}, and gained nothing since its first trial."
        if self.relative > 1:
            return f"{told}, and ended worse than it began."
        return f"{told}, by {percent(self.relative)} of what it had gained."


def overtuning(history: History, objective: str | None, test: str) -> Overtuning:
    """Of the analysed trials in which both objectives are finite numbers."""
    searched, other = history.objective(objective), history.objective(test)
    if searched == other:
        raise AnalysisError(
            f"'{test}' is what the search minimised itself; name what was measured on other data."
        )
    data = history.data(objective)
    costs = other.sign * history.measured(other)[data.rows]
    known = np.isfinite(costs)
    if not known.any():
        raise AnalysisError(
            f"No analysed trial has a finite '{test}'; name an objective that was measured."
        )
    y, costs, rows = data.y[known], costs[known], data.rows[known]
    best = np.minimum.accumulate(y)
    leads = np.flatnonzero(np.r_[True, best[1:] < best[:-1]])
    led = costs[leads]
    lost = led - np.minimum.accumulate(led)
    gained = float(led[0] - led.min())
    return Overtuning(
        objective=other.name,
        trials=len(rows),
        trial=np.array([history.trials[i].number for i in rows[leads]]),
        test=other.sign * led,
        overtuning=lost,
        relative=float(lost[-1]) / gained if gained > 0 else math.nan,
    )
