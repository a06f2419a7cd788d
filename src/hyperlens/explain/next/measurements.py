"""What was measured of each configuration at the largest budget, in one trial or in several."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hyperlens.runs.history import Data, History
from hyperlens.spaces.cube import FloatArray, IntArray
from hyperlens.surrogates.additive.true_costs import Measured

MOST_ROUNDS = 50  # of taking away the means of scenarios and of configurations in turn


@dataclass(frozen=True)
class Configurations:
    """Each configuration once, in the order of their first trials; `trial` is that one's number."""

    measured: Measured
    trial: IntArray  # (m,)
    observed: FloatArray  # mean of its minimised costs, (m,)
    notes: tuple[str, ...] = ()

    def only(self, rows: IntArray) -> Configurations:
        """Some of them, in ascending order."""
        place = np.full(len(self.trial), -1)
        place[rows] = np.arange(len(rows))
        which = place[self.measured.which]
        kept = which >= 0
        measured = Measured(self.measured.X[rows], self.measured.y[kept], which[kept])
        return replace(
            self, measured=measured, trial=self.trial[rows], observed=self.observed[rows]
        )


def configurations(history: History, data: Data) -> Configurations:
    """The analysed trials of a run by their configurations.

    Where configurations were run in the same scenarios (instances, seeds), what a scenario adds to all
    of them is taken away, for it tells nothing of which is better.
    """
    alike = np.where(np.isnan(data.X), -1.0, data.X)
    _, first, which = np.unique(alike, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    which = np.argsort(order)[which.ravel()]
    first = first[order]
    y, notes = _without_scenarios(history, data, which)
    measured = Measured(data.X[first], y, which)
    number = np.array([history.trials[i].number for i in data.rows])
    if measured.freedom:
        notes += (
            f"{len(data.y)} trials are {len(first)} configurations; one that was run several times is "
            "named by its first trial and counts with the mean of its costs.",
        )
    return Configurations(measured, number[first], measured.means(y), notes)


def _without_scenarios(
    history: History, data: Data, which: IntArray
) -> tuple[FloatArray, tuple[str, ...]]:
    """Costs without what each scenario adds, where every configuration was run in two or more."""
    names = [(t.instance or "", t.seed) for t in (history.trials[i] for i in data.rows)]
    scenarios = {name: k for k, name in enumerate(dict.fromkeys(names))}
    at = np.array([scenarios[name] for name in names])
    pairs = np.unique(np.column_stack([which, at]), axis=0)
    if len(scenarios) < 2 or np.bincount(pairs[:, 0]).min() < 2:
        return data.y, ()
    added = np.zeros(len(scenarios))
    for _ in range(MOST_ROUNDS):  # least squares of two factors, in turn
        own = np.bincount(which, data.y - added[at]) / np.bincount(which)
        added = np.bincount(at, data.y - own[which]) / np.bincount(at)
        added -= added[at].mean()
    note = (
        f"What each of {len(scenarios)} scenarios (instances or seeds) adds to all costs was taken "
        "away."
    )
    return data.y - added[at], (note,)
