"""Search among the important parameters beside search in the whole space (Hutter et al. 2014 figure 6).

python -m experiments.subspace [--seeds N] [--data DIR] [--save]

The benchmark is YAHPO's surrogate of LCBench: the validation error of a neural network with seven
hyperparameters after 52 epochs, predicted by a network that was trained on 2000 real runs a task.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import optuna
from optuna.distributions import BaseDistribution, FloatDistribution, IntDistribution

import hyperlens as hl
from experiments import DATA, options, publish, table
from hyperlens.spaces.cube import FloatArray, IntArray

TASKS = ("167190", "189908", "168331")
EPOCHS = 52
FIRST = 100  # trials of the run that importance is computed from
CHECKPOINTS = (5, 10, 20, 40, 80)
COVERAGE = 0.9
CAP = "quantile=0.25"  # importance among good configurations, as Hutter et al. 2014 in figure 6
SPACE: dict[str, BaseDistribution] = {
    "batch_size": IntDistribution(16, 512, log=True),
    "learning_rate": FloatDistribution(1e-4, 0.1, log=True),
    "momentum": FloatDistribution(0.1, 0.99),
    "weight_decay": FloatDistribution(1e-5, 0.1),
    "num_layers": IntDistribution(1, 5),
    "max_units": IntDistribution(64, 1024, log=True),
    "max_dropout": FloatDistribution(0.0, 1.0),
}
ARMS = (
    "whole space",
    "whole space, starting at the best known",
    "important subspace",
    "important subspace, starting at the best known",
    "important parameters, rest in the middle",
    "as many least important, rest in the middle",
)
DUELS = {"both new": (2, 0), "both starting at the best known": (3, 1)}  # arms

Cost = Callable[[Mapping[str, Any]], float]


def lcbench(data: Path) -> Callable[[str], Cost]:
    """Task -> validation error in percent as a function of the seven hyperparameters."""
    try:
        from onnxruntime import InferenceSession
    except ImportError:
        raise SystemExit(
            "The surrogate of LCBench needs onnxruntime; install it with 'pip install onnxruntime'."
        ) from None
    folder = data / "yahpo_lcbench"
    session = InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
    codes = json.loads((folder / "encoding.json").read_text())["OpenML_task_id"]

    def of(task: str) -> Cost:
        category = np.array([[codes[task]]], dtype=np.int32)

        def cost(values: Mapping[str, Any]) -> float:
            numbers = [[EPOCHS, *(values[name] for name in SPACE)]]
            inputs = {"x_cat": category, "x_cont": np.array(numbers, dtype=np.float32)}
            return 100.0 - float(session.run(None, inputs)[0][0, 1])

        return cost

    return of


def names(data: Path) -> dict[str, str]:
    found: dict[str, str] = json.loads((data / "yahpo_lcbench" / "task_names.json").read_text())[
        "tasks"
    ]
    return found


def search(
    cost: Cost,
    distributions: Mapping[str, BaseDistribution],
    fixed: Mapping[str, Any],
    trials: int,
    seed: int,
    start: Mapping[str, Any] | None = None,
    sampler: optuna.samplers.BaseSampler | None = None,
) -> optuna.Study:
    """A run among `distributions`, all else `fixed`, by TPE unless another sampler is given."""
    study = optuna.create_study(sampler=sampler or optuna.samplers.TPESampler(seed=seed))
    if start is not None:
        study.enqueue_trial(dict(start))
    for _ in range(trials):
        trial = study.ask(dict(distributions))
        study.tell(trial, cost({**fixed, **trial.params}))
    return study


@dataclass(frozen=True)
class Result:
    """Best cost so far (arms, checkpoints); the kept parameters; the surrogate's R2."""

    best: FloatArray
    keep: tuple[str, ...]
    r2: float


