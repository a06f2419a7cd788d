"""Syne Tune: an experiment's folder, with `metadata.json` and `results.csv.zip`.

The results have a row for each report of a trial: its metrics, its configuration (`config_*`), what the
scheduler decided, and times. The metadata names metrics and direction, and holds the space as JSON;
`tuner.dill` is never opened. The last report of a trial is its cost, all of them are its curve.
"""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hyperlens.errors import SourceError, listed
from hyperlens.importers.files import inside, load_json, malformed
from hyperlens.importers.packed import zipped_table
from hyperlens.importers.raw_run import RawRun, metrics_of
from hyperlens.importers.read_options import ReadOptions
from hyperlens.importers.tables.cells import typed
from hyperlens.importers.tables.frames import csv_frame
from hyperlens.importers.values import Json, as_dict, as_list, moment, number, scalar
from hyperlens.runs.curve import Curve
from hyperlens.runs.history import Objective, State, Trial
from hyperlens.spaces.parameter import Kind, Parameter, apart, is_number
from hyperlens.spaces.space import Space

if TYPE_CHECKING:
    from pandas import DataFrame

_METADATA = "metadata.json"
_RESULTS = ("results.csv.zip", "results.csv")
_CONFIG = "config_"
_STEPS = ("epoch", "step", "iteration", "st_worker_iter")
_STOPPED = ("STOP", "PAUSE")


def recognised(folder: Path) -> bool:
    return inside(folder, _METADATA) is not None and _results(folder) is not None


def _results(folder: Path) -> Path | None:
    return next((path for name in _RESULTS if (path := inside(folder, name))), None)


def read(folder: Path, options: ReadOptions) -> RawRun:
    metadata = as_dict(load_json(folder / _METADATA))
    path = _results(folder)
    assert path is not None
    content = zipped_table(path) if path.suffix == ".zip" else path
    frame = csv_frame(content, f"The table '{path}'")
    if "trial_id" not in frame.columns:
        raise malformed(path, "the results of Syne Tune by trial_id")
    cells = {str(column): _cells(frame, column) for column in frame.columns}
    objectives = _objectives(metadata, cells, options, folder)
    started = moment(metadata.get("st_tuner_start_timestamp")) or moment(
        metadata.get("st_tuner_creation_timestamp")
    )
    space = None if options.space is not None else _space(metadata)
    steps = _steps(metadata, cells)
    return RawRun(
        f"Syne Tune experiment {folder.name}",
        objectives,
        _trials(cells, [o.name for o in objectives], steps, space, started),
        space,
        directed="metric_mode" in metadata,
    )


def _cells(frame: "DataFrame", column: Any) -> list[Any]:
    """A column by row, None where a cell is empty."""
    present, values = typed(frame[column])
    known = iter(values)
    return [next(known) if there else None for there in present.tolist()]


def _objectives(
    metadata: Json, cells: dict[str, list[Any]], options: ReadOptions, folder: Path
) -> list[Objective]:
    """What the scheduler was told to optimise, or what the user names."""
    named = metadata.get("metric_names")
    names = [str(n) for n in (named if isinstance(named, list) else [named] if named else [])]
    mode = metadata.get("metric_mode", "min")
    modes = [str(m) for m in mode] if isinstance(mode, list) else [str(mode)] * len(names)
    if names and all(name in cells for name in names) and len(modes) == len(names):
        return [Objective(n, m == "max") for n, m in zip(names, modes, strict=True)]
    own = [
        name
        for name, column in cells.items()
        if not name.startswith((_CONFIG, "st_")) and name not in ("trial_id", *_STEPS)
        if all(value is None or is_number(value) for value in column)
    ]
    doubt = (
        f"The experiment '{folder}' does not say which of its metrics {listed(own)} was optimised; "
        "choose one with --objective NAME (objective= in Python)."
    )
    return [Objective(name) for name in metrics_of(own, options, doubt)]


def _steps(metadata: Json, cells: dict[str, list[Any]]) -> list[float]:
    """The step of each report: the scheduler's resource, or how many reports there were."""
    about = as_dict(metadata.get("scheduler_kwargs"))
    told = [metadata.get("resource_attr"), about.get("time_attr"), about.get("resource_attr")]
    for name in [*(str(name) for name in told if name), *_STEPS]:
        if name in cells and all(is_number(step) for step in cells[name]):
            return [float(step) for step in cells[name]]
    return [math.nan] * len(cells["trial_id"])


