"""What one reading of a study leaves for the next, which then reads only what is new.

Optuna lets nobody change a trial that has finished. So what may differ from last time are the trials
that were not finished then, and those that came later.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hyperlens.importers.optuna.parameter_ranges import Distributions
from hyperlens.importers.optuna.stored_study import StoredTrial

FINISHED = ("COMPLETE", "PRUNED", "FAIL")
MOST_OPEN = 500  # trials that are asked for one by one; where more are open, all is read again


@dataclass
class Followed:
    """A study that is read again and again; `past` is what its reader left there, None at first."""

    past: Any = None


@dataclass
class Rows:
    """What was read of a study in a database, of which `of` says which it was.

    `trials` are by their ids there, `first` are the lowest ids of each parameter, `ends` the first and
    the last finished trial as the database wrote them: where these are the same, so is the study.
    """

    of: Any = None
    trials: dict[int, StoredTrial] = field(default_factory=dict)
    distributions: Distributions = field(default_factory=Distributions)
    first: dict[str, int] = field(default_factory=dict)
    ends: dict[int, tuple[Any, ...]] = field(default_factory=dict)

    def still(self, ask: Callable[[str], Any], study: int) -> bool:
        """Is everything that was read before still there, and unchanged where it had finished?"""
        if not self.ends or len(self._open) > MOST_OPEN:
            return False
        ((count,),) = ask(
            f"SELECT COUNT(*) FROM trials WHERE study_id = {study} AND trial_id <= {self._last}"
        )
        ids = ", ".join(map(str, self.ends))
        rows = ask(
            "SELECT trial_id, state, datetime_start, datetime_complete FROM trials "
            f"WHERE study_id = {study} AND trial_id IN ({ids})"
        )
        found = {int(trial): tuple(row) for trial, *row in rows}
        return count == len(self.trials) and found == self.ends

    def wanted(self, study: int) -> str:
        """Which trials are to be read now: a condition in SQL."""
        if not self.trials:
            return f"study_id = {study}"
        ids = "".join(f", {trial}" for trial in self._open)
        return f"study_id = {study} AND (trial_id > {self._last} OR trial_id IN (-1{ids}))"

    def note_ends(self, rows: dict[int, tuple[Any, ...]]) -> None:
        """Keep the first and the last finished of all rows that were ever read."""
        finished = self.ends | {k: row for k, row in rows.items() if str(row[0]) in FINISHED}
        self.ends = {k: finished[k] for k in {min(finished), max(finished)}} if finished else {}

    @property
    def _last(self) -> int:
        return max(self.trials, default=-1)

    @property
    def _open(self) -> list[int]:
        return [k for k, trial in self.trials.items() if trial.state not in FINISHED]
