"""The additive process against sums over all sets, dense algebra, brute force and Metropolis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from itertools import combinations, pairwise, product
from math import comb, factorial

import numpy as np
import pytest
from cubes import brute_force_shares, discrete_cubes, every_latent
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal, norm

from hyperlens.spaces.cube import WHOLE, Axis, Box, Cube, FloatArray, Runs, inside_box
from hyperlens.spaces.parameter import Parameter
from hyperlens.spaces.points import sobol
from hyperlens.surrogates.additive import additive
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.surrogates.additive.basis import Basis
from hyperlens.surrogates.additive.components import Components
from hyperlens.surrogates.additive.crowding import spread_out
from hyperlens.surrogates.additive.hyper import TREND, Hyper, Prior, part_of, spectrum
from hyperlens.surrogates.additive.kernel import JITTER, Density, Kernel
from hyperlens.surrogates.additive.learnt_set import LearntSet
from hyperlens.surrogates.additive.sampling import mode, sample
from hyperlens.surrogates.additive.warp import Warp
from hyperlens.surrogates.additive.weights import Weights

INTEGERS = Axis(np.array([0.0, 0.2, 0.6, 0.8, 1.0]), np.array([0.1, 0.4, 0.7, 0.9]))
LOG_INTEGERS = Parameter("units", "integer", 1, 40, log=True).axis
CONTINUOUS = Cube.continuous(2)
FLAT = Cube((Axis(), INTEGERS, Axis.categorical(3), Axis()))
# column 1 exists under two of three categories, 2 where 1 is above 0.4, 3 under the first, 4 always
CHAIN = Cube(
    (Axis.categorical(3), Axis(), INTEGERS, Axis(), Axis()),
    {1: (((0, ((0.0, 2 / 3),)),),), 2: (((1, ((0.4, 1.0),)),),), 3: (((0, ((0.0, 1 / 3),)),),)},
)
# column 2 exists under the first or the third category, 3 where 0 is the first or 1 is below 0.4
EITHER = Cube(
    (Axis.categorical(4), Axis(), Axis(), Axis()),
    {
        2: (((0, ((0.0, 0.25),)),), ((0, ((0.5, 0.75),)),)),
        3: (((0, ((0.0, 0.25),)),), ((1, ((0.0, 0.4),)),)),
    },
)


def sampled(cube: Cube, n: int, seed: int) -> FloatArray:
    return cube.vectors(np.random.default_rng(seed).random((n, cube.d)))


def gauss(low: float, high: float, nodes: int) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights that integrate over an interval, to rounding if its waves are below them."""
    x, weights = np.polynomial.legendre.leggauss(nodes)
    return low + (high - low) * (x + 1) / 2, (high - low) * weights / 2


def tensor(cube: Cube, nodes: int) -> tuple[FloatArray, FloatArray]:
    """Latents and weights that integrate over a cube, `nodes` for each part of a continuous axis.

    A product of two functions has at most 13 waves on an axis, for which 56 nodes are plenty.
    """
    parts = []
    clauses = [clause for each in cube.conditions.values() for clause in each]
    for j, axis in enumerate(cube.axes):
        if axis.edges is not None:
            parts.append(((axis.edges[:-1] + axis.edges[1:]) / 2, np.diff(axis.edges)))
            continue
        ends = {
            e for clause in clauses for c, runs in clause if c == j for run in runs for e in run
        }
        cuts = sorted({0.0, 1.0, *ends})
        pairs = [gauss(low, high, nodes) for low, high in pairwise(cuts)]
        parts.append((np.concatenate([x for x, _ in pairs]), np.concatenate([w for _, w in pairs])))
    latents = [m.ravel() for m in np.meshgrid(*(x for x, _ in parts), indexing="ij")]
    return np.stack(latents, axis=1), np.asarray(
        reduce(np.multiply.outer, [w for _, w in parts])
    ).ravel()


def random_t(d: int, rng: np.random.Generator) -> FloatArray:
    prior = Prior.of(d)
    return np.asarray(prior.mean + prior.std * rng.uniform(-1, 1, len(prior.mean)))


def random_weights(cube: Cube, seed: int, draws: int = 1) -> Weights:
    rng = np.random.default_rng(seed)
    components = Components(cube)
    shape = (components.ends[-1], draws)
    return Weights(components, rng.normal(size=draws), rng.normal(size=shape))


# Functions of one axis


@st.composite
def axes_and_runs(draw: st.DrawFn) -> tuple[Axis, Runs]:
    """An axis and a part of it: an interval, or some of its levels."""
    kind = draw(st.sampled_from(["continuous", "levels", "log", "category"]))
    if kind == "continuous":
        low = draw(st.floats(0.0, 0.9))
        return Axis(), ((low, draw(st.floats(low + 0.05, 1.0))),)
    levels = draw(st.integers(1, 25))
    axis = Axis.categorical(levels) if kind == "category" else LOG_INTEGERS
    if kind == "levels":
        widths = np.array(draw(st.lists(st.integers(1, 9), min_size=levels, max_size=levels)))
        edges = np.concatenate([[0.0], np.cumsum(widths) / widths.sum()])
        axis = Axis(edges, (edges[:-1] + edges[1:]) / 2)
    some = draw(st.sets(st.integers(0, axis.levels - 1), min_size=1))
    assert axis.edges is not None
    return axis, tuple((float(axis.edges[k]), float(axis.edges[k + 1])) for k in sorted(some))


def pieces(axis: Axis, runs: Runs) -> tuple[FloatArray, FloatArray]:
    """Latents in a part of an axis and their weights, which sum to one."""
    found = []
    for low, high in runs:
        if axis.edges is None:
            found.append(gauss(low, high, 80))
        else:
            cuts = axis.edges[(axis.edges > low) & (axis.edges < high)]
            ends = np.unique(np.concatenate([[low, high], cuts]))
            found.append(((ends[:-1] + ends[1:]) / 2, np.diff(ends)))
    weights = np.concatenate([w for _, w in found])
    return np.concatenate([x for x, _ in found]), weights / weights.sum()


