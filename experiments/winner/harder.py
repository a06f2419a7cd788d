"""More functions on which settings were chosen: ones of which an additive process knows little."""

from __future__ import annotations

import math

import numpy as np

import hyperlens as hl
from experiments.winner.problems import Values, choice, coordinates, floats, logarithmic, problem

# Hartmann's six-dimensional function
_HEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
_SHARPNESS = np.array([
    [10, 3, 17, 3.5, 1.7, 8],
    [0.05, 10, 17, 0.1, 8, 14],
    [3, 3.5, 1.7, 10, 17, 8],
    [17, 8, 0.05, 10, 0.1, 14],
])  # fmt: skip
_PLACES = 1e-4 * np.array([
    [1312, 1696, 5569, 124, 8283, 5886],
    [2329, 4135, 8307, 3736, 1004, 9991],
    [2348, 1451, 3522, 2883, 3047, 6650],
    [4047, 8828, 8732, 5743, 1091, 381],
])  # fmt: skip


def _hartmann(values: Values) -> float:
    away = (_SHARPNESS * (coordinates(values) - _PLACES) ** 2).sum(axis=1)
    return -float(_HEIGHTS @ np.exp(-away))


def _rotated(values: Values) -> float:
    z = coordinates(values) - np.array([0.3, 0.6, 0.4, 0.7])
    return float(8 * (z[0] + z[1] - z[2]) ** 2 + 2 * (z[1] - z[3]) ** 2 + 0.3 * z @ z)


def _branin(values: Values) -> float:
    a, b = 15 * coordinates(values) - np.array([5.0, 0.0])
    bend = b - 5.1 / (4 * np.pi**2) * a**2 + 5 / np.pi * a - 6
    return float(bend**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(a) + 10)


def _pipeline(values: Values) -> float:
    """The best rate and width depend on both choices."""
    order = {"none": 0.0, "pca": 1.0, "scale": 2.0}[values["prep"]]
    best = {"a": -1.0, "b": -3.0}[values["head"]] + 0.5 * order
    clash = values["head"] == "a" and values["prep"] == "pca"
    return float(
        0.3 * (math.log10(values["rate"]) - best) ** 2
        + 0.15 * abs(values["width"] / 32 - 1 - order)
        + 0.2 * clash
    )


def _michalewicz(values: Values) -> float:
    x = np.pi * coordinates(values)
    return -float((np.sin(x) * np.sin(np.arange(1, len(x) + 1) * x**2 / np.pi) ** 4).sum())


HARDER = (
    problem("Hartmann", _hartmann, floats(6, 0, 1)),
    problem("rotated bowl", _rotated, floats(4, 0, 1)),
    problem("Branin", _branin, floats(2, 0, 1)),
    problem(
        "pipeline",
        _pipeline,
        [
            logarithmic("rate", 1e-5, 1.0),
            hl.Parameter("width", "integer", 8, 256, log=True),
            choice("prep", "none", "pca", "scale"),
            choice("head", "a", "b"),
        ],
    ),
    problem("Michalewicz", _michalewicz, floats(5, 0, 1)),
)
