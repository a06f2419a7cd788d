"""Which trials exceed the limits: how often by the values of each parameter, and what limits cost.

What is counted and how it is told is that of failures (failures.py); the outcome is that a trial exceeds
a limit. What limits cost is the difference between the best trial that keeps them and the best of all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.explain.models.chance import BY_CHANCE, beyond_chance
from hyperlens.explain.run.failures import LEVEL, Failures, by_parameter
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History, State
from hyperlens.spaces.cube import BoolArray, FloatArray, IntArray
from hyperlens.tables import Column, Table, table
from hyperlens.words import counted, first_few, number

MOST_BETWEEN = 20  # trials in a table


@dataclass(frozen=True)
class Feasibility(Failures):
    """Which trials exceed a limit, by the values of each parameter, and what the limits cost.

    `kinds` counts trials by the limit that they exceed, `broken` those that exceed any; `failed` are
    these by the values of each parameter. `best` is the best trial that keeps all limits, `free` the
    best of all, with their costs; `between` are analysed trials that are better than `best`, the best
    first, with their costs and by how much they exceed each limit (trials, limits).
    """

    limits: tuple[str, ...] = ()
    broken: int = 0
    maximize: bool = False
    best: int = 0
    best_cost: float = np.nan
    free: int = 0
    free_cost: float = np.nan
    between: IntArray | None = None
    between_cost: FloatArray | None = None
    between_excess: FloatArray | None = None

    @property
    def heading(self) -> str:
        return f"Trials that keep {self.bounds}"

    @property
    def happened(self) -> str:
        return "exceeded a limit" if len(self.limits) > 1 else "exceeded it"

    @property
    def chance(self) -> str:
        return "chance to exceed a limit" if len(self.limits) > 1 else "chance to exceed the limit"

    @property
    def bounds(self) -> str:
        """The limits in words."""
        return " and ".join(self.limits)

    @property
    def count(self) -> int:
        return self.broken

    @property
    def sentence(self) -> str:
        """How many exceed the limits, and where."""
        each = ", ".join(f"{count} {kind}" for kind, count in self.kinds.items())
        what = f"a limit ({each})" if len(self.limits) > 1 else self.bounds
        verb = "exceeds" if self.broken == 1 else "exceed"
        told = f"{self.broken} of {counted(self.trials, 'trial')} {verb} {what}"
        if self.rule is None:
            return f"{told}; no rule says where: none holds for trials it was not made from."
        return f"{told}{self._where(self.rule, 'of them')}"

    @property
    def reading(self) -> str:
        """Which parameters it depends on, as far as can be told."""
        mattering = beyond_chance(self.parameters, self.p)
        if not mattering:
            return "Whether a trial does cannot be told to depend on any single parameter."
        named = first_few(mattering, 5)
        return f"Whether a trial does depends on {named} (p at most {BY_CHANCE} together)."

    @property
    def price(self) -> str:
        """What the limits cost, and what lies between."""
        if self.between is None or self.between_excess is None:
            return ""
        one = len(self.limits) == 1
        cost, them = ("The limit costs", "it") if one else ("The limits cost", "them")
        within = f"the best {self.objective} within {them} is {number(self.best_cost)}"
        inside = f"{within} (trial {self.best})"
        if not len(self.between):
            return f"{cost} nothing: {inside}, and no trial is better."
        lost = number(abs(self.best_cost - self.free_cost))
        above = self.between_excess[0]
        worst = int(np.argmax(np.nan_to_num(above, nan=-np.inf)))
        by = number(float(above[worst]))
        if np.isnan(above).all() or not above[worst] > 0:
            beyond = f"of which it is not known whether it keeps {them}"
        else:
            beyond = f"{by} beyond {self.limits[worst]}"
        trials = counted(len(self.between), "trial")
        verbs = ("exceeds", "is") if len(self.between) == 1 else ("exceed", "are")
        return (
            f"{cost} {lost}: {inside}; {trials} that {verbs[0]} {them} {verbs[1]} better, the best with "
            f"{number(self.free_cost)} (trial {self.free}, {beyond})."
        )

    @property
    def lead(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.sentence, self.price, self.reading)))

    @property
    def tables(self) -> tuple[Table, ...]:
        """Rates by value, and the trials that are better than the best within the limits."""
        own = super().tables
        if self.between is None or not len(self.between):
            return own
        assert self.between_cost is not None
        assert self.between_excess is not None
        rows = slice(MOST_BETWEEN)
        lost = [
            Column(f"beyond {limit}", self.between_excess[rows, k].tolist(), number)
            for k, limit in enumerate(self.limits)
        ]
        trials = Column("better trial", self.between[rows].tolist(), str)
        costs = Column(self.objective, self.between_cost[rows].tolist(), number)
        return (*own, table(trials, costs, *lost))


@of_a_run
def feasibility(
    history: History, *, level: float = LEVEL, seed: int = 0, objective: str | None = None
) -> Feasibility:
    """How often trials exceed the limits by each parameter, where, and what the limits cost."""
    if not 0 < level < 1:
        raise AnalysisError(f"An interval of {level} is not a level; choose one between 0 and 1.")
    if not history.limits:
        raise AnalysisError(
            'This run has no limits; name one with --constraint "latency < 20" (constraint= in '
            "Python)."
        )
    excess = np.array([t.excess for t in history.trials], dtype=float)
    ended = np.array([t.state is not State.RUNNING for t in history.trials], dtype=bool)
    rows = ended & ~np.isnan(excess).any(axis=1)
    broken = np.asarray((excess > 0).any(axis=1))[rows]
    _check(history, rows, broken)
    found, _ = by_parameter(history, rows, broken, level, seed)
    kinds = zip(history.limits, (excess[rows] > 0).sum(axis=0).tolist(), strict=True)
    return Feasibility(
        objective=history.objective(objective).name,
        trials=int(rows.sum()),
        kinds=dict(kinds),
        **found,
        level=level,
        seed=seed,
        notes=_unknown(int((ended & ~rows).sum())),
        limits=history.limits,
        broken=int(broken.sum()),
        maximize=history.objective(objective).maximize,
        **_price(history, objective),
    )


def _price(history: History, objective: str | None) -> dict[str, Any]:
    """What a record says of the best with and without limits."""
    data = history.data(objective)
    k = history.objectives.index(history.objective(objective))
    best = history.best_row(data)
    order = np.argsort(data.y, kind="stable")
    between = [history.trials[data.rows[i]] for i in order if data.y[i] < data.y[best]]
    kept, free = (history.trials[data.rows[i]] for i in (best, int(order[0])))
    if not kept.feasible:
        return {}
    return {
        "best": kept.number,
        "best_cost": kept.costs[k],
        "free": free.number,
        "free_cost": free.costs[k],
        "between": np.array([t.number for t in between], dtype=np.int64),
        "between_cost": np.array([t.costs[k] for t in between], dtype=float),
        "between_excess": np.array([t.excess for t in between], dtype=float).reshape(
            len(between), len(history.limits)
        ),
    }


def _check(history: History, rows: BoolArray, broken: BoolArray) -> None:
    """Refuse a run in which all trials keep the limits, or none does."""
    count, bounds = len(broken), " and ".join(history.limits)
    if not count:
        raise AnalysisError(f"Of no trial it is known whether it keeps {bounds}; measure it.")
    if not broken.any():
        raise AnalysisError(
            f"All {counted(count, 'trial')} of which it is known keep {bounds}, so there is nothing to "
            "compare."
        )
    if broken.all():
        least = history.trials[int(np.argmin(np.where(rows, history.exceeded, np.inf)))]
        raise AnalysisError(
            f"None of {counted(count, 'trial')} keeps {bounds}; trial {least.number} exceeds it least, "
            f"by {number(max(least.excess))}."
        )


def _unknown(count: int) -> tuple[str, ...]:
    if not count:
        return ()
    they = "it keeps" if count == 1 else "they keep"
    return (f"Of {counted(count, 'trial')} it is not known whether {they} the limits.",)
