"""How a proposal is to be explained: the options of `why` and `path`, checked once."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from hyperlens.errors import AnalysisError, listed
from hyperlens.explain.models.fitting import SurrogateName
from hyperlens.explain.proposals.proposers import BEST, proposer, stand_in
from hyperlens.explain.proposals.recorded_proposer import Proposer
from hyperlens.explain.run.configurations import named
from hyperlens.explain.shapley import backgrounds
from hyperlens.explain.shapley.attribution import METHODS, Method
from hyperlens.explain.shapley.backgrounds import KINDS, SIZE, WIDTH, Kind
from hyperlens.proposal import Acquisition
from hyperlens.runs.history import History
from hyperlens.spaces.cube import FloatArray
from hyperlens.surrogates.acquisition import expected_improvement

Baseline = Literal["default", "best"] | Mapping[str, Any]
Score = Callable[[FloatArray, FloatArray], FloatArray]  # mean, std (k,) -> (k,)

POPULATION = 1000  # background points per parameter of the estimator of Croppi 2021
REFERENCES: Mapping[Kind, str] = {
    "global": "the average of the space",
    "local": "the average of its surroundings",
    "hybrid": "the average of the space and its surroundings",
}


@dataclass(frozen=True)
class Question:
    """How a proposal is to be explained; see `why`."""

    tau: float | None = None
    method: Method = "auto"
    samples: int | None = None
    background: Kind = "global"
    size: int | None = None
    width: float = WIDTH
    baseline: Baseline | None = None
    acquisition: Acquisition | Score | None = None
    surrogate: Any = None
    level: float = 0.95
    seed: int = 0
    objective: str | None = None
    trees: int = 64

    def __post_init__(self) -> None:
        if self.tau is not None and not (np.isfinite(self.tau) and self.tau >= 0):
            raise AnalysisError(f"tau is {self.tau}; choose a finite number of at least 0.")
        if self.method not in METHODS:
            raise AnalysisError(
                f"There is no method '{self.method}'; choose one of {listed(METHODS)}."
            )
        if self.background not in KINDS:
            raise AnalysisError(
                f"There is no background '{self.background}'; choose one of {listed(KINDS)}."
            )
        if self.baseline is not None and self.background != "global":
            raise AnalysisError(
                f"A baseline takes the place of a {self.background} background; give one of the two."
            )
        if self.samples is not None and self.samples < 2:
            raise AnalysisError(f"{self.samples} samples have no spread; draw 2 or more.")
        if self.size is not None and self.size < 1:
            raise AnalysisError(f"A background of {self.size} points is none; use 1 or more.")
        if not 0 < self.width <= 1:
            raise AnalysisError(
                f"A width of {self.width} is no part of an axis; choose one from above 0 to 1."
            )
        if not 0 < self.level < 1:
            raise AnalysisError(
                f"An interval of {self.level} is not a level; choose one between 0 and 1."
            )

    def proposer(self, history: History, trial: int) -> Proposer:
        objective, seed, trees = self.objective, self.seed, self.trees
        return proposer(history, trial, self.surrogate, objective, seed, trees)

    def stand_in(self, history: History) -> tuple[SurrogateName, tuple[str, ...]]:
        return stand_in(history, self.objective, self.seed, self.trees)

    def compared_with(
        self, history: History, vector: FloatArray, source: Proposer
    ) -> tuple[FloatArray, str, str]:
        """Latents, the name of the background, and what the average is the average of."""
        cube = history.space.cube
        size = SIZE if self.size is None else self.size
        if self.baseline is not None:
            if isinstance(self.baseline, str) and self.baseline in BEST:
                baseline, called = source.X[int(np.argmin(source.y))], "the best trial before it"
            else:
                other = named(history, self.baseline, self.objective)
                baseline, called = other.vector, other.called
            return backgrounds.single(cube, baseline, size, self.seed), called, f"that of {called}"
        if self.background == "global" and self.method == "sampled":
            size = POPULATION * cube.d if self.size is None else size
            latents = backgrounds.latin_hypercube(cube, size, self.seed)
        else:
            latents = backgrounds.background(
                self.background, cube, vector, size, self.width, self.seed
            )
        return latents, self.background, REFERENCES[self.background]


def score_of(acquisition: Acquisition | Score, best: float, sign: float) -> Score | None:
    """The score of minimised costs; None for the bound, which follows from mean and std.

    A function of the user's is given the mean in the user's own direction (`sign` -1: maximised), and
    what it returns is left as it is: like the bound, less is better unless the objective is maximised.
    """
    if callable(acquisition):
        of_user: Score = acquisition

        def checked(mean: FloatArray, std: FloatArray) -> FloatArray:
            scores = np.asarray(of_user(sign * mean, std), dtype=float)
            if scores.shape != mean.shape:
                raise AnalysisError(
                    "The given acquisition must return one number for each mean and standard "
                    "deviation; write it with array operations."
                )
            return scores

        return checked
    if acquisition == "lcb":
        return None
    if acquisition == "ei":
        return lambda mean, std: expected_improvement(mean, std, best)
    if acquisition in ("ehvi", "feasible"):
        raise AnalysisError(
            f"What surrogates of all objectives and limits said is not known here, so that "
            f"'{acquisition}' cannot be explained; choose 'lcb', 'ei' or a function of mean and std."
        )
    raise AnalysisError(
        f"There is no acquisition '{acquisition}'; choose 'lcb', 'ei' or a function of mean and std."
    )
