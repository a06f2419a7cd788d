"""What a search over models was told stays with the run, however it is kept, and is shown of it."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import optuna
import pandas as pd
import pytest
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

import hyperlens as hl
from hyperlens.cash.results.model_search import model_search
from hyperlens.cash.search.search import Search
from hyperlens.cli import main
from hyperlens.dashboard.catalogue import Run, Source
from hyperlens.dashboard.reader import Reader, digest
from hyperlens.proposal import PLAN
from hyperlens.runs.search_plan import SearchPlan
from hyperlens.sections.analysis import Analysis
from hyperlens.sections.choices import Choices
from hyperlens.sections.explanation import Explanation
from hyperlens.sections.plan import PLAN as SECTIONS

MODELS = ("GaussianNB", "QuadraticDiscriminantAnalysis")
GIVEN = {"GaussianNB": 1, "QuadraticDiscriminantAnalysis": 3}
SECTION = next(section for section in SECTIONS if section.id == "models")


def search(storage: Any, **more: Any) -> hl.History:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 3)))
    y = (X[0] + rng.normal(size=60) / 2 > 0).to_numpy().astype(int)
    return Search(X, y, "classification", 9, folds=1, models=MODELS, storage=storage, **more).run()


def cards(history: hl.History) -> list[str]:
    """The Models cards of a run, as text, with nothing remembered."""
    return [repr(c) for c in SECTION.cards(Explanation(replace(history), Choices()))]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("search") / "run.db"
    search(f"sqlite:///{path}", sampling=GIVEN)
    return path


def forgotten(path: Path, to: Path, plan: Any = None) -> hl.History:
    """The run with another plan, or as it was stored before there was one."""
    from sqlite3 import connect

    to.write_bytes(path.read_bytes())
    connection = connect(to)
    text = "DELETE FROM study_user_attributes WHERE key = ?"
    if plan is not None:
        text = "UPDATE study_user_attributes SET value_json = ? WHERE key = ?"
    connection.execute(text, (PLAN,) if plan is None else (plan, PLAN))
    connection.commit()
    connection.close()
    return hl.read(to)


def test_the_run_says_what_the_search_was_told(path: Path) -> None:
    history = hl.read(path)
    assert history.plan == SearchPlan("given", dict(zip(MODELS, (0.25, 0.75), strict=True)), 9.0)
    record = model_search(history)
    assert dict(zip(record.models, record.weights, strict=True)) == dict(history.plan.weights)
    assert record.sampling == "given"


def test_however_it_is_kept(path: Path, tmp_path: Path) -> None:
    stored = hl.read(path)
    journal = JournalStorage(JournalFileBackend(str(tmp_path / "run.log")))
    memory = optuna.storages.InMemoryStorage()
    for history in (
        hl.read(hl.convert(stored, "table", tmp_path / "table")),
        hl.read(hl.convert(stored, "table", tmp_path / "again"), objective="log_loss"),
        hl.read(hl.convert(stored, "optuna", tmp_path / "converted.db")),
        stored.select(states=["complete", "pruned", "failed"]),
        stored.select(weights={stored.objective().name: 1.0}),
        search(journal, sampling=GIVEN),
        hl.read(tmp_path / "run.log"),
        search(memory, sampling=GIVEN),
        hl.read(optuna.load_study(study_name=None, storage=memory)),
    ):
        assert history.plan == stored.plan
        assert cards(history)


def test_the_chance_of_a_model_stays_when_others_are_left_out(path: Path) -> None:
    alone = hl.read(path).select(where=f"model == '{MODELS[1]}'")
    assert model_search(alone).weights.tolist() == [0.75]
    assert len(cards(alone)) == 2


def test_the_command_the_report_and_the_page_show_the_models(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, saved = tmp_path / "page.html", tmp_path / "run.json"
    words = ["hyperlens", "explain", str(path), "--html", str(page), "--json", str(saved)]
    with mock.patch.object(sys, "argv", words), pytest.raises(SystemExit):
        main()
    assert "came first, with a log_loss of" in capsys.readouterr().out
    assert "Which model, and why" in page.read_text()
    assert "What mattered within" in page.read_text()
    analysis = Analysis.from_json(saved.read_text())
    assert [repr(c) for c in SECTION.cards(analysis)] == cards(hl.read(path))
    state = Reader((Source(str(path)),)).look(Run(0, None, "run"))
    assert state.public()["models"] is True


@pytest.mark.parametrize(
    "plan",
    [None, "1", "{}", '{"weights": {"GaussianNB": 1}}', '{"weights": {"GaussianNB": "x"}}'],
)
def test_a_run_that_does_not_say_has_no_such_section(
    path: Path, tmp_path: Path, plan: str | None
) -> None:
    history = forgotten(path, tmp_path / "old.db", plan)
    assert cards(history) == []
    assert model_search(history).models  # by the rule that is the default
    assert digest(history) != digest(hl.read(path))
    state = Reader((Source(str(tmp_path / "old.db")),)).look(Run(0, None, "run"))
    assert state.public()["models"] is False


def test_a_search_of_before_says_it_once_it_goes_on(path: Path, tmp_path: Path) -> None:
    assert forgotten(path, tmp_path / "old.db").plan is None
    search(f"sqlite:///{tmp_path / 'old.db'}", sampling=GIVEN)
    assert hl.read(tmp_path / "old.db").plan == hl.read(path).plan


def test_a_plan_is_read_as_it_was_written() -> None:
    plan = SearchPlan("volume", {"a": 1 / 3, "b": 2 / 3}, None)
    assert SearchPlan.from_dict(plan.to_dict()) == plan
    assert SearchPlan.from_dict(["a"]) is None
    assert SearchPlan.from_dict({"weights": {"a": float("nan")}}) is None
