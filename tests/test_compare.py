"""Comparing methods: published worked examples, SciPy, brute force, and what must not matter."""

from __future__ import annotations

import json
import re
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from typer.testing import CliRunner

import hyperlens as hl
from hyperlens.cli import app
from hyperlens.comparison import adjusted, read
from hyperlens.comparison.friedman import average_ranks, friedman, iman_davenport, rank_rows
from hyperlens.comparison.groups import groups
from hyperlens.comparison.latex import escape
from hyperlens.comparison.wilcoxon import ordered_means, shift, signed_rank
from hyperlens.errors import AnalysisError, HyperlensError, SourceError
from hyperlens.plots.comparison.compare import packed
from hyperlens.spaces.cube import FloatArray

# Demsar 2006, table 6 (AUC). On "voting" the paper prints 0.975 twice but ranks the two 2 and 3, so
# the first is a little larger here.
DEMSAR = pd.DataFrame(
    {
        "adult": (0.763, 0.768, 0.771, 0.798),
        "breast cancer": (0.599, 0.591, 0.590, 0.569),
        "wisconsin": (0.954, 0.971, 0.968, 0.967),
        "cmc": (0.628, 0.661, 0.654, 0.657),
        "ionosphere": (0.882, 0.888, 0.886, 0.898),
        "iris": (0.936, 0.931, 0.916, 0.931),
        "liver": (0.661, 0.668, 0.609, 0.685),
        "lung": (0.583, 0.583, 0.563, 0.625),
        "lymphography": (0.775, 0.838, 0.866, 0.875),
        "mushroom": (1.000, 1.000, 1.000, 1.000),
        "primary tumor": (0.940, 0.962, 0.965, 0.962),
        "rheum": (0.619, 0.666, 0.614, 0.669),
        "voting": (0.972, 0.981, 0.9751, 0.975),
        "wine": (0.957, 0.978, 0.946, 0.970),
    },
    index=["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"],
).T


def sizes(d: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(np.abs(d), 1.0))


# published examples


def test_demsars_table_of_ranks_and_tests() -> None:
    record = hl.compare(DEMSAR, maximize=True)
    published = {"C4.5": 3.143, "C4.5+m": 2.000, "C4.5+cf": 2.893, "C4.5+m+cf": 1.964}
    assert {name: round(rank, 3) for name, rank in record.ranks.items()} == published
    assert list(record.ranks) == ["C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"]
    test = record.friedman
    assert test is not None
    assert (round(test.chi2, 2), round(test.f, 2)) == (9.28, 3.69)
    assert (test.df, test.df1, test.df2) == (3, 3, 39)
    assert test.ties == 4  # iris, lung, mushroom, primary tumor
    assert "9.28" in record.sentences[1]
    assert "3.69" in record.sentences[1]


def test_demsars_signed_ranks() -> None:
    d = (DEMSAR["C4.5+m"] - DEMSAR["C4.5"]).to_numpy()
    test = signed_rank(d, DEMSAR["C4.5"].to_numpy())
    assert (test.plus, test.minus, test.zeros) == (93.0, 12.0, 2)  # Demsar 2006, table 2
    assert test.effect == pytest.approx((93 - 12) / 105)
    assert test.p < 0.05


def test_garcia_and_herrera_2008() -> None:
    """Five classifiers on 30 data sets: average ranks, F, and adjusted p-values of all pairs."""
    ranks = np.array([2.100, 3.250, 2.200, 4.333, 3.117])
    chi2 = 12 * 30 / 30 * (np.sum(ranks**2) - 45)
    assert iman_davenport(chi2, 30, 5)[0] == pytest.approx(14.309, abs=0.02)
    p = np.array(
        [4.487e-8, 1.736e-7, 0.0029, 0.0048, 0.0080, 0.0101, 0.0128, 0.0247, 0.7437, 0.8065]
    )
    holm = [4.487e-7, 1.563e-6, 0.0231, 0.0339, 0.0478, 0.0506, 0.0511, 0.0742, 1.0, 1.0]
    every = [4.487e-7, 1.736e-6, 0.0288, 0.0485, 0.0796, 0.1011, 0.1276, 0.2474, 1.0, 1.0]
    assert adjusted(p, "holm") == pytest.approx(holm, rel=0.011)  # printed to two or three digits
    assert adjusted(p, "bonferroni") == pytest.approx(every, rel=0.011)


