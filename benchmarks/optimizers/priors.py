"""What a prior saves where it is right, and what it costs where it is wrong; beside a warm start of TPE.

python -m benchmarks.optimizers.priors --repeats 3 --save

BBOB's functions of an even number in two dimensions. A right prior names a value near that of the best
configuration (standard deviation NEAR of the axis), a wrong one the value mirrored at the middle, or the
farther end where that is not far. Trials are compared by what they reach: a right prior saves the
trials that it needs less than the search without to reach what that had at its half or at its end; a
wrong one costs the trials that the search without needs less to reach what the wrong one had at its end.
A search that has only another seed is compared in the same way: what it saves and costs is chance.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is loaded

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import optuna

import hyperlens as hl
from benchmarks.machine import description
from benchmarks.optimizers.bbob import plain, where_it_is_best
from benchmarks.optimizers.courses import FLOOR
from benchmarks.optimizers.plan import FIRST, Half
from benchmarks.optimizers.players import suggested
from benchmarks.optimizers.problem import Problem
from hyperlens.spaces.cube import FloatArray

RESULT = Path(__file__).parents[2] / "docs" / "results" / "priors.md"
BY_HAND = "## The rule, and what else was tried\n"  # kept as it is
WANTED_SAVED, WANTED_COST = 1 / 3, 1 / 5  # of the trials
NEAR, FAR = 0.05, 0.3  # of the axis
WIDE = 10.0  # how wide the axes of BBOB are
D = 2
OTHER = 5000  # how far the seed of the search by chance lies from the others'
Guess = dict[str, float]
Course = Callable[[Problem, int, Guess | None], FloatArray]


def guesses(number: int, instance: int) -> dict[str, Guess]:
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


def ours(problem: Problem, seed: int, prior: Guess | None) -> FloatArray:
    """The smallest regret after each trial."""
    run = hl.minimize(problem.cost, problem.space, trials=problem.trials, seed=seed, prior=prior)
    return np.minimum.accumulate([problem.regret(t.costs[0]) for t in run.trials])


def warm_tpe(problem: Problem, seed: int, first: Guess | None) -> FloatArray:
    """The same of Optuna's TPE, to which the guess is given as its first trial."""
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    if first is not None:
        study.enqueue_trial(first)
    study.optimize(lambda t: problem.cost(suggested(t, problem.space)), n_trials=problem.trials)
    return np.minimum.accumulate([problem.regret(t.values[0]) for t in study.trials])


def reached(trace: FloatArray, regret: float) -> float:
    """The first trial that is as good, or one more than there are."""
    good = np.flatnonzero(trace <= max(regret, FLOOR))
    return float(good[0] + 1) if len(good) else float(len(trace) + 1)


def saved(trace: FloatArray, without: FloatArray, after: int) -> float:
    """Part of the trials that another search needed to be where it was after so many."""
    level = without[after - 1]
    return 1 - reached(trace, level) / reached(without, level)


def lost(trace: FloatArray, without: FloatArray) -> float:
    return 1 - min(reached(without, trace[-1]), len(without)) / reached(trace, trace[-1])


