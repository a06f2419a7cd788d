"""Reasons of proposals where people meet them: commands, tables, figures; the same numbers in each."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hyperlens as hl
from hyperlens import terminal
from hyperlens.explain.importance.ablation import ablation
from hyperlens.explain.importance.local_importance import local_importance
from hyperlens.explain.proposals.path import path
from hyperlens.explain.proposals.why import why
from hyperlens.plots.proposals.path import VIEWS

EVIL = "<b>%{x}\x1b[31m"


def space(first: str = "lr") -> hl.Space:
    return hl.Space.of(
        [
            hl.Parameter(first, "float", 1e-4, 1.0, log=True),
            hl.Parameter("opt", "categorical", choices=("adam", "sgd")),
            hl.Parameter("momentum", "float", 0.0, 1.0),
        ],
        {"momentum": ((("opt", "equal", "sgd"),),)},
    )


def cost(values: dict[str, Any], first: str = "lr") -> float:
    return float((np.log10(values[first]) + 2) ** 2 + values.get("momentum", 0.4))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A small run of our own, with its proposals recorded."""
    storage = f"sqlite:///{tmp_path_factory.mktemp('run') / 'run.db'}"
    hl.minimize(cost, space(), trials=16, initial=8, storage=storage)
    return storage


@pytest.fixture(scope="module")
def history(run: str) -> hl.History:
    return hl.read(run)


def said(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", "from hyperlens.cli import main; main()", *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("words", "compute"),
    [
        (["why", "--trial", "12"], lambda h: why(h, 12)),
        (
            ["why", "--trial", "12", "--tau", "2", "--baseline", "default", "--acquisition", "ei"],
            lambda h: why(h, 12, 2.0, baseline="default", acquisition="ei"),
        ),
        (["path"], path),
        (
            ["ablation", "--from", "0", "--method", "backward"],
            lambda h: ablation(h, 0, method="backward"),
        ),
        (
            ["local-importance", "--surrogate", "forest"],
            lambda h: local_importance(h, surrogate="forest"),
        ),
    ],
)
def test_commands_print_the_record(
    words: list[str], compute: Any, run: str, history: hl.History
) -> None:
    printed = json.loads(said(words[0], run, *words[1:], "--format", "json"))
    assert printed == json.loads(compute(history).to_json())


def test_why_draws_its_parts(history: hl.History) -> None:
    record = why(history, 12, 2.0)
    mean, spread, bound = record.plot().data
    np.testing.assert_allclose(mean.x, record.mean)
    np.testing.assert_allclose(spread.x, -2.0 * record.uncertainty)
    np.testing.assert_allclose(np.add(mean.x, spread.x), bound.x, atol=1e-12)
    assert mean.error_x.array is None  # exact: nothing to be unsure of
    sampled = why(history, 12, method="sampled", samples=20).plot().data
    assert max(sampled[1].error_x.array) > 0


def test_every_view_of_a_path_shows_every_proposal(history: hl.History) -> None:
    record = path(history)
    for name, draw in VIEWS.items():
        if name == "parallel":
            lines = [t for t in draw(record).data if t.name.endswith(" proposals")]
            assert sum(t.x.count(None) for t in lines) == 8
        else:
            assert len(draw(record).data[-1].x) == len(record.trial) == 8
    lines = record.plot().data
    total = np.sum([line.y for line in lines], axis=0)
    np.testing.assert_allclose(total, record.payout["bound"], atol=1e-9)


def test_ablation_and_local_importance_draw_their_numbers(history: hl.History) -> None:
    walk = ablation(history, 0)
    np.testing.assert_allclose(walk.plot().data[0].x, walk.contribution)
    np.testing.assert_allclose(walk.plot().data[1].x, walk.shapley)
    near = local_importance(history)
    np.testing.assert_allclose(near.plot().data[0].x, near.share)


def test_a_name_steers_neither_terminal_nor_figure(capsys: pytest.CaptureFixture[str]) -> None:
    history = hl.minimize(lambda v: cost(v, EVIL), space(EVIL), trials=14, initial=8)
    for record in (
        why(history, 10),
        path(history),
        ablation(history, 0),
        local_importance(history),
    ):
        terminal.show(record)
        assert "<b>" not in record.plot().to_json().replace("<b>%{y}", "").replace("<b>&lt;", "")
    assert "\x1b" not in capsys.readouterr().out


def test_a_trial_that_is_not_there(run: str) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from hyperlens.cli import main; main()",
            "why",
            run,
            "--trial",
            "99",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert Path(__file__).name not in done.stderr


def test_the_terminal_says_what_the_score_is(run: str, history: hl.History) -> None:
    shown = " ".join(said("why", run, "--trial", "12").split())
    record = why(history, 12)
    assert record.proposed_by == "ei"
    assert record.basis in shown
    assert "payout, the sum of contributions" in shown
    assert record.sentence in shown
    assert "score = the expected improvement, which this proposal maximised" in shown


def test_the_best_trial_can_be_named(run: str, history: hl.History) -> None:
    printed = json.loads(said("why", run, "--trial", "best", "--format", "json"))
    assert printed["trial"] == history.best().number
    assert printed == json.loads(said("why", run, "--format", "json"))


@pytest.mark.parametrize(
    ("words", "because"),
    [
        (["--trial", "last"], "no trial 'last'"),
        (["--trial", "-1"], "no trial '-1'"),
        (["--baseline", "default", "--background", "local"], "takes the place of a local"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(words: list[str], because: str, run: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from hyperlens.cli import main; main()", "why", run, *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert because in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_run_at_several_budgets_is_not_contradicted(data: Callable[[str], Path]) -> None:
    source = str(data("hpo_logs/hpbandster/run_1"))
    shown = " ".join(said("why", source, "--trial", "10").split())
    assert "fitted to the 10 complete trials before trial 10, all at budget 9, the largest" in shown
    assert "are analysed" not in shown
    assert "are analysed" not in said("path", source)


def test_a_path_in_a_terminal_says_tau_and_what_its_trials_are(
    history: hl.History, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal.show(path(history))
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.startswith("Proposal path for ")
    assert "8 proposals for " in shown
    assert "(mean - 1 x uncertainty)" in shown
    drawn = hl.minimize(cost, space(), trials=16, optimizer="random")
    terminal.show(path(drawn))
    shown = " ".join(capsys.readouterr().out.split())
    assert "8 trials for " in shown
    assert "drawn at random" in shown
    assert "proposals" not in shown
