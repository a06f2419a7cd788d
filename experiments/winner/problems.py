"""Functions whose true costs are known, and the noise that hides them.

Settings were chosen on TUNING and on those of harder.py; results are of REPORTED: other functions,
other seeds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import hyperlens as hl

Values = Mapping[str, Any]
SAMPLE = 500  # configurations whose spread is the unit of the noise
FREEDOM = 2.5  # degrees of freedom of heavy-tailed noise


@dataclass(frozen=True)
class Problem:
    """A function on a space; `conditions` names parent and value of each conditional parameter."""

    name: str
    space: hl.Space
    cost: Callable[[Values], float]
    conditions: Mapping[str, tuple[str, str]]

    @property
    def spread(self) -> float:
        """Standard deviation of the true costs over the space."""
        drawn = self.space.decode(self.space.sample(SAMPLE, 0))
        return float(np.std([self.cost(values) for values in drawn]))


@dataclass(frozen=True)
class Noise:
    """Standard deviation, in spreads of the true costs, and how it is distributed."""

    level: float
    kind: str = "normal"

    def __str__(self) -> str:
        return f"{self.level:.0%} {self.kind}"

    def draw(self, problem: Problem, values: Values, rng: np.random.Generator) -> float:
        """Noise in units of the spread."""
        if self.kind == "heavy-tailed":
            return self.level * float(rng.standard_t(FREEDOM)) / math.sqrt(FREEDOM / (FREEDOM - 2))
        scale = self.level
        if self.kind == "uneven":  # up to two times, down to none, along the first parameter
            scale *= 2 * float(problem.space.encode([values])[0, 0])
        return scale * float(rng.normal())


NORMAL = (Noise(0.0), Noise(0.05), Noise(0.2), Noise(0.5))
HARD = (Noise(0.2, "uneven"), Noise(0.2, "heavy-tailed"))


def floats(count: int, low: float, high: float) -> list[hl.Parameter]:
    return [hl.Parameter(f"x{j}", "float", low, high) for j in range(count)]


def coordinates(values: Values) -> np.ndarray[Any, Any]:
    return np.array([v for name, v in values.items() if name.startswith("x")])


def _sphere(values: Values) -> float:
    return float(((coordinates(values) - 0.4) ** 2).sum())


def _styblinski(values: Values) -> float:
    x = coordinates(values)
    return float(0.5 * (x**4 - 16 * x**2 + 5 * x).sum())


def _steps(values: Values) -> float:
    x = np.floor(6 * coordinates(values))
    return float(x.sum() + 3 * (x % 2).prod() + 0.2 * coordinates(values).sum())


def _network(values: Values) -> float:
    """A loss of a learning rate on a log scale, a depth and an optimiser."""
    best = {"adam": -3.0, "sgd": -1.5, "lion": -4.0}[values["optimizer"]]
    rate = math.log10(values["lr"])
    return float(
        (rate - best) ** 2
        + 0.3 * abs(values["layers"] - 4)
        + (values["optimizer"] == "sgd") * 0.5
        + 0.4 * values["dropout"] * values["layers"]
    )


def _two_models(values: Values) -> float:
    if values["model"] == "tree":
        return float(1.0 + 0.1 * abs(values["depth"] - 7))
    return float(0.6 + (math.log10(values["rate"]) + 2) ** 2 + 0.3 * values["decay"])


def _ackley(values: Values) -> float:
    x = coordinates(values)
    waves = np.e - np.exp(np.cos(2 * np.pi * x).mean())
    return float(20 - 20 * np.exp(-0.2 * np.sqrt((x**2).mean())) + waves)


def _valley(values: Values) -> float:
    x = coordinates(values)
    return float(np.log1p((100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()))


def _levy(values: Values) -> float:
    w = 1 + (coordinates(values) - 1) / 4
    middle = ((w[:-1] - 1) ** 2 * (1 + 10 * np.sin(np.pi * w[:-1] + 1) ** 2)).sum()
    last = (w[-1] - 1) ** 2 * (1 + np.sin(2 * np.pi * w[-1]) ** 2)
    return float(np.sin(np.pi * w[0]) ** 2 + middle + last)


def _boosting(values: Values) -> float:
    """Integers, a category that changes what is best, a log scale, an interaction."""
    deep = {"gbtree": 6, "dart": 4, "linear": 2}[values["booster"]]
    reach = math.log10(values["eta"] * values["rounds"]) - 1.5
    return float(
        reach**2
        + 0.05 * (values["depth"] - deep) ** 2
        + {"gbtree": 0.0, "dart": 0.1, "linear": 0.7}[values["booster"]]
        + 0.5 * (values["subsample"] - 0.8) ** 2
    )


def _three_models(values: Values) -> float:
    if values["model"] == "svm":
        base = 0.3 * (math.log10(values["C"]) - 1) ** 2
        if values["kernel"] == "rbf":
            return 0.5 + base + 0.4 * (math.log10(values["gamma"]) + 2) ** 2
        return 1.2 + base
    if values["model"] == "knn":
        return float(1.0 + 0.05 * abs(values["neighbours"] - 9))
    return float(0.8 + 0.2 * abs(values["depth"] - 5))


def _ridge(values: Values) -> float:
    """A function of one direction through six parameters, of which an additive process knows little."""
    x = coordinates(values)
    along = float(x @ np.array([1.0, -0.8, 0.6, 0.5, -0.3, 0.2]))
    return math.sin(3 * along) + (along - 0.7) ** 2


def problem(
    name: str,
    cost: Callable[[Values], float],
    parameters: list[hl.Parameter],
    conditions: Mapping[str, tuple[str, str]] | None = None,
) -> Problem:
    known = conditions or {}
    clauses: Any = {n: (((parent, "equal", v),),) for n, (parent, v) in known.items()}
    return Problem(name, hl.Space.of(parameters, clauses), cost, known)


def choice(name: str, *choices: str) -> hl.Parameter:
    return hl.Parameter(name, "categorical", choices=choices)


def logarithmic(name: str, low: float, high: float) -> hl.Parameter:
    return hl.Parameter(name, "float", low, high, log=True)


TUNING = (
    problem("sphere", _sphere, floats(3, 0, 1)),
    problem("Styblinski-Tang", _styblinski, floats(5, -5, 5)),
    problem("steps", _steps, floats(3, 0, 1)),
    problem(
        "network",
        _network,
        [
            logarithmic("lr", 1e-5, 1.0),
            hl.Parameter("layers", "integer", 1, 8),
            hl.Parameter("dropout", "float", 0, 0.5),
            choice("optimizer", "adam", "sgd", "lion"),
        ],
    ),
    problem(
        "two models",
        _two_models,
        [
            choice("model", "tree", "net"),
            hl.Parameter("depth", "integer", 1, 20),
            logarithmic("rate", 1e-5, 1.0),
            hl.Parameter("decay", "float", 0, 1),
        ],
        {"depth": ("model", "tree"), **dict.fromkeys(("rate", "decay"), ("model", "net"))},
    ),
)
REPORTED = (
    problem("Ackley", _ackley, floats(3, -2, 2)),
    problem("curved valley", _valley, floats(4, -2, 2)),
    problem("Levy", _levy, floats(5, -5, 5)),
    problem("ridge", _ridge, floats(6, 0, 1)),
    problem(
        "boosting",
        _boosting,
        [
            logarithmic("eta", 1e-3, 1.0),
            hl.Parameter("rounds", "integer", 10, 1000, log=True),
            hl.Parameter("depth", "integer", 1, 12),
            hl.Parameter("subsample", "float", 0.2, 1.0),
            choice("booster", "gbtree", "dart", "linear"),
        ],
    ),
    problem(
        "three models",
        _three_models,
        [
            choice("model", "svm", "knn", "tree"),
            logarithmic("C", 1e-3, 1e3),
            choice("kernel", "rbf", "linear"),
            logarithmic("gamma", 1e-4, 1.0),
            hl.Parameter("neighbours", "integer", 1, 30),
            hl.Parameter("depth", "integer", 1, 15),
        ],
        {
            **dict.fromkeys(("C", "kernel"), ("model", "svm")),
            "gamma": ("kernel", "rbf"),
            "neighbours": ("model", "knn"),
            "depth": ("model", "tree"),
        },
    ),
)
