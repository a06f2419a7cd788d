"""What is known before a search: configurations to try first, values thought good, earlier runs.

All of it becomes rows of the initial design, half of which stays even, so that a run can say afterwards
whether the guess was right (explain/proposals/hindsight.py). What is proposed afterwards is the
surrogate's, with its reasons as ever.

Where a prior is all that is known, it is judged after half of the design: if the best of all is guessed,
the rest is left out, if not, the rest is even. Early proposals stay near the guess while the best does.

A guess of one parameter is a value, weights of choices, or a distribution of scipy.stats. What a guess
or an earlier run does not speak of comes from the even design.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Literal

import numpy as np

from hyperlens.errors import SpaceError, listed
from hyperlens.optimize.optimizers.focus_search import Part
from hyperlens.runs.history import History
from hyperlens.spaces.cube import FloatArray
from hyperlens.spaces.parameter import Parameter
from hyperlens.spaces.space import Space

Origin = Literal["first", "prior", "earlier"]
Guesses = Mapping[str, Any]  # by parameter
AROUND = 0.1  # standard deviation around a guessed value, in parts of its axis
REACH = 0.2  # of its axis: how far from a guessed value the best may lie while it is believed
BELIEVED = 0.75  # chance of a guessed choice


@dataclass(frozen=True, eq=False)
class Row:
    """One configuration of a design, and where it comes from; None if it is even."""

    vector: FloatArray
    origin: Origin | None = None


@dataclass(frozen=True)
class Known:
    """All that is known of a space beforehand."""

    space: Space
    first: Sequence[Mapping[str, Any]] = ()
    prior: Guesses | None = None
    earlier: Sequence[History] = ()

    def design(self, latents: FloatArray, rng: np.random.Generator, judged: int = 0) -> list[Row]:
        """The rows of an even design (n, d) with what is known among them: first what is to be tried
        first, then in turn what is guessed and what is even; after `judged` rows, if any, even ones."""
        rows = [Row(self._fitting(values), "first") for values in self.first]
        guessed = bool(self.prior), bool(self.earlier)
        left = max(len(latents) - len(rows), 2 * sum(guessed))
        places = np.resize(latents, (left, len(self.space))) if len(latents) else None
        if places is None:
            places = rng.random((left, len(self.space)))
        even = [Row(v) for v in self._allowed(places, rng)]
        if not any(guessed):
            return [*rows, *even]
        half = len(even) // 2
        believed = self._believed(places[:half], rng)
        if judged:
            head = zip(believed, even[half:], strict=False)
            mixed = [row for pair in head for row in pair][:judged]
            return [*mixed, *[*even[half:], *even[:half]][judged // 2 :][: len(even) - judged]]
        for one, other in zip_longest(believed, even[half:]):
            rows += [row for row in (one, other) if row is not None]
        return rows

    @property
    def alone(self) -> bool:
        """Is a prior all that is known?"""
        return bool(self.prior) and not (self.first or self.earlier)

    def near(self) -> list[Part]:
        """The part of each axis around its guess; all of it where there is none, or of choices."""
        parts = [Part.whole(axis) for axis in self.space.cube.axes]
        for name, guess in (self.prior or {}).items():
            k, p = self.space.column(name), self.space[name]
            if parts[k].levels is not None or isinstance(guess, Mapping):
                continue
            if hasattr(guess, "ppf"):
                ends = np.clip([guess.ppf(0.025), guess.ppf(0.975)], p.lower, p.upper)
                low, high = (_encoded(p, float(end)) for end in ends)
            else:
                at = _encoded(p, guess)
                low, high = max(at - REACH, 0.0), min(at + REACH, 1.0)
            parts[k] = Part(low, high) if low < high else parts[k]
        return parts

    def _believed(self, latents: FloatArray, rng: np.random.Generator) -> list[Row]:
        """Rows of prior and earlier runs in turn, made of even ones."""
        good = self._good()
        turns: list[Origin] = [*["prior"] * bool(self.prior), *["earlier"] * bool(good)]  # type: ignore[list-item]
        rows: list[Row] = []
        for k, even in enumerate(latents if turns else ()):
            turn, nth = turns[k % len(turns)], k // len(turns)
            latent = even.copy()
            if turn == "prior":
                for name, guess in (self.prior or {}).items():
                    column = self.space.column(name)
                    latent[column] = _drawn(self.space[name], guess, rng, exactly=nth == 0)
            else:
                for name, value in good[nth % len(good)].items():
                    latent[self.space.column(name)] = value
            rows.append(Row(self._allowed(latent[None], rng)[0], turn))
        return rows

    def _good(self) -> list[dict[str, float]]:
        """Coordinates of the best trials of each earlier run in turn, as far as the space has them."""
        ranked = []
        for history in self.earlier:
            data = history.data(history.objectives[0].name)
            best = [history.trials[data.rows[k]] for k in np.argsort(data.y, kind="stable")]
            ranked.append([self._shared(trial.values) for trial in best])
        merged = [own for turn in zip_longest(*ranked) for own in turn if own]
        distinct = {tuple(sorted(own.items())): own for own in merged}
        return list(distinct.values())

    def _shared(self, values: Mapping[str, Any]) -> dict[str, float]:
        found = {}
        for name in self.space.names:
            if name in values:
                try:
                    found[name] = float(self.space[name].encode([values[name]])[0])
                except SpaceError:  # beyond the range of this space
                    continue
        return found

    def _fitting(self, values: Mapping[str, Any]) -> FloatArray:
        vector = self.space.encode([values])
        if len(self.space.misfits(vector)) or self.space.forbidden(vector)[0]:
            raise SpaceError(
                f"The configuration {dict(values)} to try first contradicts the space; give exactly the "
                "parameters that are active."
            )
        return np.asarray(vector[0])

    def _allowed(self, latents: FloatArray, rng: np.random.Generator) -> FloatArray:
        """As vectors; forbidden ones are drawn again."""
        vectors = self.space.cube.vectors(latents)
        forbidden = self.space.forbidden(vectors)
        if forbidden.any():
            vectors[forbidden] = self.space.sample(int(forbidden.sum()), rng)
        return vectors


def as_known(
    space: Space,
    first: Sequence[Mapping[str, Any]],
    prior: Guesses | None,
    learn_from: History | Sequence[History],
) -> Known | None:
    """What a user gave, checked; None if that is nothing."""
    earlier = (learn_from,) if isinstance(learn_from, History) else tuple(learn_from)
    unknown = [name for name in prior or {} if name not in space.names]
    if unknown:
        raise SpaceError(
            f"The prior speaks of {listed(unknown)}, and the space has no such parameter; choose among "
            f"{listed(space.names, 20)}."
        )
    for history in earlier:
        if not isinstance(history, History):
            raise SpaceError(
                f"learn_from holds a {type(history).__name__}; give runs, as hl.read returns them."
            )
    if not (first or prior or earlier):
        return None
    known = Known(space, tuple(first), prior, earlier)
    for name, guess in (prior or {}).items():
        _drawn(space[name], guess, np.random.default_rng(0), exactly=True)  # refuses bad ones now
    for values in first:
        known._fitting(values)
    return known


def _drawn(p: Parameter, guess: Any, rng: np.random.Generator, exactly: bool) -> float:
    """A coordinate on the axis of a parameter: the guessed value itself, or one drawn around it."""
    if hasattr(guess, "ppf"):
        u = 0.5 if exactly else float(rng.random())
        value = float(np.clip(guess.ppf(u), p.lower, p.upper))
        return _encoded(p, round(value) if p.kind == "integer" else value)
    if isinstance(guess, Mapping):
        names, weights = list(guess), np.array([float(w) for w in guess.values()])
        if not (len(weights) and (weights >= 0).all() and weights.sum() > 0):
            raise SpaceError(f"The weights of '{p.name}' are {dict(guess)}; give one above 0.")
        chances = weights / weights.sum()
        place = np.argmax(chances) if exactly else rng.choice(len(names), p=chances)
        return _encoded(p, names[int(place)])
    at = _encoded(p, guess)
    if exactly:
        return at
    if p.kind == "categorical":
        other = p.choices[int(rng.integers(len(p.choices)))]
        return at if rng.random() < BELIEVED else _encoded(p, other)
    return float(np.clip(at + AROUND * rng.standard_normal(), 0.0, 1.0))


def _encoded(p: Parameter, value: Any) -> float:
    return float(p.encode([value])[0])
