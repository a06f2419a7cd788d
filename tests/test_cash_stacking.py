"""A model on top of the members: better where it can put right how they err, else left out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import hyperlens as hl
from hyperlens.cash.search.ensemble import log_losses, squared_errors
from hyperlens.cash.search.search import Search
from hyperlens.cash.search.stacking import StackedClassifier, StackedRegressor, crossed, learnt

ROWS = 400
PARTS = [np.arange(ROWS) % 5 == k for k in range(5)]
RNG = np.random.default_rng(0)


def test_what_members_get_wrong_is_put_right() -> None:
    """One member says the opposite, the other noise: no mean of them helps, a model on top does."""
    y = RNG.random(ROWS) < 0.5
    wrong = np.where(y, 0.1, 0.9)
    noise = RNG.uniform(0.2, 0.8, ROWS)
    said = np.array([np.stack([1 - p, p], axis=1) for p in (wrong, noise)])
    measure = log_losses(y.astype(np.int64), np.zeros(ROWS, dtype=np.int64))
    loss = crossed("classification", said, y, None, measure, PARTS, 0.0)
    assert loss < 0.2
    assert float(measure(said.mean(axis=0)[None], None)[0]) > 0.8
    assert np.isnan(crossed("classification", said, y, None, measure, [], 0.0))


def test_numbers_are_put_together_by_ridge_regression() -> None:
    y = RNG.standard_normal(ROWS)
    said = np.array([y + 3.0, -y])[:, :, None]  # each is off, together they tell all
    measure = squared_errors(y, np.zeros(ROWS, dtype=np.int64))
    assert crossed("regression", said, y, None, measure, PARTS, 0.0) < 0.01
    top = learnt("regression", said, y, np.ones(ROWS))
    assert top.predict(said[:, :, 0].T) == pytest.approx(y, abs=0.05)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_search_with_stacking_is_never_worse_than_its_mean(task: Any) -> None:
    X = pd.DataFrame(np.random.default_rng(1).standard_normal((240, 4)))
    y = X[0] * X[1] + X[2] + 0.3 * np.random.default_rng(2).standard_normal(240)
    target = np.where(y > 0, "yes", "no") if task == "classification" else y.to_numpy()
    names = ["GaussianNB", "LinearDiscriminantAnalysis", "KNeighborsClassifier"]
    if task == "regression":
        names = ["Ridge", "QuadraticRidge", "KNeighborsRegressor"]
    plan = Search(
        X, target, task, 10, "random", models=names, folds=3, refits=1, stacking=True
    )  # fmt: skip
    model, ensemble = plan.finish(plan.run())
    assert ensemble.together <= ensemble.single
    if ensemble.stacked:
        assert isinstance(model, StackedClassifier | StackedRegressor)
        assert "with a model on top" in ensemble.sentence
        assert ensemble.from_dict(ensemble.to_dict()).stacked
    else:
        assert "the mean stays" in ensemble.notes[-1]
    assert len(model.predict(X)) == 240


def test_stacking_is_asked_for() -> None:
    X = pd.DataFrame(np.random.default_rng(1).standard_normal((150, 3)))
    y = np.where(X[0] > 0, "yes", "no")
    options: dict[str, Any] = {"models": ["GaussianNB"], "folds": 2, "refits": 1}
    found = hl.CASHClassifier(1, "random", stacking=True, **options).fit(X, y)
    assert "the mean stays" in found.ensemble_.notes[-1]  # one member alone
    assert not hl.CASHClassifier(1, "random", **options).fit(X, y).ensemble_.notes
