"""A monotone warp of costs: how far apart good ones and bad ones are for the surrogate.

    z = log((y - a) / (b - y)),  a = min y - kappa (median y - min y),  b = max y + eta (max y - min y)

A small kappa spreads out the good costs, a small eta the bad ones; with both large it is linear. It
depends on neither the unit nor the origin of the costs. What is predicted lies between a and b.

Symbols
    y, z     costs, warped costs (n,)
    kappa    distance of the lower end, in differences of the median from the best
    eta      distance of the upper end, in differences of the worst from the best
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hyperlens.spaces.cube import FloatArray


@dataclass(frozen=True)
class Warp:
    """Between which ends costs are spread out, and what makes the warped ones standard."""

    a: float
    b: float
    centre: float = 0.0
    scale: float = 1.0

    @staticmethod
    def of(y: FloatArray, log_kappa: float, log_eta: float) -> Warp:
        low, high = float(y.min()), float(y.max())
        half = float(np.median(y)) - low or float(y.mean()) - low
        ends = Warp(low - np.exp(log_kappa) * half, high + np.exp(log_eta) * (high - low))
        z = ends.forward(y)
        return Warp(ends.a, ends.b, float(z.mean()), float(z.std()) or 1.0)

    def forward(self, y: FloatArray) -> FloatArray:
        """Warped and standardised costs."""
        return np.asarray((np.log((y - self.a) / (self.b - y)) - self.centre) / self.scale)

    def back(self, z: FloatArray) -> FloatArray:
        """Costs of warped ones."""
        return np.asarray(
            self.a + (self.b - self.a) / (1 + np.exp(-(self.centre + self.scale * z)))
        )

    def slope(self, y: FloatArray) -> FloatArray:
        """dy / dz at costs."""
        return np.asarray(self.scale * (y - self.a) * (self.b - y) / (self.b - self.a))

    def log_jacobian(self, y: FloatArray) -> float:
        """Sum of log dz / dy."""
        return -float(np.log(self.slope(y)).sum())
