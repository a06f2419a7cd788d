"""One trial of a run with several objectives, chosen by limits, and what the limits cost."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperlens.errors import AnalysisError, listed
from hyperlens.explain.objectives.pareto import ParetoFront, pareto
from hyperlens.record import Record
from hyperlens.runs.history import History
from hyperlens.runs.selection import Selection
from hyperlens.runs.where import parse
from hyperlens.spaces.cube import FloatArray
from hyperlens.words import counted, number

_SIGNS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_LIMIT = re.compile(r"(.+)__(lt|le|gt|ge)")


@dataclass(frozen=True)
class Choice(Record):
    """The chosen trial beside the best of each objective over all trials.

    `prefer` is the objective that it is the best in among the trials within the limits; without one it
    is the knee of their front. `costs` are its own, `best` the best of each objective over all trials.
    """

    objectives: tuple[str, ...]
    maximize: tuple[bool, ...]
    where: str | None
    prefer: str | None
    trial: int
    values: dict[str, Any]
    costs: FloatArray
    best: FloatArray
    within: int  # trials within the limits
    trials: int
    notes: tuple[str, ...]

    @property
    def given_up(self) -> FloatArray:
        """How much worse than the best it is in each objective, (m,)."""
        return np.abs(self.costs - self.best)

    @property
    def sentence(self) -> str:
        """Which trial, by what, and what the limit costs."""
        among = f"all {counted(self.trials, 'trial')}"
        if self.where is not None:
            among = f"the {counted(self.within, 'trial')} of {self.trials} where {self.where}"
        costs = ", ".join(
            f"{name} {number(cost)}"
            for name, cost in zip(self.objectives, self.costs.tolist(), strict=True)
        )
        if self.prefer is None:
            return f"Trial {self.trial} is the knee of the front of {among}: {costs}."
        k = self.objectives.index(self.prefer)
        text = f"Trial {self.trial} has the best {self.prefer} of {among}: {costs}."
        if self.where is None:
            return text
        lost = float(self.given_up[k])
        if lost == 0:
            return f"{text} The limit costs nothing: no trial has a better {self.prefer}."
        return (
            f"{text} The limit costs {number(lost)}: without it the best {self.prefer} is "
            f"{number(float(self.best[k]))}."
        )

    def _columns(self) -> dict[str, Any]:
        return {
            "objective": self.objectives,
            "chosen": self.costs,
            "best": self.best,
            "given_up": self.given_up,
        }


def choose(
    history: History, where: str | None = None, *, prefer: str | None = None, **limits: float
) -> Choice:
    """The best trial within limits: `choose(history, "latency < 20")`, or `latency__lt=20`.

    It is the best in the objective `prefer`, else in the first one without a limit; where there is
    neither a limit nor a preference it is the knee of the front.
    """
    own = [_limit(name, value) for name, value in limits.items()]
    given = [] if where is None else [f"({where})" if own else where]
    text = " and ".join([*given, *own]) or None
    part = history if text is None else Selection(where=text).of(history)
    if text is not None and prefer is None:
        limited = parse(text).names
        prefer = next((o.name for o in history.objectives if o.name not in limited), None)
    whole, found = pareto(history), pareto(part)
    k = None if prefer is None else history.objectives.index(history.objective(prefer))
    chosen = found.knee if k is None else _best_in(found, k)
    row = int(np.flatnonzero(found.number == chosen)[0])
    trial = next(t for t in part.trials if t.number == chosen)
    sign = np.array([o.sign for o in history.objectives])
    return Choice(
        objectives=whole.objectives,
        maximize=whole.maximize,
        where=text,
        prefer=prefer,
        trial=chosen,
        values=dict(trial.values),
        costs=found.costs[row],
        best=sign * (sign * whole.costs[whole.compared]).min(axis=0),
        within=len(found.compared),
        trials=len(whole.compared),
        notes=whole.notes,
    )


def _best_in(found: ParetoFront, k: int) -> int:
    """The trial of the front that is the best in one objective."""
    rows = found.members
    costs = found.costs[rows, k]
    return int(found.number[rows[np.argmax(costs) if found.maximize[k] else np.argmin(costs)]])


def _limit(name: str, value: float) -> str:
    """`latency__lt` and 20 as a condition."""
    match = _LIMIT.fullmatch(name)
    if match is None:
        ways = listed(f"{name}__{sign}" for sign in _SIGNS)
        raise AnalysisError(f"'{name}' is no limit; write {ways}, or a condition as text.")
    name = match[1] if match[1].isidentifier() else f"`{match[1]}`"
    return f"{name} {_SIGNS[match[2]]} {float(value):.17g}"
