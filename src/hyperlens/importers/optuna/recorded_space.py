"""The space that a run of our own wrote down, and the trials that are on it."""

import json
from dataclasses import replace
from typing import Any

from hyperlens.errors import SpaceError, listed
from hyperlens.importers.optuna.stored_study import StoredTrial
from hyperlens.spaces.space import Space


def recorded_space(
    stored: Any, trials: list[StoredTrial], notes: list[str]
) -> tuple[Space, list[StoredTrial]] | None:
    """The space and the trials on it; None if there is none, or if what is there cannot be read."""
    if stored is None:
        return None
    try:
        space = Space.from_json(json.dumps(stored))
    except Exception:  # ConfigSpace raises whatever its decoder meets
        notes.append("The space recorded with the study cannot be read; it was inferred.")
        return None
    known = {*space.names, *space.constants}
    valid = _valid(space, [_within(t, known) for t in trials])
    if not valid:
        notes.append("No trial fits the space recorded with the study; it was inferred instead.")
        return None
    if unknown := list(dict.fromkeys(n for t in trials for n in t.params if n not in known)):
        notes.append(f"The recorded space lacks {listed(unknown)}, which were left out.")
    if len(valid) < len(trials):
        notes.append(
            f"{len(trials) - len(valid)} of {len(trials)} trials do not fit the space recorded with "
            "the study and were left out."
        )
    return space, valid


def _within(trial: StoredTrial, known: set[str]) -> StoredTrial:
    """The trial with parameters that are known alone."""
    if trial.params.keys() <= known:
        return trial
    return replace(trial, params={n: v for n, v in trial.params.items() if n in known})


def _valid(space: Space, trials: list[StoredTrial]) -> list[StoredTrial]:
    """Trials that are configurations of the space; a failed one may have stopped halfway."""
    try:
        vectors = space.encode([trial.params for trial in trials])
    except SpaceError:
        if len(trials) == 1:
            return []
        return [trial for one in trials for trial in _valid(space, [one])]
    misfits = set(space.misfits(vectors).tolist())
    return [t for i, t in enumerate(trials) if t.state == "FAIL" or i not in misfits]
