"""`hyperlens tune` as a person runs it: real processes, really killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_engine import Cluster, ready

import hyperlens as hl
from hyperlens import History, Parameter, SourceError, Space
from hyperlens.optimize.running.target import load
from hyperlens.runs.history import State

OBJECTIVE = '''
import os, signal, sys, threading
from pathlib import Path

HERE = Path(__file__).parent
SOMETHING = 3


def loss(configuration):
    """Holds still at one configuration while there is a pipe to tell of it."""
    with open(HERE / "calls", "a") as calls:
        calls.write("call\\n")
    pipe = HERE / "pipe"
    if pipe.exists() and len((HERE / "calls").read_text().split()) == 7:
        with pipe.open("w") as writer:
            writer.write("holding\\n")
            writer.flush()
            threading.Event().wait()
    return (configuration["x"] - 1) ** 2 + configuration["n"]


def accuracy(configuration):
    return -loss(configuration)


def several(configuration):
    return configuration["x"] ** 2, configuration["n"], configuration["x"]


def trouble(configuration):
    n = configuration["n"]
    if n == 0:
        raise ValueError("\\x1b[31mred\\nflag")
    if n == 1:
        os._exit(5)
    if n == 2:
        os.kill(os.getpid(), signal.SIGSEGV)
    if n == 3:
        threading.Event().wait()
    return configuration["x"] if n > 4 else float("nan")
'''

Tune = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A user's folder: an objective and its space."""
    (tmp_path / "train.py").write_text(OBJECTIVE)
    space = Space.of([Parameter("x", "float", -5, 5), Parameter("n", "integer", 0, 6)])
    space.save(tmp_path / "space.yaml")
    return tmp_path


def command(*arguments: str) -> list[str]:
    program = "import sys; from hyperlens.cli import main; main()"
    return [sys.executable, "-c", program, "tune", *arguments]


@pytest.fixture
def tune(folder: Path) -> Tune:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command(*arguments), cwd=folder, capture_output=True, text=True, check=False
        )

    return run


BASIC = ("train.py:loss", "--space", "space.yaml", "--trials", "12", "--initial", "8")


def configurations(history: History) -> list[dict[str, Any]]:
    return [dict(t.values) for t in history.trials]


def test_tune_runs_shows_progress_and_ends_with_what_to_do_next(folder: Path, tune: Tune) -> None:
    done = tune(*BASIC)
    assert done.returncode == 0, done.stderr
    history = hl.read(folder / "run.db")
    best = history.best()
    lines = done.stdout.splitlines()
    assert lines[0] == "12 trials"
    assert lines[1].startswith(f"Best loss {best.costs[0]:.4g} in trial {best.number}: n = ")
    assert lines[2] == (
        "Explain it: hyperlens explain sqlite:///run.db --study train:loss --html report.html"
    )
    told = done.stderr.splitlines()
    improvements = sum(history.trace()[k] < history.trace()[k - 1] for k in range(1, 12)) + 1
    assert len(told) == improvements
    assert told[-1].startswith(f"best {best.costs[0]:.4g} in trial {best.number}, ")
    expected = hl.minimize(
        lambda c: (c["x"] - 1) ** 2 + c["n"], folder / "space.yaml", trials=12, initial=8
    )
    assert configurations(history) == configurations(expected)


def test_options_reach_the_optimiser(folder: Path, tune: Tune) -> None:
    options = ["--tau", "3", "--acquisition", "ei", "--surrogate", "forest", "--seed", "4"]
    where = ["--storage", "runs.log", "--study", "mine", "--workers", "2", "--maximize"]
    given = ["--space", "space.yaml", "--trials", "10", "--initial", "8"]
    done = tune("train.py:accuracy", *given, *options, *where)
    assert done.returncode == 0, done.stderr
    assert "--study mine" in done.stdout
    history = hl.read(folder / "runs.log", study="mine")
    assert history.objective() == hl.Objective("accuracy", maximize=True)
    last = history.trials[-1].proposal
    assert last is not None
    assert (last.tau, last.acquisition, last.surrogate_parameters["seed"]) == (3.0, "ei", 4)


def test_objectives_are_given_one_by_one_or_with_commas(folder: Path, tune: Tune) -> None:
    """Of a repeated option the last one must not win silently: then no answer would fit."""
    given = ["--objective", "loss,size:min", "--objective", "speed:max"]
    draws = ["--space", "space.yaml", "--trials", "3", "--optimizer", "random"]
    done = tune("train.py:several", *draws, *given, "--constraint", "size < 9")
    assert done.returncode == 0, done.stderr
    history = hl.read(folder / "run.db")
    assert [(o.name, o.maximize) for o in history.objectives] == [
        ("loss", False), ("size", False), ("speed", True)
    ]  # fmt: skip
    for trial in history.trials:
        x, n = trial.values["x"], trial.values["n"]
        assert trial.costs == (x**2, n, x)


