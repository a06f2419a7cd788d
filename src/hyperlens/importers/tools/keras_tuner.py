"""Keras Tuner: a project's folder, with a `trial.json` in the folder of each trial.

Each trial holds the whole space as it was then, the values, the metrics with their directions and
the score of the metric that was optimised.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hyperlens.importers.files import entries, inside, load_json, malformed
from hyperlens.importers.raw_run import Found, number
from hyperlens.importers.read_options import Asked
from hyperlens.runs.history import Objective, State, Trial
from hyperlens.spaces.configspace import Clauses, Literal
from hyperlens.spaces.parameter import MOST_LEVELS, Parameter
from hyperlens.spaces.space import Space

_STATES = {
    "COMPLETED": State.COMPLETE,
    "STOPPED": State.PRUNED,
    "RUNNING": State.RUNNING,
    "IDLE": State.RUNNING,
}
_EPOCHS = "tuner/epochs"  # what its Hyperband sets beside the parameters

Json = Mapping[str, Any]


def recognised(folder: Path) -> bool:
    return bool(_trial_files(folder))


def _trial_files(folder: Path) -> list[Path]:
    folders = (p for p in entries(folder) if p.is_dir() and p.name.startswith("trial_"))
    found = (inside(p, "trial.json") for p in folders)
    return [path for path in found if path is not None]


def read(folder: Path, asked: Asked) -> Found:
    documents = [(path, load_json(path)) for path in _trial_files(folder)]
    for path, document in documents:
        if not isinstance(document, dict) or not isinstance(document.get("hyperparameters"), dict):
            raise malformed(path, "a trial of Keras Tuner")
    told = [document for _, document in documents]
    objective = _objective(told)
    trials = [_trial(k, document) for k, document in enumerate(told)]
    notes: list[str] = []
    space = None if asked.space is not None else _space(told, notes)
    return Found(
        f"Keras Tuner project {folder.name}",
        [objective or Objective("score")],
        trials,
        space,
        directed=objective is not None,
        notes=notes,
    )


def _objective(documents: Sequence[Json]) -> Objective | None:
    """The metric whose best observation is the score, in every trial that has one."""
    possible: dict[str, str] | None = None
    for document in documents:
        score = number(document.get("score"))
        if math.isnan(score):
            continue
        here = {
            name: str(metric.get("direction"))
            for name, metric in _metrics(document).items()
            if score in _observed(metric)
        }
        possible = here if possible is None else {k: v for k, v in possible.items() if k in here}
    if not possible:
        return None
    name, direction = next(iter(possible.items()))
    return Objective(name, direction == "max") if direction in ("min", "max") else None


def _metrics(document: Json) -> dict[str, Json]:
    metrics = document.get("metrics")
    metrics = metrics.get("metrics") if isinstance(metrics, dict) else None
    pairs = metrics.items() if isinstance(metrics, dict) else ()
    return {str(name): metric for name, metric in pairs if isinstance(metric, dict)}


def _observed(metric: Json) -> set[float]:
    """Means over executions, as the tool scores them."""
    found = set()
    observations = metric.get("observations")
    for observation in observations if isinstance(observations, list) else ():
        values = observation.get("value") if isinstance(observation, dict) else None
        told = [number(v) for v in values] if isinstance(values, list) else [number(values)]
        if told:
            found.add(math.fsum(told) / len(told))
            found.add(sum(told) / len(told))
    return found


def _trial(position: int, document: Json) -> Trial:
    values = document["hyperparameters"].get("values")
    values = values if isinstance(values, dict) else {}
    state = _STATES.get(str(document.get("status")), State.FAILED)
    score = number(document.get("score"))
    if state is State.COMPLETE and math.isnan(score):
        state = State.FAILED
    epochs = number(values.get(_EPOCHS))
    message = document.get("message")
    lines = str(message).strip().splitlines() if message else []
    return Trial(
        position,
        {name: v for name, v in values.items() if not name.startswith("tuner/")},
        (score,),
        state,
        budget=None if math.isnan(epochs) else epochs,
        reason=lines[-1][:500] if lines else None,
    )


def _space(documents: Sequence[Json], notes: list[str]) -> Space | None:
    """The union of the spaces of all trials; the widest where a name comes back changed."""
    entries_: dict[str, dict[str, Json]] = {}
    for document in documents:
        space = document["hyperparameters"].get("space")
        for entry in space if isinstance(space, list) else ():
            config = entry.get("config") if isinstance(entry, dict) else None
            if isinstance(config, dict) and isinstance(config.get("name"), str):
                kept = entries_.setdefault(config["name"], {})
                kept[str(sorted(config.items(), key=lambda pair: pair[0]))] = entry
    parameters: list[Parameter] = []
    constants: dict[str, Any] = {}
    clauses: dict[str, Clauses] = {}
    for name, versions in entries_.items():
        if name.startswith("tuner/"):
            continue
        entry = next(iter(versions.values()))
        if len(versions) > 1:
            notes.append(f"'{name}' was declared in several ways; the space was inferred instead.")
            return None
        found = _parameter(name, str(entry.get("class_name")), entry["config"])
        if found is None:
            return None
        if isinstance(found, Parameter):
            parameters.append(found)
            if condition := _condition(entry["config"]):
                clauses[name] = condition
        else:
            constants[name] = found[0]
    known = {p.name for p in parameters} | constants.keys()
    unknown = {literal[0] for c in clauses.values() for clause in c for literal in clause} - known
    return Space.of(parameters, clauses, constants) if parameters and not unknown else None


def _parameter(name: str, kind: str, config: Json) -> Parameter | tuple[Any] | None:
    if kind == "Boolean":
        return Parameter(name, "categorical", choices=(False, True))
    if kind == "Fixed":
        return (config.get("value"),)
    if kind == "Choice":
        values = config.get("values")
        if not isinstance(values, list) or not values:
            return None
        distinct = tuple(dict.fromkeys(values))
        if len(distinct) == 1:
            return (distinct[0],)
        ordered = bool(config.get("ordered"))
        return Parameter(name, "ordinal" if ordered else "categorical", choices=distinct)
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
    conditions = config.get("conditions")
    for entry in conditions if isinstance(conditions, list) else ():
        parent = entry.get("config") if isinstance(entry, dict) else None
        values = parent.get("values") if isinstance(parent, dict) else None
        if isinstance(parent, dict) and isinstance(values, list) and values:
            name = str(parent.get("name"))
            one = len(values) == 1
            literals.append((name, "equal", values[0]) if one else (name, "in", tuple(values)))
    return (tuple(literals),) if literals else None
