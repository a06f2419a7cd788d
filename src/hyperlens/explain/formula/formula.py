"""An effect as a short formula, where one fits.

Forms of one to four constants (forms.py) are fitted to the mean of an effect by least squares, points
that are known better counting more. A form fits if it is nowhere farther from the mean than is known of
it, or than a twentieth of its whole change; the shortest of those is said, and its constants have no
more digits than it needs.

Symbols
    tolerance   how far a formula may be from the mean at each point of the grid
    outside     how far it is at the most, in tolerances: 1 or less fits
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.explain.effects.effect import Effect, effect
from hyperlens.explain.effects.shape import shape_error
from hyperlens.explain.formula.forms import BY_NAME, FORMS, Form, fitted
from hyperlens.explain.formula.spelling import rounded, spelled
from hyperlens.explain.models.leader import named_or_leader
from hyperlens.explain.models.verdict import Verdict, guessed
from hyperlens.record import Record
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History
from hyperlens.spaces.cube import FloatArray, IntArray
from hyperlens.surrogates.quality import Quality
from hyperlens.tables import Column, Table, table
from hyperlens.words import number

GRID = 40
TOLERATED = 0.05  # of the whole change, from the mean
DOUBTS = 1.0  # standard deviations of the shape, likewise
FEWEST, MOST_DIGITS = 2, 12
WORSE = 0.02  # what rounding may add, in tolerances
ERROR = "Root mean square distance from the effect's mean, over the parameter's own scale."
MOST = "The largest distance from the effect's mean."
OUTSIDE = (
    "The largest distance in units of what is tolerated: one standard deviation of the effect's shape, "
    "or a twentieth of its change. 1 or less fits."
)


@dataclass(frozen=True)
class Formula(Record):
    """Forms that were fitted, the best first: those that fit by their size, then the others by how far
    they are off. `chosen` is the shortest that fits, -1 if none does.

    `constants` are level, factors of terms, and knots, as `text` shows them; `at` computes the first
    form at values. `error` and `most` are in units of the objective. `curve` is the first form on the
    grid `values`, beside the effect's `mean` with its band from `low` to `high`.
    """

    objective: str
    maximize: bool
    parameter: str
    log: bool
    values: tuple[Any, ...]
    mean: FloatArray
    low: FloatArray
    high: FloatArray
    tolerance: FloatArray
    forms: tuple[str, ...]
    text: tuple[str, ...]
    constants: tuple[tuple[float, ...], ...]
    size: IntArray
    error: FloatArray
    most: FloatArray
    outside: FloatArray
    curve: FloatArray
    chosen: int
    level: float
    surrogate: str
    seed: int
    quality: Quality
    verdict: Verdict
    notes: tuple[str, ...]

    @property
    def change(self) -> float:
        """How far the effect's mean reaches."""
        return float(np.nanmax(self.mean) - np.nanmin(self.mean))

    def at(self, values: Any) -> FloatArray:
        """The first form at values of the parameter."""
        x = np.atleast_1d(np.asarray(values, dtype=float))
        return BY_NAME[self.forms[0]].at(self.constants[0], x, self.log)

    @property
    def sentence(self) -> str:
        """The formula and how far it is off, or that none fits."""
        return guessed(self.verdict, self._said())

    def _said(self) -> str:
        change, said = number(self.change, 2), f"{self.objective} ≈ {self.text[0]}"
        if not self.change > 0:
            level = number(self.constants[0][0])
            return f"The expected {self.objective} is {level} for every '{self.parameter}'."
        if self.chosen < 0:
            return (
                f"No short formula fits the effect of '{self.parameter}': the nearest, {said}, is off "
                f"by up to {number(float(self.most[0]), 2)} of its change of {change}."
            )
        if self.forms[0] == "constant":
            return (
                f"What is known of '{self.parameter}' asks for no more than a constant, {said}: the "
                f"change of {change} in its effect is no larger than what is not known of it."
            )
        return (
            f"The effect of '{self.parameter}' is nearly {said}: at most "
            f"{number(float(self.most[0]), 2)} from its mean, which changes by {change}."
        )

    @property
    def tables(self) -> tuple[Table, ...]:
        """Of the forms."""
        return (
            table(
                Column("form", self.forms),
                Column("formula", self.text),
                Column("error", self.error, number, ERROR),
                Column("at most", self.most, number, MOST),
                Column("outside", self.outside, lambda ratio: number(ratio, 2), OUTSIDE),
                Column("fits", ["yes" if out <= 1 else "no" for out in self.outside], str, OUTSIDE),
            ),
        )

    def _columns(self) -> dict[str, Any]:
        names = ("size", "error", "most", "outside")
        return {"form": self.forms, "formula": self.text} | self._fields(*names)


