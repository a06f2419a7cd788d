"""Schedules of halving: Sarigiannis et al.'s table 1, exact in integers, and never over budget."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hyperlens as hl
from hyperlens import terminal
from hyperlens.errors import AnalysisError
from hyperlens.optimize.optimizers.schedule import bracket, halvings


def test_table_1_of_the_paper() -> None:
    n = 66  # divisible by 2 and 3: nothing is rounded
    found = {
        b.name: [(r.configurations, r.budget) for r in b.rungs]
        for b in hl.schedule(n, eta=3, brackets=3).brackets
    }
    third, ninth = Fraction(1, 3), Fraction(1, 9)
    assert found == {
        "SH2": [(3 * n, ninth), (n, third), (n // 3, 1)],
        "SH1": [(3 * n // 2, third), (n // 2, 1)],
        "SH0": [(n, 1)],
    }
    assert [b.total for b in hl.schedule(n, 3, 3).brackets] == [n, n, n]
    assert hl.schedule(n, 3, 3).used == 3 * n  # Eq. 4


def test_the_paper_s_budget_is_rounded_down() -> None:
    record = hl.schedule(evaluations=33, eta=3, brackets=3)
    assert str(record).splitlines() == [
        "SH2        SH1         SH0",
        "99 at 1/9  49 at 1/3   33 at 1",
        "33 at 1/3  16 at 1     -",
        "11 at 1    -           -",
        "total 33   total 97/3  total 33",
    ]
    assert record.frame["configurations"].tolist() == [99, 33, 11, 49, 16, 33]
    assert json.loads(record.to_json())["brackets"][0]["rungs"][0]["budget"] == "1/9"


@given(st.integers(2, 10), st.integers(0, 40), st.integers(0, 10**6))
def test_rungs_are_counted_exactly(eta: int, s: int, more: int) -> None:
    assert halvings(eta**s + more % (eta**s * (eta - 1)), eta) == s
    assert halvings(Fraction(1) / Fraction(1, eta**s), eta) == s
    if s:
        assert halvings(eta**s - Fraction(1, 10**9), eta) == s - 1


def test_243_is_five_halvings_by_three() -> None:
    assert halvings(243, 3) == 5  # floor(log(243) / log(3)) in floating point is 4
    assert len(hl.schedule(12, 3, min_budget=1 / 243).brackets) == 6
    assert len(hl.schedule(1000, 10, min_budget=1e-3).brackets) == 4


def test_the_smallest_budget_is_a_ninth_unless_said() -> None:
    assert hl.schedule(33) == hl.schedule(33, 3, 3)
    assert hl.schedule(33, min_budget=1 / 9) == hl.schedule(33, 3, 3)
    epochs = hl.schedule(9, 3, min_budget=1, max_budget=9)
    assert [r.budget for r in epochs.brackets[0].rungs] == [1, 3, 9]
    assert epochs.total == 81


@given(st.integers(1, 500), st.integers(2, 6), st.integers(1, 7), st.sampled_from([1, 81, 0.5]))
def test_budgets_are_kept_and_rungs_shrink(n: int, eta: int, count: int, most: float) -> None:
    if n < count:
        with pytest.raises(AnalysisError, match="too few"):
            hl.schedule(n, eta, count, max_budget=most)
        return
    record = hl.schedule(n, eta, count, max_budget=most)
    assert len(record.brackets) == count
    for s, b in zip(range(count - 1, -1, -1), record.brackets, strict=True):
        assert len(b.rungs) == s + 1
        assert b.total <= record.total
        assert b.rungs[-1].budget == Fraction(most)
        assert b.rungs[-1].configurations >= 1
        for i, rung in enumerate(b.rungs):
            assert rung.configurations == b.rungs[0].configurations // eta**i
            assert rung.budget * eta ** (s - i) == Fraction(most)
        # not one configuration more would fit the rung's part of the budget
        part = record.total / (s + 1)
        assert (b.rungs[0].configurations + 1) * b.rungs[0].budget > part


def test_bad_schedules_are_refused() -> None:
    for wrong in ({"evaluations": 0}, {"evaluations": 2.5}, {"eta": 1}, {"brackets": 0}):
        with pytest.raises(AnalysisError, match="whole number"):
            hl.schedule(**{"evaluations": 9} | wrong)
    with pytest.raises(AnalysisError, match="larger than the largest"):
        hl.schedule(9, min_budget=2.0)
    with pytest.raises(AnalysisError, match="positive"):
        hl.schedule(9, min_budget=0.0)
    with pytest.raises(AnalysisError, match="not both"):
        hl.schedule(9, brackets=2, min_budget=0.1)
    with pytest.raises(AnalysisError, match="too few for 3 rungs"):
        bracket(8, 3, 2)
    with pytest.raises(AnalysisError, match="too many"):
        hl.schedule(100, 2, 65)


def test_the_terminal_shows_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.show(hl.schedule(33))
    shown = capsys.readouterr().out
    assert "99 at 1/9" in shown
    assert "Hyperband, which runs 3 brackets, uses 295/3." in shown
