"""How alike two budgets rank the configurations that were run at both: of each two budgets of a race."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from hyperlens.explain.curves.paths import Paths
from hyperlens.explain.curves.rank_correlation import Resamples, rank_correlation
from hyperlens.tables import Column, Table, between, ends, table
from hyperlens.words import counted, decimals, first_few, number, percent

MOST_BUDGETS = 8  # more are steps, not rungs
MOST_SAID = 4  # neighbours in a sentence


@dataclass(frozen=True)
class BudgetPair:
    """Spearman's rank correlation of costs at two budgets, with its interval, among `count` that have
    both."""

    smaller: float
    larger: float
    correlation: float
    low: float
    high: float
    count: int


def budget_pairs(found: Paths, level: float, resamples: Resamples) -> tuple[BudgetPair, ...]:
    """Of each two budgets that enough configurations were run at; none where steps are no budgets."""
    if found.axis != "budget" or len(found.steps) > MOST_BUDGETS:
        return ()
    pairs = []
    for a, b in combinations(range(len(found.steps)), 2):
        first, second = found.values[:, a], found.values[:, b]
        both = np.isfinite(first) & np.isfinite(second)
        told = rank_correlation(first[both], second[both], level, resamples)
        smaller, larger = found.steps[[a, b]].tolist()
        pairs.append(BudgetPair(smaller, larger, *told, int(both.sum())))
    return tuple(pair for pair in pairs if np.isfinite(pair.low))


def neighbours_said(pairs: tuple[BudgetPair, ...], noun: str, level: float) -> str:
    """How alike each budget and the next larger one that is compared with it rank; empty if none is."""
    first = {pair.smaller: pair for pair in reversed(pairs)}
    told = [
        f"{number(pair.smaller)} and {number(pair.larger)} {decimals(pair.correlation)} "
        f"({decimals(pair.low)} to {decimals(pair.high)}; {counted(pair.count, noun)})"
        for pair in sorted(first.values(), key=lambda pair: pair.smaller)
    ]
    if not told:
        return ""
    return f"Rank correlation of budgets, with {percent(level)} intervals: {first_few(told, MOST_SAID)}."


def pairs_table(pairs: tuple[BudgetPair, ...], level: float) -> Table:
    what = "Spearman's rank correlation of the costs at both budgets."
    return table(
        Column("budget", [p.smaller for p in pairs], number),
        Column("and budget", [p.larger for p in pairs], number),
        Column("rank correlation", [p.correlation for p in pairs], decimals, what),
        Column(
            f"{percent(level)} interval",
            ends([p.low for p in pairs], [p.high for p in pairs]),
            between(decimals),
            "Configurations drawn again with replacement (bootstrap).",
        ),
        Column("run at both", [p.count for p in pairs], number),
    )
