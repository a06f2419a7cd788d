"""Shapley values of a Gaussian process whose kernel is a product over columns.

The mean of a coalition is a sum over data of product games. Where each player joins with
probability t, independently, expectations multiply over blocks of columns, and the formula of Owen 1972,
phi_j = integral_0^1 E_t[gain of j] dt, has a polynomial of degree m - 1 inside: Gauss-Legendre with
ceil(m / 2) nodes is exact. The standard deviation is no such game; its coalitions are enumerated
over a background, and share the kernel factors of their columns.

Symbols
    n, d, m      data, columns, players (columns that are active in x)
    c_i          rows of the data; beta, s, v, mu see posterior.py
    u_ij, w_ij   k_j(x_j, c_ij) and E[k_j(X_j, c_ij)], by term where columns are conditional
    term         a box of a block's latents in which no activity changes (Cube.scenarios)
    S            a coalition, K_S (B, n) = prod_(j in S) u_j prod_(j not in S) k_j(b_j, c_j)
"""

import itertools
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np

from hyperlens.explain.shapley.coalitions import Game
from hyperlens.spaces.cube import Cube, FloatArray, Runs, Scenario, contains
from hyperlens.surrogates.gaussian_process.averages import MOST_SCENARIOS
from hyperlens.surrogates.gaussian_process.gp import GP

CHUNK = 1 << 16  # numbers of K_S that are held at once, so that they stay in a processor's cache
STRIP = 64  # columns of a triangular matrix that are multiplied at once


# The mean, in closed form


def mean_contributions(model: GP, vector: FloatArray) -> tuple[FloatArray, float] | None:
    """Shapley values (d,) of the mean at x over the uniform measure, and the mean's average.

    None where conditions are too entangled for closed forms.
    """
    blocks = _blocks(model.cube)
    if blocks is None:
        return None
    m = int((~np.isnan(vector)).sum())
    t, weight = nodes(m)

    # E_t of each block, and of the gain of each of its players
    product, gains = [], []
    for scenarios in blocks:
        own, gain = _block(model, vector, scenarios, t)
        product.append(own)
        gains.append(gain)

    # Owen: phi_j = integral of E_t[gain of j], the other blocks multiplied in
    signal = 1 - model.parameters.nugget
    phi = np.zeros(model.cube.d)
    for gain, others in zip(gains, without_each(product), strict=True):
        for column, own in gain.items():
            path = np.broadcast_to(own * others, (len(t), len(model.beta)))
            phi[column] = signal * float(weight @ (path @ model.beta))
    everything = np.prod(np.broadcast_arrays(*product), axis=0)  # at t = 0 nobody has joined
    return phi, float(model.parameters.trend + signal * (everything[0] @ model.beta))


# Mean and standard deviation of every coalition, over a background