def compared(course: Course, problem: Problem, instance: int, number: int) -> list[float]:
    """What the right prior saves, to where the search without was at its half and at its end, and what
    the wrong one costs; then the same three of another seed."""
    known, without = guesses(number, instance), course(problem, instance, None)
    right, wrong = (course(problem, instance, known[kind]) for kind in ("right", "wrong"))
    chance, n = course(problem, instance + OTHER, None), len(without)
    return [
        value
        for good, bad in ((right, wrong), (chance, chance))
        for value in (saved(good, without, n // 2), saved(good, without, n), lost(bad, without))
    ]


def measured(half: Half, repeats: int) -> dict[str, FloatArray]:
    """By player, numbers of `compared` (functions, repeats, 6)."""
    players: dict[str, Course] = {"Hyperlens, prior": ours, "Optuna TPE, first trial": warm_tpe}
    instances = [FIRST[half] + repeat for repeat in range(repeats)]
    found = {}
    for name, course in players.items():
        rows = []
        for number in range(1 if half == "tuning" else 2, 25, 2):
            rows.append([compared(course, plain(number, D, i), i, number) for i in instances])
            print(name, number, np.round(np.median(rows[-1], axis=0), 2).tolist(), flush=True)
        found[name] = np.array(rows)
    return found


def answers(found: dict[str, FloatArray]) -> list[str]:
    """What was wanted of a prior of ours, each with what was found."""
    numbers = found["Hyperlens, prior"].reshape(-1, 6).T
    half, end, cost, _, _, chance = numbers
    peer = found["Optuna TPE, first trial"].reshape(-1, 6).T
    count = len(cost)
    saved_by_most = np.median(half) >= WANTED_SAVED and np.median(end) >= WANTED_SAVED
    return [
        "| wanted | found |",
        "|---|---|",
        "| a right prior saves at least a third of the trials | "
        f"{'**yes**' if saved_by_most else '**no**'} in the median: {_percent(half)} to reach what the "
        f"search without had at its half, {_percent(end)} at its end; a third or more in "
        f"{(half >= WANTED_SAVED).sum()} and {(end >= WANTED_SAVED).sum()} of {count} searches |",
        "| a wrong one costs at most a fifth | "
        f"{'**yes**' if np.median(cost) <= WANTED_COST else '**no**'} in the median: {_percent(cost)}; "
        f"but {100 * cost.mean():.0f} % in the mean and more than a fifth in "
        f"{(cost > WANTED_COST).sum()} of {count} searches (another seed: {_percent(chance)}, "
        f"{100 * chance.mean():.0f} %, {(chance > WANTED_COST).sum()} of {count}) |",
        "| beside a warm start of another tool | the guess as Optuna TPE's first trial saves "
        f"{_percent(peer[0])} and {_percent(peer[1])}, and costs {_percent(peer[2])} where it is "
        "wrong |",
    ]


def _percent(parts: FloatArray) -> str:
    return f"{100 * np.median(parts):.0f} %"


def table(found: dict[str, FloatArray]) -> list[str]:
    """One row a player: right, wrong, and another seed."""
    lines = [
        "| | saved to its half | a third or more | saved to its end | a third or more | cost | mean | "
        "more than a fifth |",
        "|" + "---|" * 8,
    ]
    for name, numbers in found.items():
        for what, own in (
            (name, slice(0, 3)),
            (f"{name.split(',')[0]}, another seed", slice(3, 6)),
        ):
            half, end, cost = numbers.reshape(-1, 6)[:, own].T
            cells = []
            for part in (half, end):
                cells += [
                    f"{100 * np.median(part):.0f} %",
                    f"{(part >= 1 / 3).sum()} of {len(part)}",
                ]
            cells += [f"{100 * np.median(cost):.0f} %", f"{100 * cost.mean():.0f} %"]
            cells += [f"{(cost > 0.2).sum()} of {len(cost)}"]
            lines.append(f"| {what} | " + " | ".join(cells) + " |")
    return lines


def by_function(found: dict[str, FloatArray], half: Half) -> list[str]:
    names = " | ".join(f"{n}: saved to its half | to its end | cost" for n in found)
    lines = [f"| BBOB | {names} |", "|" + "---|" * (1 + 3 * len(found))]
    for k, number in enumerate(range(1 if half == "tuning" else 2, 25, 2)):
        cells = [
            f"{100 * np.median(numbers[k, :, c]):.0f} %"
            for numbers in found.values()
            for c in range(3)
        ]
        lines.append(f"| {number} | " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--half", choices=("tuning", "reported"), default="reported")
    parser.add_argument("--repeats", type=int, default=3, help="instances and seeds")
    parser.add_argument("--save", action="store_true", help="write docs/results/priors.md")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    found = measured(chosen.half, chosen.repeats)
    half = "even" if chosen.half == "reported" else "odd"
    text = "\n".join(
        [
            f"# Priors\n\n`python -m benchmarks.optimizers.priors`. {description()}\n",
            *answers(found),
            "",
            "## How it was measured\n",
            f"{12 * chosen.repeats} searches of {25 * D} trials on BBOB's {half} functions, d = {D}: "
            "without a prior, with a right one (a value near the best, "
            f"{100 * NEAR:g} % of the axis being one standard deviation) and with a wrong one "
            "(mirrored at the middle). Saved are the trials that the right prior needs less to reach "
            "what the search without had after half of its trials, or at its end; a wrong prior costs "
            "the trials that the search without needs less to reach what the wrong one had at its end. "
            "Medians, unless it says otherwise; negative numbers are the other way round; who never "
            "gets there is counted as one trial after the last; regrets below "
            f"{FLOOR:g} count as equal. Beside it Optuna's TPE, to which the guess is given as the "
            "first trial (`enqueue_trial`), against TPE without. The rows of another seed compare two "
            "searches that know nothing: so much is chance.\n",
            *table(found),
            "",
            f"Medians of the {chosen.repeats} searches on each function:\n",
            *by_function(found, chosen.half),
            "",
        ]
    )
    text += "\n" + BY_HAND + RESULT.read_text().partition(BY_HAND)[2]
    print(text)
    if chosen.save:
        RESULT.write_text(text)


if __name__ == "__main__":
    main()
