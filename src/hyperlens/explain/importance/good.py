"""The good part of the space: below which cost it lies, and how many trials speak of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.explain.models.fitting import SAMPLE, Fitted
from hyperlens.spaces.points import sobol
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.surrogates.threads import one_thread
from hyperlens.words import percent

Among = Literal["all", "good"]
QUANTILES = (0.1, 0.25, 0.5)  # parts of the space that may be called good
FEWEST_BELOW = 20  # trials, at the least, that make a part an answer
FEWEST_BELOW_EACH = 3  # of them for each parameter, at the least
PARTS = {0.1: "best tenth", 0.25: "best quarter", 0.5: "better half"}


@dataclass(frozen=True)
class Good:
    """A part `quantile` of the space, whose expected costs are at most `bound` (minimised)."""

    quantile: float
    bound: float
    below: int  # trials in it


def good_part(fitted: Fitted, quantile: float | None, seed: int) -> Good:
    """The part that is asked for, else the smallest with enough trials, else the largest."""
    if quantile is not None and not 0 < quantile < 1:
        raise AnalysisError(
            f"A quantile of {quantile} is no part of the space; choose one between 0 and 1."
        )
    quantiles = QUANTILES if quantile is None else (quantile,)
    bounds = _bounds(fitted, quantiles, seed)
    data = fitted.training
    parts = [
        Good(q, bound, int(((data.y <= bound) & data.measured).sum()))
        for q, bound in zip(quantiles, bounds, strict=True)
    ]
    enough = fewest_below(data.X.shape[1])
    return next((part for part in parts if part.below >= enough), parts[-1])


def fewest_below(parameters: int) -> int:
    """Trials in the good part that it takes to ask what matters there."""
    return max(FEWEST_BELOW, FEWEST_BELOW_EACH * parameters)


def place(among: Among, quantile: float | None) -> str:
    """Of which part of the space a share is.

    >>> place("all", None), place("good", 0.25)
    ('over the whole space', 'among the best quarter of the space')
    """
    if among == "all" or quantile is None:
        return "over the whole space"
    return f"among the {part_name(among, quantile)} of the space"


def part_name(among: Among, quantile: float | None) -> str:
    """The part itself."""
    if among == "all" or quantile is None:
        return "whole space"
    return PARTS.get(quantile, f"best {percent(quantile)}")


def _bounds(fitted: Fitted, quantiles: tuple[float, ...], seed: int) -> list[float]:
    """The cost that each part of the space is expected to be below."""
    model = fitted.model
    if isinstance(model, Additive):
        return [model.cost_at(q) for q in quantiles]
    X = fitted.cube.vectors(sobol(SAMPLE, fitted.cube.d, seed))
    with one_thread():
        mean = model.predict(X)[0]
    return [float(np.quantile(mean, q)) for q in quantiles]
