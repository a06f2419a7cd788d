"""Every recorded run of another tool is read, validated and explained; as many as there are."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import data_dir

import hyperlens as hl
from hyperlens.sections.analysis import analyse
from hyperlens.sections.choices import Choices
from hyperlens.sections.explanation import Unavailable
from hyperlens.sections.parameters.importance import IMPORTANCE
from hyperlens.sections.run.overview import OVERVIEW

LOGS = data_dir() / "hpo_logs"
SCORES = {"maximize": True}  # Ray Tune writes neither direction nor space
STUDY = {"study": "single_optimization"}

# run -> what to say of it, trials, analysed trials, parameters
EXPECTED: dict[str, tuple[dict[str, Any], int, int, int]] = {
    "hpbandster/run_1": ({}, 65, 8, 1),
    "optuna/dashboard_sample_db.sqlite3": ({}, 100, 25, 9),
    "optuna/journal_4.0.0.dev.log": (STUDY, 10, 10, 3),
    "ray/run_1": (SCORES, 81, 81, 3),
    "ray/run_2": (SCORES, 3, 3, 3),
    "ray/run_3": (SCORES, 3, 3, 2),
    "smac/mlp/run_1": ({}, 20, 20, 4),
    "smac/mlp/run_2": ({}, 60, 60, 4),
    "smac/mlp/run_3": ({}, 100, 100, 4),
    "smac/mlp/run_4": ({}, 498, 244, 7),
    "smac/multi-fidelity/run_1": ({}, 179, 38, 7),
    "smac/multi-fidelity/run_2": ({}, 266, 18, 7),
    "smac/multi-objective/run_1": ({}, 112, 110, 7),
    "table/run_1": ({}, 20, 20, 4),
    "table/run_2": ({}, 88, 20, 2),
    "table/run_3": ({}, 42, 42, 4),
}
# of each tool one whose whole report is made
WHOLE = {
    "hpbandster/run_1",
    "optuna/dashboard_sample_db.sqlite3",
    "ray/run_2",
    "smac/multi-fidelity/run_2",
    "smac/multi-objective/run_1",
    "table/run_2",
}


def runs(folder: Path) -> Iterator[str]:
    """Every run below a folder: what holds a file of results, or is one."""
    for path in sorted(folder.glob("*/**/*")):
        inside = path.relative_to(folder)
        marked = {"runhistory.json", "results.json", "trials.csv"}
        holds = path.is_dir() and bool(marked & {p.name for p in path.iterdir()})
        if holds or (inside.parts[0] == "optuna" and path.is_file()):
            yield str(inside)


def test_no_run_is_forgotten(data: Callable[[str], Path]) -> None:
    assert sorted(runs(data("hpo_logs"))) == sorted(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_run_is_read_validated_and_explained(name: str, data: Callable[[str], Path]) -> None:
    path = data(f"hpo_logs/{name}")
    how, trials, analysed, parameters = EXPECTED[name]
    history = hl.read(path, **how)
    record = hl.validate(path, **how)
    assert (len(history.trials), record.trials) == (trials, trials)
    assert (len(history.data().rows), record.analysed) == (analysed, analysed)
    assert (len(history.space), len(record.parameters)) == (parameters, parameters)
    assert json.loads(record.to_json())["states"] == record.states
    assert sum(record.states.values()) == trials
    assert len(history.space.misfits(history.vectors)) == 0
    if name not in WHOLE:
        assert not np.isnan(hl.importance(history, level=None).share).all()
        return
    explained = analyse(history, Choices(level=None))
    assert not isinstance(explained[IMPORTANCE], Unavailable)
    assert explained[OVERVIEW].trials == trials


@pytest.mark.parametrize("name", [name for name, told in EXPECTED.items() if told[0] is SCORES])
def test_an_unknown_direction_is_asked_for(name: str, data: Callable[[str], Path]) -> None:
    path = data(f"hpo_logs/{name}")
    with pytest.raises(hl.SourceError, match="add --maximize or --minimize"):
        hl.read(path)
    assert any("--maximize or --minimize" in said for said in hl.validate(path).left_out)
    best = hl.read(path, maximize=True).best().costs[0]
    worst = hl.read(path, maximize=False).best().costs[0]
    assert best > worst


def test_seeds_budgets_states_and_reasons_are_kept(data: Callable[[str], Path]) -> None:
    several = hl.read(data("hpo_logs/smac/multi-objective/run_1"))
    assert [o.name for o in several.objectives] == ["1 - accuracy", "model_size"]
    assert len({t.seed for t in several.trials}) == 2
    assert {t.reason.split(":")[0] for t in several.trials if t.reason} == {"crashed"}
    levels = hl.read(data("hpo_logs/smac/multi-fidelity/run_1"))
    assert sorted({t.budget for t in levels.trials if t.budget})[-1] == 25.0
    halted = hl.validate(data("hpo_logs/smac/mlp/run_4"))
    assert halted.states == {"complete": 244, "failed": 2, "running": 252}


def test_a_folder_of_several_runs_names_them(data: Callable[[str], Path]) -> None:
    with pytest.raises(
        hl.SourceError, match=r"holds 4 runs; choose one of 'run_1' \(SMAC\), 'run_2'"
    ):
        hl.read(data("hpo_logs/smac/mlp"))
    one = hl.read(data("hpo_logs/smac/multi-objective"))
    assert len(one.trials) == 112


def test_nothing_is_written_where_a_run_lies(data: Callable[[str], Path]) -> None:
    folder = data("hpo_logs")
    before = {p: p.stat().st_mtime_ns for p in folder.rglob("*")}
    for name, (how, *_) in EXPECTED.items():
        hl.read(folder / name, **how)
    assert {p: p.stat().st_mtime_ns for p in folder.rglob("*")} == before
