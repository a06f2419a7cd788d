"""Optuna's journal file: one JSON operation a line, replayed without a lock file beside it.

Optuna's own replay takes four times as long, since it makes a distribution of every value anew, and ends
at an operation that a later Optuna has added.
"""

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

from hyperlens.errors import SourceError
from hyperlens.importers.extent import check_extent
from hyperlens.importers.optuna.following import FINISHED, Followed
from hyperlens.importers.optuna.stored_study import METRIC_NAMES, StoredStudy, StoredTrial, choose
from hyperlens.importers.values import Json, number, seconds
from hyperlens.proposal import LIMITS, PLAN, SPACE, STOPPED

_DIRECTIONS = ("NOT_SET", "MINIMIZE", "MAXIMIZE")
_STATES = ("RUNNING", "COMPLETE", "PRUNED", "FAIL", "WAITING")
# Optuna's codes of operations, from 0
(_CREATE_STUDY, _DELETE_STUDY, _STUDY_USER_ATTRIBUTE, _STUDY_ATTRIBUTE, _CREATE_TRIAL) = range(5)
(_PARAMETER, _STATE, _STEP, _USER_ATTRIBUTE, _ATTRIBUTE) = range(5, 10)
_SAMPLED = 4096  # bytes at both ends of what was read, by which a journal is known again


def read_journal(
    path: Path, name: str | None = None, every: bool = True, followed: Followed | None = None
) -> StoredStudy:
    """A study out of a journal file, with `every` attribute in any case; where it was followed before,
    only the lines that are new are read."""
    followed = followed or Followed()
    past = followed.past
    followed.past = None  # what is cut off in the middle is no past
    if not isinstance(past, _Past) or not past.begins(path):
        past = _Past()
    notes: list[str] = []
    _replay(path, notes, past)
    studies = past.replay.by_name
    study = studies[choose(studies, name, f"the journal '{path}'")]
    followed.past = past
    return replace(study, notes=[*study.notes, *notes], trials=list(study.trials))


def studies_in(path: Path) -> tuple[str, ...]:
    """Names of the studies in the order of their creation."""
    past = _Past()
    _replay(path, [], past, last=_DELETE_STUDY)
    return tuple(past.replay.by_name)


def _replay(path: Path, notes: list[str], past: "_Past", last: int = _ATTRIBUTE) -> None:
    """Operations with codes after `last` are left out, and a last line that was cut off, which is
    noted."""
    check_extent(f"The journal '{path}'", path.stat().st_size)
    broken = 0
    with path.open("rb") as file:
        file.seek(past.size)
        for line in file:
            past.lines += not broken
            at = past.lines
            if broken and line.strip():
                raise SourceError(
                    f"Line {broken} of '{path}' is not JSON; restore the journal from a backup or "
                    "remove that line from a copy."
                )
            if broken or not line.strip():
                past.size += len(line) * (not broken)
                continue
            try:
                operation = json.loads(line)
            except ValueError:
                broken = at
                continue
            try:
                if operation["op_code"] <= last:  # codes after the last one concern other programs
                    past.replay.apply(operation)
            except (KeyError, IndexError, TypeError, ValueError, AttributeError) as problem:
                raise SourceError(
                    f"Line {at} of '{path}' is not an operation of an Optuna journal; "
                    "restore the file from a backup."
                ) from problem
            past.size += len(line)
        past.lines -= bool(broken)
        past.sample(file)
    if broken:
        notes.append(f"The last line of '{path.name}' is cut off and was left out.")


