"""Ray Tune: an experiment's folder, read from its JSON and CSV files; its pickles are never opened.

Each trial has a folder with `params.json` and `result.json` (one report a line) or `progress.csv`;
`experiment_state-*.json` says how trials ended. The last report counts, its iteration is the budget; all
of them are the trial's curve.
Neither space nor direction is in these files. A folder of `configs.json` and `results.json` with one
object each, which some tools make of an experiment, is read too, with the curves of the trials' folders
where these are still there.
"""

import csv
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

from hyperlens.errors import SourceError, listed
from hyperlens.importers.files import broken, entries, inside, json_lines, load_json, start_of
from hyperlens.importers.raw_run import RawRun, metrics_of, space_beside
from hyperlens.importers.read_options import ReadOptions
from hyperlens.importers.values import (
    Json,
    amount,
    as_dict,
    as_list,
    flat,
    last_line,
    moment,
    number,
    states,
)
from hyperlens.runs.curve import Curve
from hyperlens.runs.history import Objective, State, Trial
from hyperlens.spaces.parameter import is_number

_AUTOMATIC = {
    *("training_iteration", "time_total_s", "episodes_total", "timesteps_total", "node_ip"),
    *("hostname", "pid", "time_this_iter_s", "timestamp", "date", "time_since_restore"),
    *("timesteps_since_restore", "iterations_since_restore", "config", "checkpoint_dir_name"),
    *("trial_id", "experiment_id", "experiment_tag", "done", "warmup_time", "should_checkpoint"),
}
_STATES = states(complete="TERMINATED", failed="ERROR", running="RUNNING PENDING PAUSED")


def recognised(folder: Path) -> bool:
    return _is_digest(folder) or bool(_trial_folders(folder))


def read(folder: Path, options: ReadOptions) -> RawRun:
    space = space_beside(folder, options)
    names, trials = _digest(folder) if _is_digest(folder) else _experiment(folder, options)
    return RawRun(
        f"Ray Tune experiment {folder.name}",
        [Objective(name) for name in names],
        trials,
        space,
        directed=False,
        notes=["The space is that of configspace.json in the folder."] if space else [],
    )


def _is_digest(folder: Path) -> bool:
    files = [inside(folder, name) for name in ("configs.json", "results.json")]
    return all(file and start_of(file).lstrip().startswith(b"{") for file in files)


def _digest(folder: Path) -> tuple[list[str], list[Trial]]:
    """Configurations by trial, and a metric with its value by trial."""
    configs, results = (load_json(folder / name) for name in ("configs.json", "results.json"))
    every = as_dict(results).items()
    pairs = {name: pair for name, pair in every if isinstance(pair, list) and len(pair) == 2}
    metrics = {str(metric) for metric, _ in pairs.values()}
    if not isinstance(configs, dict) or len(metrics) != 1:
        raise SourceError(
            f"The files configs.json and results.json of '{folder}' do not hold one configuration "
            "and one metric for each trial; give the folder of the experiment itself."
        )
    (metric,) = metrics
    states = _states(folder)
    reports = {_identity(path): _reports(path) for path in _trial_folders(folder)}
    trials = []
    for position, (name, config) in enumerate(sorted(configs.items())):
        cost = number(pairs[name][1]) if name in pairs else math.nan
        state = State.COMPLETE if results.get(name) is not None else State.RUNNING
        told = reports.get(name, [])
        last = told[-1] if told else {}
        trials.append(
            Trial(
                position,
                flat(as_dict(config)),
                (cost,),
                states.get(name, state),
                budget=amount(last.get("training_iteration")),
                curve=_curve(told, [metric]),
            )
        )
    return [metric], trials


def _trial_folders(folder: Path) -> list[Path]:
    return [p for p in entries(folder) if p.is_dir() and inside(p, "params.json")]


