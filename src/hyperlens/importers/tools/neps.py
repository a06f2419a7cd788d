"""NePS: the root directory of a run, with a folder for each configuration.

Since 0.12 these are `configs/config_*` with `config.yaml`, `report.yaml` and `metadata.json`; before,
`results/config_*` with `config.yaml`, `result.yaml` and `metadata.yaml`. The objective is always
minimised. The space is a pickle, which is never opened, so it is inferred; the parameter that is the
fidelity is the budget where `optimizer_info.yaml` names it.
"""

import math
import re
from pathlib import Path
from typing import Any

from hyperlens.importers.files import entries, inside, load_json, load_yaml, malformed
from hyperlens.importers.raw_run import RawRun, space_beside
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

_STATES = states(
    complete="success external",
    failed="failed crashed corrupted unknown",
    running="pending evaluating",
)
# how a space of pipelines names its values: SAMPLING__Resolvable.lr::float__0.0001_0.1_True
_SAMPLED = re.compile(r"SAMPLING__(Resolvable\.)?(?P<name>.+?)::(?P<kind>[a-z]+)(__.*)?")
_GIVEN = re.compile(r"ENVIRONMENT__(?P<name>.+)")  # among them the fidelity


def recognised(folder: Path) -> bool:
    return bool(_folders(folder))


def _folders(folder: Path) -> list[Path]:
    """The folders of configurations, in their order."""
    for name in ("configs", "results"):
        home = folder / name
        if home.is_dir() and home.resolve().is_relative_to(folder.resolve()):
            found = [p for p in entries(home) if p.is_dir() and inside(p, "config.yaml")]
            if found:
                return sorted(found, key=lambda p: [int(n) for n in re.findall(r"\d{1,9}", p.name)])
    return []


def read(folder: Path, options: ReadOptions) -> RawRun:
    notes: list[str] = []
    fidelity = _fidelity(folder)
    documents = [_documents(path) for path in _folders(folder)]
    several = max(
        (len(cost) for _, report, _ in documents if isinstance(cost := _cost(report), list)),
        default=1,
    )
    trials = [_trial(k, *found, several, fidelity) for k, found in enumerate(documents)]
    names = ["objective_to_minimize"]
    if several > 1:
        names = [f"objective_to_minimize_{k}" for k in range(several)]
    if fidelity is not None:
        notes.append(f"'{fidelity}' is the fidelity of the run and counts as the budget.")
    home = folder.resolve()
    source = f"NePS run {home.name}"
    space = space_beside(folder, options)
    return RawRun(source, [Objective(name) for name in names], trials, space, notes=notes)


def _documents(folder: Path) -> tuple[Json, Json, Json]:
    """Configuration, report and metadata of one trial."""
    config = load_yaml(folder / "config.yaml")
    if not isinstance(config, dict):
        raise malformed(folder / "config.yaml", "a configuration of NePS")
    report: Any = {}
    for name in ("report.yaml", "result.yaml"):
        if (path := inside(folder, name)) is not None:
            report = load_yaml(path)
    metadata: Any = {}
    if (path := inside(folder, "metadata.json")) is not None:
        metadata = load_json(path)
    elif (path := inside(folder, "metadata.yaml")) is not None:
        metadata = load_yaml(path)
    # older versions write a number or the word "error" instead of a report
    report = report if isinstance(report, dict) else {"loss": report}
    return config, report, as_dict(metadata)


def _cost(report: Json) -> Any:
    return report.get("objective_to_minimize", report.get("loss"))


def _trial(
    position: int, config: Json, report: Json, metadata: Json, objectives: int, fidelity: str | None
) -> Trial:
    values = _values(config)
    budget = amount(values.pop(fidelity, None)) if fidelity is not None else None
    cost = _cost(report)
    costs = [number(c) for c in (cost if isinstance(cost, list) else [cost])]
    costs += [math.nan] * (objectives - len(costs))
    word = str(metadata.get("state") or report.get("reported_as") or "")
    state = _STATES.get(word, State.RUNNING if not report else State.COMPLETE)
    if state is State.COMPLETE and not any(math.isfinite(c) for c in costs):
        state = State.FAILED
    failed = state is State.FAILED
    return Trial(
        position,
        values,
        tuple(costs[:objectives]),
        state,
        budget=budget,
        started=moment(metadata.get("time_started") or metadata.get("time_sampled")),
        ended=moment(metadata.get("time_end")),
        reason=last_line(report.get("err") or report.get("tb")) if failed else None,
        curve=_curve(report.get("learning_curve")) if objectives == 1 else None,
    )


def _curve(reports: Any) -> Curve | None:
    """What was returned as the learning curve, a number a step."""
    return Curve.of((k, (number(v),)) for k, v in enumerate(as_list(reports), 1))


def _values(config: Json) -> Json:
    """Values by the names that the user gave; a space of pipelines writes a choice as its place."""
    values: Json = {}
    for key, value in flat(config).items():
        sampled = _SAMPLED.fullmatch(key)
        if sampled and sampled["kind"] == "categorical":
            value = f"choice {value}"
        values[sampled["name"] if sampled else _given(key)] = value
    return values


def _given(key: str) -> str:
    match = _GIVEN.fullmatch(key)
    return match["name"] if match else key


def _fidelity(folder: Path) -> str | None:
    """The parameter that is the fidelity, where the run says so."""
    path = inside(folder, "optimizer_info.yaml")
    derived = as_dict(as_dict(load_yaml(path)).get("derived")) if path else {}
    name = as_dict(derived.get("fidelity")).get("name")
    return _given(name) if isinstance(name, str) else None
