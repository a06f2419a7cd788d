"""One run of a player on a problem, and runs that a file keeps."""

from __future__ import annotations

import json
import math
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.optimizers.plan import Task
from benchmarks.optimizers.players import players, suits
from benchmarks.optimizers.problem import Diverged, Problem

NONE_YET = 1e3  # normalised regret before the first trial that ended


@dataclass(frozen=True)
class Run:
    """Normalised regret, without noise: of the best measured after each trial, and at the end of what is
    recommended; overhead is processor time beside the cost's own, seconds a trial."""

    player: str
    half: str
    problem: str
    group: str
    repeat: int
    trace: tuple[float, ...]
    final: float
    overhead: float
    minimum: float
    typical: float

    @property
    def key(self) -> tuple[str, str, str, int]:
        return self.player, self.half, self.problem, self.repeat


def measure(player: str, half: str, task: Task, problem: Problem) -> Run:
    noise = np.random.default_rng([task.seed, 7])
    measured: list[float] = []
    true: list[float] = []
    inside = 0.0

    def cost(values: Mapping[str, Any]) -> float:
        nonlocal inside
        began = time.process_time()
        try:
            exact = problem.cost(values)
            seen = exact + problem.noise * problem.spread * float(noise.standard_normal())
        except Diverged:
            exact = seen = math.inf
            raise
        finally:
            true.append(exact)
            measured.append(seen)
            inside += time.process_time() - began
        return seen

    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        advice = players()[player](problem, cost, task.seed)
    overhead = (time.process_time() - began - inside) / len(measured)
    costs, told = np.array(true[: problem.trials]), np.array(measured[: problem.trials])
    best = [int(np.argmin(told[: k + 1])) for k in range(len(told))]
    trace = [problem.regret(costs[k]) if math.isfinite(costs[k]) else NONE_YET for k in best]
    final = trace[-1] if advice is None else problem.regret(problem.cost(advice))
    return Run(
        player,
        half,
        problem.name,
        problem.group,
        task.repeat,
        tuple(trace),
        final,
        overhead,
        problem.minimum,
        problem.typical,
    )


def stored(kept: Path) -> dict[tuple[str, str, str, int], Run]:
    """Runs that a file holds; of two alike the later one."""
    lines = kept.read_text().splitlines() if kept.exists() else []
    runs = [Run(**{**line, "trace": tuple(line["trace"])}) for line in map(json.loads, lines)]
    return {run.key: run for run in runs}


def go(tasks: Iterable[Task], half: str, kept: Path, only: list[str]) -> Iterator[Run]:
    """Runs that the file does not hold yet, written to it as they end; a player that breaks is said."""
    known = stored(kept)
    for task in tasks:
        wanted = [
            name
            for name in players()
            if name in only and (name, half, task.label, task.repeat) not in known
        ]
        problem = task.build() if wanted else None
        for name in wanted:
            if problem is None or not suits(name, problem):
                continue
            try:
                run = measure(name, half, task, problem)
            except Exception as broken:
                print(f"{name} broke on {problem.name}: {type(broken).__name__}: {broken}")
                continue
            with kept.open("a") as file:
                file.write(json.dumps(asdict(run)) + "\n")
            yield run
