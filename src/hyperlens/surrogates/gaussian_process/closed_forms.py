"""Exact averages of a Gaussian process over the latent measure: partial dependence and ANOVA.

A block is a set of columns whose activity depends on no column outside it (Cube.blocks), so blocks
are independent and averages multiply over them. Inside a block an average is a sum over scenarios
(Cube.scenarios) of products of one-dimensional integrals. A flat space has one column per block
and one scenario.

Symbols
    n            rows of X, the data the process is conditioned on
    S, T         explained columns; those of them in one block
    s, v         1 - g and the total variance: the latent function has variance s v
    beta, Q      R^-1 (y - mu) and R^-1; the posterior mean is mu + s sum_i beta_i k(x, c_i)
    w (n,)       E[k(X, c_i)]
    P            E[k(X, c_i) k(X, c_l)], symmetric, kept packed: entries i >= l, shape (n(n+1)/2,)
    part         a piece of an axis in which no activity changes
    term         the parts of a block's columns in one scenario, None where inactive
"""

from __future__ import annotations

import itertools
import math
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np

from hyperlens.spaces.cube import (
    WHOLE,
    Box,
    Cube,
    FloatArray,
    IntArray,
    Runs,
    contains,
    intersect,
    measure,
)
from hyperlens.surrogates.gaussian_process.kernels import Factor, Pairs

MOST_SCENARIOS = 4096
MEMORY = 2**30  # bytes of averages that are kept
MOST_PAIRS = 2**23  # pairs of rows whose order is kept, over all columns

Part = Runs | None
Term = tuple[Part, ...]


@dataclass(frozen=True)
class Posterior:
    """A conditioned process; see the symbols above."""

    trend: float
    variance: float
    signal: float
    beta: FloatArray
    inverse: FloatArray  # (n, n)


@dataclass(frozen=True)
class Marginal:
    """Partial dependence on a grid of g points, in the units of the costs; nan at a point where
    the explained columns cannot all be active.

    `mean`: the posterior mean averaged over the other columns. `joint`: the variance of that
    average (Moosbauer et al. 2021 Eq. 4), without the nugget, which averages out. `pointwise`: the average of the
    predictive variances (Moosbauer et al. 2021 Eq. 5), with the nugget, as `GP.predict` gives them.
    """

    mean: FloatArray
    joint: FloatArray
    pointwise: FloatArray


@dataclass(frozen=True)
class Average:
    """Of the kernel of a block's columns that are averaged over: E[k(X,c)], P and E[k(X,X')]; the
    first two are single ones where no column is left."""

    w: FloatArray
    P: FloatArray
    double: float


