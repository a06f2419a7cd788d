"""A default from many runs on a task that none of them saw: LCBench, one task left out at a time.

python -m experiments.across --data FOLDER --runs FOLDER [--save]

The runs are those of `experiments.real_runs`: TPE, its first trials, one run a task, the odd tasks. Of
all tasks but one, one configuration is chosen that does well everywhere (`hl.across`'s portfolio), and
three. On the task left out the recorded model says what they cost, beside the middle of the space and
beside the best trial of each other task's run.

Then the task left out is searched: from nothing, beginning with the three, and by `learn_from=` all
other runs; of each the best after some trials, from the same seeds.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

import hyperlens as hl
from benchmarks.machine import description
from experiments.real_runs.tasks import FloatArray, Tasks
from hyperlens.explain.across.portfolio import candidates, greedy, regrets
from hyperlens.explain.models.fitting import Fitted
from hyperlens.spaces.cube import BoolArray, IntArray

RESULT = Path(__file__).parents[1] / "docs" / "results" / "across.md"
TRIALS, SIZE = 100, 3
SEARCHES = ("nothing", "first=portfolio", "learn_from=runs")
AFTER, SEEDS = (5, 10, 20, 40), 2  # trials of a search, and how often each is run


def history(
    tasks: Tasks, folder: Path, task: str, sampler: str = "tpe", seed: int = 0
) -> hl.History:
    """The first trials of a run."""
    run = np.load(folder / f"run_{task}_{sampler}_{seed}.npz")
    values = tasks.configurations(run["X"][:TRIALS])
    trials = [
        hl.Trial(k, v, (float(c),))
        for k, (v, c) in enumerate(zip(values, run["y"][:TRIALS], strict=True))
    ]
    return hl.History(tasks.space, (hl.Objective("error"),), tuple(trials))


def left_out(
    tasks: Tasks, folder: Path, task: str, fits: dict[str, Fitted]
) -> tuple[FloatArray, FloatArray]:
    """On one task: of the default, one common configuration, the best of three, and each other run's
    best, how much of what lies between best and median of a random search is left; and the same of
    searches (searches, after)."""
    others = [fits[other] for other in fits if other != task]
    default = tasks.space.encode([tasks.space.default])[0]
    X, best = candidates(others, tasks.space.cube, default, seed=0)
    chosen = greedy(regrets(others, X), SIZE)
    rows = tasks.space.decode(X[[0, *chosen, *best]])
    values = np.array([[row[name] for name in tasks.names] for row in rows], dtype=float)
    cost = tasks.at(task, values)
    known = np.load(folder / f"run_{task}_random_0.npz")["y"]
    scale = float(np.median(known) - known.min())
    left = (cost - known.min()) / scale
    runs = [history(tasks, folder, other) for other in fits if other != task]
    reached = (_searched(tasks, task, rows[1 : 1 + len(chosen)], runs) - known.min()) / scale
    own = [left[:2], [left[1 : 1 + len(chosen)].min()], left[1 + len(chosen) :]]
    return np.concatenate(own), reached


def _searched(
    tasks: Tasks, task: str, first: list[dict[str, Any]], runs: list[hl.History]
) -> FloatArray:
    """The best cost after some trials, the mean over seeds, of each search (searches, after)."""

    def cost(values: dict[str, Any]) -> float:
        return float(tasks.at(task, np.array([[values[n] for n in tasks.names]], dtype=float))[0])

    known: tuple[dict[str, Any], ...] = ({}, {"first": first}, {"learn_from": runs})
    found = np.zeros((len(known), len(AFTER)))
    for k, options in enumerate(known):
        for seed in range(SEEDS):
            run = hl.minimize(cost, tasks.space, trials=max(AFTER), seed=seed, **options)
            best = np.minimum.accumulate([t.costs[0] for t in run.trials])
            found[k] += best[np.array(AFTER) - 1] / SEEDS
    return found


def _by_source(beaten: BoolArray) -> IntArray:
    """On how many tasks left out each single task's best is beaten, from (left out, others)."""
    count = len(beaten)
    whole = np.zeros((count, count), dtype=bool)
    for k in range(count):
        whole[k, np.delete(np.arange(count), k)] = beaten[k]
    return np.asarray(whole.sum(axis=0))


