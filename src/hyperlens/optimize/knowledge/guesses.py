"""What is thought of one parameter before a search: a value, weights of choices, or a distribution of
scipy.stats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hyperlens.errors import SpaceError
from hyperlens.optimize.optimizers.focus_search import Part
from hyperlens.spaces.cube import FloatArray
from hyperlens.spaces.parameter import Parameter

Guesses = Mapping[str, Any]  # by parameter
AROUND = 0.1  # standard deviation around a guessed value, in parts of its axis
REACH = 0.2  # of its axis: how far from a guessed value the best may lie while it is believed
BELIEVED = 0.75  # chance of a guessed choice
CENTRAL = 0.025, 0.975  # between these quantiles of a distribution the best may lie


def drawn(p: Parameter, guess: Any, rng: np.random.Generator, exactly: bool) -> float:
    """A coordinate on the axis of a parameter: the guessed value itself, or one drawn around it."""
    if _distributed(guess):
        return float(_quantiles(p, guess, 0.5 if exactly else float(rng.random()))[0])
    if isinstance(guess, Mapping):
        places, chances = _weights(p, guess)
        chosen = np.argmax(chances) if exactly else rng.choice(len(places), p=chances)
        return float(places[int(chosen)])
    at = float(p.encode([guess])[0])
    if exactly:
        return at
    if p.kind == "categorical":
        other = p.choices[int(rng.integers(len(p.choices)))]
        return at if rng.random() < BELIEVED else float(p.encode([other])[0])
    return float(np.clip(at + AROUND * rng.standard_normal(), 0.0, 1.0))


def around(p: Parameter, guess: Any) -> Part:
    """The part of its axis in which the best may lie while the guess is believed."""
    axis = p.axis
    if _distributed(guess):
        places = _quantiles(p, guess, *CENTRAL)
    elif isinstance(guess, Mapping):
        encoded, chances = _weights(p, guess)
        places = encoded[chances > 0]
    else:
        places = p.encode([guess])
        if axis.ordered:
            places = np.clip(places[0] + REACH * np.array([-1.0, 1.0]), 0.0, 1.0)
    if axis.codes is None:
        low, high = float(places.min()), float(places.max())
        return Part(low, high) if low < high else Part.whole(axis)
    levels = np.unique(axis.level(places))
    if axis.ordered:
        levels = np.arange(levels[0], levels[-1] + 1)
    return Part(levels=levels)


def _distributed(guess: Any) -> bool:
    return hasattr(guess, "ppf")


def _quantiles(p: Parameter, guess: Any, *shares: float) -> FloatArray:
    """Coordinates of some quantiles of what of a distribution lies within the range."""
    if p.choices:
        raise SpaceError(
            f"The prior of '{p.name}' is a distribution, and the parameter has choices; give one of "
            "them, or weights such as {'a': 2, 'b': 1}."
        )
    try:
        low, high = guess.cdf([np.nextafter(p.lower, -np.inf), p.upper])
        values = np.clip(guess.ppf(low + np.array(shares) * (high - low)), p.lower, p.upper)
    except TypeError as problem:
        raise SpaceError(
            f"The prior of '{p.name}' is a distribution that lacks its parameters ({problem}); give "
            "them, as in scipy.stats.norm(3, 1)."
        ) from None
    if not high > low:
        raise SpaceError(
            f"The prior of '{p.name}' has nothing within its range from {p.lower:g} to {p.upper:g}; "
            "correct it or widen the range."
        )
    return p.encode(np.rint(values).astype(int).tolist() if p.kind == "integer" else values)


def _weights(p: Parameter, guess: Guesses) -> tuple[FloatArray, FloatArray]:
    """Coordinates of weighted values, and their chances."""
    try:
        weights = np.array([float(weight) for weight in guess.values()])
    except (TypeError, ValueError):
        weights = np.array([np.nan])
    if not ((weights >= 0).all() and 0 < weights.sum() < np.inf):
        raise SpaceError(
            f"The weights of '{p.name}' are {dict(guess)}; give finite numbers, none below 0 and one "
            "above."
        )
    return p.encode(list(guess)), weights / weights.sum()
