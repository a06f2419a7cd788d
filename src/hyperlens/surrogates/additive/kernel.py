"""The additive kernel: a sum over effects, by power sums over axes instead of over all sets of axes.

    k(x, z) = trend + sum over q of v_q / (number of effects of order q) * e_q(c_1, ..., c_d)
    c_j(x, z) = sum over functions of lambda_a phi_a(x) phi_a(z), which has mean 0; the mean of its
                variance is the part of the axis

With the power sums p_k of the c_j, e_2 = (p_1^2 - p_2) / 2 and e_3 = (p_1^3 - 3 p_1 p_2 + 2 p_3) / 6:
the orthogonal additive kernel of Lu et al. 2022 at the cost of a sum. A nested pair
(components.py) takes the parent's functions where the child is active instead.

Symbols
    n, m     rows of the two sides
    C        c_j of each axis that takes part in effects of order q, (n, m)
    e        elementary symmetric polynomial
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from hyperlens.spaces.cube import FloatArray
from hyperlens.surrogates.additive.components import Components, Effect, Rows, products
from hyperlens.surrogates.additive.hyper import TREND, Hyper, Prior, spectrum
from hyperlens.surrogates.additive.warp import Warp

JITTER = 1e-8  # of the unit variance, so that equal rows do not make the covariance singular
CACHED = (
    32768  # numbers of a part of a covariance that is summed at once: as many as stay in a cache
)
STEP = 1e-5  # of a logarithm, for the derivative of the warp


@dataclass(frozen=True)
class Kernel:
    """The kernel of some hyperparameters: lambda of each axis by order, and of nested pairs."""

    components: Components
    hyper: Hyper

    def spectra(self, q: int) -> list[tuple[FloatArray, FloatArray]]:
        """lambda and its slope of each axis in effects of order q."""
        sizes, bases = self.components.sizes[q - 1], self.components.bases
        each = zip(
            self.hyper.lengths.tolist(), self.hyper.parts.tolist(), sizes, bases, strict=True
        )
        return [
            _times(part, spectrum(length, basis.frequencies[:size].astype(float)))
            for length, part, size, basis in each
        ]

    def nested_spectrum(self, U: Effect) -> tuple[FloatArray, FloatArray]:
        nested = self.components.nested[U]
        length, part = (float(x[nested.parent]) for x in (self.hyper.lengths, self.hyper.parts))
        return _times(part, spectrum(length, nested.basis.frequencies.astype(float)))

    @property
    def portions(self) -> FloatArray:
        """Variance of one effect of each order, (3,)."""
        return np.asarray(self.hyper.variances / np.array(self.components.among))

    def gram(self, rows: Rows, other: Rows) -> FloatArray:
        """k without the noise, (n, m)."""
        spectra = [[s for s, _ in self.spectra(q)] for q in (1, 2, 3)]
        wide = np.hstack([
            rows.phi[j] * (self.portions[0] * own) for j, own in enumerate(spectra[0])
        ])  # fmt: skip
        total = np.asarray(wide @ np.hstack(other.phi).T)
        total += TREND**2
        step = max(CACHED // max(len(other), 1), 1)
        for first in range(0, len(rows), step):
            some = slice(first, first + step)
            self._add_interactions(total[some], rows.part(some), other, spectra[1], spectra[2])
        return total

    def _add_interactions(
        self,
        total: FloatArray,
        rows: Rows,
        other: Rows,
        pairs: list[FloatArray],
        triples: list[FloatArray],
    ) -> None:
        """Effects of two and three axes, whose lambda are given, at rows so few that sums stay near."""
        p1, p2, p3 = np.zeros((3, *total.shape))
        for j, own in enumerate(pairs):
            c = _centred(rows, other, j, own)
            p1 += c
            p2 += np.square(c, out=c)
        second = np.square(p1, out=p1)
        second -= p2
        second /= 2
        for U, nested in self.components.nested.items():
            plain = _centred(rows, other, nested.parent, pairs[nested.parent])
            child = _centred(rows, other, nested.child, pairs[nested.child])
            second += (self._nested(rows, other, U) - plain) * child
        second *= self.portions[1]
        total += second
        if any(self.components.sizes[2]):
            p1, p2 = np.zeros((2, *total.shape))
            for j, own in enumerate(triples):
                c = _centred(rows, other, j, own)
                p1 += c
                square = c * c
                p2 += square
                p3 += np.multiply(square, c, out=c)
            third = p1 * (p1 * p1 - 3 * p2) + 2 * p3
            third *= self.portions[2] / 6
            total += third

    def _nested(self, rows: Rows, other: Rows, U: Effect) -> FloatArray:
        if U not in rows.nested:
            return np.zeros((len(rows), len(other)))
        return np.asarray((rows.nested[U] * self.nested_spectrum(U)[0]) @ other.nested[U].T)

    def prior_variances(self) -> FloatArray:
        """Variance of every weight beforehand, in the order of the components' effects."""
        spectra = [[s for s, _ in self.spectra(q)] for q in (1, 2, 3)]
        parts = []
        for U in self.components.effects:
            own = [spectra[len(U) - 1][j][None] for j in U]
            if U in self.components.nested:
                parent = self.components.nested[U].parent
                own[U.index(parent)] = self.nested_spectrum(U)[0][None]
            parts.append(self.portions[len(U) - 1] * products(own)[0])
        return np.concatenate(parts) if parts else np.zeros(0)


