"""What a table says of its trials beside their values: number, state, budget, seed, times."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hyperlens.importers.tables.cells import is_missing
from hyperlens.importers.values import one_line, seconds
from hyperlens.runs.history import State

if TYPE_CHECKING:
    from pandas import DataFrame

_STATES = {
    **dict.fromkeys(("complete", "completed", "success", "ok", "done", "finished"), State.COMPLETE),
    **dict.fromkeys(("pruned", "stopped", "early_stopped"), State.PRUNED),
    **dict.fromkeys(("fail", "failed", "failure", "error", "crashed", "crash"), State.FAILED),
    **dict.fromkeys(("timeout", "memout", "memoryout", "aborted", "terminated"), State.FAILED),
    **dict.fromkeys(("killed", "preempted"), State.FAILED),
    **dict.fromkeys(
        ("running", "waiting", "pending", "queued", "scheduled", "not_evaluated"), State.RUNNING
    ),
}
KNOWN = {
    "number": ("number", "trial", "trial_number", "config_id"),
    "state": ("state", "status"),
    "budget": ("budget", "n_resources"),
    "seed": ("seed",),
    "instance": ("instance",),
    "started": ("started", "start_time", "starttime", "datetime_start", "created"),
    "ended": ("ended", "end_time", "endtime", "datetime_complete"),
    "proposer": ("proposer",),
    "reason": ("reason",),
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


def _whole_numbers(cells: Sequence[Any]) -> list[int | None]:
    return [None if is_missing(cell) else int(float(cell)) for cell in cells]


def _trial_numbers(cells: Sequence[Any]) -> list[int]:
    numbers = [int(float(cell)) for cell in cells]
    if len(set(numbers)) < len(numbers):  # a configuration evaluated again is another trial
        return list(range(len(numbers)))
    return numbers


def _states(cells: Sequence[Any]) -> list[State]:
    """A trial is complete unless the column says otherwise."""
    words = ["" if is_missing(c) else str(c).rsplit(".", 1)[-1].strip().lower() for c in cells]
    unknown = sorted(set(words) - _STATES.keys() - {""})
    if unknown:
        raise ValueError(f"unknown word {unknown[0]!r}")
    return [_STATES.get(word, State.COMPLETE) for word in words]


def _budgets(cells: Sequence[Any]) -> list[float | None]:
    budgets = [None if is_missing(cell) else float(cell) for cell in cells]
    if any(budget is not None and not math.isfinite(budget) for budget in budgets):
        raise ValueError("not a finite number")
    return budgets


def _texts(cells: Sequence[Any]) -> list[str | None]:
    return [None if is_missing(cell) else str(cell) for cell in cells]


def _moments(cells: Sequence[Any]) -> list[float | None]:
    return [None if is_missing(cell) else _moment(cell) for cell in cells]


def _moment(cell: Any) -> float | None:
    try:
        return float(cell)
    except (TypeError, ValueError):
        return seconds(cell)


_READERS: dict[str, Callable[[Sequence[Any]], list[Any]]] = {
    "number": _trial_numbers,
    "state": _states,
    "budget": _budgets,
    "seed": _whole_numbers,
    "instance": _texts,
    "started": _moments,
    "ended": _moments,
    "proposer": _texts,
    "reason": _texts,
}
