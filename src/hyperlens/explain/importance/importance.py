"""Functional ANOVA: which parameters and interactions the variance comes from (Hutter et al. 2014).

The run's leading surrogate gives the shares; those of the secondary one stand beside them.
"""

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.explain.effects.effect import Effect, effect
from hyperlens.explain.importance import importance_words as words
from hyperlens.explain.importance.conditional import Conditional, conditional_parameters
from hyperlens.explain.importance.good import Among, Good, good_part, place
from hyperlens.explain.importance.once import Effects
from hyperlens.explain.importance.shares import (
    HALVES,
    HALVES_BESIDE,
    Shares,
    known,
    ranks,
    shares,
)
from hyperlens.explain.importance.subspace import Subspace, important_subspace
from hyperlens.explain.models.fitting import Fitted, SurrogateName, fit
from hyperlens.explain.models.leader import SECOND_OPINION, Leader, leader
from hyperlens.explain.models.training import Cap
from hyperlens.explain.models.verdict import (
    Verdict,
    grounds,
    judge,
    of_second_opinion,
    of_share,
    of_surrogate,
)
from hyperlens.record import Record
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History
from hyperlens.spaces.cube import FloatArray
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.surrogates.protocol import SurrogateKind
from hyperlens.surrogates.quality import Quality
from hyperlens.tables import Column, Table, between, ends, table
from hyperlens.words import counted, digits_of, effect_name, percent, rank, tenths

