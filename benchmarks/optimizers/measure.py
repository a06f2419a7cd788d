"""One run of a player on a problem, and runs that a file keeps.

A line of the file is a run as JSON; of its regrets those that differ from the one before, as pairs of
trial and regret to DIGITS digits.
"""

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
from benchmarks.optimizers.players import players, state_of, suits
from benchmarks.optimizers.problem import Diverged, Problem

NONE_YET = 1e3  # normalised regret before the first trial that ended
DIGITS = 5


@dataclass(frozen=True)
class Run:
    """Normalised regret, without noise: of the best measured after each trial, and at the end of what is
    recommended; overhead is processor time beside the cost's own, seconds a trial. `state` is the
    version of the player."""

    player: str
    state: str
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
        state_of(player),
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
    lines = kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []
    return {run.key: run for run in map(from_line, lines)}


def to_line(run: Run) -> str:
    """A run as one line of JSON."""
    values = {k: _short(v) if isinstance(v, float) else v for k, v in asdict(run).items()}
    trace = [_short(regret) for regret in run.trace]
    steps = [[k, r] for k, r in enumerate(trace) if not k or r != trace[k - 1]]
    return json.dumps(values | {"trace": steps, "trials": len(trace)}) + "\n"


def from_line(line: str) -> Run:
    """>>> a = Run("us", "1", "odd", "bowl", "smooth", 0, (3.0, 1.0, 1.0), 1.0, 0.1, 0.0, 5.0)
    >>> from_line(to_line(a)) == a
    True
    """
    values = json.loads(line)
    steps, trials = values["trace"], values.pop("trials")
    ends = [k for k, _ in steps[1:]] + [trials]
    trace = [r for (begins, r), end in zip(steps, ends, strict=True) for _ in range(begins, end)]
    return Run(**values | {"trace": tuple(trace)})


def _short(number: float) -> float:
    return float(f"{number:.{DIGITS}g}")


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
            with kept.open("a", encoding="utf-8") as file:
                file.write(to_line(run))
            yield run
