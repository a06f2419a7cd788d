"""How runs bear being killed, shared and cut off, and analyses odd studies: tried and failed, each.

    python -m benchmarks.reliability [--every 1] [--minutes 3] [--out docs/results/reliability.md]

A kill is an end of the process at a write to the storage, after which nothing more is written; the run
is gone on with, and compared with one that was never killed. `--every 3` kills at every third write.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import optuna
from optuna.storages import InMemoryStorage, RDBStorage

import hyperlens as hl
from benchmarks.machine import description
from hyperlens.runs import databases

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import odd_studies
from crashes import OPTIMIZERS, SPACE, aftermath, cost, mortal, run, shape
from servers import SERVERS, Missing

Row = tuple[str, int, int]  # what was tried, how often, how often it failed
COMMANDS = 4
PATIENCE = 300.0  # seconds for what must end by itself
SLOW = """
import sys, time
sys.path.insert(0, {tests!r})
from crashes import SPACE, cost
import hyperlens as hl
hl.minimize(lambda c, b=1.0: (time.sleep(0.02), cost(c, b))[1], SPACE, {optimizer!r}, {trials}, seed=1,
            storage={storage!r})
"""


@contextmanager
def storages() -> Iterator[dict[str, Callable[[str], str]]]:
    """Kinds of storages that are here; each makes the address of a new one of a name."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=_quick())))
        found: dict[str, Callable[[str], str]] = {
            "SQLite": lambda name: f"sqlite:///{folder / name}.db",
            "journal": lambda name: str(folder / f"{name}.log"),
        }
        for kind, (server, _) in SERVERS.items():
            try:
                found[kind] = stack.enter_context(server())
            except Missing as problem:
                print(problem, file=sys.stderr)
        yield found


def _quick() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def kills(kind: str, create: Callable[[str], str], every: int) -> Iterator[Row]:
    """Before and after every write of every optimiser: after one is before the next."""
    address = create("kills")
    url = databases.parse(address).render_as_string(False) if "://" in address else None
    storage: Any = None if url is None else RDBStorage(url)
    for optimizer in OPTIMIZERS:
        counting = mortal(InMemoryStorage())
        whole = run(counting, optimizer)
        wrong = tried = 0
        for writes in range(0, counting.written, every):
            place = address if storage is None else storage
            if storage is None:  # a journal is killed by its own storage
                from optuna.storages import JournalStorage
                from optuna.storages.journal import JournalFileBackend

                place = JournalStorage(JournalFileBackend(f"{address}{optimizer}{writes}"))
            tried += 1
            wrong += not aftermath(
                whole, place, optimizer, (writes,), f"{optimizer} {writes}"
            ).sound
        yield f"{optimizer} killed at a write to {kind}", tried, wrong


def processes(kind: str, create: Callable[[str], str]) -> Iterator[Row]:
    """Processes that are ended by SIGKILL, and several that share one storage."""
    tests = str(Path(__file__).resolve().parents[1] / "tests")
    for optimizer, trials in {"random": 20, "hyperband": 9, "asha": 6}.items():
        whole = hl.minimize(cost, SPACE, optimizer, trials, seed=1)
        address = create(f"killed_{optimizer}")
        words = [sys.executable, "-c"]
        program = SLOW.format(tests=tests, optimizer=optimizer, trials=trials, storage=address)
        ends = 0
        for wait in (4.0, 5.0):  # seconds, of which some go to the imports
            process = subprocess.Popen([*words, program])
            try:
                process.wait(wait)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                ends += 1
            process.wait()
        found = hl.minimize(cost, SPACE, optimizer, trials, seed=1, storage=address)
        yield f"{optimizer} ended by SIGKILL on {kind}", ends, int(shape(found) != shape(whole))
        address = create(f"shared_{optimizer}")
        hl.minimize(cost, SPACE, optimizer, trials, seed=1, storage=address, time=0.0)
        program = SLOW.format(tests=tests, optimizer=optimizer, trials=trials, storage=address)
        together = [subprocess.Popen([*words, program]) for _ in range(COMMANDS)]
        codes = [process.wait(PATIENCE) for process in together]
        read = hl.read(address)
        twice = len(read.trials) - len({tuple(t.values.items()) for t in read.trials})
        lost = (shape(whole) - shape(read)).total() if optimizer != "asha" else 0
        failed = sum(map(bool, codes)) + twice + lost
        yield f"{COMMANDS} commands of {optimizer} on one {kind}", COMMANDS, failed


def restart(create: Callable[[str], str]) -> Iterator[Row]:
    """PostgreSQL that ends all connections and takes none for half a second."""
    import psycopg

    address = create("restarted")
    server = f"{address.rpartition('/')[0]}/postgres"

    def interrupt() -> None:
        with psycopg.connect(server, autocommit=True) as admin:
            for _ in range(3):
                time.sleep(0.7)
                admin.execute("ALTER DATABASE restarted ALLOW_CONNECTIONS false")
                admin.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = 'restarted'"
                )
                time.sleep(0.5)
                admin.execute("ALTER DATABASE restarted ALLOW_CONNECTIONS true")

    def slow(values: Any) -> float:
        time.sleep(0.1)
        return cost(values)

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        found = hl.minimize(slow, SPACE, "random", 30, storage=address)
        failed = int(len(found.trials) != 30)
    except hl.HyperlensError as problem:
        print(problem, file=sys.stderr)
        failed = 1
    thread.join()
    yield "PostgreSQL away for half a second, three times in a run", 3, failed


def odd(minutes: float) -> Row:
    until, tried, wrong = time.monotonic() + 60 * minutes, 0, 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        while time.monotonic() < until:
            problem = odd_studies.attack(*odd_studies.case(tried))
            if problem is not None:
                print(odd_studies.case(tried), problem, file=sys.stderr)
                wrong += 1
            tried += 1
    return f"odd studies against {len(odd_studies.analyses())} analyses", tried, wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--out", type=Path, default=Path("docs/results/reliability.md"))
    given = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    rows: list[Row] = []
    with storages() as found:
        steps: list[Iterator[Row]] = [kills(k, c, given.every) for k, c in found.items()]
        steps += [processes(k, c) for k, c in found.items() if k in ("SQLite", "postgresql")]
        steps += [restart(found["postgresql"])] if "postgresql" in found else []
        for step in steps:
            for row in step:
                rows.append(row)
                print(*row, flush=True)
                given.out.write_text(page(rows, given.every, given.minutes))
    rows.append(odd(given.minutes))
    given.out.write_text(page(rows, given.every, given.minutes))


def page(rows: list[Row], every: int, minutes: float) -> str:
    lines = "\n".join(f"| {what} | {tried} | {failed} |" for what, tried, failed in rows)
    return f"""# Reliability

`python -m benchmarks.reliability --every {every} --minutes {minutes:g}`. {description()}

A run is killed at a write to its storage, so that nothing more of it is written, and gone on with. It
has failed if a trial is lost, comes twice or is left waiting, if anything but the one evaluation is
made again, or if the run differs from one of one worker that was never killed. Commands that share a
storage fail if one of them does, if a configuration comes twice, or, but for asynchronous halving, if
what they did together is not what one does alone. An odd study fails an analysis that gives neither a
record nor a sentence.

| test | tried | failed |
|---|---|---|
{lines}
"""


if __name__ == "__main__":
    main()
