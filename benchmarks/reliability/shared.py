"""Processes that are killed, that share a storage, and a server that is started again under them."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from crashes import SPACE, cost, shape

import hyperlens as hl
from benchmarks.reliability import Row
from benchmarks.reliability.storages import storages

ABOUT = """
Commands that share a storage have failed if one of them does, if a configuration comes twice, or, but
for asynchronous halving, if what they did together is not what one does alone. A run whose server is
started again, or whose file is locked, has failed if it ends, or if it is not the undisturbed one.
"""
COMMANDS = {"SQLite": 4, "postgresql": 8}
LOCKED = 20.0  # seconds
PATIENCE = 900.0  # seconds for what must end by itself
SLOW = """
import sys, time
sys.path.insert(0, {tests!r})
from crashes import SPACE, cost
import hyperlens as hl
hl.minimize(lambda c, b=1.0: (time.sleep(0.02), cost(c, b))[1], SPACE, {optimizer!r}, {trials}, seed=1,
            storage={storage!r})
"""


def rows() -> Iterator[Row]:
    """On a file."""
    with storages("SQLite") as found:
        yield from _killed_and_shared("SQLite", found["SQLite"])
        yield _locked(found["SQLite"])


def on_servers() -> Iterator[Row]:
    with storages("postgresql") as found:
        for kind, create in found.items():
            yield from _killed_and_shared(kind, create)
            yield _restarted(create)


def _started(optimizer: str, trials: int, storage: str) -> subprocess.Popen[bytes]:
    tests = str(Path(__file__).resolve().parents[2] / "tests")
    program = SLOW.format(tests=tests, optimizer=optimizer, trials=trials, storage=storage)
    return subprocess.Popen([sys.executable, "-c", program])


def _killed_and_shared(kind: str, create: Callable[[str], str]) -> Iterator[Row]:
    for optimizer, trials in {"random": 20, "hyperband": 9, "asha": 6}.items():
        whole = hl.minimize(cost, SPACE, optimizer, trials, seed=1)
        address = create(f"killed_{optimizer}")
        ends = 0
        for _ in range(2):
            process = _started(optimizer, trials, address)
            began = _trials(address)
            while process.poll() is None and _trials(address) < began + 2:
                time.sleep(0.2)  # so long as it has told nothing new
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                ends += 1
            process.wait()
        run = hl.minimize(cost, SPACE, optimizer, trials, seed=1, storage=address)
        yield Row(f"{optimizer} ended by SIGKILL on {kind}", ends, int(shape(run) != shape(whole)))
        address, many = create(f"shared_{optimizer}"), COMMANDS[kind]
        hl.minimize(cost, SPACE, optimizer, trials, seed=1, storage=address, time=0.0)
        together = [_started(optimizer, trials, address) for _ in range(many)]
        codes = [process.wait(PATIENCE) for process in together]
        read = hl.read(address)
        twice = len(read.trials) - len({tuple(t.values.items()) for t in read.trials})
        lost = (shape(whole) - shape(read)).total() if optimizer != "asha" else 0
        failed = sum(map(bool, codes)) + twice + lost
        yield Row(f"{many} commands of {optimizer} on one {kind}", many, failed)


def _trials(address: str) -> int:
    try:
        return len(hl.read(address).trials)
    except hl.HyperlensError:  # none yet
        return 0


def _locked(create: Callable[[str], str]) -> Row:
    """Another program locks the file in the middle of a run."""
    address = create("locked")
    seen: list[Any] = []

    def locking(values: Any) -> float:
        if len(seen) == 5:
            lock = sqlite3.connect(address.removeprefix("sqlite:///"), check_same_thread=False)
            lock.execute("BEGIN EXCLUSIVE")
            threading.Timer(LOCKED, lock.close).start()
        seen.append(values)
        return cost(values)

    whole = hl.minimize(cost, SPACE, "random", 12, seed=1)
    try:
        run = hl.minimize(locking, SPACE, "random", 12, seed=1, storage=address)
        failed = int(shape(run) != shape(whole) or len(seen) != 12)
    except hl.HyperlensError as problem:
        print(problem, file=sys.stderr)
        failed = 1
    return Row(f"SQLite is locked for {LOCKED:.0f} s in the middle of a run", 1, failed)


def _restarted(create: Any) -> Row:
    """The server itself is stopped and started again, three times in a run."""
    address = create("restarted")
    times = []

    def interrupt() -> None:
        for _ in range(3):
            time.sleep(1.0)
            start = time.monotonic()
            create.restart()
            times.append(time.monotonic() - start)

    def slow(values: Any) -> float:
        time.sleep(0.2)
        return cost(values)

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        failed = int(len(hl.minimize(slow, SPACE, "random", 40, storage=address).trials) != 40)
    except hl.HyperlensError as problem:
        print(problem, file=sys.stderr)
        failed = 1
    thread.join()
    away = f"away for {min(times):.1f} to {max(times):.1f} s"
    return Row(f"PostgreSQL is started again in the middle of a run ({away})", len(times), failed)
