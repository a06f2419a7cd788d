"""Optimisers for a space of models: those of `optimize`, begun with each model's own default.

Defaults are what a user would have tried by hand. They come where the resource is largest, so that
no small sample can rule them out, and take at most half of what a bracket begins with.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Literal, get_args

import numpy as np

from hyperlens.cube import FloatArray
from hyperlens.errors import SpaceError, listed
from hyperlens.optimize import SMBO, Optimizer, Proposal
from hyperlens.optimize.halving import Asynchronous, Entry, Halving, Hyperband
from hyperlens.optimize.model_sampling import ROOT, ModelSampler, Sampling, model_weights
from hyperlens.space import Space

Method = Literal["hyperband", "halving", "asha", "random", "smbo"]
METHODS: tuple[str, ...] = get_args(Method)

DESIGN = 1 / 3  # of smbo's budget comes before its first surrogate


def method(
    name: str,
    space: Space,
    budget: int = 99,
    sampling: Sampling = "weighted",
    seed: int = 0,
    defaults: bool = True,
) -> tuple[Optimizer, int]:
    """An optimiser by its name, and how many evaluations it makes at most."""
    if name not in METHODS:
        raise SpaceError(f"There is no optimiser '{name}'; choose one of {listed(METHODS)}.")
    if budget < 1:
        raise SpaceError(f"A budget of {budget} full evaluations is none; choose at least 1.")
    first = default_vectors(space, sampling) if defaults else np.empty((0, len(space)))
    if name == "smbo":
        return _smbo(space, budget, sampling, seed, first), budget
    if name == "asha":
        search = AsynchronousFrom(first, space, budget=budget, sampling=sampling, seed=seed)
        return search, int(budget * search.full / search.resources[0])
    kind, brackets = (Hyperband, None) if name == "hyperband" else (Halving, None)
    if name == "random":  # halving with one rung
        kind, brackets = RandomModels, 1
    found = kind(space, budget=budget, brackets=brackets, sampling=sampling, seed=seed)
    _begin_with(found, first)
    return found, found.evaluations


def default_vectors(space: Space, sampling: Sampling = "weighted", root: str = ROOT) -> FloatArray:
    """The default configuration of each model that may be drawn, the likeliest first."""
    weights = {m: w for m, w in model_weights(space, sampling, root).items() if w > 0}
    codes = np.array([p.encode([p.default])[0] for p in space.parameters])
    latents = np.tile(codes, (len(weights), 1))
    likeliest = sorted(weights, key=lambda m: -weights[m])
    named = {str(choice): choice for choice in space[root].choices}
    latents[:, space.column(root)] = space[root].encode([named[m] for m in likeliest])
    vectors = space.cube.vectors(latents)
    vectors = vectors[~space.forbidden(vectors)]
    return space.encode(space.decode(vectors))


class RandomModels(Halving):
    """Random search with weights of models: halving with one rung."""

    name = "random"


class AsynchronousFrom(Asynchronous):
    """Asynchronous halving whose first configurations are given."""

    def __init__(self, first: FloatArray, space: Space, **options: Any) -> None:
        super().__init__(space, **options)
        self.first = first

    def _fresh(self) -> tuple[int, FloatArray, int]:
        if self._drawn < len(self.first):
            return 0, self.first[self._drawn], self._drawn
        return super()._fresh()


class Until:
    """An optimiser that proposes nothing more after a while; what runs by then is finished."""

    def __init__(self, optimizer: Optimizer, seconds: float) -> None:
        self.optimizer, self.name = optimizer, optimizer.name
        self.end = time.monotonic() + seconds

    def ask(self) -> Proposal | None:
        return None if time.monotonic() >= self.end else self.optimizer.ask()

    def expect(self, configuration: Mapping[str, Any], resource: float | None = None) -> None:
        self.optimizer.expect(configuration, resource)

    def tell(
        self, configuration: Mapping[str, Any], cost: float, resource: float | None = None
    ) -> None:
        self.optimizer.tell(configuration, cost, resource)


def _begin_with(search: Hyperband, first: FloatArray) -> None:
    """Put configurations in place of those drawn first, from the bracket of most resource on."""
    left = list(first)
    for running in reversed(search._running):
        entries = running.rungs[0]
        for place in range(min(len(left), (len(entries) + 1) // 2)):
            entries[place] = Entry(left.pop(0), place)


def _smbo(space: Space, budget: int, sampling: Sampling, seed: int, first: FloatArray) -> SMBO:
    """With a forest, which is at home where most parameters are inactive."""
    size = max(1, round(DESIGN * budget))
    drawn = ModelSampler(space, sampling).sample(size, np.random.default_rng([seed, 5]))
    kept = first[: (size + 1) // 2]
    design = np.vstack([kept, drawn[len(kept) :]])
    return SMBO(space, design=design, surrogate="forest", acquisition="ei", seed=seed)