def test_garcia_2010() -> None:
    """Four methods on 24 data sets; against the best, two others have the same p-value."""
    ranks = np.array([1.771, 2.479, 2.479, 3.271])
    chi2 = 12 * 24 / 20 * (np.sum(ranks**2) - 25)
    assert chi2 == pytest.approx(16.225, abs=0.05)
    f, df1, df2 = iman_davenport(16.225, 24, 4)
    assert (round(f, 3), df1, df2) == (6.691, 3, 69)
    p = np.array([5.6994e-5, 0.05734, 0.05734])
    assert adjusted(p, "holm") == pytest.approx([1.7098e-4, 0.11469, 0.11469], rel=1e-4)
    assert adjusted(p, "bonferroni") == pytest.approx([1.7098e-4, 0.17203, 0.17203], rel=1e-3)
    # Finner by hand: 1 - 0.999943006^3, 1 - 0.94266^(3/2), and 1 - 0.94266 raised to the one before
    assert adjusted(p, "finner") == pytest.approx([1.7097e-4, 0.084762, 0.084762], rel=1e-4)


def test_finner_by_hand() -> None:
    # sorted 0.01, 0.02, 0.5, 0.9 of four: 1 - 0.99^4, 1 - 0.98^2, 1 - 0.5^(4/3), 0.9
    p = np.array([0.5, 0.01, 0.9, 0.02])
    expected = [0.6031497, 0.03940399, 0.9, 0.0396]
    assert adjusted(p, "finner") == pytest.approx(expected, rel=1e-6)
    assert adjusted(np.array([1e-30, 1.0]), "finner") == pytest.approx([2e-30, 1.0], rel=1e-12)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_corrections_keep_the_order_and_never_help(p: list[float]) -> None:
    raw = np.array(p)
    finner, holm, bonferroni = (adjusted(raw, c) for c in ("finner", "holm", "bonferroni"))
    for result in (finner, holm, bonferroni):
        assert (result >= raw - 1e-15).all()
        assert (result <= 1).all()
        order = np.argsort(raw, kind="stable")
        assert (np.diff(result[order]) >= 0).all()
    assert (finner <= bonferroni + 1e-12).all()
    assert (holm <= bonferroni).all()


# against SciPy and brute force


def test_friedman_agrees_with_scipy() -> None:
    rng = np.random.default_rng(0)
    for levels in (1000, 4):  # hardly any ties, and many
        values = rng.integers(0, levels, (20, 5)).astype(float)
        expected = stats.friedmanchisquare(*values.T)
        test = friedman(rank_rows(values))
        assert test.tied_chi2 == pytest.approx(expected.statistic)
        assert test.tied_p == pytest.approx(expected.pvalue)


def test_signed_ranks_agree_with_scipy() -> None:
    rng = np.random.default_rng(1)
    for n in (5, 12, 40):
        d = rng.permutation(np.arange(1, n + 1)) * rng.choice([-1.0, 1.0], n)
        expected = stats.wilcoxon(d, method="exact")
        test = signed_rank(d, sizes(d))
        assert min(test.plus, test.minus) == expected.statistic
        assert test.p == pytest.approx(expected.pvalue)
    d = np.round(rng.normal(0.1, 1, 400), 1)  # ties and zeros, beyond the exact distribution
    expected = stats.wilcoxon(d, zero_method="pratt", correction=False, method="asymptotic")
    assert signed_rank(d, sizes(d)).p == pytest.approx(expected.pvalue, rel=1e-9)


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
def test_the_exact_p_value_is_that_of_all_signs(numbers: list[int]) -> None:
    d = np.array(numbers, dtype=float)
    ranks = stats.rankdata(np.abs(d))[d != 0]
    seen = abs(ranks @ np.sign(d[d != 0]))
    every = [abs(ranks @ np.array(s)) for s in product((-1, 1), repeat=len(ranks))]
    expected = np.mean([x >= seen - 1e-9 for x in every])
    assert signed_rank(d, sizes(d)).p == pytest.approx(expected)


