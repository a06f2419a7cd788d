"""How the time that was given is spent: what is left of it, and what one training will take.

An evaluation trains once a split on `part` of the training rows (looks.py). What a configuration takes
on more rows than it was seen on follows from its largest part so far, and of one that was never seen
from others of its model: seconds grow like (OVERHEAD + rows)^GROWTH.

Symbols
    part       of the training rows, 0 < part <= 1
    seconds    of one training, prediction of the held-out rows included
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import numpy as np

from hyperlens.cash.measuring.looks import look

GROWTH = 1.1  # boosting sorts, neighbours compare: a little more than proportional
OVERHEAD = 2000  # rows that take as long as what does not grow: reading, encoding, starting
ALL_ROWS = 1.25  # the last training has the held-out rows too
KEPT_BACK = 0.02  # of the time, for what comes beside searching and training
LEAST_BACK = 0.3  # seconds, for the same
MOST_BACK = 0.35  # of the time may be kept for the last training
BAGS = 10  # more trainings of each, without a part of the rows (refit.py)
LEAST_BAGS, MOST_BAGS = 0.03, 0.15  # of the time may be kept for these
GRACE = 0.02  # of the time: what takes less is trained whatever is left
DOUBT = 1.3  # machines are not equally fast all the time


class Pace:
    """The clock of one search. `seconds` None is no limit."""

    def __init__(
        self,
        seconds: float | None,
        splits: int = 1,
        rows: int = 1000,
        began: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.seconds, self.splits, self.rows, self.clock = seconds, splits, rows, clock
        self.began = clock() if began is None else began
        self._seen: dict[tuple[str, str], dict[float, float]] = {}  # model, configuration

    @property
    def left(self) -> float:
        """Seconds until all must be done, with a little kept back."""
        if self.seconds is None:
            return float("inf")
        back = max(LEAST_BACK, KEPT_BACK * self.seconds)
        return self.seconds - back - (self.clock() - self.began)

    @property
    def grace(self) -> float:
        """Seconds of one training for which there is always time."""
        return GRACE * (self.seconds or 0.0)

    def note(self, model: str, key: str, budget: float, seconds: float) -> None:
        """An evaluation with this budget took so long."""
        part, splits = look(budget, self.splits)
        self.trained(model, key, part, seconds / splits)

    def trained(self, model: str, key: str, part: float, seconds: float) -> None:
        """One training on a part of the rows took so long."""
        self._seen.setdefault((model, key), {})[part] = seconds

    def training(self, model: str, key: str, part: float) -> float | None:
        """Seconds of one training on a part of the rows; None where nothing is known of the model."""
        own = self._seen.get((model, key))
        if own:
            return self._grown(own, part)
        others = [
            self._grown(seen, part) for (name, _), seen in self._seen.items() if name == model
        ]
        return float(np.median(others)) if others else None

    def evaluation(self, model: str, key: str, budget: float) -> float:
        """Seconds of an evaluation; nothing where nothing is known."""
        part, splits = look(budget, self.splits)
        return splits * (self.training(model, key, part) or 0.0)

    def for_the_end(self, chosen: Iterable[tuple[str, str]]) -> float:
        """Seconds to keep for the last training of these configurations, on all rows and again without
        a part of them."""
        if self.seconds is None:
            return 0.0
        each = (self.training(model, key, 1.0) or 0.0 for model, key in chosen)
        once = DOUBT * ALL_ROWS * sum(each)
        more = min(max(BAGS * once, LEAST_BAGS * self.seconds), MOST_BAGS * self.seconds)
        return min(once + more, MOST_BACK * self.seconds)

    def affordable(self, model: str, key: str, seconds: float) -> float:
        """The largest part of all rows, up to 1, on which a training ends within so many seconds."""
        whole = ALL_ROWS * (self.training(model, key, 1.0) or 0.0)
        if whole <= max(seconds, self.grace):  # a process that takes longer is ended
            return 1.0
        most = (
            max(0.0, seconds / (DOUBT * whole)) ** (1 / GROWTH) * (OVERHEAD + self.rows) - OVERHEAD
        )
        return float(max(0.0, most / self.rows))

    def _grown(self, seen: dict[float, float], part: float) -> float:
        """From the largest part seen to another one."""
        if part in seen:
            return seen[part]
        largest = max(seen)
        ratio = (OVERHEAD + part * self.rows) / (OVERHEAD + largest * self.rows)
        return float(seen[largest] * ratio**GROWTH)
