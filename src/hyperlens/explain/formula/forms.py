"""The grammar of short formulas of one number, and the least squares that fit them.

Every form is a constant and one or two terms, each with a factor; some terms have a knot. Factors are
found by least squares for all knots of a grid at once, and the grid closes in on the best knot, so
the search is exhaustive and gives the same each time.

Symbols
    x        values of the parameter, (g,)
    z        where they stand on its own scale: log10 x of a logarithm, else x
    c        knots, (S, q): S of them are tried at once
    A        the terms, (S, g, k): a column of ones first
    w        how much each point counts, (g,)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from hyperlens.spaces.cube import FloatArray

FIRST, AGAIN = 41, 9  # knots along a dimension of the first grid, and of those that close in
ROUNDS = 10
STEEPEST, FLATTEST = 60.0, 4.0  # of a sigmoid, over the whole range
Terms = Callable[[FloatArray, FloatArray, FloatArray], list[Any]]


@dataclass(frozen=True)
class Form:
    """A formula up to its constants: first the level, then factors of terms, then knots.

    `size` is how many constants a reader has to know, an exponent among them. `terms` are of x, z (g,)
    and knots (S, q), each (S, g) or (g,). `knots` is where they lie, from and to, as parts of the range;
    a knot `by_value` is one of x, else of z. `positive` forms need values above 0.
    """

    name: str
    size: int
    terms: Terms
    text: str
    knots: tuple[tuple[float, float], ...] = ()
    factors: int = 1
    positive: bool = False
    by_value: bool = False

    def at(self, constants: tuple[float, ...], x: FloatArray, log: bool) -> FloatArray:
        """The formula's values."""
        end = 1 + self.factors
        c = np.array(constants[end:]).reshape(1, -1)
        with np.errstate(all="ignore"):
            terms = self.terms(x, scaled(x, log), c)
            value = constants[0] + 0.0 * x
            for factor, term in zip(constants[1:end], terms, strict=True):
                value = value + factor * np.broadcast_to(term, (1, len(x)))[0]
        return np.asarray(value, dtype=float)


def scaled(x: FloatArray, log: bool) -> FloatArray:
    return np.log10(x) if log else x


def _knot(term: Callable[[FloatArray], FloatArray]) -> Terms:
    """A term in how far z lies above its knot."""
    return lambda x, z, c: [term(z - c[:, :1])]


def _sigmoid(x: FloatArray, z: FloatArray, c: FloatArray) -> list[FloatArray]:
    """The second knot is how steep it is."""
    return [1 / (1 + np.exp(np.clip(-c[:, 1:] * (z - c[:, :1]), -700, 700)))]


def _up(d: FloatArray) -> FloatArray:
    return np.maximum(d, 0.0)


INSIDE, AROUND, BEYOND = ((0.02, 0.98),), ((-0.5, 1.5),), ((-0.5, 1.0),)
BETWEEN = ((0.0, 1.0),)  # halfway between two points; where exactly, nothing tells
FORMS = (
    Form("constant", 1, lambda x, z, c: [], "{0}", factors=0),
    Form("linear", 2, lambda x, z, c: [x], "{0}{1:+}·{x}"),
    Form("logarithm", 2, lambda x, z, c: [np.log10(x)], "{0}{1:+}·log10({x})", positive=True),
    Form("inverse", 2, lambda x, z, c: [1 / x], "{0}{1:+}/{x}", positive=True),
    Form("root", 3, lambda x, z, c: [np.sqrt(x)], "{0}{1:+}·√{x}", positive=True),
    Form("inverse root", 3, lambda x, z, c: [1 / np.sqrt(x)], "{0}{1:+}/√{x}", positive=True),
    Form("square", 3, lambda x, z, c: [x**2], "{0}{1:+}·{x}²", positive=True),
    Form("inverse square", 3, lambda x, z, c: [1 / x**2], "{0}{1:+}/{x}²", positive=True),
    Form("quadratic", 3, _knot(lambda d: d**2), "{0}{1:+}·({z}{2:-})²", AROUND),
    Form(
        "step", 3, lambda x, z, c: [1.0 * (x >= c[:, :1])], "{0} for {x} < {2}, else {1:sum}",
        BETWEEN, by_value=True,
    ),
    Form("rising hinge", 3, _knot(_up), "{0}{1:+}·max(0, {z}{2:-})", INSIDE),
    Form("falling hinge", 3, _knot(lambda d: _up(-d)), "{0}{1:+}·max(0, {2}{zm})", INSIDE),
    Form("two slopes", 3, _knot(np.abs), "{0}{1:+}·|{z}{2:-}|", INSIDE),
    Form(
        "saturating", 3, lambda x, z, c: [x / (x + c[:, :1])], "{0}{1:+}·{x}/({x} + {2})",
        BEYOND, positive=True, by_value=True,
    ),
    Form(
        "two hinges", 4, lambda x, z, c: [_up(c[:, :1] - z), _up(z - c[:, :1])],
        "{0}{1:+}·max(0, {3}{zm}){2:+}·max(0, {z}{3:-})", INSIDE, 2,
    ),
    Form(
        "two-sided bowl", 4,
        lambda x, z, c: [_up(c[:, :1] - z) ** 2, _up(z - c[:, :1]) ** 2],
        "{0}{1:+}·max(0, {3}{zm})²{2:+}·max(0, {z}{3:-})²", INSIDE, 2,
    ),
    Form(
        "sigmoid", 4, _sigmoid, "{0}{1:+}/(1 + exp({3:neg}·({z}{2:-})))",
        (*INSIDE, (FLATTEST, STEEPEST)),
    ),
)  # fmt: skip
BY_NAME = {form.name: form for form in FORMS}


