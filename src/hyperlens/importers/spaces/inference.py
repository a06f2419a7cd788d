"""A search space concluded from the values that were tried, where nothing declares one.

Texts and truth values are choices; numbers span the range that was seen, whole ones as integers,
on a log scale where they span decades and lie more evenly there. What only some trials set is
conditional. All of it is said in the space's `inferred`.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from hyperlens.errors import SourceError, listed
from hyperlens.importers.spaces.conditions import infer
from hyperlens.importers.values import distinct_choices, scalar
from hyperlens.spaces.cube import FloatArray
from hyperlens.spaces.parameter import Parameter, apart, is_number
from hyperlens.spaces.space import Space
from hyperlens.words import counted

MOST_CHOICES = 200  # a text with more different values names trials instead of describing them
MOST_NUMBER = 1e100  # a larger one is an accident
EXACT = 2**53  # whole numbers beyond it are no longer told apart
DECADES = 2.0  # between the smallest and the largest value, for a log scale
PLACES = 13  # decimals to which ConfigSpace rounds bounds
STEP = 10.0**-PLACES
SMALLEST = 10 * STEP
MOST_DESCRIBED = 8

Rows = Sequence[dict[str, Any]]


def conclude(
    rows: Rows, finished: Sequence[bool], declared: Mapping[str, Parameter] | None = None
) -> tuple[Space, list[str]]:
    """The space of `rows`, whose values are made plain in place, and what was noticed.

    `declared` holds parameters that are known, so that only their conditions are concluded. A
    trial that did not finish may have stopped before it set everything: it says nothing on that.
    """
    notes: list[str] = []
    declared = declared or {}
    complete = [row for row, done in zip(rows, finished, strict=True) if done]
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = _tidy(rows, names, set(declared), notes)
    described: dict[str, Parameter | tuple[Any]] = {}
    seen = set().union(*complete)
    for name, values in columns.items():
        description = declared.get(name) or _parameter(name, values)
        if name not in seen:
            description = f"'{name}' was set in trials that did not finish only and was left out."
        if not isinstance(description, str):
            described[name] = description
            continue
        notes.append(description)
        for row in rows:
            row.pop(name, None)
    parameters, constants = apart(described)
    if not parameters:
        raise SourceError(
            "No parameter varies between the trials of this run, so there is nothing to explain; "
            "check which columns are its parameters, or give its space with --space FILE "
            "(space= in Python)."
        )
    conditions = infer(parameters, complete)
    for row in rows:
        row.update(conditions.flagged(row))
    sentences = [] if declared else [_sentence(parameters, len(rows))]
    return conditions.space(parameters, constants, sentences), notes


def _tidy(
    rows: Rows, names: Sequence[str], declared: set[str], notes: list[str]
) -> dict[str, list[Any]]:
    """Columns of JSON scalars; what cannot be one is dropped from the rows and counted."""
    columns: dict[str, list[Any]] = {}
    dropped: Counter[str] = Counter()
    for name in names:
        having = [row for row in rows if name in row]
        if name not in declared and not _is_tidy([row[name] for row in having]):
            for row in having:
                row[name] = _plain(row[name])
                if row[name] is _UNUSABLE:
                    del row[name]
                    dropped[name] += 1
        if values := [row[name] for row in having if name in row]:
            columns[name] = values
    if dropped:
        notes.append(
            f"{dropped.total()} values of {listed(dropped)} are not finite numbers of usable "
            "size and count as not set."
        )
    return columns


def _is_tidy(values: Sequence[Any]) -> bool:
    kinds = set(map(type, values))
    if kinds <= {str, bool, type(None)}:
        return True
    if not kinds <= {int, float}:
        return False
    try:
        return bool((np.abs(np.array(values, dtype=float)) <= MOST_NUMBER).all())
    except OverflowError:
        return False


_UNUSABLE = object()


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    if is_number(value):
        return value if abs(value) <= MOST_NUMBER else _UNUSABLE  # nan compares false
    return scalar(value)


def _parameter(name: str, values: Sequence[Any]) -> Parameter | tuple[Any] | str:
    """A parameter, a tuple of its one value if it cannot vary, or why it is none."""
    if set(map(type, values)) <= {int, float}:
        return _number(name, np.array(values, dtype=float))
    choices = _choices(values)
    if len(choices) == 1:
        return choices
    if len(choices) > MOST_CHOICES:
        return (
            f"'{name}' has {len(choices)} different texts, too many for a parameter, and was "
            "left out."
        )
    return Parameter(name, "categorical", choices=choices)


def _choices(values: Iterable[Any]) -> tuple[Any, ...]:
    """Different values in order; as texts where ConfigSpace or people could not tell them apart."""
    choices = distinct_choices(values)
    texts = tuple(dict.fromkeys(map(str, choices)))
    if len(texts) < len(choices):
        return texts
    return tuple(sorted(choices)) if {type(v) for v in choices} <= {bool} else choices


def _number(name: str, values: FloatArray) -> Parameter | tuple[Any]:
    low, high = float(values.min()), float(values.max())
    whole = bool((values == np.rint(values)).all()) and max(abs(low), abs(high)) < EXACT
    if low == high:
        return (int(low) if whole else low,)
    log = _looks_log(values)
    if whole:
        return Parameter(name, "integer", low, high, log)
    if log and low < SMALLEST:  # ConfigSpace would round the bound to 0
        distinct = np.unique(values).tolist()
        if len(distinct) <= MOST_CHOICES:
            return Parameter(name, "ordinal", choices=tuple(distinct))
        log = False
    return Parameter(name, "float", _rounded(low, -STEP), _rounded(high, STEP), log)


def _rounded(bound: float, outwards: float) -> float:
    """The nearest bound that ConfigSpace keeps as it is, not further inside."""
    near = round(bound, PLACES)
    inside = near > bound if outwards < 0 else near < bound
    return round(bound + outwards, PLACES) if inside else near


def _looks_log(values: FloatArray) -> bool:
    """Do values span decades, and lie more evenly on a log scale than on a linear one?"""
    low, high = float(values.min()), float(values.max())
    if low <= 0 or math.log10(high) - math.log10(low) < DECADES:
        return False
    return _unevenness(np.log(values)) < _unevenness(values)


def _unevenness(values: FloatArray) -> float:
    """Largest distance from the uniform distribution between the extremes."""
    distinct = np.unique(values)
    place = (distinct - distinct[0]) / (distinct[-1] - distinct[0])
    return float(np.abs(place - np.linspace(0.0, 1.0, len(distinct))).max())


def _sentence(parameters: Sequence[Parameter], trials: int) -> str:
    shown = [_described(p) for p in parameters[:MOST_DESCRIBED]]
    more = len(parameters) - len(shown)
    rest = f", and {more} more" if more > 0 else ""
    return (
        f"The space was inferred from {counted(trials, 'trial')}: {'; '.join(shown)}{rest}; give it "
        "with --space FILE (space= in Python) if it is another."
    )


def _described(parameter: Parameter) -> str:
    if parameter.kind == "categorical":
        shown = ", ".join(str(choice)[:40] for choice in parameter.choices[:4])
        more = len(parameter.choices) - 4
        return f"'{parameter.name}' is {shown}{f' or {more} more' if more > 0 else ''}"
    what = "whole, " if parameter.kind == "integer" else ""
    scale = " on a log scale" if parameter.log else ""
    return f"'{parameter.name}' is {what}{parameter.lower:g} to {parameter.upper:g}{scale}"
