"""Optuna studies: a Study object, a database, or a journal file, read into a History.

Nothing is ever written to the study. Optuna records no search space, only the distribution behind
each value: the space is the union of these, its conditions are inferred. Runs of our own record it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hyperlens.errors import NoTrials, SourceError, listed
from hyperlens.importers.optuna.extras import restore
from hyperlens.importers.optuna.following import Followed
from hyperlens.importers.optuna.parameter_ranges import Distributions, parameter_of
from hyperlens.importers.optuna.recorded_space import recorded_space
from hyperlens.importers.optuna.sql import read_server, read_sqlite
from hyperlens.importers.optuna.stored_study import StoredStudy, StoredTrial, choose
from hyperlens.importers.raw_run import chosen_first
from hyperlens.importers.read_options import ReadOptions, settle, step_refused
from hyperlens.importers.spaces.conditions import infer
from hyperlens.importers.values import as_list, seconds
from hyperlens.proposal import LIMITS, PLAN, PROPOSAL, RUNGS, SPACE, STOPPED, TWIN, Proposal
from hyperlens.runs import databases
from hyperlens.runs.curve import Curve
from hyperlens.runs.history import History, Objective, State, Trial
from hyperlens.runs.limits import with_limits
from hyperlens.runs.search_plan import SearchPlan
from hyperlens.runs.stopped import Stopped
from hyperlens.spaces.parameter import apart
from hyperlens.spaces.space import Space, as_space

if TYPE_CHECKING:
    import optuna

_STATES = {"COMPLETE": State.COMPLETE, "PRUNED": State.PRUNED, "FAIL": State.FAILED}


def from_study(study: optuna.Study, options: ReadOptions) -> History:
    """Read a Study object."""
    choose([study.study_name], options.study, "this Study object")
    distributions = Distributions()
    trials = []
    pruner = _pruner(study)
    for frozen in study.get_trials(deepcopy=False):
        for parameter, distribution in frozen.distributions.items():
            distributions.add(parameter, distribution)
        trials.append(
            StoredTrial(
                frozen.number,
                frozen.state.name,
                seconds(frozen.datetime_start),
                seconds(frozen.datetime_complete),
                frozen.values,
                dict(frozen.intermediate_values),
                dict(frozen.params),
                frozen.user_attrs | frozen.system_attrs,
                pruner,
            )
        )
    name, directions = study.study_name, [direction.name for direction in study.directions]
    stored = StoredStudy(name, directions, study.metric_names, distributions, trials)
    stored.space, stored.plan = study.user_attrs.get(SPACE), study.user_attrs.get(PLAN)
    stored.stopped, stored.limits = study.user_attrs.get(STOPPED), study.user_attrs.get(LIMITS)
    return _history(stored, f"Optuna study '{name}'", options)


def _pruner(study: optuna.Study) -> str | None:
    """The pruner of a study that lives in memory. Of one in a storage the object has a pruner too, which
    need not be the one that stopped its trials."""
    if type(getattr(study, "_storage", None)).__name__ != "InMemoryStorage":
        return None
    return type(study.pruner).__name__


def from_url(url: str, options: ReadOptions) -> History:
    """Read a study by the address of its storage, such as `sqlite:///demo.db`."""
    address = databases.parse(url)
    if address.get_backend_name() != "sqlite":
        stored = read_server(url, options.study, bool(options.constraints), options.followed)
        where = address.database or address.host
        return _history(stored, f"Optuna study '{stored.name}' in {where}", options)
    path = Path((address.database or "").removeprefix("file:"))
    if str(path) in (".", ":memory:"):
        raise SourceError(
            "A database in memory belongs to its own program; give the Study object instead."
        )
    if not path.is_file():
        raise SourceError(f"There is no database '{path}'; check the path.")
    return from_file(path, options)


def from_file(
    path: Path,
    options: ReadOptions,
    read: Callable[[Path, str | None, bool, Followed | None], StoredStudy] = read_sqlite,
) -> History:
    """Read a study out of a SQLite file, or of a journal by its reader."""
    stored = read(path, options.study, bool(options.constraints), options.followed)
    return _history(stored, f"Optuna study '{stored.name}' in {path.name}", options)


def _history(stored: StoredStudy, source: str, options: ReadOptions) -> History:
    objectives, order = _objectives(stored, options)
    notes = list(stored.notes)
    single = [trial for trial in stored.trials if TWIN not in trial.attributes]
    trials = [trial for trial in single if trial.state in _STATES]
    if unfinished := len(single) - len(trials):
        notes.append(
            f"{unfinished} of {len(single)} trials were still running or waiting and were left out."
        )
    if stopped := Stopped.from_dict(stored.stopped):
        notes.append(stopped.sentence)
    if not trials:
        raise NoTrials(
            f"The study '{stored.name}' has no finished trials; let some finish before reading it."
        )
    if options.space is not None:
        space = as_space(options.space)
        trials = _fitted(space, trials, stored.distributions, notes)
    elif record := recorded_space(stored.space, trials, notes):
        space, trials = record
    else:
        space = _inferred_space(trials, stored.distributions, notes)
    limits = _limits(trials, stored.limits)
    history = History(
        space,
        tuple(objectives[k] for k in order),
        tuple(_trial(trial, order, limits) for trial in trials),
        source,
        tuple(notes),
        plan=SearchPlan.from_dict(stored.plan),
        limits=tuple(limits.values()),
    )
    history = history if options.space is not None else restore(history, trials)
    return with_limits(history, options.constraints, [trial.attributes for trial in trials])


def _limits(trials: Sequence[StoredTrial], told: Any) -> dict[str, str]:
    """What trials must keep, by names of Optuna's constraints: in the words of a run of our own; else
    it is known only that a number must not be above 0."""
    names = list(dict.fromkeys(name for trial in trials for name in trial.excess))
    texts = [str(text) for text in as_list(told)]
    own = len(texts) == len(names)
    return {name: texts[k] if own else f"{name} <= 0" for k, name in enumerate(names)}


def _objectives(stored: StoredStudy, options: ReadOptions) -> tuple[list[Objective], list[int]]:
    """Objectives as the study declares them, and their positions, the chosen one first.

    What the user says of a direction fills in what the study leaves open.
    """
    if options.parameters:
        raise SourceError(
            "An Optuna study knows its parameters; leave out --parameters (parameters= in Python)."
        )
    if options.step is not None:
        raise step_refused("an Optuna study")
    count = len(stored.directions)
    names = list(map(str, stored.metric_names or ()))
    if len(names) != count:
        names = ["value"] if count == 1 else [f"value_{k}" for k in range(count)]
    if unknown := [name for name in options.objectives if name not in names]:
        raise SourceError(
            f"The study '{stored.name}' has no objective '{unknown[0]}'; choose one of "
            f"{listed(names)}."
        )
    order = chosen_first(names, options)
    objectives = [
        _directed(stored, k, name, options, k == order[0]) for k, name in enumerate(names)
    ]
    return objectives, order


def _directed(
    stored: StoredStudy, k: int, name: str, options: ReadOptions, first: bool
) -> Objective:
    """An objective in the direction that the study has, or the user's where it has none."""
    asked = bool(options.objectives) or isinstance(options.maximize, bool)
    maximize = options.direction(name, first) if asked and first else options.written(name)
    direction = stored.directions[k]
    objective = Objective(
        name, direction == "MAXIMIZE" or (direction == "NOT_SET" and bool(maximize))
    )
    if maximize is not None and objective.maximize != maximize:
        aim = "minimise" if maximize else "maximise"
        raise SourceError(
            f"The study '{stored.name}' was told to {aim} '{name}'; leave out the direction, since "
            "Optuna records it."
        )
    return objective


