"""A space in Optuna's words: one distribution a parameter."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)

from hyperlens.spaces.parameter import Parameter
from hyperlens.spaces.space import Space

PLAIN = (bool, int, float, str)  # what Optuna keeps as a choice


def distribution(parameter: Parameter) -> BaseDistribution:
    """What Optuna would have drawn this parameter from.

    Whole numbers with one step between them are a stepped range; all other ordinals are choices.
    """
    if parameter.kind == "float":
        return FloatDistribution(parameter.lower, parameter.upper, log=parameter.log)
    if parameter.kind == "integer":
        return IntDistribution(int(parameter.lower), int(parameter.upper), log=parameter.log)
    choices = parameter.choices
    if parameter.kind == "ordinal" and all(type(c) is int for c in choices):
        steps = {b - a for a, b in pairwise(choices)}
        if len(steps) == 1 and min(steps) > 0:
            return IntDistribution(choices[0], choices[-1], step=min(steps))
    return CategoricalDistribution(tuple(map(plain, choices)))


def distributions(space: Space) -> dict[str, BaseDistribution]:
    """Of all parameters; a constant is a choice among one."""
    parameters = {p.name: distribution(p) for p in space.parameters}
    constants = {n: CategoricalDistribution((plain(v),)) for n, v in space.constants.items()}
    return {**parameters, **constants}


def stored(space: Space, values: Mapping[str, Any]) -> dict[str, Any]:
    """A whole configuration, constants too, as Optuna keeps it."""
    whole = {**{n: values[n] for n in space.names if n in values}, **space.constants}
    return {
        name: plain(value) if name in space.constants or space[name].choices else value
        for name, value in whole.items()
    }


def plain(choice: Any) -> Any:
    """A choice as Optuna can keep it: what is no plain value becomes its text."""
    return choice if choice is None or isinstance(choice, PLAIN) else str(choice)
