"""Exact averages of a product kernel over the latent measure, block by block.

A block is a set of columns whose activity depends on no column outside it (Cube.blocks), so blocks
are independent and averages multiply over them. Inside a block an average is a sum over scenarios
(Cube.scenarios) of products of one-dimensional integrals. A flat space has one column per block
and one scenario.

    columns   m          x                   a block of two: x is active where m is a
    term 1    {a}        whole               E[k] = sum over terms of
    term 2    {b, c}     None (inactive)            integral over m's part * integral over x's part

Symbols
    n            rows of X, the data the process is conditioned on
    w (n,)       E[k(X, c_i)]
    P            E[k(X, c_i) k(X, c_l)], symmetric, kept packed: entries i >= l, shape (n(n+1)/2,)
    part         a piece of an axis in which no activity changes
    term         the parts of a block's columns in one scenario, None where inactive
"""

import itertools
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from hyperlens.spaces.cube import WHOLE, Box, Cube, FloatArray, Runs, intersect, measure
from hyperlens.surrogates.gaussian_process.kernels import Factor
from hyperlens.surrogates.gaussian_process.matern import Pairs

MOST_SCENARIOS = 4096
MEMORY = 2**30  # bytes of averages that are kept
MOST_PAIRS = 2**23  # pairs of rows whose order is kept, over all columns

Part = Runs | None
Term = tuple[Part, ...]


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
    _memory: OrderedDict[Hashable, FloatArray] = field(default_factory=OrderedDict)
    _bytes: int = 0
    _paired: OrderedDict[int, Pairs] = field(default_factory=OrderedDict)
    _terms: dict[int, tuple[Term, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.n = len(self.X)
        self.rows = np.tril_indices(self.n)
        self.flat = self.rows[0] * self.n + self.rows[1]
        self.twice = np.where(self.rows[0] == self.rows[1], 1.0, 2.0)  # i > l stands for (l, i) too

    # One column

    def integral(self, column: int, part: Part) -> FloatArray:
        """w of one column over a part, shape (n,)."""

        def compute() -> FloatArray:
            return self.factors[column].integral(self.X[:, column], part)

        return self.once(("w", column, part), compute)

    def product(self, column: int, part: Part) -> FloatArray:
        """P of one column over a part, packed."""

        def compute() -> FloatArray:
            return self.factors[column].product(self.X[:, column], self._pairs(column), part)

        if len(self.cube.blocks[self._place[column][0]]) == 1:  # kept as the average of its block
            return compute()
        return self.once(("P", column, part), compute)

    def parts(self, column: int) -> tuple[Runs, ...]:
        """Pieces of an axis in which no activity changes; they cover it."""
        block, index = self._place[column]
        pieces = dict.fromkeys(term[index] for term in self.terms(block))
        return tuple(part for part in pieces if part is not None) or (WHOLE,)

    # One block

    def terms(self, block: int) -> tuple[Term, ...]:
        """Scenarios of a block, in the order of its columns."""
        if block not in self._terms:
            columns = self.cube.blocks[block]
            scenarios = itertools.islice(self.cube.scenarios(columns), MOST_SCENARIOS + 1)
            terms = tuple(scenario.runs for scenario in scenarios)
            if len(terms) > MOST_SCENARIOS:
                raise ValueError(
                    f"columns {list(columns)} depend on each other in more than {MOST_SCENARIOS} "
                    "ways: exact averages are not feasible, use the forest"
                )
            self._terms[block] = terms
        return self._terms[block]

    def weights(self, block: int) -> FloatArray:
        """w of all columns of a block, over the whole space."""
        columns, terms = self.cube.blocks[block], self.terms(block)
        return self.once(("weights", block), lambda: sum_of_products(columns, terms, self.integral))

    def average(self, block: int, at: dict[int, Runs], region: Box) -> Average | None:
        """Over a block, given that the columns of `at` are active in these parts and that the
        columns of `region` are active inside it; None if that never happens."""
        columns = self.cube.blocks[block]
        terms = _restrict(columns, self.terms(block), at, region)
        if not terms:
            return None
        rest = tuple(c for c in columns if c not in at)
        size = float(sum_of_products(rest, terms, lambda _, part: np.array(_size(part))))
        key = (block, rest, terms)
        w = self.once(("w", key), lambda: sum_of_products(rest, terms, self.integral) / size)
        P = self.once(("P", key), lambda: sum_of_products(rest, terms, self.product) / size)
        double = self.once(("double", key), lambda: self._double(rest, terms) / size**2)
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

    # What is kept

    def once(self, key: Hashable, compute: Callable[[], FloatArray]) -> FloatArray:
        """An array, computed once while memory lasts; what was unused longest goes first."""
        if key in self._memory:
            self._memory.move_to_end(key)
            return self._memory[key]
        value = self._memory[key] = compute()
        self._bytes += value.nbytes
        while self._bytes > MEMORY:
            self._bytes -= self._memory.popitem(last=False)[1].nbytes
        return value

    def _pairs(self, column: int) -> Pairs:
        """The column's pairs of rows; those of the columns used last are kept."""
        if column not in self._paired:
            while len(self._paired) * len(self.flat) > MOST_PAIRS:
                self._paired.popitem(last=False)
            x = self.X[:, column]
            self._paired[column] = Pairs(np.where(np.isnan(x), 0.0, x), *self.rows)
        self._paired.move_to_end(column)
        return self._paired[column]

    @cached_property
    def _place(self) -> dict[int, tuple[int, int]]:
        """Block of each column and its position there."""
        blocks = enumerate(self.cube.blocks)
        return {c: (block, i) for block, members in blocks for i, c in enumerate(members)}


def _size(part: Part) -> float:
    return 1.0 if part is None else measure(part)


def _restrict(
    columns: tuple[int, ...], terms: tuple[Term, ...], at: dict[int, Runs], region: Box
) -> tuple[Term, ...]:
    """Terms in which the columns of `at` lie in their parts, without these columns, the others cut
    to the region; a term leaves if a column of the region is inactive or misses it."""
    restricted = []
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
            restricted.append(tuple(rest))
    return tuple(restricted)


def sum_of_products(
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
    values = []
    for following, same in heads.items():
        value = sum(factor(columns[0], part) for part in same)
        if len(columns) > 1:
            value = value * sum_of_products(columns[1:], following, factor)
        values.append(value)
    return np.asarray(sum(values))
