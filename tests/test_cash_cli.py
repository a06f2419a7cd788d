"""`hyperlens cash` from a file to a model, and everything that may go wrong on the way."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest import mock

import joblib
import numpy as np
import optuna
import pandas as pd
import pytest

import hyperlens as hl
from hyperlens import cli
from hyperlens.cash.measuring.evaluation import Evaluation
from hyperlens.cash.results import output_folder

optuna.logging.set_verbosity(optuna.logging.ERROR)

FAST = ("--model", "GaussianNB", "--model", "BernoulliNB", "--folds", "2")
RANDOM = ("--optimizer", "random")
SMALL = (*FAST, *RANDOM, "--evaluations", "3")


def run(*words: object, command: str = "cash") -> tuple[int, str, str]:
    """`hyperlens cash WORDS` in this process: exit code, standard output and error."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["hyperlens", command, *map(str, words)]),
        mock.patch.dict(os.environ, {"COLUMNS": "200"}),
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.raises(SystemExit) as stop,
    ):
        cli.main()
    return int(stop.value.code or 0), out.getvalue(), err.getvalue()


def table(n: int = 80) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "id": np.arange(n),
            "a": rng.standard_normal(n),
            "when": (pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(n), "D")).strftime(
                "%Y-%m-%d"
            ),
            "city": rng.choice(["Rom", "Bern"], n),
            "empty": np.nan,
            "constant": 3,
        }
    )
    frame["label"] = np.where(frame["a"] + (frame["city"] == "Rom") > 0.4, "yes", "no")
    frame.loc[::8, "a"] = np.nan
    return frame


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "data.csv"
    table().to_csv(path, index=False)
    return path


def test_from_a_table_to_a_model(data: Path, tmp_path: Path) -> None:
    code, out, err = run(data, "--target", "label", *FAST, "--evaluations", "9", "--out", "made")
    assert code == 0, err
    assert "classes are predicted (classification)" in err
    assert "Column 'id' numbers the rows and is left out." in err
    assert "place" in out
    assert "came first" in out
    model = joblib.load(tmp_path / "made" / "model.joblib")
    new = table().drop(columns="label").assign(city="Atlantis", extra=1).head(5)
    assert model.predict_proba(new).shape == (5, 2)
    assert set(model.predict(pd.read_csv(data))) <= {"yes", "no"}

    card = json.loads((tmp_path / "made" / "card.json").read_text())
    search = hl.read(f"sqlite:///{tmp_path / 'made' / 'search.db'}")
    best = search.best()
    assert card["record"] == "ModelCard"
    assert card["mean"] == pytest.approx(best.costs[0])
    assert card["mean"] == pytest.approx(np.mean(card["folds"]))
    assert card["configuration"] == dict(best.values)
    assert card["classes"] == table()["label"].value_counts().to_dict()
    assert card["guess"] > card["mean"]
    page = (tmp_path / "made" / "card.md").read_text()
    for part in ("## How good it is", "joblib.load", "## Limits", "## Versions", "hyperlens"):
        assert part in page
    shown = 'rows = pd.read_csv("new.csv")  # the columns below'
    assert shown in page
    assert page.index(shown) < page.index("| column | read as | why |")


def test_the_same_command_goes_on_and_another_table_does_not(data: Path, tmp_path: Path) -> None:
    words = (data, "--target", "label", *SMALL)
    assert run(*words)[0] == 0
    with mock.patch.object(Evaluation, "__call__", side_effect=AssertionError("measured again")):
        code, out, _ = run(*words)
    assert code == 0
    assert "came first" in out
    table(90).to_csv(data, index=False)
    assert run(*words)[0] == 0
    names = optuna.get_all_study_names(f"sqlite:///{tmp_path / 'model' / 'search.db'}")
    assert len(names) == 2
    assert all(name.startswith("cash label of data.csv ") for name in names)


def test_numbers_and_the_report(data: Path, tmp_path: Path) -> None:
    table().assign(label=np.linspace(0, 1, 80)).to_csv(data, index=False)
    pool = ("--model", "Ridge", "--model", "KNeighborsRegressor", "--folds", "1")
    words = (data, "--target", "label", *pool, "--optimizer", "random", "--evaluations", "12")
    code, out, err = run(*words, "--html", "report.html", "--metric", "r2")
    assert code == 0, err
    assert "a number is predicted (regression)" in err
    assert "best r2" in out
    page = (tmp_path / "report.html").read_text()
    assert "Which model, and why" in page
    assert "What mattered within" in page
    assert "There are too few trials of" in page
    assert "nan\N{NO-BREAK SPACE}%" not in page
    assert "Ridge" in page
    assert "r2" in page


