"""The pool of models: table 3's counts, and every model fits whatever a table may hold."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from hyperlens.cash import build, pool, pool_space
from hyperlens.cash.models.preprocessing import Encoder, pipeline
from hyperlens.errors import SpaceError
from hyperlens.optimize.models.model_sampling import (
    ModelSampler,
    model_weights,
    own_hyperparameters,
)

TABLE_3 = {  # hyperparameters: categorical, integer, continuous
    "RandomForestClassifier": (3, 4, 1),
    "LogisticRegression": (4, 0, 2),
    "XGBoost": (2, 3, 6),
    "GradientBoostingClassifier": (3, 4, 3),
    "AdaBoostClassifier": (0, 1, 1),
    "BernoulliNB": (1, 1, 1),
    "GaussianNB": (0, 0, 1),
    "ExtraTreesClassifier": (4, 3, 1),
    "KNeighborsClassifier": (2, 1, 0),
    "LinearDiscriminantAnalysis": (1, 1, 2),
    "QuadraticDiscriminantAnalysis": (0, 0, 1),
}
TASKS = ("classification", "regression")
KINDS = ("categorical", "integer", "float")


def counts(task: Any) -> dict[str, tuple[int, ...]]:
    """Read off the space, not off the pool's own description."""
    space = pool_space(task)
    found = {}
    for model, names in own_hyperparameters(space).items():
        kinds = Counter(str(space[name].kind) for name in names)
        found[model] = tuple(kinds[kind] for kind in KINDS)
    return found