def test_rounding_does_not_break_ties() -> None:
    a, b = np.array([0.3, 0.2]), np.array([0.2, 0.1])  # both differ by 0.1
    assert len(set((a - b).tolist())) == 2
    assert average_ranks(a - b, 2e-15 * a).tolist() == [1.5, 1.5]
    assert rank_rows(np.array([[0.1 + 0.2, 0.3, 0.2]])).tolist() == [[2.5, 2.5, 1.0]]


@given(st.lists(st.integers(-50, 50), min_size=6, max_size=12))
def test_the_shift_is_the_median_of_all_pairwise_means(numbers: list[int]) -> None:
    d = np.array(numbers, dtype=float)
    means = np.sort([(d[i] + d[j]) / 2 for i in range(len(d)) for j in range(i, len(d))])
    middle, low, high = shift(d, sizes(d), 0.95)
    assert middle == pytest.approx(np.median(means))
    # the interval holds exactly the shifts that the test without ties does not reject
    k = next(k for k in range(len(means)) if _chance(len(d), k) > 0.025)
    assert (low, high) == (means[k - 1], means[-k])


@cache
def _chance(n: int, most: int) -> float:
    """That a sum of random ones of 1, ..., n is at most so much."""
    sums = [sum(s) for s in product(*[(0, i) for i in range(1, n + 1)])]
    return float(np.mean(np.array(sums) <= most))


def test_pairwise_means_by_bisection(monkeypatch: pytest.MonkeyPatch) -> None:
    d = np.sort(np.random.default_rng(2).normal(size=101))
    places = [1, 40, 2000, 101 * 51]
    tolerance = np.linspace(1e-13, 2e-13, len(d))
    whole, slack = ordered_means(d, tolerance, places)
    monkeypatch.setattr("hyperlens.comparison.wilcoxon.ALL_PAIRS", 10)
    means, found = ordered_means(d, tolerance, places)
    assert means == pytest.approx(whole, rel=1e-12)
    assert found.tolist() == slack.tolist()


# the median of the pairwise means of their differences is 0, but for rounding
ALIKE = pd.DataFrame({"a": [0.4, 0.5, 0.5, 0.7], "b": [0.5, 0.9, 0.2, 0.5]})


