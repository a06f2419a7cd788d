"""A trial as a study keeps it, read: for the loop that runs it, and for a history once it has ended."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from optuna.trial import FrozenTrial, TrialState

from hyperlens.optimize.running.goal import Goal
from hyperlens.proposal import EXCESS, LEASE, PROPOSAL, REASON, RUNGS, Proposal
from hyperlens.runs.curve import Curve
from hyperlens.runs.history import State, Trial
from hyperlens.spaces.space import Space

_STATES = {
    TrialState.RUNNING: State.RUNNING,
    TrialState.COMPLETE: State.COMPLETE,
    TrialState.PRUNED: State.PRUNED,
    TrialState.FAIL: State.FAILED,
}


@dataclass(frozen=True)
class StudyTrial:
    """A trial as the loop sees it; `cost` is minimised, nan unless complete, as are the `others`, those
    of further objectives; `excess` says by how much it exceeds each limit."""

    number: int
    state: State | None  # None while it waits
    values: Mapping[str, Any]
    cost: float
    proposal: Proposal
    lease: Mapping[str, Any]
    moment: float  # when it ended
    rungs: tuple[tuple[float, float], ...] = ()  # budget and minimised cost of each rung so far
    others: tuple[float, ...] = ()
    excess: tuple[float, ...] = ()

    @property
    def rung(self) -> int:
        return self.proposal.rung or 0

    @property
    def paused(self) -> bool:
        """Is its cost known at the rung where it is?"""
        return any(budget == self.proposal.budget for budget, _ in self.rungs)

    @property
    def place(self) -> tuple[str, float | None] | None:
        """Where in a race it began: whose entry it is, and the budget of its first rung."""
        first = self.rungs[0][0] if self.rungs else self.proposal.budget
        return None if self.proposal.entry is None else (self.proposal.entry, first)


def study_trial(trial: FrozenTrial, space: Space, goal: Goal) -> StudyTrial:
    """As the loop sees it."""
    objectives = goal.objectives
    ended = _costs(trial, len(objectives))
    if trial.state is not TrialState.COMPLETE:
        ended = (math.nan,) * len(objectives)
    cost, *others = (o.sign * own for o, own in zip(objectives, ended, strict=True))
    sign, costs = objectives[0].sign, trial.intermediate_values
    rungs = enumerate(trial.user_attrs.get(RUNGS, []))
    return StudyTrial(
        trial.number,
        _STATES.get(trial.state),
        {name: trial.params[name] for name in space.names if name in trial.params},
        cost,
        proposal_of(trial),
        trial.system_attrs.get(LEASE, {}),
        _seconds(trial.datetime_complete) or 0.0,
        tuple((float(r), sign * costs[k]) for k, r in rungs if k in costs),
        tuple(others),
        _excess(trial, len(goal.limits)),
    )


def proposal_of(trial: FrozenTrial) -> Proposal:
    return Proposal.from_dict(trial.user_attrs.get(PROPOSAL)) or Proposal()


def rungs_below(trial: FrozenTrial, budget: float) -> list[float]:
    """Budgets of the rungs that it was at before this one."""
    return [r for r in trial.user_attrs.get(RUNGS, []) if r < budget]


def finished_trial(trial: FrozenTrial, objectives: int, limits: int) -> Trial:
    proposal, costs = proposal_of(trial), _costs(trial, objectives)
    state = _STATES[trial.state]
    return Trial(
        trial.number,
        dict(trial.params),
        costs,
        state,
        budget=proposal.budget,
        started=_seconds(trial.datetime_start),
        ended=_seconds(trial.datetime_complete),
        proposer=proposal.optimizer,
        reason=None if state is State.COMPLETE else trial.user_attrs.get(REASON),
        proposal=Proposal.from_dict(trial.user_attrs.get(PROPOSAL)),
        curve=Curve.raced(
            trial.intermediate_values, trial.user_attrs.get(RUNGS), proposal.budget, costs[0]
        ),
        excess=_excess(trial, limits),
    )


def _costs(trial: FrozenTrial, objectives: int) -> tuple[float, ...]:
    """Of a complete trial, or of the last rung of one that did not go on; one an objective."""
    known = trial.state in (TrialState.COMPLETE, TrialState.PRUNED) and trial.values is not None
    return tuple(map(float, trial.values)) if known else (math.nan,) * objectives


def _excess(trial: FrozenTrial, limits: int) -> tuple[float, ...]:
    stored = trial.system_attrs.get(EXCESS) or ()
    return tuple(map(float, stored)) if len(stored) == limits else (math.nan,) * limits


def _seconds(moment: datetime | None) -> float | None:
    return None if moment is None else moment.timestamp()
