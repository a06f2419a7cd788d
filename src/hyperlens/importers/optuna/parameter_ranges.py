"""Optuna's distributions: those that each parameter was drawn from, and the parameter they make."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from hyperlens.errors import SourceError
from hyperlens.importers.values import distinct_choices, one_line
from hyperlens.spaces.parameter import MOST_LEVELS, Parameter

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution


class Distributions:
    """Every distribution that each parameter was drawn from, in order of appearance.

    A storage keeps a parameter as a number and the JSON of its distribution: `value` turns the
    two into what the user saw.
    """

    def __init__(self) -> None:
        self.seen: dict[str, list[BaseDistribution]] = {}
        self._readers: dict[tuple[str, str], Callable[[Any], Any] | None] = {}

    def add(self, name: str, distribution: BaseDistribution) -> None:
        known = self.seen.setdefault(name, [])
        if distribution not in known:
            known.append(distribution)

    def value(self, name: str, text: str, stored: Any) -> Any:
        """The user's value of a stored number."""
        reader = self.reader(name, text)
        return stored if reader is None else reader(stored)

    def reader(self, name: str, text: str) -> Callable[[Any], Any] | None:
        """What turns stored numbers into the user's values; None where they are the same."""
        if (name, text) not in self._readers:
            self._readers[name, text] = self._reader(name, text)
        return self._readers[name, text]

    def _reader(self, name: str, text: str) -> Callable[[Any], Any] | None:
        from optuna.distributions import FloatDistribution, json_to_distribution

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the classes of Optuna 2 announce their end
                distribution = json_to_distribution(text)
        except Exception as problem:  # Optuna raises whatever its constructors meet
            raise SourceError(
                f"The distribution of parameter '{name}' cannot be read from the study "
                f"({one_line(problem)}); upgrade Optuna, or export the study's "
                "trials_dataframe() to a CSV."
            ) from problem
        self.add(name, distribution)
        return None if type(distribution) is FloatDistribution else distribution.to_external_repr


def parameter_of(
    name: str, seen: Sequence[BaseDistribution], values: Iterable[Any], notes: list[str]
) -> Parameter | tuple[Any, ...]:
    """One parameter out of all its distributions; a tuple of its one value if it cannot vary."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    categories = [d for d in seen if isinstance(d, CategoricalDistribution)]
    numbers = [d for d in seen if isinstance(d, (FloatDistribution, IntDistribution))]
    if not categories:
        return _number(name, numbers, values, notes)
    choices = [choice for d in categories for choice in d.choices]
    if numbers:
        choices += list(values)
        notes.append(
            f"'{name}' was a number in some trials and a choice in others; it is read as "
            "a choice among all its values."
        )
    distinct = distinct_choices(choices)
    if len(categories) > 1:
        notes.append(f"The choices of '{name}' changed during the study; all of them are used.")
    return distinct if len(distinct) == 1 else Parameter(name, "categorical", choices=distinct)


def _number(
    name: str, seen: Sequence[Any], values: Iterable[Any], notes: list[str]
) -> Parameter | tuple[Any, ...]:
    """A float, an integer, or, with a step, an ordinal over its numbers; the widest of ranges."""
    from optuna.distributions import IntDistribution

    tried = set(values)
    whole = all(isinstance(d, IntDistribution) for d in seen)
    log = all(d.log for d in seen)
    low, high = min(d.low for d in seen), max(d.high for d in seen)
    if any((d.low, d.high) != (low, high) for d in seen):
        notes.append(
            f"The range of '{name}' changed during the study; the widest, {low:g} to {high:g}, "
            "is used."
        )
    if not log and any(d.log for d in seen):
        notes.append(f"'{name}' was on a log scale in some trials only; a linear one is used.")
    if not whole and any(isinstance(d, IntDistribution) for d in seen):
        notes.append(f"'{name}' was a whole number in some trials only; it is read as a float.")
    lowest, highest = min(tried, default=low), max(tried, default=high)
    if lowest < low or highest > high:  # Optuna lets an enqueued trial leave the range
        low, high = min(low, lowest), max(high, highest)
        log = log and low > 0
        notes.append(
            f"Some trials set '{name}' outside its range, which was widened to {low:g} to {high:g}."
        )
    stepped = [d for d in seen if d.step is not None and not (whole and d.step == 1)]
    if len(stepped) == len(seen) and sum(map(_levels, seen)) <= MOST_LEVELS:
        levels = _with_strays({level for d in seen for level in _grid(d)}, tried)
        return levels if len(levels) == 1 else Parameter(name, "ordinal", choices=levels)
    if low == high:
        return (low,)
    return Parameter(name, "integer" if whole else "float", float(low), float(high), log)


def _with_strays(grid: Iterable[Any], values: Iterable[Any]) -> tuple[Any, ...]:
    """The grid in order, with values that were set although they are not on it."""
    levels = sorted(grid)
    slack = 1e-9 * max(abs(levels[0]), abs(levels[-1]))
    strays = [v for v in values if min(abs(v - level) for level in levels) > slack]
    return tuple(sorted({*levels, *strays}))


def _levels(distribution: Any) -> int:
    return int((distribution.high - distribution.low) / distribution.step + 1e-9) + 1


def _grid(distribution: Any) -> list[Any]:
    """The numbers of a stepped range, in decimal arithmetic: 0.3, not 0.30000000000000004."""
    if isinstance(distribution.step, int) and isinstance(distribution.low, int):
        return list(range(distribution.low, distribution.high + 1, distribution.step))
    low, step = Decimal(str(distribution.low)), Decimal(str(distribution.step))
    return [float(low + k * step) for k in range(_levels(distribution))]
