"""A run as an Optuna study in a new SQLite file.

Optuna makes the database and the study; the trials are inserted by plain SQL, since its own way takes
fifty milliseconds for each. What Optuna has no place for is kept with each trial (see
hyperlens.importers.optuna.extras), the space with the study.
"""

from __future__ import annotations

import json
import math
import os
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hyperlens.conversion.to_table import description, unwritable
from hyperlens.errors import SourceError
from hyperlens.importers.optuna.extras import KEY, extras, is_intermediate
from hyperlens.importers.optuna.stored_study import METRIC_NAMES
from hyperlens.proposal import EXCESS, LIMITS, PLAN, PROPOSAL, REASON, SPACE
from hyperlens.runs.history import History, State, Trial
from hyperlens.spaces.parameter import Parameter

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

_PLAIN = (bool, int, float, str, type(None))
_STATES = {State.COMPLETE: "COMPLETE", State.PRUNED: "PRUNED"}
_INSERT = {
    "trials": "trial_id, number, study_id, state, datetime_start, datetime_complete",
    "trial_params": "trial_id, param_name, param_value, distribution_json",
    "trial_values": "trial_id, objective, value, value_type",
    "trial_intermediate_values": "trial_id, step, intermediate_value, intermediate_value_type",
    "trial_user_attributes": "trial_id, key, value_json",
    "trial_system_attributes": "trial_id, key, value_json",
}

Row = tuple[Any, ...]


def write_optuna(history: History, path: Path, name: str = "run") -> None:
    """Write the file; nothing is written where one is already."""
    if path.exists():
        raise SourceError(f"There is a file '{path}' already; name a new one with --out.")
    try:
        handle, scratch = tempfile.mkstemp(dir=path.parent, prefix=".hyperlens-", suffix=".db")
        os.close(handle)
    except OSError as problem:
        raise unwritable(path, problem) from problem
    try:
        study = _create(history, Path(scratch), name)
        with closing(sqlite3.connect(scratch)) as database, database:
            for table, rows in _rows(history, study).items():
                places = ", ".join("?" * (_INSERT[table].count(",") + 1))
                statement = f"INSERT INTO {table} ({_INSERT[table]}) VALUES ({places})"
                database.executemany(statement, rows)
        Path(scratch).replace(path)
    except UnicodeEncodeError as problem:
        raise SourceError(
            "A name or a choice of this run is not valid Unicode, which no database holds; convert it "
            "to a table."
        ) from problem
    except (OSError, sqlite3.Error) as problem:
        raise unwritable(path, problem) from problem
    finally:
        with suppress(OSError):
            os.unlink(scratch)


def _create(history: History, path: Path, name: str) -> int:
    """An empty study, and its id."""
    import optuna

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        storage = optuna.storages.RDBStorage(f"sqlite:///{path}")
        to = optuna.study.StudyDirection
        directions = [to.MAXIMIZE if o.maximize else to.MINIMIZE for o in history.objectives]
        optuna.create_study(storage=storage, study_name=name, directions=directions)
        study = int(storage.get_study_id_from_name(name))
        names = [o.name for o in history.objectives]
        storage.set_study_system_attr(study, METRIC_NAMES, names)
        storage.set_study_user_attr(study, SPACE, json.loads(history.space.to_json()))
        if history.limits:
            storage.set_study_user_attr(study, LIMITS, list(history.limits))
        if history.plan is not None:
            storage.set_study_user_attr(study, PLAN, history.plan.to_dict())
        storage.engine.dispose()
    finally:
        optuna.logging.set_verbosity(before)
    return study


def _rows(history: History, study: int) -> dict[str, Iterator[Row]]:
    """What goes into each table, in the order in which tables depend on each other."""
    trials = list(enumerate(history.trials, 1))
    return {
        "trials": (
            (k, k - 1, study, _state(t), _moment(t.started), _moment(t.ended)) for k, t in trials
        ),
        "trial_params": _params(history),
        "trial_values": (
            (k, position, *_value(cost))
            for k, t in trials
            if _state(t) != "FAIL" and not any(map(math.isnan, t.costs))
            for position, cost in enumerate(t.costs)
        ),
        "trial_intermediate_values": (
            (k, int(step), *_value(value))
            for k, t in trials
            if t.curve is not None and is_intermediate(t.curve)
            for step, (value,) in zip(t.curve.steps, t.curve.values.tolist(), strict=True)
        ),
        "trial_user_attributes": _attributes(history),
        "trial_system_attributes": (
            (k, EXCESS, json.dumps([None if e != e else e for e in t.excess]))
            for k, t in trials
            if history.limits
        ),
    }


def _state(trial: Trial) -> str:
    """Optuna's word; a complete trial must have all its values there."""
    if trial.state is State.COMPLETE and any(map(math.isnan, trial.costs)):
        return "FAIL"
    return _STATES.get(trial.state, "FAIL")


def _moment(seconds: float | None) -> str:
    moment = datetime.now(UTC)
    with suppress(OverflowError, OSError, ValueError):
        moment = moment if seconds is None else datetime.fromtimestamp(seconds, UTC)
    return f"{moment:%Y-%m-%d %H:%M:%S.%f}"


def _value(cost: float) -> Row:
    if math.isfinite(cost):
        return cost, "FINITE"
    return None, "NAN" if math.isnan(cost) else "INF_POS" if cost > 0 else "INF_NEG"


def _params(history: History) -> Iterator[Row]:
    from optuna.distributions import distribution_to_json

    distributions = _distributions(history)
    texts = {name: distribution_to_json(d) for name, d in distributions.items()}
    for k, trial in enumerate(history.trials, 1):
        for name, value in trial.values.items():
            if name in distributions:
                stored = distributions[name].to_internal_repr(_plain(value))
                yield k, name, stored, texts[name]


def _attributes(history: History) -> Iterator[Row]:
    for k, trial in enumerate(history.trials, 1):
        facts = extras(trial)
        if k == 1:  # one trial carries what is known of the whole run
            names = [o.name for o in history.objectives]
            facts["run"] = description(history) | {"objectives": names}
        yield k, PROPOSAL, json.dumps({KEY: facts}, default=str)
        if trial.reason is not None:
            yield k, REASON, json.dumps(trial.reason)


def _distributions(history: History) -> dict[str, BaseDistribution]:
    from optuna.distributions import CategoricalDistribution

    space = history.space
    constants = {n: CategoricalDistribution((_plain(v),)) for n, v in space.constants.items()}
    return constants | {
        p.name: _distribution(p, [t.values[p.name] for t in history.trials if p.name in t.values])
        for p in space.parameters
    }


def _distribution(parameter: Parameter, values: Sequence[Any]) -> BaseDistribution:
    """A range is widened by what rounding has moved past its bounds."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if parameter.choices:
        return CategoricalDistribution([_plain(choice) for choice in parameter.choices])
    low, high = min([parameter.lower, *values]), max([parameter.upper, *values])
    if parameter.kind == "float":
        return FloatDistribution(float(low), float(high), log=parameter.log)
    return IntDistribution(round(low), round(high), log=parameter.log)


def _plain(value: Any) -> Any:
    """A value as Optuna can keep it: what is no plain value becomes its text."""
    value = value.item() if hasattr(value, "item") else value
    return value if isinstance(value, _PLAIN) else str(value)
