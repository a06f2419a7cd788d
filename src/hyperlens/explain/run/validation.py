"""What a run holds, before anything is explained: trials, space, and what cannot be said of it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from hyperlens.errors import AnalysisError, listed
from hyperlens.record import Record
from hyperlens.runs.history import Data, History, State
from hyperlens.spaces.points import different
from hyperlens.tables import Column, Table, table
from hyperlens.words import agreeing, counted, first_few, number

if TYPE_CHECKING:
    import pandas as pd

FEW = 5  # trials in which a parameter should be active before its effect is worth a look
MOST_CHOICES = 6  # of a parameter, in a table
MOST_BUDGETS = 20  # listed one by one
YEAR = 365 * 86400.0  # seconds


@dataclass(frozen=True)
class Measured:
    """An objective: its direction, in how many trials it is known, and how far it reaches."""

    name: str
    maximize: bool
    trials: int
    lowest: float
    highest: float


@dataclass(frozen=True)
class Described:
    """A parameter: what it may be, when it is active, and in how many trials it was set."""

    name: str
    kind: str
    lower: float | None
    upper: float | None
    log: bool
    choices: tuple[Any, ...]
    active_when: str | None
    trials: int
    tried: int  # different values

    @property
    def reach(self) -> str:
        """What it may be, in short."""
        if self.lower is not None and self.upper is not None:
            what = "whole, " if self.kind == "integer" else ""
            return f"{what}{self.lower:g} to {self.upper:g}{', log' if self.log else ''}"
        return f"{self.kind}: {first_few([number(c) for c in self.choices], MOST_CHOICES)}"


@dataclass(frozen=True)
class Validation(Record):
    """What was read of a run.

    `budgets` counts trials by budget, "none" where they have none. `left_out` says what was dropped
    and why, `limits` what an analysis will not be able to say.
    """

    source: str
    trials: int
    analysed: int
    configurations: int
    states: dict[str, int]
    objectives: tuple[Measured, ...]
    budgets: dict[str, int]
    seeds: int
    instances: int
    started: float | None
    ended: float | None
    proposers: dict[str, int]
    space_inferred: bool
    parameters: tuple[Described, ...]
    constants: dict[str, Any]
    forbidden: int
    left_out: tuple[str, ...]
    inferred: tuple[str, ...]
    limits: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """How much was read, and how much of it can be analysed."""
        read = (
            f"{counted(self.trials, 'trial')} of {counted(len(self.parameters), 'parameter')} were read "
            f"from {self.source or 'the run'}, of which {self.analysed} can be analysed"
        )
        pruned = self.states.get("pruned", 0)
        count = "one pruned trial counts" if pruned == 1 else f"{pruned} pruned trials count"
        return f"{read}; {count} where what was measured of them helps." if pruned else f"{read}."

    @property
    def notes(self) -> tuple[str, ...]:
        return (*self.left_out, *self.inferred, *self.limits)

    @property
    def titled_notes(self) -> dict[str, tuple[str, ...]]:
        """The notes below what they are about."""
        notes = {
            "Left out or assumed": self.left_out,
            "Inferred": self.inferred,
            "What an analysis cannot say": self.limits,
        }
        return {title: sentences for title, sentences in notes.items() if sentences}

    @property
    def facts(self) -> list[tuple[str, str]]:
        facts = [
            ("trials", f"{self.trials} ({_counts(self.states)})"),
            ("analysed", counted(self.analysed, "trial")),
            ("configurations", f"{self.configurations} different ones"),
        ]
        for objective in self.objectives:
            direction = "maximised" if objective.maximize else "minimised"
            reach = "a finite number in no trial"
            if objective.trials:
                ends = f"{number(objective.lowest)} to {number(objective.highest)}"
                reach = f"{ends} in {counted(objective.trials, 'trial')}"
            facts.append(("objective", f"{objective.name} ({direction}), {reach}"))
        if set(self.budgets) != {"none"}:
            facts.append(("budgets", _counts({f"at {b}": n for b, n in self.budgets.items()})))
        facts.append(("seeds", str(self.seeds or "not recorded")))
        facts.append(("instances", str(self.instances or "none")))
        if self.started is not None:
            ended = "" if self.ended is None else f" to {_moment(self.ended)}"
            facts.append(("time", f"{_moment(self.started)}{ended}"))
        if set(self.proposers) != {"unknown"}:
            facts.append(("proposed by", _counts(self.proposers)))
        kind = "inferred from the values" if self.space_inferred else "as given or recorded"
        more = f", {counted(len(self.constants), 'constant')}" if self.constants else ""
        more += f", {counted(self.forbidden, 'forbidden clause')}" if self.forbidden else ""
        parameters = counted(len(self.parameters), "parameter")
        return [*facts, ("space", f"{parameters}, {kind}{more}")]

    @property
    def tables(self) -> tuple[Table, ...]:
        """What the run has, and its parameters."""
        names, facts = zip(*self.facts, strict=True)
        p = self.parameters
        return table(Column("source", names), Column(self.source, facts)), table(
            Column("parameter", [x.name for x in p]),
            Column("values", [x.reach for x in p]),
            Column("active when", [x.active_when or "" for x in p]),
            Column("trials", [x.trials for x in p], number),
            Column("tried", [x.tried for x in p], number),
        )

    @property
    def frame(self) -> pd.DataFrame:
        import pandas as pd

        rows = [vars(parameter) for parameter in self.parameters]
        return pd.DataFrame(rows, dtype=object)  # a name may be no valid Unicode


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {what}" for what, n in counts.items())


def _moment(seconds: float) -> str:
    if abs(seconds) < YEAR:  # counted from the start of the run, not from 1970
        return f"{seconds:g} s"
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, OSError, ValueError):
        return f"{seconds:g} s"


def validation(history: History) -> Validation:
    """Describe a run that was read."""
    first = history.objectives[0].name
    try:
        data = history.data(first)
    except AnalysisError:
        data = None
    trials = history.trials
    times = [t.started for t in trials if t.started is not None]
    ends = [t.ended for t in trials if t.ended is not None]
    described = tuple(_parameter(history, j) for j in range(len(history.space)))
    counted = Counter(t.proposer or "unknown" for t in trials)
    return Validation(
        source=history.source,
        trials=len(trials),
        analysed=0 if data is None else len(data.rows),
        configurations=different(history.vectors),
        states={s.value: history.count(s) for s in State if history.count(s)},
        objectives=tuple(_measured(history, k) for k in range(len(history.objectives))),
        budgets=_budgets(history),
        seeds=len({t.seed for t in trials if t.seed is not None}),
        instances=len({t.instance for t in trials if t.instance is not None}),
        started=min(times, default=None),
        ended=max(ends, default=None),
        proposers=dict(counted.most_common(MOST_BUDGETS)),
        space_inferred=any(s.startswith("The space was inferred") for s in history.space.inferred),
        parameters=described,
        constants=dict(history.space.constants),
        forbidden=len(history.space.configspace.forbidden_clauses),
        left_out=_left_out(history, first),
        inferred=history.space.inferred,
        limits=tuple(_limits(history, data, described)),
    )


def _measured(history: History, k: int) -> Measured:
    objective = history.objectives[k]
    costs = [t.costs[k] for t in history.trials if t.state is State.COMPLETE]
    finite = [c for c in costs if math.isfinite(c)]
    lowest, highest = min(finite, default=math.nan), max(finite, default=math.nan)
    return Measured(objective.name, objective.maximize, len(finite), lowest, highest)


def _budgets(history: History) -> dict[str, int]:
    counts = Counter(t.budget for t in history.trials)
    known = sorted(b for b in counts if b is not None)
    by_budget = {f"{b:g}": counts[b] for b in known[:MOST_BUDGETS]}
    if rest := known[MOST_BUDGETS:]:
        by_budget[f"{rest[0]:g} to {rest[-1]:g}"] = sum(counts[b] for b in rest)
    return by_budget | ({"none": counts[None]} if None in counts else {})


def _parameter(history: History, j: int) -> Described:
    parameter = history.space.parameters[j]
    column = history.vectors[:, j]
    present = column[~np.isnan(column)]
    number = not parameter.choices
    return Described(
        parameter.name,
        parameter.kind,
        parameter.lower if number else None,
        parameter.upper if number else None,
        parameter.log,
        parameter.choices,
        history.space.conditions.get(parameter.name),
        len(present),
        len(np.unique(present)),
    )


def _left_out(history: History, objective: str) -> tuple[str, ...]:
    """What the reader and the analyses drop; what was inferred is told apart from it."""
    told = set(history.space.inferred)
    return tuple(s for s in history.warnings(objective) if s not in told)


def _limits(history: History, data: Data | None, described: tuple[Described, ...]) -> list[str]:
    if data is None:
        return ["Nothing can be explained: no trial is complete with a finite cost."]
    limits = [*_of_the_trials(history, data), *_of_the_parameters(data, described)]
    if any(s.startswith("The space was inferred") for s in history.space.inferred):
        limits.append("What lies beyond the values that were tried is unknown: so is the space.")
    if len({history.trials[i].budget for i in data.rows}) > 1:
        limits.append(
            "Some analysed trials have a budget and some have none, so they may not be comparable."
        )
    return limits


def _of_the_trials(history: History, data: Data) -> list[str]:
    sentences = []
    n, d = len(data.rows), len(history.space)
    if n < max(10, 2 * d):
        sentences.append(
            f"{counted(n, 'trial')} {'is' if n == 1 else 'are'} few for {counted(d, 'parameter')}: "
            "expect wide intervals or no verdict."
        )
    if n > 1 and float(np.ptp(data.y)) == 0.0:
        sentences.append("All analysed trials have the same cost, so no parameter has an effect.")
    if different(data.X) == n:
        sentences.append(
            "No configuration was evaluated twice: noise of the objective cannot be told from "
            "effects that the surrogate misses."
        )
    if not any(t.started is not None and t.ended is not None for t in history.trials):
        sentences.append("How long trials took is not recorded.")
    return sentences


def _of_the_parameters(data: Data, described: tuple[Described, ...]) -> list[str]:
    sentences = []
    active = (~np.isnan(data.X)).sum(axis=0)
    if still := [p.name for p, same in zip(described, data.unvaried, strict=True) if same]:
        sentences.append(
            f"{listed(still)} never {agreeing(len(still), 'vary')} among the analysed trials: no "
            "effect can be told."
        )
    if rare := [p.name for p, n in zip(described, active, strict=True) if 0 < n < FEW]:
        are = agreeing(len(rare), "are")
        sentences.append(f"{listed(rare)} {are} active in fewer than {FEW} analysed trials.")
    if untried := [p.name for p in described if p.choices and p.tried < len(p.choices)]:
        sentences.append(f"Not all choices of {listed(untried)} were tried.")
    return sentences
