"""A run kept in PostgreSQL: a real server of our own, on loopback, for the length of these tests."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import optuna
import pytest

import hyperlens as hl
from hyperlens import Parameter
from hyperlens.history import State

optuna.logging.set_verbosity(optuna.logging.ERROR)


def programs() -> Path | None:
    """The folder of a server's programs; Debian keeps them off the path."""
    on_path = shutil.which("initdb")
    if on_path:
        return Path(on_path).resolve().parent
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return installed[-1].parent if installed else None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture(scope="module")
def server() -> Iterator[Callable[[str], str]]:
    """Creates a database by its name; its address. The server refuses to run as root."""
    found = programs()
    if found is None:
        pytest.skip("no PostgreSQL server is installed: apt-get install postgresql")
    pytest.importorskip("psycopg", reason="no driver: pip install hyperlens[postgresql]")
    user = None
    if os.geteuid() == 0:
        names = {entry.pw_name for entry in pwd.getpwall()}
        user = "postgres" if "postgres" in names else "nobody"
    folder = Path(tempfile.mkdtemp(prefix="hyperlens-pg-"))
    if user is not None:
        shutil.chown(folder, user)
    port = free_port()

    def call(program: str, *arguments: str) -> None:
        subprocess.run(
            [found / program, *arguments],
            check=True,
            user=user,
            cwd=folder,
            env={**os.environ, "LC_ALL": "C", "HOME": str(folder)},
            stdout=subprocess.DEVNULL,
        )

    try:
        data = str(folder / "data")
        call("initdb", "-D", data, "-U", "tester", "-A", "trust", "-N", "-E", "UTF8")
        options = (
            f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories={folder}"
        )
        call("pg_ctl", "-D", data, "-w", "-o", f"{options} -F", "-l", f"{folder}/log", "start")
        try:

            def create(name: str) -> str:
                where = ("-h", "127.0.0.1", "-p", str(port), "-U", "tester")
                call("createdb", *where, name)
                return f"postgresql://tester@127.0.0.1:{port}/{name}"

            yield create
        finally:
            call("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)


def bowl(values: Mapping[str, Any]) -> float:
    return float((values["x"] - 1) ** 2 + values["n"])


SPACE = hl.Space.of([Parameter("x", "float", -5, 5), Parameter("n", "integer", 0, 3)])


def test_a_run_goes_on_and_is_read_from_postgresql(server: Callable[[str], str]) -> None:
    address = server("going_on")
    whole = hl.minimize(bowl, SPACE, trials=12, initial=8)
    calls = iter(range(100))

    def stopping(values: Mapping[str, Any]) -> float:
        if next(calls) in (3, 9):
            raise KeyboardInterrupt
        return bowl(values)

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            hl.minimize(stopping, SPACE, trials=12, initial=8, storage=address)
    history = hl.minimize(stopping, SPACE, trials=12, initial=8, storage=address)
    assert [t.values for t in history.trials] == [t.values for t in whole.trials]
    assert [t.proposal for t in history.trials] == [t.proposal for t in whole.trials]
    again = hl.read(address)
    assert again.trials == history.trials
    assert again.space.parameters == SPACE.parameters
    assert again.source == "Optuna study 'hyperlens' in going_on"


def test_tune_and_many_workers_on_postgresql(server: Callable[[str], str], tmp_path: Path) -> None:
    """Two commands on one study at once, two workers each."""
    address = server("shared")
    (tmp_path / "train.py").write_text("def loss(c):\n    return c['x'] ** 2 + c['n']\n")
    SPACE.save(tmp_path / "space.json")
    program = "from hyperlens.cli import main; main()"
    options = ["--space", "space.json", "--trials", "30", "--optimizer", "random", "--workers", "2"]
    command = [
        sys.executable,
        "-c",
        program,
        "tune",
        "train.py:loss",
        "--storage",
        address,
        *options,
    ]
    both = [
        subprocess.Popen(
            command, cwd=tmp_path, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        for _ in range(2)
    ]
    told = [process.communicate()[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], told
    history = hl.read(address, study="train:loss")
    assert 30 <= len(history.trials) <= 33
    assert history.count(State.COMPLETE) == len(history.trials)
    assert [t.number for t in history.trials] == list(range(len(history.trials)))


def test_the_sampler_works_on_postgresql(server: Callable[[str], str]) -> None:
    address = server("sampled")
    storage = optuna.storages.RDBStorage(address.replace("postgresql", "postgresql+psycopg"))
    study = optuna.create_study(storage=storage, sampler=hl.optuna.SMBOSampler(SPACE, initial=6))
    study.optimize(
        lambda trial: bowl(
            {"x": trial.suggest_float("x", -5, 5), "n": trial.suggest_int("n", 0, 3)}
        ),
        n_trials=9,
    )
    storage.remove_session()
    storage.engine.dispose()
    history = hl.read(address)
    assert [(t.proposal or {})["kind"] for t in history.trials] == ["initial"] * 6 + [
        "proposed"
    ] * 3
