"""When a parameter is active: conditions in plain words."""

import operator
from collections.abc import Callable, Sequence
from typing import Any

from hyperlens.spaces.parameter import Comparison

Literal = tuple[str, Comparison, Any]  # parent's name, comparison, value
Clauses = tuple[tuple[Literal, ...], ...]  # any of (all of literals)

_WORDS = {"equal": "is", "not equal": "is not", "in": "in", "greater": ">", "less": "<"}
_HOLDS: dict[Comparison, Callable[[Any, Any], bool]] = {
    "equal": operator.eq,
    "not equal": operator.ne,
    "in": lambda value, several: value in several,
    "greater": operator.gt,
    "less": operator.lt,
}


def holds(comparison: Comparison, value: Any, other: Any) -> bool:
    """Does the value compare so with the other, or with one of the others?"""
    return _HOLDS[comparison](value, other)


def one_of(parent: str, values: Sequence[Any]) -> Literal:
    """A literal that holds where the parent has one of these values."""
    return (parent, "equal", values[0]) if len(values) == 1 else (parent, "in", tuple(values))


def in_words(clauses: Clauses) -> str:
    """When a parameter is active, for people."""

    def literal(parent: str, comparison: Comparison, value: Any) -> str:
        shown = ", ".join(map(str, value)) if comparison == "in" else str(value)
        return f"{parent} {_WORDS[comparison]} {shown}"

    return " or ".join(" and ".join(literal(*part) for part in clause) for clause in clauses)
