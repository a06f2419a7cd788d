"""`validate`, `convert` and the options that choose, in Python and on the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import tools

import hyperlens as hl
from hyperlens import History, Objective, Parameter, Space, State, Trial
from hyperlens.cli import main


class Said(NamedTuple):
    code: Any
    out: str
    err: str


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Call the command line inside this process."""

    def call(*words: object) -> Said:
        monkeypatch.setattr(sys, "argv", ["hyperlens", *map(str, words)])
        monkeypatch.setenv("COLUMNS", "200")
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return Said(ended.value.code or 0, said.out, said.err)

    return call


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two objectives, three budgets and all states, converted to a table."""
    space = Space.of(
        [
            Parameter("model", "categorical", choices=("svm", "tree", "net")),
            Parameter("lr", "float", 1e-4, 1.0, log=True),
            Parameter("depth", "integer", 1, 9),
        ],
        {"depth": ((("model", "in", ("tree", "net")),),)},
    )
    states = [State.COMPLETE] * 6 + [State.PRUNED, State.FAILED]
    X = space.sample(80, 0)
    trials = tuple(
        Trial(
            k,
            values,
            (float(x[1] + (0.1 if np.isnan(x[2]) else x[2] ** 2)), float(100 - k)),
            states[k % 8],
            budget=float(3 ** (k % 3)),
            started=1.6e9 + k,
            ended=1.6e9 + k + 1,
            reason="no memory" if states[k % 8] is State.FAILED else None,
        )
        for k, (x, values) in enumerate(zip(X, space.decode(X), strict=True))
    )
    history = History(space, (Objective("error"), Objective("gain", maximize=True)), trials, "made")
    return hl.convert(history, "table", tmp_path_factory.mktemp("runs") / "run")


def test_validation_says_what_was_read(folder: Path) -> None:
    record = hl.validate(folder)
    assert record.states == {"complete": 60, "pruned": 10, "failed": 10}
    assert record.budgets == {"1": 27, "3": 27, "9": 26}
    assert [(o.name, o.maximize) for o in record.objectives] == [("error", False), ("gain", True)]
    assert record.objectives[0].trials == 60
    assert (record.started, record.ended) == (1.6e9, 1.6e9 + 80)
    depth = record.parameters[[p.name for p in record.parameters].index("depth")]
    assert (depth.kind, depth.lower, depth.upper) == ("integer", 1, 9)
    assert depth.active_when == "model in tree, net"
    assert depth.trials == sum("depth" in t.values for t in hl.read(folder).trials)
    assert not record.space_inferred
    assert any("10 of 80 trials failed" in s for s in record.left_out)
    assert any("largest budget, 9" in s for s in record.left_out)
    assert any("No configuration was evaluated twice" in s for s in record.limits)
    assert list(record.frame["name"]) == [p.name for p in record.parameters]
    figure = record.plot()
    assert list(figure.data[0].x) == [p.trials for p in record.parameters]


def test_validation_says_what_cannot_be_said(tmp_path: Path) -> None:
    few = hl.validate(tools.smac_2(tmp_path / "a", [tools.smac_object(k, 1.0) for k in (1, 2, 3)]))
    assert any("3 trials are few for 3 parameters" in s for s in few.limits)
    assert any("same cost" in s for s in few.limits)
    none = hl.validate(tools.smac_2(tmp_path / "b", [tools.smac_object(1, 1.0, status=2)]))
    assert none.limits == ("Nothing can be explained: no trial is complete with a finite cost.",)
    assert none.analysed == 0
    inferred = hl.validate(tools.hpbandster(tmp_path / "c"))
    assert inferred.space_inferred
    assert any("beyond the values that were tried" in s for s in inferred.limits)


def test_the_same_numbers_everywhere(folder: Path, run: Any) -> None:
    record = hl.validate(folder)
    told = run("validate", folder, "--format", "json")
    assert json.loads(told.out) == json.loads(record.to_json())
    table = run("validate", folder)
    assert table.code == 0
    for text in (
        "80 (60 complete, 10 pruned, 10 failed)",
        "model in tree, net",
        "gain (maximised)",
    ):
        assert text in table.out
    rows = run("validate", folder, "--format", "csv").out.splitlines()
    assert len(rows) == 1 + len(record.parameters)


@pytest.mark.parametrize(
    ("options", "trials"),
    [
        (["--budget", "3"], 20),
        (["--states", "complete,pruned", "--budget", "1"], 24),
        (["--where", "lr < 0.1 and budget == 9"], None),
        (["--last", "20", "--budget", "9"], None),
        (["--weights", "error=1,gain=0.5"], None),
        (["--objective", "hypervolume"], None),
        (["--objective", "gain"], None),
        (["--budget", "largest"], None),
    ],
)
def test_every_explaining_command_can_choose(
    options: list[str], trials: int | None, folder: Path, run: Any
) -> None:
    said = run("importance", folder, "--level", "0", "--order", "1", *options)
    assert said.code == 0, said.err
    if trials is not None:
        assert f"from {trials} trials" in said.out
    for words in (["bias", folder], ["effect", folder, "lr", "--surrogate", "forest"]):
        assert run(*words, *options).code == 0


def test_the_options_do_what_the_method_does(folder: Path, run: Any) -> None:
    history = hl.read(folder).select(where="model != 'svm'", states=["complete", "pruned"])
    record = hl.importance(history, 1, level=None)
    words = ("--where", "model != 'svm'", "--states", "complete,pruned", "--format", "json")
    said = run("importance", folder, "--among", "all", "--level", "0", "--order", "1", *words)
    assert json.loads(said.out) == json.loads(record.to_json())


@pytest.mark.parametrize(
    ("options", "because"),
    [
        (["--budget", "x"], "give a number or 'largest'"),
        (["--budget", "5"], "choose one of '1', '3', '9'"),
        (["--states", "done"], "no state 'done'"),
        (["--where", "nope == 1"], "no 'nope'"),
        (["--where", "lr"], "cannot be read"),
        (["--last", "0"], "--last"),
        (["--weights", "error"], "is not understood"),
        (["--weights", "error=x"], "is not understood"),
        (["--weights", "error=1", "--objective", "gain"], "leave out"),
        (["--weights", "error=-1"], "leave out the direction"),
        (["--maximize"], "says that 'error' is minimised"),
        (["--parameters", "lr"], "leave out --parameters"),
    ],
)
def test_what_cannot_be_chosen_is_one_sentence(
    options: list[str], because: str, folder: Path, run: Any
) -> None:
    said = run("importance", folder, *options)
    assert said.code == 2
    assert because in said.err
    assert len(said.err.strip().splitlines()) == 1


def test_weights_of_a_table_name_its_columns(tmp_path: Path, run: Any) -> None:
    rows = [f"{k / 10},{k % 7},{k * k % 11}" for k in range(1, 40)]
    (tmp_path / "a.csv").write_text("\n".join(["x,latency,score", *rows]))
    words = ("importance", tmp_path / "a.csv", "--level", "0", "--weights")
    assert "add --maximize or --minimize" in run(*words, "latency=1,score=2").err
    said = run(*words, "latency=1,score=-2")  # a negative weight: the larger the better
    assert said.code == 0, said.err
    assert "1 × latency + 2 × score" in said.out


def test_convert_on_the_command_line(folder: Path, tmp_path: Path, run: Any) -> None:
    said = run("convert", folder, "--to", "optuna", "--out", tmp_path / "run.db")
    assert said.out.startswith("80 trials: ")
    again = run("convert", folder, "--to", "optuna", "--out", tmp_path / "run.db")
    assert (again.code, "already" in again.err) == (2, True)
    part = run(
        "convert", folder, "--to", "table", "--out", tmp_path / "part", "--where", "lr < 0.1"
    )
    assert part.code == 0
    assert all(t.values["lr"] < 0.1 for t in hl.read(tmp_path / "part").trials)
    assert "'--to'" in run("convert", folder, "--out", tmp_path / "x").err
    own = run("convert", tmp_path / "run.db", "--to", "optuna", "--out", tmp_path / "run.db")
    assert "is the run itself" in own.err
