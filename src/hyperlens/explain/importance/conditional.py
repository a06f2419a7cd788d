"""Conditional parameters: when each is active, and what its share of the variance is there.

Over the whole space a child counts for its contribution where it is active times how often that is.
Given that it is active, its part is V_child / P relative to the variance of the cost there.

Symbols
    V        variance over the space that an effect causes
    P        probability over the space that the child is active
    D        draws of an additive process
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperlens.explain.importance.good import Good
from hyperlens.explain.importance.shares import Shares, posterior
from hyperlens.explain.models.fitting import Fitted
from hyperlens.runs.history import History
from hyperlens.spaces.cube import FloatArray
from hyperlens.spaces.points import sample_active, sobol
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.surrogates.threads import one_thread

SAMPLE = 512  # Sobol' points over which the variance of the cost is taken where a child is active


@dataclass(frozen=True)
class Conditional:
    """A conditional parameter: active in a part `active` of the space, and its share there.

    `used` says whether the best trial has it. Low and high are nan without intervals.
    """

    parameter: str
    when: str
    active: float
    share: float
    low: float
    high: float
    used: bool


def conditional_parameters(
    history: History,
    objective: str | None,
    fitted: Fitted,
    shares: Shares,
    level: float | None,
    part: Good | None,
) -> tuple[Conditional, ...]:
    """Those of a run, in the order of its space, as far as the surrogate knows them."""
    cube, space = fitted.cube, history.space
    at = {effect[0]: k for k, effect in enumerate(shares.effects) if len(effect) == 1}
    children = [c for c in range(cube.d) if c in cube.conditions and c in at]
    best = history.best(objective).values
    variances: dict[Any, FloatArray] = {}  # by condition, for children often share one
    found = []
    with one_thread():
        inside = _Inside(fitted, part.bound if part else None) if children else None
        for child in children:
            assert inside is not None
            condition = cube.conditions[child]
            if condition not in variances:
                variances[condition] = inside.variance(child)
            active = cube.share({}, (child,))
            share, low, high = inside.shares(child, active, variances[condition], shares, at, level)
            name = space.names[child]
            found.append(
                Conditional(name, space.conditions[name], active, share, low, high, name in best)
            )
    return tuple(found)


class _Inside:
    """A surrogate where some of its columns are active."""

    def __init__(self, fitted: Fitted, bound: float | None) -> None:
        self.fitted, self.model, self.bound = fitted, fitted.model, bound
        if isinstance(self.model, Additive):
            capped = self.model.weights if bound is None else self.model.capped(bound)
            self.effects = capped.variances()
        else:
            latents = sobol(2 * SAMPLE, fitted.cube.d, 0)
            self.total = float(self.model.predict(fitted.cube.vectors(latents))[0].var())

    def variance(self, child: int) -> FloatArray:
        """Of the cost where the child is active, of each draw (D,), or of the mean (1,)."""
        latents = sample_active(self.fitted.cube, (child,), SAMPLE, 0)
        if not len(latents):
            return np.zeros(1)
        X = self.fitted.cube.vectors(latents)
        if not isinstance(self.model, Additive):
            return np.array([self.model.predict(X)[0].var()])
        drawn = self.model.weights.drawn(X)
        return np.asarray(
            (drawn if self.bound is None else np.minimum(drawn, self.bound)).var(axis=0)
        )

    def shares(
        self,
        child: int,
        active: float,
        variance: FloatArray,
        shares: Shares,
        at: dict[int, int],
        level: float | None,
    ) -> tuple[float, float, float]:
        """Share, low and high of the child where it is active."""
        scale = np.maximum(active * variance, np.finfo(float).tiny)
        row = at[child]
        if isinstance(self.model, Additive) and not np.isnan(shares.share[row]):
            own = self.effects[self.model.components.effects.index((child,))]
            drawn = np.clip(own / scale, 0.0, 1.0)[None]
            share = np.median(drawn, axis=1)
            _, low, high = posterior(drawn, share, level, self.model.widened)
            if self.fitted.quality.verdict == "do not trust":
                low, high = 0.0 * low, 0.0 * high + 1.0
            return float(share[0]), float(low[0]), float(high[0])
        if isinstance(self.model, Additive):
            return np.nan, np.nan, np.nan
        numbers = np.array([shares.share[row], shares.low[row], shares.high[row]])
        share, low, high = np.clip(numbers * self.total / scale[0], 0.0, 1.0).tolist()
        return share, low, high
