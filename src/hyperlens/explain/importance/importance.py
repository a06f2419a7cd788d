"""Functional ANOVA: which parameters and interactions the variance of the cost comes from (Hutter et al. 2014)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from hyperlens.errors import AnalysisError, listed
from hyperlens.explain.effects.effect import Effect, effect
from hyperlens.explain.importance import importance_words as words
from hyperlens.explain.importance.shares import Shares, ranks, shares
from hyperlens.explain.importance.subspace import Subspace, important_subspace
from hyperlens.explain.models.fitting import Fitted, SurrogateName, fit, leader
from hyperlens.explain.models.training import Cap
from hyperlens.record import Record
from hyperlens.runs.history import History
from hyperlens.spaces.cube import BoolArray, FloatArray
from hyperlens.surrogates.quality import FAIR_R2, Quality
from hyperlens.words import SURROGATES

if TYPE_CHECKING:
    import pandas as pd

MOST_TRIPLE_PARAMETERS = 30
WORTH_SAYING = 0.02  # a disagreement of witnesses below this share is not mentioned


@dataclass(frozen=True)
class Asked:
    """What an importance was computed from, so that it can answer more."""

    history: History
    objective: str | None
    budget: float | None
    cap: Cap | None


@dataclass(frozen=True)
class Importance(Record):
    """Shares of the surrogate's variance, one per effect, largest first.

    `surrogate` leads because it cross-validates better; `witness` holds the shares of the other one.
    `std` is the spread over trees (over parts of the data for a Gaussian process). `low` and `high`
    bound the share at level `level` as the data would vary if the run were repeated, `rank_low` and
    `rank_high` its rank; nan when `level` is None. `rest` is what is left for higher orders.
    """

    _shares = ("share", "std", "low", "high", "witness")
    objective: str
    surrogate: SurrogateName
    parameters: tuple[tuple[str, ...], ...]
    share: FloatArray
    std: FloatArray
    low: FloatArray
    high: FloatArray
    rank_low: FloatArray
    rank_high: FloatArray
    witness: FloatArray
    witness_low: FloatArray
    witness_high: FloatArray
    rest: float
    level: float | None
    order: int
    trees: int
    trials: int
    seed: int
    cap: float | None
    quality: Quality
    witness_quality: Quality | None
    notes: tuple[str, ...]
    _asked: Asked | None = field(default=None, repr=False, compare=False)

    @property
    def spread_of(self) -> str:
        """What `std` is the spread over."""
        return "trees" if self.surrogate == "forest" else "parts of the data"

    @property
    def witness_name(self) -> str | None:
        """The surrogate that does not lead, in words."""
        return None if self.witness_quality is None else self.witness_quality.surrogate

    @property
    def total(self) -> float:
        """What all listed effects explain together."""
        return float(np.nansum(self.share))

    @property
    def sentence(self) -> str:
        """The largest effect with its interval, and the two after it."""
        return words.sentence(self)

    @property
    def meaning(self) -> str:
        """The meaning of a share, of its interval, and of what is left."""
        return words.meaning(self)

    @property
    def frame(self) -> pd.DataFrame:
        import pandas as pd

        numbers = ("share", "std", "low", "high", "rank_low", "rank_high", "witness")
        columns = {name: getattr(self, name) for name in numbers}
        return pd.DataFrame({"parameters": list(self.parameters)} | columns)

    def marginal(self, *parameters: str, grid: int = 20) -> Effect:
        """Cost as a function of one or two parameters with its spread over trees (Hutter et al. 2014 figures 1 to 5)."""
        asked = self._source()
        return effect(
            asked.history,
            parameters,
            surrogate="forest",
            band="joint",
            level=math.erf(math.sqrt(0.5)),  # mean plus and minus one standard deviation
            grid=grid,
            seed=self.seed,
            objective=asked.objective,
            budget=asked.budget,
            cap=asked.cap,
            trees=self.trees,
        )

    def subspace(self, coverage: float = 0.9) -> Subspace:
        """The fewest parameters whose effects cover this part of the variance (Hutter et al. 2014 section 4.4)."""
        asked = self._source()
        shares = dict(zip(self.parameters, np.nan_to_num(self.share), strict=True))
        return important_subspace(asked.history, shares, coverage, asked.objective)

    def _source(self) -> Asked:
        if self._asked is None:
            raise AnalysisError("This record is apart from its run; compute the importance again.")
        return self._asked


def importance(
    history: History,
    order: int = 2,
    *,
    level: float | None = 0.9,
    surrogate: SurrogateName | None = None,
    cap: Cap | None = None,
    trees: int = 64,
    seed: int = 0,
    objective: str | None = None,
    budget: float | None = None,
) -> Importance:
    """Shares of variance of every parameter and every interaction up to `order`.

    Two witnesses are heard, a random forest and a Gaussian process, both exactly; the one that
    cross-validates better leads unless `surrogate` names one. `level=None` skips all that needs
    more than one fit: the forest alone, without intervals. `cap` asks for importance in the good
    region: costs worse than a cost, than the `"default"` configuration's or than `"quantile=0.25"`
    count as equal (Hutter et al. 2014 section 3.3).

    The average over the space is uniform on the search's own scale: a log parameter by its logarithm.
    """
    _check(history, order, level)
    options = {"seed": seed, "objective": objective, "budget": budget, "cap": cap, "trees": trees}
    forest = fit(history, "forest", **options)  # type: ignore[arg-type]  # one type per option
    found: dict[str, Shares] = {}
    leading = forest
    notes: tuple[str, ...] = ()
    gp: Fitted | None = None
    if surrogate == "gp" or (level is not None and surrogate is None):
        try:
            gp = fit(history, "gp", **options)  # type: ignore[arg-type]
            found["gp"] = shares(history, gp, order, level, seed)
            leading = gp if surrogate == "gp" else leader(gp, forest)
        except (AnalysisError, ValueError) as problem:
            if surrogate == "gp":
                raise AnalysisError(str(problem)) from problem
            notes = (f"The Gaussian process was not heard as a witness: {problem}",)
    found["forest"] = shares(history, forest, order, level, seed)
    found = {name: _known(shares, forest.training.unvaried) for name, shares in found.items()}
    led = found[leading.name]
    other_fit = None if gp is None else (forest if leading is gp else gp)
    other = None if other_fit is None else found[other_fit.name]
    names = history.space.names
    ranked = np.argsort(-np.nan_to_num(led.share, nan=-1.0), kind="stable")
    effects = tuple(tuple(names[j] for j in led.effects[k]) for k in ranked)
    places = ranks(led.draws, level or 0.9)
    rank_low, rank_high = (np.where(np.isnan(led.share), np.nan, place) for place in places)
    witness = _aligned(led, other)
    return Importance(
        objective=history.objective(objective).name,
        surrogate=leading.name,
        parameters=effects,
        share=led.share[ranked],
        std=led.std[ranked],
        low=led.low[ranked],
        high=led.high[ranked],
        rank_low=rank_low[ranked],
        rank_high=rank_high[ranked],
        witness=witness[0][ranked],
        witness_low=witness[1][ranked],
        witness_high=witness[2][ranked],
        rest=_rest(led.share),
        level=level,
        order=order,
        trees=trees,
        trials=len(leading.training.y),
        seed=seed,
        cap=leading.training.cap,
        quality=leading.quality,
        witness_quality=None if other_fit is None else other_fit.quality,
        notes=(
            *leading.notes,
            *_notes(history, leading, led),
            *_disagreements(names, leading, led, other_fit, witness),
            *notes,
        ),
        _asked=Asked(history, objective, budget, cap),
    )


def _check(history: History, order: int, level: float | None) -> None:
    if order not in (1, 2, 3):
        raise AnalysisError(f"Interactions of order {order} are not computed; choose 1, 2 or 3.")
    if order == 3 and len(history.space) > MOST_TRIPLE_PARAMETERS:
        raise AnalysisError(
            f"Triples of {len(history.space)} parameters are too many to compute; choose order 2."
        )
    if level is not None and not 0 < level < 1:
        raise AnalysisError(f"An interval of {level} is not a level; choose one between 0 and 1.")


def _known(found: Shares, unvaried: BoolArray) -> Shares:
    """Nothing is known of an effect of a parameter that never varied, neither much nor little."""
    stuck = np.array([unvaried[list(axes)].any() for axes in found.effects])
    share, std, low, high = (
        np.where(stuck, np.nan, v) for v in (found.share, found.std, found.low, found.high)
    )
    return replace(found, share=share, std=std, low=low, high=high)


def _rest(share: FloatArray) -> float:
    return math.nan if np.isnan(share).all() else max(0.0, 1.0 - float(np.nansum(share)))


def _aligned(led: Shares, other: Shares | None) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Share, low and high of the other witness in the order of the leader's effects."""
    if other is None:
        unknown = np.full(len(led.effects), np.nan)
        return unknown, unknown, unknown
    at = {effect: k for k, effect in enumerate(other.effects)}
    zeros = {effect for effect in led.effects if effect not in at}

    def pick(numbers: FloatArray) -> FloatArray:
        return np.array([0.0 if e in zeros else numbers[at[e]] for e in led.effects])

    return pick(other.share), pick(other.low), pick(other.high)