@pytest.mark.parametrize("most", [2000, 2])
def test_a_difference_that_rounding_made_is_zero(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr("hyperlens.comparison.wilcoxon.ALL_PAIRS", most)
    d = (ALIKE["a"] - ALIKE["b"]).to_numpy()
    exact, _, _ = shift(d, np.zeros(4), 0.95)
    assert 0.0 < abs(exact) < 1e-15
    middle, _, _ = shift(d, ALIKE.max(axis=1).to_numpy(), 0.95)
    assert middle == 0.0
    assert not np.signbit(middle)


def test_no_difference_is_shown_as_zero() -> None:
    (pair,) = hl.compare(ALIKE).pairs
    assert f"{pair.difference:.4g}" == "0"
    a, b = [0.1 + 0.2, 2.0, 3.0, 4.0, 5.0, 6.0], [0.3, 1.0, 1.0, 1.0, 1.0, 1.0]
    (pair,) = hl.compare({"a": a, "b": b}).pairs  # six data sets: the interval ends at the extremes
    assert (pair.first, pair.low, pair.high) == ("b", -5.0, 0.0)


def test_rounding_is_judged_by_the_size_of_the_values_themselves() -> None:
    """One data set of large numbers does not swallow the small differences on the others."""
    small = np.full(9, 1e-12)
    table = pd.DataFrame({"a": [*small, 1e6], "b": [*2 * small, 1e6 + 1]})
    (pair,) = hl.compare(table).pairs
    assert pair.difference == pytest.approx(-1e-12, rel=1e-9, abs=0)


def test_so_few_data_sets_bound_nothing() -> None:
    middle, low, high = shift(np.array([1.0, 2.0, 3.0]), np.ones(3), 0.95)
    assert middle == 2.0
    assert np.isnan([low, high]).all()


# what must not matter


@st.composite
def tables(draw: Any) -> pd.DataFrame:
    k, n = draw(st.integers(2, 5)), draw(st.integers(3, 9))
    cells = draw(st.lists(st.integers(0, 12), min_size=k * n, max_size=k * n))
    values = np.array(cells, dtype=float).reshape(n, k) / 8
    values[0, 0] = 3.0  # never all tied
    return pd.DataFrame(values, columns=list("abcde")[:k])


def numbers(record: hl.Comparison, exact: bool = True) -> dict[str, Any]:
    """What must not change; equal to those of another record to a billionth unless `exact`."""

    def number(value: float) -> Any:
        return value if exact else pytest.approx(value, abs=1e-9)

    pairs = {
        frozenset((p.first, p.second)): (
            number(p.p),
            number(p.adjusted),
            number(abs(p.effect)),
            p.different,
        )
        for p in record.pairs
    }
    f = record.friedman
    return {
        "ranks": {name: number(rank) for name, rank in record.ranks.items()},
        "pairs": pairs,
        "friedman": None if f is None else (number(f.chi2), number(f.tied_f_p)),
        "groups": record.groups,
    }


@given(tables(), st.randoms(use_true_random=False))
def test_permuting_methods_permutes_results(table: pd.DataFrame, random: Any) -> None:
    columns = list(table.columns)
    random.shuffle(columns)
    rows = list(table.index)
    random.shuffle(rows)
    assert numbers(hl.compare(table.loc[rows, columns])) == numbers(hl.compare(table), exact=False)


@given(tables(), st.sampled_from([-7.3, 0.1, 1000.0, 123456.7]))
def test_adding_a_constant_changes_nothing(table: pd.DataFrame, constant: float) -> None:
    assert numbers(hl.compare(table + constant)) == numbers(hl.compare(table), exact=False)


@given(tables())
def test_direction_and_sign_together_change_nothing(table: pd.DataFrame) -> None:
    one, other = hl.compare(table), hl.compare(-table, maximize=True)
    assert numbers(one) == numbers(other, exact=False)
    for a, b in zip(one.pairs, other.pairs, strict=True):
        assert (a.first, a.wins, a.effect) == (b.first, b.wins, b.effect)
        assert a.difference == -b.difference


@given(tables())
def test_groups_are_all_largest_sets_without_a_difference(table: pd.DataFrame) -> None:
    methods = list(table.columns)
    different = [
        frozenset((a, b)) for a in methods for b in methods if a < b and table[a][0] > table[b][1]
    ]
    alike = [
        {m for m, chosen in zip(methods, pick, strict=True) if chosen}
        for pick in product((0, 1), repeat=len(methods))
    ]
    sets = [s for s in alike if len(s) > 1 and not any(pair <= s for pair in different)]
    largest = [s for s in sets if not any(s < other for other in sets)]
    assert sorted(map(sorted, largest)) == sorted(map(sorted, groups(methods, different)))


# cases


def test_two_methods_by_wilcoxon_alone() -> None:
    table = DEMSAR[["C4.5", "C4.5+m"]]
    record = hl.compare(table, maximize=True)
    assert record.friedman is None
    (pair,) = record.pairs
    assert (pair.first, pair.wins, pair.losses, pair.zeros) == ("C4.5+m", 10, 2, 2)
    assert pair.adjusted == pair.p
    assert pair.different
    assert record.groups == ()
    assert 0.003 <= pair.low <= pair.difference <= pair.high
    assert "C4.5+m is better than C4.5 (p = 0.008" in " ".join(record.sentences)


def test_missing_cells_are_left_out_and_said() -> None:
    table = DEMSAR.copy()
    table.loc["wine", "C4.5"] = np.nan
    record = hl.compare(table, maximize=True)
    assert record.rows == 13
    assert record.dropped == ("wine",)
    assert record.ranks == hl.compare(DEMSAR.drop(index="wine"), maximize=True).ranks
    rows = {frozenset((p.first, p.second)): p.rows for p in record.pairs}
    assert rows[frozenset(("C4.5+m", "C4.5+cf"))] == 14
    assert rows[frozenset(("C4.5+m", "C4.5"))] == 13
    assert "'wine'" in record.notes[0]
    assert record.sentences[0].startswith("Over the 13 of 14 data sets that have a result of every")
    assert (
        "over the data sets that have both results (13 to 14), its p-values" in record.sentences[2]
    )
    assert "both results (13 to 14), adjusted" in record.to_latex()
    told = [s for s in record.sentences if s.startswith("C4.5+m is better than C4.5+cf (")]
    assert all("; over 14 data sets, " in s for s in told)
    whole = hl.compare(DEMSAR, maximize=True)
    assert whole.sentences[0].startswith("Over 14 data sets the average")
    assert not any("both results" in s for s in whole.sentences)
    assert "both results" not in whole.to_latex()


def test_a_shown_difference_says_on_how_many_data_sets_it_rests() -> None:
    numbers = np.arange(12.0)
    table = pd.DataFrame({"a": numbers, "b": numbers + 1.5, "c": numbers + 4.0 + numbers / 9})
    table.loc[0, "c"] = np.nan
    said = hl.compare(table).sentences
    assert sum("; over 12 data sets, 12 wins" in s for s in said) == 1  # a and b
    assert sum("; 11 wins" in s for s in said) == 2


def test_ties_are_told_in_the_sentences() -> None:
    tied = "ranks zero differences and then leaves them out (Pratt)"
    assert any(tied in s for s in hl.compare(DEMSAR, maximize=True).sentences)
    assert any(tied in s for s in hl.compare(DEMSAR[["C4.5", "C4.5+m"]]).sentences)
    untied = pd.DataFrame({"a": [1.0, 2, 3], "b": [2.0, 4, 6], "c": [3.0, 1, 9]})
    assert not any("Pratt" in s for s in hl.compare(untied).sentences)


def test_without_an_omnibus_difference_nothing_is_called_different() -> None:
    rng = np.random.default_rng(4)
    table = pd.DataFrame(rng.normal(size=(12, 4)), columns=list("abcd"))
    record = hl.compare(table)
    assert record.friedman is not None
    assert record.friedman.f_p > 0.05
    assert not any(p.different for p in record.pairs)
    assert record.groups == (tuple(record.ranks),)
    assert any("no pair is called different" in note for note in record.notes)


def test_few_data_sets_are_said_to_be_too_few() -> None:
    record = hl.compare(pd.DataFrame({"a": [1.0, 2, 3, 4], "b": [2.0, 3, 4, 5]}))
    assert record.pairs[0].p == 0.125
    assert any("smallest p-value they allow is 0.125" in note for note in record.notes)


def test_perfect_agreement_is_infinite_and_still_json() -> None:
    table = pd.DataFrame(np.arange(30.0).reshape(10, 3), columns=["a", "b", "c"])
    record = hl.compare(table)
    assert record.friedman is not None
    assert record.friedman.f == float("inf")
    assert json.loads(record.to_json())["friedman"]["f"] == {"float": "inf"}
    assert record.groups == ()


def test_long_form_is_recognised() -> None:
    long = DEMSAR.rename_axis("dataset").reset_index().melt("dataset", var_name="method")
    shuffled = long.sample(frac=1, random_state=0)
    assert hl.compare(shuffled, maximize=True).ranks == pytest.approx(
        hl.compare(DEMSAR, maximize=True).ranks
    )
    named = shuffled.set_axis(["where", "who", "what"], axis=1)
    given = hl.compare(named, True, dataset="where", method="who", value="what")
    assert given.rows == 14


def test_a_file_gives_the_same_as_a_frame(tmp_path: Path) -> None:
    expected = hl.compare(DEMSAR, maximize=True)
    DEMSAR.to_csv(tmp_path / "unnamed.csv")
    DEMSAR.rename_axis("task").to_csv(tmp_path / "tabs.tsv", sep="\t")
    DEMSAR.rename_axis("dataset").reset_index().to_parquet(tmp_path / "x.parquet")
    numbered = DEMSAR.reset_index(drop=True).rename_axis("dataset")  # OpenML's numbers
    numbered.to_csv(tmp_path / "numbers.csv")
    DEMSAR.rename_axis("task").to_csv(tmp_path / "european.csv", sep=";", decimal=",")
    for path in tmp_path.iterdir():
        record = hl.compare(read(path), maximize=True)
        assert record.to_json() == expected.to_json(), path


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (pd.DataFrame({"a": [1.0, 2.0]}), "at least two methods"),
        (
            pd.DataFrame({"a": [1.0], "b": [2.0]}),
            "one data set only; a comparison needs at least two",
        ),
        (pd.DataFrame({"a": [1.0, None], "b": [None, 2.0]}), "Only 0 of 2 data sets"),
        (pd.DataFrame({"a": [1.0, 2.0], "b": [None, None]}), "'b' has no results"),
        (pd.DataFrame({"a": [1.0, 2.0], "b": [1.0, 2.0]}), "same result on every data set"),
        (pd.DataFrame({"a": [1, 2], "b": ["x", 2]}), "'b' on data set '1' is 'x'"),
        (pd.DataFrame({"a": [1, 2], "b": [np.inf, 2]}), "is infinite"),
        (pd.DataFrame({"a": [1, 2], "b": [True, False]}), "is not a number"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "more than one column named 'a'"),
        (pd.DataFrame({"dataset": ["x", "x"], "a": [1, 2], "b": [2, 1]}), "more than one row"),
        (pd.DataFrame({"a": [], "b": []}), "no rows"),
        (pd.DataFrame(index=[0, 1]), "no columns"),
        ({"a": [1, 2], "b": [1]}, "do not make a table"),
        ({"a": 1, "b": 2}, "do not make a table"),
        ([[1, 2], [3, 4]], "a dict of columns, not a list"),
        ("results.csv", "read a file with pandas.read_csv"),
        (pd.Series([1.0, 2.0]), "not a Series"),
        (
            pd.DataFrame({"dataset": ["x", "x"], "method": ["m", "m"], "value": [1, 2]}),
            "more than one result of method 'm' on data set 'x'",
        ),
        (pd.DataFrame({"method": ["m", "n"], "p": [1, 2], "q": [1, 2]}), "not clear which column"),
    ],
)
def test_bad_tables_are_refused_in_one_sentence(table: Any, words: str) -> None:
    with pytest.raises(HyperlensError, match=re.escape(words)) as problem:
        hl.compare(table)
    assert str(problem.value).endswith(".")
    assert "\n" not in str(problem.value)


