"""Keras Tuner: a project's folder, with a `trial.json` in the folder of each trial.

Each trial holds the whole space as it was then, the values, the metrics with their directions and
the score of the metric that was optimised; the metric's observations by step are the trial's curve.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hyperlens.importers.files import entries, inside, load_json, malformed
from hyperlens.importers.raw_run import RawRun
from hyperlens.importers.read_options import ReadOptions
from hyperlens.importers.values import Json, amount, as_dict, as_list, last_line, number, states
from hyperlens.runs.curve import Curve
from hyperlens.runs.history import Objective, State, Trial
from hyperlens.spaces.clauses import Clauses, Literal, one_of
from hyperlens.spaces.parameter import MOST_LEVELS, Parameter, apart
from hyperlens.spaces.space import Space

_STATES = states(complete="COMPLETED", pruned="STOPPED", running="RUNNING IDLE")
_EPOCHS = "tuner/epochs"  # what its Hyperband sets beside the parameters


def recognised(folder: Path) -> bool:
    return bool(_trial_files(folder))


def _trial_files(folder: Path) -> list[Path]:
    folders = (p for p in entries(folder) if p.is_dir() and p.name.startswith("trial_"))
    files = (inside(p, "trial.json") for p in folders)
    return [path for path in files if path is not None]


def read(folder: Path, options: ReadOptions) -> RawRun:
    documents: list[Json] = []
    for path in _trial_files(folder):
        documents.append(as_dict(load_json(path)))
        if not isinstance(documents[-1].get("hyperparameters"), dict):
            raise malformed(path, "a trial of Keras Tuner")
    objective = _objective(documents)
    notes: list[str] = []
    return RawRun(
        f"Keras Tuner project {folder.name}",
        [objective or Objective("score")],
        [_trial(k, document, objective) for k, document in enumerate(documents)],
        None if options.space is not None else _space(documents, notes),
        directed=objective is not None,
        notes=notes,
    )


def _objective(documents: Sequence[Json]) -> Objective | None:
    """The metric whose best observation is the score, in every trial that has one."""
    possible: list[dict[str, str]] = []
    for document in documents:
        score = number(document.get("score"))
        if not math.isnan(score):
            metrics = as_dict(as_dict(document.get("metrics")).get("metrics"))
            possible.append(
                {
                    name: str(metric.get("direction"))
                    for name, metric in metrics.items()
                    if isinstance(metric, dict) and score in _observed(metric)
                }
            )
    first, *others = possible or [{}]
    every = (item for item in first.items() if all(item[0] in other for other in others))
    name, direction = next(every, ("", ""))
    return Objective(name, direction == "max") if direction in ("min", "max") else None


def _observed(metric: Json) -> set[float]:
    """Means over executions, as the tool scores them."""
    means = set()
    for observation in map(as_dict, as_list(metric.get("observations"))):
        value = observation.get("value")
        if values := [number(v) for v in (value if isinstance(value, list) else [value])]:
            means |= {math.fsum(values) / len(values), sum(values) / len(values)}
    return means


def _trial(position: int, document: Json, objective: Objective | None) -> Trial:
    values = as_dict(document["hyperparameters"].get("values"))
    state = _STATES.get(str(document.get("status")), State.FAILED)
    score = number(document.get("score"))
    if state is State.COMPLETE and math.isnan(score):
        state = State.FAILED
    return Trial(
        position,
        {name: v for name, v in values.items() if not name.startswith("tuner/")},
        (score,),
        state,
        budget=amount(values.get(_EPOCHS)),
        reason=last_line(document.get("message")),
        curve=_curve(document, objective.name) if objective else None,
    )


def _curve(document: Json, metric: str) -> Curve | None:
    """Means over executions by step."""
    metrics = as_dict(as_dict(document.get("metrics")).get("metrics"))
    reports: list[tuple[float, tuple[float]]] = []
    for observation in map(as_dict, as_list(as_dict(metrics.get(metric)).get("observations"))):
        value = observation.get("value")
        if values := [number(v) for v in (value if isinstance(value, list) else [value])]:
            reports.append((number(observation.get("step")), (math.fsum(values) / len(values),)))
    return Curve.of(reports)


def _space(documents: Sequence[Json], notes: list[str]) -> Space | None:
    """The union of the spaces of all trials; None, to be inferred, where a name comes back changed."""
    versions: dict[str, dict[str, Json]] = {}
    for document in documents:
        for entry in map(as_dict, as_list(document["hyperparameters"].get("space"))):
            config = as_dict(entry.get("config"))
            name = config.get("name")
            if isinstance(name, str) and not name.startswith("tuner/"):
                content = str(sorted(config.items(), key=lambda pair: pair[0]))
                versions.setdefault(name, {})[content] = entry
    declared: dict[str, Parameter | tuple[Any]] = {}
    clauses: dict[str, Clauses] = {}
    for name, entries_ in versions.items():
        if len(entries_) > 1:
            notes.append(f"'{name}' was declared in several ways; the space was inferred instead.")
            return None
        (entry,) = entries_.values()
        parameter = _parameter(name, str(entry.get("class_name")), entry["config"])
        if parameter is None:
            return None
        declared[name] = parameter
        if isinstance(parameter, Parameter) and (condition := _condition(entry["config"])):
            clauses[name] = condition
    parameters, constants = apart(declared)
    parents = {literal[0] for c in clauses.values() for clause in c for literal in clause}
    known = parameters and parents <= declared.keys()
    return Space.of(parameters, clauses, constants) if known else None


def _parameter(name: str, kind: str, config: Json) -> Parameter | tuple[Any] | None:
    if kind == "Boolean":
        return Parameter(name, "categorical", choices=(False, True))
    if kind == "Fixed":
        return (config.get("value"),)
    if kind == "Choice":
        choices = tuple(dict.fromkeys(as_list(config.get("values"))))
        if len(choices) < 2:
            return (choices[0],) if choices else None
        ordered = bool(config.get("ordered"))
        return Parameter(name, "ordinal" if ordered else "categorical", choices=choices)
    low, high, step = (number(config.get(k)) for k in ("min_value", "max_value", "step"))
    if kind not in ("Int", "Float") or not (math.isfinite(low) and math.isfinite(high)):
        return None
    whole = kind == "Int"
    if low >= high:
        return (int(low) if whole else low,)
    log = config.get("sampling") in ("log", "reverse_log") and low > 0
    levels = _levels(low, high, step, whole, log)
    if levels is not None:
        return Parameter(name, "ordinal", choices=levels) if len(levels) > 1 else (levels[0],)
    return Parameter(name, "integer" if whole else "float", low, high, log)


def _levels(low: float, high: float, step: float, whole: bool, log: bool) -> tuple[Any, ...] | None:
    """The numbers of a stepped range; on a log scale a step multiplies."""
    if math.isnan(step) or step <= (1 if log else 0) or (whole and not log and step == 1):
        return None
    most = math.log(high / low) / math.log(step) if log else (high - low) / step
    if most + 1 > MOST_LEVELS:
        return None
    count = int(most + 1e-8) + 1
    numbers = [low * step**k if log else low + k * step for k in range(count)]
    return tuple(int(n) if whole else float(n) for n in numbers)


def _condition(config: Json) -> Clauses | None:
    """All parents must have one of their values."""
    literals: list[Literal] = []
    for entry in as_list(config.get("conditions")):
        parent = as_dict(as_dict(entry).get("config"))
        name, values = str(parent.get("name")), as_list(parent.get("values"))
        if values:
            literals.append(one_of(name, values))
    return (tuple(literals),) if literals else None
