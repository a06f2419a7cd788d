"""Methods over many data sets, compared as Sarigiannis et al. 2020 section 4.3 asks.

First Friedman's test with Iman and Davenport's F: does any method differ? Then each two methods by
Wilcoxon's signed-rank test, p-values adjusted for the number of pairs. Two methods are compared by
Wilcoxon's test alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from hyperlens.comparison import compare_words as words
from hyperlens.comparison.corrections import Correction, adjusted
from hyperlens.comparison.friedman import Friedman, friedman, rank_rows
from hyperlens.comparison.groups import groups
from hyperlens.comparison.score_table import Results, results
from hyperlens.comparison.wilcoxon import SignedRank, shift, signed_rank
from hyperlens.errors import AnalysisError
from hyperlens.record import Record, columns_of
from hyperlens.spaces.cube import BoolArray, FloatArray
from hyperlens.tables import Column, Table, between, table
from hyperlens.words import decimals, number, p_value

if TYPE_CHECKING:
    import pandas as pd


MOST_GROUPS = 20  # marked in a table
EFFECT = (
    "Matched-pairs rank-biserial correlation: 1 where the first is better everywhere, -1 where the "
    "second is."
)


@dataclass(frozen=True)
class Pair:
    """Two methods over the `rows` data sets that have both; `first` has the better average rank.

    `wins` counts the data sets on which `first` is better, `losses` those on which `second` is.
    `effect` is the matched-pairs rank-biserial correlation, positive where `first` is better.
    `difference` is Hodges and Lehmann's median of first - second in the results' own units, between
    `low` and `high` at the level 1 - alpha of this pair alone. `p` is Wilcoxon's, `adjusted` is for
    the whole family; `different` says whether the pair may be called so.
    """

    first: str
    second: str
    rows: int
    wins: int
    losses: int
    zeros: int
    p: float
    adjusted: float
    different: bool
    effect: float
    difference: float
    low: float
    high: float


@dataclass(frozen=True)
class Comparison(Record):
    """`ranks` maps each method to its average rank over `rows` data sets, the best first.

    `groups` are the methods that cannot be told apart. `dropped` names the data sets with a missing
    result, which the ranks and Friedman's test leave out. `sentences` may stand in a paper.
    """

    ranks: dict[str, float]
    rows: int
    dropped: tuple[str, ...]
    higher_is_better: bool
    correction: Correction
    alpha: float
    friedman: Friedman | None
    pairs: tuple[Pair, ...]
    groups: tuple[tuple[str, ...], ...]
    sentences: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The average ranks."""
        return self.sentences[0]

    @property
    def lead(self) -> tuple[str, ...]:
        return self.sentences

    @property
    def tables(self) -> tuple[Table, ...]:
        """Ranks, where a mark in the same column joins methods that cannot be told apart, and pairs."""
        marks = [
            " ".join("|" if name in group else " " for group in self.groups[:MOST_GROUPS])
            for name in self.ranks
        ]
        rank = "The method's rank on each data set, averaged; 1 is best, equals share their ranks."
        ranks = table(
            Column("method", self.ranks),
            Column("average rank", self.ranks.values(), "{:.3f}".format, rank),
            Column("cannot be told apart", marks, str),
        )
        many = "On how many of them the first is better, the second is better, both are equal."
        median = "Hodges and Lehmann's estimate of the median of the first minus the second."
        where = "Where that median lies, for this pair alone."
        alone = "Wilcoxon's signed-rank test of this pair alone."
        family = "The same, adjusted for the number of pairs."
        both = "On how many data sets both were measured."
        interval, adjusted = f"{1 - self.alpha:.0%} interval", f"adjusted p ({self.correction})"
        p = self.pairs
        pairs = table(
            Column("pair", [f"{x.first} : {x.second}" for x in p]),
            Column("data sets", [x.rows for x in p], number, both, wide=True),
            Column("w-l-t", [f"{x.wins}-{x.losses}-{x.zeros}" for x in p], number, many),
            Column("difference", [x.difference for x in p], number, median),
            Column(interval, [(x.low, x.high) for x in p], between(number), where),
            Column("effect", [x.effect for x in p], decimals, EFFECT),
            Column("p", [x.p for x in p], p_value, alone, wide=True),
            Column(adjusted, [x.adjusted for x in p], p_value, family),
            Column("different", ["yes" if x.different else "no" for x in p], wide=True),
        )
        return ranks, pairs

    def _columns(self) -> dict[str, Any]:
        """One row for each two methods."""
        return columns_of(Pair, self.pairs)

    @property
    def matrix(self) -> pd.DataFrame:
        """Adjusted p-values, methods by methods in the order of their ranks."""
        import pandas as pd

        table = pd.DataFrame(np.nan, index=list(self.ranks), columns=list(self.ranks))
        for pair in self.pairs:
            table.loc[pair.first, pair.second] = pair.adjusted
            table.loc[pair.second, pair.first] = pair.adjusted
        return table

    def to_latex(self) -> str:
        """The ranks and the adjusted p-values as LaTeX tables (booktabs)."""
        from hyperlens.comparison.latex import latex

        return latex(self)


