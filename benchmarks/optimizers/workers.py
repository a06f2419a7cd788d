"""What many asynchronous workers lose against one at equal trials.

python -m benchmarks.optimizers.workers run --runs FILE      # BBOB's even functions
python -m benchmarks.optimizers.workers page --runs FILE --save

Workers are simulated: an evaluation takes between half and one and a half units of time, each worker
asks as soon as its own has ended, and what the others are at is awaited. So nothing depends on the
machine. Finished searches are kept in FILE.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is loaded

import argparse
import heapq
import json
import math
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

import hyperlens as hl
from benchmarks.machine import description
from benchmarks.optimizers.bbob import plain
from benchmarks.optimizers.page import FLOOR
from benchmarks.optimizers.plan import FIRST, Half
from benchmarks.optimizers.players import RANDOM
from benchmarks.optimizers.problem import Problem
from hyperlens.optimize.optimizers.protocol import Candidate

RESULT = Path(__file__).parents[2] / "docs" / "results" / "workers.md"
WORKERS = (1, 8, 32)
FASTEST, SLOWEST = 0.5, 1.5  # units of time that an evaluation takes


def asynchronous(problem: Problem, workers: int, seed: int) -> float:
    """The smallest regret after all trials, so many of them being evaluated at a time."""
    rng = np.random.default_rng([seed, 11])
    search = hl.SMBO(problem.space, seed=seed)
    running: list[tuple[float, int, Candidate]] = []
    now, best = 0.0, math.inf
    for number in range(problem.trials + workers):
        if number >= workers and running:
            now, _, ended = heapq.heappop(running)
            cost = problem.cost(ended.values)
            search.tell(ended.values, cost)
            best = min(best, problem.regret(cost))
        if number < problem.trials:
            candidate = search.ask()
            until = now + rng.uniform(FASTEST, SLOWEST)
            heapq.heappush(running, (until, candidate.number, candidate))
    return best


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
                for who in (RANDOM, *map(str, WORKERS)):
                    key = half, number, d, instance, who
                    if key in known:
                        continue
                    problem = plain(number, d, instance)
                    regret = (
                        at_random(problem, instance)
                        if who == RANDOM
                        else asynchronous(problem, int(who), instance)
                    )
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
    who = [*map(str, WORKERS), RANDOM]
    table = np.log10(np.maximum(table[who].dropna(), FLOOR))
    called = [*("1 worker" if w == 1 else f"{w} workers" for w in WORKERS), RANDOM]
    lines = [
        f"# Many workers\n\n`python -m benchmarks.optimizers.workers`. {description()}\n",
        f"{len(table)} searches each on BBOB's {'even' if half == 'reported' else 'odd'} functions with "
        "25 trials for each dimension, on one worker and on many asynchronous ones at equal trials: the "
        f"evaluations of many take between {FASTEST:g} and {SLOWEST:g} units of time and are awaited "
        "meanwhile. Regret is the smallest measured, in units in which a random configuration has 1 in "
        f"the median and the best 0; what is below {FLOOR:g} counts as equal.\n",
        "| d | " + " | ".join(called) + " |",
        "|" + "---|" * (1 + len(called)),
    ]
    for d, part in table.groupby(level="d"):
        cells = " | ".join(f"{10 ** part[w].median():.2g}" for w in who)
        lines.append(f"| {d} ({len(part)} searches), median | {cells} |")
    lines += ["", "| beside one worker | better | worse | p (Wilcoxon) |", "|---|---|---|---|"]
    for w, name in zip(who[1:], called[1:], strict=True):
        both = table[[w, "1"]].reset_index(drop=True)
        p = hl.compare(both, maximize=False).pairs[0].p
        better, worse = int((both[w] < both["1"]).sum()), int((both[w] > both["1"]).sum())
        lines.append(f"| {name} | {better} | {worse} | {p:.2g} |")
    record = hl.compare(table.set_axis(called, axis=1).reset_index(drop=True), maximize=False)
    return "\n".join([*lines, "", record.sentence, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("step", choices=("run", "page"))
    parser.add_argument("--runs", type=Path, required=True, help="where finished searches are kept")
    parser.add_argument("--half", choices=("tuning", "reported"), default="reported")
    parser.add_argument("--dims", type=int, nargs="+", default=[2, 5])
    parser.add_argument("--repeats", type=int, default=1, help="instances and seeds")
    parser.add_argument("--save", action="store_true", help="write docs/results/workers.md")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
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
