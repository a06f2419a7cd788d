"""What a prior saves where it is right, and what it costs where it is wrong.

python -m benchmarks.optimizers.priors --save

BBOB's functions of an even number in two dimensions. A right prior names a value near that of the best
configuration (standard deviation NEAR of the axis), a wrong one the value mirrored at the middle, or the
farther end where that is not far. Trials are compared by what they reach: a right prior saves the
trials that it needs less than the search without to reach what that had at its end; a wrong one costs
the trials that the search without needs less to reach what the wrong one had at its end.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is loaded

import argparse
import warnings
from pathlib import Path

import numpy as np

import hyperlens as hl
from benchmarks.machine import description
from benchmarks.optimizers.bbob import plain, where_it_is_best
from benchmarks.optimizers.plan import FIRST
from benchmarks.optimizers.problem import Problem
from hyperlens.spaces.cube import FloatArray

RESULT = Path(__file__).parents[2] / "docs" / "results" / "priors.md"
NEAR, FAR = 0.05, 0.3  # of the axis
WIDE = 10.0  # how wide the axes of BBOB are
D = 2


def guesses(number: int, instance: int) -> dict[str, dict[str, float]]:
    """A right and a wrong value of each parameter."""
    rng = np.random.default_rng([number, instance])
    best = where_it_is_best(number, D, instance)
    right = np.clip(best + NEAR * WIDE * rng.standard_normal(D), -5, 5)
    wrong = np.where(np.abs(2 * best) >= FAR * WIDE, -best, np.where(best > 0, -5.0, 5.0))
    names = [f"x{j}" for j in range(D)]
    return {
        kind: dict(zip(names, values.tolist(), strict=True))
        for kind, values in (("right", right), ("wrong", wrong))
    }


def course(problem: Problem, seed: int, prior: dict[str, float] | None) -> FloatArray:
    """The smallest regret after each trial."""
    run = hl.minimize(problem.cost, problem.space, trials=problem.trials, seed=seed, prior=prior)
    return np.minimum.accumulate([problem.regret(t.costs[0]) for t in run.trials])


def reached(trace: FloatArray, regret: float) -> float:
    """The first trial that is as good, or one more than there are."""
    good = np.flatnonzero(trace <= regret)
    return float(good[0] + 1) if len(good) else float(len(trace) + 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=1, help="instances and seeds")
    parser.add_argument("--save", action="store_true", help="write docs/results/priors.md")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    rows, saved, cost = [], [], []
    for repeat in range(chosen.repeats):
        instance = FIRST["reported"] + repeat
        for number in range(2, 25, 2):
            problem, known = plain(number, D, instance), guesses(number, instance)
            without = course(problem, instance, None)
            right, wrong = (course(problem, instance, known[kind]) for kind in ("right", "wrong"))
            n = len(without)
            saved.append(1 - reached(right, without[-1]) / reached(without, without[-1]))
            cost.append(1 - min(reached(without, wrong[-1]), n) / reached(wrong, wrong[-1]))
            rows.append(
                f"| {number} | {without[-1]:.2g} | {right[-1]:.2g} | {wrong[-1]:.2g} | "
                f"{100 * saved[-1]:.0f} % | {100 * cost[-1]:.0f} % |"
            )
            print(rows[-1], flush=True)
    text = "\n".join(
        [
            f"# Priors\n\n`python -m benchmarks.optimizers.priors`. {description()}\n",
            f"{len(rows)} searches of {n} trials on BBOB's even functions, d = {D}: without a "
            f"prior, with a right one (a value near the best, {100 * NEAR:g} % of the axis being one "
            "standard deviation) and with a wrong one (mirrored at the middle). Saved are the "
            "trials that the right prior needs less to reach what the search without had at its end; a "
            "wrong prior costs the trials that the search without needs less to reach what the wrong "
            "one had at its end. Negative numbers are the other way "
            "round; who never gets there is counted as one trial after the last, so that less is saved "
            "than the table says. Few searches: single rows are chance.\n",
            f"In the median a right prior saves {100 * np.median(saved):.0f} % of the trials, and a "
            f"wrong one costs {100 * np.median(cost):.0f} %. A right prior saves a third or more in "
            f"{sum(s >= 1 / 3 for s in saved)} of {len(saved)} searches; a wrong one costs more than a "
            f"fifth in {sum(c > 0.2 for c in cost)}.\n",
            "| BBOB | regret without | right prior | wrong prior | saved | cost |",
            "|---|---|---|---|---|---|",
            *rows,
            "",
        ]
    )
    print(text)
    if chosen.save:
        RESULT.write_text(text)


if __name__ == "__main__":
    main()
