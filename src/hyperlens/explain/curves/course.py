"""What mattered over the course of training: importance of the values at a few steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperlens.explain.curves.paths import STEP, Paths
from hyperlens.explain.importance.shares import forest_shares
from hyperlens.record import Record
from hyperlens.runs.history import History
from hyperlens.spaces.cube import FloatArray, IntArray
from hyperlens.surrogates.random_forest.forest import Forest
from hyperlens.tables import Column, Table, between, ends, table
from hyperlens.words import number, percent, tenths

MOST_STEPS = 5
MOST_ROWS = 400  # drawn from more, so that it stays quick
FEWEST = 20  # curves at a step
TREES, HALVES = 32, 8
SHARE = (
    "Part of the variance of the values at this step that is due to this parameter alone (forest)."
)
TRIALS = "How many trials had a value at this step."
INTERVAL = "Where the share lies at this level, from forests on random halves of the trials."


@dataclass(frozen=True)
class Course(Record):
    """Shares of variance of single parameters, (parameters, steps), by a forest at each step, of the
    `trials` (steps,) that reached it; the parameter with the largest share comes first."""

    objective: str
    axis: str
    steps: FloatArray
    trials: IntArray
    parameters: tuple[str, ...]
    share: FloatArray
    low: FloatArray
    high: FloatArray
    surrogate: str
    level: float
    seed: int
    notes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """Which parameter leads at the first step and at the last, if that can be told."""
        first, last = int(np.argmax(self.share[:, 0])), int(np.argmax(self.share[:, -1]))
        early, late = (f"{self.axis} {number(float(s))}" for s in self.steps[[0, -1]])
        at_first = f"{self.parameters[first]} ({self._told(first, 0)})"
        at_last = f"{self.parameters[last]} ({self._told(last, -1)})"
        if not (self._surely(first, 0) and self._surely(last, -1)):
            return (
                f"What matters most over the course is not sure: the largest share at {early} has "
                f"{at_first}, at {late} {at_last}."
            )
        if first == last:
            return (
                f"{self.parameters[first]} matters most from {early} ({self._told(first, 0)}) to {late} "
                f"({self._told(first, -1)})."
            )
        return f"At {early} {at_first} matters most; by {late} {at_last} takes over."

    def _surely(self, j: int, k: int) -> bool:
        """Does its interval lie above those of all others?"""
        others = np.delete(self.high[:, k], j)
        return not len(others) or bool(self.low[j, k] > others.max())

    def _told(self, j: int, k: int) -> str:
        level = percent(self.level)
        ends = f"{percent(self.low[j, k])} to {percent(self.high[j, k])}"
        return f"{percent(self.share[j, k])}, {level} interval {ends}"

    @property
    def tables(self) -> tuple[Table, ...]:
        flat = self._columns()
        limits = ends(np.array(flat["low"]), np.array(flat["high"]))
        return (
            table(
                Column("parameter", flat["parameter"]),
                Column(self.axis, flat[self.axis], number, STEP),
                Column("share", flat["share"], tenths, SHARE),
                Column(f"{percent(self.level)} interval", limits, between(tenths), INTERVAL),
                Column("trials", flat["trials"], number, TRIALS),
            ),
        )

    def _columns(self) -> dict[str, Any]:
        count, steps = self.share.shape
        return {
            "parameter": [name for name in self.parameters for _ in range(steps)],
            self.axis: np.tile(self.steps, count).tolist(),
            "share": self.share.ravel().tolist(),
            "low": self.low.ravel().tolist(),
            "high": self.high.ravel().tolist(),
            "trials": np.tile(self.trials, count).tolist(),
        }


def course(
    history: History, found: Paths, objective: str | None, level: float, seed: int
) -> Course | None:
    """Importance at the first step, the last, and some between; None where too few curves vary."""
    X, cube = history.vectors[found.rows], history.space.cube
    rng = np.random.default_rng(seed)
    kept: list[tuple[int, int, Any]] = []
    for c in found.spread(MOST_STEPS).tolist():
        there = np.flatnonzero(np.isfinite(found.values[:, c]))
        if len(there) < FEWEST or np.ptp(found.values[there, c]) == 0:
            continue
        drawn = there
        if len(there) > MOST_ROWS:
            drawn = np.sort(rng.choice(there, MOST_ROWS, replace=False))
        forest = Forest(cube, TREES, seed).fit(X[drawn], _winsorised(found.values[drawn, c]))
        shares = forest_shares(forest, 1, level, seed, HALVES)
        if np.isfinite(shares.share).all() and np.isfinite(shares.low).all():
            kept.append((c, len(there), shares))
    if len(kept) < 2:
        return None
    effects = [effect for effect in kept[0][2].effects if len(effect) == 1]
    columns = {
        name: np.array(
            [[getattr(s, name)[s.effects.index(e)] for _, _, s in kept] for e in effects]
        )
        for name in ("share", "low", "high")
    }
    order = np.argsort(-columns["share"].max(axis=1), kind="stable")
    return Course(
        objective=history.objective(objective).name,
        axis=found.axis,
        steps=found.steps[[c for c, _, _ in kept]],
        trials=np.array([count for _, count, _ in kept]),
        parameters=tuple(history.space.names[effects[k][0]] for k in order.tolist()),
        **{name: values[order] for name, values in columns.items()},
        surrogate="forest",
        level=level,
        seed=seed,
        notes=_notes(found, [count for _, count, _ in kept]),
    )


def _winsorised(y: FloatArray) -> FloatArray:
    """Values with those that diverged at the edge of the others, as everywhere."""
    lower, upper = np.quantile(y, [0.25, 0.75])
    reach = 3 * (upper - lower)
    return y if reach == 0 else np.clip(y, lower - reach, upper + reach)


def _notes(found: Paths, counts: list[int]) -> tuple[str, ...]:
    if found.halted.any() and min(counts) < max(counts):
        return (
            f"Each step is of the trials that reached it, {max(counts)} to {min(counts)}: what stopped "
            "the others no longer varies among them, and so seems to matter less.",
        )
    return ()
