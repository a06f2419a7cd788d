"""Ax: an experiment saved as JSON, alone or inside the state of a client.

Parameters, conditions, trials and their data are in the file; the direction is that of the
optimisation config. A metric that was measured several times counts with its last mean.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hyperlens.errors import SourceError, listed
from hyperlens.importers.files import load_json, malformed
from hyperlens.importers.optuna.stored_study import seconds
from hyperlens.importers.raw_run import Found, number
from hyperlens.importers.read_options import Asked
from hyperlens.runs.history import Objective, State, Trial
from hyperlens.spaces.configspace import Clauses
from hyperlens.spaces.parameter import Kind, Parameter
from hyperlens.spaces.space import Space

_STATES = {
    "COMPLETED": State.COMPLETE,
    "EARLY_STOPPED": State.PRUNED,
    "FAILED": State.FAILED,
    "ABANDONED": State.FAILED,
}

Json = Mapping[str, Any]


def experiment_of(document: Any) -> Json | None:
    """The experiment in a JSON document of Ax, if it is one."""
    if isinstance(document, dict) and isinstance(document.get("experiment"), dict):
        document = document["experiment"]
    if isinstance(document, dict) and "search_space" in document and "trials" in document:
        return document
    return None


def read(path: Path, asked: Asked) -> Found:
    experiment = experiment_of(load_json(path))
    if experiment is None:
        raise malformed(path, "an experiment of Ax")
    arms = list(_arms(experiment))
    measured = _measured(experiment)
    objectives = _objectives(experiment)
    names = [o.name for o in objectives]
    if not objectives:
        metrics = sorted({metric for means in measured.values() for metric in means})
        names = _chosen(metrics, asked, path)
    trials: list[Trial] = []
    for trial, index, name, values in arms:
        means = measured.get((index, name), {})
        state = _STATES.get(_name(trial.get("status")), State.RUNNING)
        reason = trial.get("status_reason")
        trials.append(
            Trial(
                len(trials),
                values,
                tuple(means.get(metric, math.nan) for metric in names),
                state,
                started=_moment(trial.get("time_run_started") or trial.get("time_created")),
                ended=_moment(trial.get("time_completed")),
                proposer=_proposer(trial),
                reason=None if reason is None else str(reason),
            )
        )
    return Found(
        f"Ax experiment {experiment.get('name') or path.name}",
        objectives or [Objective(name) for name in names],
        trials,
        None if asked.space is not None else _space(experiment, path),
        directed=bool(objectives),
    )


def _name(member: Any) -> str:
    """The name of a member of an enumeration."""
    return str(member.get("name")) if isinstance(member, dict) else str(member)


def _moment(moment: Any) -> float | None:
    return seconds(moment.get("value") if isinstance(moment, dict) else moment)


def _arms(experiment: Json) -> Iterator[tuple[Json, int, str, dict[str, Any]]]:
    """Each arm of each trial: the trial, its index, the arm's name and values."""
    trials = experiment["trials"]
    for key, trial in trials.items() if isinstance(trials, dict) else ():
        if not isinstance(trial, dict):
            continue
        runs = [trial.get("generator_run"), *_listed(trial.get("generator_run_structs"))]
        for run in runs:
            run = run.get("generator_run", run) if isinstance(run, dict) else None
            for arm in _listed(run.get("arms")) if isinstance(run, dict) else ():
                if isinstance(arm, dict) and isinstance(arm.get("parameters"), dict):
                    yield trial, _whole(key), str(arm.get("name")), dict(arm["parameters"])


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _whole(key: Any) -> int:
    return int(key) if str(key).isdecimal() and len(str(key)) < 18 else -1


def _proposer(trial: Json) -> str | None:
    run = trial.get("generator_run")
    if not isinstance(run, dict):
        return None
    told = run.get("generator_key") or run.get("model_key") or run.get("generation_node_name")
    return None if told is None else str(told)


def _measured(experiment: Json) -> dict[tuple[int, str], dict[str, float]]:
    """Means by trial and arm; the data of a trial are frames by the time they were attached."""
    found: dict[tuple[int, str], dict[str, float]] = {}
    by_trial = experiment.get("data_by_trial")
    for data in by_trial.values() if isinstance(by_trial, dict) else ():
        if isinstance(data, dict) and isinstance(data.get("value"), list):
            frames = [
                pair[1] for pair in data["value"] if isinstance(pair, list) and len(pair) == 2
            ]
        else:
            frames = list(data.values()) if isinstance(data, dict) else []
        for frame in frames:
            for index, arm, metric, mean in _rows(frame):
                found.setdefault((index, arm), {})[metric] = mean
    return found


