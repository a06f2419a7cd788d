"""A space with some of its parameters changed or fixed: conditions are settled as far as that goes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from typing import Literal as One

from hyperlens.spaces.clauses import Clauses, Literal, holds, one_of
from hyperlens.spaces.parameter import Parameter, apart
from hyperlens.spaces.space import Space

Always = One[True]
Declared = Parameter | tuple[Any, ...]  # a constant is a tuple of its one value


def changed(space: Space, changes: Mapping[str, Declared]) -> Space:
    """The space with these parameters instead of its own of the same names.

    A condition that always holds now is left out; a parameter that can never be active any more is
    left out with its condition. Forbidden clauses stay as they are, so what they name may grow but
    not shrink (`tied`).
    """
    declared: dict[str, Declared] = {p.name: changes.get(p.name, p) for p in space.parameters}
    kept: dict[str, Declared] = {}
    clauses: dict[str, Clauses] = {}
    for column in space.cube.order:  # parents come before children
        name = space.names[column]
        settled = None
        if name in space.clauses:
            settled = _settled(space.clauses[name], kept, clauses)
        if settled == ():
            continue
        kept[name] = declared[name]
        if settled is not None:
            clauses[name] = settled
    ordered = {name: kept[name] for name in space.names if name in kept}
    parameters, fixed = apart(ordered)
    new = Space.of(parameters, clauses, {**space.constants, **fixed}, space.inferred)
    if not space.configspace.forbidden_clauses:
        return new
    written = json.loads(new.to_json())
    written["forbiddens"] = json.loads(space.to_json())["forbiddens"]
    return Space.from_json(json.dumps(written))


def tied(space: Space) -> frozenset[str]:
    """Parameters that forbidden clauses name."""
    found: set[str] = set()
    todo: list[Any] = list(space.configspace.forbidden_clauses)
    while todo:
        part = todo.pop()
        todo += getattr(part, "components", ())
        items = [getattr(part, side, None) for side in ("hyperparameter", "left", "right")]
        found |= {str(item.name) for item in items if item is not None}
    return frozenset(found)


def _settled(
    clauses: Clauses, kept: Mapping[str, Declared], conditions: Mapping[str, Clauses]
) -> Clauses | None:
    """What is left of a condition: None if it always holds, () if it never does.

    A literal that holds whenever its parent is active hands the parent's own condition on.
    """
    possible: list[tuple[Literal, ...]] = []
    for clause in clauses:
        ways: list[tuple[Literal, ...]] = [()]
        for literal in clause:
            left = _left_of(literal, kept)
            options: Clauses = conditions.get(literal[0], ((),))
            if left is not True:
                options = () if left is None else ((left,),)
            ways = [a + tuple(part for part in b if part not in a) for a in ways for b in options]
        possible.extend(ways)
    return None if () in possible else tuple(dict.fromkeys(possible))


def _left_of(literal: Literal, kept: Mapping[str, Declared]) -> Literal | Always | None:
    """What is left of a literal: True if it holds whenever its parent is active, None if never."""
    parent, comparison, value = literal
    if parent not in kept:
        return None
    item = kept[parent]
    values = item.values if isinstance(item, Parameter) else item
    if values is None:
        assert isinstance(item, Parameter)
        ends = (item.lower, item.upper)
        held = [e > value if comparison == "greater" else e < value for e in ends]
    else:
        held = [holds(comparison, each, value) for each in values]
    if all(held):
        return True
    if not any(held):
        return None
    if comparison == "in" and values is not None:
        return one_of(parent, [each for each, inside in zip(values, held, strict=True) if inside])
    return literal
