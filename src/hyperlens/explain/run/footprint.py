"""The evaluated configurations on a plane, near each other where they are alike.

Multidimensional scaling: places on the plane whose distances are as near as can be to those of the
configurations, by stress majorisation (SMACOF, de Leeuw 1977) from the plane of largest variance. An
even sample of the space is placed with them, so that one sees what was left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from hyperlens.errors import AnalysisError
from hyperlens.explain.run.bias import points
from hyperlens.record import Record
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History
from hyperlens.spaces.cube import FloatArray, IntArray
from hyperlens.surrogates.threads import one_thread
from hyperlens.words import percent

EVEN = 200  # configurations of the even sample
MOST = 400  # trials that are placed
STEPS = 120
ENOUGH = 1e-5  # a smaller relative gain of the stress ends the search
ROUGH = 0.3  # a stress from which on the map is a rough picture
LEAST_WEIGHT = 0.01  # of the largest, so that no parameter vanishes


@dataclass(frozen=True)
class Footprint(Record):
    """`x`, `y` of each placed trial; `even` (EVEN, 2) of an even sample.

    `stress` is the root of the part of the squared distances that the map gets wrong (Kruskal's
    stress-1). Distances count each parameter by `weights`. `cost` is in the user's direction, nan where
    the trial is not analysed: it failed, was pruned, or had a smaller budget.
    """

    objective: str
    maximize: bool
    number: IntArray
    x: FloatArray
    y: FloatArray
    cost: FloatArray
    best_trial: int
    even: FloatArray
    stress: float
    weights: dict[str, float]
    seed: int
    notes: tuple[str, ...]

    @property
    def reading(self) -> str:
        """What the map shows."""
        return (
            "Each point is a configuration, bright where it was good; the small grey points are an even "
            "sample of the space. Where grey points have no trial near them, the search did not look."
        )

    @property
    def sentence(self) -> str:
        """How faithful the map is."""
        weighted = len(set(self.weights.values())) > 1
        return (
            f"The map gets {percent(self.stress**2)} of the squared distances between configurations "
            "wrong"
            + (", in which each parameter counts by its share of the variance" if weighted else "")
            + (". Read it as a rough picture only." if self.stress > ROUGH else ".")
        )

    def _columns(self) -> dict[str, Any]:
        return self._fields("number", "x", "y", "cost")


@of_a_run
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
    best, known = history.best(objective).number, history.data(objective).rows
    rows = _placed([t.number for t in history.trials], best)
    with one_thread():
        even = space.sample(EVEN, np.random.default_rng(seed))
        both = np.vstack([history.vectors[rows], even])
        parts = [
            np.sqrt(counted[name]) * points(space.cube, both, (j,))
            for j, name in enumerate(space.names)
        ]
        placed, stress = scaled(np.hstack(parts))
    trials = [history.trials[i] for i in rows]
    n, total = len(rows), len(history.trials)
    return Footprint(
        objective=chosen.name,
        maximize=chosen.maximize,
        number=np.array([t.number for t in trials], dtype=np.int64),
        x=placed[:n, 0].copy(),
        y=placed[:n, 1].copy(),
        cost=np.where(np.isin(rows, known), [t.costs[k] for t in trials], np.nan),
        best_trial=best,
        even=placed[n:].copy(),
        stress=stress,
        weights=counted,
        seed=seed,
        notes=(f"{n} of {total} trials are placed, evenly over the run.",) if n < total else (),
    )


def _placed(numbers: list[int], best: int) -> list[int]:
    """Which trials are placed: all, or some evenly over the run and the best."""
    if len(numbers) <= MOST:
        return list(range(len(numbers)))
    chosen = set(np.linspace(0, len(numbers) - 1, MOST).astype(int).tolist())
    return sorted(chosen | {numbers.index(best)})


def _weights(names: tuple[str, ...], given: Mapping[str, float] | None) -> dict[str, float]:
    known = {name: float(np.nan_to_num((given or {}).get(name, 0.0))) for name in names}
    largest = max(known.values())
    if largest <= 0:
        return dict.fromkeys(names, 1.0)
    return {name: max(weight / largest, LEAST_WEIGHT) for name, weight in known.items()}


def scaled(P: FloatArray) -> tuple[FloatArray, float]:
    """Places on a plane with about the distances of the rows of P, and Kruskal's stress-1."""
    wanted = scipy.spatial.distance.cdist(P, P)
    X = _leading(P)
    n, total = len(P), float((wanted**2).sum())
    if total == 0:
        return X, 0.0
    now = scipy.spatial.distance.cdist(X, X)
    stress = float(((wanted - now) ** 2).sum())
    for _ in range(STEPS):
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(now > 0, wanted / now, 0.0)
        B = -ratio
        B[np.diag_indices(n)] = ratio.sum(axis=1)
        X = B @ X / n  # the Guttman transform
        now = scipy.spatial.distance.cdist(X, X)
        before, stress = stress, float(((wanted - now) ** 2).sum())
        if before - stress <= ENOUGH * before:
            break
    return X, float(np.sqrt(stress / total))


def _leading(P: FloatArray) -> FloatArray:
    """Projection on the two directions of largest variance; the sign of each is set by its largest
    entry, which is positive."""
    centred = P - P.mean(axis=0)
    axes = np.linalg.eigh(centred.T @ centred)[1][:, ::-1][:, :2]
    largest = np.abs(axes).argmax(axis=0)
    return np.asarray(centred @ (axes * np.sign(axes[largest, [0, 1]])))
