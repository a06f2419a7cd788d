"""Noisy runs of three searches, with the true cost of every trial beside what was measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import optuna

import hyperlens as hl
from experiments.winner.problems import Noise, Problem, Values

SEARCHES = ("random", "TPE", "ours")


@dataclass(frozen=True)
class Run:
    """A run and its truth: `truth[number]` is the true cost of a trial, in units of the user."""

    problem: Problem
    noise: Noise
    search: str
    seed: int
    history: hl.History
    truth: np.ndarray[Any, Any]
    unit: float  # spread of the true costs over the space

    def again(self, number: int, rng: np.random.Generator) -> float:
        """One more cost of a trial's configuration."""
        values = self.history.trials[number].values
        return float(self.truth[number] + self.unit * self.noise.draw(self.problem, values, rng))


def run(problem: Problem, noise: Noise, search: str, trials: int, seed: int) -> Run:
    rng, unit = np.random.default_rng([seed, trials]), problem.spread

    def cost(values: Values) -> float:
        return problem.cost(values) + unit * noise.draw(problem, values, rng)

    if search == "TPE":
        history = _tpe(problem, cost, trials, seed)
    else:
        kind = {"random": "random", "ours": "smbo"}[search]
        history = hl.minimize(cost, problem.space, kind, trials, seed=seed)
    truth = np.array([problem.cost(t.values) for t in history.trials])
    return Run(problem, noise, search, seed, history, truth, unit)


def _tpe(problem: Problem, cost: Callable[[Values], float], trials: int, seed: int) -> hl.History:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    found = []
    for k in range(trials):
        trial, values = study.ask(), dict[str, Any]()
        for p in problem.space.parameters:  # parents first
            parent = problem.conditions.get(p.name)
            if parent is None or values.get(parent[0]) == parent[1]:
                values[p.name] = _suggested(trial, p)
        found.append(hl.Trial(k, values, (cost(values),)))
        study.tell(trial, found[-1].costs[0])
    return hl.History(problem.space, (hl.Objective("cost"),), tuple(found))


def _suggested(trial: optuna.Trial, p: hl.Parameter) -> Any:
    if p.kind == "categorical":
        return trial.suggest_categorical(p.name, p.choices)
    if p.kind == "integer":
        return trial.suggest_int(p.name, int(p.lower), int(p.upper), log=p.log)
    return trial.suggest_float(p.name, p.lower, p.upper, log=p.log)
