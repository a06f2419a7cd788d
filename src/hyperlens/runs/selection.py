"""Choosing what of a run is analysed: states, a budget, a condition, the last trials, objectives."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from hyperlens.errors import AnalysisError, listed
from hyperlens.runs import hypervolume as combine
from hyperlens.runs.history import History, Objective, State, Trial
from hyperlens.runs.where import MISSING, Condition, Lookup, compare, parse
from hyperlens.spaces.clauses import Clauses
from hyperlens.spaces.clauses import Literal as ClauseLiteral
from hyperlens.spaces.cube import BoolArray, FloatArray
from hyperlens.spaces.parameter import Parameter, is_number
from hyperlens.spaces.points import on_front
from hyperlens.spaces.space import Space

HYPERVOLUME = "hypervolume"
CONTRIBUTION = f"{HYPERVOLUME} contribution"  # the objective's name then
_FACTS = ("number", "state", "budget", "seed", "instance", "proposer", "started", "ended")
_SIGNS = {"equal": "==", "not equal": "!=", "in": "in", "greater": ">", "less": "<"}


@dataclass(frozen=True)
class Selection:
    """What of a run is analysed.

    `states` are the states of trials to analyse (complete ones by default); the `budget` "largest"
    forbids what lower ones and pruned trials say of it; `where` is a condition on parameters,
    objectives and facts of trials (see hyperlens.runs.where), which narrows the space too; `last`
    counts after all else. `weights` or `hypervolume` make several objectives one. `keep_tail` lets
    trials that diverged count.
    """

    states: Iterable[str] | None = None
    budget: float | Literal["largest"] | None = None
    where: str | None = None
    last: int | None = None
    weights: Mapping[str, float] | None = None
    hypervolume: bool = False
    keep_tail: bool = False

    def of(self, history: History) -> History:
        """The part of a run that is selected, as a run of its own."""
        part = self._trials(history)
        if self.weights is not None:
            part = _weighted(part, self.weights)
        return _hypervolume(part) if self.hypervolume else part

    def _trials(self, history: History) -> History:
        trials = list(history.trials)
        conditions: list[str] = []
        space, analysed = history.space, history.analysed
        if self.states is not None:
            analysed = _states(self.states)
            trials = [t for t in trials if t.state in analysed]
            conditions.append(f"in the state {' or '.join(sorted(analysed))}")
        if self.budget is not None and self.budget != "largest":
            trials = _at(history, trials, self.budget)
            conditions.append(f"of budget {self.budget:g}")
        if self.where is not None:
            condition = parse(self.where)
            _check_names(condition, history)
            trials = [t for t in trials if condition.holds(_lookup(t, history))]
            space = narrowed(space, condition)
            conditions.append(f"where {self.where}")
        if self.last is not None:
            if self.last < 1:
                raise AnalysisError(
                    f"The last {self.last} trials are none; choose 1 or more with --last."
                )
            trials = trials[-self.last :]
            conditions.append(f"among the last {self.last}")
        if not trials:
            raise AnalysisError(
                f"No trial of {len(history.trials)} is {', '.join(conditions)}; choose less strictly."
            )
        notes = history.notes
        if conditions and len(trials) < len(history.trials):
            counts = f"{len(trials)} of {len(history.trials)}"
            were = "was" if len(trials) == 1 else "were"
            notes += (f"Only {counts} trials {were} chosen: {', '.join(conditions)}.",)
        if self.budget == "largest":
            notes += ("Lower budgets and pruned trials are left out, as was asked for.",)
        return replace(
            history,
            space=space,
            trials=tuple(trials),
            notes=notes,
            analysed=analysed,
            keep_tail=self.keep_tail or history.keep_tail,
            largest_only=self.budget == "largest" or history.largest_only,
        )


def _states(states: Iterable[str]) -> frozenset[State]:
    known = {str(state): state for state in State}
    words = [str(state).strip().lower() for state in states]
    if unknown := [word for word in words if word not in known]:
        raise AnalysisError(
            f"There is no state {listed(unknown)}; choose from {listed(known)} with --states."
        )
    if not words:
        raise AnalysisError(f"No state was chosen; choose from {listed(known)} with --states.")
    return frozenset(known[word] for word in words)


def _at(history: History, trials: Sequence[Trial], budget: float) -> list[Trial]:
    levels = history.budgets
    part = [t for t in trials if t.budget == budget]
    if part and budget in levels:
        return part
    remedy = f"choose one of {listed(f'{b:g}' for b in levels)}" if levels else "leave it out"
    raise AnalysisError(f"No trial has the budget {budget:g}; {remedy}.")


def _check_names(condition: Condition, history: History) -> None:
    known = known_names(history)
    if unknown := sorted(condition.names - set(known)):
        raise AnalysisError(
            f"There is no {listed(unknown)} to compare in --where; choose from "
            f"{listed(known, most=20)}."
        )


def known_names(history: History) -> list[str]:
    """Everything that a condition may ask of a trial."""
    objectives = [o.name for o in history.objectives]
    return [*history.space.names, *history.space.constants, *objectives, *_FACTS, "duration"]


def _lookup(trial: Trial, history: History) -> Lookup:
    facts = facts_of(trial, history)
    return lambda name: facts.get(name, MISSING)


def facts_of(trial: Trial, history: History) -> dict[str, Any]:
    """What a condition may ask: parameters come first, then objectives, then facts on the trial."""
    facts = {name: fact for name in _FACTS if (fact := getattr(trial, name)) is not None}
    facts |= {"state": str(trial.state), "duration": trial.seconds if trial.spans else MISSING}
    facts |= {o.name: cost for o, cost in zip(history.objectives, trial.costs, strict=True)}
    facts |= history.space.constants | dict.fromkeys(history.space.names, MISSING)
    return facts | dict(trial.values)


def narrowed(space: Space, condition: Condition) -> Space:
    """The space in which a condition holds, as far as it demands values of single parameters."""
    parameters = {p.name: p for p in space.parameters}
    constants = dict(space.constants)
    for name, sign, value in condition.demands:
        if name not in parameters:
            continue
        rest = _narrowed(parameters[name], sign, value)
        if isinstance(rest, Parameter):
            parameters[name] = rest
        else:
            constants[name] = rest[0]
            del parameters[name]
    if len(parameters) == len(space) and all(parameters[p.name] is p for p in space.parameters):
        return space
    while True:  # what can never be active takes its own children with it
        clauses = {
            name: possible
            for name in parameters
            if (possible := _possible(space.clauses.get(name), parameters, constants)) is not None
        }
        if all(clauses.values()):
            return Space.of(list(parameters.values()), clauses, constants, space.inferred)
        parameters = {name: p for name, p in parameters.items() if clauses.get(name) != ()}


def _narrowed(parameter: Parameter, sign: str, value: Any) -> Parameter | tuple[Any]:
    """A parameter with the values that a comparison leaves; a tuple where it is one."""
    if parameter.choices:
        left = [c for c in parameter.choices if compare(c, sign, value)]
        if len(left) == 1:
            return (left[0],)
        return replace(parameter, choices=tuple(left), default=None) if left else parameter
    values = [v for v in (value if sign == "in" else [value]) if is_number(v)]
    if not values:
        return parameter
    low, high = parameter.lower, parameter.upper
    whole = parameter.kind == "integer"
    if sign in ("==", "in"):
        low, high = max(low, min(values)), min(high, max(values))
    elif sign in ("<", "<="):
        most = values[0] if not whole else math.ceil(values[0]) - 1 if sign == "<" else values[0]
        high = min(high, math.floor(most) if whole else most)
    elif sign in (">", ">="):
        least = values[0] if not whole else math.floor(values[0]) + 1 if sign == ">" else values[0]
        low = max(low, math.ceil(least) if whole else least)
    if low > high:
        return parameter
    if low == high:
        return (int(low) if whole else low,)
    return replace(parameter, lower=float(low), upper=float(high), default=None)


def _possible(
    clauses: Clauses | None, parameters: Mapping[str, Parameter], constants: Mapping[str, Any]
) -> Clauses | None:
    """Clauses that can still hold; None is always active, () is never."""
    if clauses is None:
        return None
    possible = []
    for clause in clauses:
        literals: list[ClauseLiteral] = []
        for parent, comparison, value in clause:
            if parent in constants:
                if compare(constants[parent], _SIGNS[comparison], value):
                    continue
                break
            if parent not in parameters:
                break
            choices = parameters[parent].choices
            if choices and comparison == "in":
                value = tuple(v for v in value if v in choices)
            impossible = value == () if comparison == "in" else value not in choices
            if choices and impossible and comparison in ("in", "equal"):
                break
            if choices and impossible and comparison == "not equal":
                continue
            literals.append((parent, comparison, value))
        else:
            possible.append(tuple(literals))
    return None if () in possible else tuple(possible)


def _costs(history: History, names: Sequence[str]) -> tuple[FloatArray, BoolArray]:
    """Minimised costs of the named objectives, and which trials have all of them."""
    objectives = [history.objective(name) for name in names]
    signs = [-1.0 if o.maximize else 1.0 for o in objectives]
    costs = np.column_stack([history.measured(o) for o in objectives]) * signs
    usable = np.isfinite(costs).all(axis=1) & history.is_analysed
    if not usable.any():
        raise AnalysisError(
            f"No trial has a finite value of each of {listed(names)}; choose other objectives."
        )
    return costs, usable


def _weighted(history: History, weights: Mapping[str, float]) -> History:
    if not weights or any(not (math.isfinite(w) and w >= 0) for w in weights.values()):
        raise AnalysisError("Weights are finite and not negative; correct --weights.")
    if sum(weights.values()) <= 0:
        raise AnalysisError("All weights are 0, which leaves no objective; correct --weights.")
    names = list(weights)
    costs, usable = _costs(history, names)
    values = np.full(len(costs), np.nan)
    values[usable] = combine.weighted(costs[usable], np.array([weights[n] for n in names]))
    formula = " + ".join(f"{weights[name]:g} × {name}" for name in names)
    note = (
        f"The objective is {formula}, each scaled from 0, its best, to 1, its worst, and their weights "
        "to a sum of 1."
    )
    return _with_objective(history, Objective(formula), values, note)


def _hypervolume(history: History) -> History:
    names = [o.name for o in history.objectives]
    if not 2 <= len(names) <= combine.MOST_OBJECTIVES:
        raise AnalysisError(
            f"A hypervolume needs 2 to {combine.MOST_OBJECTIVES} objectives, and this run has "
            f"{len(names)}; choose one by its name, or use weights."
        )
    costs, usable = _costs(history, names)
    values = np.full(len(costs), np.nan)
    for group in _comparable(history, usable):
        front = int(on_front(combine.scaled(costs[group])).sum())
        if front > combine.MOST_FRONT:
            raise AnalysisError(
                f"The Pareto front has {front} trials, more than the {combine.MOST_FRONT} whose "
                "hypervolume can be computed; use weights, or choose fewer trials."
            )
        values[group] = combine.contributions(costs[group])
    note = (
        f"The objective is what a trial adds to the hypervolume of {listed(names)}, each scaled from "
        "0, its best, to 1, its worst; behind the front it is minus the distance to it."
    )
    return _with_objective(history, Objective(CONTRIBUTION, True), values, note)


def _comparable(history: History, usable: BoolArray) -> list[list[int]]:
    """Positions of trials of the same budget, seed and instance."""
    groups: dict[Any, list[int]] = {}
    for i in np.flatnonzero(usable).tolist():
        trial = history.trials[i]
        groups.setdefault((trial.budget, trial.seed, trial.instance), []).append(i)
    return list(groups.values())


def _with_objective(
    history: History, objective: Objective, values: FloatArray, note: str
) -> History:
    trials = tuple(
        replace(trial, costs=(float(value),), curve=None)
        for trial, value in zip(history.trials, values, strict=True)
    )
    return replace(history, objectives=(objective,), trials=trials, notes=(*history.notes, note))
