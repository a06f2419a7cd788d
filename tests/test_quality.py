"""Cross-validated quality against arithmetic by hand and the definitions in SciPy."""

from __future__ import annotations

from typing import Self

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from hyperlens.spaces.cube import FloatArray, IntArray
from hyperlens.surrogates.gaussian_process.gp import GP
from hyperlens.surrogates.quality import FAIR_R2, GOOD_R2, assess, rank_correlation
from hyperlens.words import FIXED


class Fake:
    """A surrogate whose left-out predictions are known; remembers which rows were left out."""

    def __init__(self, mean: FloatArray, std: FloatArray) -> None:
        self.mean, self.std = mean, std
        self.folds: list[IntArray] = []

    def fit(self, X: FloatArray, y: FloatArray) -> Self:
        return self

    def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        raise AssertionError("cross-validation must not predict rows the model has seen")

    def holdout(self, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        self.folds.append(rows)
        return self.mean[rows], self.std[rows]


def test_by_hand() -> None:
    y = np.arange(10.0)
    mean = y + np.array([1, -1] * 5)  # SSE 10, SST 82.5; swaps neighbours
    model = Fake(mean, np.array([0.6] * 9 + [0.5]))  # 1.96 * 0.6 > 1 > 1.96 * 0.5
    quality = assess(model, y[:, None], y, "Gaussian process")
    assert quality.r2 == pytest.approx(1 - 10 / 82.5)
    assert quality.rank_correlation == pytest.approx(1 - 6 * 10 / (10 * 99))
    assert quality.coverage == pytest.approx(0.9)
    assert (quality.trials, quality.folds, quality.verdict) == (10, 5, "trust")
    for number in ("10 trials", f"88{FIXED}%", "0.88", "0.94", f"90{FIXED}%", "process"):
        assert number in quality.sentence
    assert sorted(np.concatenate(model.folds).tolist()) == list(range(10))


def test_only_measured_costs_are_left_out() -> None:
    y = np.array([0.0, 9.0, 1.0, 9.0, 2.0, 3.0])
    measured = y < 9
    model = Fake(np.where(measured, y, -50.0), np.ones(6))
    quality = assess(model, y[:, None], y, "GP", measured)
    assert (quality.r2, quality.trials) == (1.0, 4)
    assert sorted(np.concatenate(model.folds).tolist()) == [0, 2, 4, 5]


def test_all_trials_of_a_configuration_are_left_out_together() -> None:
    X, y = np.tile(np.arange(8.0), 3)[:, None], np.arange(24.0)
    model = Fake(y, np.ones(24))
    assess(model, X, y, "GP")
    assert len(model.folds) == 5
    for rows in model.folds:
        assert sorted(rows) == np.flatnonzero(np.isin(X[:, 0], X[rows, 0])).tolist()
    one = assess(Fake(y, np.ones(24)), np.ones((24, 1)), y, "GP")
    assert (one.folds, one.verdict) == (1, "do not trust")
    assert "only one configuration" in one.sentence


@pytest.mark.parametrize(
    ("noise", "std", "verdict"),
    [(0.1, 0.1, "trust"), (0.1, 0.01, "caution"), (0.65, 0.65, "caution"), (3, 3, "do not trust")],
)
def test_verdicts(noise: float, std: float, verdict: str) -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=200)
    quality = assess(Fake(y + noise * rng.normal(size=200), np.full(200, std)), y[:, None], y, "GP")
    assert quality.verdict == verdict
    assert (quality.r2 >= GOOD_R2) == (noise == 0.1)
    assert (quality.r2 >= FAIR_R2) == (noise < 3)


def test_degenerate() -> None:
    few = np.arange(9.0)
    quality = assess(Fake(few, np.ones(9)), few[:, None], few, "forest")
    assert quality.verdict == "do not trust"
    assert "fewer than 10" in quality.sentence
    three = Fake(few[:3], np.ones(3))
    assert assess(three, few[:3, None], few[:3], "forest").folds == 3
    assert [len(rows) for rows in three.folds] == [1, 1, 1]
    one = assess(Fake(few[:1], np.ones(1)), few[:1, None], few[:1], "forest")
    assert "cannot be assessed" in one.sentence
    flat = assess(Fake(np.ones(20), np.zeros(20)), np.arange(20.0)[:, None], np.ones(20), "forest")
    assert flat.verdict == "do not trust"
    assert np.isnan(flat.r2)
    assert "equal" in flat.sentence


def test_a_useless_model_explains_none_of_the_variance() -> None:
    y = np.arange(20.0)
    quality = assess(Fake(np.full(20, 50.0), np.ones(20)), y[:, None], y, "forest")
    assert "explains none" in quality.sentence
    assert (quality.rank_correlation, quality.verdict) == (0.0, "do not trust")


def test_of_a_gaussian_process() -> None:
    rng = np.random.default_rng(1)
    X = rng.random((80, 2))
    y = np.sin(5 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=80)
    good = assess(GP().fit(X, y), X, y, "Gaussian process")
    assert good.verdict == "trust"
    assert 0.85 <= good.coverage <= 1
    assert good == assess(GP().fit(X, y), X, y, "Gaussian process")
    noise = rng.normal(size=80)
    assert assess(GP().fit(X, noise), X, noise, "Gaussian process").verdict == "do not trust"


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=20))
def test_rank_correlation_is_spearmans(pairs: list[tuple[int, int]]) -> None:
    a, b = np.array(pairs, dtype=float).T
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        assert rank_correlation(a, b) == 0
    else:
        assert rank_correlation(a, b) == pytest.approx(spearmanr(a, b).statistic)


@pytest.mark.parametrize(
    ("r2", "covered", "verdict"),
    [
        (0.71, 8, "trust"),
        (0.71, 7, "caution"),
        (0.69, 10, "caution"),
        (0.31, 10, "caution"),
        (0.29, 10, "do not trust"),
    ],
)
def test_verdicts_change_where_it_is_said(r2: float, covered: int, verdict: str) -> None:
    y = np.arange(10.0)
    error = np.sqrt((1 - r2) * 8.25)  # SST 82.5
    std = np.where(np.arange(10) < covered, error, error / 4)
    quality = assess(Fake(y + error, std), y[:, None], y, "GP")
    assert quality.r2 == pytest.approx(r2)
    assert quality.coverage == covered / 10
    assert quality.verdict == verdict
