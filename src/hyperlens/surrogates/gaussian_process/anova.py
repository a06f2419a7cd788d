"""Functional ANOVA of a Gaussian process' posterior mean in closed form.

The same decomposition as of a tree (random_forest/anova.py): V = sum of V_U (Hutter et al. 2014, Eq. 6).

Symbols of averages.py and posterior.py, and
    U, T         a set of columns; those of them in one block
    V, V_U       variance of the posterior mean over the latents, and of its component on U
    a (n,)       s beta prod_(blocks without a column of U) w
    C_B          covariance of E[k(X,c_i) | T] and E[k(X,c_l) | T] in block B, smaller T removed, packed
"""

import itertools
import math

import numpy as np

from hyperlens.spaces.cube import FloatArray, measure
from hyperlens.surrogates.gaussian_process.averages import Averages, Term, sum_of_products
from hyperlens.surrogates.gaussian_process.posterior import Posterior


def variance(posterior: Posterior) -> float:
    """V = s^2 (beta' P beta - (beta' w)^2)."""
    averages = posterior.averages
    w = posterior.signal * posterior.beta
    P = w[averages.rows[0]] * w[averages.rows[1]] * averages.twice
    for block in range(len(posterior.cube.blocks)):
        average = averages.average(block, {}, {})
        assert average is not None
        P, w = P * average.P, w * average.w
    return max(float(P.sum() - w.sum() ** 2), 0.0)


def effects(posterior: Posterior, order: int) -> dict[tuple[int, ...], float]:
    """V_U = sum_il a_i a_l prod_(blocks B with a column of U) C_B[i,l] for all U up to `order`."""
    averages, blocks = posterior.averages, posterior.cube.blocks
    block_of = {c: b for b, members in enumerate(blocks) for c in members}
    w = [averages.weights(b) for b in range(len(blocks))]
    variances: dict[tuple[int, ...], float] = {}
    for size in range(1, order + 1):
        for U in itertools.combinations(range(posterior.cube.d), size):
            touched = sorted({block_of[c] for c in U})
            product = averages.twice
            for b in touched:
                product = product * _covariance(
                    averages, b, tuple(c for c in U if block_of[c] == b)
                )
            a = posterior.signal * posterior.beta
            a = math.prod((w[b] for b in range(len(blocks)) if b not in touched), start=a)
            value = np.einsum("m,m,m->", product, a[averages.rows[0]], a[averages.rows[1]])
            variances[U] = max(float(value), 0.0)
    return variances


def _covariance(averages: Averages, block: int, T: tuple[int, ...]) -> FloatArray:
    """C_B; one 0 where the columns of T are never active together, for then the two only add."""
    index = [averages.cube.blocks[block].index(c) for c in T]
    if not any(all(term[i] is not None for i in index) for term in averages.terms(block)):
        return np.zeros(1)

    def compute() -> FloatArray:
        w = averages.weights(block)
        C = _second_moment(averages, block, T) - w[averages.rows[0]] * w[averages.rows[1]]
        for size in range(1, len(T)):
            for smaller in itertools.combinations(T, size):
                C = C - _covariance(averages, block, smaller)
        return C

    return averages.once(("covariance", block, T), compute)


def _second_moment(averages: Averages, block: int, T: tuple[int, ...]) -> FloatArray:
    """E[h_i h_l], h_i = E[k(X, c_i) | latents of T], packed.

    Within one cell of the latents of T (a part for each), h_i is a sum over the patterns of
    activity of T: what the other columns average to, times the factors of T.
    """
    columns, (first_row, second_row) = averages.cube.blocks[block], averages.rows
    index = [columns.index(c) for c in T]
    rest = tuple(c for c in columns if c not in T)
    total = np.zeros(len(averages.flat))
    for cell in itertools.product(*(averages.parts(c) for c in T)):
        patterns: dict[tuple[bool, ...], list[Term]] = {}
        for term in averages.terms(block):
            if all(term[k] in (None, part) for k, part in zip(index, cell, strict=True)):
                others = tuple(p for k, p in enumerate(term) if k not in index)
                activity = tuple(term[k] is not None for k in index)
                patterns.setdefault(activity, []).append(others)
        h = {
            activity: sum_of_products(rest, tuple(terms), averages.integral)
            for activity, terms in patterns.items()
        }
        for first, second in itertools.product(h, repeat=2):
            left, right, both = h[first], h[second], np.array(1.0)
            for c, part, on, on_other in zip(T, cell, first, second, strict=True):
                if on and on_other:
                    both = both * averages.product(c, part)
                    continue
                left = left * averages.integral(c, part if on else None)
                right = right * averages.integral(c, part if on_other else None)
                if not on and not on_other:
                    right = right * measure(part)
            left = np.broadcast_to(left, averages.n)
            right = np.broadcast_to(right, averages.n)
            total += both * left[first_row] * right[second_row]
    return total
