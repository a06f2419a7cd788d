"""Schedules of successive halving and Hyperband as plain data, exact in integers (Sarigiannis et al. 2020 table 1).

Symbols
    n        budget of a bracket, in evaluations at full resource
    eta      a rung keeps one of eta configurations and gives each eta times the resource
    s        a bracket SH_s has s + 1 rungs; SH_0 is random search
    n_i, r_i configurations and resource of rung i: n eta^(s-i) / (s + 1), and eta^(i-s) of the whole
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from hyperlens.errors import AnalysisError
from hyperlens.record import Record

if TYPE_CHECKING:
    import pandas as pd

MOST_RUNGS = 64
FINEST = 10**6  # denominators of resources that a float may stand for


@dataclass(frozen=True)
class Rung:
    """So many configurations are evaluated with this resource each."""

    configurations: int
    resource: Fraction

    @property
    def budget(self) -> Fraction:
        return self.configurations * self.resource


@dataclass(frozen=True)
class Bracket:
    """One run of successive halving: each rung keeps the best of the one before."""

    name: str
    rungs: tuple[Rung, ...]

    @property
    def budget(self) -> Fraction:
        """Resource that is used in all (Sarigiannis et al. 2020 Eq. 2)."""
        return sum((rung.budget for rung in self.rungs), Fraction(0))


@dataclass(frozen=True)
class Schedule(Record):
    """Brackets of one budget each, the most explorative first; Hyperband runs them all.

    `budget` bounds each bracket, in the resource's own units. Numbers of configurations are rounded
    down, so that it is never exceeded.
    """

    eta: int
    resource: Fraction
    budget: Fraction
    brackets: tuple[Bracket, ...]

    @property
    def used(self) -> Fraction:
        """Resource that all brackets use together (Sarigiannis et al. 2020 Eq. 4)."""
        return sum((bracket.budget for bracket in self.brackets), Fraction(0))

    @property
    def frame(self) -> pd.DataFrame:
        """One row a rung; resources are fractions."""
        import pandas as pd

        rows = [
            (bracket.name, i, rung.configurations, rung.resource, rung.budget)
            for bracket in self.brackets
            for i, rung in enumerate(bracket.rungs)
        ]
        columns = ["bracket", "rung", "configurations", "resource", "budget"]
        return pd.DataFrame(rows, columns=columns)

    def rows(self) -> list[list[str]]:
        """The schedule as Sarigiannis et al.'s table 1: a head, one line a rung, and each bracket's budget."""
        deepest = max(len(bracket.rungs) for bracket in self.brackets)
        lines = [[b.name for b in self.brackets]]
        for i in range(deepest):
            lines.append(
                [
                    f"{b.rungs[i].configurations} at {b.rungs[i].resource}"
                    if i < len(b.rungs)
                    else "-"
                    for b in self.brackets
                ]
            )
        return [*lines, [f"budget {b.budget}" for b in self.brackets]]

    def __str__(self) -> str:
        rows = self.rows()
        widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
        return "\n".join(
            "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
            for row in rows
        )


def schedule(
    n: int,
    eta: int = 3,
    brackets: int | None = None,
    *,
    min_resource: Fraction | float | None = None,
    max_resource: Fraction | float = 1,
) -> Schedule:
    """Hyperband's brackets, each of a budget of `n` evaluations at full resource.

    The number of brackets is given, or follows from the smallest resource (Sarigiannis et al. 2020: 1/9 of the whole).

    >>> print(schedule(n=33, eta=3, brackets=3))
    SH2        SH1          SH0
    99 at 1/9  49 at 1/3    33 at 1
    33 at 1/3  16 at 1      -
    11 at 1    -            -
    budget 33  budget 97/3  budget 33
    """
    eta, n = _whole(eta, "eta", 2), _whole(n, "n", 1)
    most = _fraction(max_resource, "max_resource")
    if brackets is None:
        least = most / 9 if min_resource is None else _fraction(min_resource, "min_resource")
        count = halvings(most / least, eta) + 1
    elif min_resource is not None:
        raise AnalysisError("Give the number of brackets or the smallest resource, not both.")
    else:
        count = _whole(brackets, "brackets", 1)
    if count > MOST_RUNGS:
        raise AnalysisError(f"{count} brackets are too many; use at most {MOST_RUNGS}.")
    if n < count:
        raise AnalysisError(
            f"A budget of {n} is too small for {count} rungs, of which each needs at least one "
            f"evaluation at full resource; raise it to {count}, use fewer brackets, or search at random."
        )
    found = tuple(bracket(n * eta**s // (s + 1), eta, s, most) for s in range(count - 1, -1, -1))
    return Schedule(eta=eta, resource=most, budget=n * most, brackets=found)


def bracket(configurations: int, eta: int, s: int, max_resource: Fraction | int = 1) -> Bracket:
    """Successive halving (Sarigiannis et al. 2020 algorithm 1): rung i keeps floor(configurations / eta^i).

    >>> [rung.configurations for rung in bracket(99, 3, 2).rungs]
    [99, 33, 11]
    """
    if configurations < eta**s:
        raise AnalysisError(
            f"{configurations} configurations are too few for {s + 1} rungs; the last would be "
            f"empty, so start with at least {eta**s}."
        )
    rungs = tuple(
        Rung(configurations // eta**i, Fraction(max_resource) / eta ** (s - i))
        for i in range(s + 1)
    )
    return Bracket(f"SH{s}", rungs)


def halvings(ratio: Fraction | int, eta: int) -> int:
    """floor(log_eta(ratio)) without rounding: how often a resource can be divided by eta.

    >>> halvings(243, 3)
    5
    """
    if ratio < 1:
        raise AnalysisError(
            "The smallest resource is larger than the largest; exchange them, or lower the smallest."
        )
    s = 0
    while eta ** (s + 1) <= ratio:
        s += 1
    return s


def _whole(number: int, name: str, least: int) -> int:
    if isinstance(number, bool) or number != int(number) or number < least:
        raise AnalysisError(f"{name} is {number}; choose a whole number of at least {least}.")
    return int(number)


def _fraction(number: Fraction | float, name: str) -> Fraction:
    """A resource as a fraction; 1/9 as a float is taken for the fraction that it stands for."""
    if isinstance(number, bool) or not 0 < number < float("inf"):
        raise AnalysisError(f"{name} is {number}; choose a positive number.")
    exact = Fraction(number)
    near = exact.limit_denominator(FINEST)
    return near if abs(near - exact) <= exact * Fraction(1, 10**12) else exact