def fitted(form: Form, x: FloatArray, log: bool, y: FloatArray, w: FloatArray) -> tuple[float, ...]:
    """The constants of a form that come nearest to y by weighted squares; none where it cannot be."""
    z = scaled(x, log)
    low, span = float(z.min()), float(np.ptp(z))
    if (form.positive and not x.min() > 0) or (form.size > 1 and not span > 0):
        return ()
    by_logarithm = form.by_value and (log or form.positive)
    ends = [_ends(form, k, x, low, span) for k in range(len(form.knots))]
    knots = [np.linspace(*end, FIRST) for end in ends]
    rounds = ROUNDS if knots else 1
    if form.knots is BETWEEN:
        knots, rounds = [(z[1:] + z[:-1]) / 2], 1
    best: tuple[float, ...] = ()
    for _ in range(rounds):
        c = np.array(list(product(*knots)), dtype=float)
        given = 10.0**c if by_logarithm else c
        factors, loss = _least_squares(form, x, z, given, y, w)
        at = int(np.argmin(loss))
        if not np.isfinite(loss[at]):
            return ()
        best = (*factors[at].tolist(), *given[at].tolist())
        step = [float(np.ptp(grid)) / max(len(grid) - 1, 1) for grid in knots]
        knots = [
            np.clip(np.linspace(m - s, m + s, AGAIN), *end)
            for m, s, end in zip(c[at], step, ends, strict=True)
        ]
    return best


def _ends(form: Form, k: int, x: FloatArray, low: float, span: float) -> tuple[float, float]:
    """Between which values a knot is searched."""
    first, last = form.knots[k]
    if form.knots is BEYOND:  # by its logarithm, so many powers of ten beyond the range
        return float(np.log10(x.min()) + first), float(np.log10(x.max()) + last)
    if k == 1:  # how steep, against the range
        return first / span, last / span
    return low + first * span, low + last * span


def _least_squares(
    form: Form, x: FloatArray, z: FloatArray, c: FloatArray, y: FloatArray, w: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Level and factors (S, k) for each of the knots (S, q), and the weighted squares left (S,)."""
    shape = (len(c), len(x))
    with np.errstate(all="ignore"):
        terms = [np.broadcast_to(term, shape) for term in form.terms(x, z, c)]
    A = np.stack([np.ones(shape), *terms], axis=2)
    usable = np.asarray(np.isfinite(A).all(axis=(1, 2)))
    A = np.where(usable[:, None, None], A, 0.0)
    size = np.maximum(np.abs(A).max(axis=1, keepdims=True), np.finfo(float).tiny)
    inverse = np.linalg.pinv(A / size * w[:, None], rcond=1e-10)
    factors = inverse @ (w * y)
    left = (((A / size) @ factors[:, :, None])[:, :, 0] - y) * w
    loss = np.where(usable, np.square(left).sum(axis=1), np.inf)
    return factors / size[:, 0, :], loss
