"""Partial dependence: how the cost depends on one or two parameters, with a confidence band
(Friedman 2001; Moosbauer et al. 2021)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, Literal

import numpy as np
import scipy

from hyperlens.errors import AnalysisError, listed
from hyperlens.explain.effects import effect_words as words
from hyperlens.explain.effects.averaging import averaged, sampled
from hyperlens.explain.effects.gaps import Gap, gaps
from hyperlens.explain.models.curves import curves
from hyperlens.explain.models.fitting import SAMPLE, Fitted
from hyperlens.explain.models.leader import named_or_leader
from hyperlens.explain.models.training import Cap, Training
from hyperlens.explain.models.verdict import (
    Verdict,
    failed_vectors,
    grounds,
    judge,
    of_band,
    of_one_value,
    of_surrogate,
    of_trials,
)
from hyperlens.record import Record
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History
from hyperlens.spaces.cube import BoolArray, FloatArray
from hyperlens.surrogates.gaussian_process.partial_dependence import Marginal
from hyperlens.surrogates.quality import FEWEST, Quality
from hyperlens.surrogates.random_forest.forest import Forest
from hyperlens.surrogates.threads import one_thread
from hyperlens.tables import Column, Table, between, ends, table
from hyperlens.words import beside, number, percent, setting

Band = Literal["pointwise", "joint"]

BANDS = {
    "pointwise": "how uncertain a single prediction is, on average",
    "joint": "how uncertain the average itself is",
}
NUMBERS = ("mean", "std", "low", "high")
NEARLY = 0.1  # of the mean's whole change: what counts as nearly as good as the best
NARROW = (
    "The joint band takes the estimated parameters of the Gaussian process as known, so it is too "
    "narrow: where it said 95 %, it held the truth in 81 to 91 % of functions whose answer is known."
)
SAMPLED = (
    f"The mean is exact; the width of the band is averaged over {SAMPLE} Sobol' points, since this "
    "forest has many leaves (--exact, or exact=True in Python, takes them all)."
)


@dataclass(frozen=True)
class Effect(Record):
    """The cost as a function of one or two parameters, averaged over all others.

    `values` holds the grid of each parameter; mean, std, low, high run over its product, the last
    parameter fastest, in the user's direction. `std` is `pointwise` (Moosbauer et al. 2021 Eq. 5: how
    unsure a single prediction is, on average) or `joint` (Eq. 4: how unsure the average itself is).
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
    verdict: Verdict
    notes: tuple[str, ...]
    observed_number: tuple[int, ...] = ()  # of those trials
    predicted: tuple[Any, ...] = ()  # of one parameter: its values in trials learnt from unmeasured
    failed: tuple[Any, ...] = ()  # and in those that failed, in any way

    @property
    def change(self) -> float:
        """How far the mean reaches over the whole grid."""
        return float(np.nanmax(self.mean) - np.nanmin(self.mean))

    @property
    def best_at(self) -> int:
        """Where on the grid the mean is best."""
        return int(np.nanargmax(self.mean) if self.maximize else np.nanargmin(self.mean))

    @property
    def width(self) -> float:
        """How wide the band is where the mean is best."""
        return float(self.high[self.best_at] - self.low[self.best_at])

    @property
    def unsure(self) -> float:
        """How wide a band there is of the mean itself, which changes by `change`; that which is shown
        where only single predictions are known."""
        joint, std = float(self.joint[self.best_at]), float(self.std[self.best_at])
        return self.width * joint / std if joint < std else self.width

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

    @cached_property
    def gaps(self) -> list[Gap]:
        """Stretches of a numeric parameter without a trial that is learnt from, widest first; one
        parameter only."""
        return gaps(self)

    @property
    def untried(self) -> list[Any]:
        """Categories of which no trial is learnt from."""
        tried = zip(self.values[0], self.support.tolist(), strict=True)
        return [value for value, trials in tried if trials == 0]

    def shown(self, cost: Any) -> str:
        """A cost with the digits that tell it from the others of the curve and its band."""
        return self._cost(float(cost))

    @cached_property
    def _cost(self) -> Callable[[Any], str]:
        return beside(np.r_[self.mean, self.low, self.high])

    @property
    def sentence(self) -> str:
        """Where the best values lie, how sure that is, and on what it rests."""
        return words.sentence(self)

    @property
    def reading(self) -> str:
        """How far a curve may be trusted: where nothing was tried, whether all move as the mean does."""
        return words.reading(self)

    @property
    def lead(self) -> tuple[str, ...]:
        reading = [self.reading] if len(self.parameters) == 1 else []
        return self.sentence, *reading, f"The band is {self.band}: {BANDS[self.band]}."

    @property
    def tables(self) -> tuple[Table, ...]:
        band = f"{percent(self.level)} {self.band} band"
        axes = zip(self.parameters, zip(*product(*self.values), strict=True), strict=True)
        return (
            table(
                *(Column(name, values, setting) for name, values in axes),
                Column(self.objective, self.mean, self.shown),
                Column("std", self.std, number, BANDS[self.band]),
                Column(band, ends(self.low, self.high), between(self.shown), BANDS[self.band]),
                Column("trials nearest", self.support, lambda trials: f"{trials:.0f}"),
            ),
        )

    def _columns(self) -> dict[str, Any]:
        if len(self.parameters) == 1:
            return {"value": self.values[0]} | self._fields(*NUMBERS)
        names = (f"{p} value" if p in NUMBERS else p for p in self.parameters)
        points = zip(*product(*self.values), strict=True)
        return dict(zip(names, points, strict=True)) | self._fields(*NUMBERS)