def test_one_model_alone(data: Path, tmp_path: Path) -> None:
    """Search, story, card, report and resuming, with a constant in place of the choice."""
    alone = ("--model", "BernoulliNB", "--folds", "2", "--optimizer", "halving")
    words = (data, "--target", "label", *alone, "--evaluations", "9")
    with interrupting(after=12):  # before anything was measured on all rows
        code, _, err = run(*words)
    assert code == 130, err
    code, out, err = run(*words, "--html", "report.html")
    assert code == 0, err
    assert "full evaluations went to BernoulliNB, the only model." in out
    card = json.loads((tmp_path / "model" / "card.json").read_text())
    assert card["model"] == card["configuration"]["model"] == "BernoulliNB"
    assert card["search"]["configurations"] == 27
    search = hl.read(f"sqlite:///{tmp_path / 'model' / 'search.db'}")
    assert hl.model_search(search).models == ("BernoulliNB",)
    assert "What mattered within BernoulliNB" in (tmp_path / "report.html").read_text()
    model = joblib.load(tmp_path / "model" / "model.joblib")
    assert set(model.predict(pd.read_csv(data))) == {"yes", "no"}


@pytest.mark.parametrize("optimizer", ["hyperband", "halving", "asha", "random", "smbo"])
@pytest.mark.parametrize("sampling", ["weighted", "volume", "uniform", {"GaussianNB": 3.0}])
def test_one_model_by_every_method(optimizer: str, sampling: Any) -> None:
    X, y = table()[["a"]].fillna(0.0), table()["label"]
    options: dict[str, Any] = {"evaluations": 9, "folds": 1, "refits": 1, "sampling": sampling}
    found = hl.CASHClassifier(models=["GaussianNB"], optimizer=optimizer, **options).fit(X, y)
    assert found.best_configuration_["model"] == "GaussianNB"
    assert found.search_.weights.tolist() == [1.0]
    assert len(found.leaderboard_) >= 3
    assert found.score(X, y) > 0.7


def test_a_table_with_semicolons(data: Path, tmp_path: Path) -> None:
    """From decimal commas to a model that reads them, as its card says how to."""
    table().to_csv(data, index=False, sep=";", decimal=",")
    code, _, err = run(data, "--target", "label", *SMALL)
    assert code == 0, err
    assert "decimal commas are read as such: 'a'." in err
    page = (tmp_path / "model" / "card.md").read_text()
    reading = page.split("rows = ")[1].split("  #")[0]
    assert reading == 'pd.read_csv("new.csv", sep=";")'
    model = joblib.load(tmp_path / "model" / "model.joblib")
    plain = table().drop(columns="label")
    found = model.predict_proba(pd.read_csv(data, sep=";"))
    assert found == pytest.approx(model.predict_proba(plain))


def interrupting(after: int) -> Any:
    """Evaluations of which the one after so many is stopped as by Ctrl-C."""
    real = Evaluation.__call__
    done: list[Any] = []

    def measure(self: Evaluation, configuration: Any, budget: float = 1.0) -> float:
        if len(done) == after:
            raise KeyboardInterrupt
        done.append(configuration)
        return real(self, configuration, budget)

    return mock.patch.object(Evaluation, "__call__", measure)


def test_ctrl_c_writes_the_best_so_far_and_loses_nothing(data: Path, tmp_path: Path) -> None:
    words = (data, "--target", "label", *FAST, *RANDOM, "--evaluations", "4", "--out", "made")
    with interrupting(after=2):
        code, _, err = run(*words)
    assert code == 130
    assert "Stopping: the best so far is trained and written" in err
    assert "the same command goes on" in err
    assert (tmp_path / "made" / "model.joblib").exists()
    early = json.loads((tmp_path / "made" / "card.json").read_text())
    assert early["search"]["configurations"] == 2
    assert run(*words)[0] == 0
    whole = json.loads((tmp_path / "made" / "card.json").read_text())
    assert run(*words[:-1], "fresh")[0] == 0
    fresh = json.loads((tmp_path / "fresh" / "card.json").read_text())
    for name in ("configuration", "mean", "leaders", "story"):
        assert whole[name] == fresh[name]


def test_a_report_before_anything_was_measured_on_all_rows(data: Path, tmp_path: Path) -> None:
    words = (data, "--target", "label", *FAST, "--optimizer", "halving", "--evaluations", "9")
    with interrupting(after=5):
        code, out, err = run(*words, "--html", "report.html")
    assert code == 130, err
    assert out.count("No configuration came as far as all rows") == 1
    assert "Which model, and why" in (tmp_path / "report.html").read_text()


def test_ctrl_c_before_anything_is_measured(data: Path) -> None:
    with interrupting(after=0):
        code, _, err = run(data, "--target", "label", *FAST, "--evaluations", "9")
    assert code == 130
    assert "Stopped before anything was measured; the same command goes on" in err


