"""Does the 90 % interval of a share hold what the share would be on other data of the same size?

python -m experiments.interval_coverage                      # prints a table
python -m experiments.interval_coverage --datasets 50 --save # and writes docs/results

The long-run value of an effect is its mean share over all redrawn data sets: what the method gives
on average. The true share is that of the function itself, without noise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

import hyperlens as hl
from experiments import options, publish, table
from hyperlens import Parameter, Space
from hyperlens.spaces.cube import FloatArray

LEVEL = 0.9
SLACK = 0.1  # by how much a coverage may differ from its level
SMALL = 0.01  # effects with a smaller long-run share are not counted
TRIALS = (60, 300)
NAMES = ("x1", "x2", "x3", "x4")
EFFECTS = tuple(u for size in (1, 2) for u in combinations(NAMES, size))
METHODS = ("leader", "second opinion")


@dataclass(frozen=True)
class Problem:
    """A cost of X (n, 4) uniform on the unit cube, the variances of its components, and noise."""

    name: str
    cost: Callable[[FloatArray], FloatArray]
    variances: dict[tuple[str, ...], float]
    noise: float

    @property
    def truth(self) -> FloatArray:
        found = np.array([self.variances.get(u, 0.0) for u in EFFECTS])
        return np.asarray(found / sum(self.variances.values()))

    def history(self, trials: int, seed: int) -> hl.History:
        rng = np.random.default_rng(seed)
        X = rng.random((trials, len(NAMES)))
        frame = pd.DataFrame(X, columns=list(NAMES))
        frame["cost"] = self.cost(X) + self.noise * rng.normal(size=trials)
        space = Space.of([Parameter(name, "float") for name in NAMES])
        return hl.read(frame, space=space, objective="cost")


PROBLEMS = (
    Problem(
        "main effects, an interaction, some noise",
        lambda X: 3 * X[:, 0] + X[:, 1] + 6 * (X[:, 2] - 0.5) * (X[:, 3] - 0.5),
        {("x1",): 9 / 12, ("x2",): 1 / 12, ("x3", "x4"): 36 / 144},
        noise=0.3,
    ),
    Problem(
        "one strong main effect, little noise",
        lambda X: 4 * np.sin(2 * np.pi * X[:, 0]) + 2 * X[:, 1] + 2 * X[:, 2],
        {("x1",): 8.0, ("x2",): 4 / 12, ("x3",): 4 / 12},
        noise=0.1,
    ),
    Problem(
        "mostly noise (two thirds of the variance)",
        lambda X: 2 * X[:, 0] + X[:, 1],
        {("x1",): 4 / 12, ("x2",): 1 / 12},
        noise=(10 / 12) ** 0.5,
    ),
    Problem(
        "steps, some noise (nothing is smooth)",
        lambda X: (
            3.0 * (X[:, 0] > 0.3) + 2.0 * (X[:, 1] > 0.6) + 3.0 * (X[:, 2] > 0.5) * (X[:, 3] > 0.5)
        ),
        {("x1",): 9 * 0.21, ("x2",): 4 * 0.24, ("x3",): 9 / 16, ("x4",): 9 / 16}
        | {("x3", "x4"): 9 / 16},
        noise=0.3,
    ),
)


@dataclass(frozen=True)
class Interval:
    """One data set, one method; one entry per effect of EFFECTS."""

    share: FloatArray
    low: FloatArray
    high: FloatArray


def intervals(problem: Problem, trials: int, seed: int) -> dict[str, Interval]:
    found = hl.importance(problem.history(trials, seed), level=LEVEL, seed=seed)
    at = {tuple(sorted(u)): k for k, u in enumerate(found.parameters)}
    order = [at[u] for u in EFFECTS]
    primary = Interval(found.share[order], found.low[order], found.high[order])
    secondary = Interval(
        found.secondary[order], found.secondary_low[order], found.secondary_high[order]
    )
    return dict(zip(METHODS, (primary, secondary), strict=True))


def coverage(drawn: Sequence[Interval], value: FloatArray) -> FloatArray:
    """Part of the data sets whose interval holds `value`, per effect."""
    return np.asarray(np.mean([(i.low <= value) & (value <= i.high) for i in drawn], axis=0))


def row(problem: Problem, trials: int, method: str, drawn: Sequence[Interval]) -> list[str]:
    long_run = np.mean([i.share for i in drawn], axis=0)
    counted = long_run > SMALL
    held = coverage(drawn, long_run)[counted]
    true = coverage(drawn, problem.truth)[counted]
    width = np.mean([i.high - i.low for i in drawn], axis=0)[counted]
    worst = [EFFECTS[k] for k in np.flatnonzero(counted)][int(np.argmin(held))]
    return [
        problem.name,
        str(trials),
        method,
        str(int(counted.sum())),
        f"{held.mean():.0%}",
        f"{held.min():.0%} ({' × '.join(worst)})",
        "yes" if abs(held.mean() - LEVEL) <= SLACK + 1e-9 else "no",
        f"{true.mean():.0%}",
        f"{100 * width.mean():.1f}",
    ]


READING = f"""\
Level {LEVEL:.0%}, {{datasets}} redrawn data sets a row. *Effects* counts main effects and pairs whose
long-run share is above {SMALL:.0%}; *long-run* is how often their intervals hold the mean share over
all data sets, averaged over these effects, *worst* the effect that is held least; *within 10 points*
compares the average with the level; *true share* is how often the interval holds the share of the
function itself; *width* is the mean width in percentage points. *Leader* is `hl.importance` as it
comes, *second opinion* what it shows beside."""


def missed(rows: list[list[str]]) -> str:
    """Where the leader's interval holds the true share too seldom."""
    least = LEVEL - SLACK / 2
    low = [r for r in rows if r[2] == METHODS[0] and float(r[7].rstrip("%")) < 100 * least]
    places = "; ".join(f"{r[0]}, {r[1]} trials ({r[7]})" for r in low)
    return f"The leader holds the true share in fewer than {least:.0%}: {places or 'nowhere'}."


def main() -> None:
    parser = options(__doc__, "interval_coverage")
    parser.add_argument("--datasets", type=int, default=50, help="data sets of every row")
    chosen = parser.parse_args()
    rows = []
    for problem in PROBLEMS:
        for trials in TRIALS:
            drawn = [intervals(problem, trials, seed) for seed in range(chosen.datasets)]
            rows += [row(problem, trials, m, [d[m] for d in drawn]) for m in METHODS]
    header = ["function", "trials", "method", "effects", "long-run", "worst", "within 10 points"]
    parts = [
        READING.format(datasets=chosen.datasets),
        table([*header, "true share", "width"], rows),
        f"Within 10 points of the level: {sum(r[6] == 'yes' for r in rows)} of {len(rows)} rows.",
        missed(rows),
    ]
    publish(
        "interval_coverage",
        "Coverage of intervals",
        "experiments.interval_coverage",
        parts,
        chosen.save,
    )


if __name__ == "__main__":
    main()
