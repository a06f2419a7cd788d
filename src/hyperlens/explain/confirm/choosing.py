"""Which trials would settle a question: what it is about, what may be tried, and what tells most."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.explain.confirm.about import About
from hyperlens.explain.models.fitting import Fitted
from hyperlens.explain.next.failing import would_fail
from hyperlens.runs.history import History
from hyperlens.runs.selection import narrowed
from hyperlens.runs.where import MISSING, Condition
from hyperlens.spaces.cube import BoolArray, FloatArray, IntArray
from hyperlens.spaces.points import keys, same
from hyperlens.spaces.space import Space
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.surrogates.additive.components import Effect
from hyperlens.surrogates.outlook.gain import Gain, Part, Places

CANDIDATES = 1024  # Sobol' points of the space, of which trials are chosen
INSIDE = 256  # points of a region at which its costs are to be known
EACH = 2  # every second set of hyperparameters is asked; the mean of their gains decides
RIVALS = 4  # that the best is compared with


@dataclass(frozen=True)
class Chosen:
    """Vectors (k, d), the part of the variance that is left after each, and which are repeats."""

    vectors: FloatArray
    left: FloatArray
    repeats: int


def effects_of(model: Additive, space: Space, about: About) -> tuple[Effect, ...]:
    """The effects of single parameters that are asked about."""
    known = {U for U in model.components.effects if len(U) == 1}
    chosen = tuple((space.column(name),) for name in about.parameters)
    return tuple(U for U in chosen if U in known)


def rivals(fitted: Fitted) -> IntArray:
    """Rows of the best configurations that were tried, each once, the best first."""
    X, y = fitted.training.X, fitted.training.y
    rows: list[int] = []
    for row in np.argsort(y, kind="stable").tolist():
        if not any(same(X[[other]], X[row])[0] for other in rows):
            rows.append(row)
        if len(rows) > RIVALS:
            break
    return np.array(rows)


def inside(space: Space, condition: Condition, seed: int, size: int) -> FloatArray:
    """Vectors of configurations in which a condition holds, evenly spread; at most `size`."""
    part = narrowed(space, condition)
    fixed = {n: v for n, v in part.constants.items() if n in space.names}
    drawn = part.decode(part.sample(4 * size, seed, sobol=True)) if len(part) else [{}]
    values = [{**v, **fixed} for v in drawn]
    values = [v for v in values if condition.holds(partial(_value, v))]
    vectors = space.encode(values[:size])
    return vectors[np.setdiff1d(np.arange(len(vectors)), space.misfits(vectors))]


def _value(configuration: dict[str, Any], name: str) -> Any:
    return configuration.get(name, MISSING)


def choose(
    history: History,
    fitted: Fitted,
    about: About,
    trials: int,
    seed: int,
    objective: str | None = None,
) -> Chosen:
    """At most `trials` configurations, the most telling first; none that would probably fail."""
    model, space = fitted.model, history.space
    assert isinstance(model, Additive)
    part = _part(model, space, fitted, about, seed)
    candidates, repeated = _candidates(space, fitted, about, seed)
    if not len(candidates):
        raise AnalysisError(
            "Every configuration that could be tried has been; nothing is left to settle by new ones."
        )
    fails = would_fail(history, candidates, objective, seed)
    if fails.all():
        raise AnalysisError(
            "Every configuration that could be tried would probably fail, so none would settle anything"
            "; find out why trials fail first ('hyperlens failures')."
        )
    candidates, repeated = candidates[~fails], repeated[~fails]
    gain = Gain(model.components, model.sets[::EACH], model.X, part, candidates)
    before = gain.left
    order, left = gain.greedy(trials, repeated)
    part_left = np.maximum(np.array(left) / before, 0.0) if before > 0 else np.zeros(len(left))
    return Chosen(candidates[order], part_left, int(repeated[order].sum()))


def _part(model: Additive, space: Space, fitted: Fitted, about: About, seed: int) -> Part:
    """What is to be known."""
    components = model.components
    if about.kind == "region":
        assert about.condition is not None
        points = inside(space, about.condition, seed, INSIDE)
        return Places(components.rows(points), np.eye(len(points)) / np.sqrt(len(points)))
    if about.kind == "best":
        rows = rivals(fitted)
        lead = np.vstack([-np.ones(len(rows) - 1), np.eye(len(rows) - 1)])
        return Places(components.rows(fitted.training.X[rows]), lead)
    effects = effects_of(model, space, about)
    if about.kind == "importance":
        return Places.shares(model.weights, effects, model.X, seed)
    asked = {j for (j,) in effects}
    pairs = (U for U in components.effects if len(U) == 2 and asked.issuperset(U))
    return Places.effects(components, (*effects, *pairs), model.X, seed)


def _candidates(
    space: Space, fitted: Fitted, about: About, seed: int
) -> tuple[FloatArray, BoolArray]:
    """What may be tried, and which of it may be more than once."""
    if about.kind == "region":
        assert about.condition is not None
        drawn = inside(space, about.condition, seed + 1, CANDIDATES)
    else:
        drawn = space.sample(CANDIDATES, seed, sobol=True)
    vectors = space.encode(space.decode(drawn))
    known = fitted.training.X
    tried = keys(known)
    vectors = vectors[[row for key, row in keys(vectors).items() if key not in tried]]
    repeated = np.zeros(len(vectors), dtype=bool)
    if about.kind == "best" and not exact(known, fitted.training.y):
        again = known[rivals(fitted)]
        repeated = np.append(np.ones(len(again), dtype=bool), repeated)
        vectors = np.vstack([again, vectors])
    return vectors, repeated


def exact(X: FloatArray, y: FloatArray) -> bool:
    """Were configurations tried again, each with the very same cost?"""
    _, which, counts = np.unique(
        np.where(np.isnan(X), -1.0, X), axis=0, return_inverse=True, return_counts=True
    )
    which = which.ravel()
    tried_again = np.flatnonzero(counts > 1)
    return bool(len(tried_again)) and all(np.ptp(y[which == k]) == 0 for k in tried_again)