@of_a_run
def effect(
    history: History,
    parameters: str | Sequence[str],
    *,
    surrogate: Any = None,
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

    Configurations in which a parameter is inactive do not count for its own effect (Moosbauer et al.
    2021 Appendix B).
    `surrogate` is the run's leader unless "gp", "forest" or a model of another library is given, fitted
    to vectors of the unit cube (`history.space.encode`) and minimised costs (see adapters); that is
    averaged over a Sobol' sample, and a note says how exactly. So is the width of the pointwise band of
    a forest with very many leaves, unless `exact` asks for its closed form, however long that takes.
    """
    names = (parameters,) if isinstance(parameters, str) else tuple(parameters)
    columns = tuple(history.space.column(name) for name in names)
    _check(names, band, level, grid)
    fitted = named_or_leader(
        history, surrogate, seed=seed, objective=objective, budget=budget, cap=cap, trees=trees
    )
    axes = [history.space.grid(name, grid) for name in names]
    points = np.array(list(product(*(codes for codes, _ in axes))))
    average, sampling = _average(fitted, names, columns, points, band, seed, exact)
    target = history.objective(objective)
    best = history.best(objective, budget).values
    record = Effect(
        objective=target.name,
        maximize=target.maximize,
        parameters=names,
        values=tuple(tuple(values) for _, values in axes),
        log=tuple(history.space[name].log for name in names),
        numeric=tuple(history.space[name].numeric for name in names),
        **_bands(average, band, level, target.sign),
        **_trials(history, fitted.training, columns, points, target.sign),
        **_singles(fitted, columns, points, ice, seed, target.sign),
        band=band,
        level=level,
        surrogate=fitted.name,
        best_values=tuple(best[n] for n in names) if all(n in best for n in names) else None,
        quality=fitted.quality,
        verdict=judge([of_surrogate(fitted.quality)]),
        notes=fitted.notes + _notes(history, names, fitted.training) + sampling,
    )
    return replace(record, verdict=_verdict(record, history, fitted, columns))


def _verdict(record: Effect, history: History, fitted: Fitted, columns: tuple[int, ...]) -> Verdict:
    few = record.quality.trials < FEWEST  # says all
    return judge(
        (
            *grounds(history, fitted, columns),
            *(of_one_value(record.parameters[k]) for k in _still(fitted.training, columns)),
            None if few else of_trials(" and ".join(record.parameters), int(record.support.sum())),
            of_band(record.unsure, record.change),
        )
    )


def _check(names: tuple[str, ...], band: str, level: float, grid: int) -> None:
    if not 1 <= len(names) <= 2 or len(set(names)) < len(names):
        raise AnalysisError("An effect is of one parameter or of two different ones; name those.")
    if not 0 < level < 1:
        raise AnalysisError(f"A band of {level} is not a level; choose one between 0 and 1.")
    if band not in ("pointwise", "joint"):
        raise AnalysisError(f"There is no band '{band}'; choose 'pointwise' or 'joint'.")
    if grid < 2:
        raise AnalysisError(f"A grid of {grid} points shows no effect; use 2 or more.")


def _average(
    fitted: Fitted,
    names: tuple[str, ...],
    columns: tuple[int, ...],
    points: FloatArray,
    band: Band,
    seed: int,
    exact: bool,
) -> tuple[Marginal, tuple[str, ...]]:
    """The average, and what is to be known of how it was taken."""
    given = fitted.name == "given"
    if band == "joint" and given:
        raise AnalysisError(
            "A joint band needs to know how predictions vary together, which a given surrogate "
            "does not tell; ask for the pointwise band."
        )
    note: tuple[str, ...] = ()
    if given:
        average, error = sampled(fitted.model, fitted.cube, columns, points, seed, {})
        note = (
            f"Averaged over {SAMPLE} Sobol' points, not in closed form: the mean is exact to about "
            f"{np.nanmax(error):.2g} (one standard error).",
        )
    else:
        average = averaged(fitted, columns, points, seed, exact=exact)
        sampled_band = isinstance(fitted.model, Forest) and not (exact or fitted.model.small)
        if band == "joint" and fitted.name == "gp":
            note = (NARROW,)
        elif band == "pointwise" and sampled_band:
            note = (SAMPLED,)
    if np.isnan(average.mean).all():
        raise AnalysisError(
            f"{listed(names)} are never active together, so they have no common effect; name one "
            "of them."
        )
    return average, note


def _bands(average: Marginal, band: Band, level: float, sign: float) -> dict[str, Any]:
    """Mean and band in the user's direction, and both standard deviations."""
    pointwise, joint = np.sqrt(average.pointwise), np.sqrt(average.joint)
    std = pointwise if band == "pointwise" else joint
    mean, reach = sign * average.mean, float(scipy.stats.norm.ppf((1 + level) / 2)) * std
    numbers = {"mean": mean, "std": std, "low": mean - reach, "high": mean + reach}
    return numbers | {"pointwise": pointwise, "joint": joint}


def _trials(
    history: History, data: Training, columns: tuple[int, ...], points: FloatArray, sign: float
) -> dict[str, Any]:
    """Values and measured costs of the trials in which the parameters are active, and how many of all
    lie where."""
    X = data.X[:, list(columns)]
    active = ~np.isnan(X).any(axis=1)
    seen = active & data.measured
    trials = [history.trials[i] for i in data.rows[seen]]
    names = [history.space.names[j] for j in columns]
    found: dict[str, Any] = {
        "observed": tuple(tuple(t.values[name] for t in trials) for name in names),
        "observed_cost": sign * data.y[seen],
        "observed_number": tuple(t.number for t in trials),
        "support": _support(X[active], points),
    }
    if len(columns) == 1:
        others = {"predicted": data.X[active & ~data.measured], "failed": failed_vectors(history)}
        for name, vectors in others.items():
            known = vectors[~np.isnan(vectors[:, columns[0]])]
            found[name] = tuple(values[names[0]] for values in history.space.decode(known))
    return found


def _singles(
    fitted: Fitted,
    columns: tuple[int, ...],
    points: FloatArray,
    size: int,
    seed: int,
    sign: float,
) -> dict[str, Any]:
    """Curves of single configurations; none for two parameters."""
    if size < 1 or len(columns) > 1:
        return dict.fromkeys(("ice_mean", "ice_std"), np.empty((0, len(points))))
    with one_thread():
        single = curves(fitted.model, fitted.cube, columns, points, size, seed)
    return {"ice_mean": sign * single.mean, "ice_std": np.sqrt(single.variance)}


def _support(X: FloatArray, points: FloatArray) -> FloatArray:
    """How many rows lie nearest to each grid point."""
    if not len(X):
        return np.zeros(len(points))
    nearest = scipy.spatial.cKDTree(points).query(X)[1]
    return np.bincount(nearest, minlength=len(points)).astype(float)


def _still(data: Training, columns: tuple[int, ...]) -> list[int]:
    """Which of the parameters have one value in all trials."""
    return [k for k, j in enumerate(columns) if data.unvaried[j]]


def _notes(history: History, names: tuple[str, ...], data: Training) -> tuple[str, ...]:
    space = history.space
    known = ~np.isnan(data.X[:, [space.column(name) for name in names]])
    active = int(known.all(axis=1).sum())
    columns = tuple(space.column(name) for name in names)
    still = [
        f"'{names[k]}' has one value in all analysed trials, so nothing is known of its other values."
        for k in _still(data, columns)
    ]
    conditional = [
        f"'{name}' is active only when {space.conditions[name]}; this is its effect there, "
        f"seen in {active} of {len(known)} trials."
        for name in names
        if name in space.conditions
    ]
    return (*still, *conditional)
