"""What a table says of its trials beside their values: number, state, budget, seed, times."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hyperlens.importers.tables.cells import is_missing
from hyperlens.importers.values import one_line, seconds, states
from hyperlens.runs.history import State

if TYPE_CHECKING:
    from pandas import DataFrame

_STATES = states(
    complete="complete completed success ok done finished",
    pruned="pruned stopped early_stopped",
    failed="fail failed failure error crashed crash timeout memout memoryout aborted terminated "
    "killed preempted unknown",
    running="running waiting pending queued scheduled not_evaluated",
)
KNOWN = {
    "number": ("number", "trial", "trial_number", "config_id"),
    "state": ("state", "status"),
    "budget": ("budget", "n_resources"),
    "seed": ("seed", "trial_seed"),
    "instance": ("instance",),
    "started": ("started", "start_time", "starttime", "datetime_start", "created", "created_at"),
    "ended": ("ended", "end_time", "endtime", "datetime_complete", "reported_at"),
    "proposer": ("proposer",),
    "reason": ("reason", "exception"),
}


def read_details(
    frame: DataFrame, columns: Mapping[str, str]
) -> tuple[dict[str, list[Any]], set[str], list[str]]:
    """Fields of trials out of the columns that hold them, the columns used, and remarks."""
    details: dict[str, list[Any]] = {"number": list(range(len(frame)))}
    used, remarks = set(), []
    for name, column in columns.items():
        cells = frame[column]
        texts = [None if gone else c for c, gone in zip(cells.tolist(), cells.isna(), strict=True)]
        try:
            details[name] = _READERS[name](texts)
            used.add(column)
        except (TypeError, ValueError, OverflowError) as problem:
            remarks.append(
                f"The column '{column}' was ignored, since it is not a trial's {name} "
                f"({one_line(problem)})."
            )
    return details, used, remarks


def _each(read: Callable[[Any], Any]) -> Callable[[Sequence[Any]], list[Any]]:
    return lambda cells: [None if is_missing(cell) else read(cell) for cell in cells]


def _trial_numbers(cells: Sequence[Any]) -> list[int]:
    numbers = [int(float(cell)) for cell in cells]
    if len(set(numbers)) < len(numbers):  # a configuration evaluated again is another trial
        return list(range(len(numbers)))
    return numbers


def _states(cells: Sequence[Any]) -> list[State]:
    """A trial is complete unless the column says otherwise."""
    words = ["" if is_missing(c) else str(c).rsplit(".", 1)[-1].strip().lower() for c in cells]
    if unknown := sorted(set(words) - _STATES.keys() - {""}):
        raise ValueError(f"unknown word {unknown[0]!r}")
    return [_STATES.get(word, State.COMPLETE) for word in words]


def _budget(cell: Any) -> float:
    if not math.isfinite(budget := float(cell)):
        raise ValueError("not a finite number")
    return budget


def _moment(cell: Any) -> float | None:
    try:
        return float(cell)
    except (TypeError, ValueError):
        return seconds(cell)


_READERS: dict[str, Callable[[Sequence[Any]], list[Any]]] = {
    "number": _trial_numbers,
    "state": _states,
    "budget": _each(_budget),
    "seed": _each(lambda cell: int(float(cell))),
    **dict.fromkeys(("started", "ended"), _each(_moment)),
    **dict.fromkeys(("instance", "proposer", "reason"), _each(str)),
}
