"""Runs of Syne Tune, NePS, OpenBox, Vizier, AMLTK and CAVE; packed runs; what a folder holds."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import sqlite3
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import tools

import hyperlens as hl
from hyperlens import SourceError, State, read
from hyperlens.importers import extent, packed


def values(history: hl.History) -> list[dict[str, Any]]:
    return [dict(trial.values) for trial in history.trials]


def states(history: hl.History) -> list[str]:
    return [str(trial.state) for trial in history.trials]


def test_syne_tune(tmp_path: Path) -> None:
    history = read(tools.syne_tune(tmp_path / "demo"))
    assert [(o.name, o.maximize) for o in history.objectives] == [("accuracy", True)]
    assert [t.costs[0] for t in history.trials] == [0.75, 0.1, 0.875]
    assert states(history) == ["complete", "pruned", "complete"]  # stopped at the end is no pruning
    assert values(history)[0] == {"lr": 0.1, "opt": "adam", "width": 32, "depth": 1, "epochs": 2}
    assert history.space.inferred == ()
    assert history.space["lr"].log
    assert history.space["width"].choices == (16, 32, 64)
    assert history.space.constants == {"epochs": 2}
    curve = history.trials[0].curve
    assert curve is not None
    assert (curve.steps.tolist(), curve.values[:, 0].tolist()) == ([1.0, 2.0], [0.5, 0.75])
    assert (history.trials[0].started, history.trials[0].ended) == (1600000010.0, 1600000012.0)


def test_syne_tune_without_its_metrics_asks(tmp_path: Path) -> None:
    folder = tools.syne_tune(tmp_path)
    tools.put(folder / "metadata.json", {"st_tuner_creation_timestamp": 1.6e9})
    assert read(folder, maximize=True).objectives[0].name == "accuracy"  # the only one
    with pytest.raises(SourceError, match="--maximize or --minimize"):
        read(folder)


@pytest.mark.parametrize("old", [False, True])
def test_neps_of_both_layouts(old: bool, tmp_path: Path) -> None:
    folder = tools.neps(tmp_path / "run")
    if old:
        (folder / "configs").rename(folder / "results")
        for k in (1, 2, 3):
            home = folder / "results" / f"config_{k}"
            (home / "report.yaml").unlink()
            (home / "metadata.json").unlink()
            tools.put(
                home / "result.yaml", "error\n" if k == 3 else f"loss: {tools.COSTS[k - 1]}\n"
            )
    history = read(folder)
    assert values(history) == list(tools.CONFIGS.values())
    assert [t.costs[0] for t in history.trials[:2]] == tools.COSTS[:2]
    assert states(history) == ["complete", "complete", "failed"]
    assert [t.budget for t in history.trials] == [3.0, 1.0, 3.0]
    assert any("'epochs' is the fidelity" in note for note in history.notes)
    if not old:
        assert history.trials[2].reason == "boom"
        curve = history.trials[0].curve
        assert curve is not None
        assert curve.values[:, 0].tolist() == [1.0, tools.COSTS[0]]


def test_neps_names_of_pipelines_are_the_users(tmp_path: Path) -> None:
    for k in range(1, 4):
        home = tmp_path / "configs" / f"config_{k}"
        lines = [
            f"SAMPLING__Resolvable.lr::float__0.0001_0.1_True: 0.0{k}",
            f"SAMPLING__Resolvable.opt::categorical__2: {k % 2}",
            f"ENVIRONMENT__epochs: {k}",
        ]
        tools.put(home / "config.yaml", "\n".join(lines) + "\n")
        tools.put(home / "report.yaml", f"objective_to_minimize: [{k}.0, {9 - k}.0]\n")
    history = read(tmp_path)
    assert set(history.space.names) == {"lr", "opt", "epochs"}
    assert history.space["opt"].kind == "categorical"
    assert [t.costs for t in history.trials] == [(1.0, 8.0), (2.0, 7.0), (3.0, 6.0)]


def test_yaml_that_grows_is_refused(tmp_path: Path) -> None:
    bomb = "a: &a [x, x]\n" + "".join(
        f"{b}: &{b} [*{a}, *{a}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    folder = tools.neps(tmp_path)
    tools.put(folder / "configs" / "config_1" / "config.yaml", bomb)
    with pytest.raises(SourceError, match="aliases"):
        read(folder)


def test_openbox(tmp_path: Path) -> None:
    history = read(tools.openbox(tmp_path / "history.json"))
    assert [(o.name, o.maximize) for o in history.objectives] == [
        ("objective_0", False),
        ("objective_1", False),
    ]
    assert values(history) == list(tools.CONFIGS.values())
    assert [t.costs for t in history.trials[:2]] == [(0.5, 3.0), (0.25, 2.0)]
    assert states(history) == ["complete", "complete", "failed"]
    assert history.limits == ("constraint_0 <= 0",)
    assert [t.feasible for t in history.trials] == [True, False, False]
    assert history.trials[0].seconds == 2.0


def test_vizier(tmp_path: Path) -> None:
    history = read(tools.vizier(tmp_path / "vizier.db"))
    assert [(o.name, o.maximize) for o in history.objectives] == [("acc", True), ("latency", False)]
    assert history.space.conditions == {"degree": "model is svm"}
    assert history.space["lr"].log
    assert (history.space["degree"].lower, history.space["degree"].upper) == (-1, 5)
    assert history.space["batch"].choices == (16, 32)
    assert values(history)[0] == {
        "lr": 1.0,
        "batch": 16,
        "bias": True,
        "model": "svm",
        "degree": -1,
    }
    assert [t.costs for t in history.trials[:2]] == [(0.5, 1.0), (0.75, 2.0)]
    assert states(history) == ["complete", "complete", "failed", "running"]
    assert history.trials[2].reason == "out of memory"
    assert (history.trials[0].started, history.trials[0].ended) == (1600000000.5, 1600000002.0)
    curve = history.trials[1].curve
    assert curve is not None
    assert curve.values.tolist() == [[0.25, 2.0], [0.75, 2.0]]
    assert read(tmp_path / "vizier.db", study="tune").trials == history.trials
    with pytest.raises(SourceError, match="no study 'x'"):
        read(tmp_path / "vizier.db", study="x")


def test_any_bytes_of_a_vizier_study_are_read_or_refused(tmp_path: Path) -> None:
    path = tools.vizier(tmp_path / "vizier.db")
    rng = random.Random(0)
    with closing(sqlite3.connect(path)) as database:
        columns = {"trials": "serialized_trial", "studies": "serialized_study"}
        outcomes: set[object] = set()
        for _ in range(60):
            table, column = rng.choice(list(columns.items()))
            rows = database.execute(f"SELECT rowid, {column} FROM {table}").fetchall()
            row, content = rng.choice(rows)
            at = rng.randrange(len(content))
            spoilt = content[:at] + rng.randbytes(rng.randrange(3)) + content[at + 1 :]
            change = f"UPDATE {table} SET {column} = ? WHERE rowid = ?"
            database.execute(change, (spoilt, row))
            database.commit()
            try:
                outcomes.add(len(read(path).trials))
            except hl.HyperlensError as problem:
                outcomes.add(str(problem)[:20])
            database.execute(change, (content, row))
    assert 4 in outcomes
    assert len(outcomes) > 1


def test_amltk(tmp_path: Path) -> None:
    history = read(tools.amltk(tmp_path / "run"))
    assert [(o.name, o.maximize) for o in history.objectives] == [("loss", False), ("acc", True)]
    assert [t.costs for t in history.trials[:2]] == [(0.5, 0.9), (0.25, 0.8)]
    assert history.space.conditions == {"degree": "model is svm"}
    assert [(t.seed, t.budget) for t in history.trials] == [(7, 1.0), (7, 3.0), (7, 3.0)]
    assert (states(history)[2], history.trials[2].reason) == ("failed", "boom")
    tools.put(tmp_path / "run" / "configspace.json", tools.SPACE)
    assert read(tmp_path / "run").space["lr"].upper == 1.0
    assert read(tmp_path / "run" / "history.csv").trials == history.trials


@pytest.mark.parametrize("joined", [True, False])
def test_cave(joined: bool, tmp_path: Path) -> None:
    history = read(tools.cave(tmp_path, joined))
    assert values(history) == [*tools.CONFIGS.values(), tools.CONFIGS["3"]]
    assert [t.costs[0] for t in history.trials[:3]] == tools.COSTS
    assert [t.instance for t in history.trials] == ["i1", "i1", "i2", "i1"]
    assert [t.seed for t in history.trials] == [7, 7, 7, 8]
    assert states(history)[3] == "failed"
    assert history.space.conditions == {"degree": "model is svm"}
    assert history.space["lr"].log
    assert not history.objective().maximize


def test_an_old_folder_of_smac_with_its_space_as_pcs(tmp_path: Path) -> None:
    history = read(tools.smac_1(tmp_path / "run"))
    (tmp_path / "run" / "configspace.json").unlink()
    pcs = tools.cave(tmp_path / "cave") / "configspace.pcs"
    pcs.rename(tmp_path / "run" / "configspace.pcs")
    again = read(tmp_path / "run")
    assert again.trials == history.trials
    assert again.space.conditions == history.space.conditions
    tools.put(tmp_path / "run" / "configspace.pcs", "no space\n")
    assert read(tmp_path / "run").space.inferred


# Packed


def optuna_journal(path: Path) -> Path:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    backend = optuna.storages.journal.JournalFileBackend(str(path))
    study = optuna.create_study(storage=optuna.storages.JournalStorage(backend), study_name="a")
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), 3)
    return path


FILES: dict[str, Callable[[Path], Path]] = {
    "vizier.db": tools.vizier,
    "history.json": tools.openbox,
    "flaml.log": tools.flaml,
    "journal.log": optuna_journal,
    "ax.json": lambda path: tools.ax(path, tools.AX_METRIC),
}


@pytest.mark.parametrize("name", FILES)
def test_gzip_of_any_log_is_the_log(name: str, tmp_path: Path) -> None:
    path = FILES[name](tmp_path / name)
    history = read(path)
    (tmp_path / "new").mkdir()
    for ending, pack in ((".gz", gzip), (".bz2", bz2), (".xz", lzma)):
        zipped = tmp_path / "new" / f"{name}{ending}"
        zipped.write_bytes(pack.compress(path.read_bytes()))
        again = read(zipped)
        assert again.trials == history.trials
        assert again.source == history.source


def test_a_folder_whose_files_are_packed_one_by_one_is_the_folder(tmp_path: Path) -> None:
    folder = tools.smac_1(tmp_path / "plain" / "run")
    packed_one = tmp_path / "plain" / "gz" / "run"
    packed_one.mkdir(parents=True)
    for k, path in enumerate(sorted(folder.iterdir())):
        content = path.read_bytes()
        ending, content = (".gz", gzip.compress(content)) if k % 2 else ("", content)
        (packed_one / f"{path.name}{ending}").write_bytes(content)
    assert any(path.suffix == ".gz" for path in packed_one.iterdir())
    again = read(packed_one)
    assert again.trials == read(folder).trials
    assert again.source == "SMAC run gz/run"


def tar_of(folder: Path, path: Path, **more: bytes) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        archive.add(folder, folder.name)
        for name, content in more.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


@pytest.mark.parametrize("kind", ["smac_object", "syne_tune", "ray"])
def test_an_archive_of_a_folder_is_the_folder(kind: str, tmp_path: Path) -> None:
    objective = "loss" if kind == "ray" else None
    folder = tools.WRITERS[kind](tmp_path / "run")
    history = read(folder, objective=objective)
    tar = tar_of(folder, tmp_path / "all.tar.gz")
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for file in folder.rglob("*"):
            archive.write(file, file.relative_to(tmp_path))
    for path in (tar, tmp_path / "all.zip"):
        assert read(path, objective=objective).trials == history.trials


def test_no_name_leads_out_of_an_archive_and_models_are_left_in_it(tmp_path: Path) -> None:
    folder = tools.WRITERS["smac_object"](tmp_path / "in" / "run")
    path = tar_of(
        folder,
        tmp_path / "in" / "run.tgz",
        **{
            "../../escaped.json": b"{}",
            "/tmp/hyperlens-escaped.json": b"{}",
            "model.pt": b"0" * 999,
        },
    )
    with packed.unpacked(path, "gzip") as tar, packed.unpacked(tar, "tar") as inner:
        inside = sorted(p.name for p in inner.rglob("*") if p.is_file())
        assert inside == ["configspace.json", "runhistory.json", "scenario.json"]
        assert not list(tmp_path.rglob("escaped.json"))
    assert not inner.exists()
    assert not Path("/tmp/hyperlens-escaped.json").exists()


def test_what_is_wrong_inside_is_said_of_the_file_that_was_given(tmp_path: Path) -> None:
    path = tmp_path / "run.json.gz"
    path.write_bytes(gzip.compress(b'{"a": '))
    with pytest.raises(SourceError) as problem:
        read(path)
    assert f"'{path}'" in str(problem.value)
    assert "hyperlens-" not in str(problem.value)
    folder = tools.WRITERS["smac_object"](tmp_path / "run")
    tools.put(folder / "runhistory.json", {"data": 3})
    with pytest.raises(SourceError, match=r"all\.tar\.gz/run/runhistory\.json' does not hold"):
        read(tar_of(folder, tmp_path / "all.tar.gz"))


def test_bombs_and_layers_without_end_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = tools.flaml(tmp_path / "flaml.log").read_bytes()
    for _ in range(packed.MOST_LAYERS + 1):
        content = gzip.compress(content)
    (tmp_path / "layers.gz").write_bytes(content)
    with pytest.raises(SourceError, match="packed more than 3 times"):
        read(tmp_path / "layers.gz")
    monkeypatch.setattr(extent, "MOST_BYTES", 2**20)
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(b"0" * 2**22))
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", b"0" * 2**22)
    for name in ("bomb.gz", "bomb.zip"):
        with pytest.raises(SourceError, match=r"MiB, more than the 1 .*HYPERLENS_LIMIT="):
            read(tmp_path / name)


@pytest.mark.parametrize("content", [b"\x1f\x8bno gzip", b"PK\x03\x04no zip"])
def test_packing_that_is_damaged_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "run").write_bytes(content)
    with pytest.raises(SourceError, match=r"cannot be read .*; pack it again\."):
        read(tmp_path / "run")


# Folders


def test_a_folder_says_which_runs_it_holds(tmp_path: Path) -> None:
    tools.syne_tune(tmp_path / "sync" / "demo")
    tools.neps(tmp_path / "neps")
    tools.vizier(tmp_path / "vizier.db")
    tools.put(tmp_path / "notes.csv", "a,b\n1,2\n")
    with pytest.raises(SourceError) as problem:
        read(tmp_path)
    assert str(problem.value) == (
        f"The folder '{tmp_path}' holds 3 runs; choose one of 'neps' (NePS), 'sync/demo' (Syne Tune), "
        "'vizier.db' (Vizier)."
    )


def test_the_one_run_of_a_folder_is_read_and_named(tmp_path: Path) -> None:
    tools.vizier(tmp_path / "out" / "vizier.db")
    tools.put(tmp_path / "out" / "figure.csv", "a,b\n1,2\n")
    history = read(tmp_path / "out")
    assert history.notes[0] == "Of the folder 'out', 'vizier.db' was read (Vizier)."
    assert len(history.trials) == 4


def test_a_folder_without_a_run_says_what_it_holds(tmp_path: Path) -> None:
    (tmp_path / "model.pkl").write_bytes(b"\x80\x05")
    tools.put(tmp_path / "log.txt", "hello")
    tools.put(tmp_path / "settings.json", {"a": 1})
    with pytest.raises(SourceError) as problem:
        read(tmp_path)
    assert "(it holds 1 pickle, which is never opened; 'log.txt', 'settings.json')" in str(
        problem.value
    )
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError, match="a folder without a file"):
        read(tmp_path / "empty")


# Columns that are called like results


def test_results_are_no_parameters() -> None:
    rng = np.random.default_rng(0)
    names = ["lr", "loss_weight", "loss", "test_loss", "trainTime", "precision", "accuracy"]
    frame = pd.DataFrame(rng.uniform(size=(20, len(names))), columns=names)
    history = read(frame)
    assert set(history.space.names) == {"lr", "loss_weight", "precision"}
    told = [note for note in history.notes if note.startswith("Taken as results by their names")]
    assert len(told) == 1
    assert "'test_loss', 'trainTime', 'accuracy'" in told[0]
    assert not any("were ignored" in note for note in history.notes)
    named = read(frame, parameters=["lr", "test_loss"])
    assert set(named.space.names) == {"lr", "test_loss"}


def test_a_result_by_name_that_is_text_is_a_parameter() -> None:
    frame = pd.DataFrame(
        {"C": [1.0, 2.0, 3.0, 4.0], "loss": ["hinge", "log"] * 2, "value": [4.0, 3.0, 2.0, 1.0]}
    )
    assert set(read(frame, objective="value").space.names) == {"C", "loss"}
    alone = pd.DataFrame({"error": [1.0, 2.0, 3.0], "value": [4.0, 3.0, 2.0]})
    assert read(alone, objective="value").space.names == ("error",)  # there is nothing else
    assert State.COMPLETE in {t.state for t in read(alone, objective="value").trials}
