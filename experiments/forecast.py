"""Forecasts of runs that are known to their end: do intervals hold, and what does stopping by them save?

python -m experiments.forecast                      # what is missing is computed, the tables are printed
python -m experiments.forecast --save               # Optuna's terminator needs torch

Runs of 200 trials of random search and of TPE on LCBench (experiments/real_runs/tasks.py), each task
with a seed of its own; for the first six tasks also of our optimiser. A run is cut after 30, 60 and 100
trials, and what the next 10, 20, 50 and 100 found is laid beside what was forecast from the cut run.
After runs of TPE a random search is forecast as well; its trials are drawn and evaluated anew. How far
a search by a model gets was learnt on tasks with an even number; tasks with an odd number are reported.

Stopping, when 100 more trials are expected to gain less than the standard error of a cost (so many
were chosen on the tasks with an even number): the standard error of a cost p is taken to be that of
a validation with 1000 rows, sqrt(p (1 - p) / 1000) at the best cost of the first 20 trials.
Optuna's terminator (a bound of the regret) has the same error and is asked after the same numbers
of trials. The loss is what the whole run found beyond that, in units of that error.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import optuna
from optuna import terminator

import hyperlens as hl
from experiments import DATA, options, publish, table
from experiments.real_runs.evaluate import as_study
from experiments.real_runs.runs import load, run
from experiments.real_runs.tasks import FloatArray, Tasks
from hyperlens.optimize.running.stopping import Stop

CUTS, MORE = (30, 60, 100), (10, 20, 50, 100)
SEED = {"even": 100, "odd": 200}  # plus the place of the task
ROWS = 1000  # of the validation whose standard error is taken
OURS = 6  # tasks that our optimiser was run on
HOLD = """\
Intervals of 80 % hold in 70 to 90 % of the cases if they are honest. *Nothing gained* says in how many
cases it was so: an interval that reaches down to 0 holds in all of these, so that where they are more
than 90 % no interval that says so holds in less. ± is the standard error over tasks. Expected and real
gains are means in units of the standard error of a cost."""
Row = dict[str, Any]


def main() -> None:
    parser = options(__doc__, "forecast")
    parser.add_argument("--data", type=Path, default=DATA / "yahpo_lcbench")
    parser.add_argument("--cache", type=Path, default=Path("forecast_cache"))
    parser.add_argument("--half", choices=("even", "odd"), default="odd")
    parser.add_argument("--samplers", nargs="*", default=["tpe", "random", "ours"])
    arguments = parser.parse_args()
    arguments.cache.mkdir(exist_ok=True)
    warnings.simplefilter("ignore")  # of what is experimental in Optuna
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    tasks = Tasks(arguments.data)
    for stage in (_cut, _stopped, _terminated):
        for sampler in arguments.samplers:
            _complete(stage, tasks, arguments.cache, arguments.half, sampler)
    rows = _known(arguments.cache, arguments.half)
    command = "experiments.forecast"
    publish("forecast", "What more trials bring, forecast", command, _page(rows), arguments.save)


Stage = Callable[[Tasks, str, FloatArray, FloatArray, int], Iterator[Row]]


def _complete(stage: Stage, tasks: Tasks, cache: Path, half: str, sampler: str) -> None:
    """Compute what a stage says of the runs of a sampler, and keep it."""
    names = getattr(tasks, half)
    done = {(r["stage"], r["task"], r["sampler"]) for r in _known(cache, half)}
    for place, task in enumerate(names[:OURS] if sampler == "ours" else names):
        if (stage.__name__, task, sampler) in done or (stage is not _cut and sampler == "random"):
            continue
        path = cache / f"run_{task}_{sampler}_{SEED[half] + place}.npz"
        if not path.exists():
            run(tasks, task, sampler, SEED[half] + place, path)
        found = load(path)
        with (cache / f"{half}.jsonl").open("a") as file:
            for row in stage(tasks, task, found["X"], found["y"], place):
                whole = {"stage": stage.__name__, "task": task, "sampler": sampler, **row}
                file.write(json.dumps(whole) + "\n")
        print(stage.__name__, sampler, task, file=sys.stderr, flush=True)


def _known(cache: Path, half: str) -> list[Row]:
    path = cache / f"{half}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def _history(tasks: Tasks, X: FloatArray, y: FloatArray) -> hl.History:
    trials = tuple(
        hl.Trial(k, values, (float(cost),))
        for k, (values, cost) in enumerate(zip(tasks.configurations(X), y, strict=True))
    )
    return hl.History(tasks.space, (hl.Objective("error"),), trials)


def _cut(tasks: Tasks, task: str, X: FloatArray, y: FloatArray, place: int) -> Iterator[Row]:
    """What was forecast of a run that was cut, and what came."""
    for n in (cut for cut in CUTS if cut < len(y)):
        try:
            found = hl.forecast(_history(tasks, X[:n], y[:n]), error=_error(y))
        except hl.AnalysisError:  # nothing is learnt from so few trials, and that is said
            yield {"n": n, "search": "refused"}
            continue
        fresh = tasks.cost(task)(np.random.default_rng([n, place]).random((max(MORE), 7)))
        best = float(y[:n].min())
        for k, more in enumerate(MORE):
            for s, (search, costs) in enumerate((("model", y[n:]), ("random", fresh))):
                if len(costs) < more:
                    continue
                yield {
                    "n": n,
                    "more": more,
                    "search": search,
                    "gain": float(found.gain[s, k]),
                    "low": float(found.low[s, k]),
                    "high": float(found.high[s, k]),
                    "came": max(best - float(costs[:more].min()), 0.0),
                    "error": found.error,
                }


def _error(y: FloatArray) -> float:
    p = float(np.clip(y[: Stop().fewest].min(), 1 / ROWS, 0.5))
    return float(np.sqrt(p * (1 - p) / ROWS))


def _stopped(tasks: Tasks, task: str, X: FloatArray, y: FloatArray, place: int) -> Iterator[Row]:
    """After how many trials our rule stops, and what it misses."""
    stop, codes = Stop(error=_error(y)), tasks.space.encode(tasks.configurations(X))
    yield _ended(y, lambda n: stop.decide(tasks.space, codes[:n], y[:n]) is not None)


def _terminated(tasks: Tasks, task: str, X: FloatArray, y: FloatArray, place: int) -> Iterator[Row]:
    """The same of Optuna's terminator."""
    whole = {"X": X, "y": y, "state": np.full(len(y), "complete"), "proposer": np.full(len(y), "")}

    def terminates(n: int) -> bool:
        rule = terminator.Terminator(
            improvement_evaluator=terminator.RegretBoundEvaluator(seed=0),
            error_evaluator=terminator.StaticErrorEvaluator(_error(y)),
            min_n_trials=Stop().fewest,
        )
        return bool(rule.should_terminate(as_study(tasks, whole, n)))

    yield _ended(y, terminates)


