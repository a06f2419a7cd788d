"""The first way through the house, timed beside Optuna's evaluator in one run.

python -m benchmarks.foundation            # prints a table
python -m benchmarks.foundation --save     # and writes docs/results/foundation.md
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import hyperlens as hl
from benchmarks.machine import description, peak_memory_mib
from hyperlens.spaces.cube import FloatArray
from hyperlens.surrogates import GP, Forest

RESULT = Path(__file__).parents[1] / "docs" / "results" / "foundation.md"


def costs(X: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Smooth main effects, one interaction, noise; the remaining columns do nothing."""
    y = np.sin(6 * X[:, 0]) + 2 * X[:, 1] * X[:, 2] + 0.5 * X[:, 3] ** 2
    return np.asarray(y + 0.1 * rng.normal(size=len(X)))


def best_of(function: Callable[[], object], times: int = 3) -> float:
    """Seconds of the quickest of several calls."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        taken.append(time.perf_counter() - start)
    return min(taken)


def make_study(path: Path, trials: int, parameters: int) -> None:
    import optuna
    from optuna.distributions import FloatDistribution

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    rng = np.random.default_rng(0)
    X = rng.random((trials, parameters))
    y = costs(X, rng)
    kinds = {f"x{j}": FloatDistribution(0.0, 1.0) for j in range(parameters)}
    study = optuna.create_study(study_name="bench", storage=f"sqlite:///{path}")
    study.add_trials(
        [
            optuna.trial.create_trial(
                params={f"x{j}": float(X[i, j]) for j in range(parameters)},
                distributions=dict(kinds),
                value=float(y[i]),
            )
            for i in range(trials)
        ]
    )


def command(*arguments: str, cache: str | None = None) -> tuple[float, float]:
    """Seconds and peak MiB of a command in a process of its own."""
    environment = dict(os.environ) | ({"NUMBA_CACHE_DIR": cache} if cache else {})
    code = (
        "import resource, subprocess, sys; "
        "done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024); "
        "sys.exit(done.returncode)"
    )
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return time.perf_counter() - start, float(done.stdout)


def measure() -> list[tuple[str, str, str]]:
    rows: list[tuple[str, str, str]] = []
    rng = np.random.default_rng(0)
    X = rng.random((1000, 10))
    y = costs(X, rng)
    Forest(threads=1).fit(X, y).shares()  # compile
    fit_time = best_of(lambda: Forest(threads=1).fit(X, y))
    both = best_of(lambda: Forest(threads=1).fit(X, y).shares())
    rows.append(("forest fit, 1000 x 10, 64 trees, one core", f"{fit_time:.2f} s", ""))
    rows.append(
        (
            "fit and all main and pair effects, one core",
            f"{both:.2f} s",
            f"{both / fit_time:.2f} times the fit (at most 2)",
        )
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.db"
        make_study(path, 1000, 10)
        plain = best_of(
            lambda: hl.importance(hl.read(str(path)), surrogate="forest", level=None), 2
        )
        sure = best_of(lambda: hl.importance(hl.read(str(path))), 2)
        rows.append(
            ("hl.importance without interval, with its cross-validation", f"{plain:.2f} s", "")
        )
        rows.append(("hl.importance with interval", f"{sure:.2f} s", "at most 5 s"))
        rows.append(_optuna(path, both))
        hyperlens = str(Path(sys.executable).parent / "hyperlens")
        report = str(Path(folder) / "report.html")
        warm, _ = command(hyperlens, "explain", str(path), "--html", report)
        cold, memory = command(
            hyperlens, "explain", str(path), "--html", report, cache=str(Path(folder) / "cache")
        )
        rows.append(
            (
                "hyperlens explain, nothing compiled yet",
                f"{cold:.1f} s, {memory:.0f} MiB",
                "at most 15 s",
            )
        )
        rows.append(("hyperlens explain, later runs", f"{warm:.1f} s", ""))
        helping = min(command(hyperlens, "--help")[0] for _ in range(3))
        rows.append(("hyperlens --help", f"{helping:.2f} s", "at most 0.5 s"))
    X5, y5 = X[:500], y[:500]
    gp = best_of(lambda: GP().fit(X5, y5), 2)
    rows.append(("GP fit, 500 x 10", f"{gp:.2f} s", "at most 10 s"))
    rows.append(("peak memory of this process", f"{peak_memory_mib():.0f} MiB", "at most 1024 MiB"))
    return rows


def _optuna(path: Path, ours: float) -> tuple[str, str, str]:
    import optuna

    study = optuna.load_study(study_name="bench", storage=f"sqlite:///{path}")
    evaluator = optuna.importance.FanovaImportanceEvaluator(n_trees=64, seed=0)
    start = time.perf_counter()
    evaluator.evaluate(study)
    taken = time.perf_counter() - start
    return (
        "Optuna's fANOVA, main effects only, same data and trees",
        f"{taken:.1f} s",
        f"{taken / ours:.0f} times ours with pairs",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--save", action="store_true", help="write docs/results/foundation.md")
    chosen = parser.parse_args()
    lines = ["| what | measured | beside |", "|---|---|---|"]
    lines += [f"| {a} | {b} | {c} |" for a, b, c in measure()]
    text = f"# Foundation\n\n`python -m benchmarks.foundation`. {description()}\n\n" + "\n".join(
        lines
    )
    print(text)
    if chosen.save:
        RESULT.write_text(text + "\n")


if __name__ == "__main__":
    main()
