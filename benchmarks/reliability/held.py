"""What tests hold, by what they hold: each is run, and those that fail or are skipped are counted."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from benchmarks.reliability import Row

ABOUT = """
Each row is a part of `make test`: how many tests there are for it, and how many of them failed or were
skipped.

What failed on 18 November, one of nine tests of commands on one storage while 12 processes wanted the 2
cores, is not known: names were not written down, which they are now. These nine passed in five further
runs, and the one of two processes, which had failed on busy machines before, in 16 more; then
all nine in 21 rounds beside ten processes that did nothing but compute.
"""
ROOT = Path(__file__).resolve().parents[2]
HELD: dict[str, tuple[str, ...]] = {  # what is held: files, or their tests by words of their names
    "killed at any write, killed again and again, repaired": ("test_crashes.py",),
    "killed and stopped runs go on as if they had not been": (
        "test_tune.py::killed_run or stopped_run",
        "test_run.py::stopped",
        "test_races.py::stopped_anywhere",
    ),
    "more trials than before; commands on one storage": (
        "test_crashes.py::share_the_work or more_trials",
        "test_run.py::two_processes or another_has_drawn",
        "test_races.py::two_processes",
    ),
    "PostgreSQL and MariaDB: go on, many workers, sampler": ("test_databases.py",),
    "costs of 1e308": ("test_faults.py::huge",),
    "objectives that misbehave: no words, interrupts, closed descriptors, crashes, hangs": (
        "test_faults.py::misbehaving or no_words or closed_descriptor",
        "test_engine.py::whatever or exception",
        "test_run.py::failures_of_all_kinds or crashes_and_hangs",
        "test_tune.py::whatever",
    ),
    "a worker's end is noticed, and a trial's family ends with it": (
        "test_faults.py::dead_worker or family",
        "test_engine.py::started_ends_with_it or parent_is_killed",
    ),
    "clocks that jump": ("test_faults.py::jumps",),
    "torn and damaged journals, removed files, flipped bits": (
        "test_faults.py::torn or damaged or removed or flipped",
        "test_bad_input.py::damaged or locked",
    ),
    "a server that is away": ("test_faults.py::away",),
    "a full disk, and a lock, on SQLite": ("test_faults.py::disk or lock",),
    "commands stopped by Ctrl-C or SIGTERM": (
        "test_tune.py::stopped_run",
        "test_cash_cli.py::ctrl_c or signal",
    ),
    "exports whose cells a spreadsheet would compute": (
        "test_hostile.py::spreadsheet",
        "test_bad_input.py::escaped",
    ),
    "no file of the source opens pickles or runs text": ("test_architecture.py::pickles",),
    "answers that are cancelled, and fifty clients at once": (
        "test_dashboard.py::cancelled or fifty",
    ),
    "names, dates, constants, numbers, long messages, levels": (
        "test_hostile.py::not any_analysis and not bomb and not document",
        "test_bad_input.py::names or beyond or unicode",
    ),
    "bombs of every format; what is no file": (
        "test_hostile.py::bomb or document",
        "test_fuzz.py::memory or no_file or permission",
    ),
    "mutated logs of every tool, tables, JSON and bytes": ("test_fuzz.py::spoilt or any",),
    "odd studies against every analysis, the part in make test": ("test_hostile.py::any_analysis",),
    "guards of the live page: hosts, origins, tokens, cookies, proxies, sizes, half-requests": (
        "test_dashboard_guard.py",
    ),
    "new trials are read without reading everything again": ("test_following.py",),
}


def rows() -> Iterator[Row]:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which is ignored in the background
    for what, places in HELD.items():
        tried = failed = 0
        for place in places:
            more = counted(place)
            tried, failed = tried + more[0], failed + more[1]
        yield Row(what, tried, failed)


def counted(place: str) -> tuple[int, int]:
    """How many tests of a file there are with these words in their names, and how many do not pass."""
    file, _, words = place.partition("::")
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", f"tests/{file}"]
        subprocess.run(
            [*command, "-k", words or "test"], cwd=ROOT, stdout=subprocess.DEVNULL, check=False
        )
        suite = ElementTree.parse(report).getroot()[0]
    for test in suite.iter("testcase"):
        for problem in (*test.iter("failure"), *test.iter("error")):
            print(test.get("name"), problem.text, sep="\n", file=sys.stderr, flush=True)
    wrong = sum(int(suite.get(kind, 0)) for kind in ("failures", "errors", "skipped"))
    return int(suite.get("tests", 0)), wrong
