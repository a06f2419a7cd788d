"""The evaluated configurations on a plane, near each other where they are alike.

Classical scaling of Euclidean distances, which is the projection on the two directions that keep most
of the squared distances. An even sample of the space is projected with them, so that one sees what was
left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hyperlens.cube import FloatArray, IntArray
from hyperlens.errors import AnalysisError
from hyperlens.explain.bias import points
from hyperlens.explain.fitting import one_thread
from hyperlens.history import History
from hyperlens.record import Record

if TYPE_CHECKING:
    import pandas as pd

EVEN = 400  # configurations of the even sample
LEAST_WEIGHT = 0.01  # of the largest, so that no parameter vanishes


@dataclass(frozen=True)
class Footprint(Record):
    """`x`, `y` of each trial; `even` (EVEN, 2) of an even sample; `kept` of the squared distances.

    Distances count each parameter by `weights`. `cost` is in the user's direction, nan where unknown.
    """

    objective: str
    maximize: bool
    number: IntArray
    x: FloatArray
    y: FloatArray
    cost: FloatArray
    best_trial: int
    even: FloatArray
    kept: float
    weights: dict[str, float]
    seed: int

    @property
    def frame(self) -> pd.DataFrame:
        import pandas as pd

        names = ("number", "x", "y", "cost")
        return pd.DataFrame({name: getattr(self, name) for name in names})


def footprint(
    history: History,
    weights: Mapping[str, float] | None = None,
    *,
    seed: int = 0,
    objective: str | None = None,
) -> Footprint:
    """Lay the configurations out on a plane; `weights` say how much each parameter counts."""
    space = history.space
    if len(space) < 2 or len(history.trials) < 2:
        raise AnalysisError("A map of configurations needs two parameters and two trials.")
    chosen = history.objective(objective)
    k = history.objectives.index(chosen)
    counted = _weights(space.names, weights)
    with one_thread():
        even = space.sample(EVEN, np.random.default_rng(seed))
        both = np.vstack([history.vectors, even])
        P = np.hstack(
            [
                np.sqrt(counted[name]) * points(space.cube, both, (j,))
                for j, name in enumerate(space.names)
            ]
        )
        placed, kept = _plane(P)
    n = len(history.trials)
    return Footprint(
        objective=chosen.name,
        maximize=chosen.maximize,
        number=np.array([t.number for t in history.trials], dtype=np.int64),
        x=placed[:n, 0].copy(),
        y=placed[:n, 1].copy(),
        cost=np.array([t.costs[k] for t in history.trials], dtype=float),
        best_trial=history.incumbent(objective).number,
        even=placed[n:].copy(),
        kept=kept,
        weights=counted,
        seed=seed,
    )


def _weights(names: tuple[str, ...], given: Mapping[str, float] | None) -> dict[str, float]:
    known = {name: float(np.nan_to_num((given or {}).get(name, 0.0))) for name in names}
    largest = max(known.values())
    if largest <= 0:
        return dict.fromkeys(names, 1.0)
    return {name: max(weight / largest, LEAST_WEIGHT) for name, weight in known.items()}


def _plane(P: FloatArray) -> tuple[FloatArray, float]:
    """Places on the two leading principal axes, and the part of the squared distances they keep.

    The sign of an axis is free; it is set so that the entry of largest size is positive.
    """
    centred = P - P.mean(axis=0)
    covariance = centred.T @ centred
    size, axes = np.linalg.eigh(covariance)
    leading = axes[:, ::-1][:, :2]
    largest = np.abs(leading).argmax(axis=0)
    leading = leading * np.sign(leading[largest, [0, 1]])
    total = float(size.sum())
    return centred @ leading, float(size[-2:].sum() / total) if total > 0 else 1.0
