"""Networks of LCBench as YAHPO's model predicts them, on the tasks of experiments/real_runs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.optimizers.problem import Problem, scaled
from experiments.real_runs.tasks import Tasks

TRIALS = 100
KNOWN = (
    20_000  # random configurations, the best of which stands for the minimum until one is better
)


@cache
def tasks(folder: Path) -> Tasks:
    return Tasks(folder)


def lcbench(folder: Path, name: str) -> Problem:
    known = tasks(folder)

    def cost(values: Mapping[str, Any]) -> float:
        return float(known.at(name, np.array([[values[n] for n in known.names]], dtype=float))[0])

    points = np.random.default_rng(0).random((KNOWN, len(known.names)))
    smallest = float(known.cost(name)(points).min())
    return scaled(Problem(f"LCBench {name}", "LCBench", known.space, cost, smallest, TRIALS))
