"""The ensemble at the end: chosen by hand, never worse, honest about its choice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import get_scorer, log_loss, root_mean_squared_error

from hyperlens.cash.measuring.evaluation import Evaluation
from hyperlens.cash.measuring.kept import Kept
from hyperlens.cash.search.ensemble import (
    Ensemble,
    Pool,
    by_scorer,
    lifted,
    log_losses,
    squared_errors,
    temperature,
    tempered_by,
)
from hyperlens.cash.search.search import Search, best_trial

FAST = ("GaussianNB", "BernoulliNB", "QuadraticDiscriminantAnalysis")
SPLITS = np.repeat([0, 1], [120, 80])


def chances(n: int = 200, seed: int = 0) -> tuple[Any, Any]:
    """Classes, and three opinions on them of which the mean is better than any."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, n)
    logits = np.eye(3)[codes] * 1.5 + rng.standard_normal((3, n, 3))
    shares = np.exp(logits)
    return codes, shares / shares.sum(axis=2, keepdims=True)


def test_losses_are_scikit_learn_s() -> None:
    codes, said = chances()
    expected = [
        np.mean([log_loss(codes[s == SPLITS], p[s == SPLITS], labels=[0, 1, 2]) for s in (0, 1)])
        for p in said
    ]
    assert log_losses(codes, SPLITS)(said, None) == pytest.approx(expected)
    true = said[:, np.arange(200), codes][:, :, None]
    assert log_losses(codes, SPLITS)(true, None) == pytest.approx(expected)
    numbers, truths = said[:, :, :1], codes.astype(float)
    errors = [
        np.mean([root_mean_squared_error(truths[s == SPLITS], p[s == SPLITS, 0]) for s in (0, 1)])
        for p in numbers
    ]
    assert squared_errors(truths, SPLITS)(numbers, None) == pytest.approx(errors)

    def right(p: Any, places: Any) -> float:
        return float(np.mean(p.argmax(axis=1) == codes[places]))

    accuracy = [np.mean([right(p[s == SPLITS], s == SPLITS) for s in (0, 1)]) for p in said]
    assert by_scorer(right, SPLITS)(said, None) == pytest.approx(-np.array(accuracy))
    some = np.arange(200) % 2 == 0
    assert log_losses(codes, SPLITS)(said, some) == pytest.approx(
        log_losses(codes[some], SPLITS[some])(said[:, some], None)
    )


def test_greedy_selection_by_hand() -> None:
    codes, said = chances()
    pool = Pool(said, np.arange(200), log_losses(codes, SPLITS))
    alone = pool.measure(said, None)
    start = int(np.argmin(alone))
    second = [pool.measure(((said[start] + p) / 2)[None], None)[0] for p in said]
    weights = pool.selected()
    assert pool.loss(weights) < min(second) < alone[start]
    assert weights[start] > 0
    assert weights.sum() == pytest.approx(1)
    assert pool.mixed(weights) == pytest.approx(
        sum(w * p for w, p in zip(weights, said, strict=True))
    )
    same = Pool(said[[0, 0]], np.arange(200), log_losses(codes, SPLITS))
    assert list(same.selected(1)) == [0, 1]  # nothing is gained, nothing is added


