"""Several runs of the same kind beside each other: how fast each improved, and how far it came."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hyperlens.cube import FloatArray
from hyperlens.errors import AnalysisError
from hyperlens.history import History
from hyperlens.record import Record

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Beside(Record):
    """One entry per run: its best cost after each analysed trial, and when it ended.

    `trace[k]` and `elapsed[k]` (seconds since the run's first start, nan where unknown) have one
    entry per analysed trial. `common` is the number of trials that all runs have; `at_common` is
    what each had reached by then, the fair comparison.
    """

    objective: str
    maximize: bool
    runs: tuple[str, ...]
    trace: tuple[FloatArray, ...]
    elapsed: tuple[FloatArray, ...]
    best: FloatArray
    at_common: FloatArray
    common: int
    notes: tuple[str, ...]

    @property
    def order(self) -> tuple[int, ...]:
        """The runs, best first by what they had reached after the common number of trials."""
        sign = -1.0 if self.maximize else 1.0
        return tuple(np.argsort(sign * self.at_common, kind="stable").tolist())

    @property
    def frame(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(
            {
                "run": self.runs,
                "trials": [len(t) for t in self.trace],
                "best": self.best,
                f"best after {self.common}": self.at_common,
            }
        )


def beside(histories: Mapping[str, History], objective: str | None = None) -> Beside:
    """Compare runs that measured the same objective in the same direction."""
    if len(histories) < 2:
        raise AnalysisError("A comparison of runs needs at least two; name another one.")
    goals = {history.objective(objective) for history in histories.values()}
    if len(goals) > 1:
        said = " and ".join(
            f"'{goal.name}' ({'maximised' if goal.maximize else 'minimised'})"
            for goal in sorted(goals, key=lambda g: (g.name, g.maximize))
        )
        raise AnalysisError(f"These runs measure {said}; compare runs with one and the same goal.")
    (goal,) = goals
    traces = tuple(history.trace(objective) for history in histories.values())
    common = min(map(len, traces))
    spaces = {tuple(sorted(history.space.names)) for history in histories.values()}
    notes = ("Their search spaces are not the same.",) if len(spaces) > 1 else ()
    return Beside(
        objective=goal.name,
        maximize=goal.maximize,
        runs=tuple(histories),
        trace=traces,
        elapsed=tuple(_elapsed(history, objective) for history in histories.values()),
        best=np.array([float(t[-1]) for t in traces]),
        at_common=np.array([float(t[common - 1]) for t in traces]),
        common=common,
        notes=notes,
    )


def _elapsed(history: History, objective: str | None) -> FloatArray:
    """Seconds from the first start to the end of each analysed trial."""
    starts = [t.started for t in history.trials if t.started is not None]
    first = min(starts, default=math.nan)
    ended = [history.trials[i].ended for i in history.data(objective).rows]
    return np.array([math.nan if e is None else e - first for e in ended], dtype=float)
