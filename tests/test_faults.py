"""What goes wrong around a run: huge costs, objectives that misbehave, storages that fail."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import optuna
import pytest
from optuna.storages import InMemoryStorage
from sqlalchemy.exc import OperationalError

import hyperlens as hl
from hyperlens.optimize.running.processes import Processes
from hyperlens.optimize.running.trial_outcome import Outcome, evaluate
from hyperlens.optimize.storage import patient as patience

optuna.logging.set_verbosity(optuna.logging.ERROR)
SPACE = [hl.Parameter("x", "float", 0.0, 1.0)]
linux = pytest.mark.skipif(sys.platform != "linux", reason="tells families of processes by /proc")


# Costs that cannot be squared


def steep(values: Mapping[str, Any]) -> float:
    return 1e308 if values["x"] > 0.6 else float(values["x"])


def test_a_huge_cost_is_a_bad_cost(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path / 'run.db'}"
    first = hl.minimize(steep, SPACE, trials=5, storage=storage)
    assert any(t.costs == (1e308,) for t in first.trials)
    run = hl.minimize(steep, SPACE, trials=6, storage=storage)
    assert run.trials[:5] == first.trials
    assert hl.recommend(run).values["x"] < 0.6
    both = hl.minimize(lambda c: -1e308 if c["x"] < 0.1 else steep(c), SPACE, trials=6)
    assert len(both.trials) == 6


def test_a_huge_cost_is_a_bad_cost_for_the_sampler() -> None:
    study = optuna.create_study(sampler=hl.optuna.SMBOSampler(SPACE, seed=0, initial=4))
    study.optimize(lambda t: steep({"x": t.suggest_float("x", 0, 1)}), n_trials=6)
    assert any(t.value == 1e308 for t in study.trials)


def test_a_search_that_may_stop_meets_huge_costs() -> None:
    run = hl.minimize(steep, SPACE, "random", 24, stop=True)
    assert run.best().costs[0] < 1


# Objectives that misbehave in a process of their own


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")

    __repr__ = __str__


def mute(values: Mapping[str, Any]) -> float:
    raise Mute


def returns_mute(values: Mapping[str, Any]) -> Any:
    return Mute()


def interrupts(values: Mapping[str, Any]) -> float:
    raise KeyboardInterrupt


def closes(values: Mapping[str, Any]) -> float:
    os.closerange(3, 100)
    return 1.0


def outcome_of(objective: Callable[..., Any]) -> Outcome:
    engine = Processes(objective, 1)
    engine.start(0, {"x": 0.5}, None)
    try:
        for _ in range(30):
            for _, outcome in engine.wait(1.0):
                return outcome
    finally:
        engine.close()
    raise AssertionError("the trial did not end")


def test_what_has_no_words_is_named() -> None:
    assert (evaluate(mute, {}).reason or "").startswith("Mute (")
    assert "a Mute that cannot be shown" in (evaluate(returns_mute, {}).reason or "")


@pytest.mark.parametrize(
    ("objective", "reason"), [(interrupts, "KeyboardInterrupt"), (closes, "descriptors")]
)
def test_misbehaving_in_a_worker_is_a_reason(
    objective: Callable[..., Any], reason: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert reason in (outcome_of(objective).reason or "")
    assert not capfd.readouterr().err


@linux
def test_a_closed_descriptor_is_not_taken_for_our_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker leaves when we do; it asks the system whether we did once its descriptor is closed."""
    parent = multiprocessing.parent_process

    def late() -> Any:
        time.sleep(0.3)
        return parent()

    def closes_and_works_on(values: Mapping[str, Any]) -> float:
        os.closerange(3, 100)
        time.sleep(0.8)
        return 1.0

    monkeypatch.setattr(multiprocessing, "parent_process", late)
    assert "descriptors" in (outcome_of(closes_and_works_on).reason or "")


