"""What is said of a run beside what is true of its task: one line of JSON for each case.

A run is given to the package as an Optuna study, the way in which most runs are read, with states and
intermediate values. Only public calls are used, so that the same file measures any state.

Keys of a line
    task, half, sampler, seed, n     the case: half is "even" or "odd", n the trials (pruned ones count)
    used                             trials that importance learnt from
    share, low, high                 main shares and their 90 % intervals, in the order of the space
    true                             true main shares
    points, pointwise_points         part of the grid points of all axes inside the 95 % joint and the
                                     pointwise band
    curves, pointwise_curves         part of the seven curves that lie inside as a whole
    band, pointwise_band             mean width of the bands in true standard deviations of the cost
    curve_error                      mean distance of the curves from the truth in the same unit
    verdict, surrogate, r2           what the record says of itself
    seconds, effect_seconds          of the processor, for importance and for all effects together
    optuna                           by evaluator: its shares
    good                             share, low, high, true for importance among the good, whose quantile
                                     and bound are said; whether it leads; where the package has it
    failed                           instead of all numbers: why there are none

A truth counts as inside if its own error puts it there. What a record calls unknown (nan) counts as a
share of zero with an interval from zero to one.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import optuna

import hyperlens as hl
from experiments.real_runs.generate import run_file, truth_file
from experiments.real_runs.runs import distributions, load
from experiments.real_runs.tasks import FloatArray, Tasks, place
from experiments.real_runs.truth import QUANTILES

LEVEL, BAND, GRID = 0.9, 0.95, 20
ALL = "hyperband_all"  # the runs of hyperband, read with all their budgets
SAMPLERS = ("random", "tpe", "hyperband", ALL, "ours", "gp", "smac")
Row = dict[str, Any]
Truth = dict[str, FloatArray]


def results_file(cache: Path, label: str) -> Path:
    return cache / f"results_{label}.jsonl"


def results(cache: Path, label: str) -> list[Row]:
    """One row a case, the last one that was written."""
    path = results_file(cache, label)
    rows = map(json.loads, path.read_text().splitlines() if path.exists() else [])
    return list({_case(row): row for row in rows}.values())


def evaluate(
    tasks: Tasks,
    cache: Path,
    label: str,
    names: Sequence[str],
    samplers: Sequence[str],
    sizes: Sequence[int],
    seed: int,
) -> None:
    """Append the cases that are not there yet and whose run is."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    done = {_case(row) for row in results(cache, label)}
    for row, source in _cases(tasks, cache, names, samplers, sizes, seed):
        if _case(row) in done or not source.exists():
            continue
        truth, run = load(truth_file(cache, row["task"])), load(source)
        if len(run["y"]) < row["n"]:
            continue
        study = as_study(tasks, run, row["n"])
        try:
            found = row | measured(tasks, study, truth, row["sampler"] == ALL)
        except hl.HyperlensError as problem:
            found = row | {"failed": str(problem)}
        with results_file(cache, label).open("a") as file:
            file.write(json.dumps(found) + "\n")
        print(label, *_case(row), said(found), file=sys.stderr, flush=True)


def said(row: Row) -> str:
    """One case in a line."""
    if "failed" in row:
        return str(row["failed"])
    error = 100 * np.abs(np.array(row["share"]) - row["true"]).mean()
    return f"error {error:.1f}, bands {row['points']:.0%}, {row['verdict']}, {row['seconds']:.1f} s"


def _cases(
    tasks: Tasks,
    cache: Path,
    names: Sequence[str],
    samplers: Sequence[str],
    sizes: Sequence[int],
    seed: int,
) -> Iterator[tuple[Row, Path]]:
    for n in sizes:
        for sampler in samplers:
            for task in names:
                row = {"task": task, "half": "even" if task in tasks.even else "odd"}
                source = run_file(cache, task, "hyperband" if sampler == ALL else sampler, seed)
                yield row | {"sampler": sampler, "seed": seed, "n": n}, source


def _case(row: Row) -> tuple[str, str, int, int]:
    return row["task"], row["sampler"], row["seed"], row["n"]


def as_study(tasks: Tasks, run: dict[str, FloatArray], n: int) -> optuna.Study:
    """The first trials of a run."""
    study, known = optuna.create_study(), distributions(tasks)
    states = {
        "complete": optuna.trial.TrialState.COMPLETE,
        "pruned": optuna.trial.TrialState.PRUNED,
    }
    for k, values in enumerate(tasks.configurations(run["X"][:n])):
        curve = run["curve"][k] if "curve" in run else np.array([])
        reports = {e: float(c) for e, c in enumerate(curve, 1) if np.isfinite(c)}
        proposer = str(run["proposer"][k])
        study.add_trial(
            optuna.trial.create_trial(
                state=states[str(run["state"][k])],
                params=values,
                distributions=known,
                value=float(run["y"][k]),
                intermediate_values=reports,
                user_attrs={"proposer": proposer} if proposer else {},
            )
        )
    return study


