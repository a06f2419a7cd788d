"""Importance for reaching the top: which parameters tell the best trials from the rest.

PED-ANOVA (Watanabe et al. 2023), with conditions by regimes (Baba et al. 2026): a parameter matters
as far as the density of its values among the top differs from that among all trials. It asks where
good trials lie, not what moves costs elsewhere. Intervals are of trials drawn anew; what chance alone
would give is that of tops drawn at random.

Symbols
    gamma    part of the trials that are the top
    alpha, beta   parts of the top, and of all trials, in which the parameter is active
    importance    gamma^2 alpha^2 / beta D (densities.py)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.explain.top.densities import divergence, grid_size
from hyperlens.record import Record
from hyperlens.runs.history import History
from hyperlens.spaces.cube import BoolArray, FloatArray, IntArray
from hyperlens.spaces.parameter import Parameter
from hyperlens.surrogates.additive.crowding import CROWDED, crowd
from hyperlens.tables import Column, Table, between, ends, table
from hyperlens.words import counted, number, percent, tenths

RESAMPLES = 100
BY_CHANCE = 0.05  # how often a top drawn at random is taken for something
FEWEST, FEWEST_ACTIVE = 5, 2  # trials of the top that say something; of a regime
SHARE = "The part of what tells the best trials from the rest that is due to this parameter."
CHANCE = (
    "Whether the importance is larger than what chance gives: tops drawn at random exceed that bound, "
    "with any of all parameters, in one of twenty cases."
)
RAW = "PED-ANOVA's own number: the Pearson divergence of top and all, weighted by the regime."
NOTHING_VARIES = (
    "This run has no parameter that varies, so nothing can tell its trials apart; name a run of a "
    "search."
)
OTHER = (
    "This is where the best trials lie; shares of the variance say what moves costs over the space, "
    "and a parameter may do one without the other."
)


@dataclass(frozen=True)
class TopImportance(Record):
    """Parameters by their importance, the largest first; `share` is its part of the sum of all.

    `low` and `high` are of the share, over trials drawn anew. `chance` are bounds of the importance that
    tops drawn at random pass, with any of the parameters, in one of twenty cases: what lies below may be
    chance. `active` is how many trials of the top have the parameter.
    """

    objective: str
    quantile: float
    trials: int
    top: int
    bound: float
    parameters: tuple[str, ...]
    importance: FloatArray
    share: FloatArray
    low: FloatArray
    high: FloatArray
    chance: FloatArray
    active: IntArray
    level: float
    seed: int
    notes: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """What tells the top from the rest, beyond chance."""
        top = f"the best {self.top} of {counted(self.trials, 'trial')}"
        clear = [k for k in range(len(self.parameters)) if self.importance[k] > self.chance[k]]
        if not clear:
            return f"Nothing tells {top} from the rest more than chance would."
        k = clear[0]
        interval = f"{tenths(float(self.low[k]))} to {tenths(float(self.high[k]))}"
        return (
            f"What tells {top} from the rest most is '{self.parameters[k]}', "
            f"{tenths(float(self.share[k]))} of it ({percent(self.level)} interval {interval}). {OTHER}"
        )

    @property
    def tables(self) -> tuple[Table, ...]:
        title = f"{percent(self.level)} interval"
        beyond = [
            "yes" if i > c else "no" for i, c in zip(self.importance, self.chance, strict=True)
        ]
        return (
            table(
                Column("parameter", self.parameters),
                Column("share", self.share, tenths, SHARE),
                Column(
                    title, ends(self.low, self.high), between(tenths), "Over trials drawn anew."
                ),
                Column("importance", self.importance, number, RAW),
                Column("beyond chance", beyond, str, CHANCE),
                Column("active in the top", self.active, number, "Trials of the top that have it."),
            ),
        )

    def _columns(self) -> dict[str, Any]:
        names = ("importance", "share", "low", "high", "chance", "active")
        return {"parameter": self.parameters} | self._fields(*names)


def top_importance(
    history: History,
    *,
    quantile: float = 0.1,
    level: float = 0.9,
    seed: int = 0,
    objective: str | None = None,
) -> TopImportance:
    """Which parameters tell the best part of the trials, `quantile`, from all of them."""
    if not 0 < quantile < 1:
        raise AnalysisError(f"A quantile of {quantile:g} is no part; give one between 0 and 1.")
    data, space = history.data(objective), history.space
    if not len(space):
        raise AnalysisError(NOTHING_VARIES)
    y = data.y
    top, bound = _top(y, quantile)
    if top.all():
        raise AnalysisError(
            "All trials are equally good, so no top can be told from the rest; run trials with other "
            "costs, or choose a smaller quantile."
        )
    axes = [_Axis.of(p, data.X[:, j]) for j, p in enumerate(space.parameters)]
    everyone = np.arange(len(y))
    found = _importances(axes, everyone, top)
    rng = np.random.default_rng(seed)
    drawn, chance = [], []
    for _ in range(RESAMPLES):
        rows = rng.integers(len(y), size=len(y))
        again, _ = _top(y[rows], quantile)
        if not again.all():
            drawn.append(_shares(_importances(axes, rows, again)))
        chance.append(_importances(axes, everyone, rng.permutation(top)))
    share, tails = _shares(found), [(1 - level) / 2, (1 + level) / 2]
    low, high = np.quantile(drawn, tails, axis=0) if drawn else (0 * share, 0 * share + 1)
    order = np.argsort(-found, kind="stable")
    return TopImportance(
        objective=history.objective(objective).name,
        quantile=quantile,
        trials=len(y),
        top=int(top.sum()),
        bound=history.objective(objective).sign * bound,
        parameters=tuple(space.names[j] for j in order),
        importance=found[order],
        share=share[order],
        low=np.minimum(low, share)[order],
        high=np.maximum(high, share)[order],
        chance=_bounds(np.array(chance))[order],
        active=np.array([int((axes[j].at[top] >= 0).sum()) for j in order]),
        level=level,
        seed=seed,
        notes=_notes(history.divergence(objective), int(top.sum()), math.ceil(quantile * len(y)))
        + _crowded(crowd(space.cube, data.X, seed)),
    )


@dataclass(frozen=True)
class _Axis:
    """Points of a parameter's grid: that of each trial, -1 where it is inactive."""

    at: IntArray
    size: int
    ordered: bool

    @staticmethod
    def of(parameter: Parameter, column: FloatArray) -> _Axis:
        active = ~np.isnan(column)
        at, axis = np.full(len(column), -1, dtype=np.int64), parameter.axis
        if not axis.ordered:
            at[active] = axis.level(column[active])
            return _Axis(at, axis.levels, False)
        if parameter.choices:
            level, size = axis.level(column[active]), grid_size(axis.levels, False, 0.0)
            at[active] = np.ceil(level * (size - 1) / max(axis.levels - 1, 1) - 0.5)
            return _Axis(at, size, True)
        span = float(parameter.upper - parameter.lower + 1) if axis.levels else 0.0
        size = grid_size(axis.levels, parameter.log, span)
        place = column[active]
        if axis.levels:  # levels own cells; the grid reaches from the first to the last
            values = np.array(parameter.decode(place), dtype=float)
            low, high = float(parameter.lower), float(parameter.upper)
            if parameter.log:
                values, low, high = np.log(values), math.log(low), math.log(high)
            place = (values - low) / (high - low) if high > low else 0 * values
        at[active] = np.clip(np.ceil(place * (size - 1) - 0.5), 0, size - 1)
        return _Axis(at, size, True)


