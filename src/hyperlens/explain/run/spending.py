"""What a run was spent on: trials, time and budget, by model and by size of the budget."""

import math
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.record import Record
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History
from hyperlens.spaces.cube import FloatArray, IntArray
from hyperlens.spaces.space import Space
from hyperlens.tables import Column, Table, table
from hyperlens.words import counted, number

BUDGET = "What the trial was given, for instance epochs, as the run recorded it."
CHECKPOINTS = 40
MOST_BUDGETS = 24  # different ones; more are no levels of a schedule


@dataclass(frozen=True)
class Spending(Record):
    """Trials by model (rows) and budget (columns); one row or column where the run has no such choice.

    `choice` is the parameter that switches most others on and off, the model in a search over
    models. Trials without a budget are the last column, None. `best` is the best cost of each cell in
    the user's direction, nan where none was analysed; `seconds` is nan where no times were recorded.
    `path[m, k]` is the part of the first `steps[k]` trials that model m got.
    """

    objective: str
    maximize: bool
    choice: str | None
    models: tuple[Any, ...]
    budgets: tuple[float | None, ...]
    trials: IntArray
    seconds: FloatArray
    best: FloatArray
    steps: IntArray
    path: FloatArray
    notes: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """Which model got most, which is best, and what larger budgets got."""
        sentences = []
        if self.choice is not None:
            got = self.trials.sum(axis=1)
            most = int(np.argmax(got))
            sentences.append(
                f"{self.choice} chooses among {len(self.models)} models; {self.models[most]} got "
                f"most, {got[most]} of {counted(int(got.sum()), 'trial')}."
            )
            worst = math.inf if not self.maximize else -math.inf
            reached = np.where(np.isnan(self.best), worst, self.best)
            best = (reached.max if self.maximize else reached.min)(axis=1)
            if np.isfinite(best).any():
                first = int(best.argmax() if self.maximize else best.argmin())
                sentences.append(
                    f"The best {self.objective}, {number(float(best[first]))}, is of "
                    f"{self.models[first]}."
                )
        known = [budget for budget in self.budgets if budget is not None]
        if len(known) > 1:
            by = self.trials.sum(axis=0)[: len(known)]
            low, high = known[0], known[-1]
            sentences.append(
                f"There are {len(known)} budgets from {low:g} to {high:g}: {by[0]} trials at "
                f"the smallest, {by[-1]} at the largest."
            )
        return " ".join(sentences)

    @property
    def tables(self) -> tuple[Table, ...]:
        names = [str(model) for model in self.models]
        if len(set(names)) < len(names):  # 1 and "1"
            names = [repr(model) for model in self.models]
        cells = list(product(names, self.budgets))
        budgets = ["–" if budget is None else f"{budget:g}" for _, budget in cells]
        several = len(self.budgets) > 1
        many = "How many trials the search gave to this model at this budget."
        seconds = "Recorded seconds of these trials together."
        best = "Best measured value of the complete ones among these trials."
        return (
            table(
                Column("model" if self.choice else "trials of", [model for model, _ in cells]),
                Column("budget", budgets, number, BUDGET) if several else None,
                Column("trials", self.trials.ravel(), number, many),
                Column("seconds", self.seconds.ravel(), number, seconds),
                Column("best", self.best.ravel(), number, best),
            ),
        )

    def _columns(self) -> dict[str, Any]:
        models, budgets = zip(*product(self.models, self.budgets), strict=True)
        numbers = {n: getattr(self, n).ravel() for n in ("trials", "seconds", "best")}
        return {"model": models, "budget": budgets} | numbers


@of_a_run
def spending(history: History, objective: str | None = None) -> Spending:
    """Count what each model and each budget got."""
    chosen = history.objective(objective)
    k = history.objectives.index(chosen)
    name = model_choice(history.space)
    budgets, notes = _budgets(history)
    if name is None and budgets == (None,):
        raise AnalysisError(
            "This run neither chooses among models nor records budgets, so there is nothing to divide."
        )
    models: tuple[Any, ...] = ("all trials",)
    if name is not None:
        models = tuple(history.space[name].values or ())
    shape = (len(models), len(budgets))
    count = np.zeros(shape, dtype=np.int64)
    seconds, timed = np.zeros(shape), False
    best = np.full(shape, math.nan)
    of_model = []
    column = {budget: j for j, budget in enumerate(budgets)}
    for trial in history.trials:
        i = 0 if name is None else _place(models, trial.values.get(name))
        j = column.get(trial.budget, column.get(None))
        of_model.append(i)
        if i is None or j is None:
            continue
        count[i, j] += 1
        taken = trial.seconds
        if not math.isnan(taken):
            timed = True
            seconds[i, j] += taken
        cost = trial.costs[k]
        if trial.state in history.analysed and math.isfinite(cost):
            better = max if chosen.maximize else min
            best[i, j] = cost if math.isnan(best[i, j]) else better(best[i, j], cost)
    got = np.array([[m == i for m in of_model] for i in range(len(models))], dtype=float)
    steps = np.unique(np.linspace(1, len(of_model), CHECKPOINTS).astype(np.int64))
    return Spending(
        objective=chosen.name,
        maximize=chosen.maximize,
        choice=name,
        models=models,
        budgets=budgets,
        trials=count,
        seconds=seconds if timed else np.full(shape, math.nan),
        best=best,
        steps=steps,
        path=np.cumsum(got, axis=1)[:, steps - 1] / steps,
        notes=notes,
    )


def model_choice(space: Space) -> str | None:
    """The category that switches most other parameters on and off; None if none does."""
    switched: dict[str, int] = {}
    for clauses in space.clauses.values():
        for parent in {p for clause in clauses for p, *_ in clause}:
            if space[parent].kind == "categorical":
                switched[parent] = switched.get(parent, 0) + 1
    return max(switched, key=lambda name: (switched[name], -space.column(name)), default=None)


def _budgets(history: History) -> tuple[tuple[float | None, ...], tuple[str, ...]]:
    levels = history.budgets
    if len(levels) > MOST_BUDGETS:
        return (None,), (f"There are {len(levels)} different budgets; they are not told apart.",)
    if len(levels) < 2:
        return (None,), ()
    every = all(t.budget in levels for t in history.trials)
    return (levels if every else (*levels, None)), ()


def _place(levels: tuple[Any, ...], value: Any) -> int | None:
    return levels.index(value) if value is not None and value in levels else None
