"""Optuna studies in every kind of storage, read back value by value, and never written to."""

from __future__ import annotations

import json
import math
import sqlite3
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState, create_trial
from sqlalchemy import event

from hyperlens.errors import HyperlensError, SourceError
from hyperlens.importers import read
from hyperlens.importers.optuna.sql import read_server, read_sqlite
from hyperlens.runs.curve import Curve
from hyperlens.runs.history import History, State
from hyperlens.spaces.parameter import Parameter
from hyperlens.spaces.space import Space

optuna.logging.set_verbosity(optuna.logging.ERROR)

STATES = {"COMPLETE": State.COMPLETE, "PRUNED": State.PRUNED, "FAIL": State.FAILED}


def _objective(trial: optuna.Trial) -> float:
    lr = trial.suggest_float("lr", 1e-5, 1e-1, log=True)
    trial.suggest_float("dropout", 0.0, 0.5, step=0.1)
    trial.suggest_int("units", 8, 64, step=8)
    trial.suggest_int("batch", 1, 512, log=True)
    trial.suggest_categorical("shuffle", [True, False, None])
    trial.suggest_float("fixed", 2.0, 2.0)
    if trial.number % 11 == 7:
        raise ValueError("out of luck")
    model = trial.suggest_categorical("model", ["svm", "tree"])
    if model == "svm":
        kernel = trial.suggest_categorical("kernel", ["poly", "rbf"])
        if kernel == "poly":
            trial.suggest_int("degree", 1, 5)
    else:
        trial.suggest_int("depth", 1, 20)
    if trial.number % 7 == 5:
        for step in range(3):
            trial.report(float(step), step)
        raise optuna.TrialPruned
    if trial.number % 13 == 3:
        return math.nan
    return math.inf if trial.number == 4 else math.log(lr)


def _optimize(study: optuna.Study, trials: int = 80) -> optuna.Study:
    study.optimize(_objective, n_trials=trials, catch=(ValueError,))
    study.add_trial(create_trial(state=TrialState.WAITING))
    return study


def _sampler() -> optuna.samplers.RandomSampler:
    return optuna.samplers.RandomSampler(seed=1)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("optuna") / "demo.db"
    storage = optuna.storages.RDBStorage(f"sqlite:///{path}")
    storage.engine.dispose()  # what connects from here on need not wait for the disk
    event.listen(storage.engine, "connect", lambda c, _: c.execute("PRAGMA synchronous = OFF"))
    _optimize(
        optuna.create_study(
            storage=storage, study_name="demo", direction="maximize", sampler=_sampler()
        )
    )
    storage.engine.dispose()
    return path


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("journal") / "demo.log"
    storage = JournalStorage(JournalFileBackend(str(path)))
    study = optuna.create_study(
        storage=storage, study_name="demo", direction="maximize", sampler=_sampler()
    )
    _optimize(study)
    storage.set_study_system_attr(study._study_id, "study:metric_names", ["gain"])
    doomed = optuna.create_study(storage=storage, study_name="doomed", sampler=_sampler())
    doomed.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=2)
    optuna.delete_study(study_name="doomed", storage=storage)
    study.add_trial(_ready({"x": 0.25}, value=1.0))
    return path


def _ready(params: dict[str, Any], value: float = 0.5, high: float = 1.0) -> Any:
    return create_trial(
        params=params, distributions={k: FloatDistribution(0, high) for k in params}, value=value
    )


def _check_against_optuna(history: History, study: optuna.Study) -> None:
    """Every field of every trial by Optuna's own reading."""
    frozen = [t for t in study.trials if t.state.is_finished()]
    assert [t.number for t in history.trials] == [t.number for t in frozen]
    for ours, theirs in zip(history.trials, frozen, strict=True):
        assert ours.state is STATES[theirs.state.name]
        assert {k: v for k, v in ours.values.items() if not k.endswith(" set")} == theirs.params
        values = theirs.values or [math.nan] * len(study.directions)
        assert ours.costs == pytest.approx(tuple(values), nan_ok=True)
        assert theirs.datetime_start is not None
        assert theirs.datetime_complete is not None
        assert ours.started == pytest.approx(theirs.datetime_start.timestamp(), abs=1e-5)
        assert ours.ended == pytest.approx(theirs.datetime_complete.timestamp(), abs=1e-5)
        assert ours.budget is None
        steps = (
            {}
            if ours.curve is None
            else dict(zip(ours.curve.steps, ours.curve.values[:, 0], strict=True))
        )
        assert steps == pytest.approx(theirs.intermediate_values, nan_ok=True)


