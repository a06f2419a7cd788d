"""The report and the live page: how long, how large, and how many at once.

python -m benchmarks.report [--save]
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pandas as pd
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

import hyperlens as hl
from benchmarks.machine import description
from hyperlens.explain.models import fitting

RESULT = Path(__file__).parents[1] / "docs" / "results" / "report.md"
TRIALS, MANY, MOST, PARAMETERS, CLIENTS = 1000, 20_000, 100_000, 10, 50

Row = tuple[str, str, str]


def stored_in(folder: Path, trials: int, steps: int = 0) -> Path:
    return folder / f"{trials}_{steps}.log"


def stored(folder: Path, trials: int, steps: int = 0) -> Path:
    """A study of ten parameters, one of them a category, in a journal file; with learning curves of so
    many steps."""
    rng = np.random.default_rng(0)
    ranges: dict[str, BaseDistribution] = {
        f"x{j}": FloatDistribution(1e-4, 1.0, log=True)
        if j % 3 == 0
        else FloatDistribution(0.0, 1.0)
        for j in range(PARAMETERS - 1)
    }
    ranges["kind"] = CategoricalDistribution(["a", "b", "c"])
    path = stored_in(folder, trials, steps)
    storage = JournalStorage(JournalFileBackend(str(path)))
    study = optuna.create_study(study_name="run", storage=storage)
    X = rng.random((trials, PARAMETERS))
    found = []
    for row in X:
        params: dict[str, Any] = {
            f"x{j}": float(10 ** (4 * row[j] - 4) if j % 3 == 0 else row[j])
            for j in range(PARAMETERS - 1)
        }
        params["kind"] = "abc"[int(3 * row[-1])]
        cost = (
            np.sin(6 * row[0]) + 2 * row[1] * row[2] + (params["kind"] == "b") + 0.1 * rng.normal()
        )
        curve = {k: float(cost + np.exp(-k / 20) * (1 + row[3])) for k in range(1, steps)}
        found.append(
            optuna.trial.create_trial(
                params=params,
                distributions=ranges,
                value=float(cost),
                intermediate_values={**curve, steps: float(cost)} if steps else None,
            )
        )
    study.add_trials(found)
    return path


@dataclass(frozen=True)
class Taken:
    """Seconds of a whole command from the start of its process, and those of processors."""

    clock: float
    processors: float

    def __str__(self) -> str:
        return f"{self.clock:.1f} s ({self.processors:.1f} s of processors)"


def explained(source: Path, page: Path, compiled: Path) -> Taken:
    start, before = time.perf_counter(), os.times()
    done = subprocess.run(
        ["hyperlens", "explain", str(source), "--html", str(page)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(compiled)},
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    taken, after = time.perf_counter() - start, os.times()
    used = after.children_user + after.children_system
    used -= before.children_user + before.children_system
    return Taken(taken, used)


class Page:
    """A client of the live page."""

    def __init__(self, port: int) -> None:
        self.port = port

    def ask(self, path: str, body: Any = None) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            if body is None:
                connection.request("GET", path)
            else:
                sent = {"Content-Type": "application/json"}
                connection.request("POST", path, json.dumps(body), sent)
            answer = connection.getresponse()
            content = answer.read()
            if answer.status != 200:
                raise RuntimeError(f"{path}: {answer.status}")
            return json.loads(content) if path.startswith("/api") else content
        finally:
            connection.close()

    def card(self, name: str, **more: Any) -> float:
        """Seconds until a card is there."""
        start = time.perf_counter()
        found = self.ask("/api/ask", {"run": 0, "section": name, **more})
        while found["state"] in ("waiting", "running"):
            time.sleep(0.02)
            found = self.ask(f"/api/job?ticket={found['ticket']}")
        assert found["state"] == "done", found
        return time.perf_counter() - start


@contextmanager
def serving(source: Path, compiled: Path) -> Iterator[tuple[Page, float, float]]:
    """The page; seconds until it answered, and until the run was read."""
    start = time.perf_counter()
    process = subprocess.Popen(
        ["hyperlens", "serve", str(source), "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(compiled), "PYTHONUNBUFFERED": "1"},
    )
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline().split("127.0.0.1:")[1].split("/")[0])
        page = Page(port)
        page.ask("/")
        answered = time.perf_counter() - start
        while not page.ask("/api/runs")["ready"]:
            time.sleep(0.02)
        while not page.ask("/api/state?run=0")["ready"]:
            time.sleep(0.02)
        yield page, answered, time.perf_counter() - start
    finally:
        process.terminate()
        process.wait(30)


def report_rows(folder: Path) -> list[Row]:
    small, large = stored(folder, TRIALS), stored(folder, MANY)
    page, compiled = folder / "report.html", folder / "compiled"
    cold = explained(small, page, compiled)
    size = page.stat().st_size / 1e6
    warm = explained(small, page, compiled)
    many = explained(large, page, compiled)
    big = page.stat().st_size / 1e6
    most = explained(tabled(folder, MOST, 2 * PARAMETERS), page, compiled)
    biggest = page.stat().st_size / 1e6
    return [
        (
            f"report of {TRIALS} x {PARAMETERS}, nothing compiled yet",
            str(cold),
            "at most 20 s",
        ),
        ("the same, later runs", str(warm), ""),
        ("its size", f"{size:.1f} MB", "at most 10 MB"),
        (f"report of {MANY} x {PARAMETERS}, later runs", f"{many}, {big:.1f} MB", ""),
        (
            f"report of {MOST} x {2 * PARAMETERS} from a table",
            f"{most}, {biggest:.1f} MB",
            "at most 60 s, 10 MB",
        ),
        *sample_rows(large),
    ]


def tabled(folder: Path, trials: int, parameters: int) -> Path:
    """A CSV file of random trials."""
    rng = np.random.default_rng(0)
    X = rng.random((trials, parameters))
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(parameters)])
    frame["loss"] = np.sin(6 * X[:, 0]) + 2 * X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=trials)
    path = folder / f"{trials}.csv"
    frame.to_csv(path, index=False)
    return path


def sample_rows(source: Path) -> list[Row]:
    """How far a forest's shares from a sample of the trials are from those of all."""
    found = []
    for most in (fitting.MOST_FOREST_TRIALS, MANY):
        fitting.MOST_FOREST_TRIALS = most
        record = hl.importance(hl.read(source), surrogate="forest", order=1)
        found.append(record.frame.set_index("parameters"))
    some, every = found
    away = (some["share"] - every["share"].reindex(some.index)).abs().max()
    wide = (some["high"] - some["low"]).max()
    return [
        (
            f"forest's shares from a sample of {MANY} trials: farthest from those of all",
            f"{100 * away:.1f} points",
            f"its widest interval {100 * wide:.1f} points",
        )
    ]


