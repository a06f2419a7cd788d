"""How strongly two parameters act together: Friedman's H (Friedman and Popescu 2008), exact.

H^2 of a pair is the part of the variance of its joint partial dependence that is not the sum of the two
single ones. Under the uniform measure that is V_jk / (V_j + V_k + V_jk) of the functional ANOVA, so no
sample is needed.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.explain.effects.effect import Effect, effect
from hyperlens.explain.importance.importance import INTERVAL
from hyperlens.explain.importance.once import Effects
from hyperlens.explain.importance.shares import drawn_interval, known, shares
from hyperlens.explain.models.leader import named_or_leader
from hyperlens.explain.models.verdict import WIDE, Ground, Verdict, grounds, judge
from hyperlens.record import Record
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History
from hyperlens.spaces.cube import FloatArray
from hyperlens.surrogates.protocol import SurrogateKind
from hyperlens.surrogates.quality import Quality
from hyperlens.tables import Column, Table, between, ends, table
from hyperlens.words import SLIGHT, decimals, effect_name, percent, tenths

H = (
    "Friedman's H: the root of the part of the pair's joint variance that is not the sum of the two "
    "single effects; 0 is additive, 1 is only together."
)


@dataclass(frozen=True)
class Interactions(Record):
    """Pairs, strongest by share of the variance first; H between 0 (additive) and 1 (nothing else).

    `low` and `high` are quantiles at level `level`: of the posterior of an additive process, made wider
    as its shares are, or over refits on parts of the data. `effects` are the two-parameter effects of
    the first pairs, as far as they act together at all.
    """

    objective: str
    surrogate: str
    pairs: tuple[tuple[str, str], ...]
    h: FloatArray
    low: FloatArray
    high: FloatArray
    share: FloatArray
    level: float | None
    effects: tuple[Effect, ...]
    quality: Quality
    verdict: Verdict
    notes: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The strongest pair, and how H is to be read."""
        meaning = (
            "H is 0 where two parameters act each on its own, and 1 where they act only together. "
            "A large H of a pair with a small share of the variance matters little."
        )
        if not self.pairs or not self.share[0] > 0:
            return f"No two parameters act together in what the surrogate expects. {meaning}"
        if not self.verdict.known:
            return f"What acts together is not known: {self.verdict.reason}. {meaning}"
        if self.share[0] < SLIGHT:
            return f"No pair has a tenth of a percent of the variance. {meaning}"
        return (
            f"Most of what two parameters do together is {effect_name(self.pairs[0])}: H "
            f"{decimals(float(self.h[0]))}, {tenths(float(self.share[0]))} of the variance. "
            f"{meaning}"
        )

    @property
    def tables(self) -> tuple[Table, ...]:
        limits = None
        if self.level is not None:
            title, cells = f"{percent(self.level)} interval of H", ends(self.low, self.high)
            limits = Column(title, cells, between(decimals), INTERVAL)
        beyond = "The part of the whole variance that the pair has beyond its two single effects."
        return (
            table(
                Column("pair", self.pairs, effect_name),
                Column("H", self.h, decimals, H),
                limits,
                Column("share of the variance", self.share, tenths, beyond),
            ),
        )

    def _columns(self) -> dict[str, Any]:
        return {"parameters": self.pairs} | self._fields("h", "low", "high", "share")


@of_a_run
def interactions(
    history: History,
    *,
    surrogate: SurrogateKind | None = None,
    level: float | None = 0.9,
    effects: int = 3,
    grid: int = 15,
    seed: int = 0,
    objective: str | None = None,
) -> Interactions:
    """Friedman's H of every pair, on the run's leader unless a surrogate is named.

    The `effects` strongest pairs come with their effect on a `grid` by `grid` lattice.
    """
    if len(history.space) < 2:
        raise AnalysisError("One parameter has nothing to interact with; tune at least two.")
    fitted = named_or_leader(history, surrogate, seed=seed, objective=objective)
    variance_shares = known(shares(history, fitted, 2, level, seed), fitted)
    pairs = [k for k, effect in enumerate(variance_shares.effects) if len(effect) == 2]
    h = friedman(variance_shares.effects, variance_shares.share[None, :], pairs)[0]
    low = high = np.full(len(pairs), np.nan)
    if level is not None and len(variance_shares.draws):
        drawn = friedman(variance_shares.effects, variance_shares.draws, pairs)
        low, high = drawn_interval(drawn.T, level, variance_shares.widened)
        low, high = np.minimum(low, h), np.maximum(high, h)
    if fitted.quality.verdict == "do not trust":
        low, high = 0.0 * low, 0.0 * high + 1.0
    low, high = (np.where(np.isnan(h), np.nan, end) for end in (low, high))
    share = variance_shares.share[pairs]
    order = np.argsort(-np.nan_to_num(share, nan=-1.0), kind="stable")
    names = history.space.names
    ordered = [(names[a], names[b]) for a, b in (variance_shares.effects[pairs[k]] for k in order)]
    acting = [p for p, s in zip(ordered, share[order], strict=True) if s > 0]
    return Interactions(
        objective=history.objective(objective).name,
        surrogate=fitted.name,
        pairs=tuple(ordered),
        h=h[order],
        low=low[order],
        high=high[order],
        share=share[order],
        level=level,
        effects=tuple(
            effect(history, pair, surrogate=fitted.name, grid=grid, seed=seed, objective=objective)
            for pair in acting[:effects]
        ),
        quality=fitted.quality,
        verdict=judge(
            (
                *grounds(history, fitted, range(len(names))),
                *_of_h(ordered, low[order], high[order]),
            )
        ),
        notes=fitted.notes,
    )


def _of_h(pairs: list[tuple[str, str]], low: FloatArray, high: FloatArray) -> list[Ground]:
    """How wide the interval of the first pair's H is."""
    if not pairs or not high[0] - low[0] > WIDE:
        return []
    ends = f"{decimals(float(low[0]))} to {decimals(float(high[0]))}"
    return [Ground("caution", f"H of {effect_name(pairs[0])} may be anything from {ends}")]


def friedman(effects: Effects, drawn: FloatArray, pairs: list[int]) -> FloatArray:
    """H of the pairs at these positions, for each row of shares drawn; 0 where the pair does nothing."""
    alone = {effect[0]: k for k, effect in enumerate(effects) if len(effect) == 1}
    together = drawn[:, pairs]
    total = together.copy()
    for side in (0, 1):
        total += drawn[:, [alone[effects[k][side]] for k in pairs]]
    return np.asarray(np.sqrt(np.divide(together, total, out=0.0 * total, where=total > 0)))
