"""Optuna studies: a Study object, a database, or a journal file, read into a History.

Nothing is ever written to the study. Optuna records no search space, only the distribution behind
each value: the space is the union of these, its conditions are inferred. Runs of our own record it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hyperlens.errors import NoTrials, SourceError, listed
from hyperlens.importers.optuna.extras import unconverted
from hyperlens.importers.optuna.journal import read_journal
from hyperlens.importers.optuna.recorded_space import recorded
from hyperlens.importers.optuna.sql import read_server, read_sqlite
from hyperlens.importers.optuna.stored_study import (
    Distributions,
    StoredStudy,
    StoredTrial,
    choose,
    seconds,
)
from hyperlens.importers.read_options import GivenSpace, as_space, settle
from hyperlens.importers.spaces.conditions import infer
from hyperlens.proposal import PROPOSAL, SPACE, TWIN, Proposal
from hyperlens.runs import databases
from hyperlens.runs.history import History, Objective, State, Trial
from hyperlens.spaces.parameter import MOST_LEVELS, Parameter
from hyperlens.spaces.space import Space

if TYPE_CHECKING:
    import optuna
    from optuna.distributions import BaseDistribution

_STATES = {"COMPLETE": State.COMPLETE, "PRUNED": State.PRUNED, "FAIL": State.FAILED}


def from_study(
    study: optuna.Study,
    name: str | None = None,
    space: GivenSpace | None = None,
    objective: str | None = None,
    maximize: bool | None = None,
) -> History:
    """Read a Study object."""
    choose([study.study_name], name, "this Study object")
    distributions = Distributions()
    trials = []
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
                frozen.last_step,
                dict(frozen.params),
                frozen.user_attrs | frozen.system_attrs,
            )
        )
    directions = [direction.name for direction in study.directions]
    names = study.metric_names
    kept = study.user_attrs.get(SPACE)
    stored = StoredStudy(study.study_name, directions, names, distributions, trials, space=kept)
    return _history(stored, f"Optuna study '{study.study_name}'", space, objective, maximize)


def from_url(
    url: str,
    study: str | None = None,
    space: GivenSpace | None = None,
    objective: str | None = None,
    maximize: bool | None = None,
) -> History:
    """Read a study by the address of its storage, such as `sqlite:///demo.db`."""
    address = databases.parse(url)
    if address.get_backend_name() == "sqlite":
        path = (address.database or "").removeprefix("file:")
        if path in ("", ":memory:"):
            raise SourceError(
                "A database in memory belongs to its own program; give the Study object instead."
            )
        return from_file(Path(path), study, space, objective, maximize)
    stored = read_server(url, study)
    where = address.database or address.host
    return _history(stored, f"Optuna study '{stored.name}' in {where}", space, objective, maximize)


def from_file(
    path: Path,
    study: str | None = None,
    space: GivenSpace | None = None,
    objective: str | None = None,
    maximize: bool | None = None,
) -> History:
    """Read a study out of a SQLite file."""
    if not path.is_file():
        raise SourceError(f"There is no database '{path}'; check the path.")
    stored = read_sqlite(path, study)
    source = f"Optuna study '{stored.name}' in {path.name}"
    return _history(stored, source, space, objective, maximize)


def from_journal(
    path: Path,
    study: str | None = None,
    space: GivenSpace | None = None,
    objective: str | None = None,
    maximize: bool | None = None,
) -> History:
    """Read a study out of a journal file."""
    stored = read_journal(path, study)
    source = f"Optuna study '{stored.name}' in {path.name}"
    return _history(stored, source, space, objective, maximize)


def _history(
    stored: StoredStudy,
    source: str,
    given: GivenSpace | None,
    objective: str | None,
    maximize: bool | None,
) -> History:
    objectives = _objectives(stored, maximize)
    order = _order(objectives, objective, maximize, stored.name)
    notes = list(stored.notes)
    single = [trial for trial in stored.trials if TWIN not in trial.attributes]
    trials = [trial for trial in single if trial.state in _STATES]
    if unfinished := len(single) - len(trials):
        notes.append(
            f"{unfinished} of {len(single)} trials were still running or waiting and were left out."
        )
    if not trials:
        raise NoTrials(
            f"The study '{stored.name}' has no finished trials; let some finish before reading it."
        )
    if given is not None:
        space = as_space(given)
        trials = _fitted(space, trials, stored.distributions, notes)
    else:
        on_record = recorded(stored.space, trials, notes)
        if on_record is None:
            space = _inferred_space(trials, stored.distributions, notes)
        else:
            space, trials = on_record
    history = History(
        space,
        tuple(objectives[k] for k in order),
        tuple(_trial(trial, order) for trial in trials),
        source,
        tuple(notes),
    )
    return history if given is not None else unconverted(history, trials)


def _objectives(stored: StoredStudy, maximize: bool | None) -> list[Objective]:
    """Objectives as the study declares them; `maximize` fills in what it leaves open."""
    count = len(stored.directions)
    names = list(stored.metric_names or ())
    if len(names) != count:
        names = ["value"] if count == 1 else [f"value_{k}" for k in range(count)]
    return [
        Objective(name, direction == "MAXIMIZE" or (direction == "NOT_SET" and bool(maximize)))
        for name, direction in zip(names, stored.directions, strict=True)
    ]


def _order(
    objectives: Sequence[Objective], chosen: str | None, maximize: bool | None, study: str
) -> list[int]:
    """Positions of the objectives, the chosen one first."""
    names = [objective.name for objective in objectives]
    if chosen is not None and chosen not in names:
        raise SourceError(
            f"The study '{study}' has no objective '{chosen}'; choose one of {listed(names)}."
        )
    first = 0 if chosen is None else names.index(chosen)
    if maximize is not None and objectives[first].maximize != maximize:
        told = "minimise" if maximize else "maximise"
        raise SourceError(
            f"The study '{study}' was told to {told} '{names[first]}'; leave out the direction, "
            "since Optuna records it."
        )
    return [first, *(k for k in range(len(names)) if k != first)]


def _trial(trial: StoredTrial, order: Sequence[int]) -> Trial:
    values = list(trial.values or ())
    values += [None] * (len(order) - len(values))
    told = [values[k] for k in order]
    pruned = trial.state == "PRUNED" and trial.last_step is not None
    proposal = Proposal.from_dict(trial.attributes.get(PROPOSAL))
    budget = None if proposal is None else proposal.budget
    if budget is None and pruned and trial.last_step is not None:
        budget = float(trial.last_step)
    return Trial(
        trial.number,
        trial.params,
        tuple(math.nan if value is None else float(value) for value in told),
        _STATES[trial.state],
        budget=budget,
        started=trial.started,
        ended=trial.ended,
        proposer=(proposal and proposal.optimizer) or trial.proposer,
        reason=trial.reason,
        proposal=proposal,
    )


def _fitted(
    space: Space, trials: list[StoredTrial], distributions: Distributions, notes: list[str]
) -> list[StoredTrial]:
    """Trials with the values that a given space knows."""
    known = {*space.names, *space.constants}
    unknown = [name for name in distributions.seen if name not in known]
    if unknown:
        notes.append(f"The given space lacks {listed(unknown)}, which were left out.")
    missing = [name for name in space.names if name not in distributions.seen]
    if missing:
        raise SourceError(
            f"The study never set {listed(missing)} of the given space; correct the names in "
            "the space."
        )
    for trial in trials:
        trial.params = {name: v for name, v in trial.params.items() if name in known}
    finished = [trial for trial in trials if trial.state != "FAIL"]
    whole, remarks = settle(space, [trial.params for trial in finished])
    notes += remarks
    kept = {id(finished[i]) for i in whole}
    return [trial for trial in trials if trial.state == "FAIL" or id(trial) in kept]


def _inferred_space(
    trials: list[StoredTrial], distributions: Distributions, notes: list[str]
) -> Space:
    """The union of all distributions; what no condition explains is put into the trials as flags.

    A failed trial may have stopped before it set everything, so it says nothing on conditions.
    """
    rows = [trial.params for trial in trials if trial.state != "FAIL"]
    used = set().union(*rows) if rows else set(distributions.seen)
    parameters: list[Parameter] = []
    constants: dict[str, Any] = {}
    for name, seen in distributions.seen.items():
        if name not in used:
            notes.append(f"'{name}' was set in trials that did not finish only and was left out.")
            continue
        found = parameter_of(
            name, seen, (t.params[name] for t in trials if name in t.params), notes
        )
        if isinstance(found, Parameter):
            parameters.append(found)
        else:
            constants[name] = found[0]
    if not parameters:
        raise SourceError(
            "No parameter of this study varies, so there is nothing to explain; give a study "
            "with at least one range or choice."
        )
    conditions = infer(parameters, rows)
    if conditions.flags:
        for trial in trials:
            trial.params = {**trial.params, **conditions.flagged(trial.params)}
    every = conditions.flag_parameters + parameters
    return Space.of(every, conditions.clauses, constants, conditions.sentences)


def parameter_of(
    name: str, seen: Sequence[BaseDistribution], values: Iterable[Any], notes: list[str]
) -> Parameter | tuple[Any]:
    """One parameter out of all its distributions; a tuple of its one value if it cannot vary."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    categories = [d for d in seen if isinstance(d, CategoricalDistribution)]
    numbers = [d for d in seen if isinstance(d, (FloatDistribution, IntDistribution))]
    if not categories:
        return _number(name, numbers, values, notes)
    choices = [choice for d in categories for choice in d.choices]
    if numbers:
        choices += list(values)
        notes.append(
            f"'{name}' was a number in some trials and a choice in others; it is read as "
            "a choice among all its values."
        )
    distinct = _distinct(choices)
    if len(categories) > 1:
        notes.append(f"The choices of '{name}' changed during the study; all of them are used.")
    if len(distinct) == 1:
        return (distinct[0],)
    return Parameter(name, "categorical", choices=tuple(distinct))


