"""OSS Vizier: the SQLite file of its service, with studies and trials as protocol buffers.

Fields are by their numbers in Vizier's `study.proto`: of a study its name and specification (metrics
with their goals, parameters with their conditions), of a trial its state, parameters, measurements and
times. Measurements by step are the trial's curve.
"""

import math
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hyperlens.errors import SourceError
from hyperlens.importers.optuna.sqlite_snapshot import described, snapshot
from hyperlens.importers.optuna.stored_study import choose
from hyperlens.importers.raw_run import RawRun
from hyperlens.importers.read_options import ReadOptions
from hyperlens.importers.tools.wire import (
    Message,
    doubles,
    integers,
    message,
    messages,
    text,
    texts,
)
from hyperlens.runs.curve import Curve
from hyperlens.runs.history import Objective, State, Trial
from hyperlens.spaces.clauses import Clauses, one_of
from hyperlens.spaces.parameter import Kind, Parameter, apart
from hyperlens.spaces.space import Space

_REQUESTED, _ACTIVE, _STOPPING, _SUCCEEDED, _INFEASIBLE = 1, 2, 3, 4, 5
_MINIMIZE = 2
_LOG = (2, 3)  # of the scales; the reversed one is no logarithm of ours
_BOOLEAN, _INTEGER = 1, 2  # what a user's own type of a value may be


def recognised(start: bytes) -> bool:
    """Whether a SQLite file that begins so is Vizier's: no other has trials that are serialized."""
    return b"serialized_trial" in start


def read(path: Path, options: ReadOptions) -> RawRun:
    try:
        with closing(snapshot(path)) as database:
            rows = database.execute(
                "SELECT study_name, owner_id, study_id, serialized_study FROM studies ORDER BY rowid"
            ).fetchall()
            studies = {str(row[0]): row for row in rows}
            short = {str(row[2]): str(row[0]) for row in rows}  # the part that a user gave
            asked = short.get(options.study, options.study) if options.study else None
            _, owner, study, content = studies[choose(studies, asked, f"the database '{path}'")]
            trials = database.execute(
                "SELECT serialized_trial FROM trials WHERE owner_id = ? AND study_id = ? "
                "ORDER BY trial_id",
                (owner, study),
            ).fetchall()
    except sqlite3.Error as problem:
        raise SourceError(described(path, problem)) from problem
    specification = _Specification.of(message(_bytes(content)))
    return RawRun(
        f"Vizier study {study}",
        specification.objectives,
        [_trial(k, message(_bytes(row)), specification) for k, (row,) in enumerate(trials)],
        None if options.space is not None else specification.space,
    )


def _bytes(content: Any) -> bytes:
    return content if isinstance(content, bytes) else str(content).encode("latin-1")


@dataclass
class _Specification:
    """What a study says of itself."""

    objectives: list[Objective] = field(default_factory=list)
    declared: dict[str, Parameter | tuple[Any]] = field(default_factory=dict)
    clauses: dict[str, Clauses] = field(default_factory=dict)
    kinds: dict[str, int] = field(default_factory=dict)  # a user's own type of a parameter

    @staticmethod
    def of(study: Message) -> "_Specification":
        told = _Specification()
        (content,) = messages(study.get(3)) or [{}]
        for metric in messages(content.get(1)):
            goal = integers(metric.get(2)) or [1]
            told.objectives.append(Objective(text(metric.get(1)), goal[0] != _MINIMIZE))
        for parameter in messages(content.get(2)):
            told.add(parameter)
        if not told.objectives:
            raise ValueError("a study without metrics")
        return told

    def add(self, entry: Message, above: Clauses = (), depth: int = 0) -> None:
        """A parameter, and those that its values make active."""
        name = text(entry.get(1))
        self.kinds[name] = (integers(entry.get(7)) or [0])[0]
        if name in self.declared:  # the same one under another value of its parent
            self.clauses[name] = (*self.clauses.get(name, ()), *above)
        else:
            self.declared[name] = _parameter(name, entry, self.kinds[name])
            if above:
                self.clauses[name] = above
        for child in messages(entry.get(10)) if depth < 20 else ():
            values = [
                *(
                    _user(v, self.kinds[name])
                    for c in messages(child.get(2))
                    for v in doubles(c.get(1))
                ),
                *(v for c in messages(child.get(3)) for v in integers(c.get(1))),
                *(
                    _user(v, self.kinds[name])
                    for c in messages(child.get(4))
                    for v in texts(c.get(1))
                ),
            ]
            for inner in messages(child.get(1)):
                if values:
                    self.add(inner, ((one_of(name, values),),), depth + 1)

    @property
    def space(self) -> Space | None:
        parameters, constants = apart(self.declared)
        names = {p.name for p in parameters}
        clauses = {n: c for n, c in self.clauses.items() if n in names}
        parents = {literal[0] for c in clauses.values() for clause in c for literal in clause}
        known = parameters and parents <= names
        return Space.of(parameters, clauses, constants) if known else None


