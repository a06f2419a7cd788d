"""Importance for reaching the top: which parameters tell the best from the rest.

Two questions, by one number (regimes.py). Of the trials: where this search's best lie beside its
other trials, with intervals of trials drawn anew, and what chance alone would give, which is that of
tops drawn at random. Over the space: where the best part of all configurations lies, by functions drawn
from the surrogate (over_space.py). Of trials that lie evenly the two are one, and trials need no
surrogate; of what an optimiser leaves they are not, and only the second says what leads to the top. So
that one leads there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.explain.models.leader import EVEN, leader
from hyperlens.explain.models.verdict import Verdict, grounds, guessed, judge, of_share
from hyperlens.explain.run.bias import unevenness
from hyperlens.explain.top.over_space import OverSpace, over_space
from hyperlens.explain.top.regimes import importances, parts, places_of, top_of
from hyperlens.explain.top.top_words import (
    CHANCE,
    FIRST,
    RAW,
    SHARE,
    SPACE_SHARE,
    said,
)
from hyperlens.record import Record
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History
from hyperlens.spaces.cube import FloatArray, IntArray
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.tables import Column, Table, between, ends, table
from hyperlens.words import counted, number, percent, tenths

RESAMPLES = 100
BY_CHANCE = 0.05  # how often a top drawn at random is taken for something
FEWEST = 5  # trials of the top that say something
NOTHING_VARIES = (
    "This run has no parameter that varies, so nothing can tell its trials apart; name a run of a "
    "search."
)


@dataclass(frozen=True)
class TopImportance(Record):
    """Parameters by the share that `leads`, the largest first; shares are parts of the sum of all.

    Of the trials: `importance`, its `share` with `low` and `high` over trials drawn anew, and `chance`,
    bounds of the importance that tops drawn at random pass, with any of the parameters, in one of
    twenty cases: what lies below may be chance. `active` is how many trials of the top have it. Over the
    space: `space_share` with its interval, and `space_first`, in which part of the drawn functions it is
    the largest; nan where no surrogate can be drawn from. `uneven` is how many times farther from an
    even search the trials lie than chance has it; `verdict` is of what is said over the space.
    """

    objective: str
    quantile: float
    trials: int
    top: int
    bound: float
    leads: Literal["trials", "space"]
    uneven: float
    parameters: tuple[str, ...]
    importance: FloatArray
    share: FloatArray
    low: FloatArray
    high: FloatArray
    chance: FloatArray
    active: IntArray
    space_share: FloatArray
    space_low: FloatArray
    space_high: FloatArray
    space_first: FloatArray
    level: float
    seed: int
    verdict: Verdict | None
    notes: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """What tells the top from the rest: over the space where that leads, and in the trials."""
        text = said(self)
        return text if self.verdict is None else guessed(self.verdict, text)

    @property
    def tables(self) -> tuple[Table, ...]:
        """The answer that leads first."""
        beyond = [
            "yes" if i > c else "no" for i, c in zip(self.importance, self.chance, strict=True)
        ]
        name = Column("parameter", self.parameters)
        mine = (
            Column("share in the trials", self.share, tenths, SHARE),
            self._interval(self.low, self.high, "Over trials drawn anew."),
            Column("importance", self.importance, number, RAW),
            Column("beyond chance", beyond, str, CHANCE),
            Column("active in the top", self.active, number, "Trials of the top that have it."),
        )
        if np.isnan(self.space_share).all():
            return (table(name, *mine),)
        space = (
            Column("share over the space", self.space_share, tenths, SPACE_SHARE),
            self._interval(self.space_low, self.space_high, "Over functions of the surrogate."),
            Column("the largest", self.space_first, percent, FIRST),
        )
        both = (table(name, *space), table(name, *mine))
        return both if self.leads == "space" else both[::-1]

    def _interval(self, low: FloatArray, high: FloatArray, over: str) -> Column:
        return Column(f"{percent(self.level)} interval", ends(low, high), between(tenths), over)

    def _columns(self) -> dict[str, Any]:
        names = ["importance", "share", "low", "high", "chance", "active"]
        names += ["space_share", "space_low", "space_high", "space_first"]
        return {"parameter": self.parameters} | self._fields(*names)


@of_a_run
def top_importance(
    history: History,
    *,
    quantile: float = 0.1,
    level: float = 0.9,
    seed: int = 0,
    objective: str | None = None,
) -> TopImportance:
    """Which parameters tell the best part, `quantile`, from all: of the trials, and of the space."""
    if not 0 < quantile < 1:
        raise AnalysisError(f"A quantile of {quantile:g} is no part; give one between 0 and 1.")
    data, space, goal = history.data(objective), history.space, history.objective(objective)
    if not len(space):
        raise AnalysisError(NOTHING_VARIES)
    top, bound = top_of(data.y, quantile)
    if top.all():
        raise AnalysisError(
            "All trials are equally good, so no top can be told from the rest; run trials with other "
            "costs, or choose a smaller quantile."
        )
    mine = _of_trials(history, data.X, data.y, quantile, level, seed)
    uneven = unevenness(space.cube, data.X, seed)
    whole, verdict, problem = _of_space(history, quantile, level, seed, objective)
    leads: Literal["trials", "space"] = "space" if whole and uneven > EVEN else "trials"
    over = whole or OverSpace(*np.full((4, len(space)), np.nan))
    order = np.argsort(-(over.share if leads == "space" else mine["importance"]), kind="stable")
    notes = _notes(history.divergence(objective), int(top.sum()), math.ceil(quantile * len(top)))
    return TopImportance(
        objective=goal.name,
        quantile=quantile,
        trials=len(top),
        top=int(top.sum()),
        bound=goal.sign * bound,
        leads=leads,
        uneven=uneven,
        parameters=tuple(space.names[j] for j in order),
        **{name: values[order] for name, values in mine.items()},
        space_share=over.share[order],
        space_low=over.low[order],
        space_high=over.high[order],
        space_first=over.first[order],
        level=level,
        seed=seed,
        verdict=verdict if leads == "space" else None,
        notes=notes + (_unasked(problem) if uneven > EVEN and not whole else ()),
    )


def _of_trials(
    history: History, X: FloatArray, y: FloatArray, quantile: float, level: float, seed: int
) -> dict[str, Any]:
    """Fields of the record, (d,) each, in the order of the space."""
    places, everyone, (top, _) = places_of(history.space, X), np.arange(len(y)), top_of(y, quantile)
    found = importances(places, everyone, top)
    rng = np.random.default_rng(seed)
    drawn, chance = [], []
    for _ in range(RESAMPLES):
        rows = rng.integers(len(y), size=len(y))
        again, _ = top_of(y[rows], quantile)
        if not again.all():
            drawn.append(parts(importances(places, rows, again)))
        chance.append(importances(places, everyone, rng.permutation(top)))
    share, tails = parts(found), [(1 - level) / 2, (1 + level) / 2]
    low, high = np.quantile(drawn, tails, axis=0) if drawn else (0 * share, 0 * share + 1)
    return {
        "importance": found,
        "share": share,
        "low": np.minimum(low, share),
        "high": np.maximum(high, share),
        "chance": _bounds(np.array(chance)),
        "active": np.array([int((axis.at[top] >= 0).sum()) for axis in places]),
    }


def _of_space(
    history: History, quantile: float, level: float, seed: int, objective: str | None
) -> tuple[OverSpace | None, Verdict | None, str]:
    """The answer of functions drawn from the leader and whether it may be believed, or why none is."""
    try:
        fitted = leader(history, seed=seed, objective=objective).primary
    except AnalysisError as problem:
        return None, None, str(problem)
    if not isinstance(fitted.model, Additive):
        name = fitted.quality.surrogate
        return None, None, f"No functions can be drawn from the {name}, which leads this run."
    found = over_space(fitted.model, history.space, quantile, level, seed)
    first = int(np.argmax(found.share))
    wide = of_share(history.space.names[first], float(found.low[first]), float(found.high[first]))
    return found, judge((*grounds(history, fitted, (first,)), wide)), ""


def _bounds(drawn: FloatArray) -> FloatArray:
    """Of importances of tops drawn at random (draws, d): what all of them stay below in 19 of 20 draws.

    Each parameter has a size of its own, the upper tenth of its draws; the largest of all in units of
    these is held to the bound, so that many parameters do not make one stand out by chance.
    """
    own = np.quantile(drawn, 1 - 2 * BY_CHANCE, axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        largest = np.where(own > 0, drawn / own, 0.0).max(axis=1)
    return np.asarray(own * np.quantile(largest, 1 - BY_CHANCE))


def _notes(diverged: str | None, top: int, wanted: int) -> tuple[str, ...]:
    notes = [diverged] if diverged else []
    if top > wanted:
        others = counted(top - wanted, "other")
        notes.append(
            f"{others.capitalize()} cost the same as the last of the best {wanted} and count with them."
        )
    if top < FEWEST:
        verb = "is" if top == 1 else "are"
        notes.append(
            f"The top {verb} {counted(top, 'trial')} only; run more trials, or choose a larger part."
        )
    return tuple(notes)


def _unasked(problem: str) -> tuple[str, ...]:
    """That an uneven search has only told its own trials apart."""
    return (
        "The search favoured some parts of the space, so this tells its best trials from where it went, "
        f"and may name other parameters than those that lead there. {problem}",
    )