def test_what_chose_it_is_not_what_measures_it() -> None:
    """Of many opinions without content the best looks good where it was chosen, and only there."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, 100)
    guess = rng.uniform(0.3, 0.7, (200, 100))
    said = np.stack([guess, 1 - guess], axis=2)
    pool = Pool(said, np.arange(100), log_losses(codes, np.zeros(100, dtype=int)))
    flattered = pool.loss(pool.selected())
    single, together = pool.honest()
    assert flattered < 0.66 < 0.68 < single
    assert together > 0.66
    few = Pool(said[:, :30], np.arange(30), log_losses(codes[:30], np.zeros(30, dtype=int)))
    assert np.isnan(few.honest()).all()


def test_the_temperature_of_chances_that_say_too_much() -> None:
    rng = np.random.default_rng(2)
    true = rng.dirichlet([1, 1], 4000)
    codes = (rng.random(4000) > true[:, 0]).astype(int)
    measure = log_losses(codes, np.zeros(4000, dtype=int))
    parts = Pool(true[None], np.arange(4000), measure).left_out()
    assert temperature(true, measure, parts) == pytest.approx(1.0, abs=0.1)
    loud = tempered_by(true, 0.5)
    assert temperature(loud, measure, parts) == pytest.approx(2.0, rel=0.1)
    assert tempered_by(loud, 2.0) == pytest.approx(true)
    assert temperature(loud, measure, []) == 1.0


def test_nothing_is_impossible() -> None:
    said = np.array([[1.0, 0.0, 0.0], [0.2, 0.3, 0.5]])
    raised = lifted(said, 0.01)
    assert raised.sum(axis=1) == pytest.approx([1, 1])
    assert raised.min() == pytest.approx(0.01)
    assert np.array_equal(raised.argsort(axis=1)[1], said.argsort(axis=1)[1])
    X = pd.DataFrame({"a": np.arange(120.0)})
    y = np.where(X["a"] % 7 < 3, "yes", "no")
    options: dict[str, Any] = {"models": ("KNeighborsClassifier",), "optimizer": "random"}
    plan = Search(X, y, "classification", evaluations=4, folds=2, **options)
    model, ensemble = plan.finish(plan.run())
    assert ensemble.least == pytest.approx(1 / 121 / 2)  # neighbours are often wrong: the most
    assert model.predict_proba(X).min() >= ensemble.least - 1e-12


def test_predictions_are_kept_whole(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    kept.write({"model": "a", "x": np.int64(3)}, 0.5, [np.ones((2, 2)), np.zeros((3, 2))])
    found = kept.read({"x": 3, "model": "a"}, 0.5)
    assert found is not None
    assert [f.shape for f in found] == [(2, 2), (3, 2)]
    assert kept.read({"x": 3, "model": "a"}, 1.0) is None


@pytest.mark.parametrize("metric", [None, "accuracy", "roc_auc"])
def test_an_ensemble_of_classifiers(metric: str | None) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((150, 4)))
    y = np.where(X[0] * X[1] + X[2] + 0.5 * rng.standard_normal(150) > 0, "yes", "no")
    options: dict[str, Any] = {"models": FAST, "evaluations": 8, "optimizer": "random", "folds": 3}
    plan = Search(X, y, "classification", metric=metric, **options)
    history = plan.run()
    best = best_trial(history)
    model, ensemble = plan.finish(history)
    sign = -1 if metric else 1
    if not ensemble.least:  # else what was said to be impossible is measured as if it were not
        assert ensemble.single == pytest.approx(best.costs[0], rel=1e-4)
    assert sign * ensemble.together <= sign * ensemble.single + 1e-12
    assert ensemble.weights.sum() == pytest.approx(1)
    assert ensemble.trials[0] == best.number
    assert set(model.predict(X)) <= {"yes", "no"}
    assert Ensemble.from_json(ensemble.to_json()).sentence == ensemble.sentence
    assert f"{ensemble.together:.4g}" in ensemble.sentence


def test_an_ensemble_of_regressors_by_hand() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((150, 3)))
    y = np.abs(X[0]).to_numpy() + X[1].to_numpy() + 0.1 * rng.standard_normal(150)
    plan = Search(
        X, y, "regression", models=("Ridge", "KNeighborsRegressor"), evaluations=6,
        optimizer="random", folds=3,
    )  # fmt: skip
    model, ensemble = plan.finish(plan.run())
    assert ensemble.metric == "root_mean_squared_error"
    assert ensemble.together < ensemble.single
    single = np.array([m.predict(X) for m in model.models])
    assert model.predict(X) == pytest.approx(np.average(single, axis=0, weights=model.weights))
    assert ensemble.frame["model"].tolist() == list(ensemble.models)


def test_a_metric_that_needs_the_model_itself_has_the_best_one_alone() -> None:
    def simple(estimator: Any, X: Any, y: Any) -> float:
        return float(estimator.predict(X)[0] == y[0]) - (not hasattr(estimator, "fit"))

    X = pd.DataFrame(np.random.default_rng(0).standard_normal((60, 2)))
    y = np.where(X[0] > 0, 1, 0)
    plan = Search(
        X, y, "classification", models=FAST, evaluations=3, optimizer="random", metric=simple
    )
    _, ensemble = plan.finish(plan.run())
    assert len(ensemble.models) == 1


def test_told_predictions_score_like_the_model() -> None:
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((80, 2)))
    y = np.where(X[0] > 0, "b", "a")
    evaluation = Evaluation(X, y, "classification", metric="accuracy")
    model = evaluation.model({"model": "GaussianNB", "GaussianNB:var_smoothing": 0.1}).fit(X, y)
    rows = np.arange(80)
    said = evaluation.predicted(model, X)
    assert said is not None
    assert evaluation.scores(said, rows) == get_scorer("accuracy")(model, X, y)
