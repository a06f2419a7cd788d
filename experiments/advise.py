"""Search, take advice, search the advised space: against going on in the old one.

python -m experiments.advise                        # what is missing is computed, the table is printed
python -m experiments.advise --save

Twelve LCBench tasks with an odd number (experiments/real_runs/tasks.py), three for each kind of space:
plain, as it was recorded; too wide; too narrow; and with scales that are linear where the recorded ones
are logarithms. Beyond its recorded range a parameter acts as at the nearest recorded value. Our
optimiser runs 60 trials. Then it goes on with 60 more, and it searches the space that `hl.advise` gives
with 60, told those of the first trials that lie in it; parameters that are fixed count as if they had
had their value.

All of it is done with several seeds, from the first trials on. Differences are in units of the standard
error of a validation with 1000 rows, sqrt(p (1 - p) / 1000) at the best cost p of the first trials, and
their mean over seeds is shown with its standard error; within a tenth two results count as equal.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import hyperlens as hl
from experiments import DATA, options, publish, table
from experiments.real_runs.tasks import Tasks

FIRST, MORE = 60, 60
ROWS = 1000  # of the validation whose standard error is taken
EQUAL = 0.1  # of that error
SEEDS = 3
BEYOND = 2.0  # standard errors of a mean over seeds: what is larger is no chance
CHANGED: dict[str, dict[str, dict[str, Any]]] = {
    "plain": {},
    "too wide": {
        "learning_rate": {"lower": 1e-8, "upper": 10.0},
        "batch_size": {"lower": 1, "upper": 8192},
        "weight_decay": {"lower": 0.0, "upper": 1.0},
    },
    "too narrow": {
        "learning_rate": {"upper": 1e-3},
        "momentum": {"upper": 0.3},
        "max_units": {"upper": 128},
    },
    "badly scaled": {name: {"log": False} for name in ("learning_rate", "batch_size", "max_units")},
}
Row = dict[str, Any]


def main() -> None:
    parser = options(__doc__, "advise")
    parser.add_argument("--data", type=Path, default=DATA / "yahpo_lcbench")
    parser.add_argument("--cache", type=Path, default=Path("advise_cache"))
    parser.add_argument("--half", choices=("even", "odd"), default="odd")
    parser.add_argument("--most", type=int, default=12, help="tasks")
    arguments = parser.parse_args()
    arguments.cache.mkdir(exist_ok=True)
    tasks, path = Tasks(arguments.data), arguments.cache / f"{arguments.half}.jsonl"
    kinds = list(CHANGED)
    places = enumerate(getattr(tasks, arguments.half)[: arguments.most])
    for seed, (place, task) in product(range(SEEDS), tuple(places)):
        if (task, seed) in {(row["task"], row["seed"]) for row in _known(path)}:
            continue
        row = {"task": task, "space": kinds[place % len(kinds)], "seed": seed}
        row |= compared(tasks, task, CHANGED[row["space"]], seed=place + 100 * seed)
        with path.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(row, file=sys.stderr, flush=True)
    rows = _known(path)
    page = [*(__doc__ or "").split("\n\n")[2:], _table(rows), _said(rows)]
    publish("advise", "Advice on the next space", "experiments.advise", page, arguments.save)


def _known(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def compared(tasks: Tasks, task: str, changes: Mapping[str, Any], seed: int) -> Row:
    """The best cost of going on, and of searching the advised space."""
    known = {p.name: p for p in tasks.parameters}
    space = hl.Space.of([replace(p, **changes.get(p.name, {})) for p in tasks.parameters])

    def cost(configuration: Mapping[str, Any]) -> float:
        values = [
            float(np.clip(configuration[name], known[name].lower, known[name].upper))
            for name in tasks.names
        ]
        return float(tasks.at(task, np.array([values]))[0])

    first = hl.minimize(cost, space, trials=FIRST, seed=seed)
    told = [(dict(t.values), t.costs[0]) for t in first.trials]
    start = min(c for _, c in told)
    p = float(np.clip(start, 1 / ROWS, 0.5))
    error = float(np.sqrt(p * (1 - p) / ROWS))
    advice = hl.advise(first)
    old = min(start, _search(space, told, cost, seed, len(told)))
    inside = [(v, c) for v, c in ((_within(advice.space, v), c) for v, c in told) if v is not None]
    constants = advice.space.constants
    new = _search(advice.space, inside, lambda v: cost({**constants, **v}), seed, len(inside))
    return {
        "actions": dict(zip(advice.parameters, advice.actions, strict=True)),
        "told": len(inside),
        "start": start,
        "old": old,
        "new": min(start, new),
        "error": error,
    }


def _within(space: hl.Space, values: Mapping[str, Any]) -> dict[str, Any] | None:
    """The part of a configuration that a space knows, if it lies inside."""
    part = {name: values[name] for name in space.names}
    for name, value in part.items():
        if not space[name].lower <= value <= space[name].upper:
            return None
    return part


def _search(space: hl.Space, told: Any, cost: Any, seed: int, initial: int) -> float:
    """The best cost of so many more trials, after some that are known."""
    optimizer = hl.SMBO(space, seed=seed, initial=max(initial, 2 * len(space)))
    for values, known in told:
        optimizer.tell(values, known)
    found = []
    for _ in range(MORE):
        values = optimizer.ask().values
        found.append(cost(values))
        optimizer.tell(values, found[-1])
    return float(min(found))


def _difference(row: Row) -> float:
    return float((row["new"] - row["old"]) / row["error"])


def _by_task(rows: list[Row]) -> dict[str, list[Row]]:
    return {task: [r for r in rows if r["task"] == task] for task in {r["task"]: 0 for r in rows}}


def _mean(runs: list[Row]) -> tuple[float, float]:
    """Of the differences, over seeds, and its standard error."""
    found = np.array([_difference(row) for row in runs])
    error = found.std(ddof=1) / np.sqrt(len(found)) if len(found) > 1 else np.nan
    return float(found.mean()), float(error)


def _table(rows: list[Row]) -> str:
    lines = []
    for task, runs in _by_task(rows).items():
        first = runs[0]
        actions = ", ".join(f"{action} {name}" for name, action in first["actions"].items())
        costs = [f"{np.mean([r[name] for r in runs]):.4f}" for name in ("start", "old", "new")]
        mean, error = _mean(runs)
        each = ", ".join(f"{_difference(row):+.2f}" for row in runs)
        lines.append((task, first["space"], actions or "nothing", *costs, each,
                      f"{mean:+.2f} ± {error:.2f}"))  # fmt: skip
    heads = ("after 60", "60 more, old space", "60 more, advised space", "differences", "mean")
    return table(("task", "space", "advice with the first seed", *heads), lines)


def _said(rows: list[Row]) -> str:
    found = [_mean(runs) for runs in _by_task(rows).values()]
    better, worse = sum(m < -EQUAL for m, _ in found), sum(m > EQUAL for m, _ in found)
    beyond = sum(m > max(EQUAL, BEYOND * error) for m, error in found)
    single = np.array([_difference(row) for row in rows])
    gained, lost = int((single < -EQUAL).sum()), int((single > EQUAL).sum())
    return (
        f"Of {len(found)} tasks the advised space is better on {better}, equal on "
        f"{len(found) - better - worse} and worse on {worse} by the mean over seeds; worse by more than "
        f"{BEYOND:g} standard errors of that mean on {beyond}. Of the {len(rows)} single runs it is "
        f"better in {gained} and worse in {lost}, at the worst by {max(single.max(), 0.0):.2f}."
    )


if __name__ == "__main__":
    main()
