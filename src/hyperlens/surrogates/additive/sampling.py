"""Hyperparameters drawn from their posterior: around its mode, weighed by how likely they are.

The mode is searched from two starts. Around it lies a normal distribution with the curvature of the
log density (Laplace); vectors are drawn from a wider t distribution of that shape and resampled by
importance, so that what is drawn follows the posterior and not the approximation.
"""

import numpy as np
import scipy

from hyperlens.spaces.cube import FloatArray
from hyperlens.surrogates.additive.kernel import Density

CANDIDATES = 64
FREEDOM = 6  # degrees of freedom of the t distribution
STEP = 0.1  # of a logarithm, for the curvature
START_SPREAD = 0.5  # of the second start, in standard deviations of the prior


def mode(density: Density, rng: np.random.Generator, starts: int = 2) -> FloatArray:
    """The most likely hyperparameters."""
    prior = density.prior
    begin = [prior.mean]
    for _ in range(starts - 1):
        begin.append(prior.mean + START_SPREAD * prior.std * rng.normal(size=len(prior.mean)))
    options = {"maxiter": 100, "ftol": 1e-7}
    optima = [
        scipy.optimize.minimize(
            density, t, jac=True, method="L-BFGS-B", bounds=prior.bounds, options=options
        )
        for t in begin
    ]
    return np.asarray(min(optima, key=lambda found: float(found.fun)).x)


def sample(density: Density, at: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
    """`count` vectors of the posterior whose mode is `at`."""
    p = len(at)
    # the curvature at the mode, nowhere flatter than the prior
    steps = STEP * np.eye(p)
    curvature = np.array([density(at + s)[1] - density(at - s)[1] for s in steps]) / (2 * STEP)
    values, vectors = np.linalg.eigh((curvature + curvature.T) / 2)
    values = np.maximum(values, 1 / density.prior.std.max() ** 2)
    # candidates of a t distribution, and the weights that correct it
    normal = rng.normal(size=(CANDIDATES, p))
    tails = np.sqrt(rng.chisquare(FREEDOM, CANDIDATES) / FREEDOM)[:, None]
    away = normal / tails
    candidates = at + (away / np.sqrt(values)) @ vectors.T
    low, high = density.prior.bounds.T
    candidates = np.clip(candidates, low, high)
    log_t = -(FREEDOM + p) / 2 * np.log1p((away**2).sum(axis=1) / FREEDOM)
    log_density = np.array([-density(t, gradient=False)[0] for t in candidates])
    weights = np.exp(log_density - log_t - np.max(log_density - log_t))
    weights = np.minimum(weights / weights.sum(), 1 / np.sqrt(CANDIDATES))
    places = (rng.random() + np.arange(count)) / count
    chosen = np.searchsorted(np.cumsum(weights / weights.sum()), places)
    return np.asarray(candidates[np.minimum(chosen, CANDIDATES - 1)])