@settings(max_examples=80, deadline=None)
@given(axes_and_runs(), st.integers(1, 16))
def test_functions_are_orthonormal_and_have_mean_zero(case: tuple[Axis, Runs], size: int) -> None:
    axis, runs = case
    for part in (WHOLE, runs):
        basis = Basis(axis, size, part)
        x, weights = pieces(axis, part)
        phi = basis.at(axis.snap(x))
        levels = int((axis.weights(part) > 0).sum()) if axis.levels else 0
        expected = size if not levels else levels - 1 if not axis.ordered else min(size, levels - 1)
        assert phi.shape[1] == len(basis) == len(basis.frequencies) == expected
        np.testing.assert_allclose(weights @ phi, 0, atol=1e-9)
        np.testing.assert_allclose(phi.T @ (weights[:, None] * phi), np.eye(expected), atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(axes_and_runs(), st.floats(0, 0.8), st.floats(0.05, 0.2))
def test_mean_over_a_part_is_an_integral(
    case: tuple[Axis, Runs], start: float, width: float
) -> None:
    axis, runs = case
    low, high = runs[0]
    part = ((low + start * (high - low), low + (start + width) * (high - low)),)
    basis = Basis(axis, 16, runs)
    x, weights = pieces(axis, part)
    np.testing.assert_allclose(basis.mean(part), weights @ basis.at(axis.snap(x)), atol=1e-9)


def test_inactive_rows_are_zero_and_a_split_continuous_part_has_no_functions() -> None:
    assert not Basis(Axis(), 4).at(np.array([np.nan])).any()
    assert len(Basis(Axis(), 4, ((0.0, 0.2), (0.5, 1.0)))) == 0


@pytest.mark.parametrize("length", [0.15, 0.6, 2.0])
def test_the_spectrum_is_that_of_a_reflected_matern_kernel(length: float) -> None:
    """Mirror images of a Matern-5/2 kernel (Rasmussen and Williams 2006, Eq. 4.17), centred and divided
    by its mean variance."""
    steps = 120
    x = (np.arange(steps) + 0.5) / steps
    images = 2.0 * np.arange(-12, 13)[:, None, None]
    apart = np.abs(np.stack([x[:, None] - x + images, x[:, None] + x + images]))
    scaled = np.sqrt(5) * apart / length
    reflected = ((1 + scaled + scaled**2 / 3) * np.exp(-scaled)).sum(axis=(0, 1))
    centred = reflected - reflected.mean()
    variances, slope = spectrum(length, np.arange(1.0, steps))
    phi = np.sqrt(2) * np.cos(np.pi * x[:, None] * np.arange(1, steps))
    expected = centred / np.diagonal(centred).mean()
    # left out are 2 sum of (pi a)^-6 over a >= 120, 2e-14, of a total that is 1e-4 or more
    np.testing.assert_allclose((phi * variances) @ phi.T, expected, atol=1e-6)
    above, below = (spectrum(length * np.exp(s), np.arange(1.0, steps))[0] for s in (1e-5, -1e-5))
    np.testing.assert_allclose(slope, (above - below) / 2e-5, atol=1e-9)


def test_functions_are_free_at_the_ends() -> None:
    """A straight line is none of the cosines of the axis itself, whose slope is 0 at the ends."""
    x, weights = gauss(0.0, 1.0, 80)
    phi, ends = Basis(Axis(), 16).at(x), Basis(Axis(), 16).at(np.array([0.0, 1.0]))
    line = ends @ (phi.T @ (weights * x))
    np.testing.assert_allclose(line, [-0.5, 0.5], atol=1e-3)
    cosines = np.sqrt(2) * np.cos(np.pi * x[:, None] * np.arange(1, 17))
    best = np.sqrt(2) * np.sum(cosines.T @ (weights * x))
    assert abs(best + 0.5) > 1e-2


# Kernel


def by_hand(cube: Cube, hyper: Hyper, X: FloatArray, Z: FloatArray) -> FloatArray:
    """The kernel as a sum over all sets of at most three axes."""
    components = Components(cube)

    def factor(basis: Basis, j: int, size: int) -> FloatArray:
        a = basis.frequencies[:size]
        variances = (5 / hyper.lengths[j] ** 2 + (np.pi * a) ** 2) ** -3.0
        if not cube.axes[j].ordered:
            variances = np.ones(len(a))
        variances = variances / variances.sum() if len(a) else variances
        phi = [basis.at(rows[:, j])[:, :size] for rows in (X, Z)]
        return np.asarray((phi[0] * hyper.parts[j] * variances) @ phi[1].T)

    total = np.full((len(X), len(Z)), TREND**2)
    free = [j for j in range(cube.d) if not cube.descendants(j)]
    triples = [j for j in free if components.sizes[2][j]]
    for q, among in ((1, range(cube.d)), (2, range(cube.d)), (3, triples)):
        portion = hyper.variances[q - 1] / max(comb(len(among), q), 1)
        for U in combinations(among, q):
            term = np.ones_like(total)
            for j in U:
                basis, size = components.bases[j], components.sizes[q - 1][j]
                below = [c for c in U if j in cube.ancestors(c)]
                if below:
                    basis = components.nested[U].basis
                    size = len(basis)
                    if not size:
                        term[:] = 0
                        break
                term *= factor(basis, j, size)
            total += portion * term
    return total


MANY_LEVELS = Cube((Axis.categorical(300), *Cube.continuous(4).axes))
KERNELS = [Cube.continuous(1), Cube.continuous(5), FLAT, CHAIN, EITHER, MANY_LEVELS]


@pytest.mark.parametrize("cube", KERNELS)
def test_kernel_is_the_sum_over_all_sets_and_the_product_of_features(cube: Cube) -> None:
    rng = np.random.default_rng(3)
    components = Components(cube)
    kernel = Kernel(components, Hyper.of(random_t(cube.d, rng)))
    X, Z = sampled(cube, 30, 1), sampled(cube, 20, 2)
    rows, other = components.rows(X), components.rows(Z)
    K = kernel.gram(rows, other)
    np.testing.assert_allclose(K, by_hand(cube, kernel.hyper, X, Z), rtol=1e-10, atol=1e-10)
    left, right = components.features(rows), components.features(other)
    assert left.shape == (30, components.ends[-1])
    weighted = (left * kernel.prior_variances()) @ right.T + TREND**2
    np.testing.assert_allclose(K, weighted, rtol=1e-10, atol=1e-10)
    own = kernel.gram(rows, rows)
    np.testing.assert_allclose(own, own.T, rtol=1e-13)
    assert np.linalg.eigvalsh(own).min() > -1e-12 * np.trace(own)


@settings(max_examples=40, deadline=None)
@given(discrete_cubes(), st.integers(0, 99))
def test_kernel_is_the_sum_over_all_sets_on_any_conditions(cube: Cube, seed: int) -> None:
    rng = np.random.default_rng(seed)
    kernel = Kernel(Components(cube), Hyper.of(random_t(cube.d, rng)))
    X, Z = sampled(cube, 12, seed), sampled(cube, 9, seed + 1)
    K = kernel.gram(kernel.components.rows(X), kernel.components.rows(Z))
    np.testing.assert_allclose(K, by_hand(cube, kernel.hyper, X, Z), rtol=1e-9, atol=1e-9)


def test_a_category_of_very_many_levels_has_no_pairs() -> None:
    components = Components(MANY_LEVELS)
    assert (0,) in components.effects
    assert not [U for U in components.effects if len(U) > 1 and 0 in U]
    assert (1, 2) in components.effects
    assert components.ends[-1] < 6000


def test_mean_variance_of_the_kernel_is_that_of_its_orders() -> None:
    """Over the space the variances of all effects of an order are what its hyperparameter says."""
    cube = Cube(FLAT.axes[:3])
    components = Components(cube)
    kernel = Kernel(components, Hyper.of(random_t(3, np.random.default_rng(0))))
    latents, weights = tensor(cube, 56)
    features = components.features(components.rows(cube.vectors(latents)))
    variance = weights @ (features**2 * kernel.prior_variances()).sum(axis=1)
    a, b, c = kernel.hyper.parts
    of_order = np.array([(a + b + c) / 3, (a * b + a * c + b * c) / 3, a * b * c])
    assert variance == pytest.approx(kernel.hyper.variances @ of_order)


# Effects


def orthogonality(cube: Cube, latents: FloatArray, weights: FloatArray) -> None:
    components = Components(cube)
    features = components.features(components.rows(cube.vectors(latents)))
    expected = np.concatenate([
        np.full(components.width(U), components.probability(U)) for U in components.effects
    ] or [np.zeros(0)])  # fmt: skip
    inner = features.T @ (weights[:, None] * features)
    np.testing.assert_allclose(inner, np.diag(expected), atol=1e-9)
    np.testing.assert_allclose(weights @ features, 0, atol=1e-9)


SAME_PARENT = Cube(EITHER.axes[:3], {2: EITHER.conditions[2]})


@pytest.mark.parametrize("cube", [SAME_PARENT, Cube(CHAIN.axes[:4], CHAIN.conditions)])
def test_effects_of_a_conditional_space_are_orthogonal(cube: Cube) -> None:
    assert len(Components(cube).nested) == (1 if cube is SAME_PARENT else 4)
    orthogonality(cube, *tensor(cube, 56))


@settings(max_examples=40, deadline=None)
@given(discrete_cubes())
def test_effects_are_orthogonal_on_any_conditions_of_one_clause(cube: Cube) -> None:
    assume(all(len(clauses) == 1 for clauses in cube.conditions.values()))
    orthogonality(cube, *every_latent(cube))


def test_probabilities_are_shares_of_the_space() -> None:
    for cube in (FLAT, CHAIN, EITHER):
        components = Components(cube)
        for U in components.effects:
            assert components.probability(U) == pytest.approx(cube.share({}, U))


def test_a_parent_with_one_value_and_one_that_is_never_met_have_no_pair() -> None:
    once = Cube((Axis.categorical(2), Axis()), {1: (((0, ((0.0, 0.5),)),),)})
    assert Components(once).effects == ((0,), (1,))
    never = (((0, ((0.0, 0.5),)), (0, ((0.5, 1.0),))),)
    for axis in (Axis.categorical(2), INTEGERS, Axis()):
        assert Components(Cube((axis, Axis()), {1: never})).effects == ((0,),)


def test_a_parent_is_looked_at_where_it_is_active_itself() -> None:
    """Column 2 exists where 0 is the first, or where 1, which needs the second, is below a half."""
    first, second = ((0.0, 0.5),), ((0.5, 1.0),)
    conditions = {1: (((0, second),),), 2: (((0, first),), ((1, ((0.0, 0.5),)),))}
    cube = Cube((Axis.categorical(2), Axis(), Axis()), conditions)
    assert Components(cube).nested[1, 2].basis.runs == ((0.0, 0.5),)


def test_many_conditions_and_many_axes_are_listed_quickly() -> None:
    """One list of scenarios serves all effects: 9 switches have 512, effects are hundreds."""
    switches = tuple(Axis.categorical(2) for _ in range(9))
    on: Runs = ((0.0, 0.5),)
    conditions = {9 + k: (((k, on),), ((k + 1, on),)) for k in range(8)}
    cube = Cube((*switches, *(Axis() for _ in range(8))), conditions)
    components = Components(cube)
    assert len(components.effects) > 100
    assert components.probability((9,)) == pytest.approx(0.75)
    assert components.probability((9, 10)) == pytest.approx(1 / 2 + 1 / 8)


# Density


@pytest.mark.parametrize("cube", [Cube.continuous(3), FLAT, CHAIN, EITHER])
def test_gradient_is_the_finite_difference(cube: Cube) -> None:
    rng = np.random.default_rng(1)
    X, y = sampled(cube, 25, 1), np.exp(rng.normal(size=25))
    components = Components(cube)
    density = Density(components, components.rows(X), y)
    for _ in range(3):
        t = random_t(cube.d, rng)
        _, gradient = density(t)
        step = 1e-5 * np.eye(len(t))
        numeric = [(density(t + e, False)[0] - density(t - e, False)[0]) / 2e-5 for e in step]
        # values of some tens to hundreds, of covariances whose condition is up to 1e4, have 10 digits
        # and more, so a quotient by 2e-5 has errors of up to 1e-5
        np.testing.assert_allclose(gradient, numeric, rtol=1e-5, atol=1e-5)


def test_density_is_the_normal_one_of_costs_up_to_a_constant() -> None:
    rng = np.random.default_rng(2)
    X, y = sampled(CHAIN, 20, 1), 7 + np.exp(rng.normal(size=20))
    components = Components(CHAIN)
    density = Density(components, components.rows(X), y)
    prior = Prior.of(5)
    differences = []
    for _ in range(4):
        t = random_t(5, rng)
        hyper = Hyper.of(t)
        warp = Warp.of(y, hyper.log_kappa, hyper.log_eta)
        K = by_hand(CHAIN, hyper, X, X) + (hyper.noise + JITTER) * np.eye(20)
        logarithm = multivariate_normal.logpdf(warp.forward(y), cov=K)
        h = 1e-6
        logarithm += np.log((warp.forward(y + h) - warp.forward(y - h)) / (2 * h)).sum()
        logarithm += multivariate_normal.logpdf(t, prior.mean, np.diag(prior.std**2))
        differences.append(density(t)[0] + logarithm)
    np.testing.assert_allclose(differences, differences[0], atol=1e-5)


def test_few_more_parameters_are_thought_to_matter_in_a_large_space() -> None:
    def mattering(d: int) -> float:
        """How many of d parts are thought to be above 1."""
        belief = part_of(d)
        return d * float(norm.sf(-np.log(belief.median) / belief.sigma))

    assert part_of(3) == part_of(7)
    assert part_of(14).median < part_of(7).median
    assert mattering(14) < 1.6 * mattering(7)  # of twice as many
    assert part_of(100) == part_of(14)


# Warp

COSTS = st.lists(st.floats(-100, 100), min_size=2, max_size=20).map(np.array)
LOGS = st.floats(-4.0, 6.0)


@settings(max_examples=80, deadline=None)
@given(COSTS, LOGS, LOGS)
def test_warp_goes_forth_and_back(y: FloatArray, log_kappa: float, log_eta: float) -> None:
    assume(np.ptp(y) > 1e-3)
    warp = Warp.of(y, log_kappa, log_eta)
    z = warp.forward(y)
    assert np.isfinite(z).all()
    assert z.mean() == pytest.approx(0, abs=1e-8)
    assert z.std() == pytest.approx(1, abs=1e-8)
    assert (np.diff(z[np.argsort(y, kind="stable")]) >= 0).all()
    # far ends cost digits: of the distance between them 16 are known
    np.testing.assert_allclose(warp.back(z), y, atol=1e-12 * (warp.b - warp.a) + 1e-12)


@pytest.mark.parametrize("log_kappa", [-3.0, 0.0, 3.0])
def test_warp_does_not_depend_on_unit_or_origin(log_kappa: float) -> None:
    y = np.random.default_rng(0).gamma(1.0, size=30)
    z = Warp.of(y, log_kappa, -log_kappa).forward(y)
    for unit, origin in ((1e12, 0.0), (1e-12, 0.0), (1e-200, 0.0), (1e200, 0.0), (3.0, -50.0)):
        moved = unit * y + origin
        warp = Warp.of(moved, log_kappa, -log_kappa)
        np.testing.assert_allclose(warp.forward(moved), z, atol=1e-10)
        assert np.isfinite(warp.log_jacobian(moved))


def test_slope_and_jacobian_are_derivatives() -> None:
    y = np.random.default_rng(0).gamma(1.0, size=30)
    warp = Warp.of(y, -2.0, 1.0)
    z, h = warp.forward(y), 1e-6
    slope = (warp.back(z + h) - warp.back(z - h)) / (2 * h)
    np.testing.assert_allclose(warp.slope(y), slope, rtol=1e-6)
    assert warp.log_jacobian(y) == pytest.approx(-np.log(slope).sum(), abs=1e-5)


def test_warp_with_far_ends_is_linear_and_with_near_ends_a_logarithm() -> None:
    y = np.random.default_rng(0).gamma(1.0, size=30)
    linear = Warp.of(y, 14.0, 14.0).forward(y)
    np.testing.assert_allclose(linear, (y - y.mean()) / y.std(), atol=1e-4)
    half = np.median(y) - y.min()
    for kappa in (0.1, 1.0):
        logs = np.log(y - y.min() + kappa * half)
        near = Warp.of(y, np.log(kappa), 14.0).forward(y)
        np.testing.assert_allclose(near, (logs - logs.mean()) / logs.std(), atol=1e-4)


def test_warp_of_far_costs_stays_between_its_ends() -> None:
    warp = Warp.of(np.array([0.0, 1.0, 5.0]), 0.0, 0.0)
    ends = warp.back(np.array([-1e6, 1e6]))
    np.testing.assert_allclose(ends, [-1.0, 10.0])


@pytest.mark.parametrize(
    "y",
    [
        [0.0, 0.0, 0.0, 1.0],  # the median is the best
        [0.3, 0.3, 0.30000000000000004, 0.30000000000000004, 1.3],  # but for rounding
        [1.0, 1.0 + 2**-52, 1.0 + 2**-51, 1.0 + 2**-50],  # they differ by little
        [1e12, 1e12 + 1, 1e12 + 2],
    ],
)
def test_warp_of_ties_is_finite_and_tells_costs_apart(y: list[float]) -> None:
    for log_kappa, log_eta in product((-5.0, 0.0, 7.0), repeat=2):
        warp = Warp.of(np.array(y), log_kappa, log_eta)
        z = warp.forward(np.array(y))
        assert np.isfinite(z).all()
        assert z[-1] > z[0] + 0.5
        assert np.isfinite(warp.log_jacobian(np.array(y)))
        if np.ptp(y) > 0.1:
            # costs whose difference is rounding are the same to the warp
            assert z[len(y) // 2] - z[0] < 1e-9 or y[len(y) // 2] - y[0] > 0.1


# Hyperparameters


def metropolis(
    density: Density, begin: FloatArray, shape: FloatArray, steps: int, rng: np.random.Generator
) -> FloatArray:
    """A random walk whose steps have this covariance, its first fifth left out."""
    root = np.linalg.cholesky(shape) * 2.4 / np.sqrt(len(begin))
    t, value = begin, density(begin, gradient=False)[0]
    walk = np.empty((steps, len(t)))
    for k in range(steps):
        tried = t + root @ rng.normal(size=len(t))
        found = density(tried, gradient=False)[0]
        if np.log(rng.random()) < value - found:
            t, value = tried, found
        walk[k] = t
    return walk[steps // 5 :]


def test_drawn_hyperparameters_agree_with_a_long_random_walk() -> None:
    rng = np.random.default_rng(5)
    X = rng.random((14, 1))
    y = np.sin(4 * X[:, 0]) + 0.3 * rng.normal(size=14)
    components = Components(Cube.continuous(1))
    density = Density(components, components.rows(X), y)
    best = mode(density, rng)
    assert density(best)[0] <= min(density(random_t(1, rng), False)[0] for _ in range(100))
    drawn = np.vstack([sample(density, best, 16, rng) for _ in range(25)])
    walk = metropolis(density, best, np.cov(drawn.T), 6000, rng)
    spread = walk.std(axis=0)
    # some 150 independent steps and as many resampled candidates: errors of a tenth each; thrice that
    np.testing.assert_allclose((drawn.mean(axis=0) - walk.mean(axis=0)) / spread, 0, atol=0.4)
    np.testing.assert_allclose(drawn.std(axis=0) / spread, 1, atol=0.35)


# Drawn functions


@pytest.mark.parametrize("cube", [FLAT, CHAIN])
def test_draws_have_mean_and_covariance_of_the_dense_posterior(cube: Cube) -> None:
    rng = np.random.default_rng(7)
    X, y, Z = sampled(cube, 15, 1), np.exp(rng.normal(size=15)), sampled(cube, 10, 2)
    components = Components(cube)
    t = random_t(cube.d, rng)
    t[-3] = np.log(0.05)
    rows = components.rows(X)
    one = LearntSet.of(components, t, rows, y)
    count = 4000
    w, trend = one.draw(components.features(rows), count, rng)
    drawn = components.features(components.rows(Z)) @ w + trend
    hyper = Hyper.of(t)
    K = by_hand(cube, hyper, X, X) + hyper.noise * np.eye(15)
    across, prior = by_hand(cube, hyper, Z, X), by_hand(cube, hyper, Z, Z)
    mean = across @ np.linalg.solve(K, Warp.of(y, *t[-2:].tolist()).forward(y))
    covariance = prior - across @ np.linalg.solve(K, across.T)
    std = np.sqrt(np.diagonal(covariance))
    away = np.abs(drawn.mean(axis=1) - mean) / std
    assert away.max() < 4.5 / np.sqrt(count)
    errors = np.abs(np.cov(drawn) - covariance) / np.outer(std, std)
    assert errors.max() < 4.5 * np.sqrt(2 / count)


# Weights


@st.composite
def cubes_and_regions(draw: st.DrawFn) -> tuple[Cube, tuple[int, ...], Box]:
    """A discrete cube, one or two columns of it and a region of some levels of other ones."""
    cube = draw(discrete_cubes())
    columns = draw(st.lists(st.integers(0, cube.d - 1), min_size=1, max_size=2, unique=True))
    region: dict[int, Runs] = {}
    for j in draw(st.sets(st.integers(0, cube.d - 1), max_size=2)):
        edges = cube.axes[j].edges
        assert edges is not None
        some = draw(st.sets(st.integers(0, cube.axes[j].levels - 1), min_size=1))
        region[j] = tuple((float(edges[k]), float(edges[k + 1])) for k in sorted(some))
    return cube, tuple(columns), region


@settings(max_examples=80, deadline=None)
@given(cubes_and_regions(), st.integers(0, 99))
def test_averages_are_weighted_sums_over_all_cells(
    case: tuple[Cube, tuple[int, ...], Box], seed: int
) -> None:
    cube, columns, region = case
    weights = random_weights(cube, seed)
    latents, share = every_latent(cube)
    values, X = weights.at(cube.vectors(latents)), cube.vectors(latents)
    counts = cube.active(latents)[:, [*columns, *region]].all(axis=1) & inside_box(X, region)
    codes = [np.asarray(cube.axes[c].codes) for c in columns]
    grid = np.array(list(product(*codes)))
    averaged = weights.averaged(columns, grid, region)[:, 0]
    for point, value in zip(grid, averaged, strict=True):
        here = counts & (X[:, columns] == point).all(axis=1)
        if here.any():
            assert value == pytest.approx(np.average(values[here], weights=share[here]), abs=1e-8)
        else:
            assert np.isnan(value)


@pytest.mark.parametrize("cube", [FLAT, CHAIN, EITHER])
@pytest.mark.parametrize("columns", [(1,), (0, 3), (3, 2)])
def test_averages_are_those_of_many_points(cube: Cube, columns: tuple[int, ...]) -> None:
    weights = random_weights(cube, 4)
    region: Box = {1: ((0.0, 0.6),), 3: ((0.1, 0.3), (0.5, 0.9))}
    for part in ({}, region):
        grid = np.array([[0.1, 0.15], [0.2, 0.55]])[:, : len(columns)]
        averaged = weights.averaged(columns, grid, part)[:, 0]
        for point, value in zip(grid, averaged, strict=True):
            latents = sobol(2**14, cube.d, 0)
            latents[:, columns] = point
            X = cube.vectors(latents)
            counts = cube.active(latents)[:, list(columns)].all(axis=1) & inside_box(X, part)
            values = weights.at(X[counts])
            if not len(values):
                assert np.isnan(value)
            else:
                # even points err by less than independent ones would
                assert abs(value - values.mean()) < 3 * values.std() / np.sqrt(len(values)) + 1e-9


@settings(max_examples=40, deadline=None)
@given(discrete_cubes(), st.integers(0, 99))
def test_variances_are_the_sobol_indices_of_a_space_without_conditions(
    cube: Cube, seed: int
) -> None:
    flat = Cube(cube.axes)
    weights = random_weights(flat, seed)
    latents, _ = every_latent(flat)
    expected = brute_force_shares(flat, weights.at(flat.vectors(latents)), 3)
    total = expected.pop(())
    found = weights.variances(tuple(expected))[:, 0]
    np.testing.assert_allclose(found, list(expected.values()), atol=1e-8)
    assert found.sum() == pytest.approx(total)


@settings(max_examples=40, deadline=None)
@given(discrete_cubes(), st.integers(0, 99))
def test_variances_sum_to_that_of_the_function_under_conditions(cube: Cube, seed: int) -> None:
    assume(all(len(clauses) == 1 for clauses in cube.conditions.values()))
    weights = random_weights(cube, seed)
    latents, share = every_latent(cube)
    values = weights.at(cube.vectors(latents))
    assert share @ values == pytest.approx(weights.trend[0], abs=1e-8)
    variance = share @ (values - share @ values) ** 2
    assert weights.variances().sum() == pytest.approx(variance, abs=1e-8)


def shapley(worth: Callable[[tuple[int, ...]], float]) -> FloatArray:
    """Of four players, by all coalitions."""
    known = {S: worth(S) for size in range(5) for S in combinations(range(4), size)}
    values = np.zeros(4)
    for S, j in product(known, range(4)):
        if j not in S:
            part = factorial(len(S)) * factorial(3 - len(S)) / factorial(4)
            values[j] += part * (known[tuple(sorted((*S, j)))] - known[S])
    return values


def test_contributions_are_the_shapley_values_of_all_coalitions() -> None:
    weights = random_weights(FLAT, 1)
    background, share = tensor(FLAT, 32)
    everybody, (vector,) = FLAT.vectors(background), sampled(FLAT, 1, 3)

    def worth(S: tuple[int, ...]) -> float:
        rows = everybody.copy()
        rows[:, list(S)] = vector[list(S)]
        return float(share @ weights.at(rows))

    found, average = weights.contributions(vector)
    assert average == pytest.approx(worth(()))
    assert found.sum() == pytest.approx(weights.at(vector[None])[0] - average)
    np.testing.assert_allclose(found, shapley(worth), atol=1e-8)


def test_changes_between_two_vectors_are_the_shapley_values_of_all_coalitions() -> None:
    weights = random_weights(FLAT, 2)
    source, target = sampled(FLAT, 2, 4)
    source[1] = target[1]

    def worth(S: tuple[int, ...]) -> float:
        mixed = source.copy()
        mixed[list(S)] = target[list(S)]
        return float(weights.at(mixed[None])[0])

    found = weights.between(source, target)
    np.testing.assert_allclose(found, shapley(worth), atol=1e-8)
    assert found[1] == 0


def test_moments_are_those_of_the_draws() -> None:
    weights = random_weights(FLAT, 1, draws=40)
    X = sampled(FLAT, 7, 0)
    features = weights.components.features(weights.components.rows(X))
    drawn = features @ weights.w + weights.trend
    mean, variance = weights.moments(X)
    np.testing.assert_allclose(mean, drawn.mean(axis=1))
    np.testing.assert_allclose(mean, weights.at(X))
    np.testing.assert_allclose(variance, drawn.var(axis=1))


# The surrogate


def shares(model: Additive) -> FloatArray:
    """V_U / V of each effect in each draw, (effects, D)."""
    return model.drawn_shares(3)[1]


def smooth(X: FloatArray) -> FloatArray:
    return np.asarray(np.sin(3 * X[:, 0]) + X[:, 1] * X[:, -1])


def test_unit_origin_and_a_second_time_change_nothing() -> None:
    X = sampled(Cube.continuous(2), 20, 0)
    y = smooth(X) + 0.05 * np.random.default_rng(0).normal(size=20)
    model = Additive(seed=3).fit(X, y)
    again = Additive(seed=3).fit(X, y)
    np.testing.assert_array_equal(again.weights.w, model.weights.w)
    np.testing.assert_array_equal(again.predict(X)[1], model.predict(X)[1])
    for unit, origin in ((2.0**40, 0.0), (2.0**-40, 0.0), (1e12, 0.0), (1e-12, 0.0), (8.0, 1000.0)):
        moved = Additive(seed=3).fit(X, unit * y + origin)
        mean, std = moved.predict(X)
        if np.log2(unit) % 40 == 0:
            np.testing.assert_array_equal(shares(moved), shares(model))
            np.testing.assert_array_equal(mean / unit, model.predict(X)[0])
        # otherwise rounding ends the search elsewhere within its tolerance, and other sets are drawn
        error = 4 * shares(model).std(axis=1) / np.sqrt(8)
        assert (np.abs(shares(moved).mean(axis=1) - shares(model).mean(axis=1)) <= error).all()
        np.testing.assert_allclose((mean - origin) / unit, model.predict(X)[0], atol=0.03)
        np.testing.assert_allclose(std / unit, model.predict(X)[1], rtol=0.3)


def test_shares_are_variances_of_the_draws_as_parts_of_their_sum() -> None:
    X = sampled(FLAT, 15, 0)
    model = Additive(FLAT).fit(X, smooth(X))
    effects, drawn = model.drawn_shares(3)
    assert effects == model.components.effects
    np.testing.assert_allclose(drawn.sum(axis=0), 1)
    assert tuple(model.shares(1)) == ((0,), (1,), (2,), (3,))
    latents, weights = tensor(FLAT, 10)
    features = model.components.features(model.components.rows(FLAT.vectors(latents)))
    one, own = model.weights.w[:, 7], slice(model.components.ends[1])
    total = weights @ (features @ one) ** 2
    main = weights @ (features[:, own] @ one[own]) ** 2
    # ten nodes for two functions that are smooth, not for the finest
    assert drawn[0, 7] == pytest.approx(main / total, abs=0.01)
    mean = model.weights.w.mean(axis=1)
    of_mean = weights @ (features[:, own] @ mean[own]) ** 2 / (weights @ (features @ mean) ** 2)
    assert model.expected_shares()[0] == pytest.approx(of_mean, abs=0.01)
    assert model.shares()[0,] == np.median(drawn[0])


def test_a_cost_that_is_doubted_says_less() -> None:
    """Half of the rows are off by 1: believed they bend the function, doubted they hardly do."""
    X = np.linspace(0, 1, 24)[:, None]
    true = np.sin(5 * X[:, 0])
    off = np.where(np.arange(24) % 2, 1.0, 0.0)
    believed = Additive().fit(X, true + off)
    doubted = Additive().fit(X, true + off, off / (true + off).std())
    wrong = [np.abs(m.predict(X[::2])[0] - true[::2]).mean() for m in (believed, doubted)]
    assert wrong[1] < wrong[0] / 3
    spread = [m.predict(X[1::2])[1].mean() for m in (Additive().fit(X, true), doubted)]
    assert spread[1] > 2 * spread[0]


@pytest.mark.parametrize("anchors", [128, 512])
def test_drawn_functions_are_written_as_weights_by_kriging(
    anchors: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With fewer points than weights and with more: the same as by dense algebra; so if capped."""
    monkeypatch.setattr(additive, "ANCHORS", anchors)
    X = sampled(CONTINUOUS, 12, 0)
    model = Additive().fit(X, smooth(X))
    components, learnt = model.components, model.mode.kernel.hyper
    hyper = replace(learnt, variances=np.maximum(learnt.variances, [0.7, 0.3, 0.1]))
    assert 128 < components.ends[-1] < 512
    Z, new = sobol(anchors, 2, 0), sampled(CONTINUOUS, 30, 1)
    K = by_hand(CONTINUOUS, hyper, Z, Z) + additive.ANCHOR_NOISE * np.eye(anchors)
    across = by_hand(CONTINUOUS, hyper, new, Z)
    bound = model.cost_at(0.3)
    assert np.mean(model.anchor_costs.mean(axis=1) <= bound) == pytest.approx(0.3, abs=0.01)
    capped = np.minimum(model.anchor_costs, bound)
    for found, costs in ((model.weights, model.anchor_costs), (model.capped(bound), capped)):
        expected = model.y.mean() + across @ np.linalg.solve(K, costs - model.y.mean())
        drawn = components.features(components.rows(new)) @ found.w + found.trend
        np.testing.assert_allclose(drawn, expected, atol=1e-6)


def test_draws_at_the_anchors_are_those_of_each_set_brought_back() -> None:
    X = sampled(CONTINUOUS, 12, 0)
    model = Additive().fit(X, smooth(X))
    anchors = sobol(additive.ANCHORS, 2, 0)
    found = model.costs(anchors)
    np.testing.assert_array_equal(found, model.anchor_costs)
    features = model.components.features(model.components.rows(anchors))
    for k, (one, (w, trend)) in enumerate(zip(model.sets, model.drawn, strict=True)):
        ends = one.warp.low + np.array([one.warp.a, one.warp.b])
        costs = ends[0] + (ends[1] - ends[0]) / (
            1 + np.exp(-one.warp.centre - one.warp.scale * (features @ w + trend))
        )
        np.testing.assert_allclose(found[:, 16 * k : 16 * (k + 1)], costs, atol=1e-9)


Costs = Callable[[FloatArray], FloatArray]
DIFFICULT: dict[str, tuple[Cube, int, Costs]] = {
    "one trial": (CONTINUOUS, 1, smooth),
    "two trials": (CONTINUOUS, 2, smooth),
    "equal costs": (CONTINUOUS, 9, lambda X: np.full(len(X), 3.0)),
    "one axis": (Cube.continuous(1), 12, lambda X: X[:, 0]),
    "twenty axes": (Cube.continuous(20), 30, smooth),
    "fewer trials than axes": (Cube.continuous(7), 4, smooth),
    "thirty categories": (Cube((Axis.categorical(30), Axis())), 25, lambda X: X[:, 0] + X[:, 1]),
    "one level": (Cube((Axis.categorical(1), Axis())), 9, lambda X: X[:, 1]),
    "nothing but one level": (Cube((Axis.categorical(1),)), 9, lambda X: np.linspace(0, 1, len(X))),
    "ties": (CONTINUOUS, 15, lambda X: np.where(X[:, 0] > 0.8, 1.0, 0.0)),
    "zeros and ones": (CONTINUOUS, 15, lambda X: np.round(X[:, 0])),
    "rounding": (CONTINUOUS, 12, lambda X: 1 + 2.0**-52 * np.round(3 * X[:, 0])),
    "an outlier": (CONTINUOUS, 12, lambda X: np.where(X[:, 0] == X[:, 0].max(), 1e30, X[:, 1])),
    "switches": (Cube((Axis.categorical(2),) * 3), 12, lambda X: X[:, 0] + X[:, 1] * X[:, 2]),
    "conditions": (CHAIN, 25, lambda X: X[:, 4] + np.nan_to_num(X[:, 1])),
    "either": (EITHER, 25, lambda X: X[:, 1] + np.nan_to_num(X[:, 3])),
}


@pytest.mark.parametrize("name", DIFFICULT)
def test_difficult_data_are_fitted_and_explained(name: str) -> None:
    cube, n, costs = DIFFICULT[name]
    X = sampled(cube, n, 2)
    y = costs(X)
    model = Additive(cube).fit(X, y)
    new = sampled(cube, 200, 5)
    mean, std = model.predict(new)
    assert np.isfinite(mean).all()
    assert (std > 0).all() or np.ptp(y) == 0
    if np.ptp(y) == 0:
        assert (mean == y[0]).all()
        assert not std.any()
        assert not model.weights.variances().any()
    width = np.ptp(y)
    assert (np.abs(mean - y.mean()) <= 3 * width).all()
    assert (std <= 10 * width).all()
    held, spread = model.holdout(np.arange(min(n, 2)))
    assert np.isfinite(held).all()
    assert np.isfinite(spread).all()
    curve = model.partial_dependence((0,), cube.axes[0].snap(np.array([0.1, 0.9]))[:, None])
    assert np.isfinite(curve.mean).all()
    assert (curve.pointwise >= curve.joint).all()


def test_repeated_rows_and_a_column_that_never_varied_are_taken_as_they_are() -> None:
    rng = np.random.default_rng(0)
    X = np.repeat(rng.random((12, 2)), 3, axis=0)
    X[:, 1] = 0.3
    y = 4 * X[:, 0] + 0.01 * rng.normal(size=36)
    model = Additive().fit(X, y)
    mean, _ = model.predict(X)
    np.testing.assert_allclose(mean, 4 * X[:, 0], atol=0.15)
    # nothing is known of the other column, so draws leave room for it
    assert np.quantile(shares(model)[1], 0.95) > 0.02


def test_more_rows_than_hyperparameters_are_learnt_from() -> None:
    X = sampled(CONTINUOUS, 450, 0)
    model = Additive().fit(X, smooth(X))
    assert model.fitted_on == 200
    new = sampled(CONTINUOUS, 100, 1)
    np.testing.assert_allclose(model.mean(new), smooth(new), atol=0.1)


MIXED_AXES = Cube((Axis(), Axis(), Axis.categorical(3)), {1: (((2, ((0.0, 1 / 3),)),),)})


@pytest.mark.parametrize("column", [0, 1])
def test_along_an_axis_it_predicts_what_it_predicts_at_each_point(column: int) -> None:
    rng = np.random.default_rng(0)
    X = MIXED_AXES.vectors(rng.random((40, 3)))
    y = np.nan_to_num(X[:, 1]) * X[:, 0] + X[:, 0] ** 2 + (X[:, 2] > 0.5)
    model = Additive(MIXED_AXES).fit(X, y)
    rows, grid = X[~np.isnan(X[:, column])], np.linspace(0, 1, 7)
    mean, variance = model.curves(column, grid, rows)
    for g, point in enumerate(grid):
        moved = rows.copy()
        moved[:, column] = point
        one_by_one, std = model.predict(moved)
        np.testing.assert_allclose(mean[:, g], one_by_one, atol=1e-10)
        np.testing.assert_allclose(variance[:, g], std**2, atol=1e-10)


def test_a_crowd_is_learnt_from_as_few() -> None:
    rng = np.random.default_rng(0)
    design = MIXED_AXES.vectors(rng.random((60, 3)))
    crowd = MIXED_AXES.vectors(np.array([0.7, 0.7, 0.1]) + 0.01 * rng.random((200, 3)))
    rows = spread_out(MIXED_AXES, np.vstack([design, crowd]), 200, rng)
    assert (rows < 60).sum() >= 40
    assert (rows >= 60).sum() <= 10
    assert len(spread_out(MIXED_AXES, np.vstack([design, crowd]), 25, rng)) == 25


def test_next_to_all_of_a_design_is_learnt_from_and_every_repeat() -> None:
    rng = np.random.default_rng(0)
    design = rng.random((100, 5))
    cube = Cube.continuous(5)
    assert len(spread_out(cube, design, 200, rng)) >= 95
    repeated = np.vstack([design, design[:50]])
    assert len(spread_out(cube, repeated, 200, rng)) >= 140
    few = np.full((30, 5), 0.5) + 1e-3 * rng.random((30, 5))
    assert len(spread_out(cube, few, 200, rng)) == 30
    levels = Cube((Axis.categorical(2), Axis.categorical(2)))  # random rows are mostly repeats
    assert len(spread_out(levels, levels.vectors(rng.random((80, 2))), 200, rng)) == 80


def test_rows_left_out_are_predicted_like_a_fit_without_them() -> None:
    rng = np.random.default_rng(1)
    X = rng.random((50, 2))
    y = smooth(X) + 0.1 * rng.normal(size=50)
    rows = np.arange(5)
    mean, std = Additive().fit(X, y).holdout(rows)
    again, spread = Additive().fit(X[5:], y[5:]).predict(X[:5])
    assert np.abs(mean - again).max() < 0.5 * spread.max()
    np.testing.assert_allclose(std / spread, 1, atol=0.5)


def test_one_row_left_out_after_another_is_what_single_rows_left_out_are() -> None:
    X = np.random.default_rng(0).random((30, 2))
    model = Additive().fit(X, np.sin(6 * X[:, 0]) + X[:, 1] ** 2)
    for one in model.sets[:3]:
        each = [np.divide(*one.left_out(np.array([row])))[0] for row in range(len(X))]
        assert one.left_out_singly() == pytest.approx(each, rel=1e-6)


def test_single_places_are_known_less_where_a_crowd_is_rougher_than_the_rest() -> None:
    """Thirty trials of a plane all over the space, and seventy in a corner with ripples."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.random((30, 3)), 0.6 + 0.2 * rng.random((70, 3))])
    plane = X @ [1.0, 0.5, 0.2]
    rough = plane + 0.05 * np.sin(200 * X).sum(axis=1) * (np.arange(100) >= 30)
    smooth, rippled = (Additive().fit(X, y) for y in (plane, rough))
    assert smooth.widened_singly == pytest.approx(smooth.widened, rel=0.3)
    assert rippled.widened_singly > 1.5 * rippled.widened
    assert rippled.fit(X, plane).widened_singly == smooth.widened_singly  # of the data it has now


def test_partial_dependence_is_the_average_prediction() -> None:
    X = sampled(CHAIN, 40, 0)
    y = X[:, 4] + np.nan_to_num(X[:, 1]) ** 2 + X[:, 0]
    model = Additive(CHAIN).fit(X, y)
    grid = np.array([[0.1], [0.5], [0.8]])
    curve = model.partial_dependence((1,), grid)
    for point, value in zip(grid, curve.mean, strict=True):
        latents = sobol(2**12, 5, 0)
        latents[:, 1] = point
        latents = latents[CHAIN.active(latents)[:, 1]]
        values = model.mean(CHAIN.vectors(latents))
        assert abs(value - values.mean()) < 3 * values.std() / np.sqrt(len(values))


def test_intervals_of_shares_hold_the_truth() -> None:
    """Random additive functions with noise: 90 % intervals of the main shares, some 45 numbers."""
    held = []
    grid = (np.arange(200) + 0.5) / 200
    for seed in range(15):
        rng = np.random.default_rng(100 + seed)
        size, bend, phase = rng.uniform(0.2, 1, 3), rng.uniform(1, 4, 3), rng.uniform(0, 6, 3)
        X = rng.random((24, 3))
        y = (size * np.sin(bend * X + phase)).sum(axis=1)
        y += 0.1 * y.std() * rng.normal(size=24)
        variances = (size * np.sin(bend * grid[:, None] + phase)).var(axis=0)
        model = Additive(seed=seed).fit(X, y)
        low, high = np.quantile(shares(model)[:3], [0.05, 0.95], axis=1)
        truth = variances / variances.sum()
        held.extend(((low <= truth) & (truth <= high)).tolist())
    assert np.mean(held) >= 0.8


def begun_elsewhere(first: FloatArray, rest: FloatArray) -> Additive:
    """A run whose beginning lies at `first` and whose rest lies at `rest`; costly beyond a half."""
    X = np.vstack([first, rest])
    return Additive().fit(X, 0.1 * smooth(X) + 5 * np.maximum(X[:, 0] - 0.5, 0))


def test_a_search_is_surprised_by_a_beginning_that_its_rest_never_saw() -> None:
    """Intervals are wider then, and not where the beginning is like the rest."""
    everywhere, later = sampled(CONTINUOUS, 20, 0), sampled(CONTINUOUS, 60, 1)
    like = begun_elsewhere(everywhere, later)
    narrow = begun_elsewhere(everywhere, later * [0.4, 1.0])
    assert like.surprise < 1.3
    assert narrow.surprise > like.surprise + 0.2
    assert narrow.widened > like.widened >= additive.WIDENED
    assert narrow.fit(like.X, like.y).surprise == like.surprise  # of the data it has now
    few = Additive().fit(later[:25], smooth(later[:25]))
    assert few.surprise == additive.UNKNOWN_SURPRISE
    assert few.spread == like.spread == narrow.spread == 1


def test_draws_that_a_crowded_search_shows_to_differ_too_much_are_taken_nearer_to_their_mean(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is said then lies between the shares of the draws and those of their mean."""
    monkeypatch.setattr(Additive, "_surprise", lambda _: 0.4)
    everywhere, later = sampled(CONTINUOUS, 20, 0), sampled(CONTINUOUS, 60, 1)
    even, crowded = begun_elsewhere(everywhere, later), begun_elsewhere(everywhere, 0.1 * later)
    assert (even.spread, crowded.spread) == (1, 0.4)
    assert even.surprise == crowded.surprise == 1
    drawn, mean = crowded.drawn_shares(1)[1], crowded.expected_shares(1)
    none = crowded.weights.nearer(0.0).variances()
    np.testing.assert_allclose((none / none.sum(axis=0))[: len(drawn), 0], mean)
    said = np.array(list(crowded.shares(1).values()))
    assert (np.abs(said - mean) < np.abs(np.median(drawn, axis=1) - mean)).all()
    assert list(even.shares(1).values()) == np.median(even.drawn_shares(1)[1], axis=1).tolist()


def test_costs_that_were_predicted_are_wrong_together() -> None:
    """Their doubt is that of the level of every effect: it does not average out over trials."""
    rng = np.random.default_rng(0)
    X = rng.random((40, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=40)
    doubt = np.where(np.arange(40) < 20, 0.5, 0.0)
    model = Additive().fit(X, y, doubt)
    grid = np.linspace(0, 1, 5)[:, None]
    joint = model.partial_dependence((0,), grid).joint
    assert (joint >= (0.25 * y.std()) ** 2).all()
    assert model.level_variance == pytest.approx((0.25 * y.std()) ** 2)
    assert Additive().fit(X, y).level_variance == 0