def _trials(
    cells: dict[str, list[Any]],
    metrics: Sequence[str],
    steps: Sequence[float],
    space: Space | None,
    started: float | None,
) -> list[Trial]:
    rows: dict[str, list[int]] = {}
    for row, trial in enumerate(cells["trial_id"]):
        rows.setdefault(str(trial), []).append(row)
    longest = max((step for step in steps if math.isfinite(step)), default=math.nan)
    config = {name.removeprefix(_CONFIG): name for name in cells if name.startswith(_CONFIG)}
    if not config:
        raise SourceError(
            "The results of this Syne Tune experiment hold no configurations; write them with Syne Tune "
            "0.2 or newer."
        )
    trials: list[Trial] = []
    for reports in rows.values():
        last = reports[-1]
        values = {name: cells[column][last] for name, column in config.items()}
        values = {name: value for name, value in values.items() if value is not None}
        if space is not None:
            values = {name: _fitting(value, name, space) for name, value in values.items()}
        trials.append(
            Trial(
                len(trials),
                values,
                tuple(number(cells[metric][last]) for metric in metrics),
                _state(cells, last, steps[last], longest),
                budget=steps[last] if math.isfinite(steps[last]) else None,
                started=_moment(cells, reports[0], started, begin=True),
                ended=_moment(cells, last, started),
                curve=Curve.of(
                    (steps[row], tuple(number(cells[metric][row]) for metric in metrics))
                    for row in reports
                ),
            )
        )
    return trials


def _state(cells: dict[str, list[Any]], row: int, step: float, longest: float) -> State:
    """How a trial ended; one that was stopped at the last step of all came to its end."""
    if str(_cell(cells, "st_status", row)) == "Failed":
        return State.FAILED
    stopped = str(_cell(cells, "st_decision", row)) in _STOPPED
    return State.PRUNED if stopped and step < longest else State.COMPLETE


def _cell(cells: dict[str, list[Any]], name: str, row: int) -> Any:
    return cells[name][row] if name in cells else None


def _moment(
    cells: dict[str, list[Any]], row: int, started: float | None, begin: bool = False
) -> float | None:
    """When a report came, by the worker's clock or the tuner's; or when its trial began."""
    at = moment(_cell(cells, "st_worker_timestamp", row))
    if at is None and started is not None:
        since = number(_cell(cells, "st_tuner_time", row))
        at = started + since if since >= 0 else None
    took = number(_cell(cells, "st_worker_time", row)) if begin else 0.0
    return at - took if at is not None and took >= 0 else None


def _fitting(value: Any, name: str, space: Space) -> Any:
    """A value as the space has it: a table writes 1 and True as texts."""
    choices = space[name].choices if name in space.names else ()
    return next((choice for choice in choices if str(choice) == str(value)), value)


def _space(metadata: Json) -> Space | None:
    """The space in the metadata; None, to be inferred, where it is not there or not known."""
    content = metadata.get("config_space")
    try:
        domains = as_dict(json.loads(content) if isinstance(content, str) else content)
    except (ValueError, RecursionError):
        return None
    declared: dict[str, Parameter | tuple[Any]] = {}
    for name, domain in domains.items():
        if isinstance(domain, dict):
            parameter = _parameter(name, domain)
            if parameter is None:
                return None
            declared[name] = parameter
        else:
            declared[name] = (scalar(domain),)
    parameters, constants = apart(declared)
    return Space.of(parameters, {}, constants) if parameters else None


def _parameter(name: str, domain: Json) -> Parameter | tuple[Any] | None:
    sort, about = str(domain.get("domain_cls")), as_dict(domain.get("domain_kwargs"))
    log = domain.get("sampler_cls") == "LogUniform" or bool(about.get("log_scale"))
    if "categories" in about:
        choices = tuple(dict.fromkeys(map(scalar, as_list(about["categories"]))))
        ordered = sort.startswith("Ordinal") and all(map(is_number, choices))
        if len(choices) < 2:
            return choices if choices else None
        return Parameter(name, "ordinal" if ordered else "categorical", choices=choices)
    low, high = number(about.get("lower")), number(about.get("upper"))
    if not (math.isfinite(low) and math.isfinite(high)):
        return None
    whole = sort == "Integer" or bool(about.get("cast_int"))
    if low >= high:
        return (int(low) if whole else low,)
    kind: Kind = "integer" if whole else "float"
    return Parameter(name, kind, low, high, log and low > 0)
