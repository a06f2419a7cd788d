"""Large runs: explained, read, served and tuned."""

from __future__ import annotations

import os
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

from optuna.distributions import CategoricalDistribution, FloatDistribution, distribution_to_json
from optuna.storages import RDBStorage

import hyperlens as hl
from benchmarks.reliability import Row
from benchmarks.reliability.storages import storages
from benchmarks.report import Page, tabled
from hyperlens import words
from hyperlens.explain.models import fitting
from hyperlens.optimize.storage import patient
from hyperlens.sections.analysis import analyse
from hyperlens.surrogates.protocol import SurrogateKind

ABOUT = """
Seconds are those of processors, of all processes together, and of the clock; where others want the cores
too the clock tells more of them than of Hyperlens, and where several processes work at once they use
more than the clock shows. A row has failed if both are more than what is wanted, or the memory is.
"""
LIVE = f"""{ABOUT}
What first cards take: the page's process 0.2 s until its worker begins; the worker 0.3 s until it has
listed the study, 0.9 s for 500,000 values out of SQLite, 0.5 s for ConfigSpace, which loads SciPy's
statistics, 0.6 s for trials, space and digest, and 0.5 s for the cards. A second worker begins when the
run has been read; nobody waits for it, and its 0.2 s count as processors' time.
"""
TUNING = """
Milliseconds of all calls to the storage: of the clock, also while others have the cores, and of
processors, the search's own in these calls and the server's. The search waits for each call, so on a
machine with nothing else to do the clock shows about what both use together, and what a disk takes to
keep a transaction. A row has failed if both are more than what is wanted. A trial of five parameters is
27 statements in two transactions, 23 of them in the one in which Optuna writes a new trial: three for
each parameter.
"""
EXPLAINED, READ, SERVED, LISTED, TUNED, WORKERS = 100_000, 1_000_000, 50_000, 1000, 5000, 32
FEW, PARAMETERS = 10_000, 20
MORE = {"MOST_GP_TRIALS": 2, "MOST_FOREST_TRIALS": 4}  # times as many rows as are learnt from


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        yield from _explained(folder)
        yield from _sampled(folder)
        yield _told(folder)
        yield _read(folder)


def live() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as name:
        yield from _served(Path(name))
        yield from _listed(Path(name))


def _explained(folder: Path) -> Iterator[Row]:
    _measured("explain", str(tabled(folder, 100, PARAMETERS)))  # so that all is compiled
    before = 0.0
    for trials in (FEW, EXPLAINED):
        source, page = tabled(folder, trials, PARAMETERS), folder / "report.html"
        used, clock, peak = _measured("explain", str(source), "--html", str(page))
        size = page.stat().st_size / 1e6
        what = f"hyperlens explain, {trials} trials x {PARAMETERS}"
        yield Row(
            what,
            1,
            int(min(used, clock) > 60),
            f"{used:.0f} s of processors, {clock:.0f} s",
            "60 s",
        )
        yield Row("its memory", 1, int(peak > 1000), f"{peak:.0f} MB", "1000 MB")
        yield Row("its report", 1, int(size > 10), f"{size:.1f} MB", "10 MB")
        if before:
            grown, data = used / before, trials / FEW
            what = f"cost of {trials} trials beside that of {FEW}"
            yield Row(what, 1, int(grown > data), f"{grown:.1f} times", f"{data:g} times")
        before = used


def _sampled(folder: Path) -> Iterator[Row]:
    """Shares of what is learnt from a sample, beside those of a larger one."""
    history = hl.read(folder / f"{EXPLAINED}.csv")
    limits: dict[SurrogateKind, str] = {
        "additive": "MOST_GP_TRIALS",
        "forest": "MOST_FOREST_TRIALS",
    }
    for surrogate, limit in limits.items():
        found, most = [], getattr(fitting, limit)
        for times in (1, MORE[limit]):
            setattr(fitting, limit, most * times)
            history.memory.clear()
            record = hl.importance(history, order=1, surrogate=surrogate)
            found.append(record.frame.set_index("parameters"))
        setattr(fitting, limit, most)
        some, more = found
        more = more.reindex(some.index)
        outside = (more["share"] < some["low"]) | (more["share"] > some["high"])
        away = float((more["share"] - some["share"]).abs().max())
        wide = float((some["high"] - some["low"]).max())
        what = (
            f"shares of {EXPLAINED} trials by {words.SURROGATES[surrogate]}, learnt from {most}: "
            f"outside their intervals when learnt from {most * MORE[limit]}"
        )
        measured = f"at most {100 * away:.1f} points away, intervals up to {100 * wide:.1f} wide"
        allowed = 0.1 * len(some)  # of intervals that hold with 90 %
        failed = int(outside.sum()) if outside.sum() > allowed else 0
        yield Row(what, len(some), failed, f"{int(outside.sum())} outside, {measured}", "10 %")