def compare(
    frame: pd.DataFrame | Mapping[str, Any],
    maximize: bool | None = None,
    correction: Correction = "finner",
    alpha: float = 0.05,
    *,
    dataset: str | None = None,
    method: str | None = None,
    value: str | None = None,
) -> Comparison:
    """Compare methods over data sets: rows data sets and columns methods, or one result a row.

    A dict of columns will do as well. `dataset`, `method` and `value` name columns where they would
    not be recognised. Lower results are better unless `maximize`; where it is not said, a note
    tells what was assumed.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"a": [0.1, 0.2, 0.3], "b": [0.2, 0.3, 0.5]})
    >>> compare(table).ranks
    {'a': 1.0, 'b': 2.0}
    """
    if not 0.0 < alpha < 1.0:
        raise AnalysisError(f"The level alpha is {alpha:g}; choose one between 0 and 1.")
    table = results(frame, dataset, method, value)
    cost = -table.values if maximize else table.values
    complete = np.asarray(np.isfinite(table.values).all(axis=1))
    _check(table, cost, complete)
    means = rank_rows(cost[complete]).mean(axis=0)
    order = sorted(range(len(means)), key=lambda j: (round(means[j], 9), table.methods[j]))
    ranks = {table.methods[j]: float(means[j]) for j in order}
    omnibus = friedman(rank_rows(cost[complete])) if len(order) > 2 else None
    pairs = _pairs(table, cost, order, omnibus, correction, alpha)
    different = {frozenset((p.first, p.second)) for p in pairs if p.different}
    record = Comparison(
        ranks=ranks,
        rows=int(complete.sum()),
        dropped=tuple(n for n, whole in zip(table.datasets, complete, strict=True) if not whole),
        higher_is_better=bool(maximize),
        correction=correction,
        alpha=alpha,
        friedman=omnibus,
        pairs=pairs,
        groups=groups(tuple(ranks), different),
        sentences=(),
        notes=(*table.notes, *([words.ASSUMED] if maximize is None else [])),
    )
    return words.told(record)


def _check(table: Results, cost: FloatArray, complete: BoolArray) -> None:
    if len(table.methods) < 2:
        raise AnalysisError(
            "A comparison needs at least two methods; give one column for each, or one row for each "
            "result with a column for the method."
        )
    empty = [m for m, c in zip(table.methods, table.values.T, strict=True) if np.isnan(c).all()]
    if empty:
        raise AnalysisError(f"Method '{empty[0]}' has no results; leave it out or fill its column.")
    if len(complete) < 2:
        raise AnalysisError(
            "The table has results on one data set only; a comparison needs at least two, so add the "
            "results on others."
        )
    if complete.sum() < 2:
        raise AnalysisError(
            f"Only {int(complete.sum())} of {len(complete)} data sets have a result of every method; "
            "ranks need at least two, so fill the table or leave out the methods with gaps."
        )
    if (rank_rows(cost[complete]) == (len(table.methods) + 1) / 2).all():
        raise AnalysisError(
            "All methods have the same result on every data set; there is nothing to compare."
        )


def _pairs(
    table: Results,
    cost: FloatArray,
    order: list[int],
    omnibus: Friedman | None,
    correction: Correction,
    alpha: float,
) -> tuple[Pair, ...]:
    chosen = list(combinations(order, 2))
    tests: list[tuple[int, SignedRank, tuple[float, float, float]]] = []
    for i, j in chosen:
        both = ~np.isnan(cost[:, i]) & ~np.isnan(cost[:, j])
        first, second = table.values[both, i], table.values[both, j]
        scale = np.maximum(np.abs(first), np.abs(second))
        gain = cost[both, j] - cost[both, i]
        test = signed_rank(gain, scale)
        tests.append((int(both.sum()), test, shift(first - second, scale, 1 - alpha)))
    family = adjusted(np.array([test.p for _, test, _ in tests]), correction)
    any_differs = omnibus is None or omnibus.tied_f_p <= alpha
    return tuple(
        Pair(
            first=table.methods[i],
            second=table.methods[j],
            rows=rows,
            wins=test.wins,
            losses=test.losses,
            zeros=test.zeros,
            p=test.p,
            adjusted=float(whole),
            different=bool(any_differs and whole <= alpha),
            effect=test.effect,
            difference=difference,
            low=low,
            high=high,
        )
        for (i, j), (rows, test, (difference, low, high)), whole in zip(
            chosen, tests, family, strict=True
        )
    )
