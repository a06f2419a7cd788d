"""A surrogate in a name and a few plain values, and built again from them and the data it had."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hyperlens.spaces.cube import Cube, FloatArray
from hyperlens.surrogates.bending import Bend
from hyperlens.surrogates.gaussian_process.gp import GP
from hyperlens.surrogates.gaussian_process.posterior import Parameters
from hyperlens.surrogates.random_forest.forest import Forest

BEND = "bend"  # among the parameters: how costs were bent before they were learnt


def describe(model: GP | Forest) -> tuple[str, dict[str, Any]]:
    """Name and parameters, which a storage can keep."""
    if isinstance(model, GP):
        return "gp", model.parameters.to_dict()
    return "forest", {"seed": model.seed, "trees": model.trees}


def learnt(y: FloatArray, parameters: Mapping[str, Any]) -> FloatArray:
    """Costs (n,) as a surrogate of these parameters had learned them: bent, where it says so."""
    return Bend.from_list(parameters[BEND])(y) if BEND in parameters else y


def rebuild(
    name: str, parameters: Mapping[str, Any], cube: Cube, X: FloatArray, y: FloatArray
) -> GP | Forest:
    """The surrogate that was described, on the data (n, d), (n,) that it had learned from."""
    if name == "gp":
        own = {key: value for key, value in parameters.items() if key != BEND}
        return GP.from_parameters(cube, Parameters.from_dict(own), X, y)
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