class _Replay:
    """The rules by which Optuna's workers agree on one story: late operations are void."""

    def __init__(self) -> None:
        self.studies: dict[int, StoredStudy] = {}
        self._created = 0
        self._trials: list[tuple[StoredStudy, StoredTrial]] = []

    @property
    def by_name(self) -> dict[str, StoredStudy]:
        return {study.name: study for study in self.studies.values()}

    def apply(self, operation: Json) -> None:
        code = operation["op_code"]
        if code > _CREATE_TRIAL:
            if 0 <= operation["trial_id"] < len(self._trials):
                study, trial = self._trials[operation["trial_id"]]
                if trial.state not in FINISHED:
                    _change(study, trial, operation)
        elif code == _CREATE_STUDY:
            self._create_study(operation)
        elif code == _DELETE_STUDY:
            self.studies.pop(operation["study_id"], None)
        elif operation["study_id"] in self.studies:
            study = self.studies[operation["study_id"]]
            if code == _CREATE_TRIAL:
                self._create_trial(study, operation)
            elif code == _STUDY_USER_ATTRIBUTE:
                study.space = operation["user_attr"].get(SPACE, study.space)
                study.plan = operation["user_attr"].get(PLAN, study.plan)
                study.stopped = operation["user_attr"].get(STOPPED, study.stopped)
                study.limits = operation["user_attr"].get(LIMITS, study.limits)
            else:
                study.metric_names = operation["system_attr"].get(METRIC_NAMES, study.metric_names)

    def _create_study(self, operation: Json) -> None:
        name = operation["study_name"]
        if all(study.name != name for study in self.studies.values()):
            directions = [_DIRECTIONS[d] for d in operation["directions"]]
            self.studies[self._created] = StoredStudy(name, directions)
            self._created += 1

    def _create_trial(self, study: StoredStudy, operation: Json) -> None:
        value, values = operation.get("value"), operation.get("values")
        texts = operation.get("distributions", {})
        trial = StoredTrial(
            len(study.trials),
            _STATES[operation.get("state", 0)],
            seconds(operation.get("datetime_start")),
            seconds(operation.get("datetime_complete")),
            values if value is None else [value],
            {
                int(step): number(value)
                for step, value in operation.get("intermediate_values", {}).items()
            },
            {
                name: study.distributions.value(name, texts[name], stored)
                for name, stored in operation.get("params", {}).items()
            },
            operation.get("user_attrs", {}) | operation.get("system_attrs", {}),
        )
        study.trials.append(trial)
        self._trials.append((study, trial))


@dataclass
class _Past:
    """A journal as far as it was read: so many bytes, in so many lines, and how they begin and end."""

    size: int = 0
    lines: int = 0
    ends: tuple[bytes, bytes] = (b"", b"")
    replay: _Replay = field(default_factory=_Replay)

    def sample(self, file: IO[bytes]) -> None:
        self.ends = self._ends(file)

    def begins(self, path: Path) -> bool:
        """Does the file still begin with what was read?"""
        with path.open("rb") as file:
            return self._ends(file) == self.ends

    def _ends(self, file: IO[bytes]) -> tuple[bytes, bytes]:
        file.seek(0)
        head = file.read(min(_SAMPLED, self.size))
        file.seek(max(0, self.size - _SAMPLED))
        return head, file.read(min(_SAMPLED, self.size))


def _change(study: StoredStudy, trial: StoredTrial, operation: Json) -> None:
    """Apply what concerns a trial that is not finished."""
    code = operation["op_code"]
    if code == _PARAMETER:
        name, stored = operation["param_name"], operation["param_value_internal"]
        trial.params[name] = study.distributions.value(name, operation["distribution"], stored)
    elif code == _STATE:
        trial.state = _STATES[operation["state"]]
        if operation.get("values") is not None:
            trial.values = operation["values"]
        trial.started = seconds(operation.get("datetime_start")) or trial.started
        trial.ended = seconds(operation.get("datetime_complete")) or trial.ended
    elif code == _STEP:
        trial.steps[int(operation["step"])] = number(operation.get("intermediate_value"))
    elif code == _USER_ATTRIBUTE:
        trial.attributes |= operation["user_attr"]
    else:
        trial.attributes |= operation["system_attr"]
