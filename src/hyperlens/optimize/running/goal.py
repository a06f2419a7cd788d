"""What a run measures: one objective or several, and limits that a trial must keep to be of use.

A function with several objectives returns one number for each, in their order, or a dict that has them
by name; what else the dict holds can be limited too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperlens.errors import AnalysisError, SourceError, listed
from hyperlens.optimize.running.trial_outcome import Outcome, judged, said, shortened
from hyperlens.runs.history import Objective
from hyperlens.runs.limits import Limit, limits_of
from hyperlens.runs.where import MISSING

Objectives = str | Sequence[str]
Constraint = str | Callable[[Any], Any]
Constraints = Constraint | Sequence[Constraint]

DIRECTIONS = {"min": False, "max": True}


@dataclass(frozen=True)
class OwnLimit:
    """A function of what the objective returned, whose number must not be above 0."""

    function: Callable[[Any], Any]

    @property
    def text(self) -> str:
        name = getattr(self.function, "__name__", "constraint")
        return f"{name if name.isidentifier() else 'constraint'} <= 0"


@dataclass(frozen=True)
class Goal:
    """Objectives in their order, and limits."""

    objectives: tuple[Objective, ...]
    limits: tuple[Limit | OwnLimit, ...] = ()

    @property
    def several(self) -> bool:
        return len(self.objectives) > 1

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(limit.text for limit in self.limits)

    def judged(self, returned: Any) -> Outcome:
        """Are they finite numbers, all that there should be? If not, the trial fails for this reason."""
        names = [o.name for o in self.objectives]
        if isinstance(returned, Mapping):
            if missing := [name for name in names if name not in returned]:
                held = f"but {listed(map(str, returned))}" if returned else "but an empty dict"
                return Outcome(reason=f"returned no {listed(missing)}, {held}")
            measured = dict(returned)
        elif self.several:
            if not isinstance(returned, (tuple, list, np.ndarray)) or len(returned) != len(names):
                shown = shortened(said(returned, repr), 60)
                return Outcome(
                    reason=f"returned {shown}, which is not one number for each objective"
                )
            measured = dict(zip(names, returned, strict=True))
        else:
            measured = {names[0]: returned}
        outcomes = [judged(measured[name]) for name in names]
        costs = [outcome.cost for outcome in outcomes if outcome.cost is not None]
        if len(costs) < len(names):
            failed = next(k for k, outcome in enumerate(outcomes) if outcome.cost is None)
            of = f" for '{names[failed]}'" if self.several else ""
            return Outcome(reason=f"{outcomes[failed].reason}{of}")
        excess = [_excess(limit, measured, returned) for limit in self.limits]
        for limit, own in zip(self.limits, excess, strict=True):
            if not math.isfinite(own):
                return Outcome(reason=f"returned nothing that says whether {limit.text}")
        return Outcome(costs[0], None, tuple(costs[1:]), tuple(excess))


def _excess(limit: Limit | OwnLimit, measured: Mapping[str, Any], returned: Any) -> float:
    if isinstance(limit, OwnLimit):
        own = judged(limit.function(returned)).cost
        return math.nan if own is None else own
    return limit.excess(lambda name: measured.get(name, MISSING))


@dataclass(frozen=True)
class Measuring:
    """An objective function whose answer is read by a goal."""

    objective: Callable[..., Any]
    goal: Goal

    def __call__(self, *arguments: Any) -> Outcome:
        return self.goal.judged(self.objective(*arguments))


def as_goal(
    objectives: Objectives | None,
    constraints: Constraints | None,
    maximize: bool,
    name: str,
) -> Goal | None:
    """What is measured, in any form that a user may give; None for one cost and nothing else.

    An objective may say its direction, as in "accuracy:max"; else it is that of the run.

    >>> as_goal("loss, accuracy:max", "latency < 20", False, "cost").objectives
    (<Objective loss: minimised>, <Objective accuracy: maximised>)
    """
    if objectives is None and not constraints:
        return None
    given = [objectives] if isinstance(objectives, str) else objectives or [name]
    named = tuple(_objective(text, maximize) for texts in given for text in texts.split(","))
    names = [o.name for o in named]
    if not names or "" in names or len(set(names)) < len(names):
        raise AnalysisError(
            f"Objectives are called {listed(names)}; give each a name of its own, as in "
            "'loss,latency:min'."
        )
    if constraints is None or isinstance(constraints, str) or callable(constraints):
        constraints = [] if constraints is None else [constraints]
    limits: list[Limit | OwnLimit] = []
    for each in constraints:
        limits += [OwnLimit(each)] if callable(each) else _limits(each)
    texts = [limit.text for limit in limits]
    if len(set(texts)) < len(texts):
        raise AnalysisError(
            f"Constraints are called {listed(texts)}; give each function a name of its own."
        )
    return Goal(named, tuple(limits))


def _objective(text: str, maximize: bool) -> Objective:
    name, colon, way = text.strip().rpartition(":")
    if not colon:
        return Objective(way, maximize)
    if way not in DIRECTIONS:
        raise AnalysisError(
            f"'{text.strip()}' has the direction '{way}'; write {name}:min or {name}:max."
        )
    return Objective(name.strip(), DIRECTIONS[way])


def _limits(text: str) -> tuple[Limit, ...]:
    """Of a condition; a name alone must not be above 0."""
    try:
        return limits_of([f"{text} <= 0" if text.strip().isidentifier() else text])
    except SourceError as problem:
        raise AnalysisError(str(problem)) from problem
