"""Validating 100,000 trials of 20 parameters: from an Optuna database, from a table, and back.

python -m benchmarks.importers [--save]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import hyperlens as hl
from benchmarks.machine import description
from hyperlens.spaces.clauses import Clauses

RESULT = Path(__file__).parents[1] / "docs" / "results" / "importers.md"
TRIALS, PARAMETERS = 100_000, 20

# in a process of its own, so that its memory is that of one validation
MEASURED = """
import sys, time
from benchmarks.machine import peak_memory_mib
start = time.perf_counter()
import hyperlens as hl
record = hl.validate(sys.argv[1], space=sys.argv[2] or None)
taken = time.perf_counter() - start
print(taken, time.process_time(), peak_memory_mib(), record.trials, len(record.parameters))
"""


def run() -> hl.History:
    """Floats, logs, whole numbers, choices, and one in four parameters conditional."""
    parameters = [hl.Parameter("model", "categorical", choices=("a", "b", "c"))]
    conditions: dict[str, Clauses] = {}
    for j in range(1, PARAMETERS):
        name = f"x{j}"
        if j % 4 == 0:
            conditions[name] = ((("model", "equal", "a"),),)
        if j % 3 == 0:
            parameters.append(hl.Parameter(name, "integer", 1, 512, log=True))
        elif j % 3 == 1:
            parameters.append(hl.Parameter(name, "float", 1e-5, 1.0, log=True))
        else:
            parameters.append(hl.Parameter(name, "float", 0.0, 1.0))
    space = hl.Space.of(parameters, conditions)
    X = space.sample(TRIALS, 0)
    y = np.nansum(X, axis=1)
    trials = tuple(
        hl.Trial(k, values, (float(cost),), started=1.6e9 + k, ended=1.6e9 + k + 1)
        for k, (values, cost) in enumerate(zip(space.decode(X), y, strict=True))
    )
    return hl.History(space, (hl.Objective("loss"),), trials, "benchmark")


def measure() -> list[tuple[str, str, str]]:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        history = run()
        at = Path(folder)
        for to, out in (("table", "run"), ("optuna", "run.db")):
            start = time.perf_counter()
            hl.convert(history, to, at / out)  # type: ignore[arg-type]
            taken = time.perf_counter() - start
            size = sum(p.stat().st_size for p in (at / out, *(at / out).glob("*")) if p.is_file())
            rows.append((f"convert to {to}", f"{taken:.1f} s, {size >> 20} MiB", ""))
        plain(at / "run.db", at / "plain.db")
        history.space.save(at / "space.json")
        bare(history, at / "bare.csv")
        for what, name, space, limit in (
            ("validate, Optuna's SQLite", "plain.db", "", "at most 30 s and 2048 MiB"),
            ("validate, SQLite as convert writes it", "run.db", "", "at most 30 s and 2048 MiB"),
            ("validate, converted table", "run", "", "at most 10 s and 2048 MiB"),
            (
                "validate, CSV with its space",
                "bare.csv",
                str(at / "space.json"),
                "at most 10 s and 2048 MiB",
            ),
            ("validate, CSV, space inferred", "bare.csv", "", "at most 10 s and 2048 MiB"),
        ):
            words = [sys.executable, "-c", MEASURED, str(at / name), space]
            said = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()
            assert [int(said[3]), int(said[4])] == [TRIALS, PARAMETERS], said
            wall, processor, memory = map(float, said[:3])
            told = f"{wall:.1f} s ({processor:.1f} s of processor time), {memory:.0f} MiB"
            rows.append((what, told, limit))
    return rows


def plain(source: Path, to: Path) -> None:
    """The same study as Optuna alone would have left it."""
    import shutil
    import sqlite3
    from contextlib import closing

    shutil.copyfile(source, to)
    with closing(sqlite3.connect(to)) as database, database:
        database.execute("DELETE FROM trial_user_attributes")
        database.execute("DELETE FROM study_user_attributes")


def bare(history: hl.History, path: Path) -> None:
    """A table of values and costs alone."""
    import pandas as pd

    frame = pd.DataFrame([dict(t.values) for t in history.trials])
    frame["loss"] = [t.costs[0] for t in history.trials]
    frame.to_csv(path, index=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--save", action="store_true", help="write docs/results/importers.md")
    chosen = parser.parse_args()
    rows = measure()
    lines = [
        f"{TRIALS:,} trials of {PARAMETERS} parameters, one in four conditional. Processes that "
        f"wanted a processor while this ran, on average: {os.getloadavg()[1]:.0f}.",
        "",
        "| what | measured | aim |",
        "|---|---|---|",
    ]
    lines += [f"| {a} | {b} | {c} |" for a, b, c in rows]
    text = (
        f"# Importers\n\n`python -m benchmarks.importers`. {description()}\n\n"
        + "\n".join(lines)
        + "\n"
    )
    print(text)
    if chosen.save:
        RESULT.write_text(text)


if __name__ == "__main__":
    main()
