"""Would a parameter be searched better by its logarithm? By how well a surrogate explains the costs.

The most likely hyperparameters of the additive process are found twice, with the parameter as it is
and with its logarithm. How much likelier the costs are with the logarithm is the evidence.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hyperlens.spaces.cube import Cube, FloatArray
from hyperlens.spaces.parameter import Parameter
from hyperlens.surrogates.additive.additive import FITTED_ON
from hyperlens.surrogates.additive.components import Components
from hyperlens.surrogates.additive.kernel import Density
from hyperlens.surrogates.additive.sampling import mode

LEAST_RATIO = 30.0  # of the ends of a range, for a logarithm to be worth asking for


def by_logarithm(parameter: Parameter) -> Parameter | None:
    """The same parameter by its logarithm; None where that cannot be, or would make no difference."""
    p = parameter
    if (
        p.kind not in ("float", "integer")
        or p.log
        or p.lower <= 0
        or p.upper / p.lower < LEAST_RATIO
    ):
        return None
    return replace(p, log=True)


def evidence(cube: Cube, X: FloatArray, y: FloatArray, seed: int) -> float:
    """Log density of the costs at the most likely hyperparameters, up to a constant."""
    rng = np.random.default_rng(seed)
    some = np.sort(rng.permutation(len(y))[:FITTED_ON])
    components = Components(cube)
    density = Density(components, components.rows(X[some]), y[some])
    return -density(mode(density, rng), gradient=False)[0]


def with_logarithm(
    cube: Cube, X: FloatArray, column: int, old: Parameter, new: Parameter
) -> tuple[Cube, FloatArray]:
    """The cube and the vectors, one column by its logarithm."""
    axes = (*cube.axes[:column], new.axis, *cube.axes[column + 1 :])
    moved, active = X.copy(), ~np.isnan(X[:, column])
    moved[active, column] = new.encode(old.decode(X[active, column]))
    return Cube(axes, cube.conditions), moved
