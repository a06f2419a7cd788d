"""Who minimises: a player is given a problem, a cost to call and a seed, and calls it `trials` times.

The cost remembers what it saw. A player returns the configuration that it recommends at the end, or None
for the one of the smallest cost that it measured. A trial that diverges raises `Diverged`; every player
is told of it in its own way.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import optuna

import hyperlens as hl
from benchmarks.machine import revision
from benchmarks.optimizers.problem import Cost, Diverged, Problem
from hyperlens.spaces.clauses import holds
from hyperlens.spaces.cube import FloatArray

Values = Mapping[str, Any]
Player = Callable[[Problem, Cost, int], Values | None]

OURS, RANDOM = "Hyperlens", "random search"
PEERS = {  # and the package that it needs
    "Optuna TPE": "optuna",
    "Optuna GP": "torch",
    "CMA-ES": "cmaes",
    "SMAC3 HPO": "smac",
    "SMAC3 black-box": "smac",
    "BoTorch LogEI": "botorch",
    "HEBO": "hebo",
}


def ours(problem: Problem, cost: Cost, seed: int, **options: Any) -> Values | None:
    """What we tell users to take is recommended: the best predicted where there is noise."""
    history = hl.minimize(cost, problem.space, trials=problem.trials, seed=seed, **options)
    return hl.recommend(history).values if problem.noise else None


def papers(problem: Problem, cost: Cost, seed: int) -> Values | None:
    """Croppi's table 3: the lower confidence bound with tau 1, minimised by focus search alone."""
    return ours(problem, cost, seed, tau=1.0, refine=False)


def random_search(problem: Problem, cost: Cost, seed: int) -> None:
    hl.minimize(cost, problem.space, trials=problem.trials, seed=seed, optimizer="random")


def suggested(trial: optuna.Trial, space: hl.Space) -> dict[str, Any]:
    """A configuration of a space that Optuna suggests, parents first."""
    values: dict[str, Any] = {}
    for column in space.cube.order:
        p = space.parameters[column]
        if not _active(space, p.name, values):
            continue
        if p.choices:
            values[p.name] = trial.suggest_categorical(p.name, p.choices)
        elif p.kind == "integer":
            values[p.name] = trial.suggest_int(p.name, int(p.lower), int(p.upper), log=p.log)
        else:
            values[p.name] = trial.suggest_float(p.name, p.lower, p.upper, log=p.log)
    return values


def by_optuna(problem: Problem, cost: Cost, seed: int, sampler: Any) -> None:
    def objective(trial: optuna.Trial) -> float:
        return cost(suggested(trial, problem.space))

    study = optuna.create_study(sampler=sampler(seed=seed))
    study.optimize(objective, n_trials=problem.trials, catch=(Diverged,))


def _active(space: hl.Space, name: str, values: Values) -> bool:
    clauses = space.clauses.get(name)
    return clauses is None or any(
        all(
            other in values and holds(comparison, values[other], value)
            for other, comparison, value in clause
        )
        for clause in clauses
    )


def by_smac(problem: Problem, cost: Cost, seed: int, facade: str) -> Values:
    import smac

    with tempfile.TemporaryDirectory() as folder:
        scenario = smac.Scenario(
            problem.space.configspace,
            deterministic=not problem.noise,  # else it repeats what it thinks good
            n_trials=problem.trials,
            seed=seed,
            output_directory=Path(folder),
        )
        chosen = getattr(smac, facade)(
            scenario, lambda config, seed=0: cost(dict(config)), logging_level=False, overwrite=True
        )
        return dict(chosen.optimize())