def test_a_killed_run_goes_on_as_if_it_had_not_been(folder: Path, tune: Tune) -> None:
    assert tune(*BASIC, "--storage", "whole.db").returncode == 0
    (folder / "calls").unlink()
    os.mkfifo(folder / "pipe")
    running = subprocess.Popen(
        command(*BASIC), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    with (folder / "pipe").open() as reader:
        assert reader.readline() == "holding\n"  # in its seventh trial
        running.kill()
        running.wait()
        assert reader.read() == ""  # the worker is gone too
    before = hl.read(folder / "run.db")
    assert len(before.trials) == 6
    (folder / "pipe").unlink()
    done = tune(*BASIC)
    assert done.returncode == 0, done.stderr
    history, whole = hl.read(folder / "run.db"), hl.read(folder / "whole.db")
    assert history.trials[:6] == before.trials
    assert configurations(history) == configurations(whole)
    assert [t.costs for t in history.trials] == [t.costs for t in whole.trials]
    assert [t.proposal for t in history.trials] == [t.proposal for t in whole.trials]
    assert {t.state for t in history.trials} == {State.COMPLETE}
    assert len((folder / "calls").read_text().split()) == 13  # one was tried again


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_says_how_to_go_on(how: signal.Signals, folder: Path, tune: Tune) -> None:
    os.mkfifo(folder / "pipe")
    running = subprocess.Popen(
        command(*BASIC),
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    with (folder / "pipe").open() as reader:
        assert reader.readline() == "holding\n"
        running.send_signal(how)
        _, told = running.communicate()
        assert reader.read() == ""
    assert running.returncode == 130
    assert re.fullmatch(
        r"hyperlens: Stopped with \d+\.\d+ as the best so far, in trial \d+; the run is kept in "
        r"sqlite:///run\.db, and the same command goes on with it\.",
        told.splitlines()[-1],
    )
    (folder / "pipe").unlink()
    assert tune(*BASIC).returncode == 0
    assert len(hl.read(folder / "run.db").trials) == 12


def test_whatever_the_objective_does_is_a_trial_with_its_reason(folder: Path, tune: Tune) -> None:
    given = ["--space", "space.yaml", "--trials", "24", "--optimizer", "random", "--timeout", "1"]
    done = tune("train.py:trouble", *given, "--workers", "4")
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    reasons = {
        0: "ValueError: \x1b[31mred flag (train.py, line 33)",
        1: "its process ended itself with exit code 5",
        2: "its process was ended by SIGSEGV",
        3: "took longer than 1 s",
        4: "returned nan, which is not a finite number",
    }
    history = hl.read(folder / "run.db")
    assert len(history.trials) == 24
    assert {t.values["n"] for t in history.trials} == set(range(7))
    for trial in history.trials:
        assert trial.reason == reasons.get(trial.values["n"])


def test_if_every_trial_fails_the_first_reasons_are_told(folder: Path, tune: Tune) -> None:
    (folder / "bad.py").write_text("def f(c):\n    return c['typo']\n")
    done = tune("bad.py:f", "--space", "space.yaml", "--trials", "3", "--optimizer", "random")
    assert done.returncode == 2
    assert "3 trials, 3 failed (KeyError: 'typo' (bad.py, line 2))" in done.stdout
    assert "None of the 3 trials (3 failed) is complete" in done.stderr


WRONG = [
    (["train.py"], "does not name a function; write it like train.py:loss"),
    (["gone.py:loss"], "There is no file 'gone.py'"),
    (
        ["train.py:los"],
        "has no function 'los'; choose one of 'loss', 'accuracy', 'several', 'trouble'",
    ),
    (["train.py:SOMETHING"], "has something else than a function called 'SOMETHING'"),
    (["broken.py:f"], "'broken.py' cannot be imported (SyntaxError"),
    (["no.such.module:f"], "'no.such.module' cannot be imported (ModuleNotFoundError"),
    (["train.py:loss", "--space", "gone.yaml"], "There is no space file 'gone.yaml'"),
    (["train.py:loss", "--optimizer", "random", "--tau", "1"], "has no option 'tau'"),
    (["train.py:loss", "--timeout", "-1"], "is no duration for --timeout"),
    (["train.py:loss", "--engine", "dask"], "needs the address of a scheduler"),
    (["train.py:loss", "--storage", "sqlite:///no/run.db"], "There is no folder 'no'"),
    (["train.py:loss", "--storage", "train.py"], "neither a SQLite database nor"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_mistakes_are_one_sentence(
    arguments: list[str], message: str, folder: Path, tune: Tune
) -> None:
    (folder / "broken.py").write_text("def f(:\n")
    if "--space" not in arguments:
        arguments = [*arguments, "--space", "space.yaml"]
    done = tune(*arguments)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("hyperlens: ")
    assert message in done.stderr


def test_a_target_may_be_a_module_and_never_hides_another(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (folder / "package").mkdir()
    (folder / "package" / "goals.py").write_text("def f(c):\n    return 1.0\n")
    found = load("package.goals:f")
    assert (found.function({}), found.name, found.files) == (1.0, "goals:f", ())
    (folder / "json.py").write_text("from helper import f\n")
    (folder / "helper.py").write_text("def f(c):\n    return 2.0\n")
    beside = load("json.py:f")
    assert (beside.function({}), beside.name) == (2.0, "json:f")
    import json

    assert json.loads("1") == 1
    with pytest.raises(SourceError, match="does not name a function"):
        load(":f")


def test_tune_on_dask_sends_the_module_along(folder: Path, tune: Tune, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed: pip install hyperlens[dask]")
    cluster = Cluster(tmp_path, workers=1)
    try:
        ready(cluster, 1)
        where = ["--engine", "dask", "--scheduler", cluster.address]
        done = tune(*BASIC, "--optimizer", "random", *where)
        assert done.returncode == 2  # random search has no initial design
        done = tune(*BASIC, *where)
        assert done.returncode == 0, done.stderr
    finally:
        cluster.close()
    assert len(hl.read(folder / "run.db").trials) == 12
