"""The effects that an additive kernel is a sum of: of one axis, of pairs, of triples.

On a space without conditions the effect f_U of axes U is a sum over products of their functions. With
conditions it is so where all of U are active, and 0 elsewhere; its weight in the variance is how often
that is. Where one axis of a pair decides whether the other is active, the first is looked at only where
the second is active, so that a child whose parent must have one value has no pair with it. Then all
effects are orthogonal, and a child has one effect of its own. Triples are taken among axes that decide
nothing.

Symbols
    d        axes
    q        order of an effect: how many axes it has
    phi      functions of an axis at rows (n, m), 0 where inactive (basis.py)
    P        probability over the space that all axes of an effect are active
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice

import numpy as np

from hyperlens.spaces.cube import BoolArray, Cube, FloatArray, IntArray, Runs
from hyperlens.surrogates.additive.basis import Basis
from hyperlens.surrogates.gaussian_process import averages

MAIN_SIZE = 16  # functions of an ordered axis in its own effect
# functions of an ordered axis in pairs and in triples: the first that fits
PAIR_SIZES, TRIPLE_SIZES = (16, 12, 8, 6, 4, 3, 2), (8, 6, 4, 3, 2)
MOST_PAIR_WEIGHTS, MOST_TRIPLE_WEIGHTS = 2000, 3000
MANY_LEVELS = 30  # of a category, beyond which it has no pairs where there are too many weights

Effect = tuple[int, ...]


@dataclass(frozen=True)
class Nested:
    """A pair of which `parent` decides whether `child` is active: its functions where that is so."""

    parent: int
    child: int
    basis: Basis


@dataclass(frozen=True)
class Rows:
    """phi of each axis at some rows, and those of the parents in nested pairs."""

    phi: tuple[FloatArray, ...]
    nested: dict[Effect, FloatArray]

    def __len__(self) -> int:
        return len(self.phi[0])

    def part(self, which: slice) -> Rows:
        """Some of them."""
        nested = {U: phi[which] for U, phi in self.nested.items()}
        return Rows(tuple(phi[which] for phi in self.phi), nested)


@dataclass(frozen=True)
class Components:
    """Effects of at most three axes of a cube."""

    cube: Cube

    @property
    def d(self) -> int:
        return self.cube.d

    @cached_property
    def bases(self) -> tuple[Basis, ...]:
        return tuple(Basis(axis, MAIN_SIZE) for axis in self.cube.axes)

    @cached_property
    def deciding(self) -> frozenset[int]:
        """Axes on which the activity of another depends."""
        return frozenset(p for c in range(self.d) for p in self.cube.parents(c))

    @cached_property
    def nested(self) -> dict[Effect, Nested]:
        """Pairs of an axis with one that it decides about."""
        size = max(self.sizes[1], default=0)
        found: dict[Effect, Nested] = {}
        for child in range(self.d):
            for parent in self.cube.ancestors(child):
                basis = Basis(self.cube.axes[parent], size, self._where(parent, child))
                found[min(parent, child), max(parent, child)] = Nested(parent, child, basis)
        return found

    def _where(self, parent: int, child: int) -> Runs:
        """The part of the parent's axis in which the child can be active."""
        found: set[tuple[float, float]] = set()
        for scenario in self.cube.scenarios((*self.cube.ancestors(child), child)):
            runs = dict(zip(scenario.columns, scenario.runs, strict=True))
            if runs[child] is not None:
                found.update(runs[parent] or ())
        merged: list[tuple[float, float]] = []
        for low, high in sorted(found):
            if merged and low <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
            else:
                merged.append((low, high))
        return tuple(merged)

    @cached_property
    def sizes(self) -> tuple[tuple[int, ...], ...]:
        """How many functions of each axis there are in effects of one, two and three axes."""
        own = np.array([len(b) for b in self.bases], dtype=int)
        category = np.array([not b.axis.ordered for b in self.bases], dtype=bool)
        decides = np.isin(np.arange(self.d), list(self.deciding))
        pairs = triples = np.zeros(self.d, dtype=int)
        for size in PAIR_SIZES:
            pairs = np.where(category, own, np.minimum(own, size))
            if _weights(pairs, 2) <= MOST_PAIR_WEIGHTS:
                break
        else:  # a category of very many levels is by itself
            many = category & (own > MANY_LEVELS)
            pairs = np.where(many, 0, pairs)
        for size in TRIPLE_SIZES:
            triples = np.where(decides | (own > size) & category, 0, np.minimum(own, size))
            if _weights(triples, 3) <= MOST_TRIPLE_WEIGHTS:
                break
        else:
            triples = np.zeros(self.d, dtype=int)
        return tuple(own.tolist()), tuple(pairs.tolist()), tuple(triples.tolist())

    @cached_property
    def effects(self) -> tuple[Effect, ...]:
        """Those that can be other than 0, by their order."""
        found: list[Effect] = []
        for q in (1, 2, 3):
            taking_part = [j for j in range(self.d) if self.sizes[q - 1][j]]
            for U in combinations(taking_part, q):
                if self.width(U) and self.probability(U) > 0:
                    found.append(U)
        return tuple(found)

    def width(self, U: Effect) -> int:
        """Weights of an effect."""
        widths = [self.sizes[len(U) - 1][j] for j in U]
        if U in self.nested:
            nested = self.nested[U]
            widths[U.index(nested.parent)] = len(nested.basis)
        return math.prod(widths)

    def probability(self, U: Effect) -> float:
        """P."""
        if not self.cube.conditions:
            return 1.0
        return math.prod(
            float(weights[active[:, [columns[j] for j in U if j in columns]].all(axis=1)].sum())
            for columns, active, weights in self._activity
            if not columns.keys().isdisjoint(U)
        )

    @cached_property
    def _activity(self) -> list[tuple[dict[int, int], BoolArray, FloatArray]]:
        """Of each block of columns: their places, which are active in each scenario, its weight."""
        known = []
        for block in self.cube.blocks:
            scenarios = list(islice(self.cube.scenarios(block), averages.MOST_SCENARIOS + 1))
            if len(scenarios) > averages.MOST_SCENARIOS:
                raise ValueError(
                    f"columns {list(block)} depend on each other in more than "
                    f"{averages.MOST_SCENARIOS} ways: exact averages are not feasible, use the forest"
                )
            active = np.array([[part is not None for part in s.runs] for s in scenarios])
            places = {c: k for k, c in enumerate(scenarios[0].columns)}
            known.append((places, active, np.array([s.weight for s in scenarios])))
        return known

    @cached_property
    def among(self) -> tuple[int, int, int]:
        """How many effects of each order share their variance."""
        taking_part = sum(size > 0 for size in self.sizes[2])
        return self.d, max(math.comb(self.d, 2), 1), max(math.comb(taking_part, 3), 1)

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """Where the weights of each effect lie in the vector of all: ends[k] to ends[k + 1]."""
        return (0, *np.cumsum([self.width(U) for U in self.effects]).tolist())

    def rows(self, X: FloatArray) -> Rows:
        """phi at vectors X (n, d)."""
        phi = tuple(b.at(X[:, j]) for j, b in enumerate(self.bases))
        nested = {U: n.basis.at(X[:, n.parent]) for U, n in self.nested.items() if len(n.basis)}
        return Rows(phi, nested)

    def parts(self, rows: Rows, U: Effect) -> list[FloatArray]:
        """phi of each axis of an effect as they are in it, (n, m) each."""
        parts = [rows.phi[j][:, : self.sizes[len(U) - 1][j]] for j in U]
        if U in rows.nested:
            parts[U.index(self.nested[U].parent)] = rows.nested[U]
        return parts

    def features(self, rows: Rows, effects: tuple[Effect, ...] | None = None) -> FloatArray:
        """Products of functions, one column a weight, (n, weights), of all effects or of some."""
        if effects is not None:
            columns = [products(self.parts(rows, U)) for U in effects]
            return np.hstack(columns) if columns else np.zeros((len(rows), 0))
        phi = np.hstack([*rows.phi, *rows.nested.values()])
        found = phi[:, self._factors[0]]
        for q in (1, 2):  # effects are in their order, so those of more axes come last
            later = self._factors[q]
            found[:, found.shape[1] - len(later) :] *= phi[:, later]
        return found

    def function_of(self, j: int) -> IntArray:
        """Which function of axis j each weight's product has; -1 if none."""
        first = sum(len(b) for b in self.bases[:j])
        found = np.full(self.ends[-1], -1)
        for factor in self._factors:
            mine = (factor >= first) & (factor < first + len(self.bases[j]))
            found[len(found) - len(factor) :][mine] = factor[mine] - first
        return found

    @cached_property
    def _factors(self) -> tuple[IntArray, IntArray, IntArray]:
        """Of each weight the column of phi that its first, second and third factor is."""
        widths = [len(b) for b in self.bases]
        widths += [len(n.basis) for n in self.nested.values() if len(n.basis)]
        starts = np.cumsum([0, *widths])
        nested = [U for U, n in self.nested.items() if len(n.basis)]
        factors: tuple[list[IntArray], ...] = ([], [], [])
        for U in self.effects:
            columns = [starts[j] + np.arange(self.sizes[len(U) - 1][j]) for j in U]
            if U in nested:
                start, size = starts[self.d + nested.index(U)], len(self.nested[U].basis)
                columns[U.index(self.nested[U].parent)] = start + np.arange(size)
            for q, factor in enumerate(np.meshgrid(*columns, indexing="ij")):
                factors[q].append(factor.ravel())
        first, second, third = (np.concatenate([*f, np.zeros(0)]).astype(int) for f in factors)
        return first, second, third


def products(parts: list[FloatArray]) -> FloatArray:
    """All products of a column of each part, the last part's fastest, (n, product of widths)."""
    total = parts[0]
    for part in parts[1:]:
        width = total.shape[1] * part.shape[1]
        total = (total[:, :, None] * part[:, None, :]).reshape(len(part), width)
    return total


def _weights(sizes: FloatArray, q: int) -> float:
    """Sum over all sets of q axes of the product of their sizes, by power sums."""
    p1, p2, p3 = (float((sizes.astype(float) ** k).sum()) for k in (1, 2, 3))
    return (p1**2 - p2) / 2 if q == 2 else (p1**3 - 3 * p1 * p2 + 2 * p3) / 6
