"""Ray Tune: an experiment's folder, read from its JSON and CSV files; its pickles are never opened.

Each trial has a folder with `params.json` and `result.json` (one report a line) or `progress.csv`;
`experiment_state-*.json` says how trials ended. The last report counts, its iteration is the budget.
Neither space nor direction is in these files. A folder of `configs.json` and `results.json` with one
object each, which some tools make of an experiment, is read too.
"""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from hyperlens.errors import SourceError, listed
from hyperlens.importers.files import broken, entries, inside, json_lines, load_json, start_of
from hyperlens.importers.raw_run import Found, flat, moment, number
from hyperlens.importers.read_options import Asked
from hyperlens.runs.history import Objective, State, Trial
from hyperlens.spaces.space import Space

_AUTOMATIC = {
    *("training_iteration", "time_total_s", "episodes_total", "timesteps_total", "node_ip"),
    *("hostname", "pid", "time_this_iter_s", "timestamp", "date", "time_since_restore"),
    *("timesteps_since_restore", "iterations_since_restore", "config", "checkpoint_dir_name"),
    *("trial_id", "experiment_id", "experiment_tag", "done", "warmup_time", "should_checkpoint"),
}
_STATES = {
    "TERMINATED": State.COMPLETE,
    "ERROR": State.FAILED,
    "RUNNING": State.RUNNING,
    "PENDING": State.RUNNING,
    "PAUSED": State.RUNNING,
}

Report = dict[str, Any]


def recognised(folder: Path) -> bool:
    return _is_digest(folder) or bool(_trial_folders(folder))


def read(folder: Path, asked: Asked) -> Found:
    file = inside(folder, "configspace.json") if asked.space is None else None
    space = Space.load(file) if file else None
    found = _digest(folder) if _is_digest(folder) else _experiment(folder, asked)
    found.space = space
    found.directed = False
    if file:
        found.notes.append("The space is that of configspace.json in the folder.")
    return found


def _is_digest(folder: Path) -> bool:
    files = [inside(folder, name) for name in ("configs.json", "results.json")]
    return all(f is not None and start_of(f).lstrip().startswith(b"{") for f in files)


def _digest(folder: Path) -> Found:
    """Configurations by trial, and a metric with its value by trial."""
    configs, results = (load_json(folder / name) for name in ("configs.json", "results.json"))
    metrics = {
        str(told[0])
        for told in (results.values() if isinstance(results, dict) else ())
        if isinstance(told, list) and len(told) == 2
    }
    if not isinstance(configs, dict) or len(metrics) != 1:
        raise SourceError(
            f"The files configs.json and results.json of '{folder}' do not hold one configuration "
            "and one metric for each trial; give the folder of the experiment itself."
        )
    trials = []
    for position, (name, config) in enumerate(sorted(configs.items())):
        told = results.get(name)
        cost = number(told[1]) if isinstance(told, list) and len(told) == 2 else float("nan")
        state = State.COMPLETE if told is not None else State.RUNNING
        values = flat(config) if isinstance(config, dict) else {}
        trials.append(Trial(position, values, (cost,), state))
    return Found(f"Ray Tune experiment {folder.name}", [Objective(metrics.pop())], trials)


def _trial_folders(folder: Path) -> list[Path]:
    return [p for p in entries(folder) if p.is_dir() and inside(p, "params.json")]


def _experiment(folder: Path, asked: Asked) -> Found:
    states = _states(folder)
    read_trials = [(path, _config(path), _reports(path)) for path in _trial_folders(folder)]
    metrics = _metrics([last for _, _, (_, last) in read_trials])
    names = _chosen(metrics, asked, folder)
    trials: list[Trial] = []
    for path, config, (first, last) in read_trials:
        name = str(last.get("trial_id") or _identity(path))
        state = states.get(name, State.COMPLETE if last else State.RUNNING)
        error = _error(path)
        if error is not None or (state is State.COMPLETE and not last):
            state = State.FAILED
        iteration = number(last.get("training_iteration"))
        trials.append(
            Trial(
                len(trials),
                config,
                tuple(number(last.get(metric)) for metric in names),
                state,
                budget=None if iteration != iteration else iteration,
                started=moment(first.get("timestamp")),
                ended=moment(last.get("timestamp")) if state is not State.RUNNING else None,
                reason=error,
            )
        )
    objectives = [Objective(name) for name in names]
    return Found(f"Ray Tune experiment {folder.name}", objectives, _in_order(trials))