def _contents(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir() if not p.name.endswith("-shm")}


def _sentence(problem: pytest.ExceptionInfo[Any]) -> str:
    text = str(problem.value)
    assert text.endswith(".")
    assert "\n" not in text
    assert ". " not in text.replace("e.g. ", "")
    assert ";" in text, "the remedy follows a semicolon"
    return text


def test_every_value_of_a_database_comes_back(database: Path) -> None:
    before = _contents(database.parent)
    history = read(database)
    assert _contents(database.parent) == before
    study = optuna.load_study(study_name="demo", storage=f"sqlite:///{database}")
    _check_against_optuna(history, study)
    assert history.source == "Optuna study 'demo' in demo.db"
    assert history.objective().maximize
    assert history.objective().name == "value"
    assert history.notes == ("1 of 81 trials were still running or waiting and were left out.",)
    assert history.trials[4].costs == (math.inf,)
    finite = [t.value for t in study.trials if t.value is not None and t.state.name == "COMPLETE"]
    assert history.trace()[-1] == max(v for v in finite if math.isfinite(v))
    assert {t.state for t in history.trials} == {State.COMPLETE, State.PRUNED, State.FAILED}


def test_the_space_is_the_union_of_the_distributions(database: Path) -> None:
    space = read(database).space
    assert space.constants == {"fixed": 2.0}
    assert space["dropout"].choices == (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
    assert space["units"].choices == (8, 16, 24, 32, 40, 48, 56, 64)
    assert (space["units"].kind, space["dropout"].kind) == ("ordinal", "ordinal")
    assert space["shuffle"].choices == (True, False, None)
    assert (space["lr"].lower, space["lr"].upper, space["lr"].log) == (1e-5, 1e-1, True)
    assert (space["batch"].kind, space["batch"].log) == ("integer", True)
    assert space.conditions == {
        "kernel": "model is svm",
        "degree": "kernel is poly",
        "depth": "model is tree",
    }
    assert any("'degree' is active when kernel is poly." in s for s in space.inferred)


def test_failed_trials_neither_join_the_inference_nor_break_anything(database: Path) -> None:
    history = read(database)
    stopped = [t for t in history.trials if "model" not in t.values]
    assert stopped
    assert all(t.state is State.FAILED for t in stopped)
    finished = [i for i, t in enumerate(history.trials) if t.state is not State.FAILED]
    assert len(history.space.misfits(history.vectors[finished])) == 0


@pytest.mark.parametrize("address", ["sqlite:///{}", "sqlite+pysqlite:///{}", "{}"])
def test_addresses_and_paths_name_the_same_study(database: Path, address: str) -> None:
    history = read(address.format(database), study="demo")
    assert repr(history.trials) == repr(read(database).trials)
    assert history.source == "Optuna study 'demo' in demo.db"


def test_a_study_object_gives_the_same_history(database: Path) -> None:
    study = optuna.load_study(study_name="demo", storage=f"sqlite:///{database}")
    history = read(study)
    _check_against_optuna(history, study)
    assert history.space.to_json() == read(database).space.to_json()
    with pytest.raises(SourceError, match="no study 'other'"):
        read(study, study="other")


def test_a_server_is_asked_the_same_questions(database: Path) -> None:
    ours, theirs = read_sqlite(database), read_server(f"sqlite:///{database}")
    assert ours.directions == theirs.directions
    assert ours.distributions.seen == theirs.distributions.seen
    assert repr(ours.trials) == repr(theirs.trials)


def test_every_value_of_a_journal_comes_back(journal: Path) -> None:
    before = _contents(journal.parent)
    history = read(journal)
    assert _contents(journal.parent) == before
    storage = JournalStorage(JournalFileBackend(str(journal)))
    _check_against_optuna(history, optuna.load_study(study_name="demo", storage=storage))
    assert [o.name for o in history.objectives] == ["gain"]
    assert history.source == "Optuna study 'demo' in demo.log"
    assert history.space["x set"].choices == ("no", "yes")
    assert history.trials[-1].values == {"x": 0.25, **_flags_of(history)}


def _flags_of(history: History) -> dict[str, str]:
    """The last trial, added by hand, set x and nothing else."""
    flags = [name for name in history.space.names if name.endswith(" set")]
    return {name: "yes" if name == "x set" else "no" for name in flags}


def test_a_cut_off_last_line_is_dropped(journal: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.log"
    cut.write_bytes(journal.read_bytes()[:-20])
    assert "The last line of 'cut.log' is cut off and was left out." in read(cut).notes
    lines = journal.read_bytes().splitlines(keepends=True)
    cut.write_bytes(b"".join([*lines[:3], b'{"op_code": 4, \n', *lines[3:]]))
    with pytest.raises(SourceError, match="Line 4 of") as problem:
        read(cut)
    _sentence(problem)
    cut.write_bytes(b"".join([*lines[:3], b'{"op_code": 5, "trial_id": 0}\n', *lines[3:]]))
    with pytest.raises(SourceError, match=r"Line 4 of .* is not an operation") as problem:
        read(cut)
    _sentence(problem)


def test_the_recorded_database(data: Callable[[str], Path]) -> None:
    path = data("hpo_logs/optuna/dashboard_sample_db.sqlite3")
    before = _contents(path.parent)
    history = read(path)
    assert _contents(path.parent) == before
    assert len(history.trials) == 100
    assert (history.count(State.COMPLETE), history.count(State.PRUNED)) == (25, 75)
    assert history.best().costs == (0.946875,)
    assert history.space.conditions == {
        "n_units_l1": "n_layers in 2, 3",
        "dropout_l1": "n_layers in 2, 3",
        "n_units_l2": "n_layers is 3",
        "dropout_l2": "n_layers is 3",
    }
    assert len(history.space.misfits(history.vectors)) == 0


def test_the_recorded_journal(data: Callable[[str], Path]) -> None:
    path = data("hpo_logs/optuna/journal_4.0.0.dev.log")
    history = read(path, study="single_optimization")
    assert len(history.trials) == 10
    assert history.space["z"].choices == (-5, 0, 5)
    for trial in history.trials:
        x, y, z = (trial.values[name] for name in "xyz")
        assert trial.costs[0] == pytest.approx(x**2 + y**2 + z**2)
    with pytest.raises(SourceError, match="'single_empty', 'single_user_attr'") as problem:
        read(path)
    assert "--study NAME" in _sentence(problem)
    with pytest.raises(SourceError, match="no finished trials") as problem:
        read(path, study="single_empty")
    _sentence(problem)


def test_several_objectives(tmp_path: Path) -> None:
    study = optuna.create_study(
        directions=["minimize", "maximize"],
        storage=f"sqlite:///{tmp_path / 'two.db'}",
        sampler=_sampler(),
    )
    study.optimize(lambda t: (t.suggest_float("x", 0, 1), 2 - t.params["x"]), n_trials=5)
    plain = read(study)
    assert [(o.name, o.maximize) for o in plain.objectives] == [
        ("value_0", False),
        ("value_1", True),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # naming metrics is experimental before Optuna 5
        study.set_metric_names(["loss", "gain"])
    for source in (study, tmp_path / "two.db"):
        history = read(source, objective="gain")
        assert [o.name for o in history.objectives] == ["gain", "loss"]
        for trial in history.trials:
            assert trial.costs == pytest.approx((2 - trial.values["x"], trial.values["x"]))
        with pytest.raises(SourceError, match="no objective 'time'; choose one of 'loss', 'gain'"):
            read(source, objective="time")


def test_the_direction_is_the_studys_own(database: Path) -> None:
    assert read(database, maximize=True, objective="value").objective().maximize
    with pytest.raises(SourceError, match="told to maximise 'value'") as problem:
        read(database, maximize=False)
    _sentence(problem)


def test_a_given_space_overrides_the_inferred_one(database: Path) -> None:
    space = Space.of(
        [
            Parameter("lr", "float", 1e-6, 1.0, log=True),
            Parameter("model", "categorical", choices=("svm", "tree")),
            Parameter("depth", "integer", 1, 20),
        ],
        {"depth": ((("model", "equal", "tree"),),)},
    )
    history = read(database, space=space)
    assert history.space is space
    assert len(history.trials) == 80
    assert set().union(*(t.values for t in history.trials)) == {"lr", "model", "depth"}
    assert any("The given space lacks 'dropout'" in note for note in history.notes)
    with pytest.raises(SourceError, match="never set 'nope'") as problem:
        read(database, space=Space.of([Parameter("nope", "float", 0, 1)]))
    _sentence(problem)


def test_changing_ranges_are_widened_with_a_note() -> None:
    study = optuna.create_study()
    for high in (1.0, 2.0):
        study.add_trial(_ready({"x": 0.5}, high=high))
    study.add_trial(
        create_trial(params={"x": 2}, distributions={"x": IntDistribution(0, 3)}, value=0.0)
    )
    history = read(study)
    assert (history.space["x"].kind, history.space["x"].upper) == ("float", 3.0)
    assert any("the widest, 0 to 3, is used" in note for note in history.notes)
    assert any("read as a float" in note for note in history.notes)


def test_an_enqueued_trial_may_leave_the_range(tmp_path: Path) -> None:
    study = optuna.create_study(storage=f"sqlite:///{tmp_path / 'x.db'}", sampler=_sampler())
    study.enqueue_trial({"x": 0.1, "n": 7, "q": 0.33})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Optuna warns, and takes the values
        study.optimize(
            lambda t: (
                t.suggest_float("x", 0.5, 1, log=True)
                + t.suggest_int("n", 1, 3)
                + t.suggest_float("q", 0, 1, step=0.25)
            ),
            n_trials=3,
        )
    history = read((tmp_path / "x.db").rename(tmp_path / "a name with #, ? and %.db"))
    assert history.trials[0].values == {"x": 0.1, "n": 7, "q": 0.33}
    assert (history.space["x"].lower, history.space["x"].log) == (0.1, True)
    assert history.space["n"].upper == 7
    assert history.space["q"].choices == (0.0, 0.25, 0.33, 0.5, 0.75, 1.0)
    assert sum("outside its range" in note for note in history.notes) == 2


@pytest.mark.parametrize(
    "choices",
    [(True, 1, "1.0", None, math.nan), ("\0", "", "a\0", "a", None), ("\0", ",", ";", "")],
)
def test_odd_choices_survive(choices: tuple[Any, ...]) -> None:
    study = optuna.create_study()
    for choice in choices[:4]:
        study.add_trial(
            create_trial(
                params={"a": choice, "b": 0.5},
                distributions={"a": CategoricalDistribution(choices), "b": FloatDistribution(0, 1)},
                value=0.0,
            )
        )
    history = read(study)
    assert len(set(history.vectors[:, history.space.column("a")])) == 4


def test_a_fine_step_is_left_continuous() -> None:
    study = optuna.create_study(sampler=_sampler())
    study.optimize(
        lambda t: t.suggest_float("x", 0, 1, step=1e-4) + t.suggest_int("n", 0, 10**6, step=5),
        n_trials=3,
    )
    assert [read(study).space[name].kind for name in ("x", "n")] == ["float", "integer"]


def test_reasons_and_proposers(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    study = optuna.create_study(storage=f"sqlite:///{path}", sampler=_sampler())
    study.enqueue_trial({"x": 0.5})
    study.optimize(lambda t: t.suggest_float("x", 0, 1), n_trials=2)
    trial = study.ask({"x": FloatDistribution(0, 1)})
    study._storage.set_trial_system_attr(trial._trial_id, "fail_reason", "out of memory")
    trial.set_user_attr("proposer", "me")
    study.tell(trial, state=TrialState.FAIL)
    for source in (path, study):
        trials = read(source).trials
        assert [t.proposer for t in trials] == ["enqueued", None, "me"]
        assert [t.reason for t in trials] == [None, None, "out of memory"]


def test_a_write_protected_file_is_read(database: Path, tmp_path: Path) -> None:
    path = tmp_path / "sealed" / "copy"  # no ending either
    path.parent.mkdir()
    path.write_bytes(database.read_bytes())
    path.chmod(0o444)
    path.parent.chmod(0o555)
    try:
        assert len(read(path).trials) == 80
        assert list(path.parent.iterdir()) == [path]
    finally:
        path.parent.chmod(0o755)


@pytest.mark.parametrize("crashed", [False, True])
def test_a_write_ahead_log_is_read_and_kept(database: Path, tmp_path: Path, crashed: bool) -> None:
    path = tmp_path / "wal.db"
    path.write_bytes(database.read_bytes())
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("UPDATE studies SET study_name = 'renamed'")
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("UPDATE studies SET study_name = 'not yet'")
    if crashed:
        copy = tmp_path / "crashed" / "wal.db"
        copy.parent.mkdir()
        for ending in ("", "-wal"):
            Path(f"{copy}{ending}").write_bytes(Path(f"{path}{ending}").read_bytes())
        path = copy
    before = _contents(path.parent)
    assert read(path).source == "Optuna study 'renamed' in wal.db"
    assert _contents(path.parent) == before
    writer.close()


def test_an_idle_database_in_wal_mode_gets_no_siblings(database: Path, tmp_path: Path) -> None:
    path = tmp_path / "wal.db"
    path.write_bytes(database.read_bytes())
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.close()
    assert len(read(path).trials) == 80
    assert list(tmp_path.iterdir()) == [path]


def test_a_crashed_transaction_is_undone_in_a_copy(database: Path, tmp_path: Path) -> None:
    path, copy = tmp_path / "live.db", tmp_path / "crashed" / "demo.db"
    path.write_bytes(database.read_bytes())
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("PRAGMA cache_size = 1")
    writer.execute("BEGIN EXCLUSIVE")
    writer.execute("UPDATE trial_params SET param_value = 0")
    copy.parent.mkdir()
    for ending in ("", "-journal"):
        Path(f"{copy}{ending}").write_bytes(Path(f"{path}{ending}").read_bytes())
    before = _contents(copy.parent)
    assert repr(read_sqlite(copy).trials) == repr(read_sqlite(database).trials)
    assert _contents(copy.parent) == before
    writer.close()


def test_a_writer_in_mid_transaction_does_not_matter_until_it_commits(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hyperlens.importers.optuna.sqlite_snapshot.LOCK_TIMEOUT", 0.2)
    path = tmp_path / "live.db"
    path.write_bytes(database.read_bytes())
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    assert len(read(path).trials) == 80
    writer.execute("COMMIT")
    writer.execute("BEGIN EXCLUSIVE")
    before = _contents(tmp_path)
    with pytest.raises(SourceError, match="is locked by a program") as problem:
        read(path)
    _sentence(problem)
    assert _contents(tmp_path) == before
    writer.close()


def _old_schema(path: Path) -> None:
    """A database as Optuna 2.0 to 2.3 laid it out."""
    uniform = json.dumps({"name": "UniformDistribution", "attributes": {"low": 0.0, "high": 1.0}})
    steps = {"low": 0.0, "high": 1.0, "q": 0.25}
    discrete = json.dumps({"name": "DiscreteUniformDistribution", "attributes": steps})
    old = sqlite3.connect(path)
    old.executescript(
        """
        CREATE TABLE studies (study_id INTEGER, study_name TEXT, direction TEXT);
        CREATE TABLE trials (trial_id INTEGER, number INTEGER, study_id INTEGER, state TEXT,
                             value FLOAT, datetime_start DATETIME, datetime_complete DATETIME);
        CREATE TABLE trial_params (param_id INTEGER, trial_id INTEGER, param_name TEXT,
                                   param_value FLOAT, distribution_json TEXT);
        CREATE TABLE trial_values (trial_value_id INTEGER, trial_id INTEGER, step INTEGER,
                                   value FLOAT);
        INSERT INTO studies VALUES (3, 'old', 'MAXIMIZE');
        INSERT INTO trials VALUES (7, 0, 3, 'COMPLETE', 0.5, '2020-01-01 00:00:00', NULL);
        INSERT INTO trials VALUES (8, 1, 3, 'PRUNED', NULL, NULL, NULL);
        INSERT INTO trial_values VALUES (1, 8, 4, 0.1), (2, 8, 9, 0.2);
        """
    )
    old.executemany(
        "INSERT INTO trial_params VALUES (?, ?, ?, ?, ?)",
        [
            (1, 7, "x", 0.3, uniform),
            (2, 7, "q", 0.5, discrete),
            (3, 8, "x", 0.4, uniform),
            (4, 8, "q", 1.0, discrete),
        ],
    )
    old.commit()
    old.close()


def test_the_schema_of_optuna_2_is_read(tmp_path: Path) -> None:
    _old_schema(tmp_path / "old.db")
    history = read(tmp_path / "old.db")
    assert history.objective().maximize
    assert [t.costs[0] for t in history.trials] == pytest.approx([0.5, math.nan], nan_ok=True)
    assert [t.budget for t in history.trials] == [None, None]
    assert history.trials[1].curve == Curve.of([(4, (0.1,)), (9, (0.2,))])
    assert [dict(t.values) for t in history.trials] == [{"x": 0.3, "q": 0.5}, {"x": 0.4, "q": 1.0}]
    assert history.space["q"].choices == (0.0, 0.25, 0.5, 0.75, 1.0)


def _bad_sources(folder: Path) -> dict[str, tuple[Any, str]]:
    other = folder / "other.db"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE songs (name TEXT)")
    connection.commit()
    connection.close()
    empty = folder / "empty.db"
    optuna.storages.RDBStorage(f"sqlite:///{empty}").engine.dispose()
    several = folder / "several.db"
    for name in ("first", "second"):
        optuna.create_study(storage=f"sqlite:///{several}", study_name=name)
    damaged = folder / "damaged.db"
    pages = several.read_bytes()
    damaged.write_bytes(pages[:4096] + b"\xff" * (len(pages) - 4096))
    (folder / "run.pkl").write_bytes(b"\x80\x04N.")
    (folder / "none").write_bytes(b"")
    (folder / "notes.txt").write_text("hello")
    (folder / "folder").mkdir()
    return {
        "not Optuna's": (other, "holds no Optuna studies"),
        "no studies": (empty, "There is no study in"),
        "several": (several, "choose one of 'first', 'second' with --study NAME"),
        "damaged": (damaged, "is damaged"),
        "no file": (folder / "nowhere.db", "There is no file"),
        "no database": (f"sqlite:///{folder}/nowhere.db", "There is no database"),
        "memory": ("sqlite:///:memory:", "give the Study object"),
        "scheme": ("ftp://host/file", "'ftp://' cannot be read"),
        "pickle": (folder / "run.pkl", "never opened"),
        "empty": (folder / "none", "is empty"),
        "text": (folder / "notes.txt", "of no kind that can be read"),
        "folder": (folder / "folder", "is a folder"),
        "object": (3, "A int cannot be read"),
        "bad address": ("postgresql://host:port/x", "not a usable database address"),
    }


def test_bad_sources_are_refused_in_one_sentence(tmp_path: Path) -> None:
    for source, message in _bad_sources(tmp_path).values():
        with pytest.raises(SourceError) as problem:
            read(source)
        assert message in _sentence(problem)
    with pytest.raises(SourceError, match=r"no study 'third'.*'first', 'second'") as problem:
        read(tmp_path / "several.db", study="third")
    _sentence(problem)


def test_an_unreachable_server_is_one_sentence_without_the_password() -> None:
    with pytest.raises(SourceError) as problem:
        read("postgresql+psycopg2://me:secret@127.0.0.1:1/x")
    assert "secret" not in _sentence(problem)


def test_a_study_without_variation_is_refused() -> None:
    study = optuna.create_study(sampler=_sampler())
    study.optimize(lambda t: t.suggest_float("x", 1, 1), n_trials=2)
    with pytest.raises(HyperlensError, match="No parameter of this study varies") as problem:
        read(study)
    _sentence(problem)


def test_a_history_passes_through(database: Path) -> None:
    history = read(database)
    assert read(history) is history
