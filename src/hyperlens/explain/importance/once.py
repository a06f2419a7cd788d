"""Shares of variance in which a conditional parameter counts once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hyperlens.spaces.cube import Cube, FloatArray, IntArray

Effects = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Once:
    """Effects in which a conditional parameter counts once.

    On the latents a child has an effect of its own and one with the parent that activates it, always in
    the same ratio; together they are its contribution where it is active, weighed by how often that is.
    """

    effects: Effects
    target: IntArray  # the effect that each of the surrogate's own counts for

    @staticmethod
    def of(cube: Cube, effects: Effects) -> Once:
        counted = []
        for U in effects:
            child = [j for j in U if len(U) == 2 and set(U) - {j} <= cube.ancestors(j)]
            counted.append((child[0],) if child else U)
        kept = tuple(dict.fromkeys(counted))
        at = {U: k for k, U in enumerate(kept)}
        return Once(kept, np.array([at[U] for U in counted], dtype=np.int64))

    def merged(self, shares: FloatArray) -> FloatArray:
        """Columns of shares (m, own effects) added up, (m, effects)."""
        total = np.zeros((len(shares), len(self.effects)))
        for own, effect in enumerate(self.target.tolist()):
            total[:, effect] += shares[:, own]
        return total