METHODS = {
    "grid": [0.31, 0.22, 0.45, 0.13, 0.28, 0.37, 0.19, 0.52],
    "random": [0.28, 0.21, 0.41, 0.14, 0.25, 0.33, 0.17, 0.47],
    "bayes": [0.25, 0.18, 0.38, 0.11, 0.23, 0.30, 0.15, 0.45],
}


def test_a_dict_of_columns_is_a_table() -> None:
    assert hl.compare(METHODS).to_json() == hl.compare(pd.DataFrame(METHODS)).to_json()


def test_a_text_among_the_results_of_the_first_method_is_refused(tmp_path: Path) -> None:
    table = pd.DataFrame(METHODS).astype(object)
    table.loc[3, "grid"] = "crashed"
    table.to_csv(tmp_path / "r.csv", index=False)
    for frame in (table, read(tmp_path / "r.csv")):
        with pytest.raises(SourceError) as problem:
            hl.compare(frame)
        assert str(problem.value) == (
            "The result of method 'grid' on data set '4' is 'crashed', which is not a number; "
            "correct the cell, or leave it empty if there is no result."
        )
    names = ["31", "44", "iris", "wine", "glass", "zoo", "car", "adult"]  # two look like numbers
    assert list(hl.compare({"where": names, **METHODS}).ranks) == ["bayes", "random", "grid"]


