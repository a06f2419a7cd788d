"""Functional ANOVA: ours beside Optuna's, optuna-fast-fanova's and fanova's, same data, one run.

    python -m benchmarks.fanova [--peers] [--large] [--save]

One core. Ours is all main and all pair effects of a fitted forest; the peers' numbers, with --peers, are
their main effects alone. --large adds 768 parameters with conditions and 100,000 trials.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.machine import description, peak_memory_mib
from hyperlens.spaces.cube import Axis, Cube, FloatArray
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.surrogates.random_forest.forest import Forest

RESULT = Path(__file__).parents[1] / "docs" / "results" / "fanova.md"
SIZES = ((1000, 10), (1000, 50), (10_000, 20), (10_000, 76))
PEER_SIZES = ((1000, 10), (1000, 50))  # beyond these the peers take hours
SAME_MALLOC = {"MALLOC_MMAP_THRESHOLD_": "1073741824", "MALLOC_TRIM_THRESHOLD_": "1073741824"}


def data(n: int, d: int) -> tuple[FloatArray, FloatArray]:
    """Main effects, an interaction, and noise on d parameters."""
    rng = np.random.default_rng(0)
    X = rng.random((n, d))
    slopes = 1.0 / np.arange(1, d + 1)
    y = np.sin(6 * X[:, 0]) + 2 * X[:, 1] * X[:, 2] + (X - 0.5) @ slopes
    return X, y + 0.2 * rng.normal(size=n)


def timed(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def ours() -> list[str]:
    lines = [
        "| trials x parameters | fit | all main and pair effects | of the fit | leaves |",
        "|---|---|---|---|---|",
    ]
    logs = []
    for n, d in SIZES:
        X, y = data(n, d)
        forest = Forest(threads=1)
        fit = min(timed(lambda: forest.fit(X, y)) for _ in range(3 if n < 5000 else 1))  # noqa: B023
        shares = min(timed(forest.shares) for _ in range(3))
        leaves = sum(e.tree_.n_leaves for e in forest.estimators)
        lines.append(
            f"| {n} x {d} | {fit:.2f} s | {shares:.3f} s | {shares / fit:.2f} | {leaves} |"
        )
        logs.append((d, leaves, shares))
    lines += ["", f"Growth with the leaves at 20 parameters: exponent {exponent():.2f}."]
    return lines


def posterior() -> list[str]:
    """The additive process on the same data: shares with their posterior, not of a forest alone."""
    lines = [
        "| trials x parameters | additive process: fit | main and pair effects, 256 draws of each |",
        "|---|---|---|",
    ]
    for n, d in ((100, 7), *SIZES[:2]):
        X, y = data(n, d)
        model = Additive()
        fit = timed(lambda: model.fit(X, y))  # noqa: B023
        shares = min(timed(lambda: model.drawn_shares(2)) for _ in range(3))  # noqa: B023
        lines.append(f"| {n} x {d} | {fit:.2f} s | {shares:.3f} s |")
    return lines


def exponent() -> float:
    """Of time in the number of leaves, from 1000 to 16,000 trials at 20 parameters."""
    found = []
    for n in (1000, 2000, 4000, 8000, 16_000):
        X, y = data(n, 20)
        forest = Forest(trees=16, threads=1).fit(X, y)
        leaves = sum(e.tree_.n_leaves for e in forest.estimators)
        found.append((np.log(leaves), np.log(min(timed(forest.shares) for _ in range(3)))))
    x, t = np.array(found).T
    return float(np.polyfit(x, t, 1)[0])


def peers() -> list[str]:
    for name, kind in (("int", int), ("float", float)):
        if not hasattr(np, name):  # two peers still use names that NumPy 1.24 removed
            setattr(np, name, kind)
    lines = [
        "| trials x parameters | who | main effects | times ours with pairs |",
        "|---|---|---|---|",
    ]
    for n, d in PEER_SIZES:
        X, y = data(n, d)
        forest = Forest(threads=1).fit(X, y)
        own = min(timed(forest.shares) for _ in range(3))
        own += min(timed(lambda: forest.fit(X, y)) for _ in range(2))  # noqa: B023
        lines.append(f"| {n} x {d} | ours, fit and pairs | {own:.2f} s | 1 |")
        for name, run in (("Optuna", _optuna), ("optuna-fast-fanova", _fast), ("fanova", _fanova)):
            taken = run(X, y)
            said = f"{taken:.1f} s | {taken / own:.0f}" if taken else "not installed |"
            lines.append(f"| {n} x {d} | {name} | {said} |")
    return lines


def _study(X: FloatArray, y: FloatArray) -> object:
    import optuna
    from optuna.distributions import FloatDistribution

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    names = [f"x{j}" for j in range(X.shape[1])]
    study = optuna.create_study()
    study.add_trials(
        [
            optuna.trial.create_trial(
                params=dict(zip(names, row.tolist(), strict=True)),
                distributions={name: FloatDistribution(0.0, 1.0) for name in names},
                value=float(cost),
            )
            for row, cost in zip(X, y, strict=True)
        ]
    )
    return study


def _optuna(X: FloatArray, y: FloatArray) -> float | None:
    from optuna.importance import FanovaImportanceEvaluator

    study = _study(X, y)
    return timed(lambda: FanovaImportanceEvaluator(n_trees=64, seed=0).evaluate(study))  # type: ignore[arg-type]


def _fast(X: FloatArray, y: FloatArray) -> float | None:
    if importlib.util.find_spec("optuna_fast_fanova") is None:
        return None
    from optuna_fast_fanova import FanovaImportanceEvaluator

    study = _study(X, y)
    return timed(lambda: FanovaImportanceEvaluator(n_trees=64, seed=0).evaluate(study))


def _fanova(X: FloatArray, y: FloatArray) -> float | None:
    if importlib.util.find_spec("fanova") is None:
        return None
    from ConfigSpace import ConfigurationSpace, UniformFloatHyperparameter
    from fanova import fANOVA

    space = ConfigurationSpace()
    space.add([UniformFloatHyperparameter(f"x{j:03d}", 0.0, 1.0) for j in range(X.shape[1])])

    def run() -> None:
        model = fANOVA(X, y, config_space=space, n_trees=64)
        for j in range(X.shape[1]):
            model.quantify_importance((j,))

    return timed(run)


def large() -> list[str]:
    lines = ["| what | fit | effects | peak memory |", "|---|---|---|---|"]
    cube, X, y = conditional(10_000, 768)
    forest = Forest(cube)
    fit = timed(lambda: forest.fit(X, y))
    effects = 0

    def run() -> None:
        nonlocal effects
        effects = len(forest.shares(2).effects)

    taken = timed(run)
    lines.append(
        f"| 10,000 x 768 with conditions, {effects} main effects and pairs that meet | {fit:.0f} s "
        f"| {taken:.0f} s | {peak_memory_mib():.0f} MiB |"
    )
    del forest, X, y
    X, y = data(100_000, 20)
    forest = Forest()
    fit = timed(lambda: forest.fit(X, y))
    taken = timed(lambda: forest.shares(1))
    lines.append(
        f"| 100,000 x 20, main effects | {fit:.0f} s | {taken:.0f} s | {peak_memory_mib():.0f} MiB |"
    )
    return lines


def conditional(n: int, d: int, models: int = 30) -> tuple[Cube, FloatArray, FloatArray]:
    """A root that chooses a model, and parameters that belong to one model each."""
    axes = [Axis.categorical(models)]
    conditions = {}
    for j in range(1, d):
        own = (j - 1) % models
        axes.append(Axis() if j % 3 else Axis.categorical(3))
        conditions[j] = (((0, ((own / models, (own + 1) / models),)),),)
    cube = Cube(tuple(axes), conditions)
    rng = np.random.default_rng(0)
    latents = rng.random((n, d))
    X = cube.vectors(latents)
    y = np.sin(cube.axes[0].level(latents[:, 0])) + np.nan_to_num(X[:, 1:40]).sum(axis=1)
    return cube, X, y + 0.3 * rng.normal(size=n)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--peers", action="store_true", help="run the peers too (minutes)")
    parser.add_argument("--large", action="store_true", help="the large cases too (minutes)")
    parser.add_argument("--save", action="store_true", help="write docs/results/fanova.md")
    chosen = parser.parse_args()
    if any(os.environ.get(name) != value for name, value in SAME_MALLOC.items()):
        os.execve(  # the C library reads these at start only
            sys.executable,
            [sys.executable, "-m", "benchmarks.fanova", *sys.argv[1:]],
            os.environ | SAME_MALLOC | {"OPENBLAS_NUM_THREADS": "1"},
        )
    Forest(trees=2, threads=1).fit(*data(50, 3)).shares()  # compile
    parts = [ours(), posterior()]
    parts += [peers()] if chosen.peers else []
    parts += [large()] if chosen.large else []
    text = "# Functional ANOVA\n\n`python -m benchmarks.fanova --peers --large`. "
    text += description() + "\n\n" + "\n\n".join("\n".join(lines) for lines in parts) + "\n"
    print(text)
    if chosen.save:
        RESULT.write_text(text)


if __name__ == "__main__":
    main()
