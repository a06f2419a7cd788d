"""A surrogate in a name and a few plain values, and built again from them and the data it had."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hyperlens.spaces.cube import Cube, FloatArray
from hyperlens.surrogates.gaussian_process.gp import GP
from hyperlens.surrogates.gaussian_process.posterior import Parameters
from hyperlens.surrogates.random_forest.forest import Forest


def describe(model: GP | Forest) -> tuple[str, dict[str, Any]]:
    """Name and parameters, which a storage can keep."""
    if isinstance(model, GP):
        return "gp", model.parameters.to_dict()
    return "forest", {"seed": model.seed, "trees": model.trees}


def rebuild(
    name: str, parameters: Mapping[str, Any], cube: Cube, X: FloatArray, y: FloatArray
) -> GP | Forest:
    """The surrogate that was described, on the data (n, d), (n,) that it had learned from."""
    if name == "gp":
        return GP.from_parameters(cube, Parameters.from_dict(parameters), X, y)
    trees, seed = int(parameters["trees"]), int(parameters["seed"])
    return Forest(cube, trees, seed, threads=1).fit(X, y)


def believe(model: GP | Forest, X: FloatArray, y: FloatArray, awaited: FloatArray) -> GP | Forest:
    """The kriging believer (Ginsbourger et al. 2010): the same surrogate, which takes its own means for
    the costs of vectors (k, d) that are still being evaluated."""
    if not len(awaited):
        return model
    both = np.vstack([X, awaited]), np.concatenate([y, model.predict(awaited)[0]])
    if isinstance(model, GP):
        return GP.from_parameters(model.cube, model.parameters, *both)
    return model.fit(*both)