def test_names_in_another_than_the_first_column() -> None:
    table = {**METHODS, "name": [f"d{k}" for k in range(8)]}
    with pytest.raises(SourceError, match=r"is 'd0', .*--dataset 'name' \(dataset='name' in Pyth"):
        hl.compare(table)
    assert hl.compare(table, dataset="name").to_json() == hl.compare(METHODS).to_json()
    with pytest.raises(SourceError, match="leave the column out if it holds no results"):
        hl.compare({**table, "dataset": list("abcdefgh")})


@pytest.mark.parametrize(
    "name", ["seed", "ID", "index", "fold", "run", "repetition", "task_id", ""]
)
def test_a_first_column_of_whole_numbers_called_like_an_index_holds_names(name: str) -> None:
    record = hl.compare({name: [3, 0, 1, 2, 7, 6, 5, 4], **METHODS})
    plain = hl.compare(METHODS)
    assert record.ranks == plain.ranks
    assert len(record.notes) == len(plain.notes) + 1
    assert "names the data sets; " in record.notes[0]
    assert "name it if it is a method" in record.notes[0]


def test_whole_numbers_alone_are_results() -> None:
    whole = [3, 0, 1, 2, 7, 6, 5, 4]
    assert "steps" in hl.compare({"steps": whole, **METHODS}).ranks
    assert "seed" in hl.compare({"seed": [0, 0, *whole[2:]], **METHODS}).ranks  # not distinct
    assert "seed" in hl.compare({"seed": [0.5, *whole[1:]], **METHODS}).ranks


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(AnalysisError, match="alpha is 2"):
        hl.compare(DEMSAR, alpha=2)
    with pytest.raises(AnalysisError, match="no correction 'tukey'"):
        hl.compare(DEMSAR, correction="tukey")  # type: ignore[arg-type]
    with pytest.raises(SourceError, match="no column 'x'"):
        hl.compare(DEMSAR, dataset="x")


