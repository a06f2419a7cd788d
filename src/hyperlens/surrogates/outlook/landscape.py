"""Functions on the grid of their axes, changed one axis at a time: what a search over them asks.

A place is one point of the grid of each axis. Several functions are asked at once, each at places of
its own. An additive process changes along an axis by that axis's functions alone, whose coefficients
are products of matrices; any other surrogate is predicted at every point. What is searched may be made
of such functions (as_drawn.py), so that a search carries these along: its states.

Symbols
    D, C     functions, and places of each
    k        places, (D, C, d) or, the same of all functions, (1, C, d): points of the grids
    g        points of an axis
    phi      functions of an axis at its points, the last row 0: inactive
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Protocol

import numpy as np

from hyperlens.spaces.cube import Axis, BoolArray, Cube, FloatArray, IntArray
from hyperlens.surrogates.additive.components import Effect, Nested
from hyperlens.surrogates.additive.weights import Weights

POINTS = 32  # of a continuous axis, or of one with more levels
CHUNK = 2048  # places looked at together


class Landscape(Protocol):
    """What can be searched."""

    grids: tuple[FloatArray, ...]
    count: int  # D
    drawn: int  # places that are looked at before a search, for each that is searched

    def at(self, k: IntArray) -> FloatArray:
        """States at places, (states, C)."""

    def change(self, k: IntArray, j: int) -> FloatArray:
        """What moving axis j to each of its points would change of the states, (states, C, g)."""

    def values(self, states: FloatArray) -> FloatArray:
        """Values (D, ...) of states (states, ...)."""


def grid_of(axis: Axis, also: FloatArray, points: int = POINTS) -> FloatArray:
    """Points of an axis: its levels, or even ones with the ends, and some more that matter."""
    if 0 < axis.levels <= points:
        assert axis.codes is not None
        return axis.codes
    return np.unique(axis.snap(np.append(np.linspace(0.0, 1.0, points), also)))


def place_of(grids: tuple[FloatArray, ...], latents: FloatArray) -> IntArray:
    """The nearest points of latents (..., d)."""
    return np.stack(
        [np.abs(grid - latents[..., j, None]).argmin(axis=-1) for j, grid in enumerate(grids)],
        axis=-1,
    )


class Predicted:
    """One function: the mean of any surrogate."""

    def __init__(
        self,
        mean: Callable[[FloatArray], FloatArray],
        cube: Cube,
        grids: tuple[FloatArray, ...],
        drawn: int = 0,
    ) -> None:
        self.mean, self.cube, self.grids, self.count, self.drawn = mean, cube, grids, 1, drawn

    def at(self, k: IntArray) -> FloatArray:
        latents = np.stack([grid[k[..., j]] for j, grid in enumerate(self.grids)], axis=-1)
        vectors = self.cube.vectors(latents.reshape(-1, self.cube.d))
        return np.asarray(self.mean(vectors)).reshape(k.shape[:-1])

    def change(self, k: IntArray, j: int) -> FloatArray:
        return _by_moving(self, k, j)

    def values(self, states: FloatArray) -> FloatArray:
        return states


class Drawn:
    """Drawn functions of an additive process, or their mean.

    Along axis j a function is phi_j times coefficients: those of its own effect, and of its pairs and
    triples the weights times what the other axes have. `owned` are the effects that are counted with
    axis j when all are added up, each once.
    """

    def __init__(self, weights: Weights, grids: tuple[FloatArray, ...]) -> None:
        self.weights, self.grids, self.count = weights, grids, len(weights.trend)
        self.drawn = 0
        self.components = weights.components
        self.cube = self.components.cube
        ends = self.components.ends
        self.w = {
            U: weights.w[first:last].T
            for U, first, last in zip(self.components.effects, ends[:-1], ends[1:], strict=True)
        }
        bases = zip(self.components.bases, self.cube.axes, grids, strict=True)
        self.phi = [_with_inactive(b.at(axis.snap(grid))) for b, axis, grid in bases]

    def at(self, k: IntArray) -> FloatArray:
        total = np.empty((self.count, k.shape[1]))
        for first in range(0, k.shape[1], CHUNK):
            seen = self._seen(k[:, first : first + CHUNK])
            value = np.repeat(self.weights.trend[:, None], seen.shape[1], axis=1)
            others = self._others(seen)
            for j, phi in enumerate(self.phi):
                value += (self._coefficients(j, others, owned=True) * phi[seen[..., j]]).sum(-1)
            total[:, first : first + CHUNK] = value
        return total

    def change(self, k: IntArray, j: int) -> FloatArray:
        if j in self.components.deciding:
            return _by_moving(self, k, j)
        seen = self._seen(k)
        along = self._coefficients(j, self._others(seen), owned=False) @ self.phi[j][:-1].T
        along -= np.take_along_axis(along, k[..., j, None], axis=-1)
        if j in self.cube.conditions:
            inactive = seen[..., j] == len(self.grids[j])
            along[np.broadcast_to(inactive, along.shape[:2])] = 0.0
        return np.asarray(along)

    def values(self, states: FloatArray) -> FloatArray:
        return states

    def _coefficients(
        self, j: int, others: tuple[FloatArray, FloatArray], owned: bool
    ) -> FloatArray:
        """Of the functions of an axis, (D, C, m)."""
        own, pairs, triples = (self._owned if owned else self._of_axis)[j]
        singles, thirds = others
        found = np.repeat(own[:, None], singles.shape[1], axis=1)
        if pairs.shape[1]:
            found[..., : pairs.shape[-1]] += singles @ pairs
        if triples.shape[1]:
            ahead = (thirds @ triples).reshape(*found.shape[:2], thirds.shape[-1], -1)
            found[..., : ahead.shape[-1]] += (thirds[..., None, :] @ ahead)[..., 0, :]
        return found

    def _others(self, seen: IntArray) -> tuple[FloatArray, FloatArray]:
        """phi of all axes as they are in pairs and in triples, (D, C, axes times m) each."""
        pairs, thirds, owner = self._tables
        rows = np.arange(len(owner))
        both = pairs[rows, seen[..., owner]], thirds[rows[: self.cube.d], seen]
        return both[0].reshape(*seen.shape[:2], -1), both[1].reshape(*seen.shape[:2], -1)

    @cached_property
    def _tables(self) -> tuple[FloatArray, FloatArray, IntArray]:
        """phi in pairs and in triples, (axes, points, m), and the axis of each row: all, then the
        parents in nested pairs, whose functions are others."""
        sizes, nested = self.components.sizes, self._nested
        looks = [phi[:, :size] for phi, size in zip(self.phi, sizes[1], strict=True)]
        for n in nested.values():
            codes = self.cube.axes[n.parent].snap(self.grids[n.parent])
            looks.append(_with_inactive(n.basis.at(codes)))
        thirds = [phi[:, :size] for phi, size in zip(self.phi, sizes[2], strict=True)]
        owner = np.array([*range(self.cube.d), *(n.parent for n in nested.values())])
        return _padded(looks), _padded(thirds), owner

    @property
    def _nested(self) -> dict[Effect, Nested]:
        return {U: n for U, n in self.components.nested.items() if len(n.basis)}

    @cached_property
    def _of_axis(self) -> list[_Along]:
        return [self._along(j, [U for U in self.w if j in U]) for j in range(self.cube.d)]

    @cached_property
    def _owned(self) -> list[_Along]:
        owners = {U: n.child for U, n in self._nested.items()}
        mine = [[U for U in self.w if owners.get(U, U[-1]) == j] for j in range(self.cube.d)]
        return [self._along(j, effects) for j, effects in enumerate(mine)]

    def _along(self, j: int, effects: list[Effect]) -> _Along:
        """Weights of some effects of an axis, ready to be multiplied with what the others have."""
        D, sizes, width = self.count, self.components.sizes, len(self.components.bases[j])
        own = self.w.get((j,), np.zeros((D, width)))
        own = own if (j,) in effects else np.zeros((D, width))
        rows, size = self._tables[0].shape[0], self._tables[0].shape[2]
        pairs = np.zeros((D, rows, size, sizes[1][j]))
        nested = list(self._nested)
        d, third = self.cube.d, self._tables[1].shape[2]
        three = np.zeros((D, d, third, d, third, sizes[2][j]))
        for U in (U for U in effects if len(U) == 2):
            other = U[0] if U[1] == j else U[1]
            if U in nested and self._nested[U].parent == j:
                continue  # j decides: it is moved point by point
            row = self.cube.d + nested.index(U) if U in nested else other
            width_other = self.w[U].shape[1] // sizes[1][j]
            first, last = (width_other, sizes[1][j])[:: 1 if U[1] == j else -1]
            w = self.w[U].reshape(D, first, last)
            pairs[:, row, :width_other] = w if U[1] == j else np.moveaxis(w, 1, 2)
        for T in (U for U in effects if len(U) == 3):
            widths = [D, *(sizes[2][c] for c in T)]
            w = np.moveaxis(self.w[T].reshape(widths), 1 + T.index(j), -1)
            a, b = (c for c in T if c != j)
            three[:, a, : w.shape[1], b, : w.shape[2]] = w
        return (
            own,
            pairs.reshape(D, rows * size, -1) if pairs.any() else np.zeros((D, 0, 0)),
            three.reshape(D, d * third, -1) if three.any() else np.zeros((D, 0, 0)),
        )

    def _seen(self, k: IntArray) -> IntArray:
        """Places as functions see them: behind the last point where an axis is inactive."""
        if not self.cube.conditions:
            return k
        latents = np.stack([grid[k[..., j]] for j, grid in enumerate(self.grids)], axis=-1)
        active: BoolArray = self.cube.active(latents.reshape(-1, self.cube.d)).reshape(k.shape)
        return np.where(active, k, [len(grid) for grid in self.grids])


# an axis's own weights (D, m), and matrices of its pairs and of its triples; those without rows are 0
_Along = tuple[FloatArray, FloatArray, FloatArray]


def _padded(tables: list[FloatArray]) -> FloatArray:
    """Tables (points, m) as one, filled up with 0."""
    points, widest = (max(table.shape[side] for table in tables) for side in (0, 1))
    whole = np.zeros((len(tables), points, widest))
    for k, table in enumerate(tables):
        whole[k, : table.shape[0], : table.shape[1]] = table
    return whole


def _with_inactive(phi: FloatArray) -> FloatArray:
    return np.vstack([phi, np.zeros((1, phi.shape[1]))])


def _by_moving(landscape: Landscape, k: IntArray, j: int) -> FloatArray:
    """Every point of an axis by itself, which others may depend on."""
    size = len(landscape.grids[j])
    moved = np.repeat(k, size, axis=1)
    moved[..., j] = np.tile(np.arange(size), k.shape[1])
    values = landscape.at(moved).reshape(-1, k.shape[1], size)
    return np.asarray(values - np.take_along_axis(values, k[..., j, None], axis=-1))