def page_rows(folder: Path) -> list[Row]:
    source, compiled = stored_in(folder, TRIALS), folder / "compiled"
    with serving(source, compiled) as (page, answered, read):
        first = page.card("overview")
        again = page.card("overview")
        slow = ThreadPoolExecutor(1).submit(page.card, "importance")
        waits = []
        while not slow.done():
            start = time.perf_counter()
            page.ask("/api/state?run=0")
            page.card("overview")
            waits.append(time.perf_counter() - start)
            time.sleep(0.05)
        cached = max(page.card(card) for card in ("overview", "importance"))
        effect = page.card("effects", parameter="x0")
        switched = page.card("effects", parameter="x1")

        def client(k: int) -> float:
            start = time.perf_counter()
            page.ask("/")
            page.ask("/api/runs")
            page.ask("/api/state?run=0")
            page.card("overview")
            page.card("importance")
            return time.perf_counter() - start

        with ThreadPoolExecutor(CLIENTS) as pool:
            took = list(pool.map(client, range(CLIENTS)))
    return [
        ("page answers after the start of its command", f"{answered:.2f} s", "at most 2 s"),
        (f"{TRIALS} trials are read", f"{read:.2f} s", ""),
        ("overview, first time", f"{first:.2f} s", ""),
        ("overview, again", f"{again:.3f} s", "at most 1 s"),
        ("importance with intervals, first time", f"{slow.result():.1f} s", ""),
        ("longest wait for state and overview meanwhile", f"{max(waits):.2f} s", "at most 1 s"),
        ("slowest cached card", f"{cached:.3f} s", "at most 1 s"),
        ("effect of a parameter; of another one", f"{effect:.2f} s; {switched:.2f} s", ""),
        (
            f"{CLIENTS} clients at once, five requests each",
            f"no error, the slowest {max(took):.2f} s",
            "no error",
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--save", action="store_true", help="write docs/results/report.md")
    chosen = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = report_rows(folder) + page_rows(folder)
    lines = ["| what | measured | beside |", "|---|---|---|"]
    lines += [f"| {a} | {b} | {c} |" for a, b, c in rows]
    text = f"# Report and live page\n\n`python -m benchmarks.report`. {description()}\n\n"
    text += "\n".join(lines) + "\n\n"
    text += (
        f"When it began, {before:.1f} processes wanted the {os.cpu_count()} cores on average; where "
        "that is more than the cores, seconds of the clock are those of a busy machine.\n"
    )
    print(text)
    if chosen.save:
        RESULT.write_text(text)


if __name__ == "__main__":
    main()