def _parameter(name: str, entry: Message, kind: int) -> Parameter | tuple[Any]:
    log = (integers(entry.get(6)) or [0])[0] in _LOG[:1]
    for double in messages(entry.get(2)):
        low, high = ((doubles(double.get(k)) or [0.0])[0] for k in (1, 2))
        return _range(name, "float", low, high, log)
    for whole in messages(entry.get(3)):
        low, high = (float((integers(whole.get(k)) or [0])[0]) for k in (1, 2))
        return _range(name, "integer", low, high, log)
    choices: Sequence[Any] = [
        _user(v, kind) for c in messages(entry.get(4)) for v in texts(c.get(1))
    ]
    numbers = [_user(v, kind) for c in messages(entry.get(5)) for v in doubles(c.get(1))]
    choices = tuple(dict.fromkeys(choices or sorted(numbers)))
    if len(choices) < 2:
        return tuple(choices[:1]) or ("",)
    return Parameter(name, "ordinal" if numbers else "categorical", choices=choices)


def _range(name: str, kind: Kind, low: float, high: float, log: bool) -> Parameter | tuple[Any]:
    if low >= high:
        return (int(low) if kind == "integer" else low,)
    return Parameter(name, kind, low, high, log and low > 0)


def _user(value: Any, kind: int) -> Any:
    """A value in the type that the user sees."""
    if kind == _BOOLEAN and value in ("True", "False"):
        return value == "True"
    if kind == _INTEGER and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _trial(position: int, trial: Message, told: _Specification) -> Trial:
    names = [o.name for o in told.objectives]
    final = _measured(messages(trial.get(5)), names)
    state = (integers(trial.get(3)) or [0])[0]
    steps = [
        (float(step[0]), _measured([m], names))
        for m in messages(trial.get(6))
        if (step := integers(m.get(2)))
    ]
    ended = state in (_SUCCEEDED, _INFEASIBLE)
    return Trial(
        position,
        {text(p.get(1)): _value(p, told) for p in messages(trial.get(4))},
        final,
        State.FAILED if state == _INFEASIBLE else State.COMPLETE if ended else State.RUNNING,
        started=_moment(trial.get(7)),
        ended=_moment(trial.get(8)) if ended else None,
        reason=text(trial.get(10)) or None,
        curve=Curve.of(steps),
    )


def _measured(measurements: Sequence[Message], names: Sequence[str]) -> tuple[float, ...]:
    """Each metric in the last of some measurements."""
    known: dict[str, float] = {}
    for metric in messages(measurements[-1].get(3)) if measurements else ():
        known[text(metric.get(1))] = (doubles(metric.get(2)) or [0.0])[0]  # 0 is not written
    return tuple(known.get(name, math.nan) for name in names)


def _value(parameter: Message, told: _Specification) -> Any:
    """A value of a parameter: whole where the space says so, for all numbers are written as floats."""
    name = text(parameter.get(1))
    (value,) = messages(parameter.get(2)) or [{}]
    if 3 in value:
        return _user(text(value.get(3)), told.kinds.get(name, 0))
    number = (doubles(value.get(2)) or [0.0])[0]
    declared = told.declared.get(name)
    if isinstance(declared, Parameter) and declared.kind == "integer":
        return int(number)
    return _user(number, told.kinds.get(name, 0))


def _moment(stamp: list[int | bytes] | None) -> float | None:
    """Seconds since 1970 of a timestamp."""
    for part in messages(stamp):
        seconds, nanos = ((integers(part.get(k)) or [0])[0] for k in (1, 2))
        return seconds + nanos / 1e9 if 0 < seconds < 1e12 else None
    return None
