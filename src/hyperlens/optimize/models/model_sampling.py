"""Which model to try: weights for the root of a space of models, and a sampler that obeys them.

Symbols (Sarigiannis et al. 2020 section 3)
    lambda   a model, one choice of the root parameter; M models in all
    N        number of the model's own hyperparameters: those that depend on the root
    theta    size of the model's space (Eq. 7): product of the spans of its hyperparameters
    p        chance of the model: 2^N (Eq. 5), theta (Eq. 9), or 1, each over its sum
"""

import math
from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np

from hyperlens.errors import SpaceError, listed
from hyperlens.spaces.cube import FloatArray, contains
from hyperlens.spaces.parameter import Parameter
from hyperlens.spaces.space import Space

Sampling = Literal["weighted", "volume", "uniform"] | Mapping[str, float]
ROOT = "model"
MOST_ROUNDS = 1000  # of drawing forbidden configurations again


def own_hyperparameters(space: Space, root: str = ROOT) -> dict[str, tuple[str, ...]]:
    """The hyperparameters that each model may have and that depend on the root, by name.

    Those of a model's own hyperparameters (a kernel's degree) are its own too. Where the root is a
    constant, all belong to its one model.
    """
    if root in space.constants:
        return {str(space.constants[root]): space.names}
    parameter = rooted(space, root)
    column = space.column(root)
    cube = space.cube
    codes = parameter.axis.codes
    assert codes is not None

    def possible(child: int, code: float) -> bool:
        """May this column be active when the root has this code?"""
        if child not in cube.conditions:
            return True
        return any(
            all(
                bool(contains(runs, np.array([code]))[0])
                if parent == column
                else possible(parent, code)
                for parent, runs in clause
            )
            for clause in cube.conditions[child]
        )

    dependent = sorted(cube.descendants(column))
    return {
        str(model): tuple(space.names[c] for c in dependent if possible(c, float(code)))
        for model, code in zip(parameter.choices, codes, strict=True)
    }


def log_sizes(space: Space, root: str = ROOT, *, counted: bool = False) -> dict[str, float]:
    """Natural logarithm of theta for each model; `counted` gives every span the width 2 (Eq. 5)."""
    own = own_hyperparameters(space, root)
    return {
        model: sum(math.log(2.0 if counted else span(space[name])) for name in names)
        for model, names in own.items()
    }


def span(parameter: Parameter) -> float:
    """u - l on the scale that is drawn from (log: natural); a discrete one counts its values."""
    if parameter.kind == "float":
        low, high = parameter.lower, parameter.upper
        return math.log(high / low) if parameter.log else high - low
    if parameter.kind == "integer":
        return parameter.upper - parameter.lower + 1
    return float(len(parameter.choices))


def model_weights(
    space: Space, weights: Sampling = "weighted", root: str = ROOT
) -> dict[str, float]:
    """Chance of each model: by the number of its hyperparameters, by volume, even, or as given."""
    models = list(own_hyperparameters(space, root))
    if isinstance(weights, str):
        if weights == "uniform":
            sizes = dict.fromkeys(models, 0.0)
        elif weights in ("weighted", "volume"):
            sizes = log_sizes(space, root, counted=weights == "weighted")
        else:
            raise SpaceError(
                f"There is no sampling '{weights}'; choose 'weighted', 'volume' or 'uniform', or give "
                "a weight for each model."
            )
        largest = max(sizes.values())
        parts = {model: math.exp(size - largest) for model, size in sizes.items()}
    else:
        parts = _given(weights, models)
    whole = math.fsum(parts.values())
    return {model: part / whole for model, part in parts.items()}


class ModelSampler:
    """Draws configurations: first the model by its weight, then the rest evenly within it.

    A configuration that a forbidden clause rules out is drawn again with the same model, so the
    models keep their chances.
    """

    def __init__(self, space: Space, weights: Sampling = "weighted", root: str = ROOT) -> None:
        self.space = space
        self.root = root
        self.weights = model_weights(space, weights, root)

    def sample(self, n: int, seed: int | np.random.Generator = 0) -> FloatArray:
        """Vectors (n, d) with all conditions honoured."""
        rng = np.random.default_rng(seed)
        if self.root in self.space.constants:
            return self.space.sample(n, rng)
        space, column = self.space, self.space.column(self.root)
        codes = space[self.root].axis.codes
        assert codes is not None
        chances = np.array(list(self.weights.values()))
        drawn = codes[rng.choice(len(codes), size=n, p=chances)]
        vectors = np.empty((n, len(space)))
        open_rows = np.arange(n)
        for _ in range(MOST_ROUNDS):
            latents = rng.random((len(open_rows), len(space)))
            latents[:, column] = drawn[open_rows]
            vectors[open_rows] = space.cube.vectors(latents)
            open_rows = open_rows[space.forbidden(vectors[open_rows])]
            if not len(open_rows):
                return vectors
        model = space.decode(vectors[open_rows[:1]])[0][self.root]
        raise SpaceError(
            f"Forbidden clauses leave almost nothing of the model '{model}'; loosen them or give it "
            "the weight 0."
        )


def sampler(
    space: Space, sampling: Sampling | None = None, root: str = ROOT
) -> Callable[[int, np.random.Generator], FloatArray]:
    """How configurations of a space are drawn: by weight where it has a root of models, else evenly."""
    if sampling is None:
        has_root = root in space.names and space[root].kind == "categorical"
        sampling = "weighted" if has_root and root not in space.clauses else "uniform"
    if sampling == "uniform" and root not in space.names:
        return space.sample
    return ModelSampler(space, sampling, root).sample


def rooted(space: Space, root: str) -> Parameter:
    """The root: a category that is always active."""
    parameter = space[root]
    if parameter.kind != "categorical" or root in space.clauses:
        raise SpaceError(
            f"'{root}' cannot be the root of the models, since it is not a category that is always "
            "active; name another parameter as the root."
        )
    return parameter


def _given(weights: Mapping[str, float], models: list[str]) -> dict[str, float]:
    if set(map(str, weights)) != set(models):
        raise SpaceError(
            f"The weights name {listed(weights)} where the models are {listed(models)}; give one "
            "weight for each model."
        )
    parts = {model: float(weights[model]) for model in models}
    if not all(math.isfinite(w) and w >= 0 for w in parts.values()) or not any(parts.values()):
        raise SpaceError(
            "The weights of the models must be finite, none negative and not all zero; correct them."
        )
    return parts
