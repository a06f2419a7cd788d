"""Every trial as a row: what was tried, what came of it, and where it lies on each axis."""

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.record import Record
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History, Trial
from hyperlens.spaces.cube import BoolArray, FloatArray, IntArray
from hyperlens.spaces.parameter import Parameter
from hyperlens.tables import Column, Table, table
from hyperlens.words import counted, number, percent, tenths

MOST_REASONS = 20  # in a table
AGREEING = 0.5  # of the spread of all: the best lie close together
MOST_CURVES, MOST_POINTS = 1000, 30  # trials with a curve, points of each
MOST_TICKS = 6  # of an axis of numbers or of many levels

Tick = tuple[float, Any]  # a place of the unit cube and the value that stands there


@dataclass(frozen=True)
class Trials(Record):
    """All trials in order, one entry each; costs are in the user's direction, nan where unknown.

    `values` and `ticks` have one entry per parameter: its value in each trial (None where it is
    inactive), and some places of its axis with their values. `places` (trials, parameters) are
    vectors of the unit cube, nan where inactive. `analysed` are those that ended as they should, with
    a finite cost, at the budget that is explained.
    """

    objective: str
    maximize: bool
    parameters: tuple[str, ...]
    number: IntArray
    state: tuple[str, ...]
    cost: FloatArray
    analysed: BoolArray
    budget: FloatArray
    seconds: FloatArray
    proposer: tuple[str | None, ...]
    reason: tuple[str | None, ...]
    values: tuple[tuple[Any, ...], ...]
    places: FloatArray
    ticks: tuple[tuple[Tick, ...], ...]
    notes: tuple[str, ...] = ()
    others: dict[str, FloatArray] = field(
        default_factory=dict
    )  # what else was measured, by objective
    kept: tuple[bool, ...] = ()  # whether each keeps the limits; empty without limits
    thought: tuple[
        str | None, ...
    ] = ()  # what its proposer expected of it; empty if none recorded it
    curves: tuple[Any, ...] = ()  # steps and values of each; empty where none has any

    @property
    def states(self) -> dict[str, int]:
        """How many trials ended in each state, most first."""
        return dict(Counter(self.state).most_common())

    @property
    def reasons(self) -> dict[str, int]:
        """Why trials failed or were pruned, as far as they say, most frequent first."""
        return dict(Counter(r for r in self.reason if r).most_common())

    @property
    def sentence(self) -> str:
        """How many ended in which state, and the most frequent reason."""
        total = len(self.state)
        parts = [f"{n} {state} ({percent(n / total)})" for state, n in self.states.items()]
        text = f"Of {counted(total, 'trial')}, {', '.join(parts)}."
        if self.reasons:
            reason, times = next(iter(self.reasons.items()))
            text += (
                f" The most frequent reason given, {counted(times, 'time')}: {reason.rstrip('.')}."
            )
        return text

    @property
    def reading(self) -> str:
        """How to read parallel coordinates, and what the best have in common."""
        bundled = ""
        if self.agreement is not None:
            name, best = self.agreement
            bundled = f" The {best} best trials agree most in {name}."
        return (
            "Each line is an analysed trial and crosses a row at the value it had. Where the lines of "
            "the best bundle, the good configurations agree; where they spread, the parameter mattered "
            f"less or was chosen freely.{bundled}"
        )

    @property
    def agreement(self) -> tuple[str, int] | None:
        """The parameter in which the best trials lie closest together, compared with all, and how many
        these best are; None where they are too few or spread as all do."""
        known = np.flatnonzero(self.analysed)
        few = max(len(known) // 20, 5)
        if len(known) < 4 * few:
            return None
        sign = -1.0 if self.maximize else 1.0
        best = known[np.argsort(sign * self.cost[known], kind="stable")[:few]]
        spread = {}
        for j, name in enumerate(self.parameters):
            here, all_of = self.places[best, j], self.places[known, j]
            here, all_of = here[~np.isnan(here)], all_of[~np.isnan(all_of)]
            if len(here) == few and len(all_of) > 1 and all_of.std() > 0:
                spread[name] = float(here.std() / all_of.std())
        if not spread or min(spread.values()) > AGREEING:
            return None
        return min(spread, key=lambda name: spread[name]), few

    @property
    def endings(self) -> Table:
        reasons = [(f"reason: {reason}", n) for reason, n in self.reasons.items()][:MOST_REASONS]
        names, counts = zip(*self.states.items(), *reasons, strict=True)
        many = "How many trials the run recorded in this state, or with this reason."
        part = "The same, divided by the number of all trials of the run."
        return table(
            Column("state", names),
            Column("trials", counts, number, many),
            Column("part", [n / len(self.state) for n in counts], tenths, part),
        )

    def _columns(self) -> dict[str, Any]:
        columns = {"trial": self.number} | self._fields(
            "state", "cost", "budget", "seconds", "reason"
        )
        known = {k: v for k, v in columns.items() if _said(v)}
        for name, costs in self.others.items():
            known[f"{name} measured" if name in known or name in self.parameters else name] = costs
        if self.kept:
            known["keeps the limits"] = self.kept
        for name, values in zip(self.parameters, self.values, strict=True):
            known[f"{name} value" if name in columns or name in known else name] = values
        return known


@of_a_run
def trials(history: History, objective: str | None = None) -> Trials:
    """All trials of a run, whatever became of them."""
    chosen = history.objective(objective)
    k = history.objectives.index(chosen)
    rows, space = history.trials, history.space
    return Trials(
        objective=chosen.name,
        maximize=chosen.maximize,
        parameters=space.names,
        number=np.array([t.number for t in rows], dtype=np.int64),
        state=tuple(t.state.value for t in rows),
        cost=np.array([t.costs[k] for t in rows], dtype=float),
        analysed=np.isin(np.arange(len(rows)), _analysed(history, objective)),
        budget=np.array([math.nan if t.budget is None else t.budget for t in rows], dtype=float),
        seconds=np.array([t.seconds for t in rows], dtype=float),
        proposer=tuple(t.proposer for t in rows),
        reason=tuple(t.reason for t in rows),
        values=tuple(tuple(t.values.get(name) for t in rows) for name in space.names),
        places=history.vectors.view(),
        ticks=tuple(ticks(p) for p in space.parameters),
        others={o.name: history.measured(o) for o in history.objectives if o != chosen},
        kept=tuple(t.feasible for t in rows) if history.limits else (),
        thought=_known([_thought(t, chosen.maximize) for t in rows]),
        curves=_known([_curve(t, k) for t in rows] if len(rows) <= MOST_CURVES else []),
    )


def _known(entries: list[Any]) -> tuple[Any, ...]:
    """All of them, or none where none says anything."""
    return tuple(entries) if any(entry is not None for entry in entries) else ()


def _thought(trial: Trial, maximize: bool) -> str | None:
    proposal = trial.proposal
    if proposal is None or proposal.mean is None or proposal.std is None:
        return None
    mean = -proposal.mean if maximize else proposal.mean
    who = proposal.optimizer or "Its optimiser"
    return f"{who} expected {number(mean)} ± {number(proposal.std, 2)} of it."


def _curve(trial: Trial, objective: int) -> tuple[list[float], list[float]] | None:
    """Some points of what it measured on its way."""
    if trial.curve is None:
        return None
    values = trial.curve.values[:, objective]
    known = np.flatnonzero(np.isfinite(values))
    if len(known) < 2:
        return None
    known = known[np.unique(np.linspace(0, len(known) - 1, MOST_POINTS).round().astype(int))]
    return trial.curve.steps[known].tolist(), values[known].tolist()


def _analysed(history: History, objective: str | None) -> IntArray:
    """Rows of the trials that explanations are made of; none where there is nothing to explain."""
    try:
        return history.data(objective).rows
    except AnalysisError:
        return np.empty(0, dtype=np.int64)


def _said(column: Any) -> bool:
    """Does a column say anything at all?"""
    if isinstance(column, np.ndarray) and column.dtype.kind == "f":
        return not np.isnan(column).all()
    return any(value is not None for value in column)


def ticks(parameter: Parameter) -> tuple[Tick, ...]:
    """Some places of a parameter's axis with their values: all levels without an order if few."""
    codes = parameter.grid(MOST_TICKS)
    if len(codes) > MOST_TICKS:  # levels without an order, all of them
        codes = codes[np.unique(np.linspace(0, len(codes) - 1, MOST_TICKS).astype(int))]
    return tuple(zip(codes.tolist(), parameter.decode(codes), strict=True))
