"""A space as a function of Optuna's `trial.suggest_*` calls, in the order in which they decide."""

from __future__ import annotations

from typing import Any

from hyperlens.spaces.clauses import Literal
from hyperlens.spaces.parameter import Parameter
from hyperlens.spaces.space import Space

_SIGNS = {"equal": "==", "not equal": "!=", "in": "in", "greater": ">", "less": "<"}
INDENT = "    "


def suggestions(space: Space) -> str:
    """Python code: `suggest(trial)` gives a configuration of the space.

    >>> print(suggestions(Space.of([Parameter("lr", "float", 1e-4, 0.1, log=True)])))
    def suggest(trial):
        values = {}
        values['lr'] = trial.suggest_float('lr', 0.0001, 0.1, log=True)
        return values
    <BLANKLINE>
    """
    constants = {name: _plain(value) for name, value in space.constants.items()}
    lines = ["def suggest(trial):", f"{INDENT}values = {constants!r}"]
    for column in space.cube.order:
        parameter = space.parameters[column]
        line = f"values[{parameter.name!r}] = trial.{_call(parameter)}"
        clauses = space.clauses.get(parameter.name)
        if clauses is None:
            lines.append(INDENT + line)
            continue
        ways = [" and ".join(_condition(literal) for literal in clause) for clause in clauses]
        whole = ways[0] if len(ways) == 1 else " or ".join(f"({way})" for way in ways)
        lines += [f"{INDENT}if {whole}:", f"{INDENT * 2}{line}"]
    return "\n".join([*lines, f"{INDENT}return values", ""])


def _call(parameter: Parameter) -> str:
    name, log = repr(parameter.name), ", log=True" if parameter.log else ""
    if parameter.kind == "float":
        return f"suggest_float({name}, {parameter.lower!r}, {parameter.upper!r}{log})"
    if parameter.kind == "integer":
        return f"suggest_int({name}, {int(parameter.lower)}, {int(parameter.upper)}{log})"
    return f"suggest_categorical({name}, {[_plain(choice) for choice in parameter.choices]!r})"


def _condition(literal: Literal) -> str:
    """True where the parent is active and its value is as it must be."""
    parent, comparison, value = literal
    other = tuple(map(_plain, value)) if comparison == "in" else _plain(value)
    return f"{parent!r} in values and values[{parent!r}] {_SIGNS[comparison]} {other!r}"


def _plain(value: Any) -> Any:
    """What Optuna stores: truth values, numbers and texts as they are, all else as a text."""
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
