"""Tables without a space: which columns are what, and the space that the values suggest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, reject
from hypothesis import strategies as st

import hyperlens as hl
from hyperlens import HyperlensError, SourceError, State, read
from hyperlens.importers.spaces.inference import conclude


def write(path: Path, *rows: str) -> Path:
    path.write_text("\n".join(rows) + "\n")
    return path


def test_types_bounds_and_scales_are_inferred_and_said() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "lr": 10 ** rng.uniform(-5, -1, 60),
            "dropout": rng.uniform(0.001, 1, 60),  # spans decades, but evenly
            "layers": rng.integers(1, 9, 60),
            "model": rng.choice(["svm", "tree"], 60),
            "early": rng.choice([True, False], 60),
            "same": 3,
            "loss": rng.random(60),
        }
    )
    history = read(frame, objective="loss")
    space = history.space
    assert (space["lr"].kind, space["lr"].log) == ("float", True)
    assert space["lr"].lower == pytest.approx(frame["lr"].min(), rel=1e-7)
    assert space["lr"].upper == pytest.approx(frame["lr"].max(), rel=1e-7)
    assert (space["dropout"].kind, space["dropout"].log) == ("float", False)
    assert (space["layers"].kind, space["layers"].lower) == ("integer", 1.0)
    assert set(space["model"].choices) == {"svm", "tree"}
    assert space["early"].choices == (False, True)
    assert space.constants == {"same": 3}
    assert any("Taken as parameters" in note for note in history.notes)
    assert any("'lr' is" in s and "on a log scale" in s for s in history.warnings())
    assert any("inferred" in s for s in hl.overview(history).notes)
    assert hl.validate(frame, objective="loss").space_inferred


def test_a_csv_gives_what_its_frame_gives(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "x": [0.1, 0.30000000000000004, 0.5],
            "n": [1, 2, 3],
            "flag": [True, False, True],
            "word": ["a", "b", "a"],
            "loss": [3.0, 2.0, 1.0],
        }
    )
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_json(tmp_path / "a.jsonl", orient="records", lines=True, double_precision=15)
    frame.to_json(tmp_path / "a.json", orient="records", double_precision=15)
    frame.to_json(tmp_path / "columns.json", double_precision=15)
    whole = read(frame)
    for name in ("a.csv", "a.parquet", "a.jsonl", "a.json", "columns.json"):
        history = read(tmp_path / name)
        for one, other in zip(history.trials, whole.trials, strict=True):
            assert dict(one.values) == pytest.approx(dict(other.values)), name
        assert history.space.names == whole.space.names
        assert [t.costs for t in history.trials] == [(3.0,), (2.0,), (1.0,)]
    exact = read(tmp_path / "a.csv").trials[1].values["x"]
    assert exact == 0.30000000000000004


def test_objects_inside_json_lines(tmp_path: Path) -> None:
    rows = [{"config": {"lr": 0.1 * k, "net": {"depth": k}}, "loss": 1.0 / k} for k in (1, 2, 3)]
    path = write(tmp_path / "a.jsonl", *map(json.dumps, rows))
    history = read(path)
    assert history.space.names == ("lr", "net/depth")
    assert history.trials[1].values["net/depth"] == 2
    write(path, *map(json.dumps, rows), '{"config": {"lr"')
    cut = path.read_text().rstrip("\n")
    path.write_text(cut)
    assert any("is cut off" in note for note in read(path).notes)


def test_missing_cells_are_conditions(tmp_path: Path) -> None:
    rows = ["model,gamma,depth,loss", *["svm,0.1,,1", "tree,,3,2", "svm,0.2,,3", "tree,,4,4"] * 3]
    history = read(write(tmp_path / "a.csv", *rows))
    assert history.space.conditions == {"gamma": "model is svm", "depth": "model is tree"}
    assert any("Inferred from 12 trials" in s for s in history.space.inferred)


def test_mlflow(tmp_path: Path) -> None:
    path = write(
        tmp_path / "runs.csv",
        "run_id,experiment_id,status,artifact_uri,start_time,end_time,metrics.loss,params.lr,"
        "params.model,tags.mlflow.user",
        "a1,0,FINISHED,/x,2026-01-01 10:00:00+00:00,2026-01-01 10:01:00+00:00,0.5,0.1,svm,me",
        "a2,0,FAILED,/x,2026-01-01 10:01:00+00:00,,,0.2,tree,me",
        "a3,0,KILLED,/x,2026-01-01 10:02:00+00:00,,0.9,0.3,tree,me",
        "a4,0,FINISHED,/x,2026-01-01 10:03:00+00:00,2026-01-01 10:05:00+00:00,0.4,0.3,tree,me",
    )
    history = read(path)
    assert history.space.names == ("lr", "model")
    assert [str(t.state) for t in history.trials] == ["complete", "failed", "failed", "complete"]
    first = history.trials[0]
    assert first.started is not None
    assert first.ended == first.started + 60
    assert read(path, objective="loss").objective().name == "loss"


def test_several_metrics_ask_which(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.csv", "params.lr,metrics.a,metrics.b", "0.1,1,2", "0.2,3,4", "0.3,3,4"
    )
    with pytest.raises(SourceError, match="--objective COLUMN"):
        read(path)
    assert read(path, objective="b").trials[0].costs == (2.0,)
    both = read(path, objective=["b", "a"], maximize=["a"])
    assert [(o.name, o.maximize) for o in both.objectives] == [("b", False), ("a", True)]
    assert both.trials[0].costs == (2.0, 1.0)


WANDB = [
    '"Name","State","Notes","User","Tags","Created","Runtime","Sweep","lr","optimizer","epoch","loss"',
    '"sweep-1","finished","-","me","","2026-01-01T10:00:00.000Z","60","abc","0.1","adam","9","0.5"',
    '"sweep-2","crashed","-","me","","2026-01-01T10:01:00.000Z","9","abc","0.2","sgd","1",""',
    '"sweep-3","finished","-","me","","2026-01-01T10:02:00.000Z","60","abc","0.3","sgd","9","0.4"',
]


def test_wandb_asks_for_the_parameters(tmp_path: Path) -> None:
    path = write(tmp_path / "wandb.csv", *WANDB)
    with pytest.raises(SourceError, match=r"export of W&B.*--parameters A,B"):
        read(path, objective="loss")
    history = read(path, objective="loss", parameters=["lr", "optimizer"])
    assert history.space.names == ("lr", "optimizer")
    assert [str(t.state) for t in history.trials] == ["complete", "failed", "complete"]
    assert history.trials[0].started == 1767261600.0
    with pytest.raises(SourceError, match="no column 'nope'"):
        read(path, objective="loss", parameters=["nope"])


def test_wandb_by_its_api(tmp_path: Path) -> None:
    config = [{"lr": 0.1, "net": {"depth": 2}}, {"lr": 0.2, "net": {"depth": 3}}]
    summary = [{"loss": 0.5, "_step": 9}, {"loss": 0.25, "_step": 9}]
    frame = pd.DataFrame({"summary": summary, "config": config, "name": ["a", "b"]})
    frame.to_csv(tmp_path / "project.csv")  # cells hold what Python writes of a dictionary
    for source in (frame, tmp_path / "project.csv"):
        history = read(source, objective="loss")
        assert [dict(t.values) for t in history.trials] == [
            {"lr": 0.1, "net/depth": 2},
            {"lr": 0.2, "net/depth": 3},
        ]


def test_optuna_and_ray_frames() -> None:
    optuna = pd.DataFrame(
        {
            "number": [0, 1, 2],
            "value": [1.0, 2.0, 3.0],
            "datetime_start": pd.to_datetime(["2026-01-01"] * 3),
            "params_lr": [0.1, 0.2, 0.3],
            "user_attrs_x": [1, 2, 3],
            "state": ["COMPLETE", "PRUNED", "COMPLETE"],
        }
    )
    history = read(optuna)
    assert history.space.names == ("lr",)
    assert history.count(State.PRUNED) == 1
    assert any("'value' is taken as minimised" in note for note in history.notes)
    ray = pd.DataFrame({"loss": [1.0, 2.0], "pid": [1, 2], "config/lr": [0.1, 0.2]})
    assert read(ray).space.names == ("lr",)


@pytest.mark.parametrize(
    ("rows", "because"),
    [
        (["a,b", "1,2"], "--objective COLUMN"),
        (["loss", "1", "2"], "no column that could be a parameter"),
        (["x,loss", "1,1", "1,2"], "nothing to explain"),
        (["x,accuracy", "1,1", "2,2"], "--objective COLUMN"),
        (["x,loss"], "has no rows"),
    ],
)
def test_what_is_missing_is_asked_for(rows: list[str], because: str, tmp_path: Path) -> None:
    with pytest.raises(HyperlensError, match=because) as problem:
        read(write(tmp_path / "a.csv", *rows))
    assert "\n" not in str(problem.value)
    assert str(problem.value).endswith(".")


def test_a_name_that_sounds_larger_is_asked_about(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "x,val_accuracy", "1,0.5", "2,0.6", "3,0.7")
    with pytest.raises(SourceError, match="add --maximize or --minimize"):
        read(path, objective="val_accuracy")
    assert read(path, objective="val_accuracy", maximize=False).best().number == 0
    assert read(path, objective="val_accuracy", maximize=True).best().number == 2


def test_texts_that_name_trials_are_no_parameter() -> None:
    frame = pd.DataFrame(
        {"x": range(300), "label": [f"t{k % 250}" for k in range(300)], "loss": range(300)}
    )
    history = read(frame)
    assert history.space.names == ("x",)
    assert any("250 different texts" in note for note in history.notes)


def test_huge_and_strange_numbers_are_not_set() -> None:
    rows: list[dict[str, Any]] = [{"x": v} for v in (1.0, 2.0, 1e300, float("inf"), float("nan"))]
    space, notes = conclude(rows, [True] * 5)
    assert (space["x"].lower, space["x"].upper) == (1.0, 2.0)
    assert "3 values" in notes[0]
    tiny: list[dict[str, Any]] = [{"x": 10.0**-k} for k in range(1, 30)]
    assert conclude(tiny, [True] * 29)[0]["x"].kind == "ordinal"


@pytest.mark.parametrize(
    "values", [["\0", None], ["", "\0"], ["a\0", "a", 1, 0.5], ["\0", True], [r"a\0", "a\0\0", 1]]
)
def test_texts_that_end_in_nul_stay_apart_and_are_kept(values: list[Any]) -> None:
    rows = [{"a": value, **({} if k else {"child": k})} for k, value in enumerate(values)]
    space, _ = conclude([*rows, {**rows[0], "child": 1}], [True] * (len(rows) + 1))
    assert len(set(space.encode(rows)[:, space.column("a")])) == len(values)
    again = hl.Space.from_json(space.to_json())
    assert again["a"] == space["a"]
    assert again.conditions == space.conditions
    assert list(again.conditions) == ["child"]


def test_what_only_failed_trials_set_is_left_out() -> None:
    rows: list[dict[str, Any]] = [{"x": 1.0}, {"x": 2.0}, {"x": 3.0, "y": 1.0}, {"x": 1, "y": 2}]
    space, notes = conclude(rows, [True, True, False, False])
    assert space.names == ("x",)
    assert "'y' was set in trials that did not finish only" in notes[0]
    assert all("y" not in row for row in rows)


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=5),
)
tables = st.lists(
    st.dictionaries(st.sampled_from(["a", "b", "c", "d set"]), scalars, max_size=4),
    min_size=1,
    max_size=12,
)


ALL = [True] * 12


@given(tables, st.lists(st.booleans(), min_size=12, max_size=12))
@example([{"a": "\0"}, {"a": None}], ALL)
@example([{"a": "a\0\0", "b": 1}, {"a": True}, {"a": "b"}], ALL)
@example([{"a": ""}, {"a": "\0", "b": 1}, {"a": "\0\0"}], ALL)
def test_any_values_give_a_space_that_holds_them(
    rows: list[dict[str, Any]], finished: list[bool]
) -> None:
    try:
        space, _ = conclude(rows, finished[: len(rows)])
    except HyperlensError:
        reject()  # counted: Hypothesis fails where too much is refused
    vectors = space.encode([row for row, done in zip(rows, finished, strict=False) if done])
    assert len(space.misfits(vectors)) == 0
    assert ((vectors >= 0) & (vectors <= 1) | np.isnan(vectors)).all()
    assert json.dumps(space.inferred)
