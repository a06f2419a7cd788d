"""Shares of variance in which a conditional parameter counts once.

On the latents a child has an effect of its own, one with each ancestor, and so on up to one with all of
them: g(child) times the indicator I of its being active has as many terms as I itself.
Their sum is P Var(g), its contribution where it is active, weighed by how often that is. Terms of an
order that was not asked for are added in the ratio that they have to those that were.

Symbols
    c, A     a child, some of its ancestors
    I, P     whether the child is active, how often
    M_A      mean of the square of E[I | A]
    V_A      variance that A causes in I, for no ancestor at all P^2
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import prod

import numpy as np

from hyperlens.spaces.cube import WHOLE, Cube, FloatArray, IntArray, intersect, measure

Effects = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Once:
    """Effects in which a conditional parameter counts once."""

    effects: Effects
    target: IntArray  # the effect that each of the surrogate's own counts for
    scale: FloatArray  # what the sum for each effect is multiplied by

    @staticmethod
    def of(cube: Cube, effects: Effects) -> Once:
        counted = []
        for U in effects:
            child = [j for j in U if len(U) > 1 and set(U) - {j} <= cube.ancestors(j)]
            counted.append((child[0],) if child else U)
        kept = tuple(dict.fromkeys(counted))
        at = {U: k for k, U in enumerate(kept)}
        order = max(map(len, effects), default=1)
        scale = [_scale(cube, U[0], order) if len(U) == 1 else 1.0 for U in kept]
        return Once(kept, np.array([at[U] for U in counted], dtype=np.int64), np.array(scale))

    def merged(self, shares: FloatArray) -> FloatArray:
        """Columns of shares (m, own effects) added up, (m, effects)."""
        total = np.zeros((len(shares), len(self.effects)))
        for own, effect in enumerate(self.target.tolist()):
            total[:, effect] += shares[:, own]
        return np.minimum(total * self.scale, np.maximum(total, 1.0))


def _scale(cube: Cube, child: int, order: int) -> float:
    """All that a child contributes, divided by what effects of at most `order` columns hold of it."""
    ancestors = sorted(cube.ancestors(child))
    if len(ancestors) < order:
        return 1.0
    boxes, _ = cube.activity_boxes(child)

    def squared(A: tuple[int, ...]) -> float:
        """M_A, over pairs of the disjoint boxes in which the child is active."""
        return sum(
            prod(
                measure(intersect(one, other)) if a in A else measure(one) * measure(other)
                for a in ancestors
                for one, other in [(first.get(a, WHOLE), second.get(a, WHOLE))]
            )
            for first in boxes
            for second in boxes
        )

    def subsets(A: tuple[int, ...]) -> list[tuple[int, ...]]:
        return [B for size in range(len(A) + 1) for B in combinations(A, size)]

    known = [A for A in subsets(tuple(ancestors)) if len(A) < order]
    held = sum((-1) ** (len(A) - len(B)) * squared(B) for A in known for B in subsets(A))
    return squared(tuple(ancestors)) / held if held > 0 else 1.0