@linux
def test_a_dead_worker_is_noticed_while_its_child_lives(tmp_path: Path) -> None:
    """The child holds the other end of the pipe, so that the end of the worker closes nothing."""

    def forks_and_dies(values: Mapping[str, Any]) -> float:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        os.kill(os.getpid(), signal.SIGKILL)
        return 0.0

    assert outcome_of(forks_and_dies).reason == "its process was ended by SIGKILL"


@linux
@pytest.mark.parametrize("hangs", [False, True])
def test_a_trial_ends_with_its_family(tmp_path: Path, hangs: bool) -> None:
    """Also a child in a session of its own, whether the trial ends by itself or runs out of time."""
    note = tmp_path / "child"

    def starts(values: Mapping[str, Any]) -> float:
        child = subprocess.Popen(["sleep", "60"], start_new_session=True)
        note.write_text(str(child.pid))
        child.returncode = 0  # nobody waits for it
        time.sleep(60 if hangs else 0)
        return 1.0

    engine = Processes(starts, 1, timeout=1.0 if hangs else None)
    engine.start(0, {"x": 0.5}, None)
    try:
        ended: list[Any] = []
        while not ended:
            ended = engine.wait(1.0)
        child = int(note.read_text())
        for _ in range(100):
            if not Path(f"/proc/{child}").exists() or zombie(child):
                break
            time.sleep(0.05)
        assert not Path(f"/proc/{child}").exists() or zombie(child)
    finally:
        engine.close()


