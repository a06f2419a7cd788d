"""When the trials ran: how many at once, and how they ended as time went on."""

import heapq
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.record import Record
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History, State
from hyperlens.spaces.cube import FloatArray, IntArray
from hyperlens.words import duration, percent

BINS = 60


@dataclass(frozen=True)
class Timeline(Record):
    """Start and end of each evaluation that recorded both, in seconds since the first start.

    A trial is one evaluation, or one for each rung of a race.

    `lane` is the lowest row in which a trial overlaps no other: as many lanes as ran at once.
    `finished[state]` counts the trials that ended within each of the stretches between `edges`;
    `running` is how many ran at once in each, on average.
    """

    number: IntArray
    start: FloatArray
    end: FloatArray
    lane: IntArray
    state: tuple[str, ...]
    edges: FloatArray
    finished: dict[str, IntArray]
    running: FloatArray
    notes: tuple[str, ...]

    @property
    def lanes(self) -> int:
        """How many trials ran at once at the most."""
        return int(self.lane.max()) + 1

    @property
    def span(self) -> float:
        """Seconds from the first start to the last end."""
        return float(self.end.max())

    @property
    def used(self) -> float:
        """Part of the time of all lanes in which a trial ran."""
        whole = self.span * self.lanes
        return float((self.end - self.start).sum() / whole) if whole > 0 else math.nan

    @property
    def sentence(self) -> str:
        """How long it took, how many trials ran at once, and how busy the machine was."""
        once = "one at a time" if self.lanes == 1 else f"up to {self.lanes} at once"
        text = f"The trials ran for {duration(self.span)}, {once}"
        if math.isfinite(self.used):
            text += f"; {percent(self.used)} of that time was spent in trials"
        slowest = int(np.argmax(self.end - self.start))
        longest = float(self.end[slowest] - self.start[slowest])
        middle = float(np.median(self.end - self.start))
        return (
            f"{text}. The median trial took {duration(middle)}, the longest, trial "
            f"{self.number[slowest]}, {duration(longest)}."
        )

    def _columns(self) -> dict[str, Any]:
        return self._fields("number", "start", "end", "lane", "state")


@of_a_run
def timeline(history: History) -> Timeline:
    """When each trial ran, as far as the run recorded it."""
    timed = [(start, end, t) for t in history.trials for start, end in t.spans]
    if not timed:
        raise AnalysisError("This run recorded no times, so no timeline can be drawn.")
    timed.sort(key=lambda row: (row[0], row[2].number))
    first = timed[0][0]
    start = np.array([s - first for s, _, _ in timed], dtype=float)
    end = np.array([e - first for _, e, _ in timed], dtype=float)
    state = tuple(t.state.value for *_, t in timed)
    edges = np.linspace(0.0, max(float(end.max()), 1e-9), BINS + 1)
    last = np.array([(s, e) == t.spans[-1] for s, e, t in timed])  # where the trial ended
    left = sum(not t.spans for t in history.trials)
    return Timeline(
        number=np.array([t.number for *_, t in timed], dtype=np.int64),
        start=start,
        end=end,
        lane=_lanes(start, end),
        state=state,
        edges=edges,
        finished={
            s.value: np.histogram(end[last & [x == s for x in state]], edges)[0].astype(np.int64)
            for s in State
            if s.value in state
        },
        running=_running(start, end, edges),
        notes=(f"{left} of {len(history.trials)} trials recorded no times.",) if left else (),
    )


def _lanes(start: FloatArray, end: FloatArray) -> IntArray:
    """The lowest free lane of each trial, in order of their starts."""
    free: list[int] = []
    busy: list[tuple[float, int]] = []  # end, lane
    lanes = []
    for begins, ends in zip(start.tolist(), end.tolist(), strict=True):
        while busy and busy[0][0] <= begins:
            heapq.heappush(free, heapq.heappop(busy)[1])
        lane = heapq.heappop(free) if free else len(busy)
        heapq.heappush(busy, (ends, lane))
        lanes.append(lane)
    return np.array(lanes, dtype=np.int64)


def _running(start: FloatArray, end: FloatArray, edges: FloatArray) -> FloatArray:
    """Mean number of trials that ran at once between each two edges.

    The time spent before t by all trials is the sum of min(t, end) - min(t, start).
    """
    order_start, order_end = np.sort(start), np.sort(end)

    def before(sorted_times: FloatArray) -> FloatArray:
        sums = np.concatenate([[0.0], np.cumsum(sorted_times)])
        k = np.searchsorted(sorted_times, edges, side="right")
        return np.asarray(sums[k] + edges * (len(sorted_times) - k))

    spent = before(order_end) - before(order_start)
    return np.asarray(np.diff(spent) / np.diff(edges))
