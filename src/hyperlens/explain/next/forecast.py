"""What more trials would bring: the expected gain of 10, 20, 50 and 100 more, and whether to stop.

Gains are of the true cost, without the luck of noise: that of the configuration that is expected to
be best now, less that of the best new one (surrogates/outlook/prospect.py); of a run with limits, both
keep them. What is smaller than the
standard error of a cost cannot be told from noise, nor be found again on new data; so a search may
stop when the expected gain of its next trials is below it, as Makarova et al. 2022 stop when a bound of
the regret is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.explain.models.compared import compared
from hyperlens.explain.models.fitting import Fitted, check_scale, fit
from hyperlens.explain.models.training import Training
from hyperlens.explain.models.verdict import Verdict, grounds, guessed, judge
from hyperlens.explain.next.failing import failing_notes
from hyperlens.explain.next.of_use import (
    check_single,
    learnt_limits,
    limit_notes,
    of_use,
    single_notes,
)
from hyperlens.record import Record
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History
from hyperlens.spaces.cube import FloatArray, IntArray
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.surrogates.additive.true_costs import TOLD_APART
from hyperlens.surrogates.outlook.prospect import AHEAD, Prospect, Search, prospect
from hyperlens.surrogates.quality import FEWEST, Quality
from hyperlens.surrogates.threads import one_thread
from hyperlens.tables import Column, Table, between, ends, table
from hyperlens.words import counted, decimals, number, percent, told_apart

MORE = (10, 20, 50, 100)
LEVEL = 0.8
SEARCHES: dict[Search, str] = {"model": "search by a model", "random": "random search"}
MORE_TRIALS = "How many trials are run beyond those there are."
INTERVAL = "Between these the gain lies with this probability; on other runs it did."
GAIN = "How much better the true cost of the best is expected to be, without the luck of noise."
CHANCE = (
    "How probable it is that the true cost gets better by more than the standard error of a cost."
)

Source = Literal["given", "repeats", "surrogate"]
SOURCES: dict[Source, str] = {
    "given": "as given",
    "repeats": "from repeats of configurations",
    "surrogate": "as far as all costs tell",
}


@dataclass(frozen=True)
class Forecast(Record):
    """Expected gains (searches, more), their intervals, and the chance of a gain above the error.

    `more` counts further trials. `best` is the expected true value of the configuration that is
    expected to be best, `observed` the best that was measured. `error` is the standard error of a
    cost, `error_from` where it is from; None where the costs show no noise. Where there are `limits`,
    all is of configurations that keep them.
    """

    objective: str
    maximize: bool
    trials: int
    observed: float
    best: float
    searches: tuple[Search, ...]
    more: IntArray
    gain: FloatArray
    low: FloatArray
    high: FloatArray
    chance: FloatArray
    error: float
    error_from: Source
    level: float
    seed: int
    quality: Quality
    verdict: Verdict
    notes: tuple[str, ...]
    limits: tuple[str, ...] = ()

    @property
    def ahead(self) -> int:
        """Position of the number of trials by which is decided whether to stop."""
        return int(np.argmin(np.abs(self.more - AHEAD)))

    @property
    def stop(self) -> bool:
        """Is what the next trials are expected to bring below the standard error of a cost?"""
        return bool(self.verdict.known and self.gain[0, self.ahead] < self.error)

    @property
    def sentence(self) -> str:
        way = "raise" if self.maximize else "lower"
        first, second = (self._gain(s, self.ahead) for s in range(2))
        said = (
            f"{counted(int(self.more[self.ahead]), 'more trial')} of a search by a model would {way} "
            f"the true {self.objective}{self._within} by {first}; of a random search, by {second}."
        )
        return guessed(self.verdict, said)

    @property
    def reading(self) -> str:
        """What that means for going on."""
        source = SOURCES[self.error_from]
        error = f"the standard error of one {self.objective} ({self.said(self.error)}, {source})"
        if not self.verdict.known:
            return "Whether to stop cannot be said from these trials."
        if self.error <= 0:
            return (
                "The costs show no noise, so there is no gain too small to count: stop when the "
                "expected one is too small for you."
            )
        if self.stop:
            return f"That is below {error}: stopping loses nothing that could be told from noise."
        return f"That is above {error}: going on is worth it."

    @property
    def _within(self) -> str:
        if not self.limits:
            return ""
        return " within the limit" if len(self.limits) == 1 else " within the limits"

    def said(self, cost: float) -> str:
        """A difference of costs, to as many digits as tell the expected gain from the error."""
        return told_apart([float(self.gain[0, self.ahead]), self.error], 2, 4)(cost)

    def _gain(self, search: int, at: int) -> str:
        numbers = (self.low, self.high, self.gain)
        low, high, gain = (self.said(float(x[search, at])) for x in numbers)
        if self.gain[search, at] > self.high[search, at]:  # seldom, but then much
            below = percent((1 + self.level) / 2)
            bound = f"at most {high}" if self.high[search, at] > 0 else "nothing"
            return f"{gain} on average, and by {bound} in {below} of cases"
        return f"{gain} ({percent(self.level)} interval {low} to {high})"

    @property
    def lead(self) -> tuple[str, ...]:
        return self.sentence, self.reading

    @property
    def tables(self) -> tuple[Table, ...]:
        flat = self._columns()
        return (
            table(
                Column("search", [SEARCHES[s] for s in flat["search"]]),
                Column("more trials", flat["more"], number, MORE_TRIALS),
                Column("expected gain", flat["gain"], lambda x: number(x, 3), GAIN),
                Column(
                    f"{percent(self.level)} interval",
                    ends(flat["low"], flat["high"]),
                    between(lambda x: number(x, 3)),
                    INTERVAL,
                ),
                Column("chance of a gain that counts", flat["chance"], percent, CHANCE),
            ),
        )

    def _columns(self) -> dict[str, Any]:
        arrays = {name: getattr(self, name) for name in ("gain", "low", "high", "chance")}
        return {
            "search": [s for s in self.searches for _ in self.more],
            "more": self.more.tolist() * len(self.searches),
            **{name: values.ravel().tolist() for name, values in arrays.items()},
        }


@of_a_run
def forecast(
    history: History,
    *,
    error: float | None = None,
    level: float = LEVEL,
    seed: int = 0,
    objective: str | None = None,
) -> Forecast:
    """What 10, 20, 50 and 100 more trials would bring, by a model and at random.

    `error` is the standard error of a cost, as of a cross-validation; else it is the noise that `winner`
    finds, from configurations that were run several times or from what the other costs tell.

    >>> import hyperlens as hl
    >>> space = [hl.Parameter("x", "float", 0, 1), hl.Parameter("y", "float", 0, 1)]
    >>> run = hl.minimize(lambda c: c["x"] + c["y"], space, "random", trials=20)
    >>> found = hl.forecast(run)
    >>> bool((found.gain[0] >= found.gain[1]).all() and (np.diff(found.gain) >= 0).all())
    True
    """
    if not 0 < level < 1:
        raise AnalysisError(f"An interval of {level} is not a level; choose one between 0 and 1.")
    if error is not None and not (np.isfinite(error) and error >= 0):
        raise AnalysisError(f"A standard error of {error} is none; give a number of at least 0.")
    fitted, known = prospects(history, seed=seed, objective=objective)
    _check_told_apart(fitted)
    source, error = standard_error(history, objective, fitted.training, error, known, seed)
    tails = ((1 - level) / 2, (1 + level) / 2)
    gains = np.array([[known.gains(s, k, seed) for k in MORE] for s in SEARCHES])
    low, high = np.quantile(gains, tails, axis=2)
    return Forecast(
        objective=history.objective(objective).name,
        maximize=history.objective(objective).maximize,
        trials=len(fitted.training.y),
        observed=history.shown(float(of_use(history, fitted.training).y.min()), objective),
        best=history.shown(float(known.best.mean()), objective),
        searches=tuple(SEARCHES),
        more=np.array(MORE),
        gain=gains.mean(axis=2),
        low=low,
        high=high,
        chance=(gains > error).mean(axis=2),
        error=error,
        error_from=source,
        level=level,
        seed=seed,
        quality=fitted.quality,
        verdict=judge(grounds(history, fitted, ())),
        notes=(
            *fitted.notes,
            *single_notes(history, objective),
            *_learnt_without(history),
            *limit_notes(history),
            *failing_notes(history, objective, seed),
        ),
        limits=history.limits,
    )


def _check_told_apart(fitted: Fitted) -> None:
    """Draws of noise promise what is not there."""
    if not fitted.quality.r2 >= TOLD_APART:
        raise AnalysisError(
            f"The {fitted.quality.surrogate} predicts next to nothing of trials it has not seen (R2 "
            f"{decimals(fitted.quality.r2)}), so nothing says what more of them would bring; repeat "
            "some configurations to see what is noise."
        )


def _learnt_without(history: History) -> tuple[str, ...]:
    if not history.limits:
        return ()
    return ("How far a search by a model gets was learnt on runs without limits.",)


def prospects(
    history: History, *, seed: int = 0, objective: str | None = None
) -> tuple[Fitted, Prospect]:
    """The additive process of a run and what its draws hold; the answer is remembered."""
    check_single(history, objective)
    y = history.data(objective).y
    if len(y) < FEWEST:
        verb = "says" if len(y) == 1 else "say"
        raise AnalysisError(
            f"{counted(len(y), 'trial')} with a cost {verb} nothing of more of them; run at least "
            f"{FEWEST} first."
        )
    check_scale(y)
    if np.ptp(y) == 0:
        raise AnalysisError(
            f"All {len(y)} costs are equal, so nothing says what more trials would bring; run trials "
            "with other costs."
        )
    fitted = fit(history, "additive", seed=seed, objective=objective)
    assert isinstance(fitted.model, Additive)
    key = ("prospect", seed, history.objective(objective).name)
    if key not in history.memory:
        with one_thread():
            limits = learnt_limits(history, fitted.model, fitted.training, objective, seed)
            history.memory[key] = prospect(fitted.model, history.space, seed, limits)
    found: Prospect = history.memory[key]
    return fitted, found


def standard_error(
    history: History,
    objective: str | None,
    data: Training,
    given: float | None,
    known: Prospect,
    seed: int,
) -> tuple[Source, float]:
    """Standard error of a cost: the user's, or the noise where the best are (models/compared.py), of a
    mean where costs are means over scenarios; the surrogate's where none can be compared."""
    if given is not None:
        return "given", float(given)
    try:
        found = compared(history, None, seed, objective)
    except AnalysisError:
        return "surrogate", known.noise
    averaged = len(data.y) < len(found.tried.y)
    times = float(np.median(np.bincount(found.tried.which))) if averaged else 1.0
    source: Source = "repeats" if found.measured.freedom >= FEWEST else "surrogate"
    return source, found.noise / float(np.sqrt(times))
