"""Ax: an experiment saved as JSON, alone or inside the state of a client.

Parameters, conditions, trials and their data are in the file; the direction is that of the
optimisation config. A metric that was measured several times counts with its last mean.
"""

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hyperlens.errors import listed
from hyperlens.importers.files import load_json, malformed
from hyperlens.importers.raw_run import RawRun, metrics_of
from hyperlens.importers.read_options import ReadOptions
from hyperlens.importers.values import Json, as_dict, as_list, number, scalar, seconds, states, text
from hyperlens.runs.history import Objective, State, Trial
from hyperlens.spaces.clauses import Clauses
from hyperlens.spaces.parameter import Kind, Parameter, apart, is_number
from hyperlens.spaces.space import Space

_STATES = states(complete="COMPLETED", pruned="EARLY_STOPPED", failed="FAILED ABANDONED")


def experiment_of(document: Any) -> Json | None:
    """The experiment in a JSON document of Ax, if it is one."""
    document = as_dict(document)
    experiment = as_dict(document.get("experiment")) or document
    return experiment if "search_space" in experiment and "trials" in experiment else None


def read(path: Path, options: ReadOptions) -> RawRun:
    experiment = experiment_of(load_json(path))
    if experiment is None:
        raise malformed(path, "an experiment of Ax")
    means = _means(experiment)
    objectives = _objectives(experiment)
    names = [o.name for o in objectives]
    if not objectives:
        metrics = sorted({metric for by_metric in means.values() for metric in by_metric})
        names = metrics_of(
            metrics,
            options,
            f"The experiment in '{path}' does not say which one of its metrics {listed(metrics)} was "
            "optimised; choose one with --objective NAME (objective= in Python).",
        )
    trials = [
        Trial(
            position,
            values,
            tuple(means.get((index, name), {}).get(metric, math.nan) for metric in names),
            _STATES.get(_name(trial.get("status")), State.RUNNING),
            started=_moment(trial.get("time_run_started") or trial.get("time_created")),
            ended=_moment(trial.get("time_completed")),
            proposer=_proposer(trial),
            reason=text(trial.get("status_reason")),
        )
        for position, (trial, index, name, values) in enumerate(_arms(experiment))
    ]
    return RawRun(
        f"Ax experiment {experiment.get('name') or path.name}",
        objectives or [Objective(name) for name in names],
        trials,
        None if options.space is not None else _space(experiment, path),
        directed=bool(objectives),
    )


def _name(member: Any) -> str:
    """The name of a member of an enumeration."""
    return str(member.get("name")) if isinstance(member, dict) else str(member)


def _moment(moment: Any) -> float | None:
    return seconds(moment.get("value") if isinstance(moment, dict) else moment)


def _arms(experiment: Json) -> Iterator[tuple[Json, int, str, Json]]:
    """Each arm of each trial: the trial, its index, the arm's name and values."""
    for key, trial in as_dict(experiment["trials"]).items():
        trial = as_dict(trial)
        for run in [trial.get("generator_run"), *as_list(trial.get("generator_run_structs"))]:
            run = as_dict(as_dict(run).get("generator_run", run))
            for arm in map(as_dict, as_list(run.get("arms"))):
                if isinstance(arm.get("parameters"), dict):
                    yield trial, _whole(key), str(arm.get("name")), dict(arm["parameters"])


def _whole(key: Any) -> int:
    return int(key) if str(key).isdecimal() and len(str(key)) < 18 else -1


def _proposer(trial: Json) -> str | None:
    run = as_dict(trial.get("generator_run"))
    keys = ("generator_key", "model_key", "generation_node_name")
    return next((str(run[key]) for key in keys if run.get(key)), None)


def _means(experiment: Json) -> dict[tuple[int, str], dict[str, float]]:
    """Means by trial and arm; the data of a trial are frames by the time they were attached."""
    means: dict[tuple[int, str], dict[str, float]] = {}
    for data in map(as_dict, as_dict(experiment.get("data_by_trial")).values()):
        frames = list(data.values())
        if isinstance(data.get("value"), list):
            frames = [p[1] for p in data["value"] if isinstance(p, list) and len(p) == 2]
        for frame in frames:
            for index, arm, metric, mean in _rows(frame):
                means.setdefault((index, arm), {})[metric] = mean
    return means


def _rows(data: Any) -> Iterator[tuple[int, str, str, float]]:
    document = as_dict(as_dict(data).get("df")).get("value")
    try:
        columns = as_dict(json.loads(document) if isinstance(document, str) else None)
    except (ValueError, RecursionError):
        return
    cells = [as_dict(columns.get(c)) for c in ("trial_index", "arm_name", "metric_name", "mean")]
    if all(cells):
        index, arm, metric, mean = cells
        for row, name in metric.items():
            yield _whole(index.get(row)), str(arm.get(row)), str(name), number(mean.get(row))


def _objectives(experiment: Json) -> list[Objective]:
    """What was optimised; an expression such as '-loss' is maximised, so 'loss' is minimised."""
    objective = as_dict(as_dict(experiment.get("optimization_config")).get("objective"))
    objectives = []
    for part in map(as_dict, as_list(objective.get("objectives") or [objective])):
        metric = as_dict(part.get("metric"))
        if "name" in metric:
            objectives.append(Objective(str(metric["name"]), not part.get("minimize")))
        else:
            objectives += _expressed(str(part.get("expression") or ""))
    return list({o.name: o for o in objectives}.values())


def _expressed(expression: str) -> list[Objective]:
    term = re.compile(r"(-?)\s*([^\s*+()-][^*+()]*)")
    matches = [term.fullmatch(part.strip()) for part in expression.split(",")]
    return [Objective(m[2].strip(), m[1] == "") for m in matches if m and all(matches)]


def _space(experiment: Json, path: Path) -> Space | None:
    declared: dict[str, Parameter | tuple[Any]] = {}
    parents: dict[str, list[tuple[str, Any]]] = {}
    for entry in map(as_dict, as_list(as_dict(experiment["search_space"]).get("parameters"))):
        if not isinstance(entry.get("name"), str):
            raise malformed(path, "the parameters of an Ax search space")
        declared[entry["name"]] = _parameter(entry)
        for key, children in as_dict(entry.get("dependents")).items():
            for child in as_list(children):
                parents.setdefault(str(child), []).append((entry["name"], _value(entry, key)))
    parameters, constants = apart(declared)
    conditions: dict[str, Clauses] = {
        p.name: tuple(((parent, "equal", value),) for parent, value in parents[p.name])
        for p in parameters
        if p.name in parents
    }
    return Space.of(parameters, conditions, constants) if parameters else None


def _value(entry: Json, key: str) -> Any:
    """The value that a JSON key stands for."""
    values = as_list(entry.get("values")) or [entry.get("value")]
    return next((value for value in values if str(value) == key), key)


def _parameter(entry: Json) -> Parameter | tuple[Any]:
    name = entry["name"]
    if "lower" in entry and "upper" in entry:
        low, high = number(entry["lower"]), number(entry["upper"])
        whole = _name(entry.get("parameter_type")) == "INT"
        if low == high:
            return (int(low) if whole else low,)
        kind: Kind = "integer" if whole else "float"
        return Parameter(name, kind, low, high, bool(entry.get("log_scale")))
    values = tuple(dict.fromkeys(map(scalar, as_list(entry.get("values")))))
    if len(values) > 1:
        ordered = bool(entry.get("is_ordered")) and (all(map(is_number, values)) or len(values) > 2)
        return Parameter(name, "ordinal" if ordered else "categorical", choices=values)
    return (values[0] if values else scalar(entry.get("value")),)
