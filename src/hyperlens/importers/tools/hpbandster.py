"""HpBandSter (BOHB): a folder with `configs.json` and `results.json`, one JSON list a line.

A configuration is `[id, values, information]`, a result `[id, budget, times, result, error]`. The
loss is always minimised. The tool records no space; `configspace.json` beside it is used.
"""

from pathlib import Path
from typing import Any

from hyperlens.importers.files import inside, json_lines, malformed, start_of
from hyperlens.importers.raw_run import RawRun, space_beside
from hyperlens.importers.read_options import ReadOptions
from hyperlens.importers.values import amount, as_dict, flat, moment, number, text
from hyperlens.runs.history import Objective, State, Trial


def recognised(folder: Path) -> bool:
    configs = inside(folder, "configs.json")
    if configs is None or inside(folder, "results.json") is None:
        return False
    return start_of(configs).lstrip().startswith(b"[")


def read(folder: Path, options: ReadOptions) -> RawRun:
    notes: list[str] = []
    configurations: dict[str, dict[str, Any]] = {}
    proposers: dict[str, str] = {}
    path = folder / "configs.json"
    for at, line in json_lines(path, notes):
        if not (isinstance(line, list) and len(line) >= 2 and isinstance(line[1], dict)):
            raise malformed(path, f"a configuration of HpBandSter in line {at}")
        key, values, *rest = line
        configurations[str(key)] = flat(values)
        information = as_dict(rest[0]) if rest else {}
        if "model_based_pick" in information:
            proposers[str(key)] = "model" if information["model_based_pick"] else "random"
    trials: list[Trial] = []
    strangers = 0
    path = folder / "results.json"
    for at, line in json_lines(path, notes):
        if not (isinstance(line, list) and len(line) >= 4):
            raise malformed(path, f"a result of HpBandSter in line {at}")
        key = str(line[0])
        if key in configurations:
            trials.append(_trial(len(trials), line, configurations[key], proposers.get(key)))
        else:
            strangers += 1
    if strangers:
        notes.append(f"{strangers} results of configurations that are not listed were left out.")
    source = f"HpBandSter run {folder.name}"
    space = space_beside(folder, options)
    return RawRun(source, [Objective("loss")], trials, space, notes=notes)


def _trial(position: int, line: list[Any], values: dict[str, Any], proposer: str | None) -> Trial:
    _, budget, times, result, *rest = line
    error = rest[0] if rest else None
    return Trial(
        position,
        values,
        (number(result.get("loss") if isinstance(result, dict) else result),),
        State.FAILED if error is not None or result is None else State.COMPLETE,
        budget=amount(budget),
        started=moment(as_dict(times).get("started")),
        ended=moment(as_dict(times).get("finished")),
        proposer=proposer,
        reason=text(error),
    )
