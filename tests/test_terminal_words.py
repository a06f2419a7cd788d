"""What the terminal says: in the singular, to the digit that matters, and of what to do next."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

import hyperlens as hl
from hyperlens.cash.results.model_search import model_search
from hyperlens.cli import COMMANDS, load, main
from hyperlens.commands.records import print_record
from hyperlens.record import Record
from hyperlens.terminal.tables import drawn


def table(columns: int, rows: int, cost: Callable[[np.ndarray], np.ndarray]) -> hl.History:
    X = np.random.default_rng(0).random((rows, columns))
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(columns)]).assign(loss=cost(X))
    return hl.read(frame, objective="loss", maximize=False)


def test_every_result_can_be_had_as_json() -> None:
    silent = {"serve", "convert", "mcp", "predict"}  # a page, a run, an answer, a CSV
    for name in COMMANDS:
        flags = {flag for option in load(name).params for flag in option.opts}
        assert ("--format" in flags) == (name not in silent), name


def test_the_direction_has_one_name() -> None:
    for name in COMMANDS:
        flags = {f for o in load(name).params for f in (*o.opts, *o.secondary_opts)}
        assert ("--maximize" in flags) == ("--minimize" in flags), name
        assert not {"--higher-is-better", "--lower-is-better", "--direction"} & flags, name


def test_a_misspelt_name_is_guessed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = table(2, 12, lambda X: X[:, 0])
    with pytest.raises(hl.HyperlensError, match="one of 'x0', 'x1', most likely 'x0'"):
        hl.effect(run, "x0_")
    frame = pd.DataFrame({"x": [1.0, 2.0], "metric:loss [0; 1] (minimize)": [1.0, 2.0]})
    with pytest.raises(hl.HyperlensError, match=r"one of 'loss', 'x' .* Did you mean 'loss'"):
        hl.read(frame, objective="los")
    monkeypatch.setattr("sys.argv", ["hyperlens", "explan"])
    with pytest.raises(SystemExit):
        main()
    assert "try 'explain'" in capsys.readouterr().err


def test_a_comparison_says_which_direction_was_assumed() -> None:
    results = {"a": [0.1, 0.2, 0.3], "b": [0.2, 0.3, 0.5]}
    assert "--maximize" in hl.compare(results).notes[0]
    assert not any("--maximize" in note for note in hl.compare(results, maximize=False).notes)
    assert next(iter(hl.compare(results, maximize=True).ranks)) == "b"


def test_rows_of_which_nothing_is_known_are_not_listed(capsys: pytest.CaptureFixture[str]) -> None:
    noise = table(6, 30, lambda X: np.random.default_rng(1).random(len(X)))
    record = hl.importance(noise, level=None)
    assert not record.verdict.known
    print_record(record, "table", [])
    told = capsys.readouterr().out
    assert "21 rows are left out" in told
    assert "x1 × x2" not in told
    print_record(record, "csv", [])
    assert len(capsys.readouterr().out.splitlines()) == 22


COSTS = {
    name: [0.1 + 0.0317 * k + step * (k + 1) for k in range(10)]
    for name, step in {"random": 0.0123, "bayes": 0.0107, "grid": 0.0231}.items()
}


def test_an_objective_without_a_number_has_no_range() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0], "loss": [np.nan, np.nan]})
    facts = dict(hl.validate(frame, maximize=False).facts)
    assert facts["objective"] == "loss (minimised), a finite number in no trial"


@pytest.mark.parametrize("name", ["importance", "winner", "validation", "trials", "compare"])
def test_tables_fit_80_columns_and_lose_nothing(name: str) -> None:
    history = table(4, 24, lambda X: X[:, 0] ** 2 * 1234.5678 + X[:, 1])
    made: dict[str, Callable[[], Record]] = {
        "importance": lambda: hl.importance(history, surrogate="forest", level=None),
        "winner": lambda: hl.winner(history, noise=0.0),
        "validation": lambda: hl.validate(pd.DataFrame({"lr": [1.0, 2.0], "loss": [3.0, 4.0]})),
        "trials": lambda: hl.trials(history),
        "compare": lambda: hl.compare(COSTS, maximize=False),
    }
    for shown in made[name]().tables:
        console = Console(width=80, record=True, file=StringIO())
        console.print(drawn(shown))
        text = console.export_text()
        assert max(map(len, text.splitlines())) <= 80
        assert "…" not in text
        for k, wide in enumerate(shown.wide):
            if not wide:
                assert "".join(shown.rows[0][k].split()) in "".join(text.split()), shown.columns[k]


def test_one_is_not_said_in_the_plural(capsys: pytest.CaptureFixture[str]) -> None:
    from hyperlens.terminal.run import show_run

    one = hl.read(pd.DataFrame({"x": [0.5, 0.7], "loss": [1.0, 2.0]}), parameters=["x"])
    space = hl.Space.of([hl.Parameter("x", "float", 0, 1)])
    failed = hl.Trial(1, {"x": 0.2}, (float("nan"),), hl.State.FAILED)
    single = hl.History(space, one.objectives, (one.trials[0],))
    show_run(single)
    assert capsys.readouterr().out.startswith("1 trial\n")
    half = hl.History(space, one.objectives, (one.trials[0], failed))
    assert half.warnings() == ["1 of 2 trials failed and was left out."]
    assert hl.validate(single).facts[1] == ("analysed", "1 trial")
    assert dict(hl.validate(single).facts)["space"].startswith("1 parameter, ")


def test_the_objective_is_looked_for_among_what_is_measured() -> None:
    columns = ["alpha", "beta", "val_loss", "gamma", "test_accuracy"]
    frame = pd.DataFrame([range(5), range(5, 10)], columns=columns)
    with pytest.raises(hl.SourceError, match=r"one of 'val_loss', 'test_accuracy', 'alpha'"):
        hl.read(frame)
    with pytest.raises(hl.SourceError, match=r"Did you mean 'val_loss'\?"):
        hl.read(frame, objective="Val_los")
    with pytest.raises(hl.SourceError) as told:
        hl.read(frame, objective="zzz")
    assert "Did you mean" not in str(told.value)


def test_powers_of_ten_in_yaml_are_numbers(tmp_path: Path) -> None:
    path = tmp_path / "space.yaml"
    path.write_text(
        "hyperparameters:\n"
        "  - {name: width, type: uniform_int, lower: 1, upper: 1.0e4, log: true}\n"
        "  - {name: lr, type: uniform_float, lower: 1e-5, upper: 1, log: true}\n"
        "  - {name: kind, type: categorical, choices: ['1e4', b]}\n"
    )
    space = hl.Space.load(path)
    by_name = {p.name: p for p in space.parameters}
    assert (by_name["width"].upper, by_name["lr"].lower) == (10_000, 1e-5)
    assert by_name["kind"].choices == ("1e4", "b")


SPACE = "hyperparameters:\n  - {name: x, type: uniform_float, lower: 0, upper: 1}\n"
QUICK = ["--space", "space.yaml", "--optimizer", "random", "--storage", "sqlite:///run.db"]


def test_a_run_with_more_trials_than_asked_for_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "space.yaml").write_text(SPACE)
    (tmp_path / "train.py").write_text("def loss(c):\n    return c['x']\n")
    for trials in ("4", "2"):
        words = ["train.py:loss", *QUICK, "--trials", trials, "--format", "json"]
        load("tune").main(args=words, standalone_mode=False)
        told = capsys.readouterr()
        assert Record.from_dict(json.loads(told.out)).trials == 4  # type: ignore[attr-defined]
        assert ("has 4 trials already, more than the 2 of --trials" in told.err) == (trials == "2")


def test_the_first_two_of_a_leaderboard_are_told_apart() -> None:
    model = hl.Parameter("model", "categorical", choices=("a", "b"))
    costs = (0.1234561, 0.1234562, 0.5, 0.5)
    trials = [
        hl.Trial(k, {"model": "ab"[k % 2]}, (cost,), budget=1.0) for k, cost in enumerate(costs)
    ]
    run = hl.History(hl.Space.of([model]), (hl.Objective("log loss"),), tuple(trials))
    board = model_search(run).tables[1]
    assert [row[0] for row in board.rows] == ["1", "2", *[row[0] for row in board.rows[2:]]]
    assert board.rows[0][1] != board.rows[1][1]


def test_help_has_80_columns_and_shows_what_is_the_commands_own_first(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in COMMANDS:
        load(name).main(["--help"], prog_name=f"hyperlens {name}", standalone_mode=False)
        text = capsys.readouterr().out
        assert max(map(len, text.splitlines())) <= 80, name
        if "--where" in text and "--seed" in text and name != "choose":  # whose own option it is
            assert text.index("--seed") < text.index("--format") < text.index("--where"), name