def _ended(y: FloatArray, decides: Callable[[int], bool]) -> Row:
    points = [n for n in range(Stop().fewest, len(y)) if Stop().due(n) == n]
    after = next((n for n in points if decides(n)), len(y))
    return {
        "after": after,
        "trials": len(y),
        "missed": float(y[:after].min() - y.min()) / _error(y),
    }


def _page(rows: list[Row]) -> list[str]:
    cuts = [r for r in rows if r["stage"] == "_cut"]
    return [
        (__doc__ or "").split("\n\n")[2],
        *_missing(rows),
        "## Do the intervals hold?",
        _coverage(cuts),
        HOLD,
        f"{_together(cuts)} {_refused(cuts)}",
        "## What does stopping save?",
        (__doc__ or "").split("\n\n")[3].strip(),
        _saving(rows),
    ]


def _missing(rows: list[Row]) -> list[str]:
    """What of all this was not measured."""
    measured = {(r["stage"], r["sampler"]) for r in rows}
    lacking = [
        *(f"runs of {s}" for s in ("tpe", "random", "ours") if ("_cut", s) not in measured),
        *(f"stopping of {s}" for s in ("tpe", "ours") if ("_stopped", s) not in measured),
        *(f"the terminator for {s}" for s in ("tpe", "ours") if ("_terminated", s) not in measured),
    ]
    return [f"Not measured with this state: {', '.join(lacking)}."] if lacking else []


