"""The estimators as scikit-learn wants them, and as users do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ConfigSpace as CS
import numpy as np
import optuna
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import hyperlens as hl
from hyperlens.cash import build as build_of_pool
from hyperlens.cash.measuring.evaluation import Evaluation
from hyperlens.cash.search.refit import refitted

optuna.logging.set_verbosity(optuna.logging.ERROR)

RARE = "its data has a class with one row, which cannot be both trained on and measured"
EXPECTED = dict.fromkeys(
    (
        "check_dict_unchanged",
        "check_dont_overwrite_parameters",
        "check_f_contiguous_array_estimator",
        "check_fit2d_1feature",
        "check_fit2d_predict1d",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
    ),
    RARE,
)
EXTRA: dict[str, Any] = {
    "criterion": "gini",
    "bootstrap": False,
    "class_weight": "none",
    "max_features": "sqrt",
    "n_estimators": 10,
    "min_samples_split": 2,
    "min_samples_leaf": 5,
    "min_impurity_decrease": 1e-7,
}
SMALL: dict[str, Any] = {"evaluations": 2, "optimizer": "random", "folds": 1, "refits": 1}


@parametrize_with_checks(  # type: ignore[untyped-decorator]  # scikit-learn has no types
    [
        hl.CASHClassifier(models=("LogisticRegression", "GaussianNB"), **SMALL),
        hl.CASHRegressor(models=("Ridge", "KNeighborsRegressor"), **SMALL),
    ],
    expected_failed_checks=lambda e: EXPECTED if isinstance(e, hl.CASHClassifier) else {},
)
def test_scikit_learn_s_own_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def frame(n: int = 80, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "size": rng.standard_normal(n),
            "kind": pd.Categorical(rng.choice(["x", "y"], n)),
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 99, n), "D"),
        }
    )
    X.loc[::7, "size"] = np.nan
    score = X["size"].fillna(0) + (X["kind"] == "x")
    return X, pd.cut(score, [-9, -0.2, 0.8, 9], labels=["low", "mid", "high"]).astype(str)


def test_three_classes_from_a_frame_with_gaps() -> None:
    X, y = frame()
    fast = ("BernoulliNB", "GaussianNB", "QuadraticDiscriminantAnalysis")
    model = hl.CASHClassifier(evaluations=9, folds=2, models=fast).fit(X, y)
    chances = model.predict_proba(X)
    assert list(model.classes_) == ["high", "low", "mid"]
    assert chances.shape == (80, 3)
    assert chances.sum(axis=1) == pytest.approx(np.ones(80))
    assert np.array_equal(model.predict(X), model.classes_[chances.argmax(axis=1)])
    assert model.best_configuration_["model"] in fast
    assert model.best_loss_ == model.leaderboard_["log_loss"].iloc[0] == model.search_.best[0]
    assert model.history_.best().values == model.best_configuration_
    new = X.head(3).assign(kind="never seen", size=np.inf)
    assert set(model.predict(new)) <= set(y)
    again = clone(model).fit(X, y)
    assert np.array_equal(again.predict_proba(X), chances)


def test_the_last_training_by_hand() -> None:
    X, y = frame()
    y = y.to_numpy()
    evaluation = Evaluation(X, y, "classification", seed=5)
    chosen = {"model": "GaussianNB", "GaussianNB:var_smoothing": 1e-3}
    once = refitted(evaluation, chosen, 1)
    assert np.array_equal(
        once.predict_proba(X), build_of_pool(chosen, "classification").fit(X, y).predict_proba(X)
    )
    assert not hasattr(refitted(evaluation, chosen, 4), "models")  # the seed changes nothing
    trees = {"model": "ExtraTreesClassifier"}
    trees |= {f"ExtraTreesClassifier:{name}": value for name, value in EXTRA.items()}
    single = [build_of_pool(trees, "classification", 5 + k).fit(X, y) for k in range(3)]
    mean = refitted(evaluation, trees, 3)
    expected = np.mean([m.predict_proba(X) for m in single], axis=0)
    assert mean.predict_proba(X) == pytest.approx(expected)
    assert np.array_equal(mean.predict(X), mean.classes_[expected.argmax(axis=1)])


def test_the_mean_of_numbers() -> None:
    X, _ = frame()
    amounts = Evaluation(X, np.arange(80.0), "regression")
    chosen = {"model": "AdaBoostRegressor"} | {
        f"AdaBoostRegressor:{k}": v for k, v in {"n_estimators": 5, "learning_rate": 1.0}.items()
    }
    mean = refitted(amounts, chosen, 3)
    single = [m.predict(X) for m in mean.models]
    assert len(single) == 3
    assert mean.predict(X) == pytest.approx(np.mean(single, axis=0))
    assert not np.array_equal(single[0], single[1])


def test_own_classifiers_without_chances_are_trained_once() -> None:
    X, y = frame()
    numbers = X[["size"]].fillna(0)
    plain = Evaluation(
        numbers, y.to_numpy(), "classification", metric="accuracy", builder=lambda _: LinearSVC()
    )
    assert isinstance(refitted(plain, {}, 10), LinearSVC)


def test_in_pipelines_and_cross_validation() -> None:
    X, y = frame()
    numbers = X[["size"]].fillna(0)
    search = hl.CASHClassifier(models=("BernoulliNB", "GaussianNB"), **SMALL)
    scores = cross_val_score(make_pipeline(StandardScaler(), search), numbers, y, cv=2)
    assert scores.shape == (2,)
    assert scores.min() > 0.34  # three classes


def test_numbers_are_predicted() -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((90, 2))
    y = 1000 + 50 * X[:, 0]
    model = hl.CASHRegressor(evaluations=9, folds=2, models=("Ridge", "KNeighborsRegressor")).fit(
        X, y
    )
    assert model.score(X, y) > 0.9
    assert model.history_.objective().name == "root_mean_squared_error"
    assert not hasattr(model, "predict_proba")


def space() -> CS.ConfigurationSpace:
    found = CS.ConfigurationSpace()
    model = CS.CategoricalHyperparameter("model", ["bayes", "logistic"])
    strength = CS.Float("C", (0.01, 10.0), log=True)
    found.add([model, strength])
    found.add(CS.EqualsCondition(strength, model, "logistic"))
    return found


def build(configuration: Mapping[str, Any]) -> Any:
    if configuration["model"] == "bayes":
        return GaussianNB()
    return LogisticRegression(C=configuration["C"])


def test_a_pool_of_one_s_own() -> None:
    X, y = frame()
    numbers = X[["size"]].fillna(0)
    model = hl.CASHClassifier(space=space(), build=build, **(SMALL | {"evaluations": 6})).fit(
        numbers, y
    )
    assert {t.values["model"] for t in model.history_.trials} == {"bayes", "logistic"}
    members = model.best_model_.models
    assert {type(m) for m in members} == {GaussianNB, LogisticRegression}
    assert model.ensemble_.together < model.ensemble_.single == pytest.approx(model.best_loss_)
    alone = clone(model).set_params(ensemble=1).fit(numbers, y)
    assert isinstance(alone.best_model_, LogisticRegression)
    assert alone.ensemble_.sentence.startswith("The model is logistic alone")
    weighted = model.search_.weights[model.search_.models.index("logistic")]
    assert weighted == pytest.approx(2 / 3)  # one hyperparameter against none


@pytest.mark.parametrize(
    ("y", "said"),
    [
        (["a"] * 80, "one class"),
        (["a"] * 79 + ["b"], "one row"),
        (["a", None] * 40, "NaN"),
        (["a"] * 12, "80 rows where y has 12"),
    ],
)
def test_what_cannot_be_learnt_is_refused(y: list[Any], said: str) -> None:
    X, _ = frame()
    with pytest.raises(ValueError, match=said) as caught:
        hl.CASHClassifier(**SMALL).fit(X, np.array(y, dtype=object))
    assert isinstance(caught.value, hl.HyperlensError)


def test_one_class_is_shown_as_a_plain_value() -> None:
    with pytest.raises(ValueError, match=r"one class, 0\.0, so"):
        hl.CASHClassifier(**SMALL).fit(frame()[0], np.zeros(80))


def test_texts_are_no_numbers() -> None:
    X, y = frame()
    with pytest.raises(ValueError, match="CASHClassifier for classes"):
        hl.CASHRegressor(**SMALL).fit(X, y)
