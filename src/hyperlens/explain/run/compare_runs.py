"""Several runs beside each other: how fast each improved, and how far it came.

Runs of one direction can be compared whatever each calls its objective; tools name it as they like.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperlens.errors import AnalysisError, listed
from hyperlens.record import Record
from hyperlens.runs.history import History, Objective
from hyperlens.spaces.cube import FloatArray
from hyperlens.tables import Column, Table, table
from hyperlens.words import counted, number


@dataclass(frozen=True)
class RunComparison(Record):
    """One entry per run: its best cost after each analysed trial, and when it ended.

    `trace[k]` and `elapsed[k]` (seconds since the run's first start, nan where unknown) have one
    entry per analysed trial. `common` is the number of trials that all runs have; `at_common` is
    what each had reached by then, the fair comparison. `objectives` are what each calls its
    objective; `objective` is that name, or just "objective" where they differ.
    """

    objective: str
    maximize: bool
    runs: tuple[str, ...]
    objectives: tuple[str, ...]
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
    def sentence(self) -> str:
        """The best after the same number of trials, and in the end."""
        first, second = self.order[:2]
        way = "highest" if self.maximize else "lowest"
        after = counted(self.common, "trial")
        reached, next_best = (number(float(self.at_common[k])) for k in (first, second))
        verb, rest = "has", f", before {self.runs[second]} with {next_best}"
        if self.at_common[first] == self.at_common[second]:
            verb, rest = "shares", ""
        fair = (
            f"After {after}, as many as each has, {self.runs[first]} {verb} the {way} "
            f"{self.objective}, {reached}{rest}."
        )
        end = int(np.argmax(self.best) if self.maximize else np.argmin(self.best))
        if end != first and self.best[end] != self.best[first]:
            fair += (
                f" In the end {self.runs[end]} is ahead with {number(float(self.best[end]))}, after "
                f"{counted(len(self.trace[end]), 'trial')}."
            )
        return (
            f"{fair} One run of each is an anecdote: repeat them with other seeds, and compare with "
            "hyperlens compare."
        )

    @property
    def tables(self) -> tuple[Table, ...]:
        lengths = [len(trace) for trace in self.trace]
        fair = (
            "Best measured value after as many trials as the shortest run has: the fair comparison."
        )
        order, many = list(self.order), "Complete trials with a finite result."
        return (
            table(
                Column("run", [self.runs[k] for k in order]),
                Column("trials", [lengths[k] for k in order], number, many),
                Column("best", self.best[order], number, "Best measured value of the whole run."),
                Column(f"best after {self.common}", self.at_common[order], number, fair),
            ),
        )

    def _columns(self) -> dict[str, Any]:
        return {
            "run": self.runs,
            "objective": self.objectives,
            "trials": [len(t) for t in self.trace],
            "best": self.best,
            f"best after {self.common}": self.at_common,
        }


def compare_runs(histories: Mapping[str, History], objective: str | None = None) -> RunComparison:
    """Compare runs of one direction: by the objective of this name, or by the only one they have."""
    if len(histories) < 2:
        raise AnalysisError("A comparison of runs needs at least two; name another one.")
    goals = _goals(histories, objective)
    names = tuple(goal.name for goal in goals.values())
    if len({goal.maximize for goal in goals.values()}) > 1:
        raise AnalysisError(
            f"These runs have different directions, {_directions(goals.values())}; leave out "
            "those of one direction."
        )
    traces = tuple(_trace(run, histories[run], goal) for run, goal in goals.items())
    common = min(map(len, traces))
    return RunComparison(
        objective=names[0] if len(set(names)) == 1 else "objective",
        maximize=next(iter(goals.values())).maximize,
        runs=tuple(histories),
        objectives=names,
        trace=traces,
        elapsed=tuple(_elapsed(histories[run], goal) for run, goal in goals.items()),
        best=np.array([float(t[-1]) for t in traces]),
        at_common=np.array([float(t[common - 1]) for t in traces]),
        common=common,
        notes=_notes(histories, goals),
    )


def _goals(histories: Mapping[str, History], wanted: str | None) -> dict[str, Objective]:
    """The objective of each run: the one of this name, else the only one there is."""
    known = {o.name for history in histories.values() for o in history.objectives}
    if wanted not in known:
        wanted = next(iter(histories.values())).objective(wanted).name
    objectives = {}
    for run, history in histories.items():
        named = [o for o in history.objectives if o.name == wanted] or list(history.objectives)
        if len(named) > 1:
            raise AnalysisError(
                f"Run '{run}' has no objective '{wanted}' but {listed(o.name for o in named)}; choose "
                "one of these as the objective, or leave the run out."
            )
        objectives[run] = named[0]
    return objectives


def _directions(goals: Iterable[Objective]) -> str:
    return " and ".join(
        f"'{name}' {'maximised' if maximize else 'minimised'}"
        for name, maximize in sorted({(goal.name, goal.maximize) for goal in goals})
    )


def _notes(histories: Mapping[str, History], goals: Mapping[str, Objective]) -> tuple[str, ...]:
    notes = []
    if len({goal.name for goal in goals.values()}) > 1:
        named = ", ".join(f"'{goal.name}' in {run}" for run, goal in goals.items())
        notes.append(
            f"The objective has different names: {named}; the comparison holds only if they "
            "measure the same."
        )
    if len({tuple(sorted(history.space.names)) for history in histories.values()}) > 1:
        notes.append("Their search spaces are not the same.")
    return tuple(notes)


def _trace(run: str, history: History, goal: Objective) -> FloatArray:
    try:
        return history.trace(goal.name)
    except AnalysisError as problem:
        raise AnalysisError(f"Run '{run}' cannot be compared: {problem}") from problem


def _elapsed(history: History, goal: Objective) -> FloatArray:
    """Seconds from the first start to the end of each analysed trial."""
    starts = [t.started for t in history.trials if t.started is not None]
    first = min(starts, default=math.nan)
    ended = [history.trials[i].ended for i in history.data(goal.name).rows]
    return np.array([math.nan if e is None else e - first for e in ended], dtype=float)
