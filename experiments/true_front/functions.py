"""Two objectives each, whose true costs are known, with noise on what is measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import hyperlens as hl
from hyperlens.spaces.cube import FloatArray

UNIT = [hl.Parameter(name, "float", 0.0, 1.0) for name in "abcd"]


@dataclass(frozen=True)
class Function:
    """True costs (n, 2) of vectors (n, d)."""

    name: str
    space: hl.Space
    costs: Callable[[FloatArray], FloatArray]


def _bent(X: FloatArray) -> FloatArray:
    a, b, c = X.T
    away = (b - 0.5) ** 2
    return np.column_stack([a + 0.3 * away + 0.2 * c, 1 - np.sqrt(a) + 0.6 * away])


def _zdt1(X: FloatArray) -> FloatArray:
    """The usual test function, of four parameters."""
    g = 1 + 9 * X[:, 1:].mean(axis=1)
    return np.column_stack([X[:, 0], g * (1 - np.sqrt(X[:, 0] / g))])


def _centres(X: FloatArray) -> FloatArray:
    first, second = np.array([0.2, 0.3, 0.5]), np.array([0.8, 0.6, 0.5])
    return np.column_stack([((X - c) ** 2).sum(axis=1) for c in (first, second)])


NETWORK = hl.Space.of([
    hl.Parameter("kind", "categorical", choices=("plain", "gated")),
    hl.Parameter("layers", "integer", 1, 8),
    hl.Parameter("lr", "float", 1e-5, 1e-1, log=True),
])  # fmt: skip


def _network(X: FloatArray) -> FloatArray:
    rows = NETWORK.decode(X)
    gated = np.array([r["kind"] == "gated" for r in rows])
    layers = np.array([r["layers"] for r in rows], dtype=float)
    lr = np.array([np.log10(r["lr"]) for r in rows])
    loss = 0.1 * (lr + 3 + 0.1 * layers) ** 2 + 0.03 * (8 - layers) - 0.05 * gated
    return np.column_stack([loss, 5 + 3 * layers * (1 + 0.4 * gated)])


CHOSEN_ON = (
    Function("bent", hl.Space.of(UNIT[:3]), _bent),
    Function("two centres", hl.Space.of(UNIT[:3]), _centres),
)
REPORTED = (
    Function("ZDT1, 4 parameters", hl.Space.of(UNIT), _zdt1),
    Function("network: loss and latency", NETWORK, _network),
)
NOISE = (0.1, 0.3)  # of the standard deviation of each objective


def run(
    function: Function, noise: float, seed: int, trials: int = 60
) -> tuple[hl.History, FloatArray]:
    """A random search, and the true costs of its trials."""
    X = function.space.sample(trials, seed)
    values = function.space.decode(X)
    truth = function.costs(function.space.encode(values))
    rng = np.random.default_rng(seed)
    measured = truth + noise * truth.std(axis=0) * rng.normal(size=truth.shape)
    rows = zip(values, measured.tolist(), strict=True)
    found = tuple(hl.Trial(k, v, tuple(costs)) for k, (v, costs) in enumerate(rows))
    objectives = (hl.Objective("loss"), hl.Objective("latency"))
    return hl.History(function.space, objectives, found), truth
