"""Fit a surrogate to a run once, and judge whether it may be explained."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.explain.models.adapters import REMEDY, adapted
from hyperlens.explain.models.curves import Predictor
from hyperlens.explain.models.training import Cap, Training, training
from hyperlens.notebook import view
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History
from hyperlens.spaces.cube import Cube, FloatArray, IntArray
from hyperlens.surrogates.protocol import SurrogateKind
from hyperlens.surrogates.quality import Quality, assess
from hyperlens.surrogates.threads import one_thread
from hyperlens.words import SURROGATES, counted, surrogate_name

if TYPE_CHECKING:
    from hyperlens.surrogates.additive.additive import Additive
    from hyperlens.surrogates.gaussian_process.gp import GP
    from hyperlens.surrogates.random_forest.forest import Forest

SurrogateName = SurrogateKind | Literal["given"]
SAMPLE = 1024  # Sobol' points for what cannot be averaged in closed form

MOST_GP_TRIALS = (
    1250  # more change shares by less than their intervals, docs/results/reliability.md
)
MANY_INTERPRETED = 500  # trials, from which on a forest takes long without Numba
SLOW = (
    "A forest of {} trials takes long without Numba; 'pip install numba' makes it quick, with the "
    "same numbers."
)
MOST_FOREST_TRIALS = 4000  # more change shares by less than their intervals, docs/results/report.md
MOST_GP_PARAMETERS = 60
MOST_SEED = 2**31 - 1
MOST_COST = 1e150  # a larger one cannot be squared
LEAST_SPREAD = 1e-150  # of the costs: the square of a smaller one vanishes


@dataclass(frozen=True, repr=False)
class Fitted:
    """A surrogate of one objective, its cross-validated quality, and what to know about the fit."""

    name: SurrogateName
    model: Additive | GP | Forest | Predictor
    quality: Quality
    training: Training
    notes: tuple[str, ...]
    cube: Cube

    def __repr__(self) -> str:
        size = f"{counted(len(self.training.y), 'trial')} of {counted(self.cube.d, 'parameter')}"
        return f"<Fitted {surrogate_name(self.name)}: {size}; {self.quality!r}>"

    def _repr_html_(self) -> str:
        title = f"Fitted {surrogate_name(self.name)}"
        return view(title, self.quality.sentence, (), self.notes, self.quality.verdict)


@of_a_run
def fit(
    history: History,
    surrogate: Any,
    *,
    seed: int = 0,
    objective: str | None = None,
    trees: int = 64,
    budget: float | None = None,
    cap: Cap | None = None,
) -> Fitted:
    """Fit and assess a surrogate by its name; the same request is answered from memory.

    A model that the user has fitted is taken as it is.
    """
    if not isinstance(surrogate, str):
        return given(history, surrogate, objective=objective, budget=budget, cap=cap)
    if surrogate not in SURROGATES:
        raise AnalysisError(
            f"There is no surrogate '{surrogate}'; choose 'additive', 'gp' or 'forest'."
        )
    if not 0 <= seed <= MOST_SEED:
        raise AnalysisError(
            f"A seed of {seed} cannot be used; choose a whole number from 0 to {MOST_SEED}."
        )
    if trees < 2:
        raise AnalysisError(f"A forest of {trees} trees says nothing of its spread; use 2 or more.")
    key = ("fit", surrogate, seed, history.objective(objective).name, trees, budget, cap)
    if key not in history.memory:
        if len(history.space) == 0:
            raise AnalysisError(
                "No parameter of this run varies, so there is nothing to explain; "
                "give a space with at least one tunable parameter."
            )
        check_scale(history.data(objective, budget).y)
        data = training(history, objective, budget, cap, seed)
        if surrogate == "forest":
            history.memory[key] = _forest(history, data, seed, trees)
        else:
            history.memory[key] = _process(history, data, seed, surrogate)
    fitted: Fitted = history.memory[key]
    return fitted


def check_scale(y: FloatArray) -> None:
    """Refuse costs whose squares are not numbers."""
    largest, spread = float(np.abs(y).max()), 2 * float(np.ptp(y / 2))
    if largest > MOST_COST:
        raise AnalysisError(
            f"A cost of size {largest:.3g} is too large to compute with; cap the costs, or give "
            "them in a larger unit."
        )
    if 0 < spread < LEAST_SPREAD:
        raise AnalysisError(
            f"The costs differ by {spread:.3g}, which is too little to compute with; give them in "
            "a smaller unit."
        )


def given(
    history: History,
    model: Any,
    *,
    objective: str | None = None,
    budget: float | None = None,
    cap: Cap | None = None,
) -> Fitted:
    """A surrogate that the user has fitted; it cannot be cross-validated here.

    One of ours is averaged in closed form, any other over a sample.
    """
    from hyperlens.surrogates.additive.additive import Additive
    from hyperlens.surrogates.gaussian_process.gp import GP
    from hyperlens.surrogates.random_forest.forest import Forest

    data = training(history, objective, budget, cap)
    surrogate = adapted(model)
    predicted, std = _both(surrogate.predict(data.X), len(data.y))
    if not (np.isfinite(predicted).all() and (std >= 0).all()):
        raise AnalysisError(
            "The given surrogate predicts a number that is not finite, or a negative standard "
            "deviation; fit it on history.space.encode(values), whose inactive numbers are nan."
        )
    spread = float(np.var(data.y))
    r2 = 1 - float(np.mean((data.y - predicted) ** 2)) / spread if spread > 0 else math.nan
    sentence = (
        f"The given surrogate fits the {len(data.y)} analysed trials with R2 {r2:.2f}; it was not "
        "fitted here, so whether it predicts new ones is not known."
    )
    quality = Quality("given", r2, math.nan, math.nan, len(data.y), 0, "caution", sentence)
    kinds: dict[type, SurrogateName] = {Additive: "additive", GP: "gp", Forest: "forest"}
    name = kinds.get(type(surrogate), "given")
    return Fitted(name, surrogate, quality, data, data.notes, history.space.cube)


def _both(predicted: Any, rows: int) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation, if that is what a given surrogate predicts."""
    if isinstance(predicted, tuple) and len(predicted) == 2:
        mean, std = (np.asarray(part, dtype=float) for part in predicted)
        if mean.shape == std.shape == (rows,):
            return mean, std
    raise AnalysisError(f"The given surrogate does not say how sure it is; {REMEDY}.")


