"""What was measured of each configuration at the largest budget, in one trial or in several."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hyperlens.runs.history import Data, History
from hyperlens.spaces.cube import FloatArray, IntArray

MOST_ROUNDS = 50  # of taking away the means of scenarios and of configurations in turn
BEST = 3  # of very many a third is the best, the rest drawn at random


@dataclass(frozen=True)
class Configurations:
    """Each configuration once, in the order of their first trials; `trial` is that one's number."""

    X: FloatArray  # (m, d)
    y: FloatArray  # minimised costs of all rows, (n,)
    which: IntArray  # configuration of each row, (n,)
    trial: IntArray  # (m,)
    notes: tuple[str, ...] = ()

    @property
    def observed(self) -> FloatArray:
        """Mean of the costs of each, (m,)."""
        return np.bincount(self.which, self.y) / np.bincount(self.which)

    def at_most(self, most: int, seed: int = 0) -> Configurations:
        """All of them, or the best and a seeded sample of the others where there are more."""
        count = len(self.trial)
        if count <= most:
            return self
        best, others = np.split(np.argsort(self.observed, kind="stable"), [most // BEST])
        more = np.random.default_rng(seed).permutation(others)[: most - len(best)]
        rows = np.sort(np.r_[best, more])
        place = np.full(count, -1)
        place[rows] = np.arange(len(rows))
        kept = place[self.which] >= 0
        note = (
            f"The {len(best)} best of {count} configurations were compared, and {len(more)} others "
            "drawn at random."
        )
        which, notes = place[self.which[kept]], (*self.notes, note)
        return Configurations(self.X[rows], self.y[kept], which, self.trial[rows], notes)


def configurations(history: History, data: Data) -> Configurations:
    """The analysed trials of a run by their configurations.

    Where configurations were run in the same scenarios (instances, seeds), what a scenario adds to all
    of them is taken away, for it tells nothing of which is better.
    """
    known: dict[bytes, int] = {}  # a configuration by its bytes
    alike = np.where(np.isnan(data.X), -1.0, data.X + 0.0)  # 0.0, never -0.0
    which = np.array([known.setdefault(row.tobytes(), len(known)) for row in alike])
    first = np.unique(which, return_index=True)[1]
    y, notes = _without_scenarios(history, data, which)
    number = np.array([history.trials[i].number for i in data.rows])
    if len(first) < len(y):
        notes += (
            f"{len(data.y)} trials are {len(first)} configurations; one that was run several times is "
            "named by its first trial and counts with the mean of its costs.",
        )
    X = data.X if len(first) == len(y) else data.X[first]
    return Configurations(X, y, which, number[first], notes)


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
