"""Intervals of shares: around both estimates of a share, and around a forest that predicts better."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hyperlens as hl
from hyperlens.explain.importance.shares import NONE, posterior
from hyperlens.spaces.cube import FloatArray

NAMES = ("x1", "x2", "x3", "x4")
SPACE = hl.Space.of([hl.Parameter(name, "float") for name in NAMES])


def measured(cost: Callable[[FloatArray], FloatArray], noise: float, trials: int) -> hl.History:
    rng = np.random.default_rng(501)
    X = rng.random((trials, len(NAMES)))
    frame = pd.DataFrame(X, columns=list(NAMES))
    frame["cost"] = cost(X) + noise * rng.normal(size=trials)
    return hl.read(frame, space=SPACE, objective="cost")


@given(st.integers(0, 10**6), st.floats(1.0, 3.0), st.floats(0.0, 1.0))
def test_an_interval_holds_what_is_said_and_both_estimates(
    seed: int, widened: float, expected: float
) -> None:
    drawn = np.random.default_rng(seed).beta(2, 5, (1, 64))
    share = np.median(drawn, axis=1)
    _, low, high = posterior(drawn, share, 0.9, widened, np.array([expected]))
    assert low[0] <= min(expected, float(share[0])) + 1e-12
    assert high[0] >= max((expected + float(share[0])) / 2, float(share[0])) - 1e-12
    assert low[0] == 0 or low[0] >= NONE
    _, lower, higher = posterior(drawn, share, 0.9, 1.5 * widened, np.array([expected]))
    assert lower[0] <= low[0]
    assert higher[0] >= high[0]
    _, own_low, own_high = posterior(drawn, share, 0.9, widened)
    assert low[0] <= own_low[0]
    assert high[0] >= own_high[0]


def test_without_a_level_there_is_no_interval() -> None:
    std, low, high = posterior(np.array([[0.1, 0.3]]), np.array([0.2]), None, 1.0)
    assert std[0] == pytest.approx(0.1)
    assert np.isnan([low, high]).all()


def test_mostly_noise_leaves_open_that_a_parameter_does_nothing() -> None:
    """Two thirds of the variance are noise; of ten effects two are not zero."""
    found = hl.importance(measured(lambda X: 2 * X[:, 0] + X[:, 1], (10 / 12) ** 0.5, 150))
    shares: dict[tuple[str, ...], float] = {("x1",): 0.8, ("x2",): 0.2}
    true = np.array([shares.get(u, 0.0) for u in found.parameters])
    held = (found.low <= true) & (true <= found.high)
    assert held.sum() >= 9


def test_a_forest_that_predicts_better_is_taken_in_and_said() -> None:
    def steps(X: FloatArray) -> FloatArray:
        both = (X[:, 2] > 0.5) & (X[:, 3] > 0.5)
        return np.asarray(3.0 * (X[:, 0] > 0.3) + 2.0 * (X[:, 1] > 0.6) + 3.0 * both)

    found = hl.importance(measured(steps, 0.3, 300))
    assert found.surrogate == "additive"
    assert found.secondary_quality is not None
    assert found.secondary_quality.r2 > found.quality.r2
    assert (found.low <= found.secondary_low).all()
    assert (found.high >= found.secondary_high).all()
    assert any("predicts this run better" in note for note in found.notes)
    smooth = hl.importance(measured(lambda X: 3 * X[:, 0] + X[:, 1], 0.3, 60))
    assert not any("predicts this run better" in note for note in smooth.notes)
