"""Where a run is kept: one Optuna study, in memory, a file, or a database; see hyperlens.proposal for
its attributes.

Everything is written the moment it is known, so that a run can be killed at any time. A trial that
was running then is put back to wait, under its own number, and tried again.

A change of a race takes several writes, of which one decides; the others come before it and say nothing
by themselves, or after it and are made up for by whoever comes next:

    a rung ends       its cost, an intermediate value: from then on the trial rests, whatever its state
    a trial goes on   its proposal, which names the next rung: before it the trial rests, after it runs
    a trial is taken  its state, which changes from waiting to running only once; the lease before it
                      says by whom
"""

import json
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from optuna.exceptions import StorageInternalError, UpdateFinishedTrialError
from optuna.study import StudyDirection, create_study
from optuna.trial import FrozenTrial, TrialState, create_trial

from hyperlens.errors import SourceError, listed
from hyperlens.optimize.optimizers.protocol import Candidate
from hyperlens.optimize.running.goal import Goal
from hyperlens.optimize.running.trial_outcome import Outcome
from hyperlens.optimize.storage import leases
from hyperlens.optimize.storage.distributions import distributions, stored
from hyperlens.optimize.storage.storages import Storage, opened, quiet
from hyperlens.optimize.storage.stored_trial import (
    StudyTrial,
    finished_trial,
    proposal_of,
    rungs_below,
    study_trial,
)
from hyperlens.proposal import (
    EXCESS,
    LEASE,
    LIMITS,
    PLAN,
    PROPOSAL,
    REASON,
    RUNGS,
    SPACE,
    STOPPED,
    TWIN,
    Proposal,
)
from hyperlens.runs.history import History, Objective, State
from hyperlens.runs.search_plan import SearchPlan
from hyperlens.runs.stopped import Stopped
from hyperlens.spaces.space import Space

MOST_ATTEMPTS = 5  # a trial that so often had nobody to finish it has failed


