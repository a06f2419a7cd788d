"""What the run was: how many trials, how they ended, the best, and how it was reached."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperlens.record import Record
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History, State
from hyperlens.spaces.cube import BoolArray, FloatArray, IntArray
from hyperlens.words import article, beside, counted


@dataclass(frozen=True)
class Overview(Record):
    """A run at a glance; costs and trace in the user's direction, one per analysed trial.

    `limits` are what a trial must keep, `kept` says which analysed trials do; None where there are no
    limits.
    """

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
    aside: tuple[str, ...] = ()  # what was set aside and changes every number, said first
    limits: tuple[str, ...] = ()
    kept: BoolArray | None = None

    @property
    def trials(self) -> int:
        """All trials, analysed or not."""
        return sum(self.states.values())

    def shown(self, cost: float) -> str:
        """A cost with the digits that tell it from others."""
        return beside(self.cost)(float(cost))

    @property
    def counts(self) -> str:
        """How many trials there are and how they ended."""
        states = ", ".join(f"{count} {state}" for state, count in self.states.items())
        source = f" ({self.source})" if self.source else ""
        return f"The run{source} has {counted(self.trials, 'trial')}: {states}."

    @property
    def sentence(self) -> str:
        """The best, and which trial reached it."""
        way = "highest" if self.maximize else "lowest"
        if self.kept is None or self.kept.all():
            return (
                f"The {way} {self.objective} is {self.shown(self.best)}, reached by trial "
                f"{self.best_trial}."
            )
        if self.useless:
            return (
                f"No analysed trial keeps {self.bounds}; trial {self.best_trial} exceeds it "
                f"least, with {article(self.objective)} of {self.shown(self.best)}."
            )
        return (
            f"The {way} {self.objective} among the {counted(int(self.kept.sum()), 'trial')} of "
            f"{len(self.kept)} that keep {self.bounds} is {self.shown(self.best)}, reached by trial "
            f"{self.best_trial}."
        )

    @property
    def bounds(self) -> str:
        """The limits in words."""
        return " and ".join(self.limits)

    @property
    def useless(self) -> bool:
        """Does no trial keep the limits?"""
        return self.kept is not None and not self.kept.any()

    @property
    def after_best(self) -> int:
        """Analysed trials that came after the best."""
        return int((self.number > self.best_trial).sum())

    @property
    def progress(self) -> str:
        """When the best was found, and how much of the run came after it."""
        if len(self.cost) == 1:
            only = f"{article(self.objective)} of {self.shown(self.best)}"
            return f"There is only one analysed trial, with {only}."
        if self.useless:
            return f"No analysed trial keeps {self.bounds}, so that the line is the best of all."
        tail = (
            f"The {counted(self.after_best, 'analysed trial')} after it brought no improvement."
            if self.after_best
            else "It was the last analysed trial, so the run was still improving."
        )
        known = self.trace[~np.isnan(self.trace)]
        first = "trial" if len(known) == len(self.trace) else "trial that keeps the limits"
        return (
            f"The best {self.objective} so far went from {self.shown(known[0])} in the first "
            f"{first} to {self.shown(self.best)} in trial {self.best_trial}. {tail}"
        )

    def _columns(self) -> dict[str, Any]:
        columns = {"trial": self.number, "cost": self.cost, "best": self.trace}
        return columns if self.kept is None else columns | {"feasible": self.kept}


@of_a_run
def overview(history: History, objective: str | None = None) -> Overview:
    """Summarise a run."""
    chosen = history.objective(objective)
    data = history.data(objective)
    best = history.best(objective)
    k = history.objectives.index(chosen)
    return Overview(
        source=history.source,
        objective=chosen.name,
        maximize=chosen.maximize,
        states={s.value: history.count(s) for s in State if history.count(s)},
        best=best.costs[k],
        best_trial=best.number,
        best_values=dict(best.values),
        number=np.array([history.trials[i].number for i in data.rows]),
        cost=chosen.sign * data.y,
        trace=history.trace(objective),
        parameters=history.space.names,
        conditions=history.space.conditions,
        constants=dict(history.space.constants),
        notes=tuple(history.warnings(objective)),
        others=tuple(o.name for o in history.objectives if o != chosen),
        aside=tuple(filter(None, (history.divergence(objective),))),
        limits=history.limits,
        kept=history.feasible[data.rows] if history.limits else None,
    )
