"""What a trained model is like on rows that it did not see: which columns it uses, how true it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from hyperlens.cash.measuring.evaluation import Evaluation
from hyperlens.cash.results.calibration import calibration
from hyperlens.cash.results.feature_use import feature_use
from hyperlens.cash.results.model_search import model_search
from hyperlens.cash.search.search import Search
from hyperlens.plots import draw
from hyperlens.record import Record
from hyperlens.sections.run.models import MODELS, WINNER, cards


def test_a_column_is_worth_what_its_coefficient_says() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((4000, 3)), columns=["a", "b", "c"])
    y = 3.0 * X["a"].to_numpy() + X["b"].to_numpy()
    evaluation = Evaluation(
        X, y, "regression", metric="neg_mean_squared_error", builder=lambda _: LinearRegression()
    )
    found = feature_use(evaluation, {"model": "line"}, "mean_squared_error")
    assert found is not None
    assert found.columns == ("a", "b", "c")
    assert found.rise == pytest.approx([18.0, 2.0, 0.0], rel=0.1, abs=1e-9)  # 2 coefficient^2
    assert found.sentence.startswith("'a' is used most")
    assert "2 of 3 columns matter alone" in found.sentence
    assert draw(found).data[0].x[0] == found.rise[0]
    assert feature_use(evaluation, {"model": "line"}, "error", seconds=-1.0) is None


def test_chances_are_true_where_they_say_what_came() -> None:
    p = np.repeat([0.25, 0.75], 400)
    codes = np.tile([1, 0, 0, 0], 100).tolist() + np.tile([1, 1, 1, 0], 100).tolist()
    fine = calibration(np.column_stack([1 - p, p]), np.array(codes), ["no", "yes"])
    assert fine.said.tolist() == fine.came.tolist() == [0.25, 0.75]
    assert fine.error == 0
    assert "chances of 'yes' differ by 0.0 percentage points" in fine.sentence
    assert "0 of 2 bins" in fine.sentence
    proud = np.where(p > 0.5, 0.99, 0.01)
    wrong = calibration(np.column_stack([1 - proud, proud]), np.array(codes), ["no", "yes"])
    assert wrong.error == pytest.approx(0.24)
    assert "2 of 2 bins" in wrong.sentence
    three = np.array([[0.6, 0.2, 0.2], [0.1, 0.62, 0.28]])
    several = calibration(three, np.array([0, 2]), ["a", "b", "c"])
    assert several.event == "the likeliest class"
    assert several.came.tolist() == [0.5]
    assert draw(several).data[1].x[0] == several.said[0]


def test_an_ensemble_says_how_true_it_is() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((150, 2)), columns=["a", "b"])
    y = np.where(X["a"] + rng.standard_normal(150) > 0, "yes", "no")
    plan = Search(X, y, "classification", 2, "random", models=["GaussianNB"], folds=2, refits=1)
    history = plan.run()
    _, ensemble = plan.finish(history)
    assert ensemble.calibration is not None
    held = sum(len(rows) for _, rows in plan.evaluation.rows)
    assert ensemble.calibration.rows.sum() == held
    used = feature_use(plan.evaluation, history.trials[0].values, "log_loss")
    record = replace(model_search(history), features=used, calibration=ensemble.calibration)
    records: Any = {MODELS: record, WINNER: None}
    shown = cards(records)
    assert [card.id for card in shown] == ["models", "features", "calibration"]
    assert Record.from_dict(record.to_dict()).to_dict() == record.to_dict()
