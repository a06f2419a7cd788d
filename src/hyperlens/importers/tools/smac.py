"""SMAC3: the folder of a run, with `runhistory.json` and `configspace.json`, of all versions.

A run history lists one evaluation per configuration, instance, seed and budget. Version 1 writes
pairs of a key and a value, 2.0 to 2.2 flat lists, later ones objects with names. Costs are always
minimised.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hyperlens.errors import listed
from hyperlens.importers.files import inside, load_json, malformed
from hyperlens.importers.raw_run import Found, moment, number
from hyperlens.importers.read_options import Asked
from hyperlens.runs.history import Objective, State, Trial
from hyperlens.spaces.space import Space

_NAMES = (
    *("config_id", "instance", "seed", "budget", "cost", "time", "cpu_time", "status"),
    *("starttime", "endtime", "additional_info"),
)
_STATUS = {0: "RUNNING", 1: "SUCCESS", 2: "CRASHED", 3: "TIMEOUT", 4: "MEMORYOUT"}
_STATES = {
    "SUCCESS": State.COMPLETE,
    "DONOTADVANCE": State.COMPLETE,
    "CAPPED": State.PRUNED,
    "STOP": State.PRUNED,
    "RUNNING": State.RUNNING,
}
_FILE = "runhistory.json"


def recognised(folder: Path) -> bool:
    return inside(folder, _FILE) is not None


def read(folder: Path, asked: Asked) -> Found:
    path = folder / _FILE
    document = load_json(path)
    if not isinstance(document, dict) or not isinstance(document.get("data"), (list, dict)):
        raise malformed(path, "SMAC's list of evaluations under 'data'")
    configs = document.get("configs")
    if not isinstance(configs, dict):
        raise malformed(path, "SMAC's configurations under 'configs'")
    origins = document.get("config_origins")
    origins = origins if isinstance(origins, dict) else {}
    runs = [_run(entry) for entry in _entries(document["data"])]
    if None in runs:
        raise malformed(path, f"an evaluation of SMAC in entry {runs.index(None) + 1} of 'data'")
    told = [run for run in runs if run is not None]
    names = _objectives(folder, told)
    budgets = any(run.get("budget") for run in told)  # version 1 writes 0 where there is none
    trials: list[Trial] = []
    unknown = set()
    for run in told:
        key = str(run["config_id"])
        if not isinstance(configs.get(key), dict):
            unknown.add(key)
            continue
        trials.append(_trial(len(trials), run, configs[key], origins.get(key), names, budgets))
    notes = []
    if unknown:
        notes.append(
            f"Evaluations of configurations that the file does not hold were left out: "
            f"{listed(sorted(unknown))}."
        )
    objectives = [Objective(name) for name in names]
    home = folder.resolve()  # output/name/seed
    source = f"SMAC run {home.parent.name}/{home.name}"
    return Found(source, objectives, trials, _space(folder, asked), notes=notes)


def _entries(data: Any) -> list[Any]:
    return list(data) if isinstance(data, list) else [data[key] for key in data]


def _run(entry: Any) -> Mapping[str, Any] | None:
    """One evaluation by names, whatever version wrote it."""
    if isinstance(entry, dict):
        run = dict(entry)
        run.setdefault("instance", run.get("instance_id"))
    elif isinstance(entry, list) and len(entry) == 2 and all(isinstance(e, list) for e in entry):
        key, value = entry
        if not 3 <= len(key) <= 4 or not 3 <= len(value) <= 6:
            return None
        run = dict(zip(_NAMES, key, strict=False))
        named = ["cost", "time", "status", "starttime", "endtime", "additional_info"]
        if len(value) == 4:  # before budgets were known
            del named[3:5]
        run |= dict(zip(named, value, strict=False))
    elif isinstance(entry, list) and len(entry) in (10, 11):
        names = [n for n in _NAMES if len(entry) == 11 or n != "cpu_time"]
        run = dict(zip(names, entry, strict=True))
    else:
        return None
    return run if "config_id" in run and "cost" in run else None


def _objectives(folder: Path, runs: list[Mapping[str, Any]]) -> list[str]:
    """Names of the objectives: as the scenario says, or by their number."""
    count = max((len(r["cost"]) for r in runs if isinstance(r["cost"], list)), default=1) or 1
    path = inside(folder, "scenario.json")
    scenario = load_json(path) if path else None
    told = scenario.get("objectives") if isinstance(scenario, dict) else None
    names = list(map(str, told)) if isinstance(told, list) else [str(told)] if told else []
    if len(names) != count or len(set(names)) != count:
        return ["cost"] if count == 1 else [f"cost_{k}" for k in range(count)]
    return names


def _trial(
    position: int,
    run: Mapping[str, Any],
    values: dict[str, Any],
    origin: Any,
    names: list[str],
    budgets: bool,
) -> Trial:
    status = _status(run.get("status"))
    state = _STATES.get(status, State.FAILED)
    costs = run["cost"] if isinstance(run["cost"], list) else [run["cost"]]
    costs = [number(c) for c in costs] if state is not State.RUNNING else []
    costs += [float("nan")] * (len(names) - len(costs))
    instance = run.get("instance")
    seed = number(run.get("seed"))
    failed = state is State.FAILED
    return Trial(
        position,
        values,
        tuple(costs[: len(names)]),
        state,
        budget=_budget(run.get("budget")) if budgets else None,
        seed=int(seed) if seed == seed and abs(seed) < 2**63 else None,
        instance=None if instance is None else str(instance),
        started=moment(run.get("starttime")),
        ended=moment(run.get("endtime")),
        proposer=None if origin is None else str(origin),
        reason=_reason(status, run.get("additional_info")) if failed else None,
    )


def _status(status: Any) -> str:
    if isinstance(status, dict):  # version 1 writes {"__enum__": "StatusType.SUCCESS"}
        status = status.get("__enum__")
    if isinstance(status, (int, float)):
        return _STATUS.get(int(status) if abs(status) < 10 else -1, "UNKNOWN")
    return str(status).rsplit(".", 1)[-1].upper()


def _budget(budget: Any) -> float | None:
    value = number(budget)
    return None if value != value else value


def _reason(status: str, information: Any) -> str:
    error = information.get("error") if isinstance(information, dict) else None
    return f"{status.lower()}: {error}" if error else status.lower()


def _space(folder: Path, asked: Asked) -> Space | None:
    if asked.space is not None:
        return None
    path = inside(folder, "configspace.json")
    return Space.load(path) if path else None
