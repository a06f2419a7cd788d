"""Where the search looked and where it did not: maximum mean discrepancy to uniform (P0 C.1).

Symbols
    X, U     evaluated configurations and as many drawn uniformly from the space
    k        Gaussian kernel, its width the median distance of all points
    MMD^2    mean k(X,X) + mean k(U,U) - 2 mean k(X,U), the biased V-statistic
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial.distance import cdist

from hyperlens.cube import Cube, FloatArray, IntArray
from hyperlens.errors import AnalysisError
from hyperlens.history import History
from hyperlens.record import Record

if TYPE_CHECKING:
    import pandas as pd

MOST_POINTS = 500  # of a run, drawn at random beyond
CHECKPOINTS = 20
PERMUTATIONS = 499
INACTIVE = -0.5  # as far from the middle of an axis as its ends are from each other


@dataclass(frozen=True)
class Bias(Record):
    """Distance of the evaluated configurations from uniform: 0 is even, about 1 is one point.

    `mmd`, `p` over all parameters; `expected` is what an even search of this size would have.
    `parameters`, `parameter_mmd`, `parameter_p` for each alone, most biased first. `iteration` and
    `path` show it as the run went on.
    """

    trials: int
    mmd: float
    p: float
    expected: float
    parameters: tuple[str, ...]
    parameter_mmd: FloatArray
    parameter_p: FloatArray
    iteration: IntArray
    path: FloatArray
    seed: int
    notes: tuple[str, ...]

    @property
    def frame(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(
            {"parameter": self.parameters, "mmd": self.parameter_mmd, "p": self.parameter_p}
        )


def bias(history: History, *, seed: int = 0) -> Bias:
    """Compare all evaluated configurations, whatever became of them, with an even search."""
    space = history.space
    complete = history.vectors
    rng = np.random.default_rng(seed)
    if len(complete) < 2:
        raise AnalysisError(
            "One trial has no distribution; run more before asking where it looked."
        )
    notes: tuple[str, ...] = ()
    X = complete
    if len(X) > MOST_POINTS:
        X = X[np.sort(rng.permutation(len(X))[:MOST_POINTS])]
        notes = (f"From {MOST_POINTS} of {len(complete)} trials, drawn at random.",)
    U = space.sample(len(X), rng)
    every = points(space.cube, np.vstack([X, U]))
    mmd, p, expected = compared(every, len(X), rng)
    alone = [
        compared(points(space.cube, np.vstack([X, U]), (j,)), len(X), rng)
        for j in range(len(space))
    ]
    order = np.argsort([-a[0] for a in alone], kind="stable")
    steps = np.unique(np.linspace(2, len(X), CHECKPOINTS).astype(np.int64))
    path = [discrepancy(gram(every[np.r_[:t, len(X) : len(X) + t]]), t) for t in steps]
    return Bias(
        trials=len(complete),
        mmd=mmd,
        p=p,
        expected=expected,
        parameters=tuple(space.names[j] for j in order),
        parameter_mmd=np.array([alone[j][0] for j in order]),
        parameter_p=np.array([alone[j][1] for j in order]),
        iteration=steps
        if X is complete
        else np.round(steps * len(complete) / len(X)).astype(np.int64),
        path=np.array(path),
        seed=seed,
        notes=(*notes, _sentence(mmd, p, expected)),
    )


def points(cube: Cube, X: FloatArray, columns: tuple[int, ...] | None = None) -> FloatArray:
    """Vectors as points of a Euclidean space: categories one coordinate a level, at distance one."""
    parts = []
    for j in range(cube.d) if columns is None else columns:
        axis, x = cube.axes[j], X[:, j]
        if axis.codes is not None and not axis.ordered:
            level = np.where(np.isnan(x), -1, axis.level(np.nan_to_num(x)))
            parts.append((level[:, None] == np.arange(-1, axis.levels)) / np.sqrt(2.0))
        else:
            parts.append(np.where(np.isnan(x), INACTIVE, x)[:, None])
    return np.hstack(parts)


def gram(P: FloatArray) -> FloatArray:
    """Gaussian kernel of all pairs, its width the median distance."""
    squared = cdist(P, P, "sqeuclidean")
    distances = np.sqrt(squared[np.triu_indices(len(P), 1)])
    width = float(np.median(distances)) or float(distances.mean()) or 1.0
    return np.asarray(np.exp(-squared / (2 * width**2)))


def discrepancy(K: FloatArray, n: int) -> float:
    """Square root of the biased MMD^2 of the first n points against the others."""
    sign = np.full(len(K), -1.0 / (len(K) - n))
    sign[:n] = 1.0 / n
    return float(np.sqrt(max(sign @ K @ sign, 0.0)))


def compared(P: FloatArray, n: int, rng: np.random.Generator) -> tuple[float, float, float]:
    """Discrepancy, its permutation p-value, and its mean under permutation."""
    K = gram(P)
    seen = discrepancy(K, n)
    sign = np.full(len(P), -1.0 / (len(P) - n))
    sign[:n] = 1.0 / n
    shuffled = np.array([rng.permutation(sign) for _ in range(PERMUTATIONS)])
    drawn = np.sqrt(np.maximum(np.einsum("pi,pi->p", shuffled @ K, shuffled), 0.0))
    p = (1 + int(np.sum(drawn >= seen - 1e-12))) / (PERMUTATIONS + 1)
    return seen, p, float(drawn.mean())


def _sentence(mmd: float, p: float, expected: float) -> str:
    if p > 0.05:
        return (
            f"The search cannot be told from an even one (MMD {mmd:.2f}, an even search of this size "
            f"has about {expected:.2f}, p {p:.3f})."
        )
    return (
        f"The search favoured some parts of the space (MMD {mmd:.2f}, an even search of this size has "
        f"about {expected:.2f}, p {p:.3f}); what is said of the parts it neglected is less sure."
    )
