"""The learning curves of a run on one grid of steps, from the trials' own or from budgets.

A trial that reported on its way has a curve of its own. Where none did, a configuration that was run at
several budgets has one over these.

    m   curves
    g   steps of the grid
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.runs.history import History, State, Trial
from hyperlens.spaces.cube import BoolArray, FloatArray, IntArray

MOST_STEPS = 400  # of the grid

STEP = "How far a trial had come, as it was reported: an epoch, an iteration, a budget."

End = Literal["complete", "pruned", "stopped", "failed", "running"]


@dataclass(frozen=True)
class Paths:
    """Minimised costs by curve and step.

    `rows` (m,) are positions of the trials that the curves ended as; `values` (m, g) hold the latest
    report at or before a step, nan before the first and after the last; `last` (m,) is the step of the
    last report and `latest` its value. `final` (m,) is the cost at the end, nan where a curve did not
    get there. `best` is the position of the run's best trial. `even` says whether all report at the same
    steps as far as they go.
    """

    axis: Literal["step", "budget"]
    noun: Literal["trial", "configuration"]
    steps: FloatArray
    rows: IntArray
    values: FloatArray
    last: FloatArray
    latest: FloatArray
    final: FloatArray
    ends: tuple[End, ...]
    best: int | None
    even: bool

    @property
    def halted(self) -> BoolArray:
        """Which were stopped before the end, (m,)."""
        return np.array([end in ("pruned", "stopped") for end in self.ends], dtype=bool)

    def spread(self, most: int) -> IntArray:
        """At most so many positions on the grid, evenly spread, with its ends."""
        return np.unique(np.linspace(0, len(self.steps) - 1, most).round().astype(np.int64))


def has_curves(history: History) -> bool:
    """Did any trial report on its way, or was a configuration run at several budgets?"""
    return any(t.curve is not None for t in history.trials) or any(
        len(group) > 1 for group in _configurations(history)
    )


def paths(history: History, objective: str | None = None) -> Paths:
    """All curves with a finite value, refused where there is none or none has two steps."""
    chosen = history.objective(objective)
    k = history.objectives.index(chosen)
    curves: list[tuple[int, FloatArray, FloatArray]] = []  # row, steps, costs
    own = any(t.curve is not None for t in history.trials)
    for row, steps, costs in _reported(history, k) if own else _over_budgets(history, k):
        known = np.isfinite(costs)
        if known.any():
            curves.append((row, steps[known], chosen.sign * costs[known]))
    if not curves:
        raise AnalysisError(
            "No trial of this run recorded what it measured on its way, so it has no learning curves; "
            "report each step where it was run, or name the step of a table with --step COLUMN (step= "
            "in Python)."
        )
    if max(len(steps) for _, steps, _ in curves) < 2:
        raise AnalysisError(
            "Every learning curve of this run has one step only, so there is no course to look at; "
            "report several steps of each trial where it was run."
        )
    final = np.full(len(history.trials), np.nan)
    best = None
    with suppress(AnalysisError):  # nothing is complete
        data = history.data(objective)
        final[data.rows] = data.y
        best = history.trials.index(history.best(objective))
    union = np.unique(np.concatenate([steps for _, steps, _ in curves]))
    grid = union
    if len(union) > MOST_STEPS:
        grid = union[np.linspace(0, len(union) - 1, MOST_STEPS).round().astype(np.int64)]
    rows = np.array([row for row, _, _ in curves])
    return Paths(
        axis="step" if own and not _in_rungs(history) else "budget",
        noun="trial" if own else "configuration",
        steps=grid,
        rows=rows,
        values=np.array([_on(grid, steps, costs) for _, steps, costs in curves]),
        last=np.array([steps[-1] for _, steps, _ in curves]),
        latest=np.array([costs[-1] for _, _, costs in curves]),
        final=final[rows],
        ends=tuple(_end(history.trials[r], bool(np.isfinite(final[r]))) for r in rows.tolist()),
        best=best,
        even=all(np.array_equal(steps, union[: len(steps)]) for _, steps, _ in curves),
    )


def _on(grid: FloatArray, steps: FloatArray, costs: FloatArray) -> FloatArray:
    at = np.searchsorted(steps, grid, side="right") - 1
    return np.where((at >= 0) & (grid <= steps[-1]), costs[np.maximum(at, 0)], np.nan)


def _end(trial: Trial, finished: bool) -> End:
    if finished:
        return "complete"
    if trial.state is State.RUNNING:
        return "running"
    if trial.state is State.PRUNED:
        return "pruned"
    stopped = trial.state is State.COMPLETE and trial.budget is not None
    return "stopped" if stopped and np.isfinite(trial.costs).all() else "failed"


def _reported(history: History, k: int) -> Iterable[tuple[int, FloatArray, FloatArray]]:
    for row, trial in enumerate(history.trials):
        if trial.curve is not None:
            yield row, trial.curve.steps, trial.curve.values[:, k]


def _in_rungs(history: History) -> bool:
    """Are the steps the budgets of a race's rungs?"""
    raced = [t for t in history.trials if t.proposal is not None and t.proposal.budget is not None]
    return bool(raced) and all(t.curve is None or t.curve.last == t.budget for t in raced)


def _over_budgets(history: History, k: int) -> Iterable[tuple[int, FloatArray, FloatArray]]:
    for group in _configurations(history):
        budgets = np.array([history.trials[row].budget for row in group], dtype=float)
        yield group[-1], budgets, np.array([history.trials[row].costs[k] for row in group])


def _configurations(history: History) -> Sequence[Sequence[int]]:
    """Rows of each configuration and scenario by rising budget; of the same budget the last."""
    if len(history.budgets) < 2:
        return []
    groups: dict[object, dict[float, int]] = {}
    for row, (trial, x) in enumerate(zip(history.trials, history.vectors, strict=True)):
        if trial.budget in history.budgets and trial.budget is not None:
            key = (np.where(np.isnan(x), -1.0, x).tobytes(), trial.seed, trial.instance)
            groups.setdefault(key, {})[trial.budget] = row
    return [[group[budget] for budget in sorted(group)] for group in groups.values()]
