"""How a search begins: its initial design, and how long what was known beforehand is believed.

An even design is a maximin Latin hypercube. What is known beforehand stands among its rows
(optimize/knowledge/known.py). Where a prior is all that is known it is judged by the first JUDGED rows
for each parameter: if the best of them is guessed, the design ends there. Early proposals then stay near
the guess as long as the best does.
"""

from collections.abc import Sequence

import numpy as np

from hyperlens.errors import SpaceError
from hyperlens.optimize.knowledge.known import Known, Origin
from hyperlens.optimize.optimizers import designs as sampling
from hyperlens.optimize.optimizers.focus_search import Part
from hyperlens.optimize.optimizers.ledger import Result
from hyperlens.spaces.cube import FloatArray
from hyperlens.spaces.points import same
from hyperlens.spaces.space import Space
from hyperlens.surrogates.outcomes import Outcomes

INITIAL = 4  # configurations per parameter before the first model
JUDGED = 2  # rows per parameter after which a prior is judged
TRUSTED = 10  # trials per parameter in which a prior that leads is stayed near


class Beginning:
    """The initial design as vectors, where its rows come from, and the part near a prior's guess.

    `judging` says that a prior may end the design early.
    """

    def __init__(
        self,
        space: Space,
        seed: int,
        initial: int | None,
        design: FloatArray | None,
        known: Known | None,
        judging: bool,
    ) -> None:
        self.space = space
        self._origins: tuple[Origin | None, ...] = ()
        self._guessed = tuple(known.prior or ()) if known is not None else ()
        self._judged = 0
        self._near: dict[int, Part] = {}  # by column
        if design is not None:
            self.design = _checked(space, design, known)
            return
        rng = np.random.default_rng([seed, 0])
        n = INITIAL * len(space) if initial is None else initial
        latents = sampling.maximin(space.cube, n, rng) if n else np.empty((0, space.cube.d))
        if known is None:
            self.design = space.cube.vectors(latents)
            forbidden = space.forbidden(self.design)
            if forbidden.any():
                self.design[forbidden] = space.sample(int(forbidden.sum()), rng)
            return
        if judging and initial is None and known.alone:
            self._judged, self._near = JUDGED * len(space), known.near()
        rows = known.design(latents, rng, self._judged)
        self._origins = tuple(row.origin for row in rows)
        self.design = np.array([row.vector for row in rows]).reshape(-1, space.cube.d)

    def ended(self, number: int, results: Sequence[Result], outcomes: Outcomes) -> bool:
        """Has the design no row for this number?"""
        return number >= len(self.design) or self._convinced(number, results, outcomes)

    def origin(self, number: int) -> Origin | None:
        """Where a row comes from; None if it is even."""
        return self._origins[number] if number < len(self._origins) else None

    def guessed(self, number: int) -> tuple[str, ...]:
        """The parameters that the prior spoke of, for a row of the prior."""
        return self._guessed if self.origin(number) == "prior" else ()

    def trusting(self, number: int, results: Sequence[Result], outcomes: Outcomes) -> bool:
        """Does an early proposal stay near the guess, because the best so far lies there?"""
        early = number < TRUSTED * len(self.space)
        if not (self._near and early) or outcomes.objectives > 1:
            return False
        useful = [r for r, kept in zip(results, outcomes.feasible, strict=True) if kept]
        if not useful:
            return False
        best, axes = min(useful, key=lambda r: r.cost).vector, self.space.cube.axes
        guessed = [k for k in self._near if not np.isnan(best[k])]
        return bool(guessed) and all(self._near[k].holds(axes[k], best[k]) for k in guessed)

    def near(self, parts: list[Part] | None) -> list[Part]:
        """What parts of the axes, all if None, have in common with those near the guess."""
        within = parts or [Part.whole(axis) for axis in self.space.cube.axes]
        return [_shared(part, self._near.get(k, part)) for k, part in enumerate(within)]

    def _convinced(self, number: int, results: Sequence[Result], outcomes: Outcomes) -> bool:
        """Is the best of the rows by which a prior is judged guessed, so that the rest is left out?
        Only what was asked for counts, not what was told in the place of a row."""
        if not self._judged or number < self._judged or outcomes.objectives > 1:
            return False
        own: dict[int, float] = {}
        for result, kept in zip(results, outcomes.feasible, strict=True):
            k = result.number
            if k >= self._judged:
                continue
            row = self.space.encode(self.space.decode(self.design[[k]]))
            if same(row, result.vector)[0]:
                own[k] = result.cost if kept else np.inf
        if len(own) < self._judged:
            return False
        best = min(own, key=lambda k: own[k])
        return bool(np.isfinite(own[best])) and self._origins[best] == "prior"


def _checked(space: Space, design: FloatArray, known: Known | None) -> FloatArray:
    if design.ndim != 2 or design.shape[1] != len(space):
        raise SpaceError(
            f"The design has shape {design.shape}; this space needs (n, {len(space)})."
        )
    if known is not None:
        raise SpaceError("The design is given; leave out first, prior and learn_from.")
    return design


def _shared(part: Part, near: Part) -> Part:
    """What two parts of a range have in common; the first one where that is nothing, or of levels."""
    low, high = max(part.low, near.low), min(part.high, near.high)
    return part if part.levels is not None or low >= high else Part(low, high)