def _rows(data: Any) -> Iterator[tuple[int, str, str, float]]:
    frame = data.get("df") if isinstance(data, dict) else None
    text = frame.get("value") if isinstance(frame, dict) else None
    try:
        columns = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return
    if not isinstance(columns, dict):
        return
    wanted = [columns.get(c) for c in ("trial_index", "arm_name", "metric_name", "mean")]
    if not all(isinstance(column, dict) for column in wanted):
        return
    index, arm, metric, mean = (column or {} for column in wanted)
    for row in metric:
        yield _whole(index.get(row)), str(arm.get(row)), str(metric[row]), number(mean.get(row))


def _objectives(experiment: Json) -> list[Objective]:
    """What was optimised; an expression such as '-loss' is maximised, so 'loss' is minimised."""
    config = experiment.get("optimization_config")
    objective = config.get("objective") if isinstance(config, dict) else None
    if not isinstance(objective, dict):
        return []
    parts = objective.get("objectives") or [objective]
    found = []
    for part in parts if isinstance(parts, list) else ():
        if not isinstance(part, dict):
            continue
        metric = part.get("metric")
        if isinstance(metric, dict) and "name" in metric:
            found.append(Objective(str(metric["name"]), not part.get("minimize")))
        else:
            found += _expressed(str(part.get("expression") or ""))
    return list({o.name: o for o in found}.values())


def _expressed(expression: str) -> list[Objective]:
    terms = [term.strip() for term in expression.split(",")]
    matches = [re.fullmatch(r"(-?)\s*([^\s*+()-][^*+()]*)", term) for term in terms]
    if not all(matches):
        return []
    return [Objective(m[2].strip(), m[1] == "") for m in matches if m is not None]


def _chosen(metrics: list[str], asked: Asked, path: Path) -> list[str]:
    """The metrics to look at where the experiment does not say what was optimised."""
    if asked.objectives and set(asked.objectives) <= set(metrics):
        return list(dict.fromkeys(asked.objectives))
    if len(metrics) == 1 and not asked.objectives:
        return metrics
    raise SourceError(
        f"The experiment in '{path}' does not say which one of its metrics {listed(metrics)} was "
        "optimised; choose one with --objective NAME (objective= in Python)."
    )


def _space(experiment: Json, path: Path) -> Space | None:
    space = experiment["search_space"]
    entries = space.get("parameters") if isinstance(space, dict) else None
    parameters: list[Parameter] = []
    constants: dict[str, Any] = {}
    clauses: dict[str, list[Any]] = {}
    for entry in _listed(entries):
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            raise malformed(path, "the parameters of an Ax search space")
        found = _parameter(entry)
        if isinstance(found, Parameter):
            parameters.append(found)
        else:
            constants[entry["name"]] = found[0]
        dependents = entry.get("dependents")
        for text, children in dependents.items() if isinstance(dependents, dict) else ():
            for child in _listed(children):
                clauses.setdefault(str(child), []).append((entry["name"], _value(entry, text)))
    known = {p.name for p in parameters}
    conditions: dict[str, Clauses] = {
        child: tuple(((parent, "equal", value),) for parent, value in ways)
        for child, ways in clauses.items()
        if child in known
    }
    return Space.of(parameters, conditions, constants) if parameters else None


def _value(entry: Json, text: str) -> Any:
    """The value that a JSON key stands for."""
    values = _listed(entry.get("values")) or [entry.get("value")]
    return next((value for value in values if str(value) == text), text)


def _parameter(entry: Json) -> Parameter | tuple[Any]:
    name = entry["name"]
    if "lower" in entry and "upper" in entry:
        low, high = number(entry["lower"]), number(entry["upper"])
        whole = _name(entry.get("parameter_type")) == "INT"
        if low == high:
            return (int(low) if whole else low,)
        kind: Kind = "integer" if whole else "float"
        return Parameter(name, kind, low, high, bool(entry.get("log_scale")))
    values = list(dict.fromkeys(map(_hashable, _listed(entry.get("values")))))
    if len(values) > 1:
        numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values)
        ordered = bool(entry.get("is_ordered")) and (numbers or len(values) > 2)
        return Parameter(name, "ordinal" if ordered else "categorical", choices=tuple(values))
    return (values[0] if values else _hashable(entry.get("value")),)


def _hashable(value: Any) -> Any:
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
