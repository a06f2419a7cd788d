"""OpenBox: a history saved as JSON (`history.save_json`), one observation a trial.

An observation has a configuration, objectives, which are always minimised, constraints, which are kept
where they are not above 0, a state, and when it was made. The space is not in the file;
`configspace.json` beside it is used.
"""

import math
from pathlib import Path
from typing import Any

from hyperlens.importers.files import load_json, malformed
from hyperlens.importers.raw_run import RawRun, space_beside
from hyperlens.importers.read_options import ReadOptions
from hyperlens.importers.values import Json, as_dict, as_list, flat, number, seconds
from hyperlens.runs.history import Objective, State, Trial

_STATES = {0: "success", 1: "failed", 2: "timeout", 3: "memory ran out"}


def recognised(document: Any) -> bool:
    known = as_dict(document)
    return isinstance(known.get("observations"), list) and "num_objectives" in known


def read(path: Path, options: ReadOptions) -> RawRun:
    document = as_dict(load_json(path))
    observations = [as_dict(entry) for entry in as_list(document.get("observations"))]
    for k, entry in enumerate(observations, 1):
        if not isinstance(entry.get("config"), dict):
            raise malformed(path, f"a configuration of OpenBox in observation {k}")
    objectives = _most(observations, "objectives", document.get("num_objectives"))
    constraints = _most(observations, "constraints", document.get("num_constraints"))
    names = ["objective"] if objectives == 1 else [f"objective_{k}" for k in range(objectives)]
    return RawRun(
        f"OpenBox history {document.get('task_id') or path.name}",
        [Objective(name) for name in names],
        [_trial(k, entry, objectives, constraints) for k, entry in enumerate(observations)],
        space_beside(path.parent, options),
        limits=[f"constraint_{k} <= 0" for k in range(constraints)],
    )


def _most(observations: list[Json], key: str, declared: Any) -> int:
    """How many numbers there are of a kind: as declared, or as the longest list has."""
    if isinstance(declared, int) and not isinstance(declared, bool) and 0 < declared < 1000:
        return declared
    return max((len(as_list(entry.get(key))) for entry in observations), default=0) or int(
        key == "objectives"
    )


def _trial(position: int, entry: Json, objectives: int, constraints: int) -> Trial:
    made = seconds(entry.get("create_time"))
    took = number(entry.get("elapsed_time"))
    state = entry.get("trial_state", 0)
    failed = state != 0
    return Trial(
        position,
        flat(entry["config"]),
        _numbers(entry.get("objectives"), objectives),
        State.FAILED if failed else State.COMPLETE,
        started=made - took if made is not None and took >= 0 else None,
        ended=made,
        reason=_STATES.get(state, "failed") if failed and isinstance(state, int) else None,
        excess=_numbers(entry.get("constraints"), constraints),
    )


def _numbers(values: Any, count: int) -> tuple[float, ...]:
    """So many numbers, nan where there is none."""
    known = [number(value) for value in as_list(values)][:count]
    return (*known, *[math.nan] * (count - len(known)))
