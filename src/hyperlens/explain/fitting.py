"""Fit a surrogate to a run once, and judge whether it may be explained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from hyperlens.cube import FloatArray, IntArray
from hyperlens.errors import AnalysisError
from hyperlens.history import History
from hyperlens.surrogates.quality import Quality, assess

if TYPE_CHECKING:
    from hyperlens.surrogates.forest import Forest
    from hyperlens.surrogates.gp import GP

SurrogateName = Literal["gp", "forest"]
NAMES = {"gp": "Gaussian process", "forest": "random forest"}

MOST_GP_TRIALS = 1500  # its closed forms hold n x n numbers for every parameter
MOST_GP_PARAMETERS = 60


@dataclass(frozen=True)
class Fitted:
    """A surrogate of one objective, its cross-validated quality, and what to know about the fit."""

    name: SurrogateName
    model: GP | Forest
    quality: Quality
    notes: tuple[str, ...]


def fit(
    history: History,
    surrogate: SurrogateName = "gp",
    seed: int = 0,
    objective: str | None = None,
    trees: int = 64,
) -> Fitted:
    """Fit and assess a surrogate; the same request is answered from memory."""
    if surrogate not in NAMES:
        raise AnalysisError(f"There is no surrogate '{surrogate}'; choose 'gp' or 'forest'.")
    key = ("fit", surrogate, seed, history.objective(objective).name, trees)
    if key not in history.memory:
        history.memory[key] = _fit(history, surrogate, seed, objective, trees)
    found: Fitted = history.memory[key]
    return found


def _fit(
    history: History, surrogate: SurrogateName, seed: int, objective: str | None, trees: int
) -> Fitted:
    data = history.data(objective)
    cube = history.space.cube
    if cube.d == 0:
        raise AnalysisError(
            "No parameter of this run varies, so there is nothing to explain; "
            "give a space with at least one tunable parameter."
        )
    if surrogate == "forest":
        from hyperlens.surrogates.forest import Forest

        forest = Forest(cube, trees, seed).fit(data.X, data.y)
        return Fitted("forest", forest, assess(forest, data.X, data.y, NAMES["forest"]), ())
    from hyperlens.surrogates.gp import GP

    if cube.d > MOST_GP_PARAMETERS:
        raise AnalysisError(
            f"A Gaussian process does not learn {cube.d} parameters from {len(data.y)} trials; "
            "use the forest instead."
        )
    rows, notes = _thinned(data.y, seed)
    X, y = data.X[rows], data.y[rows]
    try:
        gp = GP(cube, seed=seed).fit(X, y)
    except ValueError as problem:
        raise AnalysisError(f"No Gaussian process can be fitted: {problem}.") from problem
    return Fitted("gp", gp, assess(gp, X, y, NAMES["gp"]), notes)


def _thinned(y: FloatArray, seed: int) -> tuple[IntArray, tuple[str, ...]]:
    """Rows for a Gaussian process: all, or a seeded sample that holds the best trial."""
    if len(y) <= MOST_GP_TRIALS:
        return np.arange(len(y)), ()
    chosen = np.random.default_rng(seed).permutation(len(y))[:MOST_GP_TRIALS]
    chosen[0] = np.argmin(y) if np.argmin(y) not in chosen else chosen[0]
    note = f"The Gaussian process uses {MOST_GP_TRIALS} of {len(y)} trials, drawn at random."
    return np.sort(chosen), (note,)
