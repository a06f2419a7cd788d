"""A proposal that surrogates of several objectives, of limits or of failing made together: what is
explained of it, and what they predicted."""

from dataclasses import replace

import numpy as np

from hyperlens import words
from hyperlens.explain.proposals.aims import Aim, aim
from hyperlens.explain.proposals.recorded_proposer import Proposer
from hyperlens.explain.shapley.coalitions import Quantities
from hyperlens.runs.history import History, Objective
from hyperlens.spaces.cube import FloatArray
from hyperlens.surrogates.acquisition import log_chance_kept, lower_confidence_bound
from hyperlens.surrogates.desirability import Desirability


def weighed(
    source: Proposer, wish: Desirability, tau: float, objective: Objective
) -> tuple[Aim, Quantities]:
    """The same of one objective among all that was predicted; the score is of all."""
    assert source.joint is not None
    k = source.joint.shown
    chosen = aim(wish.kind, objective.maximize, True, len(source.joint.models) > wish.objectives)

    def quantities(mean: FloatArray, std: FloatArray) -> FloatArray:
        bound = lower_confidence_bound(mean[k], std[k], tau)
        return np.stack([mean[k], std[k], bound, wish.score(mean, std)])

    return replace(chosen, jointly=True), quantities


def beliefs(
    history: History, vector: FloatArray, source: Proposer
) -> dict[str, tuple[float, float]]:
    """Mean and standard deviation of each objective at the proposal, if they made it together."""
    if source.joint is None:
        return {}
    means, stds = source.joint.predict(vector[None])
    names = source.objectives
    return {
        name: (history.objective(name).sign * float(mean), float(std))
        for name, mean, std in zip(names, means[:, 0], stds[:, 0], strict=False)
    }


def thoughts(history: History, vector: FloatArray, source: Proposer) -> tuple[str, ...]:
    """What was predicted of all else than the cost that is explained."""
    if source.joint is None or source.wish is None:
        return ()
    means, stds = source.joint.predict(vector[None])
    wish = source.wish
    said = []
    if wish.objectives > 1:
        each = (
            f"{name} {words.number(mean)} (standard deviation {words.number(std)})"
            for name, (mean, std) in beliefs(history, vector, source).items()
        )
        said.append(f"Predicted were {', '.join(each)}.")
    rows = slice(wish.objectives, wish.objectives + wish.limits)
    for text, mean, std in zip(history.limits, means[rows], stds[rows], strict=False):
        chance = float(np.exp(log_chance_kept(mean, std))[0])
        said.append(f"The chance to keep {text} was {words.percent(chance)}.")
    if len(means) > rows.stop:
        said.append(f"The chance to fail was {words.percent(float(wish.failing(means)[0]))}.")
    return tuple(said)
