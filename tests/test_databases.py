"""Runs kept in PostgreSQL and in MariaDB: real servers of our own, on loopback."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import crashes
import optuna
import pytest
from servers import SERVERS, Missing, Restarting

import hyperlens as hl
from hyperlens import Parameter
from hyperlens.proposal import Proposal
from hyperlens.runs.databases import parse
from hyperlens.runs.history import State

optuna.logging.set_verbosity(optuna.logging.ERROR)


@pytest.fixture(scope="module", params=SERVERS)
def server(request: pytest.FixtureRequest) -> Iterator[Restarting]:
    """Creates a database by its name and says its address."""
    start, driver = SERVERS[request.param]
    pytest.importorskip(driver, reason=f"no driver: pip install {driver}")
    try:
        with start() as create:
            yield create
    except Missing as missing:
        pytest.skip(str(missing))


def bowl(values: Mapping[str, Any]) -> float:
    return float((values["x"] - 1) ** 2 + values["n"])


SPACE = hl.Space.of([Parameter("x", "float", -5, 5), Parameter("n", "integer", 0, 3)])


def test_a_run_goes_on_and_is_read_from_a_server(server: Restarting) -> None:
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


def test_tune_and_many_workers_on_a_server(server: Restarting, tmp_path: Path) -> None:
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
    numbers = [t.number for t in history.trials]  # one that both drew at once was withdrawn
    assert numbers == sorted(set(numbers))


def test_a_server_may_be_started_again(
    server: Restarting, caplog: pytest.LogCaptureFixture
) -> None:
    """Stopped and started in the middle of a trial: the run waits for it, says so, and goes on."""
    address, calls = server("restarted"), iter(range(99))

    def restarting(values: Mapping[str, Any]) -> float:
        if next(calls) == 2:
            threading.Thread(target=server.restart).start()
        time.sleep(0.2)
        return bowl(values)

    whole = hl.minimize(bowl, SPACE, "random", 8)
    history = hl.minimize(restarting, SPACE, "random", 8, storage=address)
    assert [(t.values, t.costs) for t in history.trials] == [
        (t.values, t.costs) for t in whole.trials
    ]


@pytest.mark.parametrize("optimizer", ["hyperband", "asha"])
def test_a_race_killed_at_writes_to_a_server_goes_on(server: Restarting, optimizer: str) -> None:
    url = parse(server(f"killed_{optimizer}")).render_as_string(hide_password=False)
    storage = optuna.storages.RDBStorage(url)
    whole = crashes.run(optuna.storages.InMemoryStorage(), optimizer)
    left = crashes.aftermath(whole, storage, optimizer, (9, 11, 8))
    assert left.sound, left
    storage.remove_session()
    storage.engine.dispose()


def test_the_sampler_works_on_a_server(server: Restarting) -> None:
    address = server("sampled")
    storage = optuna.storages.RDBStorage(parse(address).render_as_string(hide_password=False))
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
    assert [(t.proposal or Proposal()).kind for t in history.trials] == ["initial"] * 6 + [
        "proposed"
    ] * 3
