"""Optimisers for a space of models: those of `optimize`, begun with each model's own default.

Defaults are what a user would have tried by hand. They come where the budget is largest, so that
no small sample can rule them out, unless that would take all of the time, and take at most half of
what a bracket begins with.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np

from hyperlens.errors import SpaceError, listed
from hyperlens.optimize import SMBO, Optimizer
from hyperlens.optimize.models.model_sampling import ROOT, ModelSampler, Sampling, model_weights
from hyperlens.optimize.optimizers.halving import Asynchronous, Entry, Halving, Hyperband
from hyperlens.spaces.cube import FloatArray
from hyperlens.spaces.points import keys, same
from hyperlens.spaces.space import Space

OptimizerName = Literal["anytime", "hyperband", "halving", "asha", "random", "smbo"]
OPTIMIZERS: tuple[str, ...] = get_args(OptimizerName)
SCHEDULED = OPTIMIZERS[1:]  # all but the one that goes by the clock (anytime.py)

DESIGN = 1 / 3  # of smbo's evaluations come before its first surrogate
REDRAWS = 20  # rounds of drawing configurations again that were drawn already


def make_optimizer(
    name: str,
    space: Space,
    evaluations: int = 99,
    sampling: Sampling = "weighted",
    seed: int = 0,
    first: FloatArray | None = None,
    whole_first: bool = True,
) -> Optimizer:
    """An optimiser by its name; `evaluations` are so many at full budget. It begins with the
    vectors `first`, as far as they fit, each at full budget or at the smallest."""
    if name not in SCHEDULED:
        raise SpaceError(f"There is no optimiser '{name}'; choose one of {listed(OPTIMIZERS)}.")
    if evaluations < 1:
        raise SpaceError(f"{evaluations} evaluations are none; choose at least 1.")
    first = np.empty((0, len(space))) if first is None else first
    if name == "smbo":
        return _smbo(space, evaluations, sampling, seed, first)
    if name == "asha":
        return AsynchronousFrom(first, space, trials=evaluations, sampling=sampling, seed=seed)
    kind = {"hyperband": Hyperband, "halving": Halving, "random": RandomModels}[name]
    brackets = 1 if name == "random" else None
    search = kind(space, trials=evaluations, brackets=brackets, sampling=sampling, seed=seed)
    _begin_with(search, first, whole_first)
    return search


def first_vectors(
    space: Space,
    sampling: Sampling = "weighted",
    starts: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    root: str = ROOT,
    cheap: Mapping[str, Any] | None = None,
) -> FloatArray:
    """The default configuration of each model that may be drawn, and then those that begin with its
    `starts`, by parameter; the likeliest model first. What is `cheap` takes the place of defaults."""
    weights = {m: w for m, w in model_weights(space, sampling, root).items() if w > 0}
    alone = root in space.constants
    choices = (space.constants[root],) if alone else space[root].choices
    named = {str(choice): choice for choice in choices}
    default = {p.name: p.default for p in space.parameters} | dict(cheap or {})
    configurations = [
        {**default, root: named[model], **start}
        for model in sorted(weights, key=lambda m: -weights[m])
        for start in ({}, *(starts or {}).get(model, ()))
    ]
    vectors = space.cube.vectors(space.encode(configurations))  # leaves out what is inactive
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
        place = self._free
        if place < len(self.first):
            return 0, self.first[place], place
        known = np.array([entry.vector for entry in self._rungs[0]])
        vector: FloatArray = super()._fresh()[1]
        for attempt in range(REDRAWS):
            if not len(known) or not same(known, vector).any():
                break
            vector = self._draw_vectors(1, 6, place, attempt)[0]
        return 0, vector, place


def _begin_with(search: Hyperband, first: FloatArray, whole_first: bool) -> None:
    """Start with the bracket of the largest budget, so that whoever stops a search early has something,
    or with that of least; and put configurations in place of those drawn first. None comes twice: a
    model without hyperparameters is measured once."""
    if whole_first:
        search._running.reverse()
    left = list(first)
    known = np.empty((0, len(search.space)))
    for k, running in enumerate(search._running):
        drawn = [entry.vector for entry in running.rungs[0]]
        for place in range(min(len(left), (len(drawn) + 1) // 2)):
            drawn[place] = left.pop(0)
        vectors = _different(drawn, known, search, k)
        name = running.bracket.name
        running.rungs[0] = [Entry(f"{name}:{p}", vector, p) for p, vector in enumerate(vectors)]
        known = np.vstack([known, *vectors])


def _different(
    drawn: list[FloatArray], known: FloatArray, search: Hyperband, bracket: int
) -> list[FloatArray]:
    """What is not known yet; others are drawn in place of the rest, as long as there are any."""
    new: list[FloatArray] = []
    wanted, before = len(search._running[bracket].rungs[0]), set(keys(known))
    for attempt in range(REDRAWS):
        fresh = keys(np.array(drawn))
        new += [drawn[row] for key, row in fresh.items() if key not in before]
        before |= fresh.keys()
        missing = wanted - len(new)
        if not missing:
            break
        drawn = list(search._draw_vectors(missing, 6, bracket, attempt))
    return new


def _smbo(space: Space, evaluations: int, sampling: Sampling, seed: int, first: FloatArray) -> SMBO:
    """With a forest, which is at home where most parameters are inactive."""
    size = max(1, round(DESIGN * evaluations))
    drawn = ModelSampler(space, sampling).sample(size, np.random.default_rng([seed, 5]))
    first = first[: (size + 1) // 2]
    design = np.vstack([first, drawn[len(first) :]])
    return SMBO(space, design=design, surrogate="forest", acquisition="ei", seed=seed)
