"""What an additive process leaves open, what is thought of it beforehand, and how it lies in a vector.

All are positive and have log-normal priors. They were chosen on tasks of LCBench with an even number
and are reported on the odd ones (docs/results/real_runs.md). Costs are in units in which the warped
ones have mean 0 and variance 1.

Symbols
    l        length-scale of an axis, in parts of it
    a        part of an axis in the variance of every effect that it takes part in, 1 or less of most
    v        variance of all effects of one, two and three axes together
    g        variance of the noise
    kappa, eta   the warp's (warp.py)
    t        vector of their logarithms, (2 d + 6,)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hyperlens.spaces.cube import FloatArray

TREND = 3.0  # standard deviation of the average cost
NU = 2.5  # smoothness of every function, Matern's
REACH = 4.0  # standard deviations of the prior within which a hyperparameter is looked for


@dataclass(frozen=True)
class Belief:
    """Median of a hyperparameter, and standard deviation of its logarithm."""

    median: float
    sigma: float


LENGTH = Belief(0.6, 0.8)
PART = Belief(0.7, 1.0)  # few parameters matter much
FEW = 7  # parameters of which that is thought; of more, hardly more are thought to matter
MANY = 14  # beyond so many nothing is thought to be sparser still
VARIANCES = (Belief(0.7, 0.5), Belief(0.3, 0.5), Belief(0.1, 0.5))
NOISE = Belief(1e-2, 2.0)
KAPPA = Belief(2.0, 1.5)
ETA = Belief(0.5, 0.7)  # what a search avoided is rarely worse by ranges than the worst that it met


def part_of(d: int) -> Belief:
    """What is thought of the part of one of d axes: few more matter in a large space than in a small
    one, so the more there are, the smaller is that of most, and the farther some may be above it."""
    times = min(max(d, FEW), MANY) / FEW
    return Belief(PART.median / times**1.5, PART.sigma * times**1.25)


@dataclass(frozen=True)
class Hyper:
    """A value for each."""

    lengths: FloatArray  # (d,)
    parts: FloatArray  # (d,)
    variances: FloatArray  # (3,)
    noise: float
    log_kappa: float
    log_eta: float

    @staticmethod
    def of(t: FloatArray) -> Hyper:
        d = (len(t) - 6) // 2
        positive = np.exp(t[:-2])
        return Hyper(
            positive[:d],
            positive[d : 2 * d],
            positive[-4:-1],
            float(positive[-1]),
            float(t[-2]),
            float(t[-1]),
        )


@dataclass(frozen=True)
class Prior:
    """Of d axes: t is normal with this mean and these standard deviations, independently."""

    mean: FloatArray
    std: FloatArray

    @staticmethod
    def of(d: int) -> Prior:
        beliefs = [LENGTH] * d + [part_of(d)] * d + [*VARIANCES, NOISE, KAPPA, ETA]
        return Prior(
            np.log([b.median for b in beliefs]), np.array([b.sigma for b in beliefs], dtype=float)
        )

    @property
    def bounds(self) -> FloatArray:
        return np.column_stack([self.mean - REACH * self.std, self.mean + REACH * self.std])


def spectrum(length: float, frequencies: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Variances lambda of an axis' functions, which sum to one, and d lambda / d log l.

    Spectral density of a Matern process (Rasmussen and Williams 2006, Eq. 4.15) at the frequencies pi a;
    all the same for a category.
    """
    if not len(frequencies):
        return np.zeros(0), np.zeros(0)
    if not frequencies.any():
        return np.full(len(frequencies), 1 / len(frequencies)), np.zeros(len(frequencies))
    rate, power = 2 * NU / length**2, NU + 0.5
    at = rate + (np.pi * frequencies) ** 2
    density = at**-power
    slope = 2 * power * rate * density / at
    total = density.sum()
    return density / total, slope / total - density * slope.sum() / total**2
