"""Where the search looked and where it did not: maximum mean discrepancy to uniform
(Gretton et al. 2012; Moosbauer et al. 2021 C.1).

Symbols
    X, U     n evaluated configurations, and REFERENCE drawn uniformly from the space
    k        Gaussian kernel, its width the median distance of all points
    MMD^2    mean k(X,X) + mean k(U,U) - 2 mean k(X,U), the biased V-statistic; for two even samples
             of n and m points its mean is (1/n + 1/m) (1 - mean k of two different points)
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from hyperlens.errors import AnalysisError
from hyperlens.explain.models.chance import BY_CHANCE, EACH, beyond_chance
from hyperlens.record import Record
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History
from hyperlens.spaces.cube import Cube, FloatArray, IntArray
from hyperlens.surrogates.threads import one_thread
from hyperlens.tables import Column, Table, table
from hyperlens.words import decimals, first_few, p_value

MMD = (
    "Maximum mean discrepancy between the evaluated values and an even sample: 0 is even, about 1 "
    "is a single point."
)
P = "How often an even search would look at least as uneven, from permutations; small means uneven."
MOST_POINTS = 500  # of a run, drawn at random beyond
REFERENCE = 500
CHECKPOINTS = 20
PERMUTATIONS = 199
MOST_NAMES = 3  # of unevenly searched parameters that a sentence names
MANY, FEW = 30, 250  # with many parameters each alone is judged from few points
INACTIVE = -0.5  # as far from the middle of an axis as its ends are from each other


@dataclass(frozen=True)
class Bias(Record):
    """Distance of the evaluated configurations from uniform: 0 is even, about 1 is one point.

    `mmd`, `p` over all parameters; `expected` is what an even search of this size has.
    `parameters`, `parameter_mmd`, `parameter_p` for each alone, most biased first. `path` and
    `expected_path` show it after each number of trials in `iteration`.
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
    expected_path: FloatArray
    seed: int
    sentence: str
    notes: tuple[str, ...]

    @property
    def uneven(self) -> list[str]:
        """Parameters that alone were searched unevenly, most uneven first."""
        found = beyond_chance(self.parameters, self.parameter_p)
        return [name for name in self.parameters if name in found]

    @property
    def reading(self) -> str:
        """The parameters most unevenly searched, or that none was."""
        if not self.uneven:
            return "Each parameter alone was searched as evenly as chance allows."
        names = first_few(self.uneven, MOST_NAMES)
        return f"Searched unevenly, by each parameter alone, most uneven first: {names}."

    @property
    def lead(self) -> tuple[str, ...]:
        return self.sentence, self.reading

    @property
    def tables(self) -> tuple[Table, ...]:
        return (
            table(
                Column("parameter", ["all parameters", *self.parameters]),
                Column("distance from even", [self.mmd, *self.parameter_mmd], decimals, MMD),
                Column("p", [self.p, *self.parameter_p], p_value, P),
            ),
        )

    def _columns(self) -> dict[str, Any]:
        return {"parameter": self.parameters, "mmd": self.parameter_mmd, "p": self.parameter_p}


@of_a_run
def bias(history: History, *, seed: int = 0) -> Bias:
    """Compare all evaluated configurations, whatever became of them, with an even search."""
    with one_thread():
        return _bias(history, seed)


def _bias(history: History, seed: int) -> Bias:
    space = history.space
    rng = np.random.default_rng(seed)
    run = history.vectors
    if len(run) < 2:
        raise AnalysisError(
            "One trial has no distribution; run more before asking where it looked."
        )
    if not len(space):
        raise AnalysisError(
            "This run has no parameter, so there is nowhere to look; ask it of one that has some."
        )
    notes: tuple[str, ...] = ()
    X = run
    if len(run) > MOST_POINTS:
        X = run[np.sort(rng.permutation(len(run))[:MOST_POINTS])]
        notes = (f"From {MOST_POINTS} of {len(run)} trials, drawn at random.",)
    n = len(X)
    both = np.vstack([X, space.sample(REFERENCE, rng)])
    K = gram(points(space.cube, both))
    mmd, p = compared(K, n, rng)
    few = np.r_[: min(n, FEW), n : n + FEW] if len(space) > MANY else np.arange(len(both))
    first = int((few < n).sum())
    count = max(PERMUTATIONS, EACH * len(space))
    alone = [
        compared(gram(points(space.cube, both[few], (j,))), first, rng, count)
        for j in range(len(space))
    ]
    order = np.argsort([-a[0] for a in alone], kind="stable")
    steps = np.unique(np.linspace(2, n, CHECKPOINTS).astype(np.int64))
    path = [
        discrepancy(K[np.ix_(rows, rows)], t) for t in steps for rows in [np.r_[:t, n : len(K)]]
    ]
    even = expected(K[n:, n:], steps)
    return Bias(
        trials=len(run),
        mmd=mmd,
        p=p,
        expected=float(even[-1]),
        parameters=tuple(space.names[j] for j in order),
        parameter_mmd=np.array([alone[j][0] for j in order]),
        parameter_p=np.array([alone[j][1] for j in order]),
        iteration=np.round(steps * (len(run) / n)).astype(np.int64),
        path=np.array(path),
        expected_path=even,
        seed=seed,
        sentence=_sentence(mmd, p, float(even[-1])),
        notes=notes,
    )


