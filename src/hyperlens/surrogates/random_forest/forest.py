"""A random forest on the unit cube: scikit-learn's trees, their leaves seen as latent boxes.

Symbols
    n, d     rows and axes of X
    T        number of trees
    f_t      prediction of tree t, piecewise constant on its leaves (Hutter et al. 2014, Eq. 3)
    V_U      variance of the component of f_t that belongs to the set U of axes (Eq. 6)
    V        variance of f_t over the latents (Eq. 5)
"""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from threading import Thread
from typing import Any, Self

import numpy as np

from hyperlens.spaces.cube import BoolArray, Box, Cube, FloatArray, IntArray
from hyperlens.spaces.points import configurations_of
from hyperlens.surrogates.random_forest.leaves import Encoding

MANY = 60  # axes above which pairs that never meet are not listed
CHUNK = 1024  # rows that are predicted at once
MOST_PAIRS = 2 * 10**7  # pairs of leaves whose common measure is computed: about half a second


@dataclass(frozen=True)
class TreeShares:
    """V_U / V of each tree that has any variance."""

    effects: tuple[tuple[int, ...], ...]  # the sets U of axes
    shares: FloatArray  # (trees, effects)
    flat: int  # trees left out because they predict the same everywhere


class Forest:
    """Bagged regression trees; a prediction's spread is that between trees and within leaves.

    The trees are those of scikit-learn's RandomForestRegressor with this seed, if no configuration is
    there twice; else a bag holds all rows of a configuration or none, so that a tree that has not seen
    it has not seen its repeats. They are grown one by one
    because that class changes the process's warning filters in every thread it uses.

    Columns are put into an order that depends on their content alone, so that neither renaming nor
    reordering parameters changes a tree.

    >>> X = np.random.default_rng(0).random((50, 2))
    >>> mean, std = Forest(trees=8).fit(X, X[:, 0]).predict(X[:3])
    >>> mean.shape, std.shape
    ((3,), (3,))
    """

    def __init__(
        self,
        cube: Cube | None = None,
        trees: int = 64,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.cube = cube
        self.trees = trees
        self.seed = seed
        self.threads = threads or os.cpu_count() or 1

    def fit(self, X: FloatArray, y: FloatArray) -> Self:
        self.X, self.y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
        if not np.isfinite(self.y).all():
            raise ValueError("costs must be finite numbers")
        columns = np.ascontiguousarray(self.encoding.apply(self.X))
        self._which = configurations_of(self.X)  # a number for each row
        draw = np.random.RandomState(self.seed)
        seeds = [int(draw.randint(np.iinfo(np.int32).max)) for _ in range(self.trees)]

        def grow(seed: int) -> Any:
            from sklearn.tree import DecisionTreeRegressor

            tree = DecisionTreeRegressor(random_state=seed)
            return tree.fit(columns, self.y, sample_weight=self._drawn(seed), check_input=False)

        self.seeds = seeds
        with ThreadPoolExecutor(self.threads) as pool:
            self.estimators = list(pool.map(grow, seeds))
        self._nodes = self._in_a_row()
        return self

    @cached_property
    def encoding(self) -> Encoding:
        cube = Cube.continuous(self.X.shape[1]) if self.cube is None else self.cube
        plain = Encoding(cube)
        return Encoding(cube, np.lexsort(plain.apply(self.X)))

    def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation at vectors (n, d), by the law of total variance over trees."""
        columns = self.encoding.apply(np.asarray(X, dtype=float))
        return self._combine(columns, np.ones((self.trees, len(columns)), dtype=bool))

    def holdout(self, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """Prediction at training rows by the trees that have not seen their configurations (out of bag).

        A row that every tree has seen is predicted by the mean of all costs.
        """
        unseen = np.array([self._drawn(seed) == 0 for seed in self.seeds])
        return self._combine(self.encoding.apply(self.X[rows]), unseen[:, rows])

    def _drawn(self, seed: int) -> FloatArray:
        """How often each row is in a tree's bag, which draws configurations with all of their rows."""
        count = int(self._which.max(initial=-1)) + 1
        return np.asarray(np.bincount(_bag(seed, count), minlength=count)[self._which], float)

    def _combine(self, columns: Any, voting: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Mean and spread of the trees that vote (trees, n) on tree columns (n, c)."""
        parts = [
            self._combined(columns[at : at + CHUNK], voting[:, at : at + CHUNK])
            for at in range(0, max(len(columns), 1), CHUNK)
        ]
        mean, std = (np.concatenate(each) for each in zip(*parts, strict=True))
        return mean, std

    def _combined(self, columns: Any, voting: BoolArray) -> tuple[FloatArray, FloatArray]:
        first, values, impurities = self._nodes
        leaves = np.array([tree.apply(columns) for tree in self._trees()]) + first[:, None]
        value = values[leaves]
        total = _sum(voting * value)
        square = _sum(voting * value**2)
        within = _sum(voting * impurities[leaves])
        count = voting.sum(axis=0)
        some = np.maximum(count, 1)
        mean = total / some
        variance = np.maximum(square / some - mean**2 + within / some, 0.0)
        std = np.sqrt(np.where(count > 0, variance, self.y.var()))
        return mean + self.y.mean(), std

    def _in_a_row(self) -> tuple[IntArray, FloatArray, FloatArray]:
        """Of the nodes of all trees, one after the other: where each tree begins, the predictions less
        the mean of all costs, and the variances within (rounding can pass below 0)."""
        trees = list(self._trees())
        first = np.cumsum([0, *(tree.node_count for tree in trees[:-1])])
        values = np.concatenate([tree.value[:, 0, 0] for tree in trees]) - float(self.y.mean())
        within = np.concatenate([tree.impurity for tree in trees])
        return first, values, np.asarray(np.maximum(within, 0.0))

    def shares(
        self, order: int = 2, effects: tuple[tuple[int, ...], ...] | None = None
    ) -> TreeShares:
        """F_U = V_U / V of every tree, exact under the latent product measure (Hutter et al. 2014,
        Algorithm 2).

        With many axes only those pairs are listed that some tree splits on together; all others are
        exactly zero. `effects` asks for a list of one's own.
        """
        from hyperlens.surrogates.random_forest import anova

        d = self.encoding.cube.d
        if effects is None and order > 2:
            effects = tuple(u for k in range(1, order + 1) for u in combinations(range(d), k))
        triples = np.array([u for u in effects or () if len(u) == 3], dtype=np.int64).reshape(-1, 3)

        def one(tree: Any) -> tuple[FloatArray, FloatArray] | None:
            boxes = self.encoding.boxes(tree)
            _, variance, parts = anova.shares(boxes, order)
            if variance <= 0:
                return None
            three = anova.triples(boxes, triples) if len(triples) else np.empty(0)
            return parts / variance, three / variance  # line 11

        trees = [shares for shares in self._each(one) if shares is not None]
        if effects is None:
            together = np.ones((d, d), dtype=bool)
            if d > MANY and trees:
                together = np.any([parts > 0 for parts, _ in trees], axis=0)
            pairs = zip(*np.nonzero(np.triu(together, 1)), strict=True) if order > 1 else ()
            effects = (*((j,) for j in range(d)), *((int(i), int(j)) for i, j in pairs))
        low = [u for u in effects if len(u) < 3]
        first, second = [u[0] for u in low], [u[-1] for u in low]
        shares = [np.concatenate([parts[first, second], three]) for parts, three in trees]
        varied = np.array(shares).reshape(len(trees), len(effects))
        return TreeShares(effects, varied, self.trees - len(trees))

    def marginals(
        self, columns: tuple[int, ...], grid: FloatArray, region: Box | None = None
    ) -> FloatArray:
        """Each tree's average over all other axes at grid points (g, len(columns)); shape (T, g).

        Conditional axes among `columns` and in `region` are taken as active (Moosbauer et al. 2021,
        Appendix B), and the average is over the region only.
        """
        from hyperlens.surrogates.random_forest import anova
        from hyperlens.surrogates.random_forest.boxes import grid_cells, within

        others = {j: runs for j, runs in (region or {}).items() if j not in columns}

        def one(tree: Any) -> FloatArray:
            boxes = within(self.encoding.boxes(tree, (*columns, *others)), others)
            return np.asarray(
                anova.marginal(boxes, np.array(columns), grid_cells(boxes, columns, grid))
            )

        return np.array(self._each(one))

    @property
    def small(self) -> bool:
        """Whether `pointwise` takes no longer than sampling would."""
        leaves = sum(int((tree.children_left < 0).sum()) for tree in self._trees())
        return leaves**2 <= 2 * MOST_PAIRS

    def pointwise(
        self, columns: tuple[int, ...], grid: FloatArray, region: Box | None = None
    ) -> FloatArray:
        """The average over all other axes of the variance that `predict` gives, exact, shape (g,).

        By the law of total variance: E[value^2 + impurity] of each tree, less the mean of the product
        of every two trees, which looks at every two leaves.
        """
        from hyperlens.surrogates.random_forest import anova, tree_products
        from hyperlens.surrogates.random_forest.boxes import grid_cells, within

        others = {j: runs for j, runs in (region or {}).items() if j not in columns}
        centre = float(self.y.mean())

        def one(tree: Any) -> tuple[FloatArray, tree_products.Parts]:
            value = tree.value[:, 0, 0] - centre
            boxes = self.encoding.boxes(tree, (*columns, *others), value)
            cells = grid_cells(boxes, columns, grid)
            square = value**2 + np.maximum(tree.impurity, 0.0)
            squares = within(self.encoding.boxes(tree, (*columns, *others), square), others)
            spread = anova.marginal(squares, np.array(columns), cells)
            return spread, tree_products.parts(boxes, columns, cells, others)

        spreads, trees = zip(*self._each(one), strict=True)

        def product(t: int) -> FloatArray:
            """Mean of tree t times every tree from t on, those after it twice."""
            sums = [tree_products.product(trees[t], other) for other in trees[t:]]
            means = (np.divide(a, b, out=np.full_like(a, np.nan), where=b > 0) for a, b in sums)
            return np.asarray(sum((1 + (u > 0)) * mean for u, mean in enumerate(means)))

        with ThreadPoolExecutor(self.threads) as pool:
            square = sum(pool.map(product, range(len(trees)))) / len(trees) ** 2
        return np.asarray(np.maximum(np.mean(spreads, axis=0) - square, 0.0))

    def _trees(self) -> Iterator[Any]:
        return (estimator.tree_ for estimator in self.estimators)

    def _each(self, function: Any) -> list[Any]:
        with ThreadPoolExecutor(self.threads) as pool:
            return list(pool.map(function, self._trees()))


def _sum(parts: FloatArray) -> FloatArray:
    """Over trees, one after the other: a row's sum must not depend on how many rows there are, and NumPy
    adds the numbers of a single one in another order."""
    return np.asarray(parts.sum(axis=0) if parts.shape[1] > 1 else parts.cumsum(axis=0)[-1])


def compile_ahead() -> Thread:
    """Start to compile what shares need in the background, while a run is read and other work is done;
    where it is compiled already this takes no time.
    """

    def tiny() -> None:
        X = np.arange(6.0)[:, None] / 6
        Forest(trees=1, threads=1).fit(X, X[:, 0]).shares()

    thread = Thread(target=tiny, daemon=True)
    thread.start()
    return thread


def _bag(seed: int, n: int) -> IntArray:
    """Rows that a tree sees, drawn with replacement as scikit-learn draws them."""
    return np.random.RandomState(seed).randint(0, n, n, dtype=np.int32).astype(np.int64)
