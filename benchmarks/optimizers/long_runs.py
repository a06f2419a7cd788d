"""What a trial costs beside its evaluation when a search is long.

python -m benchmarks.optimizers.long_runs --save

Searches are told as many trials as a long one has left behind, half of them even and half ever nearer
to the best, and are then asked for the next ones. One search is run from end to end.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is loaded

import argparse
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import hyperlens as hl
from benchmarks.machine import description
from benchmarks.optimizers.bbob import plain, where_it_is_best
from benchmarks.optimizers.plan import FIRST
from benchmarks.optimizers.problem import Problem
from hyperlens.spaces.cube import FloatArray

RESULT = Path(__file__).parents[2] / "docs" / "results" / "long_runs.md"
NUMBER, D = 10, 5  # BBOB's function, of the reported half
TOLD = (100, 300, 1000, 2000, 5000)
WHOLE, SHOWN = 1000, 200  # trials of one search from end to end, and how often it is shown
MOST = 0.3  # seconds a trial that were wanted
NEXT = 10  # trials that are asked for then
WIDE, NARROW = 2.0, 0.01  # standard deviations of the trials near the best, the first and the last


def timed(search: hl.SMBO, problem: Problem) -> float:
    """Processor time of one trial beside its evaluation, in seconds."""
    began = time.process_time()
    candidate = search.ask()
    asked = time.process_time() - began
    cost = problem.cost(candidate.values)
    began = time.process_time()
    search.tell(candidate.values, cost)
    return asked + time.process_time() - began


def left_behind(problem: Problem, count: int, instance: int) -> FloatArray:
    """Vectors of so many trials, half of them even and half ever nearer to the best."""
    rng = np.random.default_rng(count)
    best = where_it_is_best(NUMBER, D, instance)
    near = count - count // 2
    scale = np.geomspace(WIDE, NARROW, near)[:, None]
    places = np.vstack(
        [rng.uniform(-5, 5, (count // 2, D)), best + scale * rng.standard_normal((near, D))]
    )
    return np.clip((places + 5) / 10, 0, 1)


def from_end_to_end(problem: Problem, seed: int) -> tuple[FloatArray, FloatArray]:
    """Processor time beside each evaluation (n,) and the smallest regret after it (n,) of one search, as
    a user runs it."""
    spent, regrets = [], []
    ended = time.process_time()

    def cost(values: Mapping[str, Any]) -> float:
        nonlocal ended
        spent.append(time.process_time() - ended)
        measured = problem.cost(values)
        regrets.append(problem.regret(measured))
        ended = time.process_time()
        return measured

    hl.minimize(cost, problem.space, trials=WHOLE, seed=seed)
    return np.array(spent), np.minimum.accumulate(regrets)


def answers(whole: FloatArray, far: FloatArray) -> list[str]:
    """What was wanted of long searches, each with what was found."""
    mean, longest, later = 1e3 * whole.mean(), 1e3 * whole.max(), 1e3 * np.median(far)
    return [
        "| wanted | found |",
        "|---|---|",
        f"| {WHOLE:,} trials under {1e3 * MOST:.0f} ms a trial | "
        f"{'**yes**' if mean < 1e3 * MOST else '**no**'}: {mean:.0f} ms on average, the longest "
        f"{longest:.0f} ms |",
        f"| {TOLD[-1]:,} trials possible | **yes**: {later:.0f} ms for the next one, since it learns "
        "from 400 of them |",
    ]


def told_in_words(spent: FloatArray, regrets: FloatArray) -> list[str]:
    lines = [
        "",
        f"One whole search of {WHOLE:,} trials by `hl.minimize`, each with its storage, took "
        f"{spent.sum():.0f} s of the processor beside its evaluations, {1e3 * spent.mean():.0f} ms a "
        f"trial; the longest {1e3 * spent.max():.0f} ms. Regret is the smallest so far, in units in "
        "which a random configuration has 1 in the median and the best 0.",
        "",
        "| trials | median of the last hundred | regret |",
        "|---|---|---|",
    ]
    for count in range(SHOWN, WHOLE + 1, SHOWN):
        own = 1e3 * np.median(spent[count - 100 : count])
        lines.append(f"| {count} | {own:.0f} ms | {regrets[count - 1]:.2g} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--save", action="store_true", help="write docs/results/long_runs.md")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    instance = FIRST["reported"]
    problem = plain(NUMBER, D, instance)
    measured = [
        "Searches are told their trials, half of them even and half ever nearer to the best; the next "
        f"{NEXT} are timed.\n",
        "| trials told | median | longest |",
        "|---|---|---|",
    ]
    for count in TOLD:
        search = hl.SMBO(problem.space, seed=instance)
        vectors = left_behind(problem, count, instance)
        for vector, values in zip(vectors, problem.space.decode(vectors), strict=True):
            search.tell(vector, problem.cost(values))
        spent = np.array([timed(search, problem) for _ in range(NEXT)])
        measured.append(
            f"| {count} | {1e3 * np.median(spent):.0f} ms | {1e3 * spent.max():.0f} ms |"
        )
        print(measured[-1], flush=True)
    whole, regrets = from_end_to_end(problem, instance)
    lines = [
        f"# Long runs\n\n`python -m benchmarks.optimizers.long_runs`. {description()}\n",
        *answers(whole, spent),
        "",
        "## How it was measured\n",
        f"Processor time of a trial beside its evaluation, one thread, BBOB {NUMBER}, d = {D}. From 400 "
        "trials on a search learns from all good ones, and from others evenly by the rank of their "
        "costs, 400 together.\n",
        *measured,
        *told_in_words(whole, regrets),
    ]
    text = "\n".join([*lines, ""])
    if chosen.save:
        RESULT.write_text(text)


if __name__ == "__main__":
    main()
