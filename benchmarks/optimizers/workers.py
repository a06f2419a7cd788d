"""What many asynchronous workers lose against one at equal trials, and how much of it nobody can help.

python -m benchmarks.optimizers.workers run      # BBOB's even functions
python -m benchmarks.optimizers.workers page --save

Workers are simulated: an evaluation takes between half and one and a half units of time, each worker
asks as soon as its own has ended, and what the others are at is awaited. So nothing depends on the
machine. Finished searches are kept, in docs/results/workers.jsonl unless a file is named.

Of so many trials the last one of 32 workers is chosen when 31 are still out. So one worker is also shown
when it has had 31 trials less: by then it has known as much. TPE is run by the same workers, with its
liar, which takes what is out for bad.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is loaded

import argparse
import heapq
import json
import math
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import optuna
import pandas as pd

import hyperlens as hl
from benchmarks.machine import description
from benchmarks.optimizers.bbob import plain
from benchmarks.optimizers.courses import FLOOR
from benchmarks.optimizers.plan import FIRST, Half
from benchmarks.optimizers.players import RANDOM, suggested
from benchmarks.optimizers.problem import Problem
from hyperlens.optimize.optimizers.protocol import Candidate

RESULT = Path(__file__).parents[2] / "docs" / "results" / "workers.md"
KEPT = RESULT.with_suffix(".jsonl")
WORKERS = (1, 8, 32)
KNOWING, TPE = "as known", "Optuna TPE"
CALLED = {
    "1": "1 worker",
    "8": "8 workers",
    "32": "32 workers",
    KNOWING: "1 worker, 31 trials less",
    TPE: "TPE, 32 workers",
    RANDOM: RANDOM,
}
ALPHA = 0.05
FASTEST, SLOWEST = 0.5, 1.5  # units of time that an evaluation takes


class Search(Protocol):
    """What workers ask and tell."""

    def ask(self) -> tuple[Mapping[str, Any], Any]:
        """Values, and what they are told by."""

    def tell(self, asked: Any, cost: float) -> None: ...


class Ours:
    def __init__(self, problem: Problem, seed: int) -> None:
        self.search = hl.SMBO(problem.space, seed=seed)

    def ask(self) -> tuple[Mapping[str, Any], Candidate]:
        candidate = self.search.ask()
        return candidate.values, candidate

    def tell(self, asked: Candidate, cost: float) -> None:
        self.search.tell(asked.values, cost)


class Liar:
    def __init__(self, problem: Problem, seed: int) -> None:
        sampler = optuna.samplers.TPESampler(seed=seed, constant_liar=True)
        self.study, self.space = optuna.create_study(sampler=sampler), problem.space

    def ask(self) -> tuple[Mapping[str, Any], optuna.Trial]:
        trial = self.study.ask()
        return suggested(trial, self.space), trial

    def tell(self, asked: optuna.Trial, cost: float) -> None:
        self.study.tell(asked, cost)


def asynchronous(search: Search, problem: Problem, workers: int, seed: int) -> float:
    """The smallest regret after all trials, so many of them being evaluated at a time."""
    rng = np.random.default_rng([seed, 11])
    running: list[tuple[float, int, Mapping[str, Any], Any]] = []
    now, best = 0.0, math.inf
    for number in range(problem.trials + workers):
        if number >= workers and running:
            now, _, values, asked = heapq.heappop(running)
            cost = problem.cost(values)
            search.tell(asked, cost)
            best = min(best, problem.regret(cost))
        if number < problem.trials:
            until = now + rng.uniform(FASTEST, SLOWEST)
            heapq.heappush(running, (until, number, *search.ask()))
    return best


def regret_of(who: str, problem: Problem, seed: int) -> float:
    if who == RANDOM:
        return at_random(problem, seed)
    if who == TPE:
        return asynchronous(Liar(problem, seed), problem, WORKERS[-1], seed)
    if who == KNOWING:
        fewer = replace(problem, trials=problem.trials - WORKERS[-1] + 1)
        return asynchronous(Ours(problem, seed), fewer, 1, seed)
    return asynchronous(Ours(problem, seed), problem, int(who), seed)


def at_random(problem: Problem, seed: int) -> float:
    drawn = problem.space.decode(problem.space.sample(problem.trials, seed))
    return min(problem.regret(problem.cost(values)) for values in drawn)


def searches(half: Half, dims: list[int], repeats: int, kept: Path) -> Iterator[str]:
    """Searches that the file does not hold yet, written to it as they end."""
    lines = kept.read_text().splitlines() if kept.exists() else []
    known = {tuple(json.loads(line)[:5]) for line in lines}
    first = 1 if half == "tuning" else 2
    for repeat in range(repeats):
        instance = FIRST[half] + repeat
        for d in dims:
            for number in range(first, 25, 2):
                for who in CALLED:
                    key = half, number, d, instance, who
                    if key in known:
                        continue
                    problem = plain(number, d, instance)
                    regret = regret_of(who, problem, instance)
                    with kept.open("a") as file:
                        file.write(json.dumps([*key, regret]) + "\n")
                    yield f"{number:3} d={d} {who:14} {regret:.3g}"


def page(half: Half, kept: Path) -> str:
    columns = ["half", "number", "d", "instance", "who", "regret"]
    frame = pd.DataFrame(
        [json.loads(line) for line in kept.read_text().splitlines()], columns=columns
    )
    frame = frame[frame.half == half]
    table = frame.pivot_table(index=["d", "number", "instance"], columns="who", values="regret")
    who, called = list(CALLED), list(CALLED.values())
    table = np.log10(np.maximum(table[who].dropna(), FLOOR))
    lines = [
        f"# Many workers\n\n`python -m benchmarks.optimizers.workers`. {description()}\n",
        *answers(table),
        "",
        "## How it was measured\n",
        f"{len(table)} searches each on BBOB's {'even' if half == 'reported' else 'odd'} functions with "
        "25 trials for each dimension, on one worker and on many asynchronous ones at equal trials: the "
        f"evaluations of many take between {FASTEST:g} and {SLOWEST:g} units of time and are awaited "
        "meanwhile. Regret is the smallest measured, in units in which a random configuration has 1 in "
        f"the median and the best 0; what is below {FLOOR:g} counts as equal. When 32 workers choose "
        "their last trial, 31 are still out: one worker with 31 trials less has known as much, and what "
        "lies between it and one worker with all trials is the price of waiting for nobody, "
        "whatever the search. Every search is a line of [workers.jsonl](workers.jsonl).\n",
        "| d | " + " | ".join(called) + " |",
        "|" + "---|" * (1 + len(called)),
    ]
    for d, part in table.groupby(level="d"):
        cells = " | ".join(f"{10 ** part[w].median():.2g}" for w in who)
        lines.append(f"| {d} ({len(part)} searches), median | {cells} |")
    lines += ["", "| first | beside | better | worse | p (Wilcoxon) |", "|---|---|---|---|---|"]
    for w, other in [*((w, "1") for w in who[1:]), ("32", KNOWING), ("32", TPE)]:
        better, worse, p = duel(table, w, other)
        lines.append(f"| {CALLED[w]} | {CALLED[other]} | {better} | {worse} | {p:.2g} |")
    record = hl.compare(table.set_axis(called, axis=1).reset_index(drop=True), maximize=False)
    return "\n".join([*lines, "", record.sentence, ""])


def duel(table: pd.DataFrame, who: str, other: str) -> tuple[int, int, float]:
    """On how many problems one is better, on how many worse, and Wilcoxon's p."""
    both = table[[who, other]].reset_index(drop=True)
    better, worse = int((both[who] < both[other]).sum()), int((both[who] > both[other]).sum())
    return better, worse, hl.compare(both, maximize=False).pairs[0].p


