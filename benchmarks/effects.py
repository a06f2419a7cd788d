"""Importance, effects and Shapley values with intervals, and effects beside scikit-learn's.

python -m benchmarks.effects [--save]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.inspection import partial_dependence

import hyperlens as hl
from benchmarks.machine import description
from hyperlens.spaces.cube import FloatArray
from hyperlens.surrogates import GP
from hyperlens.surrogates.additive.additive import Additive

RESULT = Path(__file__).parents[1] / "docs" / "results" / "effects.md"
TRIALS, PARAMETERS, GRID = 500, 10, 20


class AsRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Our fitted process, its mean alone, as scikit-learn wants it."""

    def __init__(self, model: GP) -> None:
        self.model = model
        self.fitted_ = True

    def fit(self, X: FloatArray, y: FloatArray) -> AsRegressor:
        return self

    def predict(self, X: FloatArray) -> FloatArray:
        return self.model.predict(X)[0]


def run(n: int = TRIALS, d: int = PARAMETERS) -> hl.History:
    space = hl.Space.of([hl.Parameter(f"x{j}", "float", 0.0, 1.0) for j in range(d)])
    rng = np.random.default_rng(0)
    X = space.sample(n, rng)
    y = np.sin(6 * X[:, 0]) + 2 * X[:, 1] * X[:, 2] + 0.5 * X[:, 3] ** 2
    y += 0.1 * rng.normal(size=n)
    trials = zip(space.decode(X), y, strict=True)
    return hl.History(
        space,
        (hl.Objective("cost"),),
        tuple(hl.Trial(i, values, (float(cost),)) for i, (values, cost) in enumerate(trials)),
    )


def timed(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def of_one_core(function: Callable[[], object]) -> float:
    """Time of the processor, whatever else the machine does."""
    start = time.process_time()
    function()
    return time.process_time() - start


def with_intervals(n: int, d: int, most: float) -> tuple[str, str, str]:
    """A fresh run explained by its leader: fits, importance with intervals, all effects with bands."""
    history = run(n, d)

    def explain() -> None:
        hl.importance(history)
        for name in history.space.names:
            hl.effect(history, name, ice=0)

    what = f"importance with intervals and {d} effects with bands, {n} trials, all fits included"
    return what, f"{of_one_core(explain):.2f} s of one core", f"at most {most:g} s"


def shapley_of_the_mean(d: int = 50, n: int = 200) -> tuple[str, str, str]:
    """One configuration, over the uniform background, by the additive process; exact."""
    rng = np.random.default_rng(0)
    X = rng.random((n, d))
    model = Additive().fit(X, X[:, 0] + X[:, 1] * X[:, 2])
    model.weights.contributions(X[0])
    taken = min(timed(lambda: model.weights.contributions(X[0])) for _ in range(5))
    what = f"Shapley values of the mean, {d} parameters, {n} trials, exact"
    return what, f"{1e3 * taken:.1f} ms", "at most 5 ms"


def measure() -> list[tuple[str, str, str]]:
    history = run()
    fit = timed(lambda: hl.fit(history, "gp"))
    model = hl.fit(history, "gp").model
    assert isinstance(model, GP)
    names = history.space.names
    single = timed(lambda: [hl.effect(history, name, surrogate="gp", ice=0) for name in names])
    pairs = timed(
        lambda: [hl.effect(history, pair, surrogate="gp") for pair in combinations(names, 2)]
    )
    tree = timed(lambda: hl.regions(history, "x0", levels=6, surrogate="gp", sample=1000))
    rows = [
        ("GP fit, 500 trials x 10 parameters", f"{fit:.2f} s", ""),
        ("ten effects, 20 points, both bands", f"{single:.2f} s", "at most 1 s"),
        ("45 effects of pairs, 400 points, both bands", f"{pairs:.2f} s", "at most 10 s"),
        ("regions of one effect, 6 levels, 1000 points", f"{tree:.2f} s", "at most 1 s"),
    ]
    rows += [with_intervals(100, 7, 3.0), with_intervals(1000, 10, 8.0), shapley_of_the_mean()]
    return rows + against_scikit_learn(history, model, single)


def against_scikit_learn(history: hl.History, model: GP, ours: float) -> list[tuple[str, str, str]]:
    """Ten one-parameter means on a background of 1000 uniform points."""
    background = history.space.sample(1000, 1)
    regressor = AsRegressor(model)
    grid = np.linspace(0, 1, GRID)
    errors = []

    def peer() -> None:
        for j in range(PARAMETERS):
            found = partial_dependence(
                regressor, background, [j], custom_values={j: grid}, method="brute"
            )
            exact = hl.effect(history, f"x{j}", surrogate="gp", ice=0).mean
            errors.append(float(np.abs(found["average"][0] - exact).max()))

    taken = timed(peer)
    return [
        (
            "scikit-learn's partial_dependence, mean only, background of 1000",
            f"{taken:.2f} s, error {max(errors):.2g}",
            f"{taken / ours:.0f} times ours, whose error is rounding",
        )
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--save", action="store_true", help="write docs/results/effects.md")
    chosen = parser.parse_args()
    lines = ["| what | measured | beside |", "|---|---|---|"]
    lines += [f"| {a} | {b} | {c} |" for a, b, c in measure()]
    text = (
        f"# Effects\n\n`python -m benchmarks.effects`. {description()}\n\n"
        + "\n".join(lines)
        + "\n"
    )
    print(text)
    if chosen.save:
        RESULT.write_text(text)


if __name__ == "__main__":
    main()
