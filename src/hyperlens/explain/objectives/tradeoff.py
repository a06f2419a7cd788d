"""Importance along the trade-off of two objectives: of their weighted sum, for every weight.

Both objectives have an additive process on the same space, whose draws are sums of the same orthonormal
functions. So the weighted sum of two draws is one more such function, and the share of an effect U in
its variance is exact for every weight:

    V_U(w) = (1 - w)^2 A_U + w^2 B_U + 2 w (1 - w) C_U,   share = V_U(w) / sum over all U of V_U(w)

Objectives are costs, minimised, each in units of its standard deviation over the space, so that equal
weights let both vary as much; or, as DeepCAVE does (Theodorakopoulos et al. 2024), of its range over the
trials. Draws of the two are independent.

Symbols
    A, B, C   variances of the effects of the first and the second objective, and their covariances
    w         weight of the second objective; 1 - w is that of the first
    D         draws
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.explain.importance.shares import NONE, drawn_interval, posterior
from hyperlens.explain.models.fitting import Fitted, fit
from hyperlens.explain.models.verdict import Verdict, grounds, judge
from hyperlens.record import Record
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History
from hyperlens.spaces.cube import FloatArray
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.surrogates.additive.weights import Weights
from hyperlens.surrogates.threads import one_thread
from hyperlens.tables import Column, Table, between, ends, table
from hyperlens.words import decimals, effect_name, number, percent, tenths

STEPS = 51  # weights
CLEAR = 0.75  # part of the draws in which an effect must have the largest share

Scale = Literal["deviation", "range"]
SCALES: dict[Scale, str] = {
    "deviation": "standard deviation over the space",
    "range": "range over the trials",
}
SURE = "Between these the share lies with this probability, among functions that agree with the trials."
SHARE = "Part of the variance of {what} over the space that is due to this effect alone."


@dataclass(frozen=True)
class Takeover:
    """From which weight on an effect has the largest share, and where that weight lies."""

    effect: int
    weight: float
    low: float
    high: float


@dataclass(frozen=True)
class Tradeoff(Record):
    """Shares of effects in the weighted sum of two objectives, by the weight of the second.

    `unit` is what each objective was divided by. `share`, `low` and `high` are (effects, weights), the
    effect with the largest share anywhere first; `rest` (weights,) is due to effects of a higher order.
    `leaders` are the effects that clearly have the largest share somewhere, from weight 0 to 1, each
    with where it takes over; `ends` those that clearly lead for each objective alone, None where none
    does.
    """

    objectives: tuple[str, str]
    maximize: tuple[bool, bool]
    scale: Scale
    unit: FloatArray
    weight: FloatArray
    parameters: tuple[tuple[str, ...], ...]
    share: FloatArray
    low: FloatArray
    high: FloatArray
    rest: FloatArray
    leaders: tuple[Takeover, ...]
    ends: tuple[int | None, int | None]
    correlation: float
    order: int
    trials: tuple[int, int]
    level: float
    seed: int
    verdict: Verdict
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(map(effect_name, self.parameters))

    @property
    def heading(self) -> str:
        return f"Importance from {self.objectives[0]} to {self.objectives[1]}"

    @property
    def sentence(self) -> str:
        """What matters most for each objective, and which effects take over in between."""
        if not self.verdict.known:
            return f"What matters along the trade-off is not known: {self.verdict.reason}."
        a, b = self.objectives
        first, last = self.ends
        if not self.leaders:
            return f"No effect clearly matters most, neither for {a} nor for {b} nor in between."
        only = self.leaders[0].effect
        for_both = (
            f"{self.names[only]} matters most for {a} ({self._said(only, 0)}) and for {b} "
            f"({self._said(only, -1)})"
        )
        if len(self.leaders) == 1 and first is not None and last is not None:
            return f"{for_both}, and for every weighted sum of both."
        alone = [
            f"{self.names[k]} matters most for {name} ({self._said(k, at)})"
            if k is not None
            else f"no effect clearly matters most for {name}"
            for name, k, at in ((a, first, 0), (b, last, -1))
        ]
        text = (
            f"{for_both}."
            if first == last == only
            else f"{alone[0][:1].upper() if first is None else alone[0][:1]}{alone[0][1:]}, {alone[1]}."
        )
        steps = [
            f"{self.names[t.effect]} takes over from a weight of {decimals(t.weight)} on "
            f"({percent(self.level)} interval {decimals(t.low)} to {decimals(t.high)})"
            for t in self.leaders[first is not None :]
        ]
        return f"{text} Towards {b}, {', then '.join(steps)}." if steps else text

    @property
    def reading(self) -> str:
        """What is weighed, and how far the objectives agree."""
        a, b = self.objectives
        units = f"{a} {number(float(self.unit[0]), 3)}, {b} {number(float(self.unit[1]), 3)}"
        agree = "hardly depend on each other over the space"
        if abs(self.correlation) > 0.3:
            way = "get better together" if self.correlation > 0 else "are at odds"
            agree = f"{way} over the space"
        return (
            f"Weighed are costs in units of their {SCALES[self.scale]} ({units}). Both {agree} "
            f"(correlation {decimals(self.correlation)})."
        )

    @property
    def lead(self) -> tuple[str, ...]:
        return self.sentence, self.reading

    def _said(self, effect: int, k: int) -> str:
        return tenths(float(self.share[effect, k]))

    @property
    def tables(self) -> tuple[Table, ...]:
        """Shares of each objective and of both alike, side by side."""
        a, b = self.objectives
        middle = int(np.argmin(np.abs(self.weight - 0.5)))
        shares, intervals = [], []
        for title, k in ((a, 0), ("both alike", middle), (b, -1)):
            limits = ends(self.low[:, k], self.high[:, k])
            what = f"the sum of {a} and {b}" if k == middle else title
            shares.append(Column(title, self.share[:, k], tenths, SHARE.format(what=what)))
            name = f"{percent(self.level)} interval, {title}"
            intervals.append(Column(name, limits, between(tenths), SURE))
        return (table(Column("effect", self.names), *shares, *intervals),)

    def _columns(self) -> dict[str, Any]:
        count = len(self.weight)
        return {
            "weight": np.tile(self.weight, len(self.names)),
            "effect": [name for name in self.names for _ in range(count)],
            "share": self.share.ravel(),
            "low": self.low.ravel(),
            "high": self.high.ravel(),
        }


@of_a_run
def tradeoff(
    history: History,
    between: tuple[str, str] | None = None,
    *,
    order: int = 1,
    scale: Scale = "deviation",
    level: float = 0.9,
    seed: int = 0,
) -> Tradeoff:
    """Which parameters matter for weighted sums of two objectives, for every weight.

    `between` names the two, by default the first two of the run; `order` 2 has pairs of parameters too.
    """
    _check(history, between, order, scale, level)
    named = between or tuple(o.name for o in history.objectives[:2])
    pair = [history.objective(name) for name in named]
    fitted = [fit(history, "additive", objective=o.name, seed=seed) for o in pair]
    units = np.array([_unit(one, scale, o.name) for one, o in zip(fitted, pair, strict=True)])
    first, second = (_model(one).weights for one in fitted)
    rng = np.random.default_rng(seed)
    mixed = Weights(
        second.components, second.trend, second.w[:, rng.permutation(second.w.shape[1])]
    )
    weight = np.linspace(0.0, 1.0, STEPS)
    with one_thread():
        drawn = _shares(first, mixed, units, weight)  # (effects, weights, D)
        expected = _shares(first.expected, second.expected, units, weight)[..., 0]
        correlation = _correlation(first.expected, second.expected)
    effects = first.components.effects
    kept = [k for k, U in enumerate(effects) if len(U) <= order]
    share = np.median(drawn[kept], axis=2)
    widened = _widened(weight, fitted)
    low, high = _interval(drawn[kept], share, expected[kept], level, widened)
    ranked = np.argsort(-share.max(axis=1), kind="stable")
    names = history.space.names
    return Tradeoff(
        objectives=(pair[0].name, pair[1].name),
        maximize=(pair[0].maximize, pair[1].maximize),
        scale=scale,
        unit=units,
        weight=weight,
        parameters=tuple(tuple(names[j] for j in effects[kept[k]]) for k in ranked),
        share=share[ranked],
        low=low[ranked],
        high=high[ranked],
        rest=np.maximum(1 - share.sum(axis=0), 0.0),
        **_leaders(share[ranked], drawn[kept][ranked], weight, level, widened),
        correlation=correlation,
        order=order,
        trials=(len(fitted[0].training.y), len(fitted[1].training.y)),
        level=level,
        seed=seed,
        verdict=judge(g for one in fitted for g in grounds(history, one, range(len(names)))),
        notes=tuple(
            dict.fromkeys((*_others(history, named), *(n for f in fitted for n in f.notes)))
        ),
    )


def _check(
    history: History, between: tuple[str, str] | None, order: int, scale: str, level: float
) -> None:
    if len(history.objectives) < 2:
        raise AnalysisError(
            f"This run has one objective, {history.objectives[0].name}; a trade-off needs two."
        )
    if between is not None and not len(set(between)) == len(between) == 2:
        raise AnalysisError("A trade-off is between two objectives; name two different ones.")
    if order not in (1, 2):
        raise AnalysisError(f"Interactions of order {order} are not shown here; choose 1 or 2.")
    if scale not in SCALES:
        raise AnalysisError(f"There is no scale '{scale}'; choose 'deviation' or 'range'.")
    if not 0 < level < 1:
        raise AnalysisError(f"An interval of {level} is not a level; choose one between 0 and 1.")


def _model(fitted: Fitted) -> Additive:
    assert isinstance(fitted.model, Additive)
    return fitted.model


def _unit(fitted: Fitted, scale: Scale, name: str) -> float:
    """What an objective is divided by."""
    spread = float(np.sqrt(_model(fitted).weights.variances().sum(axis=0).mean()))
    if scale == "range":
        spread = float(np.ptp(fitted.training.y))
    if not spread > 0:
        raise AnalysisError(
            f"{name} is the same in every trial, so that nothing is traded for it; choose another."
        )
    return spread


def _shares(first: Weights, second: Weights, units: FloatArray, weight: FloatArray) -> FloatArray:
    """Shares of all effects for all weights and draws, (effects, weights, D)."""
    A, B = first.variances() / units[0] ** 2, second.variances() / units[1] ** 2
    C = first.covariances(second) / np.prod(units)
    u, w = (1 - weight)[None, :, None], weight[None, :, None]
    V = u**2 * A[:, None] + w**2 * B[:, None] + 2 * u * w * C[:, None]
    return np.asarray(V / np.maximum(V.sum(axis=0), np.finfo(float).tiny))


def _correlation(first: Weights, second: Weights) -> float:
    """Of the two expected functions over the space."""
    total = [float(x.sum()) for x in (first.variances(), second.variances())]
    return float(first.covariances(second).sum() / max(np.sqrt(total[0] * total[1]), 1e-300))


def _widened(weight: FloatArray, fitted: list[Fitted]) -> FloatArray:
    """How much wider than the draws intervals are: as each objective's own, by what it weighs."""
    own = np.array([_model(one).widened for one in fitted])
    counts = np.stack([(1 - weight) ** 2, weight**2])
    return np.asarray(own @ counts / counts.sum(axis=0))


