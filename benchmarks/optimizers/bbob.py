"""The 24 functions of BBOB (Hansen et al. 2009), as `ioh` computes them, and problems made of them.

    noisy        Gaussian noise is added to what is measured
    diverging    beyond an edge of one axis costs grow to 10^9 spreads, and then a trial fails
    mixed        some axes are integers, some are categories; one level of each is the best one's place
    pipeline     one of three models is chosen, each a function of parameters that only it has

Functions with an odd number are for choosing settings, those with an even one are reported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from ConfigSpace import Categorical, ConfigurationSpace, EqualsCondition, Float

from benchmarks.optimizers.problem import Diverged, Problem, box, scaled
from hyperlens import Parameter, Space
from hyperlens.spaces.cube import FloatArray

SMOOTH, ILL = (1, 5, 6, 7, 8, 9), (2, 10, 11, 12, 13, 14)  # all others have many optima
TRIALS = 25  # for each dimension
EDGE = 0.25  # beyond the best one's place, in parts of the axis
FARTHEST = 9.0  # orders of magnitude to which costs grow
FAILING = 0.7  # of the way from the edge to the end
LEVELS = (None, None, 8, 4, 3)  # of the axes of a mixed problem; the last two are categories
BESIDE = 0.1  # how much more, in units of a typical regret, each further model costs at its best


def group_of(number: int) -> str:
    return "smooth" if number in SMOOTH else "ill-conditioned" if number in ILL else "multimodal"


def _function(number: int, d: int, instance: int) -> Any:
    import ioh

    return ioh.get_problem(number, instance, d, ioh.ProblemClass.BBOB)


def where_it_is_best(number: int, d: int, instance: int) -> FloatArray:
    return np.asarray(_function(number, d, instance).optimum.x, dtype=np.float64)


def plain(number: int, d: int, instance: int) -> Problem:
    function = _function(number, d, instance)
    space, read = box(d)
    return scaled(
        Problem(
            f"BBOB {number}, d={d}",
            group_of(number),
            space,
            lambda values: float(function(read(values))),
            float(function.optimum.y),
            TRIALS * d,
        )
    )


def diverging(number: int, d: int, instance: int) -> Problem:
    base = plain(number, d, instance)
    place = (float(where_it_is_best(number, d, instance)[0]) + 5) / 10
    turned = place > 0.5
    edge = min(place, 1 - place) + EDGE

    def cost(values: Mapping[str, Any]) -> float:
        at = (values["x0"] + 5) / 10
        beyond = ((1 - at if turned else at) - edge) / (1 - edge)
        if beyond > FAILING:
            raise Diverged("The cost is not a number.")
        grown = float(10 ** (FARTHEST * max(beyond, 0.0))) - 1
        return base.cost(values) + base.spread * grown

    return replace(base, name=f"{base.name}, diverging", group="diverging", cost=cost)


def mixed(number: int, instance: int) -> Problem:
    """Five axes: two floats, an integer of eight values, categories of four and of three."""
    d = len(LEVELS)
    function = _function(number, d, instance)
    rng = np.random.default_rng([number, instance])
    parameters: list[Parameter] = []
    places: list[dict[Any, float] | None] = []
    for j, (levels, best) in enumerate(zip(LEVELS, function.optimum.x, strict=True)):
        if levels is None:
            parameters.append(Parameter(f"x{j}", "float", -5, 5))
            places.append(None)
            continue
        at = np.linspace(-5, 5, levels)
        at[np.argmin(np.abs(at - best))] = best
        if levels <= 4:
            at = rng.permutation(at)
            choices = tuple("abcd"[:levels])
            parameters.append(Parameter(f"x{j}", "categorical", choices=choices))
            places.append(dict(zip(choices, at, strict=True)))
        else:
            parameters.append(Parameter(f"x{j}", "integer", 0, levels - 1))
            places.append(dict(enumerate(at)))

    def cost(values: Mapping[str, Any]) -> float:
        given = [values[f"x{j}"] for j in range(d)]
        return float(
            function([x if p is None else float(p[x]) for x, p in zip(given, places, strict=True)])
        )

    name = f"BBOB {number}, mixed"
    return scaled(
        Problem(name, "mixed", Space.of(parameters), cost, float(function.optimum.y), TRIALS * d)
    )


def pipeline(numbers: tuple[int, ...], instance: int) -> Problem:
    """Models of two, three and two parameters, each a function; the first has the best of all."""
    models = {
        name: (number, d, plain(number, d, instance))
        for name, number, d in zip("abc", numbers, (2, 3, 2), strict=True)
    }
    space = ConfigurationSpace()
    chosen = Categorical("model", list(models))
    space.add(chosen)
    for name, (_, d, _) in models.items():
        for j in range(d):
            child = Float(f"{name}_x{j}", (-5, 5))
            space.add(child)
            space.add(EqualsCondition(child, chosen, name))

    def cost(values: Mapping[str, Any]) -> float:
        name = str(values["model"])
        _, d, own = models[name]
        regret = own.regret(own.cost({f"x{j}": values[f"{name}_x{j}"] for j in range(d)}))
        return regret + BESIDE * "abc".index(name)

    name = f"pipeline of BBOB {', '.join(map(str, numbers))}"
    return scaled(Problem(name, "mixed", Space(space), cost, 0.0, 100))
