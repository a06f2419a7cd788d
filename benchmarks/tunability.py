"""Tunability beside HyperSHAP on the same surrogate: the same values within its sampling, and how soon.

python -m benchmarks.tunability [--save]

HyperSHAP is not among the extras; where it is not installed (`pip install hypershap`), ours are timed
alone.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np

import hyperlens as hl
from benchmarks import tunability_examples
from benchmarks.effects import run
from benchmarks.machine import description
from hyperlens.explain.models.curves import expected_at
from hyperlens.explain.models.fitting import Fitted
from hyperlens.explain.tunability.faithful import faithful_pairs
from hyperlens.explain.tunability.lattice import members
from hyperlens.explain.tunability.worths import Game
from hyperlens.spaces.cube import FloatArray

RESULT = Path(__file__).parents[1] / "docs" / "results" / "tunability.md"
GAMES: tuple[Game, ...] = ("tunability", "mistunability", "sensitivity")
SMALL, SEEDS = 4, 3  # parameters of the run on which values are compared, and samples drawn anew
SAMPLES = 10_000  # points of each, HyperSHAP's own number
DRAWN = (1_000, SAMPLES)  # with which it is compared
POINTS, NODES = 25, 12  # of an axis: all of a grid with the ends, and of a Gaussian quadrature
LARGE = 10  # parameters of the run that is timed
TIMED = (100, 300, SAMPLES)  # samples with which it is timed


class Regressor:
    """The mean of a fitted surrogate on vectors, larger being better, as HyperSHAP wants it."""

    def __init__(self, fitted: Fitted) -> None:
        self.fitted = fitted

    def predict(self, X: Any) -> FloatArray:
        return -expected_at(self.fitted.model, np.atleast_2d(np.asarray(X, dtype=float)))


def seconds(function: Callable[[], object]) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


def pairs_of(history: hl.History, game: Game) -> FloatArray:
    """Our faithful interactions of a game, in the order of the space."""
    found = hl.tunability(history, game, level=None)
    known = {frozenset(pair): v for pair, v in zip(found.pairs, found.interaction, strict=True)}
    return np.array([known[frozenset(pair)] for pair in combinations(history.space.names, 2)])


def theirs(
    history: hl.History, fitted: Fitted, game: Game, seed: int = 0, samples: int = SAMPLES
) -> FloatArray:
    """HyperSHAP's faithful interactions of the same game, the worst counted as a loss."""
    from hypershap import ExplanationTask, HyperSHAP

    task = ExplanationTask.from_base_model(history.space.configspace, Regressor(fitted))
    explained = getattr(HyperSHAP(task, verbose=False), game)(n_samples=samples, seed=seed)
    names = history.space.names
    sign = -1.0 if game == "mistunability" else 1.0
    return np.array([sign * explained[pair] for pair in combinations(range(len(names)), 2)])


def truth(fitted: Fitted, game: Game) -> FloatArray:
    """The pairs by a second route: every point of a grid for the best and the worst, a quadrature for
    the variance, of every coalition, all others at the midpoint."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    spread = game == "sensitivity"
    points = (nodes + 1) / 2 if spread else np.linspace(0.0, 1.0, POINTS)
    worth = np.zeros((1 << SMALL, 1))
    here = expected_at(fitted.model, np.full((1, SMALL), 0.5))[0]
    for S, inside in enumerate(members(SMALL)):
        axes = [points if member else np.array([0.5]) for member in inside]
        mesh = np.meshgrid(*axes, indexing="ij")
        costs = expected_at(fitted.model, np.column_stack([part.ravel() for part in mesh]))
        if spread:
            each = [weights / 2 if member else np.ones(1) for member in inside]
            w = np.array([np.prod(one) for one in product(*each)])
            worth[S] = w @ np.square(costs - w @ costs)
        else:
            worth[S] = here - costs.min() if game == "tunability" else costs.max() - here
    return faithful_pairs(worth)[:, 0]


def agreement() -> list[str]:
    """Rows of a table: how far pairs are from the truth, ours and those of growing samples."""
    history = run(150, SMALL)
    fitted = hl.leader(history).primary
    rows = []
    for game in GAMES:
        true, ours = truth(fitted, game), pairs_of(history, game)
        far = [np.abs(ours - true).max()]
        for samples in DRAWN:
            seeds = range(SEEDS)
            drawn = np.array([theirs(history, fitted, game, seed, samples) for seed in seeds])
            far.append(np.abs(drawn - true).max())
        spread = drawn.std(axis=0, ddof=1).max()
        cells = " | ".join(f"{one:.4f}" for one in [np.abs(true).max(), *far, spread])
        rows.append(f"| {game} | {cells} |")
    return rows


def timing(beside: bool) -> list[str]:
    """Rows of a table: seconds of one core for tunability of ten parameters, the fit left out."""
    history = run(500, LARGE)
    fitted = hl.leader(history).primary
    ours = seconds(lambda: hl.tunability(history, level=None))
    rows = [
        f"| ours, mean alone | {ours:.2f} s | |",
        f"| ours, with intervals of 32 draws | {seconds(lambda: hl.tunability(history)):.2f} s | |",
    ]
    if beside:
        for samples in TIMED:
            taken = seconds(partial(theirs, history, fitted, "tunability", samples=samples))
            own = " (its own number)" * (samples == SAMPLES)
            times = f"{taken / ours:.0f} times"
            rows.append(f"| HyperSHAP, {samples:,} samples{own} | {taken:.1f} s | {times} |")
    return rows


def page(beside: bool) -> str:
    lines = ["# Tunability beside HyperSHAP", "", "`python -m benchmarks.tunability --save`", ""]
    lines += [description(), ""]
    if beside:
        lines += [
            "## The same values", "",
            f"One run of {SMALL} parameters and 150 trials, the mean of its leading surrogate played "
            "by both. Faithful interactions of all pairs: the largest, and how far ours and HyperSHAP's "
            f"are from the truth at the most, which is every point of a grid of {POINTS} an axis (of "
            "variances a Gaussian quadrature). Its samples are drawn anew "
            f"{SEEDS} times; the last column is their standard deviation with {SAMPLES:,} points, its "
            "own number.", "",
            "| game | largest pair | ours from truth | "
            + " | ".join(f"its, {n:,} points" for n in DRAWN) + " | its spread |",
            "|---|---|---|---|---|---|", *agreement(), "",
            "The best of a sample is never beyond the best, so that a shortfall is shared by all "
            "samples and is no part of their spread; with more points it can only come nearer.", "",
            "## Its own examples", "",
            tunability_examples.HOW, "", tunability_examples.HEAD,
            "|---|---|---|---|---|---|---|", *tunability_examples.rows(), "",
        ]  # fmt: skip
    lines += [
        "## How soon", "",
        f"500 trials, {LARGE} parameters, all 1024 coalitions; one core, the fit left out. HyperSHAP is "
        "given the same surrogate, predicted in batches; all rows are measured.", "",
        "| | CPU | HyperSHAP against ours |", "|---|---|---|", *timing(beside), "",
    ]  # fmt: skip
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", action="store_true", help=f"write {RESULT.name}")
    arguments = parser.parse_args()
    text = page(beside=find_spec("hypershap") is not None)
    print(text)
    if arguments.save:
        RESULT.write_text(text, encoding="utf-8")
