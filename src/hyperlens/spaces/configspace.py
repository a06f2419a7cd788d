"""Between ConfigSpace's classes and our plain parameters, conditions and comparisons."""

from collections.abc import Mapping, Sequence
from itertools import chain, product
from typing import Any

import ConfigSpace as CS
import numpy as np
from ConfigSpace import hyperparameters as hp

from hyperlens.errors import SpaceError
from hyperlens.spaces.clauses import Clauses, Literal, holds
from hyperlens.spaces.parameter import Comparison, Kind, Parameter

_COMPARISONS: dict[Comparison, Any] = {
    "equal": CS.EqualsCondition,
    "not equal": CS.NotEqualsCondition,
    "in": CS.InCondition,
    "greater": CS.GreaterThanCondition,
    "less": CS.LessThanCondition,
}
_NAMES = {kind: comparison for comparison, kind in _COMPARISONS.items()}


def read(
    space: CS.ConfigurationSpace,
) -> tuple[list[Parameter], dict[str, Clauses], dict[str, Any]]:
    """Tunable parameters, their conditions, and the constants of a ConfigSpace.

    A condition on a constant is decided here; a parameter that can never be active is left out.
    """
    parameters: list[Parameter] = []
    conditions: dict[str, Clauses] = {}
    constants: dict[str, Any] = {}
    when: dict[str, Clauses] = {}  # conditions of constants
    never: set[str] = set()
    for item in space.values():  # parents come before children
        conditions_of = space.parent_conditions_of[item.name]
        every = tuple(_all_of(conditions_of)) if conditions_of else None
        clauses = _decide(every, constants, when, never)
        choices = _choices(item)
        if clauses == ():
            never.add(item.name)
        elif len(choices) == 1:
            constants[item.name] = choices[0]
            if clauses is not None:
                when[item.name] = clauses
        else:
            parameters.append(_parameter(item))
            if clauses is not None:
                conditions[item.name] = clauses
    return parameters, conditions, constants


def write(
    parameters: Sequence[Parameter],
    conditions: Mapping[str, Clauses],
    constants: Mapping[str, Any],
) -> CS.ConfigurationSpace:
    """The ConfigSpace of plain descriptions."""
    space = CS.ConfigurationSpace()
    items = {p.name: _hyperparameter(p) for p in parameters}
    items |= {name: hp.CategoricalHyperparameter(name, [v]) for name, v in constants.items()}
    joined = []
    for child, clauses in conditions.items():
        alternatives = [
            _joined(CS.AndConjunction, [_condition(items, child, *part) for part in clause])
            for clause in clauses
        ]
        joined.append(_joined(CS.OrConjunction, alternatives))
    space.add(list(items.values()), joined)  # at once: each time all of it is looked through
    return space


def _choices(item: Any) -> tuple[Any, ...]:
    """The values of a category, an ordinal or a constant; none of a range."""
    if isinstance(item, hp.Constant):
        return (_plain(item.value),)
    if isinstance(item, hp.CategoricalHyperparameter):
        return tuple(map(_plain, item.choices))
    return tuple(map(_plain, item.sequence)) if isinstance(item, hp.OrdinalHyperparameter) else ()


def _parameter(item: Any) -> Parameter:
    default = _plain(item.default_value)
    if choices := _choices(item):
        ordered = isinstance(item, hp.OrdinalHyperparameter)
        kind: Kind = "ordinal" if ordered else "categorical"
        return Parameter(item.name, kind, choices=choices, default=default)
    kind = "integer" if isinstance(item, hp.IntegerHyperparameter) else "float"
    log = bool(getattr(item, "log", False))
    return Parameter(item.name, kind, float(item.lower), float(item.upper), log, default=default)


def _hyperparameter(parameter: Parameter) -> Any:
    p, default = parameter, parameter.default
    if p.choices:
        ordered = p.kind == "ordinal"
        of_choices = hp.OrdinalHyperparameter if ordered else hp.CategoricalHyperparameter
        first = p.choices[0] if default is None else default
        return of_choices(p.name, p.choices, default_value=first)
    if p.kind == "integer":
        bounds = int(p.lower), int(p.upper)
        return hp.UniformIntegerHyperparameter(p.name, *bounds, default_value=default, log=p.log)
    return hp.UniformFloatHyperparameter(p.name, p.lower, p.upper, default_value=default, log=p.log)


def _all_of(conditions: Sequence[Any]) -> list[tuple[Literal, ...]]:
    """Several conditions that must all hold, as any of (all of literals)."""
    return [tuple(chain(*clauses)) for clauses in product(*map(_normal_form, conditions))]


def _normal_form(condition: Any) -> list[tuple[Literal, ...]]:
    """Any of (all of literals)."""
    if isinstance(condition, CS.OrConjunction):
        return [clause for part in condition.components for clause in _normal_form(part)]
    if isinstance(condition, CS.AndConjunction):
        return _all_of(condition.components)
    comparison = _NAMES[type(condition)]
    several = comparison == "in"
    value = tuple(map(_plain, condition.values)) if several else _plain(condition.value)
    return [((condition.parent.name, comparison, value),)]


def _decide(
    clauses: Clauses | None,
    constants: Mapping[str, Any],
    when: Mapping[str, Clauses],
    never: set[str],
) -> Clauses | None:
    """Settle what constants settle: None is always active, () is never.

    A constant that is itself conditional hands its own conditions on.
    """
    if clauses is None:
        return None
    possible: list[tuple[Literal, ...]] = []
    for clause in clauses:
        settled = [literal for literal in clause if literal[0] in constants]
        if any(p in never for p, _, _ in clause) or not all(
            holds(c, constants[p], v) for p, c, v in settled
        ):
            continue
        ways = [tuple(literal for literal in clause if literal[0] not in constants)]
        for parent, _, _ in settled:
            ways = [
                a + tuple(part for part in b if part not in a)
                for a in ways
                for b in when.get(parent, ((),))
            ]
        possible.extend(ways)
    return None if () in possible else tuple(possible)


def _condition(items: Mapping[str, Any], child: str, *literal: Any) -> Any:
    parent, comparison, value = literal
    several = comparison == "in"
    kind = _COMPARISONS[comparison]
    return kind(items[child], items[parent], list(value) if several else value)


def _joined(conjunction: Any, parts: list[Any]) -> Any:
    if not parts:
        raise SpaceError("A condition without any clause was given; leave it out.")
    return parts[0] if len(parts) == 1 else conjunction(*parts)


def _plain(value: Any) -> Any:
    """NumPy scalars as Python's own."""
    return value.item() if isinstance(value, np.generic) else value
