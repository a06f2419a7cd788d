"""A monotone warp of costs: how far apart good ones and bad ones are for the surrogate.

    z = log((y - a) / (b - y)),  a = min y - kappa (median y - min y),  b = max y + eta (max y - min y)

A small kappa spreads out the good costs, a small eta the bad ones; with both large it is linear. It
depends on neither the unit nor the origin of the costs. What is predicted lies between a and b.

Symbols
    y, z     costs, warped costs (n,)
    kappa    distance of the lower end, in differences of the median from the best
    eta      distance of the upper end, in differences of the worst from the best
    low      the best cost, from which a and b are measured: so costs may differ by little
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from hyperlens.spaces.cube import FloatArray

ROUNDING = 1e-12  # of the range: costs closer to the best than that are ties with it


@dataclass(frozen=True)
class Warp:
    """Between which ends costs are spread out, and what makes the warped ones standard."""

    low: float
    a: float
    b: float
    centre: float = 0.0
    scale: float = 1.0

    @staticmethod
    def of(y: FloatArray, log_kappa: float, log_eta: float) -> Warp:
        low = float(y.min())
        above = y - low
        reach, half = float(above.max()), float(np.median(above))
        if half <= ROUNDING * reach:
            half = float(above.mean())
        ends = Warp(low, -float(np.exp(log_kappa)) * half, reach * (1 + float(np.exp(log_eta))))
        z = ends.forward(y)
        return Warp(low, ends.a, ends.b, float(z.mean()), float(z.std()) or 1.0)

    def forward(self, y: FloatArray) -> FloatArray:
        """Warped and standardised costs."""
        above = y - self.low
        return np.asarray((np.log((above - self.a) / (self.b - above)) - self.centre) / self.scale)

    def back(self, z: FloatArray) -> FloatArray:
        """Costs of warped ones."""
        between = scipy.special.expit(self.centre + self.scale * z)
        return np.asarray(self.low + (self.a + (self.b - self.a) * between))

    def slope(self, y: FloatArray) -> FloatArray:
        """dy / dz at costs."""
        above = y - self.low
        upwards = (self.b - above) / (self.b - self.a)
        return np.asarray(self.scale * (above - self.a) * upwards)

    def log_jacobian(self, y: FloatArray) -> float:
        """Sum of log dz / dy."""
        return -float(np.log(self.slope(y)).sum())