def _trial(trial: StoredTrial, order: Sequence[int], limits: Collection[str]) -> Trial:
    """The trial of a History; what was made of it before, if it was read the same way."""
    how = (*order, *limits)
    if trial.made is None or trial.made[0] != how:
        trial.made = how, _new_trial(trial, order, limits)
    made: Trial = trial.made[1]
    return made


def _new_trial(trial: StoredTrial, order: Sequence[int], limits: Collection[str]) -> Trial:
    values = [math.nan if value is None else float(value) for value in trial.values or ()]
    values += [math.nan] * (len(order) - len(values))
    costs = tuple(values[k] for k in order)
    if not (trial.attributes or trial.steps or trial.pruner or limits):  # as most of very many are
        state = _STATES[trial.state]
        return Trial(
            trial.number, trial.params, costs, state, started=trial.started, ended=trial.ended
        )
    proposal = Proposal.from_dict(trial.attributes.get(PROPOSAL))
    budget = None if proposal is None else proposal.budget
    return Trial(
        trial.number,
        trial.params,
        costs,
        _STATES[trial.state],
        budget=budget,
        started=trial.started,
        ended=trial.ended,
        proposer=(proposal and proposal.optimizer) or trial.proposer,
        reason=trial.reason,
        proposal=proposal,
        excess=tuple(trial.excess.get(name, math.nan) for name in limits),
        curve=Curve.raced(trial.steps, trial.attributes.get(RUNGS), budget, values[0])
        if len(order) == 1 and (trial.steps or trial.attributes)
        else None,
    )


def _fitted(
    space: Space, trials: list[StoredTrial], distributions: Distributions, notes: list[str]
) -> list[StoredTrial]:
    """Trials with the values that a given space knows."""
    known = {*space.names, *space.constants}
    if unknown := [name for name in distributions.seen if name not in known]:
        notes.append(f"The given space lacks {listed(unknown)}, which were left out.")
    if missing := [name for name in space.names if name not in distributions.seen]:
        raise SourceError(
            f"The study never set {listed(missing)} of the given space; correct the names in "
            "the space."
        )
    trials = [
        replace(trial, params={name: v for name, v in trial.params.items() if name in known})
        for trial in trials
    ]
    finished = [trial.state != "FAIL" for trial in trials]
    whole, remarks = settle(space, [trial.params for trial in trials], finished)
    notes += remarks
    return [trials[i] for i in whole]


def _inferred_space(
    trials: list[StoredTrial], distributions: Distributions, notes: list[str]
) -> Space:
    """The union of all distributions; what no condition explains is put into the trials as flags.

    A failed trial may have stopped before it set everything, so it says nothing on conditions.
    """
    rows = [trial.params for trial in trials if trial.state != "FAIL"]
    used = set().union(*rows) if rows else set(distributions.seen)
    described = {}
    for name, seen in distributions.seen.items():
        if name in used:
            values = (t.params[name] for t in trials if name in t.params)
            described[name] = parameter_of(name, seen, values, notes)
        else:
            notes.append(f"'{name}' was set in trials that did not finish only and was left out.")
    parameters, constants = apart(described)
    if not parameters:
        raise SourceError(
            "No parameter of this study varies, so there is nothing to explain; give a study "
            "with at least one range or choice."
        )
    conditions = infer(parameters, rows)
    if conditions.flags:
        trials[:] = [replace(t, params=t.params | conditions.flagged(t.params)) for t in trials]
    return conditions.space(parameters, constants)