@of_a_run
def formula(
    history: History,
    parameter: str,
    *,
    surrogate: Any = None,
    level: float = 0.95,
    seed: int = 0,
    objective: str | None = None,
) -> Formula:
    """The effect of a numeric parameter as the shortest formula that fits.

    The surrogate is the run's leader unless one is named or given. The band is joint: it says how
    unsure the effect itself is.
    """
    known = history.space[parameter]
    if not known.numeric:
        raise AnalysisError(
            f"'{parameter}' has names as values, so no formula computes with them; name a parameter of "
            "numbers."
        )
    model = named_or_leader(history, surrogate, seed=seed, objective=objective)
    shown = effect(
        history,
        parameter,
        surrogate=surrogate,
        band="pointwise" if model.name == "given" else "joint",
        level=level,
        grid=GRID,
        ice=0,
        seed=seed,
        objective=objective,
    )
    codes, _ = history.space.grid(parameter, GRID)
    std = shape_error(model, history.space.column(parameter), np.asarray(codes), shown.std)
    return _record(shown, std, seed)


def _record(shown: Effect, std: FloatArray, seed: int) -> Formula:
    x = np.array(shown.values[0], dtype=float)
    known = np.isfinite(shown.mean)
    tolerance = np.maximum(DOUBTS * np.nan_to_num(std), TOLERATED * shown.change)
    tried = []
    for form in FORMS:
        found = _fit(form, x[known], shown.log[0], shown.mean[known], tolerance[known])
        if found is not None:
            tried.append((form, *found))
    tried.sort(key=lambda one: (one[3] > 1, one[0].size if one[3] <= 1 else one[3], one[2]))
    first = tried[0]
    curve = first[0].at(first[1], x, shown.log[0])
    off = [np.abs(f.at(c, x, shown.log[0]) - shown.mean)[known] for f, c, *_ in tried]
    return Formula(
        objective=shown.objective,
        maximize=shown.maximize,
        parameter=shown.parameters[0],
        log=shown.log[0],
        values=shown.values[0],
        mean=shown.mean,
        low=shown.low,
        high=shown.high,
        tolerance=tolerance,
        forms=tuple(form.name for form, *_ in tried),
        text=tuple(
            spelled(f, c, shown.parameters[0], shown.log[0], MOST_DIGITS) for f, c, *_ in tried
        ),
        constants=tuple(c for _, c, *_ in tried),
        size=np.array([form.size for form, *_ in tried]),
        error=np.array([np.sqrt(np.square(gap).mean()) for gap in off]),
        most=np.array([gap.max() for gap in off]),
        outside=np.array([one[3] for one in tried]),
        curve=curve,
        chosen=0 if first[3] <= 1 else -1,
        level=shown.level,
        surrogate=shown.surrogate,
        seed=seed,
        quality=shown.quality,
        verdict=shown.verdict,
        notes=shown.notes,
    )


def _fit(
    form: Form, x: FloatArray, log: bool, mean: FloatArray, tolerance: FloatArray
) -> tuple[tuple[float, ...], float, float] | None:
    """Constants with as few digits as they need, the weighted error and how far outside; or nothing."""
    tiny = np.finfo(float).tiny
    units = np.maximum(tolerance, tiny)
    scale = float(np.abs(mean).max()) or 1.0
    exact = fitted(form, x, log, mean / scale, scale / np.maximum(units, 1e-12 * scale))
    if not exact:
        return None
    end = 1 + form.factors
    exact = (*(scale * v for v in exact[:end]), *exact[end:])

    def off(constants: tuple[float, ...]) -> tuple[float, float]:
        gap = np.abs(form.at(constants, x, log) - mean)
        ratio = np.where(gap > 1e-12 * scale, gap / np.maximum(units, 1e-12 * scale), 0.0)
        return float(np.sqrt(np.square(ratio).mean())), float(ratio.max())

    error, outside = off(exact)
    for digits in range(FEWEST, MOST_DIGITS + 1):
        short = rounded(exact, digits)
        again, further = off(short)
        if again <= error + WORSE and (further <= 1 or outside > 1):
            return short, again, further
    return exact, error, outside