def _distinct(choices: Iterable[Any]) -> list[Any]:
    """Choices without repeats; as texts where ConfigSpace could not tell them apart (True, 1)."""
    distinct = list({(type(choice), choice): choice for choice in choices}.values())
    if len(set(distinct)) == len(distinct) and all(choice == choice for choice in distinct):
        return distinct
    return list(dict.fromkeys(map(str, distinct)))


def _number(
    name: str, seen: Sequence[Any], values: Iterable[Any], notes: list[str]
) -> Parameter | tuple[Any]:
    """A float, an integer, or, with a step, an ordinal over its numbers; the widest of ranges."""
    from optuna.distributions import IntDistribution

    set_values = set(values)
    whole = all(isinstance(d, IntDistribution) for d in seen)
    log = all(d.log for d in seen)
    low, high = min(d.low for d in seen), max(d.high for d in seen)
    if any((d.low, d.high) != (low, high) for d in seen):
        notes.append(
            f"The range of '{name}' changed during the study; the widest, {low:g} to {high:g}, "
            "is used."
        )
    if not log and any(d.log for d in seen):
        notes.append(f"'{name}' was on a log scale in some trials only; a linear one is used.")
    if not whole and any(isinstance(d, IntDistribution) for d in seen):
        notes.append(f"'{name}' was a whole number in some trials only; it is read as a float.")
    lowest, highest = min(set_values, default=low), max(set_values, default=high)
    if lowest < low or highest > high:  # Optuna lets an enqueued trial leave the range
        low, high = min(low, lowest), max(high, highest)
        log = log and low > 0
        notes.append(
            f"Some trials set '{name}' outside its range, which was widened to {low:g} to {high:g}."
        )
    stepped = [d for d in seen if d.step is not None and not (whole and d.step == 1)]
    if len(stepped) == len(seen) and sum(map(_levels, seen)) <= MOST_LEVELS:
        levels = _with_strays({level for d in seen for level in _grid(d)}, set_values)
        return (levels[0],) if len(levels) == 1 else Parameter(name, "ordinal", choices=levels)
    if low == high:
        return (low,)
    return Parameter(name, "integer" if whole else "float", float(low), float(high), log)


def _with_strays(grid: Iterable[Any], values: Iterable[Any]) -> tuple[Any, ...]:
    """The grid in order, with values that were set although they are not on it."""
    levels = sorted(grid)
    slack = 1e-9 * max(abs(levels[0]), abs(levels[-1]))
    strays = [v for v in values if min(abs(v - level) for level in levels) > slack]
    return tuple(sorted({*levels, *strays}))


def _levels(distribution: Any) -> int:
    return int((distribution.high - distribution.low) / distribution.step + 1e-9) + 1


def _grid(distribution: Any) -> list[Any]:
    """The numbers of a stepped range, in decimal arithmetic: 0.3, not 0.30000000000000004."""
    if isinstance(distribution.step, int) and isinstance(distribution.low, int):
        return list(range(distribution.low, distribution.high + 1, distribution.step))
    low, step = Decimal(str(distribution.low)), Decimal(str(distribution.step))
    return [float(low + k * step) for k in range(_levels(distribution))]