def zombie(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


# Clocks that jump


@pytest.mark.parametrize("optimizer", ["smbo", "random", "hyperband", "asha"])
def test_a_clock_that_jumps_changes_nothing(
    optimizer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Forwards and backwards by a day, at every look: leases and limits go by another clock."""
    days = itertools.cycle([0.0, 86400.0, -86400.0])
    jumping = SimpleNamespace(time=lambda: time.time() + next(days), monotonic=time.monotonic)
    whole = hl.minimize(bowl, SPACE, optimizer, 9, seed=1)
    monkeypatch.setattr("hyperlens.optimize.storage.store.time", jumping)
    run = hl.minimize(bowl, SPACE, optimizer, 9, seed=1, storage=InMemoryStorage())
    assert [(t.values, t.costs) for t in run.trials] == [(t.values, t.costs) for t in whole.trials]
    assert all(end >= start for t in run.trials for start, end in t.spans)
    assert hl.timeline(run).span >= 0


def bowl(values: Mapping[str, Any], budget: float = 1.0) -> float:
    return float((values["x"] - 0.3) ** 2 + 0.1 / budget)


# Storages that fail


def test_a_torn_last_line_of_a_journal_is_taken_out(tmp_path: Path) -> None:
    journal = tmp_path / "run.log"
    whole = hl.minimize(steep, SPACE, "random", 4, storage=journal)
    kept = journal.read_bytes()
    journal.write_bytes(kept[: kept.rstrip(b"\n").rfind(b"\n") + 20])
    run = hl.minimize(steep, SPACE, "random", 6, storage=journal)
    assert [t.costs for t in run.trials[:4]] == [t.costs for t in whole.trials]
    assert len(hl.read(journal).trials) == 6


def test_a_damaged_journal_is_told(tmp_path: Path) -> None:
    journal = tmp_path / "run.log"
    hl.minimize(steep, SPACE, "random", 3, storage=journal)
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines[:4], lines[4][:9] + b"\n", *lines[5:]]))
    with pytest.raises(hl.SourceError, match="damaged"):
        hl.minimize(steep, SPACE, "random", 6, storage=journal)


def test_a_removed_file_is_told(tmp_path: Path) -> None:
    file = tmp_path / "run.db"
    calls = iter(range(9))

    def removes(values: Mapping[str, Any]) -> float:
        if next(calls) == 3:
            file.unlink()
            file.write_bytes(b"")
        return 1.0

    with pytest.raises(hl.SourceError, match="removed or replaced"):
        hl.minimize(removes, SPACE, "random", 6, storage=file)


@pytest.mark.parametrize("part", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_flipped_bits_are_a_sentence_or_nothing(tmp_path: Path, part: float) -> None:
    file = tmp_path / "run.db"
    hl.minimize(steep, SPACE, "random", 3, storage=file)
    content = bytearray(file.read_bytes())
    start = int(part * len(content))
    content[start : start + 4000] = bytes(b ^ 0x41 for b in content[start : start + 4000])
    file.write_bytes(content)
    told = ""
    try:
        hl.minimize(steep, SPACE, "random", 5, storage=file)
    except hl.HyperlensError as problem:
        told = str(problem)
    assert len(told.splitlines()) <= 1


def test_a_damaged_database_is_to_be_restored(tmp_path: Path) -> None:
    file = tmp_path / "run.db"
    hl.minimize(steep, SPACE, "random", 3, storage=file)
    content = file.read_bytes()
    file.write_bytes(content[:100] + bytes(b ^ 0x41 for b in content[100:]))
    with pytest.raises(hl.SourceError, match=r"is damaged .*; restore it from a backup"):
        hl.minimize(steep, SPACE, "random", 5, storage=file)


@linux
def test_a_full_disk_is_told_and_gone_on_with(tmp_path: Path) -> None:
    """A file that may not grow is what a full disk is to SQLite."""
    import resource

    file = tmp_path / "run.db"
    whole = hl.minimize(steep, SPACE, "random", 24)
    hl.minimize(steep, SPACE, "random", 3, storage=file)
    least, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size + 4096, most))
    try:
        with pytest.raises(hl.SourceError, match="what was written is kept"):
            hl.minimize(steep, SPACE, "random", 24, storage=file)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (least, most))
    kept = hl.read(file).trials
    assert len(kept) >= 3
    again = hl.minimize(steep, SPACE, "random", 24, storage=file)
    assert again.trials[: len(kept)] == kept
    assert [(t.values, t.costs) for t in again.trials] == [
        (t.values, t.costs) for t in whole.trials
    ]


def test_a_lock_is_waited_for(tmp_path: Path) -> None:
    """By another program, in the middle of a run; its length is what benchmarks.reliability tries."""
    file = tmp_path / "run.db"
    seen: list[Any] = []

    def locking(values: Mapping[str, Any]) -> float:
        if len(seen) == 2:
            lock = sqlite3.connect(file, check_same_thread=False)
            lock.execute("BEGIN EXCLUSIVE")
            threading.Timer(1.0, lock.close).start()
        seen.append(values)
        return steep(values)

    whole = hl.minimize(steep, SPACE, "random", 6)
    history = hl.minimize(locking, SPACE, "random", 6, storage=file)
    assert [t.values for t in history.trials] == [t.values for t in whole.trials]
    assert len(seen) == 6


class Away(InMemoryStorage):
    """Of a server that is away for so many calls."""

    engine = SimpleNamespace(
        url=SimpleNamespace(get_backend_name=lambda: "postgresql"), dispose=lambda: None
    )

    def __init__(self, calls: int) -> None:
        super().__init__()
        self.calls = calls

    def set_trial_state_values(self, *given: Any, **named: Any) -> bool:
        if self.calls:
            self.calls -= 1
            raise OperationalError("select 1", {}, Exception("connection refused"))
        return super().set_trial_state_values(*given, **named)


def test_a_server_that_is_away_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(patience, "PAUSE", 0.0)
    assert len(hl.minimize(steep, SPACE, "random", 3, storage=Away(5)).trials) == 3
    assert caplog.messages == ["The storage in Away does not answer; trying again for 60 s."]
    monkeypatch.setattr(patience, "PATIENCE", 0.0)
    with pytest.raises(hl.SourceError, match="connection refused"):
        hl.minimize(steep, SPACE, "random", 3, storage=Away(5))