def by_botorch(problem: Problem, cost: Cost, seed: int) -> Values | None:
    """A standard loop: 2 (d + 1) Sobol' points, then the logarithm of the expected improvement of a
    Gaussian process with BoTorch's own priors; a trial that failed counts as the worst. Where there is
    noise, the tried one of the best mean is recommended."""
    import torch
    from botorch.acquisition import LogExpectedImprovement, qLogNoisyExpectedImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.models.transforms import Standardize
    from botorch.optim import optimize_acqf
    from botorch.utils.sampling import draw_sobol_samples
    from gpytorch.mlls import ExactMarginalLogLikelihood

    def fitted(X: FloatArray, y: FloatArray) -> Any:
        gains = torch.as_tensor(-np.where(np.isnan(y), np.nanmax(y), y))[:, None]
        model = SingleTaskGP(torch.as_tensor(X), gains, outcome_transform=Standardize(1))
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return model

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    d = len(problem.space)
    bounds = torch.stack([torch.zeros(d), torch.ones(d)]).double()
    first = draw_sobol_samples(bounds, 2 * (d + 1), 1, seed=seed)[:, 0]
    X, y = np.empty((0, d)), np.empty(0)
    tried: list[Values] = []
    for k in range(problem.trials):
        if k < len(first):
            at = first[k].numpy()
        else:
            model = fitted(X, y)
            acquisition = (
                qLogNoisyExpectedImprovement(model, torch.as_tensor(X))
                if problem.noise
                else LogExpectedImprovement(model, -np.nanmin(y))
            )
            point, _ = optimize_acqf(acquisition, bounds, q=1, num_restarts=4, raw_samples=128)
            at = point[0].detach().numpy()
        tried.append(problem.space.decode(problem.space.cube.vectors(at[None]))[0])
        X = np.vstack([X, at])
        y = np.append(y, _or_nan(cost, tried[-1]))
    if not problem.noise:
        return None
    mean = fitted(X, y).posterior(torch.as_tensor(X)).mean[:, 0]
    return tried[int(mean.argmax())]


def by_hebo(problem: Problem, cost: Cost, seed: int) -> None:
    import pandas as pd
    from hebo.design_space.design_space import DesignSpace
    from hebo.optimizers.hebo import HEBO

    def parameter(p: hl.Parameter) -> dict[str, Any]:
        if p.choices:
            return {"name": p.name, "type": "cat", "categories": list(p.choices)}
        kind = {(True, True): "pow_int", (True, False): "int", (False, True): "pow"}
        named = kind.get((p.kind == "integer", p.log), "num")
        return {"name": p.name, "type": named, "lb": p.lower, "ub": p.upper}

    np.random.seed(seed)  # noqa: NPY002 -- HEBO draws from it
    space = DesignSpace().parse([parameter(p) for p in problem.space.parameters])
    player = HEBO(space, scramble_seed=seed)
    worst = 0.0
    for _ in range(problem.trials):
        asked: pd.DataFrame = player.suggest(n_suggestions=1)
        values = asked.iloc[0].to_dict()
        for p in problem.space.parameters:
            values[p.name] = int(values[p.name]) if p.kind == "integer" else values[p.name]
        measured = _or_nan(cost, values)
        worst = worst if np.isnan(measured) else max(worst, measured)
        player.observe(asked, np.array([[worst if np.isnan(measured) else measured]]))


def _or_nan(cost: Cost, values: Values) -> float:
    try:
        return cost(values)
    except Diverged:
        return float("nan")


def suits(player: str, problem: Problem) -> bool:
    """Can it play this? Our loop of BoTorch has no kernel for categories, HEBO no conditions."""
    if player == "BoTorch LogEI":
        return not any(p.choices for p in problem.space.parameters)
    return player != "HEBO" or not problem.space.conditions


def state_of(player: str) -> str:
    """Of a peer its package's version, of ours the last commit of the sources."""
    if player not in PEERS:
        return revision()
    package = "optuna" if player.startswith("Optuna") else PEERS[player]
    return f"{package} {version(package)}"


def players() -> dict[str, Player]:
    """All that are installed, ours first."""
    samplers = optuna.samplers
    known: dict[str, Player] = {
        OURS: ours,
        f"{OURS}, the papers' settings": papers,
        RANDOM: random_search,
        "Optuna TPE": partial(by_optuna, sampler=samplers.TPESampler),
        "Optuna GP": partial(by_optuna, sampler=samplers.GPSampler),
        "CMA-ES": partial(by_optuna, sampler=samplers.CmaEsSampler),
        "SMAC3 HPO": partial(by_smac, facade="HyperparameterOptimizationFacade"),
        "SMAC3 black-box": partial(by_smac, facade="BlackBoxFacade"),
        "BoTorch LogEI": by_botorch,
        "HEBO": by_hebo,
    }
    return {n: play for n, play in known.items() if n not in PEERS or find_spec(PEERS[n])}
