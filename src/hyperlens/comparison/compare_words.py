"""What one may write about a comparison, and what has to be said beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hyperlens.errors import listed
from hyperlens.words import counted

if TYPE_CHECKING:
    from hyperlens.comparison.compare import Comparison, Pair
    from hyperlens.comparison.friedman import Friedman

MOST_PAIRS = 12  # differences that are told one by one
ASSUMED = (
    "Lower results are taken as better, since nothing tells; say --minimize or --maximize "
    "(maximize=True in Python)."
)
FEW_ROWS, FEW_METHODS = 10, 5  # below both the chi-squared form of Friedman's test is rough


def told(record: Comparison) -> Comparison:
    """The record with its sentences and notes."""
    notes = (*record.notes, *_notes(record))
    return replace(record, sentences=tuple(_sentences(record)), notes=notes)


def p_value(p: float) -> str:
    """A p-value for people."""
    if p < 1e-15:
        return "p < 1e-15"
    return f"p = {p:.3f}" if p >= 0.001 else f"p = {p:.1e}"


def joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def omnibus(test: Friedman, alpha: float) -> str:
    """Friedman's test in one sentence."""
    verdict = (
        "rejects" if test.tied_f_p <= alpha else "does not reject"
    ) + f" at the level {alpha:g} the hypothesis that all methods perform alike"
    plain = _statistics(test, test.chi2, test.p, test.f, test.f_p)
    if not test.ties:
        return f"Friedman's test with Iman and Davenport's correction {verdict} ({plain})."
    corrected = _statistics(test, test.tied_chi2, test.tied_p, test.tied_f, test.tied_f_p)
    return (
        f"Friedman's test with Iman and Davenport's correction, allowing for ties, {verdict} "
        f"({corrected}; without allowing for ties {plain})."
    )


def _statistics(test: Friedman, chi2: float, p: float, f: float, f_p: float) -> str:
    return (
        f"chi2 = {chi2:.2f}, df = {test.df}, {p_value(p)}; "
        f"F({test.df1}, {test.df2}) = {f:.2f}, {p_value(f_p)}"
    )


def span(record: Comparison) -> str:
    """On how many data sets the pairs rest, as "13" or "13 to 15"."""
    used = sorted({pair.rows for pair in record.pairs})
    return f"{used[0]}" if len(used) == 1 else f"{used[0]} to {used[-1]}"


def over_both(record: Comparison) -> str:
    """On which data sets the pairs rest, where they are others than those of the ranks."""
    if all(pair.rows == record.rows for pair in record.pairs):
        return ""
    return f" over the data sets that have both results ({span(record)})"


def difference(pair: Pair, record: Comparison) -> str:
    """One difference that was shown."""
    corrected = record.friedman is not None
    adjusted = f"adjusted {p_value(pair.adjusted)}" if corrected else p_value(pair.p)
    where = f"over {counted(pair.rows, 'data set')}, " if pair.rows != record.rows else ""
    draws = f", {pair.zeros} equal" if pair.zeros else ""
    better, worse, wins, losses = pair.first, pair.second, pair.wins, pair.losses
    gap, low, high, effect = pair.difference, pair.low, pair.high, pair.effect
    if effect < 0:  # the average rank and the test may point in opposite directions
        better, worse, wins, losses = worse, better, losses, wins
        gap, low, high, effect = 0.0 - gap, 0.0 - high, 0.0 - low, -effect
    return (
        f"{better} is better than {worse} ({adjusted}; {where}{counted(wins, 'win')}, {losses} "
        f"{'loss' if losses == 1 else 'losses'}{draws}; "
        f"median difference {gap:.3g}, {1 - record.alpha:.0%} interval {low:.3g} to {high:.3g}; "
        f"rank-biserial correlation {effect:.2f})."
    )


def _sentences(record: Comparison) -> list[str]:
    direction = "higher" if record.higher_is_better else "lower"
    ranks = joined([f"{name} ({rank:.2f})" for name, rank in record.ranks.items()])
    rows = f"{record.rows} data sets"
    if record.dropped:
        every = record.rows + len(record.dropped)
        rows = f"the {record.rows} of {every} data sets that have a result of every method"
    said = [
        f"Over {rows} the average ranks of the {len(record.ranks)} methods "
        f"(1 is best; {direction} results are better) are {ranks}."
    ]
    shown = [pair for pair in record.pairs if pair.different]
    if record.friedman is not None:
        said.append(omnibus(record.friedman, record.alpha))
        said.append(
            f"Each two methods were compared by a two-sided Wilcoxon signed-rank test"
            f"{over_both(record)}, its p-values adjusted by {record.correction.capitalize()}'s "
            f"procedure for {len(record.pairs)} comparisons."
        )
    said += _ties(record)
    said += [difference(pair, record) for pair in shown[:MOST_PAIRS]]
    if len(shown) > MOST_PAIRS:
        said.append(f"{len(shown) - MOST_PAIRS} further differences are in the table of pairs.")
    said += [_group(group, record) for group in record.groups[:MOST_PAIRS]]
    return said


def _ties(record: Comparison) -> list[str]:
    """How equal results were treated, where there are any."""
    if not any(pair.zeros for pair in record.pairs):
        return []
    return [
        "Equal results on a data set share their mean rank; Wilcoxon's test ranks zero differences "
        "and then leaves them out (Pratt), and differences of the same size share their mean rank."
    ]


def _group(group: Sequence[str], record: Comparison) -> str:
    if len(record.ranks) == 2:
        return (
            f"A Wilcoxon signed-rank test shows no difference between {joined(group)} "
            f"({p_value(record.pairs[0].p)})."
        )
    return f"No difference could be shown among {joined(group)}."


def _notes(record: Comparison) -> list[str]:
    notes = []
    if record.dropped:
        tests = "Ranks and Friedman's test" if record.friedman is not None else "Ranks"
        notes.append(
            f"{tests} leave out {counted(len(record.dropped), 'data set')} with a missing result "
            f"({listed(record.dropped)}); each pair uses every data set that has both results "
            f"({span(record)})."
        )
    if record.friedman is not None and record.friedman.tied_f_p > record.alpha:
        notes.append(
            "Since Friedman's test found no difference, no pair is called different, whatever its "
            "p-value."
        )
    best = min(_least(pair, record) for pair in record.pairs)
    if best > record.alpha:
        notes.append(
            f"So few data sets can show no difference between two methods at the level "
            f"{record.alpha:g}: the smallest p-value they allow is {best:.3f}."
        )
    elif record.friedman and record.rows < FEW_ROWS and len(record.ranks) < FEW_METHODS:
        notes.append(
            f"With {record.rows} data sets and {len(record.ranks)} methods Friedman's test is a "
            "rough approximation; rely on its F rather than on chi2."
        )
    turned = [pair for pair in record.pairs if pair.different and pair.effect < 0]
    if turned:
        notes.append(
            f"{turned[0].first} has the better average rank but {turned[0].second} wins by "
            "Wilcoxon's test, which weighs large differences more."
        )
    if record.groups:
        notes.append("A difference that could not be shown may still exist; more data sets tell.")
    return notes


def _least(pair: Pair, record: Comparison) -> float:
    """The smallest adjusted p-value that so many untied differences can give."""
    least = min(1.0, 2.0 ** (1 - pair.rows))
    m = len(record.pairs)
    return 1 - (1 - least) ** m if record.correction == "finner" else min(1.0, m * least)
