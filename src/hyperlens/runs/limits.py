"""Limits that a trial must keep to be of use, such as `latency < 20`, and by how much it exceeds them.

A limit is a condition (where.py). One that compares a measured number with a bound is exceeded by their
difference; of any other it is only known whether it is kept. Conditions that `and` joins are limits of
their own.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from hyperlens.errors import AnalysisError, SourceError, listed
from hyperlens.runs.history import History
from hyperlens.runs.selection import facts_of, known_names
from hyperlens.runs.where import MISSING, Condition, Lookup, parse
from hyperlens.spaces.parameter import is_number

BROKEN = 1.0  # excess where nothing but the fact is known
LEAST = math.ulp(0.0)  # excess of what is equal to a bound that it must not reach


@dataclass(frozen=True)
class Limit:
    """A condition and its text."""

    text: str
    condition: Condition

    def excess(self, lookup: Lookup) -> float:
        """By how much a trial exceeds it: not above 0 if it is kept, nan if that is not known."""
        values = [lookup(name) for name in self.condition.names]
        if any(value is MISSING or value is None or value != value for value in values):
            return math.nan
        away = max(self._differences(lookup), default=-math.inf)
        if self.condition.holds(lookup):
            return min(away, 0.0) if math.isfinite(away) else 0.0
        return max(away, LEAST) if away >= 0 else BROKEN

    def _differences(self, lookup: Lookup) -> Iterator[float]:
        """From the bounds that must be kept in any case."""
        for name, sign, bound in self.condition.demands:
            if sign[0] in "<>" and is_number(lookup(name)) and is_number(bound):
                difference = float(lookup(name)) - float(bound)
                yield difference if sign[0] == "<" else -difference


def limits_of(constraints: Sequence[str]) -> tuple[Limit, ...]:
    """Limits out of their texts.

    >>> [limit.text for limit in limits_of(["latency < 20 and size <= 3.50"])]
    ['latency < 20', 'size <= 3.5']
    """
    found: list[Limit] = []
    for text in constraints:
        try:
            condition = parse(text)
        except AnalysisError as problem:
            raise SourceError(str(problem).replace("--where", "--constraint")) from problem
        alone = [condition.part(part) for part in _parts(condition.tree)]
        if all(len(one.demands) == 1 for one in alone):
            found += [Limit(_said(one), one) for one in alone]
        else:
            found.append(Limit(" ".join(text.split()), condition))
    return tuple({limit.text: limit for limit in found}.values())


def with_limits(
    history: History,
    constraints: Sequence[str],
    more: Sequence[Mapping[str, Any]] | None = None,
) -> History:
    """The run with limits beside those that it has; `more` is what else is known of each trial."""
    if not constraints:
        return history
    limits = [limit for limit in limits_of(constraints) if limit.text not in history.limits]
    known = [*known_names(history), *dict.fromkeys(name for row in more or () for name in row)]
    if unknown := sorted(set().union(*(x.condition.names for x in limits)) - set(known)):
        raise SourceError(
            f"There is no {listed(unknown)} for --constraint; choose from {listed(known, most=20)}."
        )
    trials = []
    for k, trial in enumerate(history.trials):
        facts = facts_of(trial, history) | (dict(more[k]) if more else {})
        try:
            excess = [limit.excess(partial(_found, facts)) for limit in limits]
        except AnalysisError as problem:
            raise SourceError(str(problem).replace("--where", "--constraint")) from problem
        trials.append(replace(trial, excess=(*trial.excess, *excess)))
    texts = (*history.limits, *(limit.text for limit in limits))
    return replace(history, trials=tuple(trials), limits=texts)


def _found(facts: Mapping[str, Any], name: str) -> Any:
    return facts.get(name, MISSING)


def _parts(tree: ast.expr) -> list[ast.expr]:
    """What `and` joins, or all of it."""
    match tree:
        case ast.BoolOp(ast.And(), parts):
            return parts
    return [tree]


def _said(condition: Condition) -> str:
    ((name, sign, value),) = condition.demands
    return f"{name} {sign} {f'{value:.12g}' if is_number(value) else repr(value)}"