# views


def test_the_diagram_shows_ranks_and_groups() -> None:
    record = hl.compare(DEMSAR, maximize=True)
    figure = record.plot()
    bars = [t for t in figure.data if t.name == "cannot be told apart"]
    shown = [tuple(round(x, 9) for x in bar.x) for bar in bars]
    assert shown == [tuple(round(record.ranks[m], 9) for m in g) for g in record.groups]
    lines = {t.name: t for t in figure.data if t.name != "cannot be told apart"}
    assert {name: line.x[0] for name, line in lines.items()} == record.ranks
    labels = [a for a in figure.layout.annotations if a.xref == "x" or a.xref is None]
    assert len({(a.x, a.y) for a in labels}) == 4  # no two labels in one place


def test_bars_that_touch_lie_in_different_rows() -> None:
    assert packed([(1.0, 2.0), (1.5, 3.0), (2.5, 4.0)], 3.0) == [0, 1, 0]


def test_names_are_shown_literally() -> None:
    table = DEMSAR.rename(columns={"C4.5": "<b>x</b>%{y}", "C4.5+m": "a_b & 10%"})
    record = hl.compare(table, maximize=True)
    text = record.plot().to_json()
    assert "<b>x</b>" not in json.loads(text)["layout"]["annotations"][3]["text"]
    assert r"a\_b \& 10\%" in record.to_latex()
    assert escape("\\x\n{~^}") == r"\textbackslash{}x \{\textasciitilde{}\textasciicircum{}\}"


def test_latex_holds_every_rank_and_p_value() -> None:
    record = hl.compare(DEMSAR, maximize=True)
    text = record.to_latex()
    for rank in record.ranks.values():
        assert f"& {rank:.3f} \\\\" in text
    for pair in record.pairs:
        shown = f"{pair.adjusted:.3f}"
        assert (shown if pair.different else rf"\textbf{{{shown}}}") in text
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 2


def test_the_matrix_is_symmetric() -> None:
    matrix = hl.compare(DEMSAR, maximize=True).matrix
    assert np.array_equal(matrix, matrix.T, equal_nan=True)
    assert np.isnan(np.diag(matrix)).all()


