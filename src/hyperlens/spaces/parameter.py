"""One hyperparameter: its values, and the axis of the unit cube that carries them.

A float or an integer lies on its axis linearly, or by its logarithm. An integer k owns the cell
from k - 1/2 to k + 1/2 on that scale; an ordinal or a category owns one of equal cells.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from hyperlens.errors import SpaceError, listed
from hyperlens.spaces.cube import Axis, FloatArray, Runs, joined
from hyperlens.words import first_few, number, printable

Kind = Literal["float", "integer", "ordinal", "categorical"]
Comparison = Literal["equal", "not equal", "in", "greater", "less"]

MOST_LEVELS = 1024  # an integer with more levels is treated as a continuous axis
FARTHEST = 1e100  # of a bound from zero, so that ranges can be computed with
MOST_SHOWN = 6  # choices
TOLERANCE = 1e-9  # of the range: what rounding in a file may move a value past its bound


@dataclass(frozen=True, repr=False)
class Parameter:
    """A tunable hyperparameter; `choices` for ordinals and categories, bounds for numbers.

    >>> Parameter("lr", "float", 1e-4, 1e-1, log=True).encode([1e-4, 1e-3]).round(3).tolist()
    [0.0, 0.333]
    """

    name: str
    kind: Kind
    lower: float = 0.0
    upper: float = 1.0
    log: bool = False
    choices: tuple[Any, ...] = ()
    default: Any = None

    def __post_init__(self) -> None:
        if self.kind in ("float", "integer"):
            if not (math.isfinite(self.lower) and math.isfinite(self.upper)):
                raise SpaceError(
                    f"Parameter '{self.name}' needs finite bounds; set lower and upper."
                )
            if max(-self.lower, self.upper) > FARTHEST:
                raise SpaceError(
                    f"Parameter '{self.name}' reaches from {self.lower:g} to {self.upper:g}, beyond "
                    f"{FARTHEST:g}; narrow its range, or search its logarithm."
                )
            if self.lower >= self.upper:
                raise SpaceError(
                    f"Parameter '{self.name}' has its lower bound {self.lower} not below its "
                    f"upper bound {self.upper}; widen its range or make it a constant."
                )
            if self.log and self.lower <= 0:
                raise SpaceError(
                    f"Parameter '{self.name}' is on a log scale from {self.lower}; "
                    "use a positive bound or a linear scale."
                )
        elif len(self.choices) < 2:
            raise SpaceError(
                f"Parameter '{self.name}' has fewer than two choices; make it a constant."
            )

    def __repr__(self) -> str:
        scale = ", log scale" if self.log else ""
        return printable(f"<Parameter {self.name}: {self.kind}, {self.extent}{scale}>")

    @property
    def extent(self) -> str:
        """Its bounds or first choices, for people."""
        if self.choices:
            return first_few([number(choice) for choice in self.choices], MOST_SHOWN)
        return f"{number(self.lower)} to {number(self.upper)}"

    @property
    def numeric(self) -> bool:
        """Do its values lie on a number line?"""
        return self.kind in ("float", "integer") or (
            self.kind == "ordinal" and all(is_number(c) for c in self.choices)
        )

    @property
    def central(self) -> bool:
        """Is the default where it is if none is given: in the middle, or the first choice?"""
        if self.choices:
            return self.default is None or self.default == self.choices[0]
        if self.default is None:
            return True
        if (
            self.kind == "integer"
        ):  # which whole number a middle is rounded to differs between tools
            both = self.lower, self.upper
            middle = math.sqrt(both[0] * both[1]) if self.log else sum(both) / 2
            return abs(float(self.default) - middle) <= 1
        return abs(float(self.encode([self.default])[0]) - 0.5) <= 1e-6

    @cached_property
    def values(self) -> tuple[Any, ...] | None:
        """All values of a discrete parameter in the order of its levels; None if continuous."""
        if self.choices:
            return self.choices
        if self.kind == "float" or self.upper - self.lower >= MOST_LEVELS:
            return None
        return tuple(range(int(self.lower), int(self.upper) + 1))

    @cached_property
    def axis(self) -> Axis:
        if self.values is None:
            return Axis()
        levels = len(self.values)
        if self.kind == "integer":
            steps = np.arange(levels + 1, dtype=np.float64) + self.lower - 0.5
            edges = self._place(steps)
            edges[0], edges[-1] = 0.0, 1.0
            return Axis(edges, self._place(np.asarray(self.values, dtype=float)))
        even = Axis.categorical(levels)
        return Axis(even.edges, even.codes, ordered=self.kind == "ordinal")

    def encode(self, values: Sequence[Any]) -> FloatArray:
        """Values to codes in [0, 1]; a value that does not belong raises SpaceError."""
        if self.kind in ("float", "integer"):
            return self._encode_numbers(values)
        assert self.axis.codes is not None
        return np.asarray(self.axis.codes[[self._level(v) for v in values]], dtype=float)

    def decode(self, codes: FloatArray) -> list[Any]:
        """Codes (or latents) in [0, 1] to values."""
        if self.values is not None:
            return [self.values[k] for k in self.axis.level(np.asarray(codes))]
        low, high = self._ends
        placed = low + np.asarray(codes) * (high - low)
        numbers = np.clip(np.exp(placed) if self.log else placed, self.lower, self.upper)
        if self.kind == "integer":
            return [int(n) for n in np.clip(np.rint(numbers), self.lower, self.upper)]
        ends = {0.0: self.lower, 1.0: self.upper}  # exp(log(0.0001)) is 0.00010000000000000009
        return [ends.get(c, float(n)) for c, n in zip(np.asarray(codes), numbers, strict=True)]

    def grid(self, size: int) -> FloatArray:
        """Codes of at most `size` points, evenly spread on the axis; all levels if they are few."""
        codes = self.axis.codes
        if codes is not None and (len(codes) <= size or not self.axis.ordered):
            return codes
        even = np.linspace(0.0, 1.0, size)
        if self.kind == "float":
            return even
        return np.unique(self.encode(self.decode(even)))

    def runs(self, comparison: Comparison, value: Any) -> Runs:
        """The part of the axis where `parameter <comparison> value` holds."""
        if self.values is not None:
            levels = np.arange(len(self.values))
            at = [self._level(v) for v in (value if comparison == "in" else [value])]
            compare = {"greater": np.greater, "less": np.less, "not equal": np.not_equal}
            inside = compare.get(comparison, np.isin)(levels, at)
            edges = self.axis.edges
            assert edges is not None
            return joined([(float(edges[k]), float(edges[k + 1])) for k in np.flatnonzero(inside)])
        half = 0.5 if self.kind == "integer" else 0.0
        if comparison == "greater":  # the value itself is not greater: start just past it
            low = float(np.nextafter(self._place(np.array([value + half]))[0], 2.0))
            return ((low, 1.0),) if low < 1.0 else ()
        if comparison == "less":
            high = float(self._place(np.array([value - half]))[0])
            return ((0.0, high),) if high > 0.0 else ()
        raise SpaceError(
            f"A condition asks the continuous parameter '{self.name}' for one exact value; "
            "use greater or less."
        )

    def _encode_numbers(self, values: Sequence[Any]) -> FloatArray:
        try:
            numbers = np.array([math.nan if v is None else float(v) for v in values], dtype=float)
        except (TypeError, ValueError):
            wrong = next(v for v in values if not _reads_as_number(v))
            raise SpaceError(
                f"Parameter '{self.name}' has the value {wrong!r}, which is not a number; "
                "correct the value or make the parameter categorical."
            ) from None
        below = above = TOLERANCE * (self.upper - self.lower)
        if self.log:  # a range of many decades says nothing of what is near its lower bound
            below, above = TOLERANCE * self.lower, TOLERANCE * self.upper
        outside = ~((numbers >= self.lower - below) & (numbers <= self.upper + above))
        if outside.any():
            wrong = values[int(outside.argmax())]
            raise SpaceError(
                f"Parameter '{self.name}' has the value {wrong!r} outside its range "
                f"[{self.lower:g}, {self.upper:g}]; correct the value or widen the range."
            )
        if self.kind == "integer":
            whole = np.rint(numbers)
            if (broken := np.abs(whole - numbers) > 1e-6).any():
                wrong = values[int(broken.argmax())]
                raise SpaceError(
                    f"Parameter '{self.name}' is an integer but has the value {wrong!r}; "
                    "correct the value or make the parameter a float."
                )
            numbers = whole
        return np.clip(self._place(np.clip(numbers, self.lower, self.upper)), 0.0, 1.0)

    @property
    def _ends(self) -> tuple[float, float]:
        half = 0.5 if self.kind == "integer" else 0.0
        low, high = self.lower - half, self.upper + half
        return (math.log(low), math.log(high)) if self.log else (low, high)

    def _place(self, numbers: FloatArray) -> FloatArray:
        low, high = self._ends
        return np.asarray(((np.log(numbers) if self.log else numbers) - low) / (high - low))

    @cached_property
    def _levels(self) -> dict[Any, int]:
        assert self.values is not None
        levels = {str(v): k for k, v in enumerate(self.values)}
        return levels | {_key(v): k for k, v in enumerate(self.values)}

    def _level(self, value: Any) -> int:
        """Position of a value among the levels: exactly, as its text, or as a near number."""
        level = self._levels.get(_key(value), self._levels.get(choice_text(value)))
        if level is None and self.numeric and is_number(value):
            numbers = np.asarray(self.values, dtype=float)
            nearest = int(np.argmin(np.abs(numbers - float(value))))
            if abs(numbers[nearest] - float(value)) <= 1e-6 * max(1e-300, float(np.ptp(numbers))):
                level = nearest
        if level is None:
            assert self.values is not None
            raise SpaceError(
                f"Parameter '{self.name}' has the value {value!r}, which is not among its choices "
                f"({listed(self.values)}); correct the value or add the choice to the space."
            )
        return level


def apart(
    declared: Mapping[str, Parameter | tuple[Any, ...]],
) -> tuple[list[Parameter], dict[str, Any]]:
    """Parameters and constants out of both; a constant is declared by a tuple of its one value."""
    parameters = [p for p in declared.values() if isinstance(p, Parameter)]
    constants = {name: c[0] for name, c in declared.items() if not isinstance(c, Parameter)}
    return parameters, constants


def is_number(value: Any) -> bool:
    """Truth values are none."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def choice_text(value: Any) -> str:
    """A choice as a text that ConfigSpace keeps; NULs that NumPy drops at its end are written out.

    >>> choice_text("a\\0"), choice_text(None)
    ('a\\\\0', 'None')
    """
    text = str(value)
    kept = text.rstrip("\0")
    return kept + r"\0" * (len(text) - len(kept))


def _reads_as_number(value: Any) -> bool:
    try:
        float(0.0 if value is None else value)
    except (TypeError, ValueError):
        return False
    return True


def _key(value: Any) -> tuple[str, Any]:
    """True, 1 and "1" are three different choices; 1 and 1.0 are one."""
    if isinstance(value, (bool, np.bool_)):
        return ("truth", bool(value))
    if is_number(value):
        return ("number", float(value))
    return ("text", str(value)) if isinstance(value, str) else ("other", repr(value))


def natural_end(lower: float, upper: float, whole: bool, at_upper: bool) -> bool:
    """Is there nothing beyond an end of a range: beyond 0 or 1 of what is counted, below 0 of what is
    positive, above 1 of what is a part?

    >>> natural_end(0.0, 0.7, False, False), natural_end(0.0, 0.7, False, True)
    (True, False)
    """
    if at_upper:
        return upper == 1 and lower >= 0
    return lower == 0 or (whole and lower == 1)
