"""A study that is read again: what is new alone is read, and what comes out is as if all had been."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend

import hyperlens as hl
from hyperlens.dashboard.catalogue import Run, Source
from hyperlens.dashboard.reader import Reader, digest
from hyperlens.importers import open_run
from hyperlens.importers.optuna import journal, sql
from hyperlens.importers.optuna.following import Followed
from hyperlens.importers.optuna.stored_study import StoredTrial
from hyperlens.importers.read_options import ReadOptions

optuna.logging.set_verbosity(optuna.logging.ERROR)


def objective(trial: optuna.Trial) -> float:
    x = trial.suggest_float("x", 0, 1)
    if trial.suggest_categorical("kind", ["a", "b"]) == "b":
        x += trial.suggest_int("k", 1, 3)
    trial.report(x, 1)
    trial.set_user_attr("late", trial.number)
    return x


@pytest.fixture(params=["sqlite", "journal"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, BaseStorage]:
    if request.param == "sqlite":
        return tmp_path / "run.db", RDBStorage(f"sqlite:///{tmp_path / 'run.db'}")
    return tmp_path / "run.log", JournalStorage(JournalFileBackend(str(tmp_path / "run.log")))


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many trials were made out of the storage since it was emptied."""
    made: list[int] = []

    class Counted(StoredTrial):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            made.append(self.number)

    monkeypatch.setattr(sql, "StoredTrial", Counted)
    monkeypatch.setattr(journal, "StoredTrial", Counted)
    return made


def begin(storage: BaseStorage, trials: int = 12) -> optuna.Study:
    sampler = optuna.samplers.RandomSampler(seed=0)
    study = optuna.create_study(storage=storage, study_name="run", sampler=sampler)
    study.optimize(objective, n_trials=trials)
    return study


def test_only_what_is_new_is_read(place: tuple[Path, BaseStorage], read: list[int]) -> None:
    path, storage = place
    study = begin(storage)
    open_one = study.ask()  # will end after others that come later
    open_one.suggest_float("x", 0, 1)
    options = ReadOptions(followed=Followed())
    assert len(open_run(path, options).trials) == 12
    study.optimize(objective, n_trials=3)
    if open_one.suggest_categorical("kind", ["a", "b"]) == "b":
        open_one.suggest_int("k", 1, 3)
    study.tell(open_one, 0.5)
    read.clear()
    found = open_run(path, options)
    assert set(read) <= {12, 13, 14, 15}
    assert [t.number for t in found.trials] == list(range(16))
    whole = hl.read(path)
    assert found.trials == whole.trials
    assert found.space.parameters == whole.space.parameters
    assert digest(found) == digest(whole)
    assert open_run(path, options).trials[0] is found.trials[0]


def test_what_is_another_study_by_now_is_read_whole(place: tuple[Path, BaseStorage]) -> None:
    path, storage = place
    begin(storage)
    options = ReadOptions(followed=Followed())
    open_run(path, options)
    optuna.delete_study(study_name="run", storage=storage)
    begin(storage, 14)
    assert open_run(path, options).trials == hl.read(path).trials


def test_flags_and_given_spaces_leave_what_was_read_as_it_was(
    place: tuple[Path, BaseStorage],
) -> None:
    path, storage = place
    study = begin(storage)
    given = [hl.Parameter("x", "float", 0, 1)]
    followed = Followed()
    for _ in range(2):
        narrow = open_run(path, ReadOptions(space=given, followed=followed))
        assert narrow.space.names == ("x",)
        assert open_run(path, ReadOptions(followed=followed)).trials == hl.read(path).trials
        study.optimize(objective, n_trials=2)


def test_the_page_follows_a_study(place: tuple[Path, BaseStorage], read: list[int]) -> None:
    path, storage = place
    study = begin(storage)
    reader, run = Reader((Source(str(path)),)), Run(0, None, "run")
    first = reader.read(run)
    study.optimize(objective, n_trials=1)
    read.clear()
    second = reader.read(run)
    assert read == [12]
    assert second.history.trials[:12] == first.history.trials
    assert second.state.version == digest(hl.read(path)) != first.state.version
