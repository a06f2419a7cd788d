"""A proposal where more than one thing is known of a trial: several costs, limits, failures.

Each has a surrogate of its own; what is made of their predictions is `surrogates.desirability`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from hyperlens.proposal import About, Belief, Proposal
from hyperlens.spaces.cube import Cube, FloatArray
from hyperlens.spaces.points import on_front
from hyperlens.surrogates.acquisition import lower_confidence_bound
from hyperlens.surrogates.description import believe, describe
from hyperlens.surrogates.desirability import Desirability, Joint
from hyperlens.surrogates.gaussian_process.gp import GP
from hyperlens.surrogates.outcomes import Outcomes
from hyperlens.surrogates.random_forest.forest import Forest

CHANCE = 0.1  # part of the variance of failing that is chance, at least
DARING = 10  # trials in a row that did not fail, after which one that explores may
NEAR = 2  # best configurations told, next to which the acquisition is searched too

Fit = Callable[[FloatArray, FloatArray], GP | Forest]  # of vectors and costs


def joint(
    known: Outcomes, cube: Cube, fit: Fit, starts: int, seed: int, awaited: FloatArray
) -> Joint:
    """A surrogate for each cost, and a Gaussian process for each limit and for failing; they believe
    their own means of what is awaited."""
    models = []
    for k, (X, y) in enumerate(known.learnt()):
        model = fit(X, y) if k < known.objectives else GP(cube, None, starts, seed=seed).fit(X, y)
        if k == known.objectives + known.excess.shape[1]:
            model = _by_chance(model)
        models.append(believe(model, X, y, awaited))
    return Joint(tuple(models))


def _by_chance(model: GP | Forest) -> GP | Forest:
    """The same process of failing, in which not all is the configuration's: the boundary of
    what fails is not known to the last digit."""
    if not isinstance(model, GP) or model.parameters.nugget >= CHANCE:
        return model
    unsure = replace(model.parameters, nugget=CHANCE)
    return GP.from_parameters(model.cube, unsure, model.X, model.y)


def daring(known: Outcomes, wish: Desirability) -> Desirability:
    """What is desired of a proposal that explores. Where none of the last trials failed, it may: what
    failed may have had another cause than its configuration, and one that only creeps away from what did
    not fail would never find out."""
    return wish if known.failed[-DARING:].any() else replace(wish, risk=1.0)


def weighed(
    known: Outcomes, model: Joint, wish: Desirability, tau: float, vector: FloatArray
) -> Proposal:
    """What is thought of a configuration, to be kept with it."""
    mean, std = model.predict(vector[None])
    limits = known.excess.shape[1]
    about: list[About] = [*["cost"] * known.objectives, *["excess"] * limits]  # type: ignore[list-item]
    about += ["failure"] * (len(mean) - len(about))
    first, *beside = (
        Belief(what, float(u), float(s), *describe(one))
        for what, u, s, one in zip(about, mean[:, 0], std[:, 0], model.models, strict=True)
    )
    limited = len(mean) > known.objectives
    return Proposal(
        kind="proposed",
        acquisition=wish.kind,
        tau=tau,
        mean=first.mean,
        std=first.std,
        bound=float(lower_confidence_bound(mean[0], std[0], tau)[0]),
        score=float(wish.score(mean, std)[0]),
        best=wish.best if np.isfinite(wish.best) else None,
        surrogate=first.surrogate,
        surrogate_parameters=first.surrogate_parameters,
        chance=float(np.exp(wish.log_chance(mean, std))[0]) if limited else None,
        failing=float(wish.failing(mean)[0]) if about[-1] == "failure" else None,
        beside=tuple(beside),
    )


def near(known: Outcomes, rng: np.random.Generator) -> FloatArray:
    """Vectors next to which an acquisition is searched too: of the best, or of some of the front."""
    X, costs = known.X, known.costs
    if not known.feasible.any():
        above = np.maximum(np.nan_to_num(known.excess, nan=np.inf), 0.0).sum(axis=1)
        return np.asarray(X[np.argsort(above, kind="stable")[:NEAR]])
    X, costs = X[known.feasible], costs[known.feasible]
    if known.objectives == 1:
        return np.asarray(X[np.argsort(costs[:, 0], kind="stable")[:NEAR]])
    front = np.flatnonzero(on_front(costs))
    return np.asarray(X[rng.permutation(front)[: 2 * NEAR]])
