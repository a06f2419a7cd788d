"""Boosters that stop early: what they watch, where they are cut, and what is trained in the end."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss, root_mean_squared_error

from hyperlens.cash.measuring.growing import cut_alike, grows, watching
from hyperlens.cash.models.boosters import (
    LONGER,
    PATIENCE,
    BoostedClassifier,
    BoostedRegressor,
    Enough,
    package,
)
from hyperlens.cash.models.pool import build, further, pool, pool_space
from hyperlens.cash.search.search import Search, best_trial
from hyperlens.errors import SourceError
from hyperlens.optimize.models.promising import gain_per_second
from hyperlens.spaces.parameter import Parameter
from hyperlens.spaces.space import Space

PACKAGES = ("xgboost", "lightgbm", "catboost")
SETTINGS: dict[str, dict[str, Any]] = {
    "xgboost": {"learning_rate": 0.3, "max_depth": 3, "n_jobs": 1},
    "lightgbm": {"learning_rate": 0.3, "num_leaves": 8, "n_jobs": 1, "verbose": -1},
    "catboost": {"learning_rate": 0.3, "depth": 3, "verbose": False, "allow_writing_files": False},
}


def table(n: int = 300) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 4))
    return X, X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(n)


@pytest.mark.parametrize("name", PACKAGES)
def test_a_curve_is_the_loss_of_every_smaller_number_of_trees(name: str) -> None:
    pytest.importorskip(name)
    X, y = table()
    classes = np.where(y > 0, "yes", "no")
    model = BoostedClassifier({**SETTINGS[name], "n_estimators": 200}, name)
    model.fit(X[:200], classes[:200], watched=lambda: (X[200:], classes[200:]))
    trees = int(np.argmin(model.curve_)) + 1
    assert trees == model.trees_
    assert 1 <= trees < len(model.curve_) < 200  # it stopped by itself
    said = model.predict_proba(X[200:])
    assert log_loss(classes[200:], said) == pytest.approx(model.curve_[trees - 1], rel=1e-4)
    small = BoostedClassifier({**SETTINGS[name], "n_estimators": 7}, name)
    small.fit(X[:200], classes[:200])
    model.cut(7)
    if name != "catboost":  # whose noise in the choice of splits falls with the number of trees
        assert model.predict_proba(X) == pytest.approx(small.predict_proba(X), abs=1e-5)
    assert set(model.predict(X)) == {"yes", "no"}


@pytest.mark.parametrize("name", PACKAGES)
def test_numbers_are_watched_as_they_are_learnt_and_time_ends_growing(name: str) -> None:
    pytest.importorskip(name)
    X, y = table()
    model = BoostedRegressor({**SETTINGS[name], "n_estimators": 100}, name)
    model.fit(X[:200], y[:200], watched=lambda: (X[200:], y[200:]))
    model.cut(5)
    error = root_mean_squared_error(y[200:], model.predict(X[200:]))
    squared = name == "lightgbm"  # its curve is of squares
    assert (error**2 if squared else error) == pytest.approx(model.curve_[4], rel=1e-4)
    model.fit(X[:200], y[:200], watched=lambda: (X[200:], y[200:]), seconds=0.0)
    assert len(model.curve_) == 1


def test_splits_are_cut_where_they_are_best_together() -> None:
    models = [BoostedClassifier(), BoostedClassifier()]
    models[0].curve_ = np.array([5.0, 3.0, 2.0, 2.5])
    models[1].curve_ = np.array([4.0, 1.0, 3.5])  # stopped there
    assert (
        cut_alike(models) == 2
    )  # means 4.5, 2, 2.75, and of a fourth tree one split tells nothing
    assert [m.trees_ for m in models] == [2, 2]


def test_growing_goes_on_longer_where_it_took_long() -> None:
    enough = Enough(float("inf"))
    fall = [enough(float(-k)) for k in range(40)]  # the best so far is the 40th
    stays = [enough(0.0) for _ in range(100)]
    assert not any(fall)
    assert stays.index(True) + 1 == PATIENCE + LONGER * 40
    assert Enough(0.0)(1.0)  # time is over


def test_a_pipeline_for_numbers_watches_scaled_targets() -> None:
    X, y = table()
    frame = pd.DataFrame(X, columns=list("abcd"))
    y = 1000 + 50 * y
    values = {f"XGBRegressor:{k}": v for k, v in (("max_depth", 3), ("learning_rate", 0.3))}
    model = build({"model": "XGBRegressor", **values}, "regression")
    assert grows(model)
    assert not grows(build({"model": "Ridge", "Ridge:alpha": 1.0}, "regression"))
    held, truth = frame.iloc[200:], y[200:]
    model.fit(frame.iloc[:200], y[:200], **watching(model, held, truth, None))
    trees = cut_alike([model])
    error = root_mean_squared_error(truth, model.predict(held))
    curve = model.regressor_[-1].curve_
    assert error / np.std(y[:200]) == pytest.approx(curve[trees - 1], rel=1e-4)


def test_what_is_trained_in_the_end_has_as_many_trees_as_the_splits_chose() -> None:
    X, y = table(200)
    frame, classes = pd.DataFrame(X, columns=list("abcd")), np.where(y > 0, "yes", "no")
    plan = Search(
        frame, classes, "classification", models=["XGBoost"], time=600.0, evaluations=3, refits=1
    )
    assert "XGBoost:n_estimators" not in plan.searched.names
    history = plan.run()
    model, ensemble = plan.finish(history)
    assert len(ensemble.trees) == len(ensemble.models)
    assert (ensemble.trees > 0).all()
    trained = [pipe[-1].model_.n_estimators for pipe in getattr(model, "models", [model])]
    assert trained == ensemble.trees.tolist()
    best = best_trial(history)
    again = plan.refit(best)
    trees = plan.evaluation.kept.trees({"model": "XGBoost", **best.values}, 1.0)  # type: ignore[union-attr]
    assert again[-1].model_.n_estimators == trees
    for path in plan._folder.iterdir():  # another process's, which is gone
        path.unlink()
    assert plan.refit(best)[-1].model_.n_estimators == trees


def test_packages_beside_the_eleven_are_members_by_name_or_by_the_clock() -> None:
    assert len(pool("classification")) == 11
    names = {m.name: m.package for m in further("classification")}
    assert names["LGBMClassifier"] == "lightgbm"
    assert names["CatBoostClassifier"] == "catboost"
    assert not names["KernelLogistic"]
    assert not names["MLPClassifier"]
    space = pool_space("classification", ["LGBMClassifier", "GaussianNB"])
    assert "LGBMClassifier:n_estimators" in space.names
    X, y = table(60)
    frame, classes = pd.DataFrame(X, columns=list("abcd")), np.where(y > 0, "yes", "no")
    clock, plain = (Search(frame, classes, "classification", time=t) for t in (60.0, None))
    here = [m.name for m in further("classification") if m.installed]
    assert set(here) == set(clock.searched["model"].choices) - set(plain.searched["model"].choices)


def test_a_package_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(SourceError, match="lightgbm is not installed"):
        package("lightgbm")


def test_what_gains_as_much_in_less_time_promises_more() -> None:
    space = Space.of([Parameter("x", "float", 0, 1), Parameter("y", "float", 0, 1)])
    rng = np.random.default_rng(0)
    X = rng.random((80, 2))
    losses, seconds = (X[:, 0] - 0.3) ** 2, np.where(X[:, 1] > 0.5, 10.0, 0.1)
    candidates = np.array([[0.3, 0.1], [0.3, 0.9], [0.9, 0.1], [0.9, 0.9]])
    quick, slow, bad, worst = gain_per_second(candidates, X, losses, seconds, space.cube)
    assert quick > 10 * slow > 0
    assert quick > 100 * max(bad, worst)
