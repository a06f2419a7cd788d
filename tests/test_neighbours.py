"""What nearly equal configurations say about the noise: a bound that holds, and runs without noise."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy

import hyperlens as hl
from hyperlens.spaces.cube import Cube
from hyperlens.surrogates.additive.neighbours import PAIRS, Neighbours


def test_pairs_are_the_nearest_that_share_nothing() -> None:
    X = np.array([[0.0], [0.1], [0.15], [0.5], [0.58], [1.0]])
    assert Neighbours.of(Cube.continuous(1), X).pairs.tolist() == [[1, 2], [3, 4], [0, 5]]
    assert Neighbours.of(Cube.continuous(1), X[:1]).pairs.shape == (0, 2)


def test_the_noise_is_hardly_ever_above_its_limit() -> None:
    """Whatever the objective: none at all is the hardest."""
    rng = np.random.default_rng(0)
    near = Neighbours.of(Cube.continuous(2), rng.random((60, 2)))
    limits = [near.limit(rng.normal(size=60)) for _ in range(1000)]
    missed = sum(limit < 1 for limit in limits)
    assert missed <= scipy.stats.binom.ppf(0.999, 1000, 0.01)
    assert missed > 0  # and it is no wider than it has to be
    assert near.limit(2 * np.ones(60)) == 0


def test_the_limit_is_where_the_probability_is_the_level() -> None:
    rng = np.random.default_rng(1)
    near, values = Neighbours.of(Cube.continuous(3), rng.random((50, 3))), rng.normal(size=50)
    assert near.probability(values, near.limit(values)) == pytest.approx(0.01)
    by_size = itertools.pairwise(near.probability(values, v) for v in (0.1, 1.0, 10.0))
    assert all(small >= large for small, large in by_size)
    assert near.probability(values, 0.0) == 1
    assert max(PAIRS) <= 25


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_a_kink_is_no_noise(noise: float) -> None:
    """A search crowds where the objective has a kink, which a smooth process takes for noise.

    Trials are given, for what a search proposes hangs on how a machine rounds.
    """
    rng = np.random.default_rng(0)
    away, angle = 0.45 * 0.7 ** np.arange(40), 2.4 * np.arange(40)
    x, y = 0.37 + away * np.cos(angle), 0.52 + away * np.sin(angle)
    cost = np.maximum(abs(x - 0.37), abs(y - 0.52)) + noise * rng.normal(size=40)
    space = [hl.Parameter(name, "float", -0.1, 1.1) for name in "xy"]
    trials = pd.DataFrame({"x": x, "y": y, "cost": cost})
    record = hl.winner(hl.read(trials, space=space, objective="cost"))
    if noise:
        assert 0.02 < record.noise < 0.1
        assert record.probability[0] < 0.9
    else:
        assert (record.noise, record.probability[0], record.luck) == (0, 1, 0)
        assert record.recommended == record.best
        assert "the costs show no noise" in record.sentence