class Store:
    """A study on one space: of one objective, or of all that its `goal` says."""

    def __init__(
        self,
        storage: Storage,
        space: Space,
        study: str = "hyperlens",
        maximize: bool = False,
        objective: str = "cost",
        plan: SearchPlan | None = None,
        goal: Goal | None = None,
    ) -> None:
        self.space = space
        self.goal = goal or Goal((Objective(objective, maximize),))
        self._storage, self.source = opened(storage)
        ways = {False: StudyDirection.MINIMIZE, True: StudyDirection.MAXIMIZE}
        directions = [ways[o.maximize] for o in self.goal.objectives]
        with quiet():
            self._study = create_study(
                storage=self._storage, study_name=study, directions=directions, load_if_exists=True
            )
        self._id = self._storage.get_study_id_from_name(study)
        self._describe(study, directions)
        if plan is not None and PLAN not in self._study.user_attrs:
            self._study.set_user_attr(PLAN, plan.to_dict())
        self._distributions = distributions(space)
        self._finished: set[int] = set()
        self.withdrawn: set[int] = set()  # trials that are the same as earlier ones
        self._seen = 0  # trials that there were when we looked last, and those of ours right after
        self.run = uuid.uuid4().hex
        leases.OPEN.add(self.run)
        self._ours: dict[int, dict[str, Any]] = {}  # leases of trials that this process runs
        self._since: dict[int, float] = {}  # when evaluations of races began
        self._beaten = time.monotonic()
        self._settle_twins()

    def _describe(self, study: str, directions: list[StudyDirection]) -> None:
        """Write down the space, the objectives' names and the limits, or see that they are the same."""
        where = f"The study '{study}' in {self.source}"
        names, limits = [o.name for o in self.goal.objectives], list(self.goal.texts)
        if list(self._study.directions) != directions:
            one = len(self._study.directions) == len(directions) == 1
            way = "minimised" if self.goal.objectives[0].maximize else "maximised"
            what = f"is {way}" if one else f"has {self._objectives()}"
            raise SourceError(
                f"{where} {what}; go on in its direction, or choose another name for the study."
                if one
                else f"{where} {what}; name these objectives, or choose another name for the study."
            )
        known = self._study.user_attrs.get(SPACE)
        if known is None:
            if self._study.get_trials(deepcopy=False):
                raise SourceError(
                    f"{where} was not run by hyperlens; choose another name for the study."
                )
            if limits:
                self._study.set_user_attr(LIMITS, limits)
            self._study.set_user_attr(SPACE, json.loads(self.space.to_json()))
        elif not _same_space(Space.from_json(json.dumps(known)), self.space):
            raise SourceError(
                f"{where} was run on another space; give that space, or choose another name for "
                "the study."
            )
        if self._study.metric_names is None:
            with quiet():
                self._study.set_metric_names(names)
        if self.goal.several and self._study.metric_names != names:
            raise SourceError(
                f"{where} has {self._objectives()}; name these objectives, or choose another name for "
                "the study."
            )
        if list(self._study.user_attrs.get(LIMITS) or []) != limits:
            kept = listed(self._study.user_attrs.get(LIMITS) or ["none"])
            raise SourceError(
                f"{where} was run with other constraints ({kept}); give these, or choose another name "
                "for the study."
            )

    def _objectives(self) -> str:
        """Objectives of the study that there is, as one would name them."""
        names = self._study.metric_names or ["value"] * len(self._study.directions)
        ways = [d is StudyDirection.MAXIMIZE for d in self._study.directions]
        each = [f"{name}:{'max' if up else 'min'}" for name, up in zip(names, ways, strict=True)]
        return f"the objective{'s' * (len(each) > 1)} {listed(each)}"

    # Reading

    def changes(self) -> Iterator[StudyTrial]:
        """Trials that are new or unfinished since the last call: those that ended in the order in
        which they did, then the others by number."""
        trials = self._study.get_trials(deepcopy=False)
        self._seen = len(trials)
        self.withdrawn |= {trial.number for trial in trials if TWIN in trial.user_attrs}
        fresh = [
            self._read(trial)
            for trial in trials
            if trial.number not in self._finished and TWIN not in trial.user_attrs
        ]
        ended = [trial for trial in fresh if trial.state not in (None, State.RUNNING)]
        self._finished |= {trial.number for trial in ended}
        yield from sorted(ended, key=lambda trial: (trial.moment, trial.number))
        yield from (trial for trial in fresh if trial.state in (None, State.RUNNING))

    # Whether the search has stopped early

    @property
    def stopped(self) -> Stopped | None:
        return Stopped.from_dict(self._study.user_attrs.get(STOPPED))

    def stop(self, why: Stopped | None) -> None:
        """Write down why the search stopped, or that it goes on."""
        if why is not None or STOPPED in self._study.user_attrs:
            self._study.set_user_attr(STOPPED, None if why is None else why.to_dict())

    # A trial begins: anew, taken over, or at its next rung

    def begin(
        self, candidate: Candidate, optimizer: str, learned: Sequence[int], awaited: Sequence[int]
    ) -> int:
        """Write down a candidate as a trial that runs now; its number."""
        params = stored(self.space, candidate.values)
        ours = leases.lease(1, self.run)
        proposal = candidate.recorded(learned, awaited, optimizer)
        if proposal.beside and self.goal.several:
            proposal = replace(proposal, objectives=tuple(o.name for o in self.goal.objectives))
        template = create_trial(
            state=TrialState.RUNNING,
            params=params,
            distributions={name: self._distributions[name] for name in params},
            user_attrs={PROPOSAL: proposal.to_dict()},
            system_attrs={LEASE: ours},
        )
        number = self._number(self._storage.create_new_trial(self._id, template_trial=template))
        self._begun(number, ours, proposal)
        self._seen += number == self._seen
        return number

    def twin(self, number: int) -> int | None:
        """The trial with which another process was quicker: begun since we looked last, before ours,
        and the same. Ours is withdrawn then."""
        if number < self._seen:
            return None
        own = self._read(self._storage.get_trial(self._trial_id(number)))
        for k in range(self._seen, number):
            frozen = self._storage.get_trial(self._trial_id(k))
            other = self._read(frozen)
            same = other.values == own.values and other.place == own.place
            if same and k not in self._ours and TWIN not in frozen.user_attrs:
                self.withdraw(number, k)
                return k
        return None

    def withdraw(self, number: int, twin: int) -> None:
        """It is the same as an earlier trial, and counts for nothing."""
        self._ours.pop(number, None)
        trial = self._trial_id(number)
        with suppress(UpdateFinishedTrialError):
            self._storage.set_trial_user_attr(trial, TWIN, twin)
            self._storage.set_trial_state_values(trial, TrialState.FAIL)

    def _settle_twins(self) -> None:
        """End trials whose withdrawal was interrupted."""
        for trial in self._study.get_trials(deepcopy=False):
            if TWIN in trial.user_attrs and not trial.state.is_finished():
                self.withdraw(trial.number, trial.user_attrs[TWIN])

    def claim(self, trial: StudyTrial) -> bool:
        """Take over a trial that waits or was abandoned; False if there is nothing to take."""
        attempt = int(trial.lease.get("attempt", 0)) + 1
        if attempt <= MOST_ATTEMPTS:
            return self._take(trial, attempt)
        with suppress(UpdateFinishedTrialError):
            reason = f"was interrupted {MOST_ATTEMPTS} times"
            self._write(self._trial_id(trial.number), Outcome(reason=reason))
        return False

    def go_on(self, trial: StudyTrial, stage: Proposal) -> bool:
        """Take a paused trial to its next rung; False if someone else was quicker."""
        if not self._take(trial, 1):
            return False
        own = self._trial_id(trial.number)
        proposal = proposal_of(self._storage.get_trial(own))
        proposal = replace(proposal, budget=stage.budget, rung=stage.rung, final=stage.final)
        self._storage.set_trial_user_attr(own, PROPOSAL, proposal.to_dict())
        return True

    def _take(self, trial: StudyTrial, attempt: int) -> bool:
        """Make a trial ours, unless it is no more as we saw it."""
        own, ours = self._trial_id(trial.number), leases.lease(attempt, self.run)
        now = self._read(self._storage.get_trial(own))
        if (now.state, now.lease, now.proposal) != (trial.state, trial.lease, trial.proposal):
            return False
        try:
            self._storage.set_trial_system_attr(own, LEASE, ours)
            if trial.state is State.RUNNING:  # of a process that is gone
                self._storage.set_trial_state_values(own, TrialState.WAITING)
            if not self._storage.set_trial_state_values(own, TrialState.RUNNING):
                return False
            self._storage.set_trial_system_attr(own, LEASE, ours)  # if another's came between
        except UpdateFinishedTrialError:
            return False
        self._begun(trial.number, ours, trial.proposal)
        return True

    def _begun(self, number: int, ours: dict[str, Any], proposal: Proposal) -> None:
        self._ours[number] = ours
        if proposal.rung is not None:
            self._since[number] = time.time()

    # A trial rests, is given up, or ends

    def pause(self, number: int, cost: float, budget: float) -> None:
        """Write down the cost at a rung and let the trial wait for the others there."""
        self._ours.pop(number, None)
        trial = self._trial_id(number)
        frozen = self._storage.get_trial(trial)
        if proposal_of(frozen).budget != budget:  # taken for abandoned, and gone on without us
            return
        rungs = [*rungs_below(frozen, budget), budget]
        with suppress(UpdateFinishedTrialError):
            self._clock(frozen)
            self._storage.set_trial_user_attr(trial, RUNGS, rungs)
            self._storage.set_trial_intermediate_value(trial, len(rungs) - 1, cost)
            self._storage.set_trial_state_values(trial, TrialState.WAITING)

    def prune(self, number: int) -> None:
        """A paused trial that does not go on; its value is that of its last rung."""
        trial = self._trial_id(number)
        frozen = self._storage.get_trial(trial)
        last = max(frozen.intermediate_values)
        with suppress(UpdateFinishedTrialError):
            self._storage.set_trial_state_values(
                trial, TrialState.PRUNED, [frozen.intermediate_values[last]]
            )

    def finish(self, number: int, outcome: Outcome) -> None:
        """Write down how a trial of ours ended."""
        self._ours.pop(number, None)
        with suppress(UpdateFinishedTrialError):  # taken for abandoned, finished by someone else
            if number in self._since:
                self._clock(self._storage.get_trial(self._trial_id(number)))
            self._write(self._trial_id(number), outcome)

    def _clock(self, trial: FrozenTrial) -> None:
        """Write down from when until now a trial of a race was evaluated at its rung."""
        proposal = proposal_of(trial)
        since = self._since.pop(trial.number, None)
        if since is not None:
            before = proposal.spans[: len(rungs_below(trial, proposal.budget or 0.0))]
            proposal = replace(proposal, spans=(*before, (since, max(since, time.time()))))
            own = self._trial_id(trial.number)
            self._storage.set_trial_user_attr(own, PROPOSAL, proposal.to_dict())

    # Signs of life, and leaving

    def put_back(self, at_fault: bool) -> None:
        """Let all trials of ours wait; an interruption that is no fault of theirs does not count."""
        for number, ours in self._ours.items():
            trial = self._trial_id(number)
            attempt = ours["attempt"] - (not at_fault)
            with suppress(UpdateFinishedTrialError, StorageInternalError):
                self._storage.set_trial_system_attr(trial, LEASE, {**ours, "attempt": attempt})
                self._storage.set_trial_state_values(trial, TrialState.WAITING)
        self._ours.clear()

    def beat(self) -> None:
        """Show that we live, if it is time to."""
        if time.monotonic() - self._beaten < leases.BEAT:
            return
        self._beaten = time.monotonic()
        for number, ours in list(self._ours.items()):
            self._ours[number] = ours = {**ours, "beat": ours["beat"] + 1}
            with suppress(UpdateFinishedTrialError):
                self._storage.set_trial_system_attr(self._trial_id(number), LEASE, ours)

    def history(self) -> History:
        """All finished trials, as `hyperlens.read` would give them."""
        objectives, limits = self.goal.objectives, self.goal.texts
        names = self._study.metric_names or [o.name for o in objectives]
        trials, stopped = self._study.get_trials(deepcopy=False), self.stopped
        ended = [t for t in trials if t.state.is_finished() and self._counts(t)]
        return History(
            self.space,
            tuple(replace(o, name=name) for o, name in zip(objectives, names, strict=True)),
            tuple(finished_trial(t, len(objectives), len(limits)) for t in ended),
            f"Optuna study '{self._study.study_name}' in {self.source}",
            () if stopped is None else (stopped.sentence,),
            plan=SearchPlan.from_dict(self._study.user_attrs.get(PLAN)),
            limits=limits,
        )

    def close(self) -> None:
        leases.OPEN.discard(self.run)
        self._storage.remove_session()
        engine = getattr(self._storage, "engine", None)
        if engine is not None:
            engine.dispose()

    def _counts(self, trial: FrozenTrial) -> bool:
        """Is it of this space, and no twin of another?"""
        known = {*self.space.names, *self.space.constants}
        return TWIN not in trial.user_attrs and set(trial.params) <= known

    def _read(self, trial: FrozenTrial) -> StudyTrial:
        return study_trial(trial, self.space, self.goal)

    def _number(self, trial: int) -> int:
        """The number of a trial that was just begun: the next one, which storages know without reading
        it, unless others begin trials too."""
        alone = self._trial_id(self._seen) == trial
        return self._seen if alone else self._storage.get_trial_number_from_id(trial)

    def _trial_id(self, number: int) -> int:
        return self._storage.get_trial_id_from_study_id_trial_number(self._id, number)

    def _write(self, trial: int, outcome: Outcome) -> None:
        if outcome.cost is not None:
            if outcome.excess:
                self._storage.set_trial_system_attr(trial, EXCESS, list(outcome.excess))
            costs = [outcome.cost, *outcome.others]
            self._storage.set_trial_state_values(trial, TrialState.COMPLETE, costs)
            return
        self._storage.set_trial_user_attr(trial, REASON, outcome.reason or "unknown")
        self._storage.set_trial_state_values(trial, TrialState.FAIL)


def _same_space(a: Space, b: Space) -> bool:
    forbidden = [sorted(map(str, s.configspace.forbidden_clauses)) for s in (a, b)]
    parts = [(s.parameters, s.clauses, s.constants) for s in (a, b)]
    return parts[0] == parts[1] and forbidden[0] == forbidden[1]
