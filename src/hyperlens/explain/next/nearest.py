"""One trial among the others: its place, and the nearest trial that is better.

The distance of two trials is the mean over all parameters of how far apart they are on the parameter's
own axis: 0 to 1 for numbers, 0 or 1 for choices, 1 where only one of the two has the parameter at all
(Gower 1971).
"""

from collections.abc import Sequence

import numpy as np
from scipy.spatial.distance import cdist

from hyperlens.explain.run.trials import Trials
from hyperlens.spaces.cube import BoolArray, FloatArray, IntArray
from hyperlens.spaces.parameter import is_number
from hyperlens.words import article, number

MOST_NAMED = 4  # parameters in which two trials differ


class _Places:
    """Where all trials lie, and those that one may be near to, by the kind of the parameters."""

    def __init__(self, places: FloatArray, others: IntArray, choices: BoolArray) -> None:
        self.gaps = np.isnan(places).any(axis=0)
        self.choices = choices
        self.plain = ~self.gaps & ~choices
        self.of, self.others = places, places[others]
        self.numbers = np.ascontiguousarray(self.others[:, self.plain])

    def distances(self, row: int, first: int) -> FloatArray:
        """Of a trial to so many first ones of the others, times the number of parameters."""
        own = self.of[row]
        total = np.zeros(first)
        if self.plain.any():
            total += cdist(own[None, self.plain], self.numbers[:first], "cityblock")[0]
        for j in np.flatnonzero(self.choices & ~self.gaps):
            total += self.others[:first, j] != own[j]
        for j in np.flatnonzero(self.gaps):
            other = self.others[:first, j]
            apart = other != own[j] if self.choices[j] else np.abs(other - own[j])
            lacking = np.isnan(other)
            total += ~lacking if np.isnan(own[j]) else np.where(lacking, 1.0, apart)
        return total


def nearest_better(record: Trials, rows: Sequence[int]) -> list[int | None]:
    """For each of these rows the row of the nearest analysed trial with a better cost, of two alike the
    better; limits are to be kept. None for the best, any analysed one is better than a trial without
    a cost."""
    useful = record.analysed & (np.array(record.kept) if record.kept else True)
    lost = np.where(
        np.isfinite(record.cost), -record.cost if record.maximize else record.cost, np.inf
    )
    candidates = np.flatnonzero(useful)
    candidates = candidates[np.argsort(lost[candidates], kind="stable")]
    ranked, places = lost[candidates], _Places(record.places, candidates, _choices(record))
    found: list[int | None] = []
    for row in rows:
        own = lost[row] if useful[row] or not record.kept else np.inf
        better = int(np.searchsorted(ranked, own))
        nearest = int(np.argmin(places.distances(row, better))) if better else None
        found.append(None if nearest is None else int(candidates[nearest]))
    return found


def _choices(record: Trials) -> BoolArray:
    """Which parameters have choices without an order."""
    return np.array(
        [not all(v is None or is_number(v) for v in values) for values in record.values], dtype=bool
    )


def said_of(record: Trials, row: int, better: int | None) -> str:
    """What became of a trial, its place, and what the nearest better one did differently."""
    cost = float(record.cost[row])
    name = f"Trial {record.number[row]}"
    if not np.isfinite(cost):
        reason = f" ({record.reason[row]})" if record.reason[row] else ""
        text = f"{name} is {record.state[row]}{reason} and has no {record.objective}."
    else:
        text = f"{name} reached {article(record.objective)} of {number(cost)}{_place(record, row)}."
    if better is None:
        return text
    differs = [
        f"{p} {number(values[better], unknown='inactive')} instead of "
        f"{number(values[row], unknown='inactive')}"
        for p, values in zip(record.parameters, record.values, strict=True)
        if values[better] != values[row]
    ]
    more = len(differs) - MOST_NAMED
    listed = ", ".join(differs[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    with_what = f": {listed}" if differs else ", with the same values"
    reached = number(float(record.cost[better]))
    return (
        f"{text} The nearest better one, trial {record.number[better]}, has {reached}{with_what}."
    )


def _place(record: Trials, row: int) -> str:
    if not record.analysed[row]:
        return ""
    cost = record.cost[record.analysed]
    ahead = (cost > record.cost[row]) if record.maximize else (cost < record.cost[row])
    return f", place {int(ahead.sum()) + 1} of {len(cost)}"
