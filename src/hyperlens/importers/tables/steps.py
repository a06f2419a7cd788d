"""Tables of learning curves: a row for each step of a trial.

Rows of one trial have the same cell in a column that names trials, or else the same parameters, seed and
instance. They become one trial: its last step is the trial, all of them are its curve.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hyperlens.errors import SourceError, listed
from hyperlens.importers.read_options import ReadOptions
from hyperlens.importers.tables.cells import numbers
from hyperlens.importers.tables.columns import Roles
from hyperlens.importers.tables.details import KNOWN
from hyperlens.runs.curve import Curve
from hyperlens.spaces.space import Space

if TYPE_CHECKING:
    from pandas import DataFrame

_USUAL = ("step", "epoch", "iteration", "training_iteration")
_TRIALS = ("trial_id", "run_id", "run id", *KNOWN["number"], "id")


@dataclass(frozen=True)
class Steps:
    """The column of steps, the step of each row, and the rows of each trial by step."""

    column: str
    at: Sequence[float]
    trials: Sequence[Sequence[int]]
    notes: tuple[str, ...] = ()

    @property
    def ends(self) -> list[int]:
        """The last row of each trial."""
        return [rows[-1] for rows in self.trials]

    def curves(self, costs: Sequence[Sequence[float]]) -> list[Curve | None]:
        """The curve of each trial, out of the columns of costs."""
        reports = list(zip(self.at, zip(*costs, strict=True), strict=True))
        return [Curve.of(reports[row] for row in rows) for rows in self.trials]


def find_steps(
    frame: DataFrame, roles: Roles, space: Space | None, options: ReadOptions, what: str
) -> Steps | None:
    """The steps that the user names, or that a column has by its name; None where rows are trials."""
    columns = [str(name) for name in frame.columns]
    if options.step is not None:
        if options.step not in columns:
            raise SourceError(
                f"{what} has no column '{options.step}' for steps; choose one of {listed(columns)} "
                "with --step COLUMN (step= in Python)."
            )
        return _asked(frame, roles, options.step, what)
    known = {*roles.costs, *(options.parameters or ()), *(() if space is None else space.names)}
    lower = {c.lower(): c for c in reversed(columns) if c not in known}
    for name in _USUAL:
        if name in lower and (steps := _recognised(frame, roles, lower[name])) is not None:
            return steps
    return None


def _asked(frame: DataFrame, roles: Roles, column: str, what: str) -> Steps:
    if column in roles.costs:
        raise SourceError(
            f"'{column}' is the objective; name another column with --step COLUMN (step= in Python)."
        )
    steps = Steps(
        column, numbers(frame[column], column, _bad_step), _by_trial(frame, roles, column)
    )
    if (twice := _twice(steps)) is not None:
        raise SourceError(
            f"{what} has two rows of one trial at {column} {twice:g}; add a column 'trial' that tells "
            "trials apart."
        )
    return _ordered(steps)


def _recognised(frame: DataFrame, roles: Roles, column: str) -> Steps | None:
    """Steps, where most rows share a trial with others and none of these is at the same step."""
    if not set(roles.parameters) - {column}:
        return None
    with suppress(SourceError):
        steps = Steps(
            column, numbers(frame[column], column, _bad_step), _by_trial(frame, roles, column)
        )
        single = sum(len(rows) == 1 for rows in steps.trials)
        if 2 * single <= len(frame) and steps.trials and _twice(steps) is None:
            note = (
                f"The column '{column}' is taken as the step of learning curves: {len(frame)} rows are "
                f"{len(steps.trials)} trials; make it a parameter with --parameters A,B (parameters= in "
                "Python), or name another with --step COLUMN (step= in Python)."
            )
            return _ordered(steps, note)
    return None


def _by_trial(frame: DataFrame, roles: Roles, step: str) -> list[list[int]]:
    """Rows of each trial, in the order in which trials begin."""
    lower = {str(c).lower(): c for c in reversed(list(frame.columns)) if c not in roles.parameters}
    named = next((lower[name] for name in _TRIALS if name in lower and lower[name] != step), None)
    columns = [c for c in roles.parameters if c != step]
    columns += [roles.details[name] for name in ("seed", "instance") if name in roles.details]
    groups: dict[tuple[Any, ...], list[int]] = {}
    cells = frame[[named] if named is not None else columns].astype(str).to_numpy()
    for row, key in enumerate(map(tuple, cells.tolist())):
        groups.setdefault(key, []).append(row)
    return list(groups.values())


def _twice(steps: Steps) -> float | None:
    """A step that one trial has twice, or that is missing."""
    for rows in steps.trials:
        (step, count) = Counter(steps.at[row] for row in rows).most_common(1)[0]
        if count > 1:
            return step
    return None


def _ordered(steps: Steps, *notes: str) -> Steps:
    trials = [sorted(rows, key=lambda row: steps.at[row]) for rows in steps.trials]
    return Steps(steps.column, steps.at, trials, notes)


def _bad_step(column: str, row: int, cell: Any) -> SourceError:
    return SourceError(
        f"The step '{column}' is {cell!r} in row {row}, which is not a number; correct the cell or name "
        "another column with --step COLUMN (step= in Python)."
    )