def unevenness(cube: Cube, X: FloatArray, seed: int = 0) -> float:
    """How many times farther from an even search vectors X (n, d) lie than chance has it: about 1 of a
    random design, 3 and more of what an optimiser leaves."""
    rng = np.random.default_rng(seed)
    some = X[np.sort(rng.permutation(len(X))[:MOST_POINTS])]
    K = gram(points(cube, np.vstack([some, cube.vectors(rng.random((REFERENCE, cube.d)))])))
    n = len(some)
    chance = float(expected(K[n:, n:], np.array([n]))[0])
    return discrepancy(K, n) / chance if chance > 0 else 1.0  # there is one place only


def points(cube: Cube, X: FloatArray, columns: tuple[int, ...] | None = None) -> FloatArray:
    """Vectors as points of a Euclidean space: categories one coordinate a level, at distance one."""
    parts = []
    for j in range(cube.d) if columns is None else columns:
        axis, x = cube.axes[j], X[:, j]
        if axis.codes is not None and not axis.ordered:
            level = np.where(np.isnan(x), -1, axis.level(np.nan_to_num(x)))
            # a level that is nowhere moves nothing, and there may be very many
            levels = np.arange(-1, axis.levels) if axis.levels <= len(x) else np.unique(level)
            parts.append((level[:, None] == levels) / np.sqrt(2.0))
        else:
            parts.append(np.where(np.isnan(x), INACTIVE, x)[:, None])
    return np.hstack(parts)


def gram(P: FloatArray) -> FloatArray:
    """Gaussian kernel of all pairs, its width the median distance."""
    squared = scipy.spatial.distance.cdist(P, P, "sqeuclidean")
    distances = np.sqrt(squared[np.triu_indices(len(P), 1)])
    width = float(np.median(distances)) or float(distances.mean()) or 1.0
    return np.asarray(np.exp(-squared / (2 * width**2)))


def signs(size: int, n: int) -> FloatArray:
    """What each point counts in a mean over the first n less a mean over the others."""
    return np.where(np.arange(size) < n, 1.0 / n, -1.0 / (size - n))


def discrepancy(K: FloatArray, n: int) -> float:
    """Square root of the biased MMD^2 of the first n points against the others."""
    sign = signs(len(K), n)
    return float(np.sqrt(max(float(sign @ K @ sign), 0.0)))


def expected(K: FloatArray, sizes: IntArray) -> FloatArray:
    """Root of the mean MMD^2 of even samples of these sizes, given the kernel of the reference."""
    m = len(K)
    alike = (K.sum() - np.trace(K)) / (m * (m - 1))
    return np.asarray(np.sqrt((1 / sizes + 1 / m) * (1 - alike)))


def compared(
    K: FloatArray, n: int, rng: np.random.Generator, count: int = PERMUTATIONS
) -> tuple[float, float]:
    """Discrepancy of the first n points against the others, and its permutation p-value."""
    seen = discrepancy(K, n)
    sign = signs(len(K), n)
    shuffled = np.array([rng.permutation(sign) for _ in range(count)])
    drawn = np.sqrt(np.maximum(np.einsum("pi,pi->p", shuffled @ K, shuffled), 0.0))
    return seen, (1 + int(np.sum(drawn >= seen - 1e-12))) / (count + 1)


def _sentence(mmd: float, p: float, expected: float) -> str:
    numbers = f"(distance {mmd:.2f} from even, where chance has about {expected:.2f}; p {p:.3f})"
    if p > BY_CHANCE:
        return f"The search cannot be told from an even one {numbers}."
    return (
        f"The search favoured some parts of the space {numbers}; what is said about the parts "
        "it neglected is less certain."
    )
