"""Two questions about what mattered, over the whole space and among the good: which one a run answers.

A search looks where costs are good, so that of all else little is known. Both answers have intervals;
the one among the good leads if its intervals are clearly narrower and the search has been there: at most
half as many trials are elsewhere as a random design would have.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hyperlens.explain.importance.good import Among, fewest_below, place
from hyperlens.record import Record
from hyperlens.words import number

if TYPE_CHECKING:
    from hyperlens.explain.importance.importance import Importance

CLEARLY = 0.75  # of the width over the whole space: intervals among the good are at most so wide

Because = Literal["narrower", "not narrower", "few trials", "no intervals"]


@dataclass(frozen=True)
class LeadingQuestion(Record):
    """Which question leads, and the numbers that decide.

    Widths are those of the intervals of single parameters, on average. `below` of `trials` trials are
    in the good part of the space, and `needed` make it a place where the search has been; its costs
    are `bound` or better.
    """

    objective: str
    among: Among
    because: Because
    width_all: float
    width_good: float
    below: int
    needed: int
    trials: int
    quantile: float
    bound: float
    digits: int = 4  # that tell costs apart
    notes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """Which of the two questions the run answers, and why."""
        everywhere, good = place("all", None), place("good", self.quantile)
        if self.because == "no intervals":
            return (
                f"What mattered {everywhere} stands first, for nothing says which answer is surer."
            )
        there = f"{good} ({self.objective} {number(self.bound, self.digits)} or better)"
        start = "What this run answers best is what mattered"
        whole, narrow = (f"{100 * width:.1f} points" for width in (self.width_all, self.width_good))
        if self.because == "narrower":
            return (
                f"{start} {there}: {self.below} of {self.trials} trials are there, and the intervals "
                f"of single parameters are {narrow} wide on average, against {whole} {everywhere}."
            )
        if self.because == "few trials":
            return (
                f"{start} {everywhere}, where the trials are: only {self.below} of {self.trials} are "
                f"{there}, and it would take {self.needed} for that question to lead."
            )
        than = "wider" if self.width_good > self.width_all else "not clearly narrower"
        return (
            f"{start} {everywhere}: {there}, where {self.below} of {self.trials} trials are, the "
            f"intervals of single parameters are {narrow} wide on average, {than} than the {whole} "
            f"{everywhere}."
        )

    def _columns(self) -> dict[str, Any]:
        width = [self.width_all, self.width_good]
        return {"among": ["all", "good"], "width": width, "trials": [self.trials, self.below]}


def leading_question(whole: Importance, good: Importance) -> LeadingQuestion:
    """Which of two answers, over the whole space and among the good, a run supports better."""
    assert good.quantile is not None
    assert good.bound is not None
    assert good.below is not None
    parameters = sum(len(names) == 1 for names in good.parameters)
    searched = math.ceil((1 + good.quantile) / 2 * whole.trials)
    needed = max(fewest_below(parameters), searched)
    width_all, width_good = _width(whole), _width(good)
    because: Because = "not narrower"
    if math.isnan(width_all) or math.isnan(width_good):
        because = "no intervals"
    elif good.below < needed:
        because = "few trials"
    elif width_good <= CLEARLY * width_all:
        because = "narrower"
    return LeadingQuestion(
        objective=whole.objective,
        among="good" if because == "narrower" else "all",
        because=because,
        width_all=width_all,
        width_good=width_good,
        below=good.below,
        needed=needed,
        trials=whole.trials,
        quantile=good.quantile,
        bound=good.bound,
        digits=good.digits,
    )


def _width(record: Importance) -> float:
    """Mean width of the intervals of single parameters that are known."""
    alone = np.array([len(names) == 1 for names in record.parameters], dtype=bool)
    widths = (record.high - record.low)[alone]
    known = widths[~np.isnan(widths)]
    return float(known.mean()) if len(known) else math.nan
