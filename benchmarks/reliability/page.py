"""The live page under attack: requests that never end, brackets without end, many clients, cancels."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.reliability import Row
from benchmarks.report import Page

ABOUT = """
`hyperlens serve` on a run of 200 trials. A half-request has failed if its connection is still open
after 30 s, a hostile body if it is answered with anything but a refusal, a client if one of its requests
gets no answer; the page has failed if it does not answer while all of that goes on. Its log and its
processes are counted afterwards.
"""
HALVES, CLIENTS, CANCELS = 1100, 200, 200


@contextmanager
def served(folder: Path) -> Iterator[tuple[Page, subprocess.Popen[str], Path]]:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.random((200, 4)), columns=["a", "b", "c", "loss"])
    table.to_csv(folder / "run.csv", index=False)
    log = folder / "log"
    with log.open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "hyperlens", "serve", str(folder / "run.csv"), "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        try:
            assert process.stdout is not None
            page = Page(int(process.stdout.readline().split("127.0.0.1:")[1].split("/")[0]))
            while not page.ask("/api/runs")["ready"] or not page.ask("/api/state?run=0")["ready"]:
                time.sleep(0.1)
            yield page, process, log
        finally:
            process.terminate()
            process.wait(60)


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as name, served(Path(name)) as (page, process, log):
        time.sleep(5)  # until both its workers have begun
        before = _children(process.pid)
        yield from _halves(page)
        yield _bodies(page)
        yield _clients(page)
        yield from _cancels(page, process.pid, before)
        size = log.stat().st_size
        yield Row("bytes of the log after all that", 1, int(size > 10**6), f"{size}", "under 1 MB")


def _halves(page: Page) -> Iterator[Row]:
    halves = []
    for _ in range(HALVES):
        with suppress(OSError):
            half = socket.create_connection(("127.0.0.1", page.port), timeout=10)
            half.sendall(b"GET / HTTP/1.1\r\n")
            halves.append(half)
    start = time.monotonic()
    answered = 0
    for _ in range(5):
        with suppress(OSError, RuntimeError, http.client.HTTPException):
            page.ask("/api/runs")
            answered += 1
        time.sleep(4)
    waited = time.monotonic() - start
    open_still = 0
    for half in halves:
        half.settimeout(max(0.01, 30 - (time.monotonic() - start)))
        try:
            open_still += half.recv(1) != b""
        except TimeoutError:
            open_still += 1
        except OSError:
            pass
        half.close()
    yield Row("half-requests", HALVES, open_still)
    yield Row(f"requests in the {waited:.0f} s meanwhile: at least one answered", 5, int(not answered),
              f"{answered} answered", "1")  # fmt: skip


def _bodies(page: Page) -> Row:
    deep = b"[" * 30_000 + b"]" * 30_000
    bodies = [
        deep,
        b'{"run": 0, "section": ' + deep + b"}",
        b'{"run": 0, "section": "overview", "budget": 1e999}',
        b'{"run": 0, "section": "overview", "budget": Infinity}',
        b'{"run": 1e99, "section": "overview"}',
        b'{"run": 0, "section": "' + b"x" * 10**6 + b'"}',
        b"\xff" * 1000,
        b"",
        b"null",
        b'{"run": 0, "section": "../../etc/passwd"}',
    ]
    failed = 0
    for body in bodies:
        connection = http.client.HTTPConnection("127.0.0.1", page.port, timeout=60)
        try:
            connection.request("POST", "/api/ask", body, {"Content-Type": "application/json"})
            failed += not 400 <= connection.getresponse().status < 500
        except OSError:
            failed += 1
        finally:
            connection.close()
    return Row("hostile bodies: nested, infinite, long, no JSON", len(bodies), failed)


def _clients(page: Page) -> Row:
    page.card("overview")

    def client(_: int) -> list[float]:
        took = []
        for path in ("/", "/api/runs", "/api/state?run=0"):
            start = time.perf_counter()
            page.ask(path)
            took.append(time.perf_counter() - start)
        return took

    def tried(k: int) -> list[float] | None:
        try:
            return client(k)
        except (OSError, RuntimeError, http.client.HTTPException):
            return None

    with ThreadPoolExecutor(CLIENTS) as pool:
        found = list(pool.map(tried, range(CLIENTS)))
    waits = [wait for one in found if one is not None for wait in one]
    slow = f"99 % within {np.quantile(waits, 0.99):.2f} s"
    return Row("clients at once, three requests each", CLIENTS, found.count(None), slow)


def _cancels(page: Page, process: int, before: int) -> Iterator[Row]:
    failed = 0
    for k in range(CANCELS):
        body: dict[str, Any] = {"run": 0, "section": "importance", "seed": k}
        try:
            ticket = page.ask("/api/ask", body).get("ticket")
            if ticket is not None:
                page.ask("/api/cancel", {"ticket": ticket})
        except (OSError, RuntimeError, json.JSONDecodeError):
            failed += 1
    yield Row("answers that are cancelled", CANCELS, failed)
    time.sleep(10)
    left = _children(process) - before
    yield Row("processes left over after them", CANCELS, max(0, left))


def _children(process: int) -> int:
    found = 0
    for task in Path(f"/proc/{process}/task").iterdir():
        found += len((task / "children").read_text().split())
    return found
