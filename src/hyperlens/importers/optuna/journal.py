"""Optuna's journal file: one JSON operation a line, replayed without a lock file beside it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hyperlens.errors import SourceError
from hyperlens.importers.optuna.stored_study import (
    Distributions,
    StoredStudy,
    StoredTrial,
    choose,
    metric_names,
    seconds,
)
from hyperlens.proposal import SPACE

_DIRECTIONS = ("NOT_SET", "MINIMIZE", "MAXIMIZE")
_STATES = ("RUNNING", "COMPLETE", "PRUNED", "FAIL", "WAITING")
_FINISHED = ("COMPLETE", "PRUNED", "FAIL")

Operation = dict[str, Any]


@dataclass
class _Study:
    name: str
    directions: list[str]
    attributes: dict[str, Any] = field(default_factory=dict)
    user_attributes: dict[str, Any] = field(default_factory=dict)
    trials: list[StoredTrial] = field(default_factory=list)
    distributions: Distributions = field(default_factory=Distributions)


def read_journal(path: Path, study: str | None = None) -> StoredStudy:
    """A study out of a journal file."""
    replay, notes = _Replay(), []
    for number, operation in _operations(path):
        if operation is None:
            notes.append(f"The last line of '{path.name}' is cut off and was left out.")
            break
        try:
            replay.apply(operation)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as problem:
            raise SourceError(
                f"Line {number} of '{path}' is not an operation of an Optuna journal; "
                "restore the file from a backup."
            ) from problem
    studies = {s.name: s for s in replay.studies.values()}
    chosen = studies[choose(studies, study, f"the journal '{path}'")]
    return StoredStudy(
        chosen.name,
        chosen.directions,
        metric_names(chosen.attributes),
        chosen.distributions,
        chosen.trials,
        notes,
        chosen.user_attributes.get(SPACE),
    )


def _operations(path: Path) -> Iterator[tuple[int, Operation | None]]:
    """Line numbers and operations; None for a last line that was cut off."""
    broken: int | None = None
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            if broken is not None:
                break
            try:
                operation = json.loads(line)
            except ValueError:
                broken = number
                continue
            yield number, operation
        else:
            if broken is not None:
                yield broken, None
            return
    raise SourceError(
        f"Line {broken} of '{path}' is not JSON; restore the journal from a backup or remove "
        "that line from a copy."
    )


class _Replay:
    """The rules by which Optuna's workers agree on one story: late operations are void."""

    def __init__(self) -> None:
        self.studies: dict[int, _Study] = {}
        self._created = 0
        self._trials: list[tuple[int, StoredTrial]] = []  # with the study's id
        self._rules: tuple[Callable[[Operation], None], ...] = (
            self._create_study,
            self._delete_study,
            self._set_study_user_attribute,
            self._set_study_attribute,
            self._create_trial,
            self._set_param,
            self._set_state,
            self._set_step,
            lambda operation: self._set_attribute(operation["trial_id"], operation["user_attr"]),
            lambda operation: self._set_attribute(operation["trial_id"], operation["system_attr"]),
        )

    def apply(self, operation: Operation) -> None:
        code = operation["op_code"]
        if code < len(self._rules):  # later codes concern other programs
            self._rules[code](operation)

    def _create_study(self, operation: Operation) -> None:
        name = operation["study_name"]
        if any(study.name == name for study in self.studies.values()):
            return
        directions = [_DIRECTIONS[d] for d in operation["directions"]]
        self.studies[self._created] = _Study(name, directions)
        self._created += 1

    def _delete_study(self, operation: Operation) -> None:
        self.studies.pop(operation["study_id"], None)

    def _set_study_user_attribute(self, operation: Operation) -> None:
        if operation["study_id"] in self.studies:
            self.studies[operation["study_id"]].user_attributes |= operation["user_attr"]

    def _set_study_attribute(self, operation: Operation) -> None:
        if operation["study_id"] in self.studies:
            self.studies[operation["study_id"]].attributes |= operation["system_attr"]

    def _create_trial(self, operation: Operation) -> None:
        study = self.studies.get(operation["study_id"])
        if study is None:
            return
        value, values = operation.get("value"), operation.get("values")
        texts = operation.get("distributions", {})
        trial = StoredTrial(
            len(study.trials),
            _STATES[operation.get("state", 0)],
            seconds(operation.get("datetime_start")),
            seconds(operation.get("datetime_complete")),
            values if value is None else [value],
            max(map(int, operation.get("intermediate_values", {})), default=None),
            {
                name: study.distributions.value(name, texts[name], stored)
                for name, stored in operation.get("params", {}).items()
            },
            operation.get("user_attrs", {}) | operation.get("system_attrs", {}),
        )
        study.trials.append(trial)
        self._trials.append((operation["study_id"], trial))

    def _open(self, trial_id: int) -> StoredTrial | None:
        """The trial, unless it does not exist or is finished."""
        if not 0 <= trial_id < len(self._trials):
            return None
        trial = self._trials[trial_id][1]
        return None if trial.state in _FINISHED else trial

    def _set_param(self, operation: Operation) -> None:
        trial = self._open(operation["trial_id"])
        study = self.studies.get(self._trials[operation["trial_id"]][0]) if trial else None
        if trial and study:
            name, stored = operation["param_name"], operation["param_value_internal"]
            trial.params[name] = study.distributions.value(name, operation["distribution"], stored)

    def _set_state(self, operation: Operation) -> None:
        trial = self._open(operation["trial_id"])
        if trial is None:
            return
        trial.state = _STATES[operation["state"]]
        if operation.get("values") is not None:
            trial.values = operation["values"]
        trial.started = seconds(operation.get("datetime_start")) or trial.started
        trial.ended = seconds(operation.get("datetime_complete")) or trial.ended

    def _set_step(self, operation: Operation) -> None:
        trial = self._open(operation["trial_id"])
        if trial is not None:
            trial.last_step = max(trial.last_step or 0, int(operation["step"]))

    def _set_attribute(self, trial_id: int, attribute: dict[str, Any]) -> None:
        trial = self._open(trial_id)
        if trial is not None:
            trial.attributes |= attribute