def _disagreements(
    names: Sequence[str],
    leading: Fitted,
    led: Shares,
    other: Fitted | None,
    witness: tuple[FloatArray, FloatArray, FloatArray],
) -> list[str]:
    """Where the two witnesses differ beyond their intervals, in a sentence each."""
    if other is None or not other.quality.r2 >= FAIR_R2:
        return []
    share, low, high = witness
    sentences = []
    for k, axes in enumerate(led.effects):
        apart = low[k] > led.high[k] or high[k] < led.low[k]
        if apart and abs(share[k] - led.share[k]) >= WORTH_SAYING:
            sentences.append(
                f"The {SURROGATES[leading.name]} gives {' × '.join(names[j] for j in axes)} "
                f"{led.share[k]:.1%}, the {SURROGATES[other.name]} {share[k]:.1%}, beyond their intervals; "
                f"the former cross-validates better (R2 {leading.quality.r2:.2f} against "
                f"{other.quality.r2:.2f})."
            )
    return sentences


def _notes(history: History, fitted: Fitted, found: Shares) -> list[str]:
    notes = []
    X, y = fitted.training.X, fitted.training.y
    known = not np.isnan(found.share).all()
    if not known:
        why = (
            "there is only one trial"
            if len(y) == 1
            else "the surrogate predicts one cost everywhere"
        )
        notes.append(f"No share can be known, for {why}; more trials with other costs are needed.")
    elif found.flat:
        notes.append(f"{found.flat} trees without any variance were left out.")
    if known and len(y) < X.shape[1]:
        notes.append(f"There are fewer trials ({len(y)}) than parameters ({X.shape[1]}).")
    same = [
        n for n, stuck in zip(history.space.names, fitted.training.unvaried, strict=True) if stuck
    ]
    if same and known:
        its, it = ("its", "it") if len(same) == 1 else ("their", "them")
        notes.append(
            f"{listed(same)} never varied in these trials, so nothing can be known of {its} "
            f"importance; the other shares hold for the one value of {it} that was tried."
        )
    if history.space.configspace.forbidden_clauses:
        notes.append("Forbidden combinations count as part of the space here.")
    return notes
