"""Learning curves: how early the end can be told, what pruning lost, what mattered over the course.

How early is Spearman's rank correlation between the values at a step and the costs at the end, among
trials that have both, with a bootstrap interval.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.explain.curves.between_budgets import (
    BudgetPair,
    budget_pairs,
    neighbours_said,
    pairs_table,
)
from hyperlens.explain.curves.course import Course, course
from hyperlens.explain.curves.paths import STEP, Paths, paths
from hyperlens.explain.curves.pruning import Pruning, pruning
from hyperlens.explain.curves.rank_correlation import FEWEST, Resamples, rank_correlation
from hyperlens.record import Record
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History
from hyperlens.spaces.cube import FloatArray, IntArray
from hyperlens.tables import Column, Table, between, ends, table
from hyperlens.words import counted, decimals, number, percent

LEVEL = 0.9
MOST_CHECKED = 24  # steps whose ranking is compared with the end's
AS_WELL = 0.9  # a correlation from which on two rankings are nearly the same
MOST_DRAWN = 120  # curves
MOST_POINTS = 60  # of a curve
CORRELATION = "Spearman's rank correlation of the values at this step with those at the end."
INTERVAL = (
    "Where the correlation lies at this level: trials drawn again with replacement (bootstrap)."
)
TRIALS = "Trials that have a value at this step and an end."


@dataclass(frozen=True)
class LearningCurves(Record):
    """Curves of trials, or of configurations over budgets, in the user's direction.

    `ended` counts curves by how they ended. Drawn are `values` (curves, grid) of the trials `number`,
    nan where a curve has none, with their last report; of many curves some, of many steps some.
    `correlation` (steps,) is that of the values at a step with the end, of `count` trials. `pruning` is
    None where no trial was stopped, `course` where importance cannot be told.
    """

    objective: str
    maximize: bool
    axis: Literal["step", "budget"]
    noun: Literal["trial", "configuration"]
    ended: dict[str, int]
    best_trial: int | None
    best: float
    grid: FloatArray
    number: IntArray
    end: tuple[str, ...]
    values: FloatArray
    last_step: FloatArray
    last_value: FloatArray
    steps: FloatArray
    correlation: FloatArray
    low: FloatArray
    high: FloatArray
    count: IntArray
    pruning: Pruning | None
    course: Course | None
    level: float
    seed: int
    notes: tuple[str, ...] = ()
    pairs: tuple[BudgetPair, ...] = ()  # of the budgets of a race

    @property
    def total(self) -> int:
        """All curves, drawn or not."""
        return sum(self.ended.values())

    @property
    def early(self) -> int | None:
        """The first step, by its position, from which on the ranking is nearly that of the end; None if
        there is none before the last."""
        surely = np.nan_to_num(self.low, nan=-1.0) >= AS_WELL
        from_here = np.logical_and.accumulate(surely[::-1])[::-1]
        at = int(np.argmax(from_here)) if from_here.any() else len(self.steps) - 1
        return at if at < len(self.steps) - 1 else None

    @property
    def sentence(self) -> str:
        """How early the ranking of the end is known."""
        known = np.flatnonzero(np.isfinite(self.correlation))
        finished = self.ended.get("complete", 0)
        if not len(known):
            return self._why_not(finished)
        last = number(float(self.steps[-1]))
        if self.early is not None:
            at = f"{self.axis} {number(float(self.steps[self.early]))} of {last}"
            return f"At {at} {self.noun}s rank nearly as at the end: {self._told(self.early)}."
        before = [k for k in known.tolist() if k < len(self.steps) - 1]
        if not before:
            few = f"too few {self.noun}s have a value to compare with the end"
            return f"Before {self.axis} {last} {few}."
        middle = min(before, key=lambda k: abs(k - (len(self.steps) - 1) / 2))
        at = f"{self.axis} {number(float(self.steps[middle]))} of {last}"
        return (
            f"No {self.axis} before the last is certain to rank {self.noun}s as the end does (a "
            f"correlation of {AS_WELL:g} or more): at {at} it is {self._told(middle)}."
        )

    def _why_not(self, finished: int) -> str:
        if finished < FEWEST:
            return (
                f"How early the ranking of the end is known cannot be told: {finished} of "
                f"{counted(self.total, 'curve')} reached the end, where it takes {FEWEST}."
            )
        return (
            "How early the ranking of the end is known cannot be told: the values at every step, or all "
            "ends, are the same."
        )

    def _told(self, k: int) -> str:
        reach = f"{decimals(self.low[k])} to {decimals(self.high[k])}"
        return (
            f"{decimals(self.correlation[k])} ({percent(self.level)} interval {reach}; Spearman, "
            f"{counted(int(self.count[k]), self.noun)})"
        )

    @property
    def lead(self) -> tuple[str, ...]:
        parts = (self.pruning, self.course)
        return *self.early_said, *(part.sentence for part in parts if part is not None)

    @property
    def early_said(self) -> tuple[str, ...]:
        """How early the ranking of the end is known, and how alike budgets rank."""
        said = neighbours_said(self.pairs, self.noun, self.level)
        return tuple(filter(None, (self.sentence, said)))

    def pruned(self, trial: int) -> str:
        """Why this trial was stopped: at which step, where it stood, where it would have ended."""
        return self.stopped(trial).sentence

    def stopped(self, trial: int) -> Pruning:
        """What is known of one trial that was stopped."""
        if self.pruning is None:
            raise AnalysisError(
                "No trial of this run was stopped before its end; ask of another run."
            )
        return self.pruning.only(trial)

    @property
    def tables(self) -> tuple[Table, ...]:
        own = table(
            Column(self.axis, self.steps, number, STEP),
            Column("rank correlation with the end", self.correlation, decimals, CORRELATION),
            Column(
                f"{percent(self.level)} interval",
                ends(self.low, self.high),
                between(decimals),
                INTERVAL,
            ),
            Column("trials", self.count, number, TRIALS),
        )
        others = (pairs_table(self.pairs, self.level),) if self.pairs else ()
        return (
            own,
            *others,
            *(t for part in (self.pruning, self.course) if part for t in part.tables),
        )

    def _columns(self) -> dict[str, Any]:
        return {self.axis: self.steps, **self._fields("correlation", "low", "high", "count")}


@of_a_run
def curves(
    history: History, *, level: float = LEVEL, seed: int = 0, objective: str | None = None
) -> LearningCurves:
    """The learning curves of a run; refused where it has none, or none of two steps."""
    if not 0 < level < 1:
        raise AnalysisError(f"An interval of {level} is not a level; choose one between 0 and 1.")
    chosen = history.objective(objective)
    k = history.objectives.index(chosen)
    found = paths(history, objective)
    checked = found.spread(MOST_CHECKED)
    ranked, resamples = [], Resamples(seed)
    for c in checked.tolist():
        both = np.isfinite(found.values[:, c]) & np.isfinite(found.final)
        told = rank_correlation(found.values[both, c], found.final[both], level, resamples)
        ranked.append((*told, int(both.sum())))
    correlation, low, high, count = (np.array(column) for column in zip(*ranked, strict=True))
    drawn, grid = _drawn(found, seed), found.spread(MOST_POINTS)
    numbers = np.array([history.trials[row].number for row in found.rows.tolist()])
    return LearningCurves(
        objective=chosen.name,
        maximize=chosen.maximize,
        axis=found.axis,
        noun=found.noun,
        ended=dict(Counter(found.ends)),
        best_trial=None if found.best is None else history.trials[found.best].number,
        best=math.nan if found.best is None else history.trials[found.best].costs[k],
        grid=found.steps[grid],
        number=numbers[drawn],
        end=tuple(found.ends[i] for i in drawn.tolist()),
        values=chosen.sign * found.values[np.ix_(drawn, grid)],
        last_step=found.last[drawn],
        last_value=chosen.sign * found.latest[drawn],
        steps=found.steps[checked],
        correlation=correlation,
        low=low,
        high=high,
        count=count,
        pruning=pruning(history, found, objective, level, seed),
        course=course(history, found, objective, level, seed),
        level=level,
        seed=seed,
        notes=_notes(found),
        pairs=budget_pairs(found, level, resamples),
    )


def _drawn(found: Paths, seed: int) -> IntArray:
    """Some curves of each kind of end, in proportion but at least a few, and the best."""
    if len(found.rows) <= MOST_DRAWN:
        return np.arange(len(found.rows))
    rng = np.random.default_rng(seed)
    kept = np.flatnonzero(found.rows == found.best).tolist()
    for end, count in Counter(found.ends).items():
        rows = np.flatnonzero([e == end for e in found.ends])
        wanted = min(count, max(10, round(MOST_DRAWN * count / len(found.rows))))
        kept += rng.choice(rows, wanted, replace=False).tolist()
    return np.unique(kept)


def _notes(found: Paths) -> tuple[str, ...]:
    notes = []
    halted, total = int(found.halted.sum()), len(found.rows)
    finished = int(np.isfinite(found.final).sum())
    if halted and finished:
        notes.append(
            f"Rank correlations are of the {finished} of {total} that reached the end; those that went "
            "on were chosen by what they showed early, so it is mostly lower among them than among all."
        )
    if not found.even:
        notes.append(
            f"Curves differ in their {found.axis}s: each counts with its latest report at or before a "
            f"{found.axis}, as far as it goes."
        )
    return tuple(notes)