def _times(part: float, both: tuple[FloatArray, FloatArray]) -> tuple[FloatArray, FloatArray]:
    return part * both[0], part * both[1]


def _centred(rows: Rows, other: Rows, j: int, variances: FloatArray) -> FloatArray:
    """c_j, (n, m)."""
    size = len(variances)
    return np.asarray((rows.phi[j][:, :size] * variances) @ other.phi[j][:, :size].T)


def _each_centred(rows: Rows, spectra: list[FloatArray]) -> FloatArray:
    """c_j of all axes, each with its lambda, at rows and the same rows, (d, n, n)."""
    found = np.empty((len(spectra), len(rows), len(rows)))
    for j, own in enumerate(spectra):
        phi = rows.phi[j][:, : len(own)]
        np.matmul(phi * own, phi.T, out=found[j])
    return found


class Density:
    """Minus the log density of hyperparameters given costs, up to a constant, and its gradient.

    The likelihood is of the costs as they are: that of the warped ones times the warp's slope.
    """

    def __init__(
        self, components: Components, rows: Rows, y: FloatArray, doubt: FloatArray | None = None
    ) -> None:
        self.components, self.rows = components, rows
        self.y = (y - y.min()) / np.ptp(y)  # their unit is a constant that would coarsen the search
        self.prior = Prior.of(components.d)
        self.n = len(y)
        self.doubt = np.zeros(self.n) if doubt is None else doubt  # of each cost, beside the noise

    def __call__(self, t: FloatArray, gradient: bool = True) -> tuple[float, FloatArray]:
        warp = Warp.of(self.y, float(t[-2]), float(t[-1]))
        z = warp.forward(self.y)
        terms = _Terms.of(Kernel(self.components, Hyper.of(t)), self.rows)
        K = terms.total
        K[np.diag_indices(self.n)] += np.exp(t[-3]) + JITTER + self.doubt**2
        upper, failed = scipy.linalg.lapack.dpotrf(K, lower=0, clean=1, overwrite_a=0)
        if failed or not np.isfinite(z).all():
            return 1e10, np.zeros(len(t))
        beta, _ = scipy.linalg.lapack.dpotrs(upper, z)
        from_prior = (t - self.prior.mean) / self.prior.std
        value = 0.5 * float(z @ beta) + float(np.log(np.diagonal(upper)).sum())
        value += 0.5 * float(from_prior @ from_prior) - warp.log_jacobian(self.y)
        if not gradient:
            return value, np.zeros(len(t))
        inverse, _ = scipy.linalg.lapack.dpotri(upper, lower=0)
        W = np.triu(inverse) + np.triu(inverse, 1).T - np.outer(beta, beta)
        slopes = np.concatenate([terms.slopes(W), [np.exp(t[-3]) * np.trace(W)]]) / 2
        warped = [self._by_warp(t, k, beta) for k in (-2, -1)]
        return value, np.concatenate([slopes, warped]) + from_prior / self.prior.std

    def _by_warp(self, t: FloatArray, k: int, beta: FloatArray) -> float:
        """Derivative by one of the warp's hyperparameters, K being what it is."""
        step = np.zeros(len(t))
        step[k] = STEP
        ends = [Warp.of(self.y, *(t + s * step)[-2:].tolist()) for s in (1, -1)]
        z, jacobian = zip(*((w.forward(self.y), w.log_jacobian(self.y)) for w in ends), strict=True)
        by_fit = float(beta @ (z[0] - z[1]))
        return (by_fit - float(jacobian[0]) + float(jacobian[1])) / (2 * STEP)