def _in_order(trials: list[Trial]) -> list[Trial]:
    """By the time they began; folders are listed by name."""
    latest = float("inf")
    order = sorted(trials, key=lambda t: (t.started or latest, t.number))
    return [replace(trial, number=position) for position, trial in enumerate(order)]


def _config(folder: Path) -> dict[str, Any]:
    config = load_json(folder / "params.json")
    return flat(config) if isinstance(config, dict) else {}


def _reports(folder: Path) -> tuple[Report, Report]:
    """The first and the last report of a trial; empty where there is none."""
    path = inside(folder, "result.json")
    first: Report = {}
    last: Report = {}
    if path is not None and path.stat().st_size:
        for _, line in json_lines(path):
            if isinstance(line, dict):
                first, last = first or line, line
        return first, flat({k: v for k, v in last.items() if k != "config"})
    path = inside(folder, "progress.csv")
    if path is not None:
        try:
            with path.open(encoding="utf-8", newline="") as file:
                for row in csv.DictReader(file):
                    last = {k: _cell(v) for k, v in row.items() if isinstance(k, str)}
                    first = first or last
        except (csv.Error, UnicodeDecodeError, OSError) as problem:
            raise broken(path, problem) from problem
    return first, last


def _cell(text: Any) -> Any:
    try:
        return float(text)
    except (TypeError, ValueError):
        return text


def _metrics(reports: list[Report]) -> list[str]:
    """Names of the numbers that trials report of themselves."""
    seen: dict[str, None] = {}
    for report in reports:
        for name, value in report.items():
            known = name in _AUTOMATIC or name.startswith("config/")
            if not known and isinstance(value, (int, float)) and not isinstance(value, bool):
                seen[name] = None
    return list(seen)


def _chosen(metrics: list[str], asked: Asked, folder: Path) -> list[str]:
    if not metrics:
        raise SourceError(
            f"No trial of '{folder}' reported a number; wait until one has, or check the folder."
        )
    if asked.objectives and set(asked.objectives) <= set(metrics):
        return list(dict.fromkeys(asked.objectives))
    if asked.objectives or len(metrics) > 1:
        raise SourceError(
            f"The trials of '{folder}' report {listed(metrics)}; choose what was optimised with "
            "--objective NAME (objective= in Python)."
        )
    return metrics


def _states(folder: Path) -> dict[str, State]:
    """How each trial ended, from the newest state of the experiment."""
    files = [p for p in entries(folder) if p.match("experiment_state-*.json") and p.is_file()]
    if not files:
        return {}
    document = load_json(files[-1])
    listed_ = document.get("trial_data") if isinstance(document, dict) else None
    if listed_ is None and isinstance(document, dict):
        listed_ = document.get("checkpoints")  # before Ray 2.4
    found: dict[str, State] = {}
    for entry in listed_ if isinstance(listed_, list) else []:
        text = entry[0] if isinstance(entry, list) and entry else entry
        try:
            trial = json.loads(text) if isinstance(text, str) else text
        except (ValueError, RecursionError):
            continue
        if isinstance(trial, dict) and isinstance(trial.get("trial_id"), str):
            state = _STATES.get(str(trial.get("status")), State.COMPLETE)
            found[trial["trial_id"]] = state
    return found


def _identity(folder: Path) -> str:
    """The trial's id out of a folder's name such as `train_27c5f_00001_1_lr=0.1_2025-05-22`."""
    parts = folder.name.split("_")
    for k, part in enumerate(parts[1:], 1):
        if len(part) in (5, 8) and all(c in "0123456789abcdef" for c in part):
            numbered = len(part) == 5 and len(parts) > k + 1 and len(parts[k + 1]) == 5
            return f"{part}_{parts[k + 1]}" if numbered else part
    return folder.name


def _error(folder: Path) -> str | None:
    path = inside(folder, "error.txt")
    if path is None:
        return None
    lines = start_of(path, 65536).decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:500] if lines else "error"
