"""A search by expected improvement, and the same that gives 0.3 of its trials to the explanation."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import hyperlens as hl
from experiments.confirm.measure import Row, costs_of, keep, measured, missing
from experiments.real_runs.generate import run_file, truth_file
from experiments.real_runs.runs import load
from experiments.real_runs.tasks import Tasks

TRIALS, EXPLAIN, SEEDS = 100, 0.3, (0, 1)


def search(tasks: Tasks, cache: Path, path: Path, names: Sequence[str]) -> None:
    for task in missing(path, names):
        keep(path, _task(tasks, cache, task))


def _task(tasks: Tasks, cache: Path, task: str) -> list[Row]:
    truth = load(truth_file(cache, task))
    known = float(load(run_file(cache, task, "tpe", 0))["y"].min())

    def cost(configuration: dict[str, object]) -> float:
        return float(costs_of(tasks, task, [configuration])[0])

    found = []
    for seed in SEEDS:
        for part in (0.0, EXPLAIN):
            began = time.process_time()
            run = hl.minimize(
                cost, tasks.space, "smbo", TRIALS, seed=seed, acquisition="ei", explain=part
            )
            seconds = time.process_time() - began
            row = {"task": task, "seed": seed, "explain": part, "best": run.best().costs[0]}
            found.append(row | {"known": known, "seconds": seconds, **measured(run, truth)})
    return found