@dataclass
class Averages:
    """Averages of a kernel that is a product of `factors` over `cube`, at the data X."""

    cube: Cube
    factors: Sequence[Factor]
    X: FloatArray
    _kept: OrderedDict[Hashable, FloatArray] = field(default_factory=OrderedDict)
    _bytes: int = 0
    _paired: OrderedDict[int, Pairs] = field(default_factory=OrderedDict)
    _terms: dict[int, tuple[Term, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.n = len(self.X)
        self.rows = np.tril_indices(self.n)
        self.flat = self.rows[0] * self.n + self.rows[1]
        self.twice = np.where(self.rows[0] == self.rows[1], 1.0, 2.0)  # i > l stands for (l, i) too

    # One column, one block

    def integral(self, column: int, part: Part) -> FloatArray:
        def compute() -> FloatArray:
            return self.factors[column].integral(self.X[:, column], part)

        return self._keep(("w", column, part), compute)

    def product(self, column: int, part: Part) -> FloatArray:
        def compute() -> FloatArray:
            return self.factors[column].product(self.X[:, column], self._pairs(column), part)

        if len(self.cube.blocks[self._place(column)[0]]) == 1:  # kept as the average of its block
            return compute()
        return self._keep(("P", column, part), compute)

    def terms(self, block: int) -> tuple[Term, ...]:
        """Scenarios of a block, in the order of its columns."""
        if block not in self._terms:
            columns = self.cube.blocks[block]
            found = tuple(
                scenario.runs
                for scenario in itertools.islice(self.cube.scenarios(columns), MOST_SCENARIOS + 1)
            )
            if len(found) > MOST_SCENARIOS:
                raise ValueError(
                    f"columns {list(columns)} depend on each other in more than {MOST_SCENARIOS} "
                    "ways: exact averages are not feasible, use the forest"
                )
            self._terms[block] = found
        return self._terms[block]

    def parts(self, column: int) -> tuple[Runs, ...]:
        """Pieces of an axis in which no activity changes; they cover it."""
        block, index = self._place(column)
        seen = dict.fromkeys(term[index] for term in self.terms(block))
        return tuple(part for part in seen if part is not None) or (WHOLE,)

    def weights(self, block: int) -> FloatArray:
        """w of all columns of a block, over the whole space."""
        columns, terms = self.cube.blocks[block], self.terms(block)
        return self._keep(("weights", block), lambda: _sum(columns, terms, self.integral))

    def average(self, block: int, at: dict[int, Runs], region: Box) -> Average | None:
        """Over a block, given that the columns of `at` are active in these parts and that the
        columns of `region` are active inside it; None if that never happens."""
        columns = self.cube.blocks[block]
        terms = _restrict(columns, self.terms(block), at, region)
        if not terms:
            return None
        rest = tuple(c for c in columns if c not in at)
        size = float(_sum(rest, terms, lambda _, part: np.array(_size(part))))
        key = (block, rest, terms)
        w = self._keep(("w", key), lambda: _sum(rest, terms, self.integral) / size)
        P = self._keep(("P", key), lambda: _sum(rest, terms, self.product) / size)
        double = self._keep(("double", key), lambda: self._double(rest, terms) / size**2)
        return Average(w, P, float(double))

    def _double(self, columns: tuple[int, ...], terms: tuple[Term, ...]) -> FloatArray:
        """Sum over pairs of terms of the double integrals."""
        total = np.ones((len(terms), len(terms)))
        for j, c in enumerate(columns):
            distinct = list(dict.fromkeys(term[j] for term in terms))
            table = np.array([[self.factors[c].double(p, q) for q in distinct] for p in distinct])
            index = [distinct.index(term[j]) for term in terms]
            total *= table[np.ix_(index, index)]
        return np.asarray(total.sum())

    # Partial dependence

    def partial_dependence(
        self, posterior: Posterior, columns: tuple[int, ...], grid: FloatArray, region: Box
    ) -> Marginal:
        """See Marginal. Grid points that lie in the same parts share one average."""
        grid = np.column_stack([self.cube.axes[c].snap(grid[:, j]) for j, c in enumerate(columns)])
        parts = [self.parts(c) for c in columns]
        labels = np.column_stack([_label(p, grid[:, j]) for j, p in enumerate(parts)])
        others = {c: runs for c, runs in region.items() if c not in columns}
        result = np.full((3, len(grid)), np.nan)
        for label in np.unique(labels, axis=0):
            at = {c: parts[j][label[j]] for j, c in enumerate(columns)}
            here = np.all(labels == label, axis=1)
            result[:, here] = self._dependence(posterior, columns, grid[here], at, others)
        return Marginal(*result)

    def _dependence(
        self,
        posterior: Posterior,
        columns: tuple[int, ...],
        grid: FloatArray,
        at: dict[int, Runs],
        region: Box,
    ) -> FloatArray:
        """Mean, joint and pointwise variance, shape (3, g).

        With u_i = prod_S k_j(x_j, c_ij), b = u w: mu + s b'beta, v (s E[k(X,X')] - s^2 b'Qb) and
        v (1 - s^2 sum_il Q_il P_il u_i u_l).
        """
        w, P, double = np.ones(self.n), posterior.inverse.ravel()[self.flat] * self.twice, 1.0
        for block, members in enumerate(self.cube.blocks):
            fixed = {c: part for c, part in at.items() if c in members}
            average = self.average(block, fixed, region)
            if average is None:
                return np.full((3, 1), np.nan)
            w *= average.w
            P *= average.P
            double *= average.double
        u = np.ones((len(grid), self.n))
        for j, c in enumerate(columns):
            u *= self.factors[c].value(grid[:, j, None], self.X[None, :, c])
        b, s, v = u * w, posterior.signal, posterior.variance
        lower = np.zeros(self.n * self.n)
        lower[self.flat] = P
        quadratic = np.einsum("gi,gi->g", u @ lower.reshape(self.n, self.n), u)
        joint = s * double - s**2 * np.einsum("gi,gi->g", b @ posterior.inverse, b)
        return np.stack(
            [
                posterior.trend + s * (b @ posterior.beta),
                v * np.maximum(joint, 0),
                v * np.maximum(1 - s**2 * quadratic, 0),
            ]
        )

    # Functional ANOVA of the posterior mean

    def total(self, posterior: Posterior) -> float:
        """V, the variance of the posterior mean: s^2 (beta' P beta - (beta' w)^2)."""
        beta = posterior.signal * posterior.beta
        P, w = beta[self.rows[0]] * beta[self.rows[1]] * self.twice, beta
        for block in range(len(self.cube.blocks)):
            average = self.average(block, {}, {})
            assert average is not None
            P, w = P * average.P, w * average.w
        return max(float(P.sum() - w.sum() ** 2), 0.0)

    def effects(self, posterior: Posterior, order: int) -> dict[tuple[int, ...], float]:
        """V_U for every U of at most `order` columns.

        V_U = sum_il a_i a_l prod_(blocks B that meet U) C_B[i,l], a = s beta prod_(other blocks) w,
        where C_B is the covariance of E[k(X,c_i) | U] and E[k(X,c_l) | U], main effects removed.
        """
        blocks = self.cube.blocks
        block_of = {c: b for b, members in enumerate(blocks) for c in members}
        w = [self.weights(b) for b in range(len(blocks))]
        found: dict[tuple[int, ...], float] = {}
        for size in range(1, order + 1):
            for U in itertools.combinations(range(self.cube.d), size):
                touched = sorted({block_of[c] for c in U})
                product = self.twice
                for b in touched:
                    covariance = self._covariance(b, tuple(c for c in U if block_of[c] == b))
                    product = product * covariance
                a = posterior.signal * posterior.beta
                a = math.prod((w[b] for b in range(len(blocks)) if b not in touched), start=a)
                value = np.einsum("m,m,m->", product, a[self.rows[0]], a[self.rows[1]])
                found[U] = max(float(value), 0.0)
        return found

    def _covariance(self, block: int, T: tuple[int, ...]) -> FloatArray:
        """C_B for U and B in common T, packed; one 0 where columns are never active together,
        for then the two only add."""
        index = [self.cube.blocks[block].index(c) for c in T]
        if not any(all(term[i] is not None for i in index) for term in self.terms(block)):
            return np.zeros(1)

        def compute() -> FloatArray:
            w = self.weights(block)
            C = self._second_moment(block, T) - w[self.rows[0]] * w[self.rows[1]]
            for size in range(1, len(T)):
                for smaller in itertools.combinations(T, size):
                    C = C - self._covariance(block, smaller)
            return C

        return self._keep(("covariance", block, T), compute)

    def _second_moment(self, block: int, T: tuple[int, ...]) -> FloatArray:
        """E[h_i h_l], h_i = E[k(X, c_i) | latents of T], packed.

        Within one cell of the latents of T (a part for each), h_i is a sum over the patterns of
        activity of T: what the other columns average to, times the factors of T.
        """
        columns = self.cube.blocks[block]
        index = [columns.index(c) for c in T]
        rest = tuple(c for c in columns if c not in T)
        total = np.zeros(len(self.flat))
        for cell in itertools.product(*(self.parts(c) for c in T)):
            patterns: dict[tuple[bool, ...], list[Term]] = {}
            for term in self.terms(block):
                if all(term[i] in (None, part) for i, part in zip(index, cell, strict=True)):
                    others = tuple(p for i, p in enumerate(term) if i not in index)
                    activity = tuple(term[i] is not None for i in index)
                    patterns.setdefault(activity, []).append(others)
            h = {a: _sum(rest, tuple(terms), self.integral) for a, terms in patterns.items()}
            for first, second in itertools.product(h, repeat=2):
                left, right, both = h[first], h[second], np.array(1.0)
                for c, part, on, on_other in zip(T, cell, first, second, strict=True):
                    if on and on_other:
                        both = both * self.product(c, part)
                        continue
                    left = left * self.integral(c, part if on else None)
                    right = right * self.integral(c, part if on_other else None)
                    if not on and not on_other:
                        right = right * measure(part)
                left, right = np.broadcast_to(left, self.n), np.broadcast_to(right, self.n)
                total += both * left[self.rows[0]] * right[self.rows[1]]
        return total

    def _pairs(self, column: int) -> Pairs:
        """The column's pairs of rows; those of the columns used last are kept."""
        if column not in self._paired:
            while len(self._paired) * len(self.flat) > MOST_PAIRS:
                self._paired.popitem(last=False)
            x = self.X[:, column]
            self._paired[column] = Pairs(np.where(np.isnan(x), 0.0, x), *self.rows)
        self._paired.move_to_end(column)
        return self._paired[column]

    def _place(self, column: int) -> tuple[int, int]:
        """Block of a column and its position there."""
        for block, members in enumerate(self.cube.blocks):
            if column in members:
                return block, members.index(column)
        raise ValueError(f"column {column} is not one of the {self.cube.d} columns")

    def _keep(self, key: Hashable, compute: Callable[[], FloatArray]) -> FloatArray:
        """An array, computed once while memory lasts; what was unused longest goes first."""
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        value = self._kept[key] = compute()
        self._bytes += value.nbytes
        while self._bytes > MEMORY:
            self._bytes -= self._kept.popitem(last=False)[1].nbytes
        return value


def _size(part: Part) -> float:
    return 1.0 if part is None else measure(part)


def _label(parts: Sequence[Runs], x: FloatArray) -> IntArray:
    """Which part each number lies in."""
    return np.asarray(np.argmax([contains(part, x) for part in parts], axis=0), dtype=np.int64)


def _restrict(
    columns: tuple[int, ...], terms: tuple[Term, ...], at: dict[int, Runs], region: Box
) -> tuple[Term, ...]:
    """Terms in which the columns of `at` lie in their parts, without these columns, the others cut
    to the region; a term leaves if a column of the region is inactive or misses it."""
    kept = []
    for term in terms:
        rest: list[Part] = []
        for c, part in zip(columns, term, strict=True):
            if c in at:
                if part != at[c]:
                    break
            elif c in region:
                common = () if part is None else intersect(part, region[c])
                if not common:
                    break
                rest.append(common)
            else:
                rest.append(part)
        else:
            kept.append(tuple(rest))
    return tuple(kept)


def _sum(
    columns: tuple[int, ...], terms: tuple[Term, ...], factor: Callable[[int, Part], FloatArray]
) -> FloatArray:
    """Sum over terms of the product over columns of factor(column, part).

    Parts of the first column that are followed by the same tails are added before they are
    multiplied, so columns that do not influence each other cost a product and not a sum of many.
    """
    if not columns:
        return np.array(float(len(terms)))
    tails: dict[Part, list[Term]] = {}
    for term in terms:
        tails.setdefault(term[0], []).append(term[1:])
    heads: dict[tuple[Term, ...], list[Part]] = {}
    for part, tail in tails.items():
        heads.setdefault(tuple(tail), []).append(part)
    total: FloatArray | None = None
    for following, same in heads.items():
        value = factor(columns[0], same[0])
        for part in same[1:]:
            value = value + factor(columns[0], part)
        if len(columns) > 1:
            value = value * _sum(columns[1:], following, factor)
        total = value if total is None else total + value
    assert total is not None
    return total