@dataclass(frozen=True)
class _Terms:
    """The kernel matrix of the data, and what its derivatives are made of."""

    kernel: Kernel
    rows: Rows
    by_order: tuple[FloatArray, FloatArray, FloatArray]  # (n, n) each
    pairs: FloatArray  # C for q = 2, (d, n, n)
    triples: FloatArray  # C for q = 3, (d, n, n); empty without triples
    nested: dict[Effect, FloatArray]  # c of the parent where the child is active

    @staticmethod
    def of(kernel: Kernel, rows: Rows) -> _Terms:
        d, portions = kernel.components.d, kernel.portions
        spectra = [[s for s, _ in kernel.spectra(q)] for q in (1, 2, 3)]
        wide = np.hstack([rows.phi[j] * np.sqrt(spectra[0][j]) for j in range(d)])
        main = portions[0] * (wide @ wide.T)
        pairs = _each_centred(rows, spectra[1])
        summed = pairs.sum(axis=0)
        second = (summed**2 - np.einsum("jnm,jnm->nm", pairs, pairs)) / 2
        nested = {}
        for U, pair in kernel.components.nested.items():
            nested[U] = kernel._nested(rows, rows, U)
            second += (nested[U] - pairs[pair.parent]) * pairs[pair.child]
        triples, third = np.zeros((0, len(rows), len(rows))), np.zeros(summed.shape)
        if any(kernel.components.sizes[2]):
            triples = _each_centred(rows, spectra[2])
            p1, square = triples.sum(axis=0), triples * triples
            third = p1 * (p1 * p1 - 3 * square.sum(axis=0))
            third = (third + 2 * np.einsum("jnm,jnm->nm", square, triples)) / 6
        orders = (main, portions[1] * second, portions[2] * third)
        return _Terms(kernel, rows, orders, pairs, triples, nested)

    @property
    def total(self) -> FloatArray:
        return np.asarray(sum(self.by_order) + TREND**2)

    def slopes(self, W: FloatArray) -> FloatArray:
        """tr(W dK) by log l and log a of each axis and by log v of each order, (2 d + 3,)."""
        components, portions = self.kernel.components, self.kernel.portions
        spectra = [self.kernel.spectra(q) for q in (1, 2, 3)]
        by_axis = np.zeros((components.d, 2))
        for j in range(components.d):
            by_axis[j] = portions[0] * self._by_axis(W, j, spectra[0][j])
        weighted = portions[1] * W
        summed = weighted * self.pairs.sum(axis=0)
        for j in range(components.d):
            if len(spectra[1][j][1]):
                around = summed - weighted * self.pairs[j]
                for U, pair in components.nested.items():
                    if pair.parent == j:
                        around -= weighted * self.pairs[pair.child]
                        by_axis[j] += self._by_parent(weighted * self.pairs[pair.child], U)
                    elif pair.child == j:
                        around += weighted * (self.nested[U] - self.pairs[pair.parent])
                by_axis[j] += self._by_axis(around, j, spectra[1][j])
        if len(self.triples):
            p1 = self.triples.sum(axis=0)
            both = (p1 * p1 - np.einsum("jnm,jnm->nm", self.triples, self.triples)) / 2
            for j in range(components.d):
                if len(spectra[2][j][1]):
                    c = self.triples[j]
                    around = portions[2] * W * (both - c * (p1 - c))
                    by_axis[j] += self._by_axis(around, j, spectra[2][j])
        by_variance = [float(np.einsum("nm,nm->", W, part)) for part in self.by_order]
        return np.concatenate([by_axis[:, 0], by_axis[:, 1], by_variance])

    def _by_axis(
        self, around: FloatArray, j: int, spectrum: tuple[FloatArray, FloatArray]
    ) -> FloatArray:
        """By log l and by log a, (2,); lambda is its own slope by log a."""
        phi = self.rows.phi[j][:, : len(spectrum[0])]
        return _slopes(phi, around, spectrum)

    def _by_parent(self, around: FloatArray, U: Effect) -> FloatArray:
        if U not in self.rows.nested:
            return np.zeros(2)
        return _slopes(self.rows.nested[U], around, self.kernel.nested_spectrum(U))


def _slopes(
    phi: FloatArray, around: FloatArray, spectrum: tuple[FloatArray, FloatArray]
) -> FloatArray:
    each = np.einsum("na,na->a", phi, around @ phi)
    return np.array([each @ spectrum[1], each @ spectrum[0]])
