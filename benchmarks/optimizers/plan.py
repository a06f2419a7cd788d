"""Which problems there are: one half to choose settings on, the other half to report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Literal

from benchmarks.optimizers.bbob import diverging, mixed, pipeline, plain
from benchmarks.optimizers.lcbench import lcbench, tasks
from benchmarks.optimizers.problem import Problem

Half = Literal["tuning", "reported"]
NOISES = (0.05, 0.2)
SOME = 4  # tasks of LCBench in each repeat
FIRST = {"tuning": 1, "reported": 101}  # instances and seeds of the two halves lie apart


@dataclass(frozen=True)
class Task:
    """A problem to be built when it is its turn; `repeat` counts its instances and seeds."""

    label: str
    repeat: int
    seed: int
    build: Callable[[], Problem]


def tasks_of(half: Half, dims: tuple[int, ...], repeats: int, folder: Path) -> Iterator[Task]:
    """All of a half, whole repeats one after the other, so that a stop leaves all groups equally far."""
    first = 1 if half == "tuning" else 2
    numbers = tuple(range(first, 25, 2))
    some = numbers[1::3]  # 3, 9, 15, 21 or 4, 10, 16, 22
    for repeat in range(repeats):
        instance = FIRST[half] + repeat
        builds: dict[str, Callable[[], Problem]] = {}
        for d in dims:
            for number in numbers:
                builds[f"BBOB {number}, d={d}"] = partial(plain, number, d, instance)
                for noise in NOISES:
                    label = f"BBOB {number}, d={d}, noise {100 * noise:g} %"
                    builds[label] = partial(_noisy, number, d, instance, noise)
            for number in some:
                builds[f"BBOB {number}, d={d}, diverging"] = partial(diverging, number, d, instance)
        for number in some:
            builds[f"BBOB {number}, mixed"] = partial(mixed, number, instance)
        for three in (numbers[:3], numbers[4:7]):
            label = f"pipeline of BBOB {', '.join(map(str, three))}"
            builds[label] = partial(pipeline, three, instance)
        if (folder / "model.onnx").is_file():
            known = tasks(folder)
            names = known.even if half == "tuning" else known.odd
            for name in names[repeat % 2 :: len(names) // SOME][:SOME]:
                builds[f"LCBench {name}"] = partial(_task, folder, name)
        for label, build in builds.items():
            yield Task(label, repeat, instance, build)


def _noisy(number: int, d: int, instance: int, noise: float) -> Problem:
    return plain(number, d, instance).noisy(noise)


@cache
def _task(folder: Path, name: str) -> Problem:
    return lcbench(folder, name)
