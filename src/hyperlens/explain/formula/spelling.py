"""Formulas as people write them: signs in their place, no more digits than they need."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from hyperlens.explain.formula.forms import Form

PLACE = re.compile(r"\{(\w+)(?::([^}]*))?\}")


def spelled(form: Form, constants: tuple[float, ...], name: str, log: bool, digits: int) -> str:
    """A formula in the parameter's name, its constants to some digits.

    >>> from hyperlens.explain.formula.forms import BY_NAME
    >>> spelled(BY_NAME["quadratic"], (0.31, 0.12, -2.0), "lr", True, 3)
    '0.31 + 0.12·(log10(lr) + 2)²'
    """
    z = f"log10({name})" if log else name
    words = {"x": name, "z": z, "zm": f" - {z}"}
    write = partial(_written, constants=constants, digits=digits, words=words)
    return PLACE.sub(lambda place: write(place[1], place[2] or ""), form.text)


def _written(
    what: str, how: str, constants: tuple[float, ...], digits: int, words: dict[str, Any]
) -> str:
    if not what.isdigit():
        return str(words[what])
    value = constants[int(what)]
    if how == "sum":  # of the level and a factor
        return f"{constants[0] + value:.12g}"
    if how == "neg":
        return f"{-value:.{digits}g}"
    if how in ("+", "-"):
        value = -value if how == "-" else value
        return f" {'-' if value < 0 else '+'} {abs(value):.{digits}g}"
    return f"{value:.{digits}g}"


def rounded(constants: tuple[float, ...], digits: int) -> tuple[float, ...]:
    return tuple(float(f"{value:.{digits}g}") for value in constants)
