"""The Pareto front of several objectives: its trials, how it grew, and where its knee is.

Symbols
    m        objectives
    u        a cost as a part of the front's own range, 0 its best and 1 its worst
    knee     the trial of the front with the smallest sum of u: near the best of all objectives at once
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.record import Record
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History
from hyperlens.runs.hypervolume import MOST_OBJECTIVES, growth, scaled
from hyperlens.spaces.cube import BoolArray, FloatArray, IntArray
from hyperlens.spaces.points import on_front
from hyperlens.tables import Column, Table, table
from hyperlens.words import counted, number, percent


@dataclass(frozen=True)
class ParetoFront(Record):
    """All trials that measured every objective, and which of them no other one beats in all.

    `costs` (n, m) are in the user's directions. `hypervolume` (n,) is, after each trial, the part of the
    box between the best of each objective and `reference` that the front dominates; nan where there are
    more objectives than it is computed for. `values` are the configurations on the front, one column a
    parameter, None where inactive. `kept` says which trials keep the limits, of which the front is then;
    None where there are none, or where no trial keeps them.
    """

    objectives: tuple[str, ...]
    maximize: tuple[bool, ...]
    number: IntArray
    costs: FloatArray
    front: BoolArray
    knee: int
    reference: FloatArray
    hypervolume: FloatArray
    parameters: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]
    notes: tuple[str, ...]
    kept: BoolArray | None = None

    @property
    def compared(self) -> IntArray:
        """Rows that may be on the front."""
        return np.arange(len(self.number)) if self.kept is None else np.flatnonzero(self.kept)

    @property
    def members(self) -> IntArray:
        """Rows of the front, in the order of the first objective, the best first."""
        rows = np.flatnonzero(self.front)
        sign = -1.0 if self.maximize[0] else 1.0
        return np.asarray(rows[np.argsort(sign * self.costs[rows, 0], kind="stable")])

    @property
    def heading(self) -> str:
        return f"Pareto front of {_joined(self.objectives)}"

    @property
    def sentence(self) -> str:
        """How many trials are on the front, how far it reaches, and its knee."""
        rows = self.members
        if len(rows) == 1:
            best = f"rial {self.number[rows[0]]} is the best in all objectives"
            costs, same = self._said(int(rows[0])), self._constant
            if same:
                verb = "is" if len(same) == 1 else "are"
                return f"{_joined(same)} {verb} the same in every trial, and t{best} ({costs})."
            return f"T{best} ({costs}): nothing has to be traded for anything."
        reach = "; ".join(
            f"{name} from {number(_best(column, up))} to {number(_best(column, not up))}"
            for name, column, up in zip(
                self.objectives, self.costs[rows].T, self.maximize, strict=True
            )
        )
        at = int(np.flatnonzero(self.number == self.knee)[0])
        which = "" if self.kept is None else " that keep the limits"
        return (
            f"{len(rows)} of {counted(len(self.compared), 'trial')}{which} are on the front, on which "
            f"no objective gets better without another getting worse: {reach}. Its knee is trial "
            f"{self.knee} ({self._said(at)})."
        )

    @property
    def _constant(self) -> tuple[str, ...]:
        """Objectives that are the same in every trial, of several."""
        same = self.costs.min(axis=0) == self.costs.max(axis=0)
        pairs = zip(self.objectives, same.tolist(), strict=True)
        return tuple(name for name, one in pairs if one and len(self.number) > 1)

    @property
    def progress(self) -> str:
        """How the hypervolume grew."""
        if not np.isfinite(self.hypervolume).all():
            return ""
        total = float(self.hypervolume[-1])
        if total <= 0 and self._constant:
            return f"Without a spread of {_joined(self._constant)} there is no hypervolume."
        if total <= 0:
            return "No trial is better than the reference point in all objectives."
        last = int(np.argmax(self.hypervolume >= total))
        after = len(self.number) - 1 - last
        ends = ", ".join(
            f"{name} {number(r)}" for name, r in zip(self.objectives, self.reference, strict=True)
        )
        costs = self.costs[self.compared].T
        worst = [_best(column, not up) for column, up in zip(costs, self.maximize, strict=True)]
        ends += ", the worst of each" if worst == self.reference.tolist() else ""
        return (
            f"The front dominates {percent(total)} of the box between the best of each objective and "
            f"the reference point ({ends}). It last grew with trial {self.number[last]}"
            + (f"; {counted(after, 'trial')} came after." if after else ", the last one.")
        )

    @property
    def lead(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.sentence, self.progress)))

    def _said(self, row: int) -> str:
        costs = zip(self.objectives, self.costs[row].tolist(), strict=True)
        return ", ".join(f"{name} {number(cost)}" for name, cost in costs)

    def besides(self, trial: int, objective: str) -> str:
        """What a trial measured of all other objectives."""
        at = np.flatnonzero(self.number == trial)
        if not len(at):
            return ""
        costs = zip(self.objectives, self.costs[at[0]].tolist(), strict=True)
        return ", ".join(f"{name} {number(cost)}" for name, cost in costs if name != objective)

    @property
    def tables(self) -> tuple[Table, ...]:
        """The trials on the front with all that they measured and their configuration."""
        columns = [Column(name, cells) for name, cells in self._columns().items()]
        return (table(*columns),)

    def _columns(self) -> dict[str, Any]:
        rows = self.members
        found: dict[str, Any] = {"trial": self.number[rows]}
        for name, column in zip(
            (*self.objectives, *self.parameters),
            (*self.costs[rows].T, *self.values),
            strict=True,
        ):
            found[_title(name, list(found))] = column
        at_knee = ["knee" if number == self.knee else "" for number in self.number[rows]]
        return found | {_title("place", list(found)): at_knee}


@of_a_run
def pareto(history: History, *, reference: dict[str, float] | None = None) -> ParetoFront:
    """The trials that no other beats in all objectives, and how the front grew.

    `reference` is the point up to which the hypervolume counts, by objective; where it is not given, the
    worst that was measured of each.
    """
    m = len(history.objectives)
    if m < 2:
        raise AnalysisError(
            f"This run has one objective, {history.objectives[0].name}; a front needs at least two."
        )
    rows = with_all(history)
    sign = np.array([o.sign for o in history.objectives])
    costs = np.array([history.trials[i].costs for i in rows], dtype=float)
    minimised = sign * costs
    kept = history.feasible[rows]
    compared = np.flatnonzero(kept | ~kept.any())
    inside = np.zeros(len(rows), dtype=bool)
    inside[compared[on_front(minimised[compared])]] = True
    members = np.flatnonzero(inside)
    members = members[np.argsort(minimised[members, 0], kind="stable")]
    knee = members[np.argmin(scaled(minimised[members]).sum(axis=1))]
    ends = sign * _reference(history, reference, costs[compared])
    names = history.space.names
    trials = [history.trials[i] for i in rows[members]]
    return ParetoFront(
        objectives=tuple(o.name for o in history.objectives),
        maximize=tuple(o.maximize for o in history.objectives),
        number=np.array([history.trials[i].number for i in rows], dtype=np.int64),
        costs=costs,
        front=inside,
        knee=history.trials[rows[knee]].number,
        reference=sign * ends,
        hypervolume=_hypervolume(minimised, ends, compared),
        parameters=names,
        values=tuple(tuple(t.values.get(name) for t in trials) for name in names),
        notes=(
            *_constant(history, costs),
            *_left_out(history, len(rows)),
            *_repeated(history.vectors[rows]),
            *_exceeding(history, kept),
            *_too_many(m),
        ),
        kept=kept if history.limits and kept.any() else None,
    )


def with_all(history: History) -> IntArray:
    """Positions of the analysed trials that measured every objective."""
    rows = reduce(np.intersect1d, (history.data(o.name).rows for o in history.objectives))
    if not len(rows):
        raise AnalysisError("No trial has measured all objectives; a front needs some that did.")
    return np.asarray(rows)


def _reference(history: History, given: dict[str, float] | None, costs: FloatArray) -> FloatArray:
    """In the user's directions, one an objective."""
    known = {o.name: k for k, o in enumerate(history.objectives)}
    worst = np.array([_best(costs[:, k], not o.maximize) for k, o in enumerate(history.objectives)])
    for name, value in (given or {}).items():
        history.objective(name)  # refuses what there is not
        worst[known[name]] = value
    return worst