def test_the_command_prints_the_record(tmp_path: Path) -> None:
    path, page = tmp_path / "results.csv", tmp_path / "out.html"
    DEMSAR.rename_axis("dataset").to_csv(path)
    run = CliRunner().invoke
    expected = hl.compare(DEMSAR, maximize=True)
    asked = ["compare", str(path), "--maximize"]
    assert run(app, [*asked, "--format", "json"]).stdout == expected.to_json() + "\n"
    assert run(app, [*asked, "--format", "latex"]).stdout == expected.to_latex()
    csv = run(app, [*asked, "--format", "csv"]).stdout
    assert len(csv.splitlines()) == 1 + len(expected.pairs)
    table = run(app, [*asked, "--html", str(page)])
    assert table.exit_code == 0
    assert "C4.5+m+cf" in table.stdout
    assert "1.96" in table.stdout
    assert "average rank" in page.read_text(encoding="utf-8")
    holm = run(app, [*asked, "--correction", "holm", "--format", "json"]).stdout
    assert json.loads(holm)["correction"] == "holm"


def test_the_command_never_writes_over_its_source(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    DEMSAR.to_csv(path)
    before = path.read_bytes()
    result = CliRunner().invoke(app, ["compare", str(path), "--html", str(path)])
    assert isinstance(result.exception, SourceError)
    assert path.read_bytes() == before


STARTS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF", ".html": b"<!doctype html>"}


@pytest.mark.parametrize("ending", [*STARTS, ".PNG"])
def test_the_ending_says_what_the_diagram_is(tmp_path: Path, ending: str) -> None:
    path, plot = tmp_path / "results.csv", tmp_path / f"diagram{ending}"
    DEMSAR.to_csv(path)
    asked = ["compare", str(path), "--maximize", "--plot", str(plot)]
    result = CliRunner().invoke(app, asked)
    assert result.exit_code == 0
    assert f"Rank diagram: {plot}" in result.stderr.replace("\n", "")
    written = plot.read_bytes()
    assert written.startswith(STARTS[ending.lower()])
    CliRunner().invoke(app, asked)
    assert plot.read_bytes() == written  # no date, no random names


def test_a_file_for_the_diagram_is_checked_before_the_table(tmp_path: Path) -> None:
    run = CliRunner().invoke
    absent = str(tmp_path / "absent.csv")
    for name in ("diagram.gif", "diagram", "png"):
        result = run(app, ["compare", absent, "--plot", str(tmp_path / name)])
        assert isinstance(result.exception, SourceError)
        assert "ends in .png, .svg, .pdf or .html." in str(result.exception)
    result = run(app, ["compare", absent, "--plot", str(tmp_path / "no" / "folder.png")])
    assert "cannot be written" in str(result.exception)
    source = tmp_path / "results.png"
    DEMSAR.to_csv(source)
    before = source.read_bytes()
    result = run(app, ["compare", str(source), "--plot", str(source)])
    assert isinstance(result.exception, SourceError)
    assert source.read_bytes() == before


def test_the_still_diagram_names_every_method() -> None:
    table = DEMSAR.rename(columns={"C4.5": "<b>$x$</b>"})
    record = hl.compare(table, maximize=True)
    (axes,) = record.plot(backend="matplotlib").axes
    shown = [text.get_text().replace("\\$", "$") for text in axes.texts]
    for name, rank in record.ranks.items():
        assert f"{name}  {rank:.2f}" in shown
    assert any("cannot be told apart" in text for text in shown)
    assert [text.get_text() for text in axes.get_xticklabels()] == ["1", "2", "3", "4"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no rows"),
        ("a,b\n1\n", "has 1 cells where its header has 2"),
        ("a,b\n1,2\n1,oops\n", "is 'oops'"),
        ("\0\0", "no rows"),
    ],
)
def test_bad_files_are_refused_in_one_sentence(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(SourceError, match=words):
        hl.compare(read(path))
    with pytest.raises(SourceError, match="no table"):
        read(tmp_path / "absent.csv")