def _interval(
    drawn: FloatArray, share: FloatArray, expected: FloatArray, level: float, widened: FloatArray
) -> tuple[FloatArray, FloatArray]:
    low, high = np.empty_like(share), np.empty_like(share)
    for k, wide in enumerate(widened.tolist()):
        _, low[:, k], high[:, k] = posterior(drawn[:, k], share[:, k], level, wide, expected[:, k])
    return low, high


def _leaders(
    share: FloatArray, drawn: FloatArray, weight: FloatArray, level: float, widened: FloatArray
) -> dict[str, Any]:
    """Effects that clearly have the largest share, from weight 0 to 1. In each draw the weight of a
    change is the one from which on, until its lead ends again, an effect leads the one before it, or all
    others if it is the first.
    """
    best = share.argmax(axis=0)
    second, first = np.sort(drawn, axis=0)[-2:] if len(drawn) > 1 else (0.0 * drawn[0], drawn[0])
    largest = (drawn == first) & (first - second > NONE)
    often = np.take_along_axis(largest.mean(axis=2), best[None], axis=0)[0]
    clear = [int(e) if p >= CLEAR else None for e, p in zip(best, often, strict=True)]
    found: list[Takeover] = []
    for k, effect in enumerate(clear):
        if effect is None or (found and found[-1].effect == effect):
            continue
        rivals = [found[-1].effect] if found else [e for e in range(len(share)) if e != effect]
        if k == 0 or not rivals:
            found.append(Takeover(effect, 0.0, 0.0, 0.0))
            continue
        led = slice(k + int(np.argmax(np.append(best[k:], -1) != effect)))
        here = _overtaken((share[effect] - share[rivals].max(axis=0))[led, None], weight[led])[0]
        at = _overtaken((drawn[effect] - drawn[rivals].max(axis=0))[led], weight[led])
        low, high = drawn_interval(at[None], level, float(widened[k]))
        ends = min(float(low[0]), float(here)), max(float(high[0]), float(here))
        found.append(Takeover(effect, float(here), *ends))
    return {"leaders": tuple(found), "ends": (clear[0], clear[-1])}


def _overtaken(ahead: FloatArray, weight: FloatArray) -> FloatArray:
    """The weight after which a lead (weights, D) stays positive, between two weights by a line, (D,)."""
    behind = ahead <= 0
    k = np.where(behind.any(axis=0), len(weight) - behind[::-1].argmax(axis=0), 0)
    k = np.clip(k, 1, len(weight) - 1)
    each = np.arange(ahead.shape[1])
    low, high = ahead[k - 1, each], ahead[k, each]
    steep = np.where(high > low, high - low, 1.0)
    part = np.clip(np.where(high > low, -low / steep, 1.0), 0.0, 1.0)
    return np.asarray(weight[k - 1] + part * (weight[k] - weight[k - 1]))


def _others(history: History, named: tuple[str, ...]) -> list[str]:
    left = [o.name for o in history.objectives if o.name not in named]
    if not left:
        return []
    return [
        f"This run has {len(history.objectives)} objectives; shown are {named[0]} and {named[1]}, "
        "choose others with --between A,B (between= in Python)."
    ]
