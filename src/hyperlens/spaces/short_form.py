"""A space as people write it by hand: each parameter with its range or its choices.

    lr: {low: 1e-5, high: 1.0, log: true}
    depth: {low: 1, high: 8}
    optimizer: [adam, sgd]
    epochs: 20

A range of whole bounds is one of integers unless `type: float` is said; a list holds choices; what
is neither is a constant. Conditions between parameters need ConfigSpace's own form.
"""

import re
from collections.abc import Mapping
from typing import Any

from hyperlens.errors import SpaceError, listed
from hyperlens.spaces.parameter import Kind, Parameter

EXAMPLE = "lr: {low: 1e-5, high: 1.0, log: true}"
REMEDY = f"write one a line, as in {EXAMPLE}, or all with ConfigurationSpace.to_json or to_yaml."
ENDS = {"low": "lower", "lower": "lower", "min": "lower", "high": "upper", "upper": "upper"}
ENDS |= {"max": "upper"}
KINDS: dict[str, Kind] = {"int": "integer", "integer": "integer", "float": "float"}
_POWER_OF_TEN = r"[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+"  # which YAML 1.1 takes for a text


def is_short(said: object) -> bool:
    """Does this describe a space, and not by ConfigSpace's lists?"""
    if not isinstance(said, Mapping) or "hyperparameters" in said:
        return False
    return any(
        isinstance(one, list) or (_range(one) and ENDS.keys() & one) for one in said.values()
    )


def parameters(said: Mapping[str, Any]) -> tuple[list[Parameter], dict[str, Any]]:
    """What varies, and the constants."""
    varying: list[Parameter] = []
    constants: dict[str, Any] = {}
    for key, one in said.items():
        name = str(key)
        choices = one.get("choices") if _range(one) else one
        if isinstance(choices, (list, tuple)) and len(choices) > 1:
            default = one.get("default") if _range(one) else None
            varying.append(Parameter(name, "categorical", choices=tuple(choices), default=default))
        elif isinstance(choices, (list, tuple)):
            constants[name] = _only(name, choices)
        elif _range(one):
            varying.append(_ranged(name, one))
        else:
            constants[name] = one
    return varying, constants


def number_of(value: Any) -> Any:
    """The number that a text such as 1e-5 or 1.0e4 writes; anything else as it is."""
    if isinstance(value, str) and re.fullmatch(_POWER_OF_TEN, value.strip()):
        return float(value)
    return value


def _range(one: object) -> bool:
    return isinstance(one, Mapping)


def _only(name: str, choices: Any) -> Any:
    if not choices:
        raise SpaceError(f"Parameter '{name}' has an empty list of choices; give two or more.")
    return choices[0]


def _ranged(name: str, one: Mapping[str, Any]) -> Parameter:
    known = {*ENDS, "log", "type", "default", "choices"}
    if unknown := [key for key in one if key not in known]:
        raise SpaceError(
            f"Parameter '{name}' has {listed(unknown)}, which is not understood; write it as in "
            f"{EXAMPLE}, or the space as ConfigSpace does."
        )
    bounds = {ENDS[key]: number_of(one[key]) for key in one if key in ENDS}
    kind = one.get("type", "integer" if all(map(_whole, bounds.values())) else "float")
    if len(bounds) < 2 or not all(isinstance(b, (int, float)) for b in bounds.values()):
        raise SpaceError(f"Parameter '{name}' needs two bounds that are numbers, as in {EXAMPLE}.")
    if kind not in KINDS:
        raise SpaceError(
            f"Parameter '{name}' has the type '{kind}'; choose one of {listed(['int', 'float'])}."
        )
    ends = float(bounds["lower"]), float(bounds["upper"])
    log, default = bool(one.get("log", False)), number_of(one.get("default"))
    return Parameter(name, KINDS[kind], *ends, log, default=default)


def _whole(bound: object) -> bool:
    return isinstance(bound, int) and not isinstance(bound, bool)
