"""Do pooled numbers hold? Collections of runs of functions that differ by a known amount.

python -m experiments.pooled [--save]

A function is a sum of five terms, each with mean 0 and variance 1 over the space (two lines, a bowl, a
product of two axes, one axis that does nothing), with weights that are log-normal from run to run. So
the shares and effects of each run are known, and those of all runs that could be drawn are averages over
very many weights. Of each collection `hl.across` is asked: does the interval of the mean hold the mean
over all runs, and that of a further run one that is drawn anew?
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import optuna

import hyperlens as hl
from experiments import options, publish, table
from experiments.real_runs.tasks import FloatArray
from hyperlens.explain.across.pooled_effect import GRID

NAMES = ("line", "bowl", "partner", "nothing")
SPACE = hl.Space.of([hl.Parameter(name, "float", 0.0, 1.0) for name in NAMES])
TYPICAL = np.array(
    [1.0, 0.8, 0.5, 0.6]
)  # weights of the terms: line, bowl, partner, line x partner
SPREADS = (0.0, 0.5)  # standard deviation of a weight's logarithm
RUNS, TRIALS, COLLECTIONS, FRESH = 6, 50, 10, 40
NOISE = 0.1  # of a trial, in standard deviations of the typical function
LARGE = 0.02


def line(x: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(12) * (x - 0.5))


def bowl(x: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(180) * ((x - 0.5) ** 2 - 1 / 12))


def cost(weights: FloatArray, X: FloatArray) -> FloatArray:
    """Of points (n, 4)."""
    a, b, c = line(X[:, 0]), bowl(X[:, 1]), line(X[:, 2])
    return np.asarray(np.column_stack([a, b, c, a * c]) @ weights)


def true_shares(weights: FloatArray) -> FloatArray:
    """Of the four axes by themselves, for weights (..., 4)."""
    squares = weights**2
    own = np.concatenate([squares[..., :3], 0 * squares[..., :1]], axis=-1)
    return np.asarray(own / squares.sum(axis=-1, keepdims=True))


def effects(weights: FloatArray, grid: FloatArray) -> FloatArray:
    """Of the first two axes at grid points (2, g), without their level."""
    found = np.stack([weights[0] * line(grid[0]), weights[1] * bowl(grid[1])])
    return np.asarray(found - found.mean(axis=1, keepdims=True))


@dataclass(frozen=True)
class Drawn:
    """A run of one function, and the standard deviation of its costs, in which effects are said."""

    weights: FloatArray
    history: hl.History
    spread: float


def drawn(spread: float, sampler: str, rng: np.random.Generator) -> Drawn:
    """A function drawn anew, and a run on it."""
    weights = TYPICAL * np.exp(spread * rng.normal(size=len(TYPICAL)))
    seed = int(rng.integers(1 << 30))
    chooses = optuna.samplers.TPESampler if sampler == "TPE" else optuna.samplers.RandomSampler
    study = optuna.create_study(sampler=chooses(seed=seed))
    noise = NOISE * np.sqrt(TYPICAL @ TYPICAL) * rng.normal(size=TRIALS)
    trials = []
    for k in range(TRIALS):
        trial = study.ask({n: optuna.distributions.FloatDistribution(0.0, 1.0) for n in NAMES})
        x = np.array([[trial.params[name] for name in NAMES]])
        value = float(cost(weights, x)[0] + noise[k])
        study.tell(trial, value)
        trials.append(hl.Trial(k, dict(trial.params), (value,)))
    history = hl.History(SPACE, (hl.Objective("loss"),), tuple(trials))
    return Drawn(weights, history, float(np.std([t.costs[0] for t in trials])))


def held(spread: float, sampler: str, seed: int) -> FloatArray:
    """Of shares and of effects: intervals of the mean that hold, and of a further run, (2, 2)."""
    rng = np.random.default_rng(seed)
    codes = np.array([SPACE.grid(name, GRID)[1] for name in NAMES[:2]], dtype=float)
    fresh = [drawn(spread, sampler, rng) for _ in range(FRESH)]
    weights = TYPICAL * np.exp(spread * rng.normal(size=(100_000, len(TYPICAL))))
    mean_share = true_shares(weights).mean(axis=0)
    each = np.array([effects(one.weights, codes) / one.spread for one in fresh])
    rows = []
    for k in range(COLLECTIONS):
        runs = [drawn(spread, sampler, rng).history for _ in range(RUNS)]
        found = hl.across(runs)
        at = [found.parameters.index(name) for name in NAMES]
        large = mean_share >= LARGE
        further = true_shares(fresh[k].weights)
        shares = (
            _inside(mean_share, found.low[at], found.high[at])[large].mean(),
            _inside(further, found.next_low[at], found.next_high[at])[large].mean(),
        )
        own = [found.effect(name) for name in NAMES[:2]]
        curves = (
            np.mean([_inside(m, e.low, e.high) for m, e in zip(each.mean(0), own, strict=True)]),
            np.mean([_inside(m, e.next_low, e.next_high) for m, e in zip(each[k], own, strict=True)]),
        )  # fmt: skip
        rows.append((shares, curves))
    return np.asarray(np.mean(rows, axis=0))


def _inside(x: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    return np.asarray((low <= x) & (x <= high), dtype=float)


def main() -> None:
    arguments = options(__doc__, "pooled").parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    rows = []
    for sampler in ("random search", "TPE"):
        for k, spread in enumerate(SPREADS):
            numbers = held(spread, sampler, 100 + k)
            rows.append((sampler, f"{spread:g}", *(f"{part:.0%}" for part in numbers.ravel())))
            print(rows[-1], flush=True)
    about = (
        f"{COLLECTIONS} collections a row, each of {RUNS} runs of {TRIALS} trials with noise of "
        f"{NOISE:.0%} of the function's standard deviation, on functions of four parameters whose "
        "weights are log-normal from run to run: `differ` is the standard deviation of their logarithm, "
        "0 where all runs are of one function. Parts of the 90 % intervals of `hl.across` that hold "
        f"what is true: of mean shares of {LARGE:.0%} or more the mean over all runs that could be "
        f"drawn, of effects (of a line and of a bowl, at {GRID} points) the same; of a further run one "
        "that is drawn anew. No setting was chosen by these collections; that errors of searches which "
        "favour the same parts are shared was learnt from others of the same kind, of which half of the "
        "mean shares were held."
    )
    head = ("runs", "differ", "mean share", "share of a further run", "mean effect")
    parts = [about, table((*head, "effect of a further run"), rows)]
    publish("pooled", "Do pooled numbers hold?", "experiments.pooled", parts, arguments.save)


if __name__ == "__main__":
    main()
