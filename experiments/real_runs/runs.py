"""The runs: what six ways of searching leave behind on a task, each as one file.

A file has X (n, 7) in unit coordinates, y (n,) the cost that a trial ended with, `state` ("complete"
or "pruned"), `epoch` (n,) the last one that was reported, `curve` (n, 52) all costs that were reported
(nan after a stop; hyperband only), and `proposer` (n,) where the optimiser says so. The first trials
of a longer run are the shorter run.
"""

from __future__ import annotations

import logging
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import optuna

import hyperlens as hl
from experiments.real_runs.tasks import EPOCHS, FloatArray, Tasks, written

TRIALS = 200  # of a run
Run = dict[str, Any]  # arrays by name


def distributions(tasks: Tasks) -> dict[str, optuna.distributions.BaseDistribution]:
    """The space in Optuna's terms."""
    return {
        p.name: optuna.distributions.IntDistribution(int(p.lower), int(p.upper), log=p.log)
        if p.kind == "integer"
        else optuna.distributions.FloatDistribution(p.lower, p.upper, log=p.log)
        for p in tasks.parameters
    }


def run(tasks: Tasks, task: str, sampler: str, seed: int, path: Path) -> None:
    """Run a sampler on a task and write what it leaves."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is experimental in Optuna
        found = SAMPLERS[sampler](tasks, task, seed)
    with written(path) as unfinished, unfinished.open("wb") as file:
        np.savez(file, names=np.array(tasks.names), **found)


def _left(
    tasks: Tasks,
    configurations: Sequence[Any],
    costs: Sequence[float],
    proposer: Sequence[str] | None = None,
) -> Run:
    """A run all of whose trials are complete."""
    values = np.array([[c[name] for name in tasks.names] for c in configurations], dtype=float)
    n = len(costs)
    return {
        "X": tasks.unit(values),
        "y": np.array(costs, dtype=float),
        "state": np.full(n, "complete"),
        "epoch": np.full(n, EPOCHS),
        "proposer": np.full(n, "") if proposer is None else np.array(proposer),
    }


def _single(tasks: Tasks, task: str) -> Callable[[Any], float]:
    """Cost of one configuration."""

    def cost(configuration: Any) -> float:
        values = np.array([[configuration[name] for name in tasks.names]], dtype=float)
        return float(tasks.at(task, values)[0])

    return cost


def _optuna(
    sampler: Callable[[int], optuna.samplers.BaseSampler],
) -> Callable[[Tasks, str, int], Run]:
    def go(tasks: Tasks, task: str, seed: int) -> Run:
        study, cost = optuna.create_study(sampler=sampler(seed)), _single(tasks, task)
        known = distributions(tasks)
        for _ in range(TRIALS):
            trial = study.ask(known)
            study.tell(trial, cost(trial.params))
        done = study.get_trials(deepcopy=False)
        return _left(tasks, [t.params for t in done], [t.values[0] for t in done])

    return go


def _hyperband(tasks: Tasks, task: str, seed: int) -> Run:
    """TPE whose trials report every epoch to Optuna's Hyperband; those stopped stay as they ended."""
    study = optuna.create_study(
        study_name=f"{task} {seed}",  # its brackets come from this name
        sampler=optuna.samplers.TPESampler(seed=seed),
        pruner=optuna.pruners.HyperbandPruner(min_resource=1, max_resource=EPOCHS),
    )
    known, epochs = distributions(tasks), np.arange(1.0, EPOCHS + 1)
    curve = np.full((TRIALS, EPOCHS), np.nan)
    for k in range(TRIALS):
        trial = study.ask(known)
        values = np.array([[trial.params[name] for name in tasks.names]], dtype=float)
        costs = tasks.at(task, np.repeat(values, EPOCHS, axis=0), epochs)
        for epoch, cost in enumerate(costs.tolist(), 1):
            curve[k, epoch - 1] = cost
            trial.report(cost, epoch)
            if epoch < EPOCHS and trial.should_prune():
                study.tell(trial, state=optuna.trial.TrialState.PRUNED)
                break
        else:
            study.tell(trial, cost)
    reached = np.isfinite(curve).sum(axis=1)
    last = curve[np.arange(TRIALS), reached - 1]
    found = _left(tasks, [t.params for t in study.get_trials(deepcopy=False)], last.tolist())
    states = np.where(reached == EPOCHS, "complete", "pruned")
    return found | {"state": states, "epoch": reached, "curve": curve}


def _smac(tasks: Tasks, task: str, seed: int) -> Run:
    """SMAC's facade for hyperparameters (a random forest), each configuration once."""
    from smac import HyperparameterOptimizationFacade, Scenario

    logging.getLogger("smac").setLevel(logging.ERROR)
    cost = _single(tasks, task)
    with tempfile.TemporaryDirectory() as folder:
        scenario = Scenario(
            tasks.space.configspace,
            deterministic=True,
            n_trials=TRIALS,
            seed=seed,
            output_directory=Path(folder),
        )
        facade = HyperparameterOptimizationFacade(
            scenario, lambda config, seed: cost(config), logging_level=False, overwrite=True
        )
        facade.optimize()
    history = facade.runhistory
    configurations = [history.get_config(key.config_id) for key in history]
    costs = [float(np.asarray(value.cost)) for value in history.values()]
    return _left(tasks, configurations, costs, [str(c.origin) for c in configurations])


def _ours(tasks: Tasks, task: str, seed: int) -> Run:
    found = hl.minimize(_single(tasks, task), tasks.space, "smbo", TRIALS, seed=seed)
    proposers = [str(t.proposer or "") for t in found.trials]
    values = [t.values for t in found.trials]
    return _left(tasks, values, [t.costs[0] for t in found.trials], proposers)


SAMPLERS: dict[str, Callable[[Tasks, str, int], Run]] = {
    "random": _optuna(lambda seed: optuna.samplers.RandomSampler(seed=seed)),
    "tpe": _optuna(lambda seed: optuna.samplers.TPESampler(seed=seed)),
    "hyperband": _hyperband,
    "ours": _ours,
    "gp": _optuna(lambda seed: optuna.samplers.GPSampler(seed=seed)),
    "smac": _smac,
}


def load(path: Path) -> dict[str, FloatArray]:
    with np.load(path) as file:
        return {name: file[name] for name in file}