def _told(folder: Path) -> Row:
    """How long nothing is said of how far an explanation is."""
    moments = [time.process_time()]
    history = hl.read(folder / f"{FEW}.csv")
    moments.append(time.process_time())
    analyse(history, progress=lambda what, done: moments.append(time.process_time()))
    moments.append(time.process_time())
    silent = max(later - sooner for sooner, later in pairwise(moments))
    what = f"progress of an explanation, {FEW} trials: steps that are told"
    measured = f"{len(moments) - 1} steps, none longer than {silent:.1f} s of processors"
    return Row(what, len(moments) - 1, int(silent > 10), measured, "10 s; the clock runs meanwhile")


def _measured(*words: str) -> tuple[float, float, float]:
    """Seconds of processors and of the clock, and the largest memory in MB, of a command."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "hyperlens", *words], stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"hyperlens {' '.join(words)} ended with {process.returncode}")
    clock = time.perf_counter() - start
    return usage.ru_utime + usage.ru_stime, clock, usage.ru_maxrss * 1024 / 1e6


def _read(folder: Path) -> Row:
    source = tabled(folder, READ, 20)
    program = f"import hyperlens as hl; assert len(hl.read({str(source)!r}).trials) == {READ}"
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True)
    after, clock = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - start
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    measured = f"{used:.0f} s of processors, {clock:.0f} s"
    return Row(f"a table of {READ} x 20 is read", 1, int(min(used, clock) > 180), measured, "180 s")


def filled(path: Path, studies: int, trials: int, parameters: int = 10) -> None:
    """An Optuna database of random trials, written by SQL, since Optuna takes minutes for it."""
    storage = RDBStorage(f"sqlite:///{path}")
    storage.engine.dispose()
    ranges: dict[str, Any] = {f"x{j}": FloatDistribution(0, 1) for j in range(parameters - 1)}
    ranges["kind"] = CategoricalDistribution(["a", "b", "c"])
    texts = {name: distribution_to_json(one) for name, one in ranges.items()}
    with closing(sqlite3.connect(path)) as database:
        for study in range(1, studies + 1):
            database.execute("INSERT INTO studies (study_id, study_name) VALUES (?, ?)",
                             (study, f"study {study}"))  # fmt: skip
            database.execute("INSERT INTO study_directions (direction, study_id, objective) "
                             "VALUES ('MINIMIZE', ?, 0)", (study,))  # fmt: skip
            add(database, study, trials, texts)
        database.commit()


def add(database: sqlite3.Connection, study: int, trials: int, texts: dict[str, str]) -> None:
    """More trials of a study."""
    (last,) = database.execute("SELECT COALESCE(MAX(trial_id), 0) FROM trials").fetchone()
    (number,) = database.execute(
        "SELECT COUNT(*) FROM trials WHERE study_id = ?", (study,)
    ).fetchone()
    rng = random.Random(last)
    moment = "2026-01-01 {:02d}:{:02d}:{:02d}.{:06d}"
    for k in range(1, trials + 1):
        x = [rng.random() for _ in range(len(texts) - 1)]
        values = [*x, float(rng.randrange(3))]
        at = last + k
        times = [moment.format(h, at // 3600 % 60, at // 60 % 60, at % 1000) for h in (0, 1)]
        database.execute("INSERT INTO trials (trial_id, number, study_id, state, datetime_start, "
                         "datetime_complete) VALUES (?, ?, ?, 'COMPLETE', ?, ?)",
                         (at, number + k - 1, study, *times))  # fmt: skip
        cells = [(at, name, v, texts[name]) for name, v in zip(texts, values, strict=True)]
        database.executemany("INSERT INTO trial_params (trial_id, param_name, param_value, "
                             "distribution_json) VALUES (?, ?, ?, ?)", cells)  # fmt: skip
        database.execute("INSERT INTO trial_values (trial_id, objective, value, value_type) "
                         "VALUES (?, 0, ?, 'FINITE')", (at, x[0] ** 2 + x[1]))  # fmt: skip


class Served:
    """`hyperlens serve`, and what its processes have used."""

    def __init__(self, source: Path) -> None:
        self.start = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "hyperlens", "serve", str(source), "--port", "0"],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        self.page = Page(int(line.split("127.0.0.1:")[1].split("/")[0]))
        self.used_before = 0.0

    def until(self, path: str) -> Any:
        while not (found := self.page.ask(path))["ready"]:
            time.sleep(0.02)
        return found

    def used(self) -> float:
        """Seconds of processors since it was asked last, of all its processes."""
        waiting, ticks = [self.process.pid], 0
        while waiting:
            process = Path(f"/proc/{waiting.pop()}")
            try:
                fields = (process / "stat").read_text().rpartition(")")[2].split()
                tasks = [(t / "children").read_text() for t in (process / "task").iterdir()]
            except OSError:
                continue
            ticks += int(fields[11]) + int(fields[12])
            waiting += [int(child) for text in tasks for child in text.split()]
        seconds = ticks / os.sysconf("SC_CLK_TCK")
        since, self.used_before = seconds - self.used_before, seconds
        return since

    def clock(self) -> float:
        since, self.start = time.perf_counter() - self.start, time.perf_counter()
        return since

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(60)


def _served(folder: Path) -> Iterator[Row]:
    path = folder / "large.db"
    filled(path, 1, SERVED)
    served = Served(path)
    try:
        served.until("/api/runs")
        served.until("/api/state?run=0")
        served.page.card("overview")
        used, clock = served.used(), served.clock()
        measured = f"{used:.1f} s of processors, {clock:.1f} s"
        what = f"first cards of serve, {SERVED} trials x 10, from the start of the command"
        yield Row(what, 1, int(min(used, clock) > 3), measured, "3 s")
        time.sleep(5)
        version = served.until("/api/state?run=0")["version"]
        served.used()
        with closing(sqlite3.connect(path)) as database:
            rows = database.execute(
                "SELECT param_name, distribution_json FROM trial_params LIMIT 10"
            )
            add(database, 1, 3, dict(rows.fetchall()))
            database.commit()
        served.clock()
        while served.page.ask("/api/state?run=0")["version"] == version:
            time.sleep(0.05)
        used, clock = served.used(), served.clock()
        measured = f"{used:.1f} s of processors, {clock:.1f} s, with the second until the next look"
        yield Row("three new trials of it are seen", 3, int(min(used, clock) > 1), measured, "1 s")
    finally:
        served.close()


def _listed(folder: Path) -> Iterator[Row]:
    path = folder / "many.db"
    filled(path, LISTED, 10)
    served = Served(path)
    try:
        found = served.until("/api/runs")["runs"]
        used, clock = served.used(), served.clock()
        measured = f"{used:.1f} s of processors, {clock:.1f} s, from the start of the command"
        failed = int(min(used, clock) > 2 or len(found) != LISTED)
        yield Row(f"{LISTED} studies are listed", LISTED, failed, measured, "2 s")
    finally:
        served.close()


def tuned() -> Iterator[Row]:
    """Many threads tell costs to one run; what its storage takes is what all its calls take together."""
    with storages("postgresql") as found:
        if not found:
            return
        address = found["postgresql"]("tuned")
        spent: list[tuple[float, float]] = []  # seconds of the clock and of our processor, by call
        call = patient._Patient.call

        def timed(self: Any, name: str, given: Any, named: Any) -> Any:
            start, used = time.perf_counter(), time.thread_time()
            try:
                return call(self, name, given, named)
            finally:
                spent.append((time.perf_counter() - start, time.thread_time() - used))

        before = _postgres()
        patient._Patient.call = timed  # type: ignore[method-assign]
        try:
            with ThreadPoolExecutor(WORKERS) as pool:
                space = [hl.Parameter(f"x{j}", "float", 0, 1) for j in range(5)]
                run = hl.minimize(
                    lambda c: float(sum(c.values())),
                    space,
                    "random",
                    TUNED,
                    storage=address,
                    engine=pool,
                    workers=WORKERS,
                )
        finally:
            patient._Patient.call = call  # type: ignore[method-assign]
        many = len(run.trials)
        clock, ours = (1000 * sum(column) / many for column in zip(*spent, strict=True))
        server = 1000 * (_postgres() - before) / many
        what = f"storage of tune on PostgreSQL, {WORKERS} workers, {many} trials"
        used = f"{ours + server:.1f} of processors ({ours:.1f} ours, {server:.1f} the server's)"
        measured = f"{clock:.1f} ms a trial, {used}, in {len(spent) / many:.1f} calls"
        yield Row(what, many, int(min(clock, ours + server) > 20), measured, "20 ms")


def _postgres() -> float:
    """Seconds of processors that servers of PostgreSQL have used, with those of their processes that
    have ended."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, fields = stat.read_text().partition("(")[2].rpartition(")")
        except OSError:  # it has ended
            continue
        if name == "postgres":
            ticks += sum(map(int, fields.split()[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")