MOST_TRIPLE_PARAMETERS = 30
SHARE = (
    "Variance of the effect {part}, divided by the variance of everything the "
    "surrogate predicts (functional ANOVA, exact on the surrogate)."
)
WHERE_ACTIVE = (
    "Of a conditional parameter: its part of the variance among the configurations that have it, with "
    "its interval."
)
INTERVAL = (
    "Where the share lies at this level: by functions drawn that agree with the trials (additive "
    "Gaussian process), or by refits on random parts of the data (the other surrogates)."
)


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

    `surrogate` is the primary one, the run's leader unless one was named; `secondary` are the shares
    of the other.
    `std` is the spread over draws, trees or parts of the data (`spread_of`). `low` and `high`
    bound the share at level `level`, all of it where the surrogate is not to be trusted; `rank_low` and
    `rank_high` are the ranks that these intervals leave open; nan when `level` is None. `rest` is what
    is left for higher orders.
    Among the good, costs worse than `bound` count as `bound`, which a part `quantile` of the space is
    expected to be better than; `below` of the trials are. `conditional` parameters have their share
    where they are active.
    """

    objective: str
    surrogate: SurrogateName
    parameters: tuple[tuple[str, ...], ...]
    share: FloatArray
    std: FloatArray
    low: FloatArray
    high: FloatArray
    rank_low: FloatArray
    rank_high: FloatArray
    secondary: FloatArray
    secondary_low: FloatArray
    secondary_high: FloatArray
    rest: float
    level: float | None
    order: int
    trees: int
    trials: int
    seed: int
    cap: float | None
    quality: Quality
    secondary_quality: Quality | None
    verdict: Verdict
    notes: tuple[str, ...]
    among: Among = "all"
    bound: float | None = None
    quantile: float | None = None
    below: int | None = None
    conditional: tuple[Conditional, ...] = ()
    digits: int = 4  # that tell costs apart
    _asked: Asked | None = field(default=None, repr=False, compare=False)

    @property
    def spread_of(self) -> str:
        """What `std` is the spread over."""
        over = {"forest": "trees", "additive": "draws"}
        return over.get(self.surrogate, "parts of the data")

    @property
    def secondary_name(self) -> str | None:
        """The secondary surrogate in words."""
        return None if self.secondary_quality is None else self.secondary_quality.surrogate

    @property
    def when(self) -> dict[str, str]:
        """When each conditional parameter is active."""
        return {child.parameter: child.when for child in self.conditional}

    @property
    def names(self) -> tuple[str, ...]:
        """Each effect as it is called."""
        return tuple(effect_name(parameters, self.when) for parameters in self.parameters)

    @property
    def where_active(self) -> list[Column]:
        """The share of each conditional parameter where it is active, if there are any."""
        children: dict[tuple[str, ...], Conditional] = {
            (child.parameter,): child for child in self.conditional
        }
        if not children:
            return []
        cells = [children.get(parameters, "") for parameters in self.parameters]
        return [Column("where active", cells, _where_active, WHERE_ACTIVE)]

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
    def heading(self) -> str:
        return f"{super().heading}, from {counted(self.trials, 'trial')}"

    @property
    def lead(self) -> tuple[str, ...]:
        return self.sentence, self.meaning

    @property
    def tables(self) -> tuple[Table, ...]:
        columns = [
            Column("effect", self.names),
            Column("share", self.share, tenths, SHARE.format(part=words.where(self))),
            Column(
                f"spread over {self.spread_of}", self.std, _spread,
                f"Standard deviation of the share over {self.spread_of}: how much the surrogate "
                "itself wavers.",
            ),
        ]  # fmt: skip
        if self.level is not None:
            limits, places = ends(self.low, self.high), ends(self.rank_low, self.rank_high)
            stays = (
                "Which places the intervals leave open: behind all whose interval lies above, before "
                "all whose interval lies below."
            )
            columns += [
                Column(f"{percent(self.level)} interval", limits, between(tenths), INTERVAL),
                Column("rank", places, lambda ends: rank(*ends), stays),
            ]
        columns += self.where_active
        if self.secondary_name is not None:
            other = "The share that another surrogate gives: a second opinion."
            columns.append(Column(self.secondary_name, self.secondary, tenths, other))
        return (table(*columns),)

    def _columns(self) -> dict[str, Any]:
        return self._fields(
            "parameters", "share", "std", "low", "high", "rank_low", "rank_high", "secondary"
        )

    def marginal(self, *parameters: str, grid: int = 20) -> Effect:
        """Cost by one or two parameters with its spread over trees (Hutter et al. 2014 Fig. 1 to 5)."""
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
        """The fewest parameters whose effects cover this part of the variance."""
        asked = self._source()
        shares = dict(zip(self.parameters, np.nan_to_num(self.share), strict=True))
        return important_subspace(asked.history, shares, coverage, asked.objective)

    def _source(self) -> Asked:
        if self._asked is None:
            raise AnalysisError("This record is apart from its run; compute the importance again.")
        return self._asked


def _where_active(child: Conditional) -> str:
    if math.isnan(child.low):
        return tenths(child.share)
    return f"{tenths(child.share)} ({tenths(child.low)} to {tenths(child.high)})"


def _spread(std: float) -> str:
    return "–" if math.isnan(std) else f"± {tenths(std)}"


@of_a_run
def importance(
    history: History,
    order: int = 2,
    *,
    among: Among = "all",
    quantile: float | None = None,
    level: float | None = 0.9,
    surrogate: SurrogateKind | None = None,
    cap: Cap | None = None,
    trees: int = 64,
    seed: int = 0,
    objective: str | None = None,
    budget: float | None = None,
) -> Importance:
    """Shares of variance of every parameter and every interaction up to `order`.

    The run's leader is asked unless `surrogate` names one; another gives a second opinion, unless the
    forest is named, which is asked alone. `level=None` skips the intervals. `among="good"` counts costs
    worse than those of the best part `quantile` of the space as equal, by default the smallest of a
    tenth, a quarter and a half with enough trials. `cap` names that cost: a number, the `"default"`
    configuration's, or a quantile of the trials, `"quantile=0.25"` (Hutter et al. 2014 section 3.3).

    The average over the space is uniform on the search's own scale: a log parameter by its logarithm.
    """
    _check(history, order, level, among, quantile, cap)
    how: dict[str, Any] = {"seed": seed, "trees": trees, "objective": objective, "budget": budget}
    found = leader(history, surrogate=surrogate, cap=cap, **how)
    part = good_part(found.primary, quantile, seed) if among == "good" else None
    good = _good(history, part, objective)
    primary, first, secondary, second = _answers(history, found, part, order, level, how)
    ranked = np.argsort(-np.nan_to_num(first.share, nan=-1.0), kind="stable")
    names = history.space.names
    columns = _columns(first, second)
    numbers: dict[str, Any] = {name: column[ranked] for name, column in columns.items()}
    asked_of = place(among, good["quantile"])
    doubts = words.disagreements(names, primary, secondary, first.effects, columns, asked_of)
    doubts += words.predicts_better(found.primary, found.secondary)
    record = Importance(
        objective=history.objective(objective).name,
        surrogate=primary.name,
        parameters=tuple(tuple(names[j] for j in first.effects[k]) for k in ranked),
        **numbers,
        rest=_rest(first.share),
        level=level,
        order=order,
        trees=trees,
        trials=len(primary.training.y),
        seed=seed,
        cap=primary.training.cap if part is None else None,
        quality=primary.quality,
        secondary_quality=None if secondary is None else secondary.quality,
        verdict=judge([of_surrogate(primary.quality)]),
        notes=(*primary.notes, *words.notes(history, primary, first), *doubts, *found.problems),
        among=among,
        **good,
        conditional=conditional_parameters(history, objective, primary, first, level, part),
        digits=digits_of(primary.training.y),
        _asked=Asked(history, objective, budget, good["bound"] if part else cap),
    )
    return replace(record, verdict=_verdict(record, history, primary))


def _good(history: History, part: Good | None, objective: str | None) -> dict[str, Any]:
    """What a record says of the good part, with its bound in the user's direction."""
    if part is None:
        return {"bound": None, "quantile": None, "below": None}
    bound = history.shown(part.bound, objective)
    return {"bound": bound, "quantile": part.quantile, "below": part.below}


