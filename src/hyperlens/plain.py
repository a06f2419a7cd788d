"""Values as JSON carries them, and back again by their annotated types.

What JSON does not know is written as follows; what has one type alone needs no mark.

    nan             null
    inf, -inf       {"float": "inf"}
    empty array     {"shape": [0, 20]} where a list would not tell its shape
    fraction        "1/9"
    dataclass       an object of its public fields; a record also tells its class under "record"
"""

import dataclasses
import json
import math
import re
from collections.abc import Mapping, Sequence
from enum import Enum
from fractions import Fraction
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

SCALARS = (bool, int, str)
FRACTION = re.compile(r"-?\d{1,400}(/\d{1,400})?")


class Misfit(ValueError):
    """A value is not of the type that it should have."""


def as_json(value: Any) -> str:
    """JSON in ASCII alone: no name in it can steer a terminal, and none cannot be written."""
    return json.dumps(value, indent=1, allow_nan=False)


def plain(value: Any) -> Any:
    """A value as JSON can carry it."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, SCALARS):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, np.ndarray):
        lost = value.ndim > 1 and value.size == 0
        return {"shape": list(value.shape)} if lost else plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: plain(getattr(value, name)) for name in public(type(value))}
    if hasattr(value, "from_json"):  # a space
        return json.loads(value.to_json())
    return plain(value.value) if isinstance(value, Enum) else str(value)


def public(kind: type) -> list[str]:
    """Names of the fields that are written; what begins with _ is only there to compute more."""
    return [f.name for f in dataclasses.fields(kind) if not f.name.startswith("_")]


def built(kind: Any, fields: Mapping[str, Any]) -> Any:
    """A dataclass from its plain fields; what it does not know is left aside."""
    types = _types(kind)
    known = {}
    for name in public(kind):
        if name in fields:
            try:
                known[name] = rebuilt(types[name], fields[name])
            except (ValueError, TypeError, OverflowError, ZeroDivisionError) as problem:
                raise Misfit(f"'{name}' of {kind.__name__}: {problem}") from problem
    needed = [f.name for f in dataclasses.fields(kind) if _needed(f) and f.name not in known]
    if needed:
        raise Misfit(f"'{needed[0]}' of {kind.__name__} is missing")
    return kind(**known)


def rebuilt(kind: Any, value: Any) -> Any:
    """A value of this type from its plain form."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any or kind is object:
        return _free(value)
    if origin in (Union, UnionType):
        return _one_of(inner, value)
    if origin is Literal:
        return _checked(value, value in inner, "one of " + ", ".join(map(str, inner)))
    if (origin or kind) is np.ndarray:
        return _array(inner, value)
    if (origin or kind) is tuple:
        return _tuple(inner, _checked(value, isinstance(value, list), "a list"))
    if isinstance(origin or kind, type) and issubclass(origin or kind, Sequence) and inner:
        return [rebuilt(inner[0], v) for v in _checked(value, isinstance(value, list), "a list")]
    if isinstance(origin or kind, type) and issubclass(origin or kind, Mapping):
        pairs = _checked(value, isinstance(value, dict), "an object").items()
        of, to = inner or (Any, Any)
        return {of(k) if of in (int, float) else k: rebuilt(to, v) for k, v in pairs}
    return _scalar(kind, value)


def _scalar(kind: Any, value: Any) -> Any:
    if kind is float:
        return _float(value)
    if kind in SCALARS:
        fits = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
        return _checked(value, fits, f"of type {kind.__name__}")
    if kind is NoneType:
        return _checked(value, value is None, "nothing")
    if kind is Fraction:
        text = _checked(value, isinstance(value, str) and FRACTION.fullmatch(value), "a fraction")
        return Fraction(text)
    if issubclass(kind, Enum):
        return kind(value)
    _checked(value, isinstance(value, dict), "an object")
    if hasattr(kind, "from_dict"):
        return kind.from_dict(value)
    return (
        built(kind, value) if dataclasses.is_dataclass(kind) else kind.from_json(json.dumps(value))
    )


def _one_of(kinds: tuple[Any, ...], value: Any) -> Any:
    """The first of the types that fits; null is None where that is allowed."""
    if value is None and NoneType in kinds:
        return None
    problems = []
    for kind in kinds:
        try:
            return rebuilt(kind, value)
        except (ValueError, TypeError) as problem:
            problems.append(str(problem))
    raise Misfit(problems[0])


def _tuple(kinds: tuple[Any, ...], values: list[Any]) -> tuple[Any, ...]:
    if not kinds or kinds[-1] is Ellipsis:
        return tuple(rebuilt(kinds[0] if kinds else Any, v) for v in values)
    return tuple(rebuilt(k, v) for k, v in zip(kinds, values, strict=True))


def _array(kinds: tuple[Any, ...], value: Any) -> np.ndarray[Any, Any]:
    dtype = np.dtype(get_args(kinds[1])[0]) if kinds and get_args(kinds[1]) else np.dtype(float)
    if isinstance(value, dict) and "shape" in value:
        shape = rebuilt(tuple[int, ...], value["shape"])
        return np.empty(_checked(shape, 0 in shape, "the shape of an empty array"), dtype)
    return np.array(_floats(value) if dtype.kind == "f" else value, dtype)


def _floats(value: Any) -> Any:
    return [_floats(v) for v in value] if isinstance(value, list) else _float(value)


def _float(value: Any) -> float:
    if value is None:
        return math.nan
    if isinstance(value, dict):
        return float(_checked(value.get("float"), _infinite(value), "a number"))
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(_checked(value, number, "a number"))


def _free(value: Any) -> Any:
    """A value of whatever type: of a parameter, say."""
    if isinstance(value, list):
        return [_free(v) for v in value]
    if isinstance(value, dict):
        return _float(value) if _infinite(value) else {k: _free(v) for k, v in value.items()}
    return value


def _infinite(value: Mapping[str, Any]) -> bool:
    return list(value) == ["float"] and value["float"] in ("inf", "-inf")


def _checked(value: Any, fits: object, what: str) -> Any:
    if not fits:
        raise Misfit(f"{str(value)[:40]!r} is not {what}")
    return value


def _needed(field: dataclasses.Field[Any]) -> bool:
    missing = dataclasses.MISSING
    return field.init and field.default is missing and field.default_factory is missing


@cache
def _types(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)