def _experiment(folder: Path, options: ReadOptions) -> tuple[list[str], list[Trial]]:
    states = _states(folder)
    reports = {path: _reports(path) for path in _trial_folders(folder)}
    metrics = _metrics([every[-1] for every in reports.values() if every])
    if not metrics:
        raise SourceError(
            f"No trial of '{folder}' reported a number; wait until one has, or check the folder."
        )
    names = metrics_of(
        metrics,
        options,
        f"The trials of '{folder}' report {listed(metrics)}; choose what was optimised with "
        "--objective NAME (objective= in Python).",
    )
    trials: list[Trial] = []
    for path, every in reports.items():
        first, last = (every[0], every[-1]) if every else ({}, {})
        name = str(last.get("trial_id") or _identity(path))
        state = states.get(name, State.COMPLETE if last else State.RUNNING)
        error = _error(path)
        if error is not None or (state is State.COMPLETE and not last):
            state = State.FAILED
        trials.append(
            Trial(
                len(trials),
                flat(as_dict(load_json(path / "params.json"))),
                tuple(number(last.get(metric)) for metric in names),
                state,
                budget=amount(last.get("training_iteration")),
                started=moment(first.get("timestamp")),
                ended=moment(last.get("timestamp")) if state is not State.RUNNING else None,
                reason=error,
                curve=_curve(every, names),
            )
        )
    trials.sort(key=lambda t: t.started or math.inf)  # folders are listed by name
    return names, [replace(trial, number=position) for position, trial in enumerate(trials)]


def _curve(reports: list[Json], names: list[str]) -> Curve | None:
    """What was reported of each metric by iteration, or by the number of the report."""
    steps = (number(r.get("training_iteration", k)) for k, r in enumerate(reports, 1))
    values = (tuple(number(r.get(name)) for name in names) for r in reports)
    return Curve.of(zip(steps, values, strict=True))


def _reports(folder: Path) -> list[Json]:
    """All reports of a trial in their order."""
    if (path := inside(folder, "result.json")) and path.stat().st_size:
        lines = [line for _, line in json_lines(path) if isinstance(line, dict)]
        return [flat({k: v for k, v in line.items() if k != "config"}) for line in lines]
    if not (path := inside(folder, "progress.csv")):
        return []
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file)
            return [{k: _cell(v) for k, v in r.items() if isinstance(k, str)} for r in rows]
    except (csv.Error, UnicodeDecodeError, OSError) as problem:
        raise broken(path, problem) from problem


def _cell(text: Any) -> Any:
    try:
        return float(text)
    except (TypeError, ValueError):
        return text


def _metrics(reports: list[Json]) -> list[str]:
    """Names of the numbers that trials report of themselves."""
    numbers = (name for report in reports for name in report if is_number(report[name]))
    own = (n for n in numbers if n not in _AUTOMATIC and not n.startswith("config/"))
    return list(dict.fromkeys(own))


def _states(folder: Path) -> dict[str, State]:
    """How each trial ended, from the newest state of the experiment."""
    files = [p for p in entries(folder) if p.match("experiment_state-*.json") and p.is_file()]
    document = as_dict(load_json(files[-1])) if files else {}
    data = document.get("trial_data", document.get("checkpoints"))  # the latter before Ray 2.4
    states: dict[str, State] = {}
    for entry in as_list(data):
        content = entry[0] if isinstance(entry, list) and entry else entry
        try:
            trial = as_dict(json.loads(content) if isinstance(content, str) else content)
        except (ValueError, RecursionError):
            continue
        if isinstance(trial.get("trial_id"), str):
            states[trial["trial_id"]] = _STATES.get(str(trial.get("status")), State.COMPLETE)
    return states


def _identity(folder: Path) -> str:
    """The trial's id out of a folder's name such as `train_27c5f_00001_1_lr=0.1_2025-05-22`."""
    parts = folder.name.split("_")
    for k, part in enumerate(parts[1:], 1):
        if len(part) in (5, 8) and all(c in "0123456789abcdef" for c in part):
            numbered = len(part) == 5 and len(parts) > k + 1 and len(parts[k + 1]) == 5
            return f"{part}_{parts[k + 1]}" if numbered else part
    return folder.name


def _error(folder: Path) -> str | None:
    if (path := inside(folder, "error.txt")) is None:
        return None
    return last_line(start_of(path, 65536).decode("utf-8", "replace")) or "error"
