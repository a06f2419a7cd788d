"""What is known before a search: configurations to try first, values thought good, earlier runs.

All of it becomes rows of the initial design, half of which stays even, so that a run can say afterwards
whether the guess was right (explain/proposals/hindsight.py). What is proposed afterwards is the
surrogate's, with its reasons as ever.

Where a prior is all that is known, it is judged after half of the design: if the best of all is guessed,
the rest is left out, if not, the rest is even. Early proposals stay near the guess while the best does.

What a guess or an earlier run does not speak of comes from the even design. Where nothing of it would
be active, as the learning rate of one model beside another model, that is drawn anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import Any, Literal

import numpy as np

from hyperlens.errors import AnalysisError, SpaceError, listed
from hyperlens.optimize.knowledge.guesses import Guesses, around, drawn
from hyperlens.optimize.optimizers.focus_search import Part
from hyperlens.runs.history import History
from hyperlens.spaces.cube import FloatArray
from hyperlens.spaces.space import Space

Origin = Literal["first", "prior", "earlier"]
ANEW = 100  # draws of what is not spoken of, so that what is spoken of is active
APART = 0.02  # of an axis: what of an earlier run is nearer to a better one says little more
LOOKED_AT = 200  # best trials of an earlier run


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

    def near(self) -> dict[int, Part]:
        """The part of its axis around each guess, by column."""
        guesses = (self.prior or {}).items()
        return {self.space.column(name): around(self.space[name], g) for name, g in guesses}

    def _believed(self, latents: FloatArray, rng: np.random.Generator) -> list[Row]:
        """Rows of prior and earlier runs in turn, made of even ones."""
        turns: list[Origin] = [*["prior"] * bool(self.prior), *["earlier"] * bool(self.earlier)]  # type: ignore[list-item]
        good = _apart(self.best, len(latents))
        rows: list[Row] = []
        for k, even in enumerate(latents):
            turn, nth = turns[k % len(turns)], k // len(turns)
            if turn == "prior":
                said = {
                    name: drawn(self.space[name], guess, rng, exactly=nth == 0)
                    for name, guess in (self.prior or {}).items()
                }
            else:
                said = good[nth % len(good)]
            rows.append(self._saying(said, turn, even, rng, whole=nth == 0 or turn == "earlier"))
        return rows

    def _saying(
        self,
        said: Mapping[str, float],
        origin: Origin,
        even: FloatArray,
        rng: np.random.Generator,
        whole: bool,
    ) -> Row:
        """A row of these coordinates. What they do not speak of is even, or drawn anew where else none
        of them would be active, or, of a `whole` row, not all. Where that cannot be, the row is even."""
        columns = [self.space.column(name) for name in said]
        wanted = len(columns) if whole else 1
        for anew in (0, ANEW):
            latents = np.vstack([even, rng.random((anew, len(even)))])
            latents[:, columns] = list(said.values())
            vectors = self.space.cube.vectors(latents)
            active = (~np.isnan(vectors[:, columns])).sum(axis=1)
            active[self.space.forbidden(vectors)] = 0
            if active.max() >= wanted:
                break
        at = int(np.argmax(np.minimum(active, wanted)))
        if active[at] == 0:
            return Row(self._allowed(even[None], rng)[0])
        return Row(vectors[at], origin)

    @cached_property
    def best(self) -> list[dict[str, float]]:
        """Coordinates of the best trials of each earlier run in turn, as far as the space has them."""
        merged = [own for turn in zip_longest(*map(self.best_of, self.earlier)) for own in turn]
        return [own for own in merged if own]

    def best_of(self, history: History) -> list[dict[str, float]]:
        """Of one earlier run, by its first objective."""
        data = history.data(history.objectives[0].name)
        best = data.rows[np.argsort(data.y, kind="stable")[:LOOKED_AT]]
        return [own for row in best if (own := self._shared(history.trials[row].values))]

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
    first: Sequence[Mapping[str, Any]] | None,
    prior: Guesses | None,
    learn_from: History | Sequence[History] | None,
) -> Known | None:
    """What a user gave, checked; None if that is nothing."""
    if not (first or prior or learn_from):
        return None
    if isinstance(first, Mapping) or not all(isinstance(one, Mapping) for one in first or ()):
        raise SpaceError("first is no list of configurations; give dicts, as in [{'x': 1.0}].")
    if not isinstance(prior or {}, Mapping):
        raise SpaceError(
            f"The prior is a {type(prior).__name__}; give a dict by parameter, as in {{'x': 1.0}}."
        )
    runs: Any = learn_from or ()
    earlier = tuple(runs) if isinstance(runs, (list, tuple)) else (runs,)
    known = Known(space, tuple(first or ()), prior, earlier)
    unknown = [name for name in prior or {} if name not in space.names]
    if unknown:
        raise SpaceError(
            f"The prior speaks of {listed(unknown)}, and the space has no such parameter; choose among "
            f"{listed(space.names, 20)}."
        )
    for name, guess in (prior or {}).items():
        drawn(space[name], guess, np.random.default_rng(0), exactly=True)  # refuses bad ones now
    for values in known.first:
        known._fitting(values)
    for history in earlier:
        _refuse_useless(known, history)
    return known


def _refuse_useless(known: Known, history: Any) -> None:
    """An earlier run of which nothing can be learnt."""
    if not isinstance(history, History):
        raise SpaceError(
            f"learn_from holds a {type(history).__name__}; give runs, as hl.read returns them."
        )
    try:
        useful = known.best_of(history)
    except AnalysisError:
        raise SpaceError(
            "learn_from holds a run of which no trial ended with a cost; leave it out."
        ) from None
    if not useful:
        raise SpaceError(
            f"learn_from holds a run of {listed(history.space.names)}, of which no value fits this "
            f"space of {listed(known.space.names)}; leave it out, or give both the same names."
        )


def _apart(rows: Sequence[dict[str, float]], count: int) -> list[dict[str, float]]:
    """The first rows of which none lies near an earlier one, as many as are wanted; then the others."""
    apart: list[dict[str, float]] = []
    others: list[dict[str, float]] = []
    for own in rows:
        crowd = any(
            own.keys() == one.keys() and all(abs(own[k] - one[k]) < APART for k in own)
            for one in apart
        )
        (others if crowd else apart).append(own)
        if len(apart) == count:
            break
    return [*apart, *others]
