"""Runs of SMAC, HpBandSter, Ray Tune, Keras Tuner, FLAML, Ax and scikit-learn, from their files."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tools
from scipy.stats import loguniform, randint
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.tree import DecisionTreeClassifier
from tools import CONFIGS, COSTS, put, smac_2, smac_list, smac_object

from hyperlens import HyperlensError, Parameter, SourceError, Space, State, read


def values(history: Any) -> list[dict[str, Any]]:
    return [dict(trial.values) for trial in history.trials]


@pytest.mark.parametrize("kind", ["smac_1", "smac_list", "smac_object"])
def test_smac_of_all_versions_is_the_same_run(kind: str, tmp_path: Path) -> None:
    history = read(tools.WRITERS[kind](tmp_path / "run"))
    assert values(history) == list(CONFIGS.values())
    assert [t.costs for t in history.trials] == [(c,) for c in COSTS]
    assert history.space.names == ("lr", "model", "degree")
    assert history.space["lr"].log
    assert history.space.conditions == {"degree": "model is svm"}
    assert history.space.inferred == ()
    assert not history.objective().maximize
    assert all(t.budget is None and t.started and t.ended for t in history.trials)
    assert read(tmp_path / "run" / "runhistory.json").trials == history.trials


def test_smac_1_has_instances_seeds_and_words_for_states(tmp_path: Path) -> None:
    history = read(tools.smac_1(tmp_path, status="TIMEOUT"))
    assert {(t.instance, t.seed, t.state, t.reason) for t in history.trials} == {
        ("i1", 7, State.FAILED, "timeout")
    }
    pruned = read(tools.smac_1(tmp_path / "capped", status="CAPPED"))
    assert pruned.count(State.PRUNED) == 3


def test_smac_budgets_seeds_objectives_and_failures(tmp_path: Path) -> None:
    rows = [
        smac_list(1, [0.5, 3.0], 1.0, seed=1),
        smac_list(1, [0.4, 3.0], 9.0, seed=2),
        smac_list(2, [math.inf, math.inf], 1.0, status=2),
        smac_list(3, [2147483647.0, 2147483647.0], 1.0, status=0),
    ]
    history = read(smac_2(tmp_path, rows, ["error", "size"]))
    assert [o.name for o in history.objectives] == ["error", "size"]
    assert [t.budget for t in history.trials] == [1.0, 9.0, 1.0, 1.0]
    assert [t.seed for t in history.trials] == [1, 2, 0, 0]
    assert [str(t.state) for t in history.trials] == ["complete", "complete", "failed", "running"]
    assert math.isnan(history.trials[3].costs[0])
    assert len(history.data().rows) == 1  # at the largest budget
    assert read(tmp_path, objective="size").objectives[0].name == "size"


def test_smac_without_a_space_infers_it_and_says_so(tmp_path: Path) -> None:
    history = read(smac_2(tmp_path, [smac_object(k, k / 10) for k in (1, 2, 3)], space=False))
    assert set(history.space.names) == {"model", "lr", "degree"}
    assert history.space.conditions == {"degree": "model is svm"}
    assert any(s.startswith("The space was inferred from 3 trials") for s in history.warnings())


def test_a_given_space_replaces_the_recorded_one(tmp_path: Path) -> None:
    folder = tools.WRITERS["smac_object"](tmp_path)
    space = Space.of([Parameter("lr", "float", 0.001, 0.9)])
    history = read(folder, space=space)
    assert history.space is space
    assert any("lacks 'degree', 'model'" in note for note in history.notes)


def test_a_failure_says_why(tmp_path: Path) -> None:
    row = smac_object(1, 5.0, status=2, info={"error": "ValueError('no')"})
    history = read(smac_2(tmp_path, [row, smac_object(2, 1.0), smac_object(3, 2.0)]))
    assert history.trials[0].reason == "crashed: ValueError('no')"


def test_hpbandster(tmp_path: Path) -> None:
    history = read(tools.hpbandster(tmp_path))
    assert [t.costs[0] for t in history.trials] == pytest.approx(
        [0.5, 0.25, math.nan, 0.2], nan_ok=True
    )
    assert [t.budget for t in history.trials] == [1.0, 1.0, 1.0, 3.0]
    assert history.trials[2].state is State.FAILED
    assert history.trials[2].reason == "Traceback: no memory"
    assert [t.proposer for t in history.trials] == ["random", "random", "model", "random"]
    assert history.space.conditions == {"degree": "model is svm"}  # the failed one does not count
    put(tmp_path / "configspace.json", tools.SPACE)
    assert read(tmp_path).space.inferred == ()


@pytest.mark.parametrize("csv", [False, True])
def test_ray_tune(csv: bool, tmp_path: Path) -> None:
    folder = tools.ray(tmp_path / "experiment", csv)
    with pytest.raises(SourceError, match="report 'loss', 'acc'; choose what was optimised"):
        read(folder)
    history = read(folder, objective="loss")
    assert values(history)[0] == {"lr": 0.1, "opt/name": "adam", "depth": 0}
    assert [t.budget for t in history.trials] == [3.0, 2.0, 1.0]
    assert [t.costs[0] for t in history.trials] == pytest.approx([1 / 3, 1 / 3, 1 / 3])
    assert [str(t.state) for t in history.trials] == ["complete", "complete", "failed"]
    assert history.trials[2].reason == "ValueError: boom"
    assert history.space.constants == {"opt/name": "adam"}
    with pytest.raises(SourceError, match="add --maximize or --minimize"):
        read(folder, objective="acc")
    assert read(folder, objective="acc", maximize=True).objective().maximize
    both = read(folder, objective=["acc", "loss"], maximize=["acc"])
    assert [(o.name, o.maximize) for o in both.objectives] == [("acc", True), ("loss", False)]


def test_ray_tune_made_into_two_files(tmp_path: Path) -> None:
    put(tmp_path / "configs.json", {"b": {"x": 2.0}, "a": {"x": 1.0}, "c": {"x": 3.0}})
    put(tmp_path / "results.json", {"a": ["loss", 0.5], "b": ["loss", 0.25]})
    history = read(tmp_path)
    assert values(history) == [{"x": 1.0}, {"x": 2.0}, {"x": 3.0}]
    assert history.trials[2].state is State.RUNNING


def test_two_files_of_ray_tune_beside_its_trials_have_their_curves(tmp_path: Path) -> None:
    whole = read(tools.ray(tmp_path), objective="loss", maximize=False)
    names = [f"27c5f_0000{k}" for k in range(3)]
    put(tmp_path / "configs.json", {n: {"lr": k + 1.0} for k, n in enumerate(names)})
    put(
        tmp_path / "results.json",
        {n: ["loss", whole.trials[k].costs[0]] for k, n in enumerate(names)},
    )
    history = read(tmp_path, maximize=False)
    assert [t.curve for t in history.trials] == [t.curve for t in whole.trials]
    assert [(t.state, t.budget) for t in history.trials] == [
        (t.state, t.budget) for t in whole.trials
    ]


def test_keras_tuner(tmp_path: Path) -> None:
    history = read(tools.keras(tmp_path / "project"))
    assert history.objectives[0].name == "val_accuracy"
    assert history.objectives[0].maximize
    assert history.space["units"].choices == (32, 64, 96)
    assert history.space["lr"].log
    assert history.space["dropout"].choices == (0.0, 0.25, 0.5)
    assert history.space.conditions == {"dropout": "model is a"}
    assert history.space.constants == {"fixed": 3}
    assert history.space.inferred == ()
    assert [t.budget for t in history.trials] == [3.0, 3.0, 3.0]
    assert history.trials[2].reason == "ValueError: too big"
    assert history.best().number == 1


def test_flaml(tmp_path: Path) -> None:
    history = read(tools.flaml(tmp_path / "automl.log"))
    assert history.objective().name == "validation_loss"
    assert set(history.space.names) == {"learner", "rf/n_estimators", "lrl1/C"}
    assert history.space.constants == {"rf/criterion": "gini"}
    assert history.space.conditions["lrl1/C"] == "learner is lrl1"
    assert {t.budget for t in history.trials} == {150.0}
    better = read(tools.flaml(tmp_path / "better.log", (0.5, 0.4, 0.3)))
    assert any("log_type='all'" in note for note in better.notes)


@pytest.mark.parametrize("wrapped", [True, False])
@pytest.mark.parametrize("objective", [tools.AX_METRIC, tools.AX_EXPRESSION])
def test_ax(objective: Any, wrapped: bool, tmp_path: Path) -> None:
    history = read(tools.ax(tmp_path / "experiment.json", objective, wrapped))
    assert (history.objective().name, history.objective().maximize) == ("loss", False)
    assert history.space["lr"].log
    assert history.space["m"].kind == "categorical"
    assert history.space.conditions == {"n": "m is a"}
    assert history.space.constants == {"f": 3}
    assert [t.costs[0] for t in history.trials] == pytest.approx([0.5, 1.5, math.nan], nan_ok=True)
    assert [str(t.state) for t in history.trials] == ["complete", "complete", "failed"]
    assert {t.proposer for t in history.trials} == {"Sobol"}
    started, ended = history.trials[0].started, history.trials[0].ended
    assert started is not None
    assert ended == started + 1


def test_ax_without_an_objective_asks(tmp_path: Path) -> None:
    history = read(tools.ax(tmp_path / "a.json", None))
    assert history.objective().name == "loss"
    with pytest.raises(SourceError, match="does not say which"):
        read(tmp_path / "a.json", objective="nope")


@pytest.fixture(scope="module")
def search() -> RandomizedSearchCV:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 2, 40)
    space = {
        "C": loguniform(1e-3, 10.0),
        "max_iter": randint(50, 90),
        "l1_ratio": [0.0, 0.5, 1.0],
        "solver": ["saga"],
        "tol": [1.0],
    }
    found = RandomizedSearchCV(LogisticRegression(), space, n_iter=8, cv=2, random_state=0)
    return found.fit(X, y)


def test_a_fitted_search_knows_its_space(search: RandomizedSearchCV) -> None:
    history = read(search)
    assert history.objective().maximize
    c = history.space["C"]
    assert (c.lower, c.upper, c.log) == (1e-3, 10.0, True)
    assert (history.space["max_iter"].lower, history.space["max_iter"].upper) == (50, 89)
    assert history.space["l1_ratio"].choices == (0.0, 0.5, 1.0)
    assert history.space.constants == {"solver": "saga", "tol": 1.0}
    assert history.best().costs[0] == search.best_score_
    assert dict(history.best().values) == search.best_params_


def test_its_results_as_a_dictionary_json_and_csv(
    search: RandomizedSearchCV, tmp_path: Path
) -> None:
    import pandas as pd

    results = search.cv_results_
    plain = {k: v.tolist() if isinstance(v, np.ndarray) else list(v) for k, v in results.items()}
    put(tmp_path / "search.json", json.dumps(plain, default=str))
    pd.DataFrame(results).to_csv(tmp_path / "search.csv")
    for source in (results, tmp_path / "search.json", tmp_path / "search.csv"):
        history = read(source)
        assert history.objective().maximize
        assert [t.costs[0] for t in history.trials] == results["mean_test_score"].tolist()
        assert [t.values["C"] for t in history.trials] == [p["C"] for p in results["params"]]
        assert history.space["C"].log
        assert any("inferred" in s for s in history.space.inferred)


def test_a_grid_of_grids_has_conditions() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 2, 40)
    grid = [
        {"splitter": ["best"], "max_depth": [1, 2, None]},
        {"splitter": ["random"], "min_samples_leaf": [1, 5]},
    ]
    search = GridSearchCV(
        DecisionTreeClassifier(), grid, cv=2, scoring=["accuracy", "f1"], refit="f1"
    )
    history = read(search.fit(X, y))
    assert [o.name for o in history.objectives] == ["f1", "accuracy"]
    assert history.space.conditions["max_depth"] == "splitter is best"
    assert history.space["max_depth"].choices == (1, 2, None)
    assert read(search, objective="accuracy").objectives[0].name == "accuracy"
    with pytest.raises(SourceError, match="has not been fitted"):
        read(GridSearchCV(DecisionTreeClassifier(), grid))


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    secret = put(tmp_path / "secret" / "configspace.json", tools.SPACE)
    folder = tools.WRITERS["smac_object"](tmp_path / "run")
    (folder / "configspace.json").unlink()
    (folder / "configspace.json").symlink_to(secret)
    assert read(folder).space.inferred != ()
    (folder / "runhistory.json").rename(tmp_path / "secret" / "runhistory.json")
    (folder / "runhistory.json").symlink_to(tmp_path / "secret" / "runhistory.json")
    with pytest.raises(HyperlensError, match="folder of no kind"):
        read(folder)


def test_a_study_by_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no studies by name"):
        read(tools.WRITERS["smac_object"](tmp_path), study="x")


def test_a_direction_against_the_tools_own_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="says that 'cost' is minimised"):
        read(tools.WRITERS["smac_object"](tmp_path), maximize=True)