def _forest(history: History, data: Training, seed: int, trees: int) -> Fitted:
    from hyperlens.surrogates.random_forest.boxes import COMPILED
    from hyperlens.surrogates.random_forest.forest import Forest

    rows, notes = _thinned("forest", data.y, MOST_FOREST_TRIALS, seed)
    X, y = data.X[rows], data.y[rows]
    if len(y) > MANY_INTERPRETED and not COMPILED:
        warnings.warn(SLOW.format(len(y)), stacklevel=2)
    forest = Forest(history.space.cube, trees, seed).fit(X, y)
    quality = assess(forest, X, y, SURROGATES["forest"], data.measured[rows])
    return Fitted("forest", forest, quality, data, data.notes + notes, history.space.cube)


def _process(history: History, data: Training, seed: int, name: str) -> Fitted:
    from hyperlens.surrogates.additive.additive import Additive
    from hyperlens.surrogates.gaussian_process.gp import GP

    cube = history.space.cube
    if cube.d > MOST_GP_PARAMETERS:
        raise AnalysisError(
            f"A Gaussian process does not learn {cube.d} parameters from {len(data.y)} trials; "
            "use the forest instead."
        )
    rows, notes = _thinned("Gaussian process", data.y, MOST_GP_TRIALS, seed)
    X, y = data.X[rows], data.y[rows]
    try:
        with one_thread():
            model: Additive | GP
            if name == "additive":
                model = Additive(cube, seed).fit(X, y, data.doubts[rows])
            else:
                model = GP(cube, seed=seed).fit(X, y)
            quality = assess(model, X, y, SURROGATES[name], data.measured[rows])
    except ValueError as problem:
        raise AnalysisError(f"No Gaussian process can be fitted: {problem}.") from problem
    kind: SurrogateName = "additive" if name == "additive" else "gp"
    return Fitted(kind, model, quality, data, data.notes + notes, cube)


def _thinned(
    surrogate: str, y: FloatArray, most: int, seed: int
) -> tuple[IntArray, tuple[str, ...]]:
    """Rows that a surrogate learns from: all, or a seeded sample that holds the best trial."""
    if len(y) <= most:
        return np.arange(len(y)), ()
    chosen = np.random.default_rng(seed).permutation(len(y))[:most]
    chosen[0] = np.argmin(y) if np.argmin(y) not in chosen else chosen[0]
    note = f"The {surrogate} uses {most} of {len(y)} trials, drawn at random."
    return np.sort(chosen), (note,)
