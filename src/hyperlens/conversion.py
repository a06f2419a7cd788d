"""Writing a run in a neutral form: a folder with a table and its space, or an Optuna storage."""

from __future__ import annotations

import csv
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hyperlens.errors import SourceError
from hyperlens.history import History, State, Trial
from hyperlens.importers import neutral, restored
from hyperlens.parameter import Parameter
from hyperlens.space import Space

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.trial import FrozenTrial

_PLAIN = (bool, int, float, str, type(None))


def write_table(history: History, folder: Path) -> None:
    """Write `trials.csv`, `configspace.json` and `run.json` into a new or empty folder."""
    try:
        folder.mkdir(exist_ok=True)
        if any(folder.iterdir()):
            raise SourceError(f"The folder '{folder}' is not empty; name a new one with --out.")
        _write_trials(history, folder / neutral.TRIALS)
        history.space.save(folder / neutral.SPACE)
        (folder / neutral.RUN).write_text(json.dumps(_description(history), indent=1) + "\n")
    except OSError as problem:
        raise _unwritable(folder, problem) from problem


def _description(history: History) -> dict[str, Any]:
    return {
        "format": neutral.FORMAT,
        "source": history.source,
        "objectives": [{"name": o.name, "maximize": o.maximize} for o in history.objectives],
        "notes": list(history.notes),
        "inferred": list(history.space.inferred),
    }


def _write_trials(history: History, path: Path) -> None:
    space = history.space
    seen = set().union(*(t.values for t in history.trials)) if history.trials else set()
    names = [name for name in (*space.names, *space.constants) if name in seen]
    writers = [_writer(space, name) for name in names]
    with path.open("w", encoding="utf-8", errors="surrogatepass", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        metrics = [neutral.metric_column(o) for o in history.objectives]
        rows.writerow([*neutral.FACTS, *metrics, *map(neutral.parameter_column, names)])
        for trial in history.trials:
            values = [
                write(trial.values[name]) if name in trial.values else ""
                for name, write in zip(names, writers, strict=True)
            ]
            costs = ["" if c != c else repr(c) for c in trial.costs]
            rows.writerow([*_facts(trial), *costs, *values])


def _facts(trial: Trial) -> list[str]:
    found = []
    for name in neutral.FACTS:
        value = getattr(trial, name)
        if value is None:
            found.append("")
        elif name == "proposal":
            found.append(json.dumps(value, default=str))
        else:
            found.append(repr(float(value)) if name in neutral.NUMBERS else str(value))
    return found


def _writer(space: Space, name: str) -> Callable[[Any], str]:
    if name in space.constants:
        return lambda value: json.dumps(value, default=str)
    parameter = space[name]
    if not parameter.choices:
        return lambda value: repr(value.item() if hasattr(value, "item") else value)
    known = neutral.texts(parameter.choices)
    assert parameter.axis.codes is not None
    return lambda value: known[int(parameter.axis.level(parameter.encode([value]))[0])]


def write_optuna(history: History, path: Path, name: str = "run") -> None:
    """Write a SQLite file with one Optuna study; nothing is written where a file is already."""
    if path.exists():
        raise SourceError(f"There is a file '{path}' already; name a new one with --out.")
    try:
        handle, scratch = tempfile.mkstemp(dir=path.parent, prefix=".hyperlens-", suffix=".db")
        os.close(handle)
    except OSError as problem:
        raise _unwritable(path, problem) from problem
    try:
        _fill(history, Path(scratch), name)
        Path(scratch).replace(path)
    except OSError as problem:
        raise _unwritable(path, problem) from problem
    finally:
        with suppress(OSError):
            os.unlink(scratch)


def _fill(history: History, path: Path, name: str) -> None:
    import optuna

    quiet = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        storage = optuna.storages.RDBStorage(f"sqlite:///{path}")
        to = optuna.study.StudyDirection
        directions = [to.MAXIMIZE if o.maximize else to.MINIMIZE for o in history.objectives]
        study = optuna.create_study(storage=storage, study_name=name, directions=directions)
        identity = storage.get_study_id_from_name(name)
        names = [o.name for o in history.objectives]
        storage.set_study_system_attr(identity, "study:metric_names", names)
        study.set_user_attr("hyperlens:space", json.loads(history.space.to_json()))
        study.add_trials(_frozen(history))
        storage.engine.dispose()
    finally:
        optuna.logging.set_verbosity(quiet)


def _frozen(history: History) -> list[FrozenTrial]:
    distributions = _distributions(history)
    found = []
    for position, trial in enumerate(history.trials):
        facts = restored.kept(trial)
        if position == 0:  # one trial carries what is known of the whole run
            names = [o.name for o in history.objectives]
            facts["run"] = _description(history) | {"objectives": names}
        found.append(_frozen_trial(trial, facts, distributions))
    return found


def _frozen_trial(
    trial: Trial, facts: dict[str, Any], distributions: dict[str, BaseDistribution]
) -> FrozenTrial:
    from optuna.trial import TrialState, create_trial

    whole = all(cost == cost for cost in trial.costs)
    state = TrialState.FAIL
    if trial.state is State.COMPLETE and whole:
        state = TrialState.COMPLETE
    elif trial.state is State.PRUNED:
        state = TrialState.PRUNED
    params = {
        name: value if isinstance(value, _PLAIN) else str(value)
        for name, value in trial.values.items()
        if name in distributions
    }
    told = whole and state is not TrialState.FAIL
    frozen = create_trial(
        state=state,
        values=list(trial.costs) if told else None,
        params=params,
        distributions={name: distributions[name] for name in params},
        user_attrs={
            "hyperlens:proposal": {restored.KEY: facts},
            **({"fail_reason": trial.reason} if trial.reason is not None else {}),
        },
    )
    frozen.datetime_start = _moment(trial.started) or datetime.now()
    frozen.datetime_complete = _moment(trial.ended) or frozen.datetime_start
    return frozen


def _moment(seconds: float | None) -> datetime | None:
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds)
    except (OverflowError, OSError, ValueError):
        return None


def _distributions(history: History) -> dict[str, BaseDistribution]:
    from optuna.distributions import CategoricalDistribution

    space = history.space
    found: dict[str, BaseDistribution] = {
        p.name: _distribution(p, [t.values[p.name] for t in history.trials if p.name in t.values])
        for p in space.parameters
    }
    for name, value in space.constants.items():
        plain = value if isinstance(value, _PLAIN) else str(value)
        found[name] = CategoricalDistribution((plain,))
    return found


def _distribution(parameter: Parameter, values: Sequence[Any]) -> BaseDistribution:
    """A range is widened by what rounding has moved past its bounds."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if parameter.choices:
        plain = [c if isinstance(c, _PLAIN) else str(c) for c in parameter.choices]
        return CategoricalDistribution(plain)
    low = min([parameter.lower, *values])
    high = max([parameter.upper, *values])
    if parameter.kind == "float":
        return FloatDistribution(float(low), float(high), log=parameter.log)
    return IntDistribution(round(low), round(high), log=parameter.log)


def _unwritable(path: Path, problem: OSError) -> SourceError:
    reason = problem.strerror or type(problem).__name__
    return SourceError(
        f"'{path}' cannot be written ({reason}); name a place that exists and that you may write "
        "to with --out."
    )
