"""Schedules of successive halving and Hyperband as plain data, exact in integers (Sarigiannis et al.
2020 table 1).

Symbols
    n        evaluations at full budget that a bracket may use (the papers' budget)
    eta      a rung keeps one of eta configurations and gives each eta times the budget
    s        a bracket SH_s has s + 1 rungs; SH_0 is random search
    n_i, r_i configurations and budget (the papers' budget) of rung i: n eta^(s-i) / (s + 1), and
             eta^(i-s) of the whole
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest
from typing import Any

from hyperlens import words
from hyperlens.errors import AnalysisError
from hyperlens.record import Record
from hyperlens.tables import Column, Table, table

MOST_RUNGS = 64
FINEST = 10**6  # denominators of budgets that a float may stand for


@dataclass(frozen=True)
class Rung:
    """So many configurations are evaluated with this budget each."""

    configurations: int
    budget: Fraction

    @property
    def total(self) -> Fraction:
        return self.configurations * self.budget


@dataclass(frozen=True)
class Bracket:
    """One run of successive halving: each rung keeps the best of the one before."""

    name: str
    rungs: tuple[Rung, ...]

    @property
    def total(self) -> Fraction:
        """Budget of all its evaluations together (Sarigiannis et al. 2020 Eq. 2)."""
        return sum((rung.total for rung in self.rungs), Fraction(0))


@dataclass(frozen=True)
class Schedule(Record):
    """Brackets of the same total budget, the most explorative first; Hyperband runs them all.

    `total` bounds the budget of each bracket's evaluations together, `max_budget` is that of one.
    Numbers of configurations are rounded down, so that it is never exceeded.
    """

    eta: int
    max_budget: Fraction
    total: Fraction
    brackets: tuple[Bracket, ...]

    notes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        return (
            f"Each bracket may use {self.total} in all; Hyperband, which runs "
            f"{words.counted(len(self.brackets), 'bracket')}, uses {self.used}."
        )

    @property
    def used(self) -> Fraction:
        """Budget that all brackets use together (Sarigiannis et al. 2020 Eq. 4)."""
        return sum((bracket.total for bracket in self.brackets), Fraction(0))

    def _columns(self) -> dict[str, Any]:
        """One row a rung; budgets are fractions."""
        rungs = [(b.name, i, rung) for b in self.brackets for i, rung in enumerate(b.rungs)]
        return {
            "bracket": [name for name, _, _ in rungs],
            "rung": [i for _, i, _ in rungs],
        } | {n: [getattr(r, n) for *_, r in rungs] for n in ("configurations", "budget", "total")}

    @property
    def tables(self) -> tuple[Table, ...]:
        head, *rungs = self.rows()
        columns = zip(head, zip(*rungs, strict=True), strict=True)
        return (table(*(Column(name, cells) for name, cells in columns)),)

    def rows(self) -> list[list[str]]:
        """The schedule as Sarigiannis et al.'s table 1: a head, one line a rung, and totals."""
        columns = ([f"{r.configurations} at {r.budget}" for r in b.rungs] for b in self.brackets)
        rungs = [list(line) for line in zip_longest(*columns, fillvalue="-")]
        totals = [f"total {b.total}" for b in self.brackets]
        return [[b.name for b in self.brackets], *rungs, totals]

    def __str__(self) -> str:
        rows = self.rows()
        widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
        return "\n".join(
            "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
            for row in rows
        )


def schedule(
    evaluations: int,
    eta: int = 3,
    brackets: int | None = None,
    *,
    min_budget: Fraction | float | None = None,
    max_budget: Fraction | float = 1,
) -> Schedule:
    """Hyperband's brackets, each of so many `evaluations` at full budget.

    The number of brackets is given, or follows from the smallest budget (Sarigiannis et al. 2020: 1/9
    of the whole).

    >>> print(schedule(evaluations=33, eta=3, brackets=3))
    SH2        SH1         SH0
    99 at 1/9  49 at 1/3   33 at 1
    33 at 1/3  16 at 1     -
    11 at 1    -           -
    total 33   total 97/3  total 33
    """
    eta, n = _whole(eta, "eta", 2), _whole(evaluations, "evaluations", 1)
    most = _fraction(max_budget, "max_budget")
    if brackets is None:
        least = most / 9 if min_budget is None else _fraction(min_budget, "min_budget")
        count = halvings(most / least, eta) + 1
    elif min_budget is not None:
        raise AnalysisError("Give the number of brackets or the smallest budget, not both.")
    else:
        count = _whole(brackets, "brackets", 1)
    if count > MOST_RUNGS:
        raise AnalysisError(f"{count} brackets are too many; use at most {MOST_RUNGS}.")
    if n < count:
        raise AnalysisError(
            f"{n} evaluations at full budget are too few for {count} rungs, of which each needs at "
            f"least one; allow {count}, use fewer brackets, or search at random."
        )
    plan = tuple(bracket(n * eta**s // (s + 1), eta, s, most) for s in range(count - 1, -1, -1))
    return Schedule(eta=eta, max_budget=most, total=n * most, brackets=plan)


def bracket(configurations: int, eta: int, s: int, max_budget: Fraction | int = 1) -> Bracket:
    """Successive halving (Sarigiannis et al. 2020 algorithm 1): rung i keeps floor(configurations /
    eta^i).

    >>> [rung.configurations for rung in bracket(99, 3, 2).rungs]
    [99, 33, 11]
    """
    if configurations < eta**s:
        raise AnalysisError(
            f"{configurations} configurations are too few for {s + 1} rungs; the last would be "
            f"empty, so start with at least {eta**s}."
        )
    rungs = tuple(
        Rung(configurations // eta**i, Fraction(max_budget) / eta ** (s - i)) for i in range(s + 1)
    )
    return Bracket(f"SH{s}", rungs)


def halvings(ratio: Fraction | int, eta: int) -> int:
    """floor(log_eta(ratio)) without rounding: how often a budget can be divided by eta.

    >>> halvings(243, 3)
    5
    """
    if ratio < 1:
        raise AnalysisError(
            "The smallest budget is larger than the largest; exchange them, or lower the smallest."
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
    """A budget as a fraction; 1/9 as a float is taken for the fraction that it stands for."""
    if isinstance(number, bool) or not 0 < number < float("inf"):
        raise AnalysisError(f"{name} is {number}; choose a positive number.")
    exact = Fraction(number)
    near = exact.limit_denominator(FINEST)
    return near if abs(near - exact) <= exact * Fraction(1, 10**12) else exact
