"""HpBandSter (BOHB): a folder with `configs.json` and `results.json`, one JSON list a line.

A configuration is `[id, values, information]`, a result `[id, budget, times, result, error]`. The
loss is always minimised. The tool records no space; `configspace.json` beside it is used.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hyperlens.importers.files import inside, json_lines, malformed, start_of
from hyperlens.importers.raw_run import Found, flat, moment, number
from hyperlens.importers.read_options import Asked
from hyperlens.runs.history import Objective, State, Trial
from hyperlens.spaces.space import Space


def recognised(folder: Path) -> bool:
    configs = inside(folder, "configs.json")
    return (
        configs is not None
        and inside(folder, "results.json") is not None
        and start_of(configs).lstrip().startswith(b"[")
    )


def read(folder: Path, asked: Asked) -> Found:
    values: dict[str, dict[str, Any]] = {}
    picks: dict[str, str] = {}
    notes: list[str] = []
    path = folder / "configs.json"
    for number_, line in json_lines(path):
        if line is None:
            notes.append(f"The last line of '{path.name}' is cut off and was left out.")
            continue
        if not (isinstance(line, list) and len(line) >= 2 and isinstance(line[1], dict)):
            raise malformed(path, f"a configuration of HpBandSter in line {number_}")
        values[_key(line[0])] = flat(line[1])
        information = line[2] if len(line) > 2 and isinstance(line[2], dict) else {}
        if "model_based_pick" in information:
            model = information["model_based_pick"]
            picks[_key(line[0])] = "model" if model else "random"
    trials: list[Trial] = []
    strangers = 0
    path = folder / "results.json"
    for number_, line in json_lines(path):
        if line is None:
            notes.append(f"The last line of '{path.name}' is cut off and was left out.")
            continue
        if not (isinstance(line, list) and len(line) >= 4):
            raise malformed(path, f"a result of HpBandSter in line {number_}")
        key = _key(line[0])
        if key in values:
            trials.append(_trial(len(trials), line, values[key], picks.get(key)))
        else:
            strangers += 1
    if strangers:
        notes.append(f"{strangers} results of configurations that are not listed were left out.")
    file = inside(folder, "configspace.json") if asked.space is None else None
    space = Space.load(file) if file else None
    return Found(f"HpBandSter run {folder.name}", [Objective("loss")], trials, space, notes=notes)


def _key(identity: Any) -> str:
    return str(identity)


def _trial(position: int, line: list[Any], values: dict[str, Any], proposer: str | None) -> Trial:
    _, budget, times, result, *rest = line
    error = rest[0] if rest else None
    loss = number(result.get("loss")) if isinstance(result, dict) else number(result)
    failed = error is not None or result is None
    times = times if isinstance(times, dict) else {}
    told = number(budget)
    return Trial(
        position,
        values,
        (loss,),
        State.FAILED if failed else State.COMPLETE,
        budget=None if told != told else told,
        started=moment(times.get("started")),
        ended=moment(times.get("finished")),
        proposer=proposer,
        reason=None if error is None else str(error),
    )
