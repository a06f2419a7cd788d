"""Rows that count more than others, gaps that are seen, and a schedule that is too long for its time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss

import hyperlens as hl
from hyperlens.cash.data.column_kinds import TableError
from hyperlens.cash.data.dataset import prepare
from hyperlens.cash.data.row_weights import row_weights, weighting
from hyperlens.cash.measuring.evaluation import Evaluation
from hyperlens.cash.models.pool import build
from hyperlens.cash.models.preprocessing import pipeline
from hyperlens.cash.search.ensemble import log_losses, squared_errors
from hyperlens.cash.search.search import Search, best_trial
from hyperlens.errors import AnalysisError

FAST = ("BernoulliNB", "GaussianNB")


def table(n: int = 120) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((n, 3)), columns=["a", "b", "c"])
    return X, np.where(X["a"] + 0.5 * rng.standard_normal(n) > 0.8, "rare", "often")


def test_weights_are_one_on_average_and_classes_may_count_alike() -> None:
    y = table()[1]
    assert row_weights(y, "classification") is None
    found = row_weights(y, "classification", class_weight="balanced")
    assert found is not None
    assert found.mean() == pytest.approx(1)
    assert found[y == "rare"].sum() == pytest.approx(found[y == "often"].sum())
    given = row_weights(y, "classification", np.arange(120), {"rare": 3, "often": 1})
    assert given is not None
    assert given == pytest.approx(np.arange(120) * np.where(y == "rare", 3, 1) / given_mean(y))


def given_mean(y: Any) -> float:
    return float(np.mean(np.arange(120) * np.where(y == "rare", 3, 1)))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"weights": [1.0, 2.0]}, "2 weights for 120 rows"),
        ({"weights": -np.ones(120)}, "none negative"),
        ({"class_weight": "even"}, "choose 'balanced'"),
        ({"class_weight": {"rare": 1.0}}, "lack 'often'"),
        ({"class_weight": "balanced", "task": "regression"}, "numbers have none"),
    ],
)
def test_weights_that_cannot_be_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(AnalysisError, match=said):
        row_weights(table()[1], **{"task": "classification", **options})


def test_a_row_of_weight_two_is_two_rows_in_training_and_in_the_loss() -> None:
    X, y = table()
    weights = np.where(y == "rare", 2.0, 1.0)
    twice = np.concatenate([np.arange(120), np.flatnonzero(y == "rare")])
    nested = {"model": "LogisticRegression", "LogisticRegression:penalty": "ridge",
              "LogisticRegression:squares": True, "LogisticRegression:C": 1.0}  # fmt: skip
    weighted, doubled = (build(nested, "classification") for _ in range(2))
    for model in (weighted, doubled):  # scales are of the rows, which are not the same
        model.set_params(scale="passthrough")
    weighted.fit(X, y, **weighting(weighted, weights))
    doubled.fit(X.iloc[twice], y[twice])
    assert weighted.predict_proba(X) == pytest.approx(doubled.predict_proba(X), abs=1e-4)
    near = build({"model": "KNeighborsClassifier"}, "classification")
    assert weighting(near, weights) == {}
    said = weighted.predict_proba(X)
    codes = np.unique(y, return_inverse=True)[1]
    measure = log_losses(codes, np.zeros(120, dtype=int), weights)
    assert measure(said[None], None)[0] == pytest.approx(log_loss(y[twice], said[twice]))
    truths = X["a"].to_numpy()
    errors = squared_errors(truths, np.zeros(120, dtype=int), weights)
    expected = np.sqrt(np.mean((truths[twice] - 1) ** 2))
    assert errors(np.ones((1, 120, 1)), None)[0] == pytest.approx(expected)


def test_an_evaluation_counts_held_out_rows_by_their_weights() -> None:
    X, y = table()
    weights = np.where(y == "rare", 5.0, 1.0)
    evaluation = Evaluation(
        X, y, "classification", splits=1, weights=weights,
        builder=lambda _: pipeline(LogisticRegression(), scaled=False),
    )  # fmt: skip
    (loss,) = evaluation.losses({})
    ((train, held),) = evaluation.rows
    model = LogisticRegression().fit(X.iloc[train], y[train], sample_weight=weights[train])
    said = model.predict_proba(X.iloc[held])
    assert loss == pytest.approx(log_loss(y[held], said, sample_weight=weights[held]))


def test_balanced_classes_are_predicted_as_often_as_others() -> None:
    X, y = table()
    plain, even = (
        hl.CASHClassifier(
            1, "random", models=["LogisticRegression"], class_weight=c, refits=1, folds=2
        )
        for c in (None, "balanced")
    )
    often = [np.mean(m.fit(X, y).predict(X) == "rare") for m in (plain, even)]
    assert often[0] < often[1]
    found = hl.CASHRegressor(1, "random", models=["Ridge"], folds=2, refits=1)
    weights = np.where(y == "rare", 100.0, 1.0)
    found.fit(X[["b"]], (y == "rare").astype(float), weights=weights)
    assert found.predict(X[["b"]]).mean() > 0.8  # of rows that count, nearly all are


def test_a_column_of_weights_is_not_learnt_from() -> None:
    X, y = table()
    frame = X.assign(y=y, w=np.arange(120.0))
    frame.loc[3, "y"] = None
    found = prepare(frame, "y", weight="w")
    assert list(found.X.columns) == ["a", "b", "c"]
    assert found.weights.tolist() == [float(k) for k in range(120) if k != 3]
    assert "Rows count by 'w', which is not learnt from." in found.sentences
    with pytest.raises(TableError, match="no one column 'z'"):
        prepare(frame, "y", weight="z")
    with pytest.raises(TableError, match="finite numbers"):
        prepare(frame.assign(w=-1.0), "y", weight="w")


def test_where_a_gap_was_is_told_to_the_model() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal(200)
    y = np.isnan(np.where(x > 1, np.nan, x)).astype(float)
    frame = pd.DataFrame({"x": np.where(x > 1, np.nan, x), "other": rng.standard_normal(200)})
    model = pipeline(Ridge(1e-6), scaled=False).fit(frame, y)
    assert model.predict(frame) == pytest.approx(y, abs=1e-6)
    frame.loc[0, "other"] = np.nan  # a gap where training had none
    assert np.isfinite(model.predict(frame)).all()


def test_a_schedule_that_is_too_long_for_its_time_still_gives_a_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = table()
    monkeypatch.setattr(Search, "_search_left", lambda self: -1.0)  # nothing can be evaluated
    plan = Search(
        X, y, "classification", 1000, "hyperband", time=600.0, refits=1, models=FAST, folds=2
    )
    history = plan.run()
    assert [t.values["model"] for t in history.trials] == ["GaussianNB", "BernoulliNB"]
    model, ensemble = plan.finish(history)
    assert model.predict(X).shape == (120,)
    assert ensemble.single == pytest.approx(best_trial(history).costs[0], rel=0.02)


def test_a_column_of_the_table_says_which_rows_are_held_out_together() -> None:
    frame = pd.DataFrame({
        "x": np.sin(np.arange(40.0)), "patient": np.repeat(np.arange(10), 4), "y": ["a", "b"] * 20
    })  # fmt: skip
    found = prepare(frame, "y", group="patient")
    assert found.groups.tolist() == [str(k // 4) for k in range(40)]
    assert [c.name for c in found.described] == ["x"]
    assert any("held out together (10 groups)" in said for said in found.sentences)
    with pytest.raises(hl.HyperlensError, match="no one column 'ward' beside the target to hold"):
        prepare(frame, "y", group="ward")
    with pytest.raises(hl.HyperlensError, match="4 of 40 cells of 'patient'"):
        prepare(frame.assign(patient=frame.patient.replace(3, np.nan)), "y", group="patient")
