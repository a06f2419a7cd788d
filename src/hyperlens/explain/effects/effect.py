"""Partial dependence: how the cost depends on one or two parameters, with a confidence band
(Friedman 2001; Moosbauer et al. 2021)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.spatial import cKDTree
from scipy.stats import norm as normal

from hyperlens.errors import AnalysisError, listed
from hyperlens.explain.effects import effect_words as words
from hyperlens.explain.effects.gaps import Gap, gaps
from hyperlens.explain.models.curves import Curves, Predictor, curves
from hyperlens.explain.models.fitting import SAMPLE, Fitted, fit_or_take
from hyperlens.explain.models.training import Cap, Training
from hyperlens.record import Record
from hyperlens.runs.history import History
from hyperlens.spaces.cube import BoolArray, Cube, FloatArray, Runs, inside_box
from hyperlens.surrogates.gaussian_process.gp import GP
from hyperlens.surrogates.gaussian_process.partial_dependence import Marginal
from hyperlens.surrogates.quality import Quality
from hyperlens.surrogates.random_forest.forest import Forest
from hyperlens.surrogates.threads import one_thread

if TYPE_CHECKING:
    import pandas as pd

Band = Literal["pointwise", "joint"]

NUMBERS = ("mean", "std", "low", "high")
NEARLY = 0.1  # of the mean's whole change: what counts as nearly as good as the best
NARROW = (
    "The joint band takes the estimated parameters of the Gaussian process as known, so it is too "
    "narrow: where it said 95 %, it held the truth in 81 to 91 % of functions whose answer is known "
    "(docs/results/misspecification.md)."
)


@dataclass(frozen=True)
class Effect(Record):
    """The cost as a function of one or two parameters, averaged over all others.

    `values` holds the grid of each parameter; mean, std, low, high run over its product, the last
    parameter fastest, in the user's direction. `std` is `pointwise` (Moosbauer et al. 2021 Eq. 5: how unsure a single
    prediction is, on average) or `joint` (Moosbauer et al. 2021 Eq. 4: how unsure the average itself is).
    """

    objective: str
    maximize: bool
    parameters: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]
    log: tuple[bool, ...]
    numeric: tuple[bool, ...]
    mean: FloatArray
    std: FloatArray
    low: FloatArray
    high: FloatArray
    pointwise: FloatArray
    joint: FloatArray
    band: Band
    level: float
    surrogate: str
    observed: tuple[tuple[Any, ...], ...]  # one per parameter: its value in each analysed trial
    observed_cost: FloatArray
    best_values: tuple[Any, ...] | None  # None where the best trial leaves a parameter inactive
    support: FloatArray  # analysed trials nearest to each grid point
    ice_mean: FloatArray  # (curves, grid): single configurations, one parameter only
    ice_std: FloatArray
    quality: Quality
    notes: tuple[str, ...]

    @property
    def change(self) -> float:
        """How far the mean reaches over the whole grid."""
        return float(np.nanmax(self.mean) - np.nanmin(self.mean))

    @property
    def best_at(self) -> int:
        """Where on the grid the mean is best."""
        return int(np.nanargmax(self.mean) if self.maximize else np.nanargmin(self.mean))

    @property
    def nearly_best(self) -> BoolArray:
        """Where on the grid the mean is nearly as good as at its best."""
        return np.asarray(np.abs(self.mean - self.mean[self.best_at]) <= NEARLY * self.change)

    @property
    def agreement(self) -> tuple[int, int] | None:
        """How many single configurations are best where the mean is nearly at its best, of how many."""
        curves = self.ice_mean[~np.isnan(self.ice_mean).any(axis=1)]
        if len(self.parameters) > 1 or not len(curves) or not self.change > 0:
            return None
        best = curves.argmax(axis=1) if self.maximize else curves.argmin(axis=1)
        return int(self.nearly_best[best].sum()), len(curves)

    @property
    def gaps(self) -> list[Gap]:
        """Stretches of a numeric parameter without a trial, widest first; one parameter only."""
        return gaps(self)

    @property
    def untried(self) -> list[Any]:
        """Categories that no trial used."""
        tried = zip(self.values[0], self.support.tolist(), strict=True)
        return [value for value, trials in tried if trials == 0]

    @property
    def sentence(self) -> str:
        """Where the best values lie, how sure that is, and on what it rests."""
        return words.sentence(self)

    @property
    def reading(self) -> str:
        """How far a curve may be trusted: where nothing was tried, and whether all move as the mean does."""
        return words.reading(self)

    @property
    def frame(self) -> pd.DataFrame:
        import pandas as pd

        if len(self.parameters) == 1:
            columns: dict[str, Any] = {"value": list(self.values[0])}
        else:
            points = list(product(*self.values))
            columns = {
                self._column(p): [x[k] for x in points] for k, p in enumerate(self.parameters)
            }
        numbers = {k: getattr(self, k) for k in NUMBERS}
        return pd.DataFrame(columns | numbers)

    @staticmethod
    def _column(parameter: str) -> str:
        return f"{parameter} value" if parameter in NUMBERS else parameter


def effect(
    history: History,
    parameters: str | Sequence[str],
    *,
    surrogate: Any = "gp",
    band: Band = "pointwise",
    level: float = 0.95,
    grid: int = 20,
    ice: int = 32,
    seed: int = 0,
    objective: str | None = None,
    budget: float | None = None,
    cap: Cap | None = None,
    trees: int = 64,
    exact: bool = False,
) -> Effect:
    """Partial dependence on one or two parameters, exact over the rest of the space.

    Configurations in which a parameter is inactive do not count for its own effect (Moosbauer et al. 2021 Appendix B).
    `surrogate` is "gp", "forest" or a model of another library fitted to vectors of the unit cube
    (`history.space.encode`) and minimised costs (see adapters); it is averaged over a Sobol' sample,
    and a note says how exactly. So is the width of the pointwise band of a forest with very many
    leaves, unless `exact` asks for its closed form, however long that takes.
    """
    names = (parameters,) if isinstance(parameters, str) else tuple(parameters)
    columns = tuple(history.space.column(name) for name in names)
    if not 1 <= len(names) <= 2 or len(set(names)) < len(names):
        raise AnalysisError("An effect is of one parameter or of two different ones; name those.")
    if not 0 < level < 1:
        raise AnalysisError(f"A band of {level} is not a level; choose one between 0 and 1.")
    if band not in ("pointwise", "joint"):
        raise AnalysisError(f"There is no band '{band}'; choose 'pointwise' or 'joint'.")
    if grid < 2:
        raise AnalysisError(f"A grid of {grid} points shows no effect; use 2 or more.")
    fitted = fit_or_take(
        history, surrogate, seed=seed, objective=objective, budget=budget, cap=cap, trees=trees
    )
    if band == "joint" and fitted.name == "given":
        raise AnalysisError(
            "A joint band needs to know how predictions vary together, which a given surrogate "
            "does not tell; ask for the pointwise band."
        )
    axes = [history.space.grid(name, grid) for name in names]
    points = np.array(list(product(*(codes for codes, _ in axes))))
    sampling: tuple[str, ...] = ()
    if fitted.name == "given":
        average, error = _sampled(fitted.model, fitted.cube, columns, points, seed, {})
        sampling = (
            f"Averaged over {SAMPLE} Sobol' points, not in closed form: the mean is exact to about "
            f"{np.nanmax(error):.2g} (one standard error).",
        )
    else:
        average = averaged(fitted, columns, points, seed, exact=exact)
        if band == "joint" and fitted.name == "gp":
            sampling = (NARROW,)
        elif (
            band == "pointwise"
            and isinstance(fitted.model, Forest)
            and not (exact or fitted.model.small)
        ):
            sampling = (
                "The mean is exact; the width of the band is averaged over "
                f"{SAMPLE} Sobol' points, since this forest has many leaves (--exact, or exact=True "
                "in Python, takes them all).",
            )
    if np.isnan(average.mean).all():
        raise AnalysisError(
            f"{listed(names)} are never active together, so they have no common effect; name one "
            "of them."
        )
    std = np.sqrt(average.pointwise if band == "pointwise" else average.joint)
    reach = float(normal.ppf((1 + level) / 2)) * std
    chosen = history.objective(objective)
    mean = -average.mean if chosen.maximize else average.mean
    data = fitted.training
    active = np.asarray(~np.isnan(data.X[:, list(columns)]).any(axis=1))
    trials = [history.trials[i] for i in data.rows[active]]
    single = _curves(fitted, columns, points, ice, seed) if len(names) == 1 else None
    sign = -1.0 if chosen.maximize else 1.0
    best = history.best(objective, budget).values
    return Effect(
        objective=chosen.name,
        maximize=chosen.maximize,
        parameters=names,
        values=tuple(tuple(values) for _, values in axes),
        log=tuple(history.space[name].log for name in names),
        numeric=tuple(history.space[name].numeric for name in names),
        mean=mean,
        std=std,
        low=mean - reach,
        high=mean + reach,
        pointwise=np.sqrt(average.pointwise),
        joint=np.sqrt(average.joint),
        band=band,
        level=level,
        surrogate=fitted.name,
        observed=tuple(tuple(t.values[name] for t in trials) for name in names),
        observed_cost=-data.y[active] if chosen.maximize else data.y[active],
        best_values=tuple(best[n] for n in names) if all(n in best for n in names) else None,
        support=_support(data.X[active][:, list(columns)], points),
        ice_mean=sign * single.mean if single else np.empty((0, len(points))),
        ice_std=np.sqrt(single.variance) if single else np.empty((0, len(points))),
        quality=fitted.quality,
        notes=fitted.notes + _notes(history, names, data, active) + sampling,
    )


def _curves(
    fitted: Fitted, columns: tuple[int, ...], points: FloatArray, size: int, seed: int
) -> Curves | None:
    if size < 1:
        return None
    with one_thread():
        return curves(fitted.model, fitted.cube, columns, points, size, seed)


def _support(X: FloatArray, points: FloatArray) -> FloatArray:
    """How many rows lie nearest to each grid point."""
    if not len(X):
        return np.zeros(len(points))
    nearest = cKDTree(points).query(X)[1]
    return np.bincount(nearest, minlength=len(points)).astype(float)


def averaged(
    fitted: Fitted,
    columns: tuple[int, ...],
    points: FloatArray,
    seed: int,
    region: Mapping[int, Runs] | None = None,
    exact: bool = False,
) -> Marginal:
    """Mean, and its variance by Moosbauer et al. 2021 Eq. 4 and Eq. 5, over everything but `columns`, in a region."""
    model = fitted.model
    if isinstance(model, GP):
        try:
            with one_thread():
                return model.partial_dependence(columns, points, region)
        except ValueError as problem:
            raise AnalysisError(f"{problem}; use the forest for this effect.") from problem
    if isinstance(model, Forest) and (exact or model.small):
        pointwise = model.pointwise(columns, points, region)
    else:
        sampled, _ = _sampled(model, fitted.cube, columns, points, seed, region or {})
        if not isinstance(model, Forest):
            return sampled
        pointwise = sampled.pointwise
    trees = model.marginals(columns, points, region)
    return Marginal(trees.mean(axis=0), trees.var(axis=0), pointwise)


def _sampled(
    model: Predictor,
    cube: Cube,
    columns: tuple[int, ...],
    points: FloatArray,
    seed: int,
    region: Mapping[int, Runs],
) -> tuple[Marginal, FloatArray]:
    """Averages over a Sobol' sample, and the standard error that the mean would have if it were a
    plain random sample; a joint variance cannot be known.
    """
    drawn = curves(model, cube, columns, points, SAMPLE, seed)
    inside = inside_box(drawn.latents, region)
    with np.errstate(invalid="ignore"):
        mean = _mean_of_known(drawn.mean[inside])
        variance = _mean_of_known(drawn.variance[inside])
        spread = _mean_of_known((drawn.mean[inside] - mean) ** 2)
    error = np.sqrt(spread / max(inside.sum(), 1))
    return Marginal(mean, np.full(len(mean), np.nan), variance), error


def _mean_of_known(curves: FloatArray) -> FloatArray:
    """Mean of each column over what is not nan; nan if nothing is."""
    known = ~np.isnan(curves)
    return np.asarray(np.where(known, curves, 0.0).sum(axis=0) / known.sum(axis=0))


def _notes(
    history: History, names: tuple[str, ...], data: Training, active: BoolArray
) -> tuple[str, ...]:
    notes = [
        f"'{name}' has one value in all analysed trials, so nothing is known of its other values."
        for name in names
        if data.unvaried[history.space.column(name)]
    ]
    conditional = [name for name in names if name in history.space.conditions]
    for name in conditional:
        notes.append(
            f"'{name}' is active only when {history.space.conditions[name]}; this is its effect there, "
            f"seen in {int(active.sum())} of {len(active)} trials."
        )
    return tuple(notes)
