"""What the run was: how many trials, how they ended, the best, and how it was reached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hyperlens.record import Record
from hyperlens.runs.history import History, State
from hyperlens.spaces.cube import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Overview(Record):
    """A run at a glance; costs and trace in the user's direction, one per analysed trial."""

    source: str
    objective: str
    maximize: bool
    states: dict[str, int]
    best: float
    best_trial: int
    best_values: dict[str, Any]
    number: IntArray
    cost: FloatArray
    trace: FloatArray
    parameters: tuple[str, ...]
    conditions: dict[str, str]
    constants: dict[str, Any]
    notes: tuple[str, ...]
    others: tuple[str, ...] = ()  # objectives beside this one

    @property
    def trials(self) -> int:
        """All trials, analysed or not."""
        return sum(self.states.values())

    @property
    def frame(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame({"trial": self.number, "cost": self.cost, "best": self.trace})


def overview(history: History, objective: str | None = None) -> Overview:
    """Summarise a run."""
    chosen = history.objective(objective)
    data = history.data(objective)
    best = history.best(objective)
    k = history.objectives.index(chosen)
    sign = -1.0 if chosen.maximize else 1.0
    return Overview(
        source=history.source,
        objective=chosen.name,
        maximize=chosen.maximize,
        states={s.value: history.count(s) for s in State if history.count(s)},
        best=best.costs[k],
        best_trial=best.number,
        best_values=dict(best.values),
        number=np.array([history.trials[i].number for i in data.rows]),
        cost=sign * data.y,
        trace=history.trace(objective),
        parameters=history.space.names,
        conditions=history.space.conditions,
        constants=dict(history.space.constants),
        notes=tuple(history.warnings(objective)),
        others=tuple(o.name for o in history.objectives if o != chosen),
    )