def mixed(n: int, seed: int = 0) -> pd.DataFrame:
    """Numbers, categories, truths, dates, gaps, a constant and two columns without any value."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "number": rng.standard_normal(n),
            "whole": rng.integers(0, 5, n),
            "text": rng.choice(["x", "y", "z"], n),
            "level": pd.Categorical(rng.choice(["low", "high"], n)),
            "truth": rng.random(n) < 0.5,
            "date": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 999, n), "D"),
            "constant": 7.0,
            "empty": np.nan,
            "none": [None] * n,
        }
    )
    frame.loc[::7, "number"] = np.nan
    frame.loc[::5, "text"] = None
    return frame


def target(frame: pd.DataFrame, classes: int) -> Any:
    score = frame["number"].fillna(0) + frame["whole"] / 3 + (frame["text"] == "x")
    if not classes:
        return 1000 + 50 * score.to_numpy()
    return pd.qcut(score, classes, labels=[f"class {k}" for k in range(classes)]).astype(str)


def test_the_pool_has_the_counts_of_table_3() -> None:
    assert counts("classification") == TABLE_3
    assert list(counts("regression").values()) == list(TABLE_3.values())


def test_weights_are_those_of_the_paper_s_counts() -> None:
    total = sum(2 ** sum(c) for c in TABLE_3.values())
    expected = {m: 2 ** sum(c) / total for m, c in TABLE_3.items()}
    assert model_weights(pool_space("classification")) == pytest.approx(expected)


@pytest.mark.parametrize("task", TASKS)
def test_every_range_says_why(task: Any) -> None:
    space = pool_space(task)
    for model in pool(task):
        for h in model.hyperparameters:
            assert h.why.endswith(".")
            assert h.default is not None
            assert space[f"{model.name}:{h.name}"].log == h.log


@pytest.mark.parametrize(("task", "classes"), [(TASKS[0], 2), (TASKS[0], 4), (TASKS[1], 0)])
def test_every_model_fits_random_configurations(task: Any, classes: int) -> None:
    """Without any error or warning, and predicts rows with categories it has never seen."""
    space = pool_space(task)
    frame = mixed(90)
    y = target(frame, classes)
    new = mixed(20, seed=1).assign(text="unseen", number=np.inf, whole=None, date=pd.NaT)
    new["level"] = "medium"
    for model in pool(task):
        alone = {m.name: float(m is model) for m in pool(task)}
        for configuration in space.decode(ModelSampler(space, alone).sample(2, 5)):
            made = build(configuration, task, seed=1).fit(frame, y)
            predicted = made.predict(new)
            if classes:
                chances = made.predict_proba(new)
                assert chances.shape == (20, classes)
                assert chances.sum(axis=1) == pytest.approx(np.ones(20), abs=1e-5)
                assert set(predicted) <= set(made.classes_) == set(y)
            else:
                assert np.isfinite(predicted).all()
            again = build(configuration, task, seed=1).fit(frame, y)
            assert np.array_equal(again.predict(new), predicted)


@pytest.mark.parametrize("task", TASKS)
def test_defaults_learn_something(task: Any) -> None:
    train, test = mixed(300), mixed(200, seed=1)
    classes = 2 if task == "classification" else 0
    y, truth = target(train, classes), target(test, classes)
    for model in pool(task):
        values = {
            f"{model.name}:{h.name}": h.default
            for h in model.hyperparameters
            if h.when is None
            or h.when[1] == next(o.default for o in model.hyperparameters if o.name == h.when[0])
        }
        score = build({"model": model.name, **values}, task).fit(train, y).score(test, truth)
        by_chance = 0.5 + 4 * 0.5 / np.sqrt(len(test))  # four standard deviations above a coin
        assert score > (by_chance if classes else 0.4), f"{model.name} {score}"


def test_so_few_rows_that_ranges_exceed_them() -> None:
    """More neighbours, components and landmarks than rows or columns."""
    frame, y = mixed(12)[["number", "whole"]], np.arange(12) % 2
    for name, values in {
        "KNeighborsClassifier": {"n_neighbors": 100, "weights": "uniform", "metric": "euclidean"},
        "LinearDiscriminantAnalysis": {"components": 100, "solver": "lsqr", "shrinkage": 0.1},
    }.items():
        configuration = {"model": name} | {f"{name}:{k}": v for k, v in values.items()}
        assert build(configuration, "classification").fit(frame, y).predict(frame).shape == (12,)
    kernel = {"kernel": "rbf", "components": 300, "gamma": 1.0, "alpha": 1.0}
    configuration = {"model": "KernelRidge"} | {f"KernelRidge:{k}": v for k, v in kernel.items()}
    assert build(configuration, "regression").fit(frame, y).predict(frame).shape == (12,)


def test_a_pipeline_can_be_cloned() -> None:
    space = pool_space("classification")
    frame = mixed(60)
    y = target(frame, 3)
    for configuration in space.decode(ModelSampler(space, "uniform").sample(8, 2)):
        made = build(configuration, "classification")
        assert np.array_equal(
            clone(made).fit(frame, y).predict(frame), made.fit(frame, y).predict(frame)
        )


def test_the_encoder_by_hand() -> None:
    frame = pd.DataFrame(
        {
            "c": ["b", "a", None, "b"],
            "n": [1.5, np.inf, np.nan, -2.0],
            "mixed": [1, "x", 1.0, None],
            "date": pd.to_datetime(["1970-01-02", None, "1970-01-03", "1970-01-01"]),
        }
    )
    nan = np.nan
    coded = Encoder().fit(frame).transform(frame)
    expected = [[1, 1.5, 0, 1], [0, nan, 1, nan], [nan, nan, 0, 2], [1, -2, nan, 0]]
    assert np.array_equal(coded, np.array(expected), equal_nan=True)
    unseen = Encoder().fit(frame).transform(frame.assign(c="new"))
    assert np.isnan(unseen[:, 0]).all()


def test_gaps_are_filled_with_the_most_frequent_value() -> None:
    frame = pd.DataFrame(
        {"c": ["b", "b", "a", None], "gap": [None] * 4, "n": [2.0, 2.0, 5.0, None]}
    )
    filled = pipeline("passthrough", scaled=False).fit_transform(frame)
    values = [[1, 0, 2], [1, 0, 2], [0, 0, 5], [1, 0, 2]]
    gaps = [[0, 1, 0], [0, 1, 0], [0, 1, 0], [1, 1, 1]]  # one column more for each that has any
    assert filled.tolist() == [[*v, *g] for v, g in zip(values, gaps, strict=True)]


def test_a_wrong_number_of_columns_is_refused() -> None:
    with pytest.raises(ValueError, match="expecting 2 features"):
        Encoder().fit(np.zeros((3, 2))).transform(np.zeros((3, 1)))


@pytest.mark.parametrize("task", TASKS)
def test_a_pool_of_one_model(task: Any) -> None:
    """As that model has within the whole pool, with a constant in place of the root."""
    whole = pool_space(task)
    for model, names in own_hyperparameters(whole).items():
        alone = pool_space(task, [model, model])
        assert alone.constants == {"model": model}
        assert sorted(alone.names) == sorted(names)
        assert all(alone[name] == whole[name] for name in names)
        values = alone.decode(alone.sample(20, 0))
        vectors = whole.encode([{"model": model, **v} for v in values])
        assert not len(whole.misfits(vectors))


def test_part_of_the_pool() -> None:
    space = pool_space("classification", ["GaussianNB", "BernoulliNB"])
    assert space["model"].choices == ("GaussianNB", "BernoulliNB")
    assert len(space) == 1 + 1 + 3
    with pytest.raises(SpaceError, match="no model 'SVM'"):
        pool("classification", ["SVM", "GaussianNB"])
    with pytest.raises(SpaceError, match="No model is named; choose among 'RandomForest"):
        pool("classification", [])
    with pytest.raises(SpaceError, match="no task 'ranking'"):
        pool_space("ranking")  # type: ignore[arg-type]
    with pytest.raises(SpaceError, match="names the model 'SVM'"):
        build({"model": "SVM"}, "classification")