def _answers(
    history: History,
    found: Leader,
    part: Good | None,
    order: int,
    level: float | None,
    how: dict[str, Any],
) -> tuple[Fitted, Shares, Fitted | None, Shares | None]:
    """The surrogate that leads and its shares, and the second opinion, if there is any; it is taken in
    where it predicts better."""
    primary, first = _answer(history, found.primary, part, order, level, how)
    if found.secondary is None:
        return primary, first, None, None
    secondary, second = _answer(history, found.secondary, part, order, level, how, HALVES_BESIDE)
    if words.predicts_better(found.primary, found.secondary):
        first = first.taking_in(second)
    return primary, first, secondary, second


def beside(
    history: History, primary: Fitted, level: float, seed: int, objective: str | None
) -> Shares | None:
    """Shares of the second opinion where it predicts so much better that intervals take it in."""
    second = fit(history, SECOND_OPINION, seed=seed, objective=objective)
    if not words.predicts_better(primary, second):
        return None
    return known(shares(history, second, 2, level, seed, None, HALVES_BESIDE), second)


def _answer(
    history: History,
    fitted: Fitted,
    part: Good | None,
    order: int,
    level: float | None,
    how: dict[str, Any],
    halves: int = HALVES,
) -> tuple[Fitted, Shares]:
    """A surrogate and its shares; among the good of a part those of its capped costs.

    Functions that were drawn are capped themselves, any other surrogate learns capped costs.
    """
    bound = None
    if part is not None:
        if isinstance(fitted.model, Additive):
            bound = part.bound
        else:
            cap = history.shown(part.bound, how["objective"])
            fitted = fit(history, fitted.name, cap=cap, **how)
    found = shares(history, fitted, order, level, how["seed"], bound, halves)
    return fitted, known(found, fitted)


def _verdict(record: Importance, history: History, primary: Fitted) -> Verdict:
    """Where the search has not been speaks against shares over the whole space alone."""
    everywhere = range(len(history.space)) if record.among == "all" else ()
    return judge(
        (
            *grounds(history, primary, everywhere),
            of_share(_named(record), float(record.low[0]), float(record.high[0])),
            of_second_opinion(record.names, record.secondary, record.secondary_quality),
        )
    )


def _named(record: Importance) -> str:
    """The first effect, and of which part of the space its share is unless of all of it."""
    return record.names[0] if record.among == "all" else f"{record.names[0]} {words.where(record)}"


def _columns(first: Shares, second: Shares | None) -> dict[str, FloatArray]:
    """Every number of an importance, in the order of the primary surrogate's effects."""
    rank_low, rank_high = ranks(first.low, first.high)
    numbers = {"share": first.share, "std": first.std, "low": first.low, "high": first.high}
    numbers |= {"rank_low": rank_low, "rank_high": rank_high}
    return numbers | _aligned(first.effects, second)


def _check(
    history: History,
    order: int,
    level: float | None,
    among: str,
    quantile: float | None,
    cap: Cap | None,
) -> None:
    if order not in (1, 2, 3):
        raise AnalysisError(f"Interactions of order {order} are not computed; choose 1, 2 or 3.")
    if order == 3 and len(history.space) > MOST_TRIPLE_PARAMETERS:
        raise AnalysisError(
            f"Triples of {len(history.space)} parameters are too many to compute; choose order 2."
        )
    if level is not None and not 0 < level < 1:
        raise AnalysisError(f"An interval of {level} is not a level; choose one between 0 and 1.")
    if among not in ("all", "good"):
        raise AnalysisError(f"There is no importance among '{among}'; choose 'all' or 'good'.")
    if among == "all" and quantile is not None:
        raise AnalysisError("A quantile says which part is good; give it with among='good'.")
    if among == "good" and cap is not None:
        raise AnalysisError("A cap says itself which costs are good; give it without among='good'.")


def _rest(share: FloatArray) -> float:
    return math.nan if np.isnan(share).all() else max(0.0, 1.0 - float(np.nansum(share)))


def _aligned(effects: Effects, second: Shares | None) -> dict[str, FloatArray]:
    """Share, low and high of the secondary surrogate; 0 where it knows no such effect."""
    names = {"secondary": "share", "secondary_low": "low", "secondary_high": "high"}
    if second is None:
        return {name: np.full(len(effects), np.nan) for name in names}
    at = {effect: k for k, effect in enumerate(second.effects)}
    return {
        name: np.array([getattr(second, of)[at[e]] if e in at else 0.0 for e in effects])
        for name, of in names.items()
    }
