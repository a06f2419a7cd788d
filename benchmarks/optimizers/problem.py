"""What is minimised: a cost on a space, what it truly costs, and what a random configuration costs.

Symbols
    minimum   the smallest cost there is, or the smallest known
    typical   median cost of random configurations, without noise; regret is measured in units of
              typical - minimum, so that 1 is a random configuration and 0 the best
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hyperlens import Parameter, Space
from hyperlens.spaces.cube import FloatArray

Cost = Callable[[Mapping[str, Any]], float]
SAMPLE = 1000  # random configurations that say what is typical


class Diverged(Exception):
    """A trial that ends without a cost."""


@dataclass(frozen=True)
class Problem:
    """A cost, its space, and how many trials there are; `noise` is the standard deviation of what is
    measured, in parts of the spread of random configurations."""

    name: str
    group: str
    space: Space
    cost: Cost
    minimum: float
    trials: int
    typical: float = 1.0
    spread: float = 1.0
    noise: float = 0.0

    def regret(self, cost: float) -> float:
        return (cost - self.minimum) / (self.typical - self.minimum)

    def noisy(self, noise: float) -> Problem:
        name = f"{self.name}, noise {100 * noise:g} %"
        return replace(self, name=name, group=f"noise {100 * noise:g} %", noise=noise)


def scaled(problem: Problem) -> Problem:
    """With what random configurations cost."""
    drawn = problem.space.decode(problem.space.sample(SAMPLE, 0))
    costs = np.array([problem.cost(values) for values in drawn])
    return replace(problem, typical=float(np.median(costs)), spread=float(costs.std()))


def box(d: int) -> tuple[Space, Callable[[Mapping[str, Any]], FloatArray]]:
    """[-5, 5]^d and how its values are read."""
    names = [f"x{j}" for j in range(d)]
    space = Space.of([Parameter(name, "float", -5, 5) for name in names])
    return space, lambda values: np.array([values[name] for name in names])
