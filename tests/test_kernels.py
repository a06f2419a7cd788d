"""Kernel factors against numerical quadrature, finite differences and sums over levels."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import fixed_quad

from hyperlens.spaces.cube import WHOLE, Axis, FloatArray, Runs, measure
from hyperlens.surrogates.gaussian_process.kernels import FINEST, Factor, Levels, factor, gram
from hyperlens.surrogates.gaussian_process.matern import (
    SQRT3,
    Interval,
    Pairs,
    matern,
    matern_slope,
)

RATES = [0.1, 1.0, 7.0, 150.0, 1e4, 1e6]
BOXES: list[Runs] = [
    WHOLE,
    ((0.2, 0.35),),
    ((0.0, 0.1), (0.4, 0.45), (0.7, 1.0)),
    ((0.5, 0.5001),),
]
POINTS = np.array([0.0, 0.05, 0.2, 0.31, 0.42, 0.50005, 0.93, 1.0])
INTEGERS = Axis(np.array([0.0, 0.1, 0.4, 0.5, 1.0]), np.array([0.05, 0.3, 0.45, 0.7]))
AXES = {"continuous": Axis(), "integer": INTEGERS, "category": Axis.categorical(3)}


def quadrature(
    f: Callable[[FloatArray], FloatArray], runs: Runs, kinks: FloatArray, rate: float
) -> float:
    """Gauss-Legendre on pieces that start at the kinks of f and grow with the distance."""
    steps = np.concatenate([[0.0], np.geomspace(0.3, 60, 12)]) / rate
    cuts = np.concatenate([kinks[:, None] + steps, kinks[:, None] - steps]).ravel()
    total = 0.0
    for low, high in runs:
        ends = np.unique([low, high, *cuts[(cuts > low) & (cuts < high)]])
        total += sum(fixed_quad(f, a, b, n=24)[0] for a, b in pairwise(ends))
    return total


def product_of_pairs(f: Factor, c: FloatArray, runs: Runs | None) -> FloatArray:
    """P of all pairs, shape (n, n)."""
    first, second = (i.ravel() for i in np.indices((len(c), len(c))))
    pairs = Pairs(np.where(np.isnan(c), 0.0, c), first, second)
    return f.product(c, pairs, runs).reshape(len(c), len(c))


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("runs", BOXES)
def test_single_integral_is_quadrature(rate: float, runs: Runs) -> None:
    f = factor(Axis(), SQRT3 / rate)
    exact = f.integral(POINTS, runs)
    for c, value in zip(POINTS, exact, strict=True):
        brute = quadrature(partial(f.value, c=c), runs, np.array([c]), rate)
        assert value == pytest.approx(brute, rel=1e-9, abs=1e-20)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("runs", BOXES)
def test_product_integral_is_quadrature(rate: float, runs: Runs) -> None:
    f = factor(Axis(), SQRT3 / rate)
    exact = product_of_pairs(f, POINTS, runs)
    for i, c in enumerate(POINTS):
        for j, e in enumerate(POINTS):

            def both(x: FloatArray, c: FloatArray = c, e: FloatArray = e) -> FloatArray:
                return f.value(x, c) * f.value(x, e)

            brute = quadrature(both, runs, np.array([c, e]), rate)
            assert exact[i, j] == pytest.approx(brute, rel=1e-9, abs=1e-20)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("runs", BOXES)
def test_double_integral_is_quadrature_of_the_single_one(rate: float, runs: Runs) -> None:
    f = factor(Axis(), SQRT3 / rate)
    for other in BOXES:
        ends = np.array([end for run in other for end in run])
        brute = quadrature(partial(f.integral, runs=other), runs, ends, rate)
        # H has rounding eps H(1) ~ eps min(1/2, 2 / rate), four times, for each pair of runs
        slack = 4 * 9 * 2.3e-16 * min(0.5, 2 / rate)
        assert f.double(runs, other) == pytest.approx(brute, rel=1e-8, abs=slack)


def test_design_formula_on_the_whole_axis() -> None:
    """w(c) = G(c) + G(1 - c), G(t) = (2 - (2 + a t) exp(-a t)) / a."""
    a, c = 4.2, np.linspace(0, 1, 11)

    def G(t: FloatArray) -> FloatArray:
        return np.asarray((2 - (2 + a * t) * np.exp(-a * t)) / a)

    np.testing.assert_allclose(Interval(SQRT3 / a).integral(c, WHOLE), G(c) + G(1 - c), rtol=1e-13)


@given(st.floats(0.01, 100), st.floats(0, 1))
def test_slope_is_the_derivative_by_log_lengthscale(scale: float, distance: float) -> None:
    def k(log_scale: float) -> float:
        return matern(np.array(SQRT3 / np.exp(log_scale) * distance)).item()

    step = 1e-5
    numeric = (k(np.log(scale) + step) - k(np.log(scale) - step)) / (2 * step)
    exact = matern_slope(np.array(SQRT3 / scale * distance)).item()
    assert exact == pytest.approx(numeric, abs=1e-9)  # rounding 1e-11, truncation step^2


def test_huge_and_tiny_rates_stay_finite() -> None:
    for rate in (1e-3, 1e6, 1e9):
        f = factor(Axis(), SQRT3 / rate)
        P = product_of_pairs(f, POINTS, WHOLE)
        assert np.isfinite(P).all()
        assert (P >= 0).all()
        if rate < 1:  # k is nearly 1
            np.testing.assert_allclose(P, 1, atol=rate**2)
            np.testing.assert_allclose(f.double(WHOLE, WHOLE), 1, atol=rate**2)
        else:  # integral of k^2 over the line is 5 / (2 a), of k is 4 / a
            assert P[4, 4] == pytest.approx(2.5 / rate, rel=1e-6)
            assert f.integral(POINTS, WHOLE)[4] == pytest.approx(4 / rate, rel=1e-6)


@pytest.mark.parametrize("name", AXES)
@pytest.mark.parametrize(
    ("rho", "runs"),
    [*product([None, 0.0, 0.6], BOXES), (0.0, None), (0.6, None)],
)
def test_every_factor_is_an_average_over_latents(
    name: str, rho: float | None, runs: Runs | None
) -> None:
    """Midpoint sums over a fine grid of latents, snapped to codes; None: inactive."""
    axis, f = AXES[name], factor(AXES[name], 0.4, rho)
    c = axis.snap(POINTS)
    if rho is not None:
        c = np.append(c, np.nan)
    x, dx = inside(axis, runs)
    k = f.value(x[:, None], c[None, :])
    np.testing.assert_allclose(f.integral(c, runs), dx @ k, atol=1e-6)
    np.testing.assert_allclose(product_of_pairs(f, c, runs), (dx[:, None] * k).T @ k, atol=1e-6)
    others: list[Runs | None] = [WHOLE, ((0.3, 0.6),), *([] if rho is None else [None])]
    for other in others:
        y, dy = inside(axis, other)
        brute = dx @ f.value(x[:, None], y[None, :]) @ dy
        assert f.double(runs, other) == pytest.approx(brute, abs=1e-6)


def inside(axis: Axis, runs: Runs | None) -> tuple[FloatArray, FloatArray]:
    """Codes of midpoints inside the runs and their weights; midpoint rule, error (a h)^2 / 24."""
    if runs is None:
        return np.array([np.nan]), np.array([1.0])
    cuts = [0.0, 1.0] if axis.edges is None else axis.edges
    points, weights = [], []
    for low, high in runs:
        ends = np.unique(np.clip([low, high, *cuts], low, high))
        for a, b in pairwise(ends):
            points.append(a + (b - a) * (np.arange(800) + 0.5) / 800)
            weights.append(np.full(800, (b - a) / 800))
    return axis.snap(np.concatenate(points)), np.concatenate(weights)


def test_many_levels_are_merged_to_second_order() -> None:
    levels = 5000
    edges = np.log1p(np.arange(levels + 1)) / np.log1p(levels)  # a logarithmic integer
    axis = Axis(edges, (edges[:-1] + edges[1:]) / 2)
    f = factor(axis, 0.5)
    assert isinstance(f.base, Levels)
    assert f.base._nodes.levels < 2 / FINEST
    assert axis.codes is not None
    c = axis.codes[[0, 1, 50, 3000]]
    k = f.value(axis.codes[:, None], c[None, :])
    bound = (SQRT3 / 0.5 * FINEST) ** 2 / 8
    for runs in (WHOLE, ((0.3, 0.8),)):
        weights = axis.weights(runs)
        np.testing.assert_allclose(f.integral(c, runs), weights @ k, rtol=bound)
        np.testing.assert_allclose(
            product_of_pairs(f, c, runs), (weights * k.T) @ k, rtol=2 * bound
        )


@given(
    st.floats(0.02, 5),
    st.floats(0, 0.99),
    st.lists(st.floats(0, 1) | st.just(float("nan")), min_size=1, max_size=6),
    st.sampled_from(sorted(AXES)),
)
def test_gram_is_positive_semidefinite_with_unit_diagonal(
    scale: float, rho: float, xs: list[float], name: str
) -> None:
    f = factor(AXES[name], min(scale, 0.99) if name == "category" else scale, rho)
    x = np.array(xs)
    K = f.value(x[:, None], x[None, :])
    np.testing.assert_allclose(np.diagonal(K), 1)
    assert np.linalg.eigvalsh(K).min() > -1e-12


@given(st.floats(0, 1), st.floats(0.05, 3))
def test_integrals_add_over_runs(cut: float, scale: float) -> None:
    f = factor(Axis(), scale)
    left: Runs = ((0.0, cut),)
    right: Runs = ((cut, 1.0),)
    whole = product_of_pairs(f, POINTS, WHOLE)
    parts = product_of_pairs(f, POINTS, left) + product_of_pairs(f, POINTS, right)
    np.testing.assert_allclose(parts, whole, rtol=1e-12, atol=1e-15)
    halves = sum(f.double(a, b) for a in (left, right) for b in (left, right))
    assert halves == pytest.approx(f.double(WHOLE, WHOLE), abs=1e-14)
    assert measure(left) + measure(right) == pytest.approx(1)


def test_gram_multiplies_factors() -> None:
    rng = np.random.default_rng(0)
    factors = [factor(Axis(), 0.3 + 0.1 * j) for j in range(20)]
    factors += [factor(INTEGERS, 0.4), factor(AXES["category"], 0.3), factor(Axis(), 0.5, 0.4)]
    X = rng.random((7, len(factors)))
    X[:, 20], X[:, 21] = INTEGERS.snap(X[:, 20]), AXES["category"].snap(X[:, 21])
    X[:3, 22] = np.nan
    brute = np.ones((7, 7))
    for j, f in enumerate(factors):
        brute *= f.value(X[:, j, None], X[None, :, j])
    np.testing.assert_allclose(gram(factors, X, X), brute, rtol=1e-13)
