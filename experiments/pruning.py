"""What pruning lost, said and true: runs whose stopped curves are known to their end.

python -m experiments.pruning [--half even] [--save]

Searches of 60 trials, at random and by TPE, on LCBench tasks (experiments/real_runs/tasks.py), each with
Optuna's median rule after every epoch, or with successive halving. The model that gives a curve gives
its end too, so it is known where a stopped trial would have ended. What `hl.curves` says of stopped
trials is laid beside that.
"""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import optuna

import hyperlens as hl
from experiments import DATA, options, publish, table
from experiments.real_runs.tasks import EPOCHS, FloatArray, Tasks
from hyperlens.explain.curves.paths import paths
from hyperlens.explain.curves.pruning import Pruning, pruning

TRIALS, LEVEL = 60, 0.9
SEED = {"even": 300, "odd": 400}  # plus the place of the task
BINS = (0.0, 0.05, 0.2, 0.5, 0.8, 1.0)
SAMPLERS: dict[str, Any] = {
    "random": optuna.samplers.RandomSampler,
    "tpe": optuna.samplers.TPESampler,
}
PRUNERS: dict[str, Any] = {
    "median rule": lambda: optuna.pruners.MedianPruner(n_startup_trials=10),
    "halving": lambda: optuna.pruners.SuccessiveHalvingPruner(4, 3),
}
Row = dict[str, Any]
ABOUT = f"""Searches of {TRIALS} trials, at random and by TPE, on LCBench tasks at odd places of the
list, each with Optuna's median rule after every epoch or with successive halving. The model that
gives a curve gives its end too, so it is known where a stopped trial would have ended. Left out are
runs of which nothing is said, fewer than ten trials having gone on. Nothing was chosen on these
tasks. The Brier score is the mean squared distance of a chance from what happened; beside it is
that of who only knows how often it happens in such runs."""
READING = """How many were lost is said rightly: means agree, and intervals of it hold. In which
run, and by which trial, can hardly be told: chances are no better than the base rate. Intervals of
ends hold too rarely after successive halving, which lets only the best go on. Curves of the model
are smooth; measured ones are not, which was not tried."""


def main() -> None:
    parser = options(__doc__, "pruning")
    parser.add_argument("--data", type=Path, default=DATA / "yahpo_lcbench")
    parser.add_argument("--half", choices=("even", "odd"), default="odd")
    arguments = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    tasks = Tasks(arguments.data)
    rows = [
        row
        for sampler in SAMPLERS
        for pruner in PRUNERS
        for place, task in enumerate(getattr(tasks, arguments.half))
        for row in measured(tasks, task, sampler, pruner, SEED[arguments.half] + place)
    ]
    title, command = "What pruning lost, said and true", "experiments.pruning"
    publish("pruning", title, command, page(rows), arguments.save)


def measured(tasks: Tasks, task: str, sampler: str, pruner: str, seed: int) -> list[Row]:
    """One row: what was said of a run, and what is true; none where nothing was said."""
    curves: dict[int, FloatArray] = {}

    def objective(trial: optuna.Trial) -> float:
        values = [
            getattr(trial, f"suggest_{'int' if p.kind == 'integer' else 'float'}")(
                p.name, p.lower, p.upper, log=p.log
            )
            for p in tasks.parameters
        ]
        every = np.tile(np.array(values, dtype=float), (EPOCHS, 1))
        curve = curves[trial.number] = tasks.at(task, every, np.arange(1.0, EPOCHS + 1))
        for epoch, cost in enumerate(curve.tolist(), 1):
            trial.report(cost, epoch)
            if trial.should_prune():
                raise optuna.TrialPruned
        return float(curve[-1])

    study = optuna.create_study(sampler=SAMPLERS[sampler](seed=seed), pruner=PRUNERS[pruner]())
    study.optimize(objective, TRIALS)
    run = hl.read(study)
    said = pruning(run, paths(run), None, LEVEL, 0)
    if said is None or not said.told:
        return []
    return [{"sampler": sampler, "pruner": pruner, **beside(said, curves)}]


def beside(said: Pruning, curves: dict[int, FloatArray]) -> Row:
    """What was said and what is true of the trials whose end was told."""
    known = np.isfinite(said.expected)
    ends = np.array([curves[int(n)][-1] for n in said.trial[known]])
    better = ends < said.best
    return {
        "count": said.count,
        "chance": said.chance[known],
        "better": better,
        "held": (said.low[known] <= ends) & (ends <= said.high[known]),
        "error": np.abs(said.expected[known] - ends),
        "naive": np.abs(said.value[known] - ends),
        "lost": said.lost,
        "true": int(better.sum()),
        "within": said.lost_low <= better.sum() <= said.lost_high,
        "any": said.chance_any,
    }


def page(rows: list[Row]) -> list[str]:
    cells = []
    for sampler in SAMPLERS:
        for pruner in PRUNERS:
            own = [r for r in rows if (r["sampler"], r["pruner"]) == (sampler, pruner)]
            if not own:
                continue
            said, true = np.array([r["any"] for r in own]), np.array([r["true"] > 0 for r in own])
            held, chance, better = (
                np.concatenate([r[k] for r in own]) for k in ("held", "chance", "better")
            )
            base = np.mean(true)
            cells.append([
                sampler, pruner, str(len(own)), f"{np.mean([r['count'] for r in own]):.0f}",
                f"{np.mean(held):.0%}",
                f"{np.mean([r['lost'] for r in own]):.2f}, {np.mean([r['true'] for r in own]):.2f}",
                f"{np.mean([r['within'] for r in own]):.0%}",
                f"{said.mean():.0%}, {base:.0%}",
                f"{np.mean((said - true) ** 2):.3f}, {base * (1 - base):.3f}",
                f"{np.mean((chance - better) ** 2):.4f}, {better.mean() * (1 - better.mean()):.4f}",
            ])  # fmt: skip
    heads = [
        "search", "pruner", "runs", "stopped", "90 % intervals of ends hold", "lost: said, true",
        "90 % interval of lost holds", "one better: said, true", "Brier, of the base rate",
        "of each trial: Brier, of the base rate",
    ]  # fmt: skip
    chance, better = (np.concatenate([r[k] for r in rows]) for k in ("chance", "better"))
    lines = []
    for low, high in pairwise(BINS):
        at = (chance >= low) & ((chance < high) | (high == 1))
        if at.any():
            means = f"{chance[at].mean():.1%}", f"{better[at].mean():.1%}"
            lines.append([f"{low:.0%} to {high:.0%}", str(int(at.sum())), *means])
    return [
        ABOUT,
        table(heads, cells),
        "What was said of each stopped trial, over all runs:",
        table(["said chance to be best", "trials", "mean of what was said", "true"], lines),
        READING,
    ]


if __name__ == "__main__":
    main()