def compare(cost: Cost, seed: int) -> Result:
    """One run of everything: a first run, its important subspace, then a search in every arm."""
    first = search(cost, SPACE, {}, FIRST, seed, sampler=optuna.samplers.RandomSampler(seed=seed))
    run = hl.read(first)
    importance = hl.importance(run, cap=CAP, seed=seed)
    chosen = importance.subspace(COVERAGE)
    shares = zip(importance.parameters, importance.share.tolist(), strict=True)
    alone = {effect[0]: share for effect, share in shares if len(effect) == 1}
    least = sorted(alone, key=alone.__getitem__)[: len(chosen.keep)]
    best, middle = dict(run.best().values), run.space.default
    known = {name: best[name] for name in chosen.keep}

    def among(names: Sequence[str], fixed: Mapping[str, Any]) -> optuna.Study:
        rest = {k: v for k, v in fixed.items() if k not in names}
        kept = {k: SPACE[k] for k in names}
        return search(cost, kept, rest, CHECKPOINTS[-1], 1000 + seed)

    studies = (
        search(cost, SPACE, {}, CHECKPOINTS[-1], 1000 + seed),
        search(cost, SPACE, {}, CHECKPOINTS[-1], 1000 + seed, start=best),
        search(cost, chosen.distributions, chosen.fixed, CHECKPOINTS[-1], 1000 + seed),
        search(cost, chosen.distributions, chosen.fixed, CHECKPOINTS[-1], 1000 + seed, start=known),
        among(chosen.keep, middle),
        among(least, middle),
    )
    at = np.array(CHECKPOINTS) - 1
    traces = [np.minimum.accumulate([t.values[0] for t in s.trials])[at] for s in studies]
    return Result(np.array(traces), chosen.keep, importance.quality.r2)


def duel(found: Sequence[Result], name: str) -> tuple[IntArray, IntArray]:
    """In how many runs the subspace is ahead of the whole space, and behind, at each checkpoint."""
    sub, whole = DUELS[name]
    best = np.array([f.best for f in found])
    ahead, behind = best[:, sub] < best[:, whole], best[:, sub] > best[:, whole]
    return ahead.sum(axis=0), behind.sum(axis=0)


def summary(found: Sequence[Result]) -> str:
    """Over the runs of all tasks, in the middle and at the end."""
    sentences = []
    for name in DUELS:
        ahead, behind = duel(found, name)
        counts = " and ".join(
            f"{ahead[k]} : {behind[k]} after {CHECKPOINTS[k]} trials" for k in (2, -1)
        )
        sentences.append(f"{name}, {counts}")
    return (
        f"Over all {len(found)} runs the subspace is ahead : behind the whole space: "
        f"{'; '.join(sentences)}. The important parameters hold most of what can be gained from the "
        "middle of the space, the least important ones little; but what is fixed cannot be tuned, so "
        "the longer the search, the more the whole space gains on the subspace."
    )


def task_parts(title: str, found: Sequence[Result]) -> list[str]:
    best = np.array([f.best for f in found])  # (seeds, arms, checkpoints)
    median = np.median(best, axis=0)
    rows = [[arm, *(f"{x:.2f}" for x in median[k])] for k, arm in enumerate(ARMS)]
    for name in DUELS:
        counts = [f"{a} : {b}" for a, b in zip(*duel(found, name), strict=True)]
        rows.append([f"*runs: subspace ahead : behind, {name}*", *counts])
    kept = Counter(name for f in found for name in f.keep)
    named = ", ".join(f"{name} {count}" for name, count in kept.most_common())
    return [
        f"## {title}",
        table(["median best validation error (%) after", *map(str, CHECKPOINTS)], rows),
        f"Kept on average {np.mean([len(f.keep) for f in found]):.1f} of {len(SPACE)} parameters "
        f"(how often in {len(found)} runs: {named}); median R2 of the surrogate "
        f"{np.median([f.r2 for f in found]):.2f}.",
    ]


READING = f"""\
Each run: {FIRST} random trials in the whole space; importance with costs capped at their best quarter
(`cap="{CAP}"`); `subspace({COVERAGE})`; then TPE in each space with the same seed and number of trials.
*Important subspace* fixes the other parameters at the best trial's values, as `Subspace` does. That
uses the first run, so the rows that start at that best trial compare the two spaces with the same
knowledge. The last two rows fix everything else in the middle of its range: what can be gained from
the middle with the important parameters alone, and with as many of the least important ones.
{{seeds}} runs a task. As Hutter et al. 2014 says, none of this is a better way to search, for the first
run is not counted."""


def main() -> None:
    parser = options(__doc__, "subspace")
    parser.add_argument("--seeds", type=int, default=11, help="runs of every task")
    parser.add_argument("--data", type=Path, default=DATA, help="folder that holds yahpo_lcbench")
    chosen = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    cost_of, title = lcbench(chosen.data), names(chosen.data)
    parts = [READING.format(seeds=chosen.seeds)]
    everything: list[Result] = []
    for task in TASKS:
        found = [compare(cost_of(task), seed) for seed in range(chosen.seeds)]
        parts += task_parts(f"{title[task]} (OpenML task {task})", found)
        everything += found
    parts.append(f"## All tasks\n\n{summary(everything)}")
    publish(
        "subspace", "Search in the important subspace", "experiments.subspace", parts, chosen.save
    )


if __name__ == "__main__":
    main()
