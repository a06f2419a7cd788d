"""The numbers that are to be surer: shares of parameters, the mean of a region, leads of the best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hyperlens.explain.confirm.about import About
from hyperlens.explain.confirm.choosing import effects_of, inside, rivals
from hyperlens.explain.confirm.expectation import (
    Expectation,
    Reading,
    expected_costs,
    expected_shares,
)
from hyperlens.explain.importance.importance import beside
from hyperlens.explain.models.fitting import Fitted
from hyperlens.runs.history import History
from hyperlens.spaces.cube import FloatArray
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.surrogates.additive.components import Effect

REGION_POINTS = 512  # at which the cost of a region is averaged


@dataclass(frozen=True)
class Sought:
    """Numbers by their names: shares of effects, or what is read from the costs at vectors."""

    names: tuple[str, ...]
    effects: tuple[Effect, ...] = ()
    vectors: FloatArray | None = None
    read: Reading | None = None

    @staticmethod
    def of(
        history: History, fitted: Fitted, about: About, objective: str | None, seed: int
    ) -> Sought:
        """What a question asks for, as it stands now: the rivals are those of these trials."""
        model, space = fitted.model, history.space
        assert isinstance(model, Additive)
        if about.kind in ("effect", "importance"):
            effects = effects_of(model, space, about)
            return Sought(tuple(space.names[j] for (j,) in effects), effects)
        if about.kind == "best":
            rows = rivals(fitted)
            best, *others = (history.trials[int(fitted.training.rows[k])].number for k in rows)
            names = tuple(f"trial {best} over trial {other}" for other in others)
            return Sought(names, (), fitted.training.X[rows], lambda costs: costs[1:] - costs[:1])
        assert about.condition is not None
        sign = history.objective(objective).sign

        def mean(costs: FloatArray) -> FloatArray:
            return np.asarray(sign * costs.mean(axis=0, keepdims=True))

        points = inside(space, about.condition, seed, REGION_POINTS)
        return Sought((f"mean where {about.text}",), (), points, mean)

    def expected(
        self,
        history: History,
        fitted: Fitted,
        X: FloatArray,
        level: float,
        seed: int,
        objective: str | None,
    ) -> Expectation:
        """How sure they are by this surrogate of a run, and would be after trials X (k, d)."""
        model = fitted.model
        assert isinstance(model, Additive)
        if self.read is None:
            found = expected_shares(model, X, self.effects, level, seed)
            second = beside(history, fitted, level, seed, objective)
            return found if second is None else found.taking_in(second, self.effects)
        assert self.vectors is not None
        places = model.components.rows(self.vectors)
        return expected_costs(model, X, places, self.read, level, seed)
