"""What makes a configuration desirable to an optimiser, as a function of mean and std."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import ndtr

from hyperlens.errors import AnalysisError
from hyperlens.proposal import Acquisition
from hyperlens.spaces.cube import FloatArray

Score = Callable[[FloatArray, FloatArray], FloatArray]  # mean, std (k,) -> (k,)


@dataclass(frozen=True)
class Aim:
    """By what a proposal is judged, which way is better, and whether it was chosen by this."""

    kind: Literal["lcb", "ei", "given"]
    larger: bool
    made: bool

    @property
    def part(self) -> Literal["bound", "score"]:
        return "bound" if self.kind == "lcb" else "score"

    @property
    def called(self) -> str:
        return {
            "lcb": "the bound",
            "ei": "the expected improvement",
            "given": "what the given function returns",
        }[self.kind]

    def desirable(self, contribution: float) -> bool:
        return contribution > 0 if self.larger else contribution < 0


def aim(acquisition: Acquisition | Score, maximize: bool, made: bool) -> Aim:
    """A larger improvement is better; what a user's function returns is read like the bound."""
    if callable(acquisition):
        return Aim("given", maximize, False)
    return Aim(acquisition, acquisition == "ei" or maximize, made)


def improvement(mean: FloatArray, std: FloatArray, best: float) -> FloatArray:
    """E[max(best - Y, 0)] for Y normal: (best - mean) Phi(z) + std phi(z), z = (best - mean) / std."""
    gap, sure = best - mean, std <= 0
    z = gap / np.where(sure, 1.0, std)
    density = np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
    return np.asarray(
        np.where(sure, np.maximum(gap, 0), np.maximum(gap * ndtr(z) + std * density, 0))
    )


def scored(acquisition: Acquisition | Score, best: float, sign: float) -> Score | None:
    """The score of minimised costs; None for the bound, which follows from mean and std.

    A function of the user's is given the mean in the user's own direction (`sign` -1: maximised), and
    what it returns is left as it is: like the bound, less is better unless the objective is maximised.
    """
    if callable(acquisition):
        given: Score = acquisition

        def of_user(mean: FloatArray, std: FloatArray) -> FloatArray:
            found = np.asarray(given(sign * mean, std), dtype=float)
            if found.shape != mean.shape:
                raise AnalysisError(
                    "The given acquisition must return one number for each mean and standard "
                    "deviation; write it with array operations."
                )
            return found

        return of_user
    if acquisition == "lcb":
        return None
    if acquisition == "ei":
        return lambda mean, std: improvement(mean, std, best)
    raise AnalysisError(
        f"There is no acquisition '{acquisition}'; choose 'lcb', 'ei' or a function of mean and std."
    )