def test_a_signal_is_like_ctrl_c(data: Path, tmp_path: Path) -> None:
    """In a process of its own, which tells by its first improvement that it is at work."""
    words = [sys.executable, "-c", "from hyperlens.cli import main; main()", "cash", str(data)]
    words += ["--target", "label", *FAST, "--evaluations", "999", "--out", "made"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("best"):
            process.send_signal(signal.SIGTERM)
            break
    rest = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 130, rest
    assert (tmp_path / "made" / "model.joblib").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--target", "lable"), "There is no column 'lable'"),
        (("--target", "constant"), "has one class '3'"),
        (("--target", "empty"), "is empty in all rows"),
        (("--target", "label", "--task", "regression"), "holds texts"),
        (("--target", "label", "--drop", "label"), "leave it out of drop"),
        (("--target", "label", "--drop", "a", "--keep", "a"), "both kept and dropped"),
        (("--target", "label", "--time", "soon"), "'soon' is no duration for --time"),
        (("--target", "label", "--time", "0s"), "'0s' is no duration"),
        (("--target", "label", "--metric", "beauty"), "There is no metric 'beauty'"),
        (("--target", "label", "--model", "SVM"), "There is no model 'SVM'"),
        (("--target", "label", "--evaluations", "4"), "allow 9"),
        (("--target", "label", "--out", "data.csv"), "Nothing can be written"),
        (("--target", "label", "--out", "data.csv/model"), "Nothing can be written"),
        (("--target", "label", "--html", "nowhere/report.html"), "cannot be written"),
        (("--target", "label", "--html", "data.csv"), "is the run itself"),
        (("--target", "label", "--storage", "sqlite:///nowhere/a.db"), "no folder 'nowhere'"),
        (("--target", "label", "--optimizer", "grid"), "grid"),
    ],
)
def test_bad_input_is_one_sentence(data: Path, words: tuple[str, ...], said: str) -> None:
    """Before anything is measured."""
    with mock.patch.object(Evaluation, "__call__", side_effect=AssertionError("too late")):
        code, _, err = run(data, *words)
    assert code == 2, err
    complaint = err.splitlines()[-1]
    assert complaint.startswith("hyperlens: ")
    assert said in complaint


def test_rare_classes_and_full_disks(data: Path, tmp_path: Path) -> None:
    table().assign(label=["a"] * 79 + ["b"]).to_csv(data, index=False)
    code, _, err = run(data, "--target", "label", *SMALL)
    assert code == 2
    assert "The class 'b' has one row" in err
    table().to_csv(data, index=False)
    full = OSError(28, "No space left on device")
    with mock.patch.object(output_folder, "_put", side_effect=full):
        code, _, err = run(data, "--target", "label", *SMALL)
    assert code == 2
    assert "No space left on device" in err
    assert "goes on from the storage" in err


def test_a_hundred_thousand_rows(data: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    big = pd.DataFrame({"a": rng.standard_normal(100_000), "b": rng.integers(0, 9, 100_000)})
    big["label"] = (big["a"] > 0).astype(int)
    big.to_parquet(tmp_path / "big.parquet")
    words = (
        "--model",
        "GaussianNB",
        "--model",
        "BernoulliNB",
        "--evaluations",
        "2",
        "--time",
        "5m",
    )
    code, _, err = run("big.parquet", "--target", "label", *RANDOM, *words)
    assert code == 0, err
    card = json.loads((tmp_path / "model" / "card.json").read_text())
    assert card["rows"] == 100_000
    assert card["search"]["folds"] == 1


def test_names_from_the_table_steer_nothing(data: Path, tmp_path: Path) -> None:
    evil = "\x1b[31m| `x` <script>"
    table().rename(columns={"a": evil, "empty": f"{evil}2"}).to_csv(data, index=False)
    code, out, err = run(data, "--target", "label", *SMALL)
    assert code == 0, err
    page = (tmp_path / "model" / "card.md").read_text()
    assert "\x1b" not in out + err + page
    assert "<script>" not in page.replace("\\<", "")


def test_a_model_beside_its_schema_and_script(data: Path, tmp_path: Path) -> None:
    assert run(data, "--target", "label", *SMALL)[0] == 0
    schema = json.loads((tmp_path / "model" / "schema.json").read_text())
    assert {"name": "city", "kind": "category"} in schema["columns"]
    assert "id" not in [c["name"] for c in schema["columns"]]
    assert sorted(schema["target"]["classes"]) == ["no", "yes"]
    script = (tmp_path / "model" / "predict.py").read_text()
    compile(script, "predict.py", "exec")
    assert "only if you trust" in script
    assert "pd.read_csv(sys.argv[1])" in script
    (tmp_path / "model" / "model.skops").unlink(missing_ok=True)
    code, _, err = run("model", data, command="predict")
    assert code == 2
    assert "predict.py" in err


def test_a_safe_model_predicts_and_another_is_refused(data: Path, tmp_path: Path) -> None:
    skops = pytest.importorskip("skops.io")
    assert run(data, "--target", "label", *SMALL)[0] == 0
    code, out, err = run("model", data, command="predict")
    assert code == 0, err
    said = pd.read_csv(io.StringIO(out))
    model = joblib.load(tmp_path / "model" / "model.joblib")
    assert list(said["prediction"]) == list(model.predict(pd.read_csv(data)))
    chances = said[["chance of no", "chance of yes"]].to_numpy()
    assert chances == pytest.approx(model.predict_proba(pd.read_csv(data)))
    skops.dump(Path("/"), tmp_path / "model" / "model.skops")
    code, _, err = run("model", data, command="predict")
    assert code == 2
    assert "no model of the pool has" in err
