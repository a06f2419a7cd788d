"""SMAC3: the folder of a run, with `runhistory.json` and `configspace.json`, of all versions.

A run history lists one evaluation per configuration, instance, seed and budget. Version 1 writes
pairs of a key and a value, 2.0 to 2.2 flat lists, later ones objects with names. Costs are always
minimised.
"""

import math
from pathlib import Path
from typing import Any

from hyperlens.errors import listed
from hyperlens.importers.files import inside, load_json, malformed
from hyperlens.importers.raw_run import RawRun, space_beside
from hyperlens.importers.read_options import ReadOptions
from hyperlens.importers.values import Json, amount, as_dict, moment, number, states, text
from hyperlens.runs.history import Objective, State, Trial

_NAMES = (
    *("config_id", "instance", "seed", "budget", "cost", "time", "cpu_time", "status"),
    *("starttime", "endtime", "additional_info"),
)
_STATUS = {0: "RUNNING", 1: "SUCCESS", 2: "CRASHED", 3: "TIMEOUT", 4: "MEMORYOUT"}
_STATES = states(complete="SUCCESS DONOTADVANCE", pruned="CAPPED STOP", running="RUNNING")
_FILE = "runhistory.json"


def recognised(folder: Path) -> bool:
    return inside(folder, _FILE) is not None


def read(folder: Path, options: ReadOptions) -> RawRun:
    path = folder / _FILE
    document = as_dict(load_json(path))
    data, configs = document.get("data"), document.get("configs")
    if not isinstance(data, (list, dict)):
        raise malformed(path, "SMAC's list of evaluations under 'data'")
    if not isinstance(configs, dict):
        raise malformed(path, "SMAC's configurations under 'configs'")
    origins = as_dict(document.get("config_origins"))
    runs: list[Json] = []
    for k, entry in enumerate(data if isinstance(data, list) else data.values(), 1):
        if (run := _run(entry)) is None:
            raise malformed(path, f"an evaluation of SMAC in entry {k} of 'data'")
        runs.append(run)
    names = _objectives(folder, runs)
    if not any(run.get("budget") for run in runs):  # version 1 writes 0 where there is none
        runs = [run | {"budget": None} for run in runs]
    trials: list[Trial] = []
    unknown = set()
    for run in runs:
        key = str(run["config_id"])
        if isinstance(configs.get(key), dict):
            trials.append(_trial(len(trials), run, configs[key], origins.get(key), len(names)))
        else:
            unknown.add(key)
    notes = []
    if unknown:
        notes.append(
            f"Evaluations of configurations that the file does not hold were left out: "
            f"{listed(sorted(unknown))}."
        )
    home = folder.resolve()  # output/name/seed
    source = f"SMAC run {home.parent.name}/{home.name}"
    space = space_beside(folder, options)
    return RawRun(source, [Objective(name) for name in names], trials, space, notes=notes)


def _run(entry: Any) -> Json | None:
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


def _objectives(folder: Path, runs: list[Json]) -> list[str]:
    """Names of the objectives: as the scenario says, or by their number."""
    count = max((len(r["cost"]) for r in runs if isinstance(r["cost"], list)), default=1) or 1
    path = inside(folder, "scenario.json")
    objectives = as_dict(load_json(path)).get("objectives") if path else None
    names = objectives if isinstance(objectives, list) else [objectives] if objectives else []
    if len(names) != count or len(set(map(str, names))) != count:
        return ["cost"] if count == 1 else [f"cost_{k}" for k in range(count)]
    return list(map(str, names))


def _trial(position: int, run: Json, values: Json, origin: Any, objectives: int) -> Trial:
    status = _status(run.get("status"))
    state = _STATES.get(status, State.FAILED)
    costs = run["cost"] if isinstance(run["cost"], list) else [run["cost"]]
    costs = [number(c) for c in costs] if state is not State.RUNNING else []
    costs += [math.nan] * (objectives - len(costs))
    seed = number(run.get("seed"))
    failed = state is State.FAILED
    return Trial(
        position,
        values,
        tuple(costs[:objectives]),
        state,
        budget=amount(run.get("budget")),
        seed=int(seed) if abs(seed) < 2**63 else None,
        instance=text(run.get("instance")),
        started=moment(run.get("starttime")),
        ended=moment(run.get("endtime")),
        proposer=text(origin),
        reason=_reason(status, run.get("additional_info")) if failed else None,
    )


def _status(status: Any) -> str:
    if isinstance(status, dict):  # version 1 writes {"__enum__": "StatusType.SUCCESS"}
        status = status.get("__enum__")
    if isinstance(status, (int, float)):
        return _STATUS.get(int(status) if abs(status) < 10 else -1, "UNKNOWN")
    return str(status).rsplit(".", 1)[-1].upper()


def _reason(status: str, information: Any) -> str:
    error = as_dict(information).get("error")
    return f"{status.lower()}: {error}" if error else status.lower()
