"""How near short formulas are to the truth, beside the curves that they stand for: LCBench.

python -m experiments.formula --data FOLDER --runs FOLDER [--save]

The runs and the truth are those of `experiments.real_runs`: the first trials of random search and of
TPE, one run a task, the odd tasks. Of every parameter the formula and the effect's mean are held against
the true partial dependence, each less its own mean, in standard deviations of the task's cost.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import hyperlens as hl
from benchmarks.machine import description
from experiments.across import TRIALS, history
from experiments.real_runs.tasks import FloatArray, Tasks

RESULT = Path(__file__).parents[1] / "docs" / "results" / "formula.md"
SAMPLERS = {"random": "random search", "tpe": "TPE"}
MATTERS = 0.05  # share of the variance from which on a parameter is counted among those that matter


def away(curve: FloatArray) -> FloatArray:
    return np.asarray(curve - curve.mean())


def rows_of(tasks: Tasks, folder: Path, task: str, sampler: str) -> list[tuple[float, ...]]:
    """Of each parameter: its true share, constants (0: none fits), error of the curve and of the
    formula."""
    truth = np.load(folder / f"truth_{task}.npz")
    run, scale = history(tasks, folder, task, sampler), float(np.sqrt(truth["variance"]))
    values = tasks.columns(truth["grid"].T)
    rows = []
    for j, name in enumerate(tasks.names):
        found = hl.formula(run, name)
        x, true = values[:, j], away(truth["pd"][j]) / scale
        own = np.array(found.values, dtype=float)
        at, grid = (np.log(x), np.log(own)) if found.log else (x, own)
        curve = away(np.interp(at, grid, found.mean)) / scale
        formula = away(found.at(x)) / scale
        errors = [float(np.sqrt(np.square(one - true).mean())) for one in (curve, formula)]
        size = float(found.size[0]) if found.chosen >= 0 else 0.0
        rows.append((float(truth["main"][j]), size, *errors))
    return rows


def line(name: str, rows: FloatArray) -> str:
    """A row of the table."""
    _, size, curve, formula = rows.T
    fits = size > 0
    counts = " | ".join(str(int((size == k).sum())) for k in (1, 2, 3, 4))
    nearer = (formula < curve)[fits].mean() if fits.any() else np.nan
    return (
        f"| {name} | {len(rows)} | {counts} | {int((~fits).sum())} | {curve[fits].mean():.3f} | "
        f"{formula[fits].mean():.3f} | {nearer:.0%} |"
    )


def page(found: dict[str, FloatArray], tasks: int) -> str:
    table = []
    for sampler, rows in found.items():
        table += [
            line(f"{SAMPLERS[sampler]}, all parameters", rows),
            line(f"{SAMPLERS[sampler]}, share of 5 % or more", rows[rows[:, 0] >= MATTERS]),
        ]
    lines = [
        "# Short formulas beside the truth", "",
        "`python -m experiments.formula --data FOLDER --runs FOLDER --save`", "",
        description(), "",
        f"LCBench's {tasks} tasks of odd number (what is tolerated was chosen on the others), runs of "
        f"{TRIALS} trials, all 7 parameters. How many formulas have so many constants, of how many "
        "effects no form fits, and, of those that fit, how far the effect's mean and the formula are "
        "from the true partial dependence (root mean square, in standard deviations of the task's cost, "
        "levels left aside), and how often the formula is the nearer one. A constant stands for what a "
        "run does not know, so it is far from the truth where the parameter matters.", "",
        "| run | effects | 1 | 2 | 3 | 4 | none | curve's error | formula's error | formula nearer |",
        "|---|---|---|---|---|---|---|---|---|---|", *table, "",
    ]  # fmt: skip
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the LCBench model")
    parser.add_argument("--runs", type=Path, required=True, help="folder of experiments.real_runs")
    parser.add_argument(
        "--even", action="store_true", help="the tasks on which settings are chosen"
    )
    parser.add_argument("--save", action="store_true", help=f"write {RESULT.name}")
    arguments = parser.parse_args()
    tasks = Tasks(arguments.data)
    chosen = tasks.even if arguments.even else tasks.odd
    found = {
        sampler: np.array(
            [row for task in chosen for row in rows_of(tasks, arguments.runs, task, sampler)]
        )
        for sampler in SAMPLERS
    }
    text = page(found, len(chosen))
    print(text)
    if arguments.save:
        RESULT.write_text(text, encoding="utf-8")