def worth(model: GP, game: Game, threads: int | None = None) -> FloatArray:
    """Average quantities of every coalition, shape (2^m, q): the same as `game.worth()`."""
    n = len(model.X)
    size = max(CHUNK // n, 1)
    starts = range(0, len(game.background), size)

    def one(first: int) -> FloatArray:
        return _Coalitions(model, game, game.background[first : first + size]).sums()

    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        total = sum(pool.map(one, starts), np.zeros(()))
    return np.asarray(total / len(game.background))


class _Coalitions:
    """All coalitions over some background rows, products of factors grown column by column."""

    def __init__(self, model: GP, game: Game, latents: FloatArray) -> None:
        self.game, self.latents, self.model = game, latents, model
        cube, X, x = self.model.cube, self.model.X, game.vector
        self.bit = {int(c): 1 << k for k, c in enumerate(game.players)}
        self.plain = [c for c in self.bit if c not in cube.conditions]
        self.conditional = sorted(cube.conditions)
        self.own, self.other, self.off = {}, {}, {}
        for j, factor in enumerate(self.model.factors):
            seen = cube.axes[j].snap(latents[:, j])
            self.other[j] = factor.value(X[:, j, None], seen[None, :]).T  # (rows, n) by columns
            if j in self.bit:
                self.own[j] = factor.value(x[j], X[:, j])
            if j in cube.conditions:
                self.off[j] = factor.value(np.array(np.nan), X[:, j])

    def sums(self) -> FloatArray:
        """Sums over the background rows, shape (2^m, q)."""
        self.totals = np.zeros((1 << len(self.bit), len(self.game.actual)))
        n = len(self.model.X)
        free = np.ones((1, n), order="F")
        for column, factors in self.other.items():
            if column not in self.bit and column not in self.off:
                free = free * factors
        self._grow(0, free, np.ones(n), 0)
        return self.totals

    def _grow(self, depth: int, free: FloatArray, own: FloatArray, coalition: int) -> None:
        """`free` is the product of the factors left to the background, `own` that of x's."""
        if depth < len(self.plain):
            column = self.plain[depth]
            joined = coalition | self.bit[column]
            self._grow(depth + 1, free, own * self.own[column], joined)
            self._grow(depth + 1, free * self.other[column], own, coalition)
        elif not self.conditional:
            self._close(free, own, coalition)
        else:
            self._switch(free, own, coalition)

    def _switch(self, free: FloatArray, own: FloatArray, coalition: int) -> None:
        """Every subset of the conditional players; what is active depends on the mixture."""
        among = [c for c in self.conditional if c in self.bit]
        for subset in itertools.product((False, True), repeat=len(among)):
            joined = {c for c, joins in zip(among, subset, strict=True) if joins}
            mask = coalition | sum(self.bit[c] for c in joined)
            mixed = self.latents.copy()
            for column, bit in self.bit.items():
                if mask & bit:
                    mixed[:, column] = self.game.vector[column]
            active = self.model.cube.active(mixed)
            product = free
            for column in self.conditional:
                factor = self.own[column][None] if column in joined else self.other[column]
                product = product * np.where(active[:, column, None], factor, self.off[column])
            self._close(np.asfortranarray(product), own, mask)

    def _close(self, free: FloatArray, own: FloatArray, coalition: int) -> None:
        """Predictions with K = free diag(own), by way of R^-1 = U^-1 U^-T: no K is ever formed."""
        p = self.model.parameters
        signal = 1 - p.nugget
        known = _squared_norms(free, self.model.upper_inverse * (signal * own)[:, None])
        variance = p.variance * np.maximum(self.model.posterior.whole - known, 0)
        mean = p.trend + free @ (signal * own * self.model.beta)
        sums = self.game.quantities(mean, np.sqrt(variance)).sum(axis=1)
        self.totals[coalition] = sums * (len(self.latents) / len(free))


def _squared_norms(rows: FloatArray, upper: FloatArray) -> FloatArray:
    """|row U|^2 for each row and an upper triangular U, in strips; other threads go on meanwhile."""
    total = np.zeros(len(rows))
    for first in range(0, len(upper), STRIP):
        last = first + STRIP
        strip = rows[:, :last] @ upper[:last, first:last]
        total += np.einsum("bn,bn->b", strip, strip)
    return total


# Blocks of columns that conditions bind together


def _blocks(cube: Cube) -> list[list[Scenario]] | None:
    """Terms of each block; None where there are too many."""
    blocks = []
    for columns in cube.blocks:
        terms = list(itertools.islice(cube.scenarios(columns), MOST_SCENARIOS + 1))
        if len(terms) > MOST_SCENARIOS:
            return None
        blocks.append(terms)
    return blocks


def _block(
    model: GP, vector: FloatArray, terms: Sequence[Scenario], t: FloatArray
) -> tuple[FloatArray, dict[int, FloatArray]]:
    """E_t of a block's factors at the nodes t, and of each player's gain; shapes (nodes, n)."""

    @cache
    def average(column: int, runs: Runs | None) -> FloatArray:
        return model.factors[column].integral(model.X[:, column], runs)

    @cache
    def taken(column: int) -> FloatArray:
        return model.factors[column].value(vector[column], model.X[:, column])

    total: FloatArray = np.zeros((1, len(model.X)))
    gains: dict[int, FloatArray] = {}
    for term in terms:
        factors, steps = [], []
        for column, runs in zip(term.columns, term.runs, strict=True):
            w, step = average(column, runs), None
            if not np.isnan(vector[column]):
                inside = runs is not None and contains(runs, vector[column : column + 1])[0]
                step = (taken(column) if inside else 0.0) - w if runs is not None else 0 * w
            steps.append(step)
            factors.append(w[None] if step is None else w + t[:, None] * step)
        for column, step, others in zip(term.columns, steps, without_each(factors), strict=True):
            if step is not None:
                gains[column] = gains.get(column, 0.0) + step * others
        total = total + np.prod(np.broadcast_arrays(*factors), axis=0)
    return total, gains


def without_each(factors: Sequence[FloatArray]) -> list[FloatArray]:
    """Product of all factors but one, for each; without division, for factors may vanish."""
    before: list[FloatArray] = [np.ones((1, 1))]
    for factor in factors[:-1]:
        before.append(before[-1] * factor)
    after: FloatArray = np.ones((1, 1))
    products = []
    for factor, left in zip(reversed(factors), reversed(before), strict=True):
        products.append(left * after)
        after = after * factor
    return products[::-1]


def nodes(m: int) -> tuple[FloatArray, FloatArray]:
    """0 with no weight, where nobody has joined, then Gauss-Legendre on [0, 1] for degree m - 1."""
    x, weight = np.polynomial.legendre.leggauss(max((m + 1) // 2, 1))
    return np.append(0.0, (x + 1) / 2), np.append(0.0, weight / 2)