def answers(table: pd.DataFrame) -> list[str]:
    """What was wanted of many workers, each with what was found."""
    lines = ["| wanted | found |", "|---|---|"]
    for many in ("8", "32"):
        better, worse, p = duel(table, many, "1")
        verdict = "**no**" if p < ALPHA and worse > better else "**yes**"
        found = f"{verdict}: {better} better, {worse} worse (p {p:.2g})"
        if many == "32":
            better, worse, p = duel(table, many, KNOWING)
            alike = "no difference is shown" if p >= ALPHA else "they differ"
            found += (
                f"; beside one worker with {WORKERS[-1] - 1} trials fewer, which has known as much at "
                f"its last one, {alike}: {better} better, {worse} worse (p {p:.2g})"
            )
        lines.append(f"| {many} workers lose little against one at equal trials | {found} |")
    better, worse, p = duel(table, "32", TPE)
    lines.append(
        f"| beside another tool's 32 workers | Optuna TPE with its liar: {better} better, {worse} worse "
        f"(p {p:.2g}) |"
    )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("step", choices=("run", "page"))
    parser.add_argument("--runs", type=Path, default=KEPT, help="where finished searches are kept")
    parser.add_argument("--half", choices=("tuning", "reported"), default="reported")
    parser.add_argument("--dims", type=int, nargs="+", default=[2, 5])
    parser.add_argument("--repeats", type=int, default=1, help="instances and seeds")
    parser.add_argument("--save", action="store_true", help="write docs/results/workers.md")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    if chosen.step == "run":
        for line in searches(chosen.half, chosen.dims, chosen.repeats, chosen.runs):
            print(line, flush=True)
        return
    text = page(chosen.half, chosen.runs)
    print(text)
    if chosen.save:
        RESULT.write_text(text)


if __name__ == "__main__":
    main()
