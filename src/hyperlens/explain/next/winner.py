"""Is the best observed the best of those tried, how much of its lead is luck, and would repeats tell?

Of many noisy costs the lowest is on average too low (the winner's curse). What configurations truly cost
is drawn from its posterior given all costs (surrogates/additive/true_costs.py): the part of the draws in
which one is the best is its probability, their mean what it is expected to cost after the noise. Its
interval reaches beyond theirs, by as much as true costs did on other functions: an error of the process
moves neighbours together, so that which is best may be told better than at which cost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.explain.models.compared import compared
from hyperlens.explain.next import winner_words
from hyperlens.explain.next.overtuning import Overtuning, overtuning
from hyperlens.explain.next.separation import repeats_needed
from hyperlens.record import Record
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History
from hyperlens.runs.repeats import Configurations
from hyperlens.spaces.cube import FloatArray, IntArray
from hyperlens.surrogates.additive.true_costs import TrueCosts, told_apart
from hyperlens.tables import Column, Table, between, ends, table
from hyperlens.words import number, percent, tenths

FIVE = 5  # configurations that are named, and repeated
SURE = 0.9
MATTERS = 0.01  # of the difference between the median and the best cost
LUCK = 0.5  # probability below which the best observed is more likely not the best
TRIFLE = 0.25  # of the standard deviation of a cost
WIDENED = 1.8  # how much wider intervals are than draws, which take their kernel for certain

REPEATS = "How often it was measured."
OBSERVED = "What was measured, on average if it was measured several times."
EXPECTED = "What it would cost on average if it were repeated very often, as far as all costs tell."
INTERVAL = "Where that lies at this level."
PROBABILITY = "That this is truly the best of all configurations that were tried."


@dataclass(frozen=True)
class Winner(Record):
    """The configurations that lead, in the order of what was observed: the first is the best observed.

    A configuration is named by its first trial: `single` is the trial of the best single cost and
    `single_of` its configuration. Costs are in the user's direction. `noise` is the standard deviation
    of a repeated cost. `repeats` counts trials of each. `five` are the trials that may be best, the
    likeliest first; `needed` repeats of each of them choose one that is at most `matters` worse than the
    best with a chance of `sure` (None where 100 are too few); `chance` is that of the recommended one
    without any. Unless `told_apart` nothing is known but what was measured: expected costs,
    probabilities and noise are nan. `other_costs` (trials, others) are what they measured of the
    `others`, the run's other objectives.
    """

    objective: str
    maximize: bool
    configurations: int
    trial: IntArray
    observed: FloatArray
    expected: FloatArray
    low: FloatArray
    high: FloatArray
    probability: FloatArray
    repeats: IntArray
    recommended: int
    single: int
    single_of: int
    noise: float
    known_noise: bool
    told_apart: bool
    five: tuple[int, ...]
    needed: int | None
    chance: float
    matters: float
    sure: float
    overtuning: Overtuning | None
    level: float
    seed: int
    notes: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    other_costs: FloatArray = field(default_factory=lambda: np.empty((0, 0)))

    @property
    def sign(self) -> float:
        return -1.0 if self.maximize else 1.0

    @property
    def best(self) -> int:
        """The trial of the best observed cost."""
        return int(self.trial[0])

    @property
    def observed_lead(self) -> float:
        """How much better the best was than the second, as measured."""
        return float(self.sign * (self.observed[1] - self.observed[0]))

    @property
    def expected_lead(self) -> float:
        """How much better than all others it is expected to be; negative if one is expected better."""
        return float(np.min(self.sign * self.expected[1:]) - self.sign * self.expected[0])

    @property
    def luck(self) -> float:
        """What of the lead is luck."""
        return self.observed_lead - self.expected_lead

    @property
    def curse(self) -> float:
        """By how much the best cost was measured better than it is expected to be (winner's curse)."""
        return float(self.sign * (self.expected[0] - self.observed[0]))

    @property
    def gain(self) -> float:
        """How much better the recommended trial is expected to be than the best observed."""
        k = self.row(self.recommended)
        return float(self.sign * (self.expected[0] - self.expected[k]))

    @property
    def margin(self) -> str:
        """By how much a choice may be worse than the best and still count as it, in words."""
        return f" or at most {number(self.matters, 2)} worse" if self.matters else ""

    @property
    def surpassed(self) -> bool:
        """Is another trial expected to be better by what matters, and not by a trifle of the noise?"""
        trifle = 0.0 if math.isnan(self.noise) else TRIFLE * self.noise
        return self.gain > max(self.matters, trifle)

    @property
    def doubtful(self) -> bool:
        """Is the best observed more likely not the best, and another one clearly better?

        Without repeats what looks like noise may be an objective that is rough, so nothing is said.
        """
        measured = self.known_noise or bool((self.repeats > 1).any())
        return measured and self.surpassed and bool(self.probability[0] < LUCK)

    def row(self, trial: int) -> int:
        """Where a trial stands."""
        return int(np.flatnonzero(self.trial == trial)[0])

    @property
    def sentence(self) -> str:
        """How probably the best observed is the best, what of its lead is luck, would repeats tell."""
        return winner_words.sentence(self)

    @property
    def reading(self) -> str:
        """What is expected after the noise, of the best observed and of the best expected."""
        return winner_words.reading(self)

    @property
    def caution(self) -> str:
        """What is to be said beside the best observed where it is hardly the best; else empty."""
        return winner_words.caution(self)

    @property
    def lead(self) -> tuple[str, ...]:
        told = self.overtuning.sentence if self.overtuning is not None else ""
        return tuple(filter(None, (self.sentence, self.reading, told)))

    @property
    def tables(self) -> tuple[Table, ...]:
        several = bool((self.repeats > 1).any())
        apart = winner_words.digits(self)
        return (
            table(
                Column("trial", self.trial.tolist(), str),
                Column("measured", self.repeats.tolist(), number, REPEATS) if several else None,
                Column("observed", self.observed.tolist(), apart, OBSERVED),
                Column("expected", self.expected.tolist(), apart, EXPECTED),
                Column(
                    f"{percent(self.level)} interval",
                    ends(self.low, self.high),
                    between(apart),
                    INTERVAL,
                ),
                Column("is the best", self.probability.tolist(), tenths, PROBABILITY),
                *(
                    Column(name, costs.tolist(), number, OBSERVED)
                    for name, costs in zip(self.others, self.other_costs.T, strict=True)
                ),
            ),
        )

    def _columns(self) -> dict[str, Any]:
        return self._fields(
            "trial", "observed", "expected", "low", "high", "probability", "repeats"
        )


@of_a_run
def winner(
    history: History,
    *,
    test: str | None = None,
    noise: float | None = None,
    matters: float | None = None,
    sure: float = SURE,
    level: float = 0.9,
    seed: int = 0,
    objective: str | None = None,
) -> Winner:
    """How probably the best observed configuration is the best, and what of its lead is luck.

    `noise` is the standard deviation of a repeated cost where it is known, 0 for an objective that
    always gives the same; it is estimated otherwise. `matters` is the smallest difference of interest.
    `test` names an objective that was measured on data the search did not see.
    """
    _check(level, sure, noise, matters)
    chosen = history.objective(objective)
    found = compared(history, noise, seed, objective)
    tried, small, truth, useful = found.tried, found.small, found.truth, found.useful
    if matters is None:
        matters = MATTERS * float(np.median(small.observed) - small.observed[useful].min())
    known = truth.exact or told_apart(found.measured, found.model)
    likeliest = np.lexsort((truth.expected[truth.rivals], -truth.probability))[:FIVE]
    needed, chance = repeats_needed(truth.draws[:, likeliest], truth.noise, sure, matters, seed)
    record = Winner(
        objective=chosen.name,
        maximize=chosen.maximize,
        configurations=len(useful) if found.limited else len(tried.trial),
        **_leading(small, truth, truth.rivals[likeliest], useful, level, chosen.sign),
        recommended=int(small.trial[useful[np.argmin(truth.expected[useful])]]),
        single=history.best(objective).number,
        single_of=int(tried.trial[tried.which[history.best_row(history.data(objective))]]),
        noise=found.noise,
        known_noise=noise is not None or truth.exact,
        told_apart=known,
        five=tuple(small.trial[truth.rivals[likeliest]].tolist()),
        needed=needed,
        chance=chance,
        matters=matters,
        sure=sure,
        overtuning=None if test is None else overtuning(history, objective, test),
        level=level,
        seed=seed,
        notes=(*small.notes, *found.limited, *_ties(small.observed[useful])),
    )
    return _with_others(history, tried, record if known else _unknown(record))


def _with_others(history: History, tried: Configurations, record: Winner) -> Winner:
    """With what the same configurations measured of other objectives."""
    others = [o for o in history.objectives if o.name != record.objective]
    rows = history.data(record.objective).rows
    at = [int(np.flatnonzero(tried.trial == trial)[0]) for trial in record.trial.tolist()]
    repeats = np.bincount(tried.which)
    costs = [(np.bincount(tried.which, history.measured(o)[rows]) / repeats)[at] for o in others]
    return replace(
        record,
        others=tuple(o.name for o in others),
        other_costs=np.array(costs).reshape(len(others), len(at)).T,
    )


def _unknown(record: Winner) -> Winner:
    """The same where nothing is known but what was measured: the best observed stays the choice."""
    kept = slice(min(FIVE, len(record.trial)))
    nothing = np.full(len(record.trial[kept]), np.nan)
    return replace(
        record,
        trial=record.trial[kept],
        observed=record.observed[kept],
        repeats=record.repeats[kept],
        expected=nothing,
        low=nothing,
        high=nothing,
        probability=nothing,
        recommended=record.best,
        five=tuple(record.trial[kept].tolist()),
        noise=math.nan,
        needed=None,
        chance=math.nan,
    )


def _leading(
    tried: Configurations,
    truth: TrueCosts,
    likeliest: IntArray,
    useful: IntArray,
    level: float,
    sign: float,
) -> dict[str, Any]:
    """Columns of the best observed, the likeliest and the recommended, in the order of what was
    observed and in the user's direction."""
    best_first = useful[np.argsort(tried.observed[useful], kind="stable")]
    recommended = int(useful[np.argmin(truth.expected[useful])])
    shown = {*best_first[:FIVE].tolist(), *likeliest.tolist(), recommended}
    rows = np.array([k for k in best_first if k in shown])
    drawn = np.searchsorted(truth.rivals, rows)  # all of them are rivals
    tails = [(1 - level) / 2, 0.5, (1 + level) / 2]
    start, middle, end = np.quantile(truth.draws[:, drawn], tails, axis=0)
    wide = middle + WIDENED * (np.array([start, end]) - middle)
    low, high = np.sort(sign * wide, axis=0)
    return {
        "trial": tried.trial[rows],
        "observed": sign * tried.observed[rows],
        "expected": sign * truth.expected[rows],
        "low": low,
        "high": high,
        "probability": truth.probability[drawn],
        "repeats": np.bincount(tried.which)[rows],
    }


def _check(level: float, sure: float, noise: float | None, matters: float | None) -> None:
    for what, share in (("An interval", level), ("A chance", sure)):
        if not 0 < share < 1:
            raise AnalysisError(f"{what} of {share} is none; choose one between 0 and 1.")
    for name, value in (("noise", noise), ("matters", matters)):
        if value is not None and not 0 <= value < np.inf:
            raise AnalysisError(
                f"A value of {value} for '{name}' cannot be; give a number in units of the objective, "
                "0 or more."
            )


def _ties(observed: FloatArray) -> tuple[str, ...]:
    equal = int((observed == observed.min()).sum())
    if equal == 1:
        return ()
    return (
        f"{equal} configurations share the best cost; the earliest is called the best observed.",
    )