def _coverage(rows: list[Row]) -> str:
    lines = []
    kinds = (("tpe", "model"), ("ours", "model"), ("random", "random"), ("tpe", "random"))
    for sampler, search in kinds:
        for n in CUTS:
            some = [r for r in rows if (r["sampler"], r["search"], r["n"]) == (sampler, search, n)]
            if not some:
                continue
            cells = [_cell([r for r in some if r["more"] == more]) for more in MORE]
            tasks = {r["task"] for r in some}
            each = [np.mean([_held(r) for r in some if r["task"] == task]) for task in tasks]
            error = np.std(each, ddof=1) / np.sqrt(len(each))
            nothing = np.mean([r["came"] <= 0 for r in some])
            going = "goes on" if sampler != "random" and search == "model" else "random search"
            held = f"{np.mean([_held(r) for r in some]):.0%} ± {error:.0%}"
            lines.append((sampler, going, str(n), str(len(tasks)), *cells, held, f"{nothing:.0%}"))
    heads = [f"{k} more (expected, real)" for k in MORE]
    return table(("run", "then", "trials", "runs", *heads, "all", "nothing gained"), lines)


def _together(rows: list[Row]) -> str:
    """How many intervals hold in all, of each kind of search."""
    kinds = {
        "searches by a model that go on": [
            r for r in rows if r["search"] == "model" and r["sampler"] != "random"
        ],
        "random searches": [r for r in rows if r["search"] == "random" and r["sampler"] != "ours"],
    }
    return " ".join(
        f"Of all intervals of {kind} {np.mean([_held(r) for r in some]):.0%} hold."
        for kind, some in kinds.items()
        if some
    )


def _refused(rows: list[Row]) -> str:
    """Which cut runs had no forecast."""
    named = [f"{r['task']} ({r['sampler']}, {r['n']})" for r in rows if r["search"] == "refused"]
    if not named:
        return "No run was refused."
    why = "Refused, because the surrogate predicts next to nothing, and not counted"
    return f"{why}: {', '.join(named)}."


def _held(row: Row) -> bool:
    return bool(row["low"] - 1e-12 <= row["came"] <= row["high"] + 1e-12)


def _cell(rows: list[Row]) -> str:
    """How many intervals held, and what was gained on average, expected and real."""
    if not rows:
        return ""
    expected, came = (np.mean([r[name] / r["error"] for r in rows]) for name in ("gain", "came"))
    return f"{np.mean([_held(r) for r in rows]):.0%} ({expected:.2f}, {came:.2f})"


def _saving(rows: list[Row]) -> str:
    lines = []
    for sampler in ("tpe", "ours"):
        for rule, stage in (("ours", "_stopped"), ("Optuna's terminator", "_terminated")):
            some = [r for r in rows if (r["sampler"], r["stage"]) == (sampler, stage)]
            if some:
                after = np.array([r["after"] / r["trials"] for r in some])
                missed = np.array([r["missed"] for r in some])
                lines.append((
                    sampler, rule, str(len(some)), f"{(after < 1).sum()}",
                    f"{1 - after.mean():.0%}", f"{np.mean(missed):.2f}",
                    f"{np.max(missed):.2f}", f"{(missed <= 1).sum()} of {len(some)}",
                ))  # fmt: skip
    heads = ("stopped", "trials saved", "mean loss", "largest loss", "loss within one error")
    return table(("run", "rule", "runs", *heads), lines)


if __name__ == "__main__":
    main()