def measured(tasks: Tasks, study: optuna.Study, truth: Truth, all_budgets: bool) -> Row:
    history = _read(study, all_budgets)
    began = time.process_time()
    found = hl.importance(history, level=LEVEL)
    seconds = time.process_time() - began
    began = time.process_time()
    bands = _bands(tasks, history, truth)
    return {
        **_shares(tasks, found),
        "true": truth["main"].tolist(),
        "true_error": truth["main_error"].tolist(),
        **bands,
        "used": found.trials,
        "verdict": _verdict(found),
        "surrogate": found.surrogate,
        "r2": found.quality.r2,
        "seconds": seconds,
        "effect_seconds": time.process_time() - began,
        "optuna": {} if all_budgets else _optunas(tasks, study),
        "good": _good(tasks, history, truth),
    }


def _verdict(found: Any) -> str:
    """On what is shown, or on the surrogate in states that judged that alone."""
    verdict = getattr(found, "verdict", None)
    return str(found.quality.verdict if verdict is None else verdict.word)


def _read(study: optuna.Study, all_budgets: bool) -> hl.History:
    """The run with what lower budgets say of it, or its complete trials alone, in any state."""
    history = hl.read(study)
    if all(trial.budget is None for trial in history.trials):
        return history
    call = getattr(hl, "all_budgets", None)  # of states that use lower budgets only where asked
    if call is not None:
        return call(history) if all_budgets else history
    return history if all_budgets else history.select(budget="largest")


def _shares(tasks: Tasks, found: Any) -> Row:
    """Main shares of a record and their intervals, in the order of the space."""
    at = {effect[0]: k for k, effect in enumerate(found.parameters) if len(effect) == 1}
    rows = [at[name] for name in tasks.names]
    unknown = {"share": 0.0, "low": 0.0, "high": 1.0}
    return {
        name: np.nan_to_num(np.asarray(getattr(found, name))[rows], nan=instead).tolist()
        for name, instead in unknown.items()
    }


def _good(tasks: Tasks, history: hl.History, truth: Truth) -> Row | None:
    """Importance among the good, if this state of the package has it, beside its truth."""
    call = getattr(hl, "importances", None)
    if call is None:
        return None
    both = call(history, level=LEVEL)
    good = both.good
    name = min(QUANTILES, key=lambda q: abs(QUANTILES[q] - good.quantile))
    return _shares(tasks, good) | {
        "quantile": good.quantile,
        "bound": good.bound,
        "true_bound": float(truth[name]),
        "true": truth[f"main_{name}"].tolist(),
        "true_error": truth[f"main_error_{name}"].tolist(),
        "verdict": good.verdict.word,
        "leads": both.leading is good,
    }


def _bands(tasks: Tasks, history: hl.History, truth: Truth) -> Row:
    """How much of the true curves the bands hold, and how wide they are."""
    deviation = float(np.sqrt(truth["variance"]))
    inside: dict[str, list[Any]] = {"joint": [], "pointwise": []}
    widths: dict[str, list[float]] = {"joint": [], "pointwise": []}
    errors = []
    for j, p in enumerate(tasks.parameters):
        for band in ("joint", "pointwise"):
            effect = hl.effect(history, p.name, band=band, level=BAND, grid=GRID)
            at = place(p, np.asarray(effect.values[0], dtype=float))
            true, slack = (np.interp(at, truth["grid"][j], truth[k][j]) for k in ("pd", "pd_error"))
            inside[band].append((effect.low - slack <= true) & (true <= effect.high + slack))
            widths[band].append(float(np.mean(effect.high - effect.low)) / deviation)
        errors.append(float(np.abs(effect.mean - true).mean()) / deviation)
    found: Row = {"curve_error": float(np.mean(errors))}
    for band, prefix in (("joint", ""), ("pointwise", "pointwise_")):
        found[f"{prefix}points"] = float(np.concatenate(inside[band]).mean())
        found[f"{prefix}curves"] = float(np.mean([held.all() for held in inside[band]]))
        found[f"{prefix}band"] = float(np.mean(widths[band]))
        found[f"{prefix}by_axis"] = [float(held.mean()) for held in inside[band]]
    return found


def _optunas(tasks: Tasks, study: optuna.Study) -> dict[str, list[float]]:
    """fANOVA's are fractions of variance; PED-ANOVA's are made parts of one."""
    found = {}
    for name, evaluator in (
        ("fANOVA", optuna.importance.FanovaImportanceEvaluator(seed=0)),
        ("PED-ANOVA", optuna.importance.PedAnovaImportanceEvaluator()),
    ):
        numbers = evaluator.evaluate(study)
        total = sum(numbers.values()) if name == "PED-ANOVA" else 1.0
        found[name] = [float(numbers.get(p, 0.0) / (total or 1.0)) for p in tasks.names]
    return found
