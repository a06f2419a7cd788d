"""What the likelihood is maximised over: which hyperparameters are free, and where to start.

Symbols
    d        columns of X
    l        length-scale of a continuous or ordered column, in parts of the unit interval
    theta    correlation of two different categories; both are a column's scale
    rho      correlation of an active with the inactive state
    g        relative nugget: the noise's part of the total variance (1 - alpha in DiceKriging)
    p        free hyperparameters, in the order: scales (log l or theta), rhos, sqrt(g)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hyperlens.spaces.cube import BoolArray, Cube, FloatArray, IntArray
from hyperlens.surrogates.gaussian_process.kernels import is_category

NO_EFFECT = 1e3  # length-scale of a column that never varied: no evidence, no effect
SAME = 1 - 1e-6  # theta or rho of a column of which only one state was seen
SHORTEST, LONGEST = 0.01, 2.0  # bounds of a length-scale, in observed ranges
LEAST, MOST = 1e-3, 0.999  # bounds of an estimated theta, rho
QUIETEST, NOISIEST = 1e-8, 0.999  # bounds of an estimated relative nugget


@dataclass(frozen=True)
class Hyper:
    """A value for each."""

    scales: FloatArray  # (d,) length-scale, or theta on a categorical axis
    rhos: FloatArray  # (d,) nan where a column is never inactive
    nugget: float


@dataclass(frozen=True)
class Plan:
    """Which hyperparameters are free, between which bounds, and how they lie in a flat vector (p,):
    with sqrt(g) and not g, because in it the likelihood is flat nowhere."""

    fixed: Hyper
    logarithmic: BoolArray  # (d,) the scale is a length-scale
    scales: IntArray  # columns with a free scale
    rhos: IntArray  # columns with a free rho
    nugget: bool
    bounds: FloatArray  # (p, 2)

    @staticmethod
    def of(cube: Cube, X: FloatArray, nugget: float | None) -> Plan:
        off = np.isnan(X)
        low = np.min(np.where(off, np.inf, X), axis=0, initial=np.inf)
        high = np.max(np.where(off, -np.inf, X), axis=0, initial=-np.inf)
        varied = high > low
        conditional = off.any(axis=0) | np.isin(np.arange(cube.d), list(cube.conditions))
        logarithmic = np.array([not is_category(a) for a in cube.axes])
        scales = np.flatnonzero(varied)
        rhos = np.flatnonzero(conditional & (varied | (off.any(axis=0) & ~off.all(axis=0))))
        reach = np.log(np.outer(np.where(varied, high - low, 1.0), [SHORTEST, LONGEST]))
        bounds = np.where(logarithmic[:, None], reach, [LEAST, MOST])[scales]
        bounds = np.vstack([bounds, np.tile([LEAST, MOST], (len(rhos), 1))])
        if nugget is None:
            bounds = np.vstack([bounds, np.sqrt([QUIETEST, NOISIEST])])
        fixed = Hyper(
            np.where(logarithmic, NO_EFFECT, SAME),
            np.where(conditional, SAME, np.nan),
            QUIETEST if nugget is None else nugget,
        )
        return Plan(fixed, logarithmic, scales, rhos, nugget is None, bounds)

    def hyper(self, vector: FloatArray) -> Hyper:
        scales, rhos, s = self.fixed.scales.copy(), self.fixed.rhos.copy(), len(self.scales)
        free = vector[:s]
        logarithmic = self.logarithmic[self.scales]
        scales[self.scales] = np.where(logarithmic, np.exp(np.where(logarithmic, free, 0)), free)
        rhos[self.rhos] = vector[s : s + len(self.rhos)]
        return Hyper(scales, rhos, float(vector[-1] ** 2) if self.nugget else self.fixed.nugget)

    def starts(self, count: int, rng: np.random.Generator) -> FloatArray:
        """A centre and random vectors inside the bounds, shape (count, p).

        Long length-scales and small nuggets are favoured: from short or noisy starts the search
        ends more often in an optimum that explains nothing.
        """
        at = np.vstack([np.full(len(self.bounds), 0.5), rng.random((count - 1, len(self.bounds)))])
        lengths = np.flatnonzero(self.logarithmic[self.scales])
        at[:, lengths] = 0.4 + 0.6 * at[:, lengths]
        if self.nugget:
            at[:, -1] **= 2
        low, high = self.bounds.T
        return np.asarray(low + (high - low) * at)
