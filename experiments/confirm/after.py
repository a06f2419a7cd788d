"""100 trials of TPE and some more: none, of TPE as it went on, at random, or chosen by hl.confirm."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import hyperlens as hl
from experiments.confirm.measure import LEVEL, Row, as_history, costs_of, keep, measured, missing
from experiments.real_runs.generate import run_file, truth_file
from experiments.real_runs.runs import load
from experiments.real_runs.tasks import Tasks

FIRST, MORE, SEEDS = (
    100,
    (10, 20, 40),
    (0, 1),
)  # seeds of the runs; those of random trials are one more
WAYS = ("TPE, going on", "random", "confirm")


def after(tasks: Tasks, cache: Path, path: Path, names: Sequence[str]) -> None:
    for seed in SEEDS:
        for task in missing(path, names, seed):
            keep(path, [{"seed": seed, **row} for row in _task(tasks, cache, task, seed)])


def _task(tasks: Tasks, cache: Path, task: str, seed: int) -> list[Row]:
    truth, run = load(truth_file(cache, task)), load(run_file(cache, task, "tpe", seed))
    values = tasks.configurations(run["X"])
    begun = values[:FIRST]
    history = as_history(tasks, begun, run["y"][:FIRST])
    found = [{"task": task, "way": "nothing", "more": 0, **measured(history, truth)}]
    began = time.process_time()
    chosen = {k: hl.confirm(history, trials=k, level=LEVEL) for k in MORE[1:]}
    seconds = (time.process_time() - began) / len(chosen)
    random = np.random.default_rng(seed + 1).random((max(MORE), len(tasks.names)))
    ways = {
        "TPE, going on": values[FIRST : FIRST + max(MORE)],
        "random": tasks.configurations(random),
        "confirm": [dict(c) for c in chosen[max(MORE)].configurations],
    }
    for way, more in ways.items():
        costs = costs_of(tasks, task, [*begun, *more])
        for k in MORE:
            longer = as_history(tasks, [*begun, *more[:k]], costs[: FIRST + k])
            row = {"task": task, "way": way, "more": k, **measured(longer, truth)}
            if way == "confirm" and k in chosen:
                record = chosen[k]
                width = float((record.expected_high - record.expected_low).mean())
                row |= {"expected": 100 * width, "seconds": seconds}
            found.append(row)
    return found