def warm(searches: FloatArray) -> list[str]:
    """Lines on searches (tasks, searches, after): means, and on how many tasks they are ahead."""
    count = len(searches)
    lines = [
        "## A search that begins with them", "",
        f"The task left out is searched by `hl.minimize`, {SEEDS} seeds, from nothing, with the three "
        "configurations first (`first=record.portfolio`), and learning from all other runs "
        "(`learn_from=runs`). The best so far, in the same units, on average over tasks; in brackets on "
        f"how many of {count} tasks it is ahead of the search from nothing, and on how many behind.", "",
        "| known before | " + " | ".join(f"{n} trials" for n in AFTER) + " |",
        "|---" * (1 + len(AFTER)) + "|",
    ]  # fmt: skip
    for k, name in enumerate(SEARCHES):
        cells = []
        for j in range(len(AFTER)):
            own, cold = searches[:, k, j], searches[:, 0, j]
            beside = f" ({(own < cold).sum()}, {(own > cold).sum()})" if k else ""
            cells.append(f"{own.mean():.2f}{beside}")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return [*lines, ""]


def page(rows: dict[str, FloatArray], searches: FloatArray) -> str:
    table = [
        f"| {task} | {r[0]:.2f} | {r[1]:.2f} | {r[2]:.2f} | {np.median(r[3:]):.2f} | "
        f"{r[3:].min():.2f} | {(r[1] < r[3:]).mean():.0%} |"
        for task, r in rows.items()
    ]
    all_ = np.array(list(rows.values()))
    single = all_[:, 3:]
    beaten = all_[:, 1:2] < single
    mean = all_.mean(axis=0)
    wins, ties = _by_source(beaten), (len(rows) - 1) / 2
    lines = [
        "# A default from many runs, on a task that none of them saw", "",
        "`python -m experiments.across --data FOLDER --runs FOLDER --save`", "",
        description(), "",
        f"LCBench's {len(rows)} tasks of odd number, one left out at a time; a run of {TRIALS} trials "
        "of TPE on each of the others, explained by the additive process. One configuration that does "
        "well in all of these runs is chosen (`hl.across`), and three. Numbers are what the recorded "
        "model says of them on the task left out: 0 is the best of 200 random trials there, 1 their "
        "median.", "",
        f"- The common configuration beats the middle of the space on "
        f"{(all_[:, 1] < all_[:, 0]).sum()} of {len(rows)} tasks ({mean[1]:.2f} against "
        f"{mean[0]:.2f} on average).",
        f"- It beats another task's best trial in {beaten.mean():.0%} of the {beaten.size} pairs, and "
        f"the median of them on {(all_[:, 1] < np.median(single, axis=1)).sum()} of {len(rows)} "
        f"tasks ({mean[1]:.2f} against {single.mean():.2f} on average).",
        f"- Of the {len(rows)} tasks' own bests it beats {(wins > ties).sum()} on most of the "
        f"{len(rows) - 1} other tasks (the hardest to beat on {wins.min()}, the median on "
        f"{np.median(wins):.0f}, the weakest on {wins.max()}).",
        f"- It beats all of them on {beaten.all(axis=1).sum()}: which of {single.shape[1]} is the best "
        "elsewhere nobody knows beforehand.",
        f"- The best of three leaves {mean[2]:.2f} on average.", "",
        "| left out | middle | one for all | best of three | other bests, median | luckiest | beaten |",
        "|---|---|---|---|---|---|---|", *table, "", *warm(searches),
    ]  # fmt: skip
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the LCBench model")
    parser.add_argument("--runs", type=Path, required=True, help="folder of experiments.real_runs")
    parser.add_argument("--save", action="store_true", help=f"write {RESULT.name}")
    arguments = parser.parse_args()
    tasks = Tasks(arguments.data)
    fits = {
        task: hl.fit(history(tasks, arguments.runs, task), "additive")
        for task in tasks.odd
        if (arguments.runs / f"run_{task}_tpe_0.npz").is_file()
    }
    found = {}
    for task in fits:
        found[task] = left_out(tasks, arguments.runs, task, fits)
        print(task, file=sys.stderr, flush=True)
    rows = {task: own for task, (own, _) in found.items()}
    text = page(rows, np.array([searches for _, searches in found.values()]))
    print(text)
    if arguments.save:
        RESULT.write_text(text, encoding="utf-8")
