"""Configurations that a question names: the default, the best trial, a trial, or values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.explain.proposals.proposers import BEST, position
from hyperlens.runs.history import History
from hyperlens.spaces.cube import FloatArray

BEST_VALUE = "The value in the best trial, as the run recorded it."
Which = Literal["default", "best"] | int | Mapping[str, Any]


@dataclass(frozen=True)
class Named:
    """A vector, its values, and what to call it in a sentence."""

    vector: FloatArray
    values: Mapping[str, Any]
    called: str


def named(history: History, which: Which, objective: str | None = None) -> Named:
    """The configuration that is meant; it must honour the space's conditions."""
    if isinstance(which, Mapping):
        for name in which:
            if name not in history.space.constants:
                history.space.column(name)
        values, called = which, "the given configuration"
    elif isinstance(which, (int, np.integer)) and not isinstance(which, bool):
        trial = history.trials[position(history, int(which))]
        values, called = trial.values, f"trial {trial.number}"
    elif which in BEST:
        trial = history.best(objective)
        values, called = trial.values, f"the best trial ({trial.number})"
    elif which == "default":
        values = history.space.default
        called = (
            "the midpoint of the space" if history.space.central else "the default configuration"
        )
    else:
        raise AnalysisError(
            f"There is no configuration '{which}'; name 'default', 'best', a trial's number, or "
            "give its values."
        )
    vector = history.space.encode([values])
    if len(history.space.misfits(vector)):
        raise AnalysisError(
            f"{called[0].upper() + called[1:]} contradicts the space's conditions; give exactly the "
            "parameters that are active."
        )
    return Named(vector[0], history.space.decode(vector)[0], called)
