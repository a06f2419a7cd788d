"""Can what tunability promises be reached? LCBench, whose lowest costs are found by looking everywhere.

python -m experiments.tunable --data FOLDER --runs FOLDER [--save]

On each task of odd number `hl.tunability` is asked what tuning gains against the middle of the space, by
a run of TPE and by one of random search. What is true is the recorded model's: its cost at the
configuration that is named, and its lowest cost, from very many random configurations and a search
around the best.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

import hyperlens as hl
from experiments import DATA, options, publish, table
from experiments.across import history as lcbench_run
from experiments.real_runs.tasks import FloatArray, Tasks

MANY, KEPT, AROUND, ROUNDS = 20_000, 200, 10, 8
REACH, MOVED = 0.2, 0.4  # of an axis, half as far in each further round; of the axes


def lowest(tasks: Tasks, task: str) -> float:
    """The lowest cost of a task."""
    rng, cost = np.random.default_rng(0), tasks.cost(task)
    best = rng.random((MANY, len(tasks.names)))
    for k in range(ROUNDS + 1):
        values = cost(best)
        best = best[np.argsort(values)[:KEPT]]
        around = np.repeat(best, AROUND, axis=0)
        moves = REACH / 2**k * rng.normal(size=around.shape)
        moves *= rng.random(around.shape) < MOVED
        best = np.vstack([best, np.clip(around + moves, 0.0, 1.0)])
    return float(values.min())


def asked(tasks: Tasks, folder: Path, task: str, sampler: str) -> FloatArray:
    """Does the interval hold what is gained where it leads, and what could be gained; is less promised
    than there is; what is said, gained there and there to gain; and is it better than the best trial."""
    run = lcbench_run(tasks, folder, task, sampler)
    found = hl.tunability(run)
    named = dict(zip(found.parameters, found.best_values, strict=True))
    both = [tasks.space.default, named]
    values = np.array([[one[name] for name in tasks.names] for one in both], dtype=float)
    start, there = tasks.at(task, values)
    gained, most = start - there, start - lowest(tasks, task)
    low, high = found.whole_low, found.whole_high
    return np.array(
        [
            low <= gained <= high,
            low <= most <= high,
            found.reached < start - most,
            found.whole / most,
            gained / most,
            there < run.data().y.min(),
        ],
        dtype=float,
    )


def main() -> None:
    parser = options(__doc__, "tunable")
    parser.add_argument("--data", type=Path, default=DATA / "yahpo_lcbench", help="the model")
    parser.add_argument("--runs", type=Path, required=True, help="folder of experiments.real_runs")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    tasks, rows = Tasks(arguments.data), []
    for sampler, name in (("tpe", "TPE"), ("random", "random search")):
        each = [asked(tasks, arguments.runs, task, sampler) for task in tasks.odd]
        there, most, beyond, said, gained, better = np.array(each).T
        rows.append(
            (name, f"{there.mean():.0%}", f"{most.mean():.0%}", f"{int(beyond.sum())} of {len(beyond)}",
             f"{np.median(said):.2f}", f"{np.median(gained):.2f}",
             f"{int(better.sum())} of {len(better)}")
        )  # fmt: skip
    first = ("run", "holds what is gained there", "holds the most there is", "promises beyond it")
    head = (*first, "said", "gained there", "better than the best trial")
    about = (
        f"LCBench's {len(tasks.odd)} tasks of odd number, one run of 100 trials each; no setting was "
        "chosen by this page. What all parameters gain together against the middle of the space: how "
        "often the 90 % interval holds what the named configuration gains by the recorded model, and "
        "the most that there is to gain; how often a cost below the lowest of all is promised; what is "
        "said and what is gained there, as parts of the most (medians); and how often the named "
        "configuration is better than every trial of the run."
    )
    parts = [about, table(head, rows)]
    command = "experiments.tunable --data FOLDER --runs FOLDER --save"
    publish("tunable", "Can it be reached?", command, parts, arguments.save)


if __name__ == "__main__":
    main()