def _top(y: FloatArray, quantile: float) -> tuple[BoolArray, float]:
    """The best part of the costs, those equal to the last one with it; and that cost."""
    last = math.ceil(quantile * len(y)) - 1
    bound = float(np.partition(y, last)[last])
    return y <= bound, bound


def _importances(axes: list[_Axis], rows: IntArray, top: BoolArray) -> FloatArray:
    """Of each parameter, from some trials of which some are the top."""
    found = np.zeros(len(axes))
    gamma = top.sum() / len(rows)
    for j, axis in enumerate(axes):
        at = axis.at[rows]
        region = at >= 0
        mine = top & region
        if axis.size < 2 or region.sum() < FEWEST_ACTIVE or not mine.any():
            continue
        alpha, beta = mine.sum() / top.sum(), region.sum() / len(rows)
        best, all_ = (np.bincount(at[part], minlength=axis.size) for part in (mine, region))
        found[j] = gamma**2 * alpha**2 / beta * divergence(best, all_, axis.ordered)
    return found


def _shares(importance: FloatArray) -> FloatArray:
    total = importance.sum()
    return importance / total if total > 0 else np.full(len(importance), 1 / len(importance))


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


def _crowded(part: float) -> tuple[str, ...]:
    """That a search which went where it is good tells its trials from each other, not the space."""
    if part <= CROWDED:
        return ()
    return (
        f"{percent(part)} of the trials lie close to another one, as a search that found a good corner "
        "leaves them: this tells the best of that corner from the rest of it, and may name other "
        "parameters than those that lead there. Shares of the variance ask about the whole space.",
    )
