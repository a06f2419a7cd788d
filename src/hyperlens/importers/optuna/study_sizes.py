"""What a storage tells of each of its studies without reading any: how many trials, the best, when."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from hyperlens.importers.optuna.study_names import Ask, asked
from hyperlens.proposal import EXCESS

_COUNTS = (
    "SELECT study_id, state, COUNT(*), MAX(datetime_start), MAX(datetime_complete) FROM trials "
    "GROUP BY study_id, state"
)
_DIRECTIONS = "SELECT study_id, direction FROM study_directions"
_BOUNDS = (
    "SELECT t.study_id, MIN(v.value), MAX(v.value) FROM trials t JOIN trial_values v "
    "ON v.trial_id = t.trial_id WHERE t.state = 'COMPLETE' GROUP BY t.study_id"
)
_LIMITED = (
    "SELECT DISTINCT t.study_id FROM trials t JOIN trial_system_attributes a "
    f"ON a.trial_id = t.trial_id WHERE a.key = '{EXCESS}' "
    f"OR SUBSTR(a.key, 1, {len(EXCESS) + 1}) = '{EXCESS}:'"
)


@dataclass(frozen=True)
class StudySize:
    """A study by its numbers; no `best` of several objectives, or where limits decide which counts.

    `changed` is when a trial last began or ended, as the storage writes it.
    """

    trials: int = 0
    running: int = 0
    objectives: int = 1
    best: float | None = None
    changed: str | None = None


def study_sizes(source: str) -> dict[str, StudySize]:
    """The studies of a database by name, in the order of creation; none where it cannot tell."""
    return asked(source, _sizes) or {}


def _sizes(ask: Ask) -> dict[str, StudySize]:
    """Five questions for all studies together, whatever their number."""
    names = {int(k): str(name) for name, k in ask("SELECT study_name, study_id FROM studies")}
    counts: dict[int, dict[str, int]] = {k: {} for k in names}
    moments: dict[int, list[str]] = {k: [] for k in names}
    for k, state, many, started, ended in ask(_COUNTS):
        counts[k][str(state)] = int(many)
        moments[k] += [str(moment) for moment in (started, ended) if moment is not None]
    directions: dict[int, list[str]] = {k: [] for k in names}
    for k, direction in ask(_DIRECTIONS):
        directions[k].append(str(direction))
    limited = {k for (k,) in ask(_LIMITED)}
    bounds = {k: (low, high) for k, low, high in ask(_BOUNDS)}
    sizes = {}
    for k in sorted(names):
        single = len(directions[k]) == 1 and k not in limited and k in bounds
        sizes[names[k]] = StudySize(
            trials=sum(counts[k].values()),
            running=counts[k].get("RUNNING", 0),
            objectives=len(directions[k]),
            best=bounds[k][int(directions[k] == ["MAXIMIZE"])] if single else None,
            changed=_moment(moments[k]),
        )
    return sizes


def _moment(texts: list[str]) -> str | None:
    """The latest, to the minute."""
    with suppress(ValueError):
        return f"{max(map(datetime.fromisoformat, texts)):%Y-%m-%d %H:%M}" if texts else None
    return None