def _hypervolume(costs: FloatArray, reference: FloatArray, compared: IntArray) -> FloatArray:
    """As a part of the box between the best of each objective and the reference point."""
    if costs.shape[1] > MOST_OBJECTIVES:
        return np.full(len(costs), np.nan)
    costs, reference = costs / 2, reference / 2  # so that no difference overflows
    best = costs[compared].min(axis=0)
    wide = np.where(reference > best, reference - best, 0.5)
    outside = ~np.isin(np.arange(len(costs)), compared)
    places = np.where(outside[:, None], np.inf, (costs - best) / wide)
    return np.minimum(growth(places, (reference - best) / wide), 1.0)  # rounding


def _exceeding(history: History, kept: BoolArray) -> list[str]:
    if kept.all():
        return []
    if not kept.any():
        limits = " and ".join(history.limits)
        return [f"No trial keeps {limits}; the front is that of all trials."]
    return list(filter(None, (history.limited(),)))


def _constant(history: History, costs: FloatArray) -> list[str]:
    return [
        f"{o.name} is {number(float(costs[0, k]))} in every trial, so that it decides nothing."
        for k, o in enumerate(history.objectives)
        if (costs[:, k] == costs[0, k]).all()
    ]


def _left_out(history: History, kept: int) -> list[str]:
    """Of those that ended as they should; of the others the run itself says how they ended."""
    ended = int(history.is_analysed.sum())
    if kept == ended:
        return []
    return [
        f"{ended - kept} of {counted(ended, 'trial')} did not end with all objectives, diverged, or are "
        "at a lower budget, and are not compared."
    ]


def _repeated(X: FloatArray) -> list[str]:
    different = len(np.unique(np.where(np.isnan(X), -1.0, X), axis=0))
    if different == len(X):
        return []
    return [
        f"{len(X)} trials are {counted(different, 'configuration')}; here each trial stands for itself, "
        "and hyperlens true-front (hl.true_front) says how likely a configuration is on the front."
    ]


def _too_many(m: int) -> list[str]:
    if m <= MOST_OBJECTIVES:
        return []
    return [
        f"The hypervolume is computed for up to {MOST_OBJECTIVES} objectives, and there are {m}."
    ]


def _best(costs: FloatArray, maximize: bool) -> float:
    return float(costs.max() if maximize else costs.min())


def _title(name: str, taken: list[str]) -> str:
    """A column's title that no other one has."""
    return _title(f"{name} (value)", taken) if name in taken else name


def _joined(names: tuple[str, ...]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
