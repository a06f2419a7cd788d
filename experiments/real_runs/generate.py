"""Truths and runs that are not in the cache yet, those that are needed first before the others."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from experiments.real_runs.runs import run
from experiments.real_runs.tasks import Tasks
from experiments.real_runs.truth import truth

FIRST, SECOND, SLOW = ("random", "tpe"), ("hyperband", "ours"), ("gp", "smac")


def truth_file(cache: Path, task: str) -> Path:
    return cache / f"truth_{task}.npz"


def run_file(cache: Path, task: str, sampler: str, seed: int) -> Path:
    return cache / f"run_{task}_{sampler}_{seed}.npz"


def generate(tasks: Tasks, cache: Path, seed: int) -> None:
    for half, names in (("EVEN", tasks.even), ("ODD", tasks.odd)):
        for task in names:
            _truth(tasks, cache, task)
            _runs(tasks, cache, [task], FIRST, seed)
        (cache / f"READY_{half}").touch()
        print(f"{half.lower()} tasks: truth, {' and '.join(FIRST)}", flush=True)
    for names in (tasks.odd, tasks.even):  # what is reported first
        _runs(tasks, cache, names, (*SECOND, *SLOW), seed)


def _truth(tasks: Tasks, cache: Path, task: str) -> None:
    path = truth_file(cache, task)
    if not path.exists():
        began = time.perf_counter()
        truth(tasks, task, path)
        _said(path, began)


def _runs(
    tasks: Tasks, cache: Path, names: list[str], samplers: tuple[str, ...], seed: int
) -> None:
    for task in names:
        for sampler in samplers:
            path = run_file(cache, task, sampler, seed)
            if not path.exists():
                began = time.perf_counter()
                run(tasks, task, sampler, seed, path)
                _said(path, began)


def _said(path: Path, began: float) -> None:
    print(f"{path.stem}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
