"""The smallest change of a trial that would reach a cost, and the probability that it does.

Changes of one, two and three parameters are looked at, each the nearest to the trial that is sure
enough: of one or two every point of their grid, of three the way from the trial to the best that they
reach; values stay between those that were tried. What a configuration is expected to cost comes from
the run's leader; the probability is the part of its draws in which the true cost is reached, spread as
its intervals are, or more where trials left out one by one show that single places are known less well.
The noise of a single measurement is not in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from hyperlens.errors import AnalysisError
from hyperlens.explain.models.fitting import Fitted
from hyperlens.explain.models.leader import named_or_leader
from hyperlens.explain.models.verdict import Verdict, grounds, guessed, judge
from hyperlens.explain.reach.nearby import Change, Tried, nearest_changes, tried_in
from hyperlens.explain.run.configurations import Named, Which, named
from hyperlens.record import Record
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History
from hyperlens.spaces.cube import FloatArray
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.surrogates.quality import Quality
from hyperlens.surrogates.threads import one_thread
from hyperlens.tables import Column, Table, between, ends, table
from hyperlens.words import article, changing, counted, number, percent

MOST = 3  # parameters that are changed
UNLIKELY = 0.005  # no change is named for a smaller probability
CHOSEN = 0.2  # standard deviations: what is chosen for being good is worse than expected by so much
WORTH_SAYING = 0.05  # of reaching it without a change
WITHIN = (
    "Changes stay between the lowest and the highest value of each parameter that was tried, and among "
    "its tried categories; beyond them nothing is known."
)
CHANCE = "The part of the surrogate's draws in which the true cost there is reached; without noise."
DISTANCE = "How far the changed values move, each as a part of its range."


@dataclass(frozen=True)
class Reach(Record):
    """The nearest change of each number of parameters, the fewest first; `chosen` is the first that is
    sure enough, -1 if none is. `values` are what parameters are changed to. `likely` is the probability
    that the cost is reached without a change; where that is enough no change is named."""

    objective: str
    maximize: bool
    start: str
    cost: float
    wanted: float
    sure: float
    changed: tuple[tuple[str, ...], ...]
    before: tuple[tuple[Any, ...], ...]
    values: tuple[tuple[Any, ...], ...]
    expected: FloatArray
    low: FloatArray
    high: FloatArray
    probability: FloatArray
    distance: FloatArray
    chosen: int
    level: float
    surrogate: str
    seed: int
    quality: Quality
    verdict: Verdict
    notes: tuple[str, ...]
    likely: float = 0.0

    @property
    def sentence(self) -> str:
        """What to change, or that nothing small does."""
        here = f"{self.start[0].upper()}{self.start[1:]}, expected at {number(self.cost)},"
        wanted = f"{article(self.objective)} of {number(self.wanted)}"
        if self.likely >= self.sure:
            own = f"{here} reaches {wanted} as it is with a probability of {percent(self.likely)}."
            return guessed(self.verdict, own)
        if self.chosen < 0:
            if not len(self.probability):
                return guessed(self.verdict, f"{here} has nothing that could be changed.")
            return guessed(
                self.verdict,
                f"{here} reaches {wanted} by no change of at most {MOST} parameters with a "
                f"probability of {percent(self.sure)}; {self._nearest()}.",
            )
        k = self.chosen
        count = counted(len(self.changed[k]), "change")
        chance = f"with a probability of {percent(float(self.probability[k]))}"
        change = f"by {count}, {self._change(k)}, {chance}"
        if self.likely >= WORTH_SAYING:
            own = f"{here} reaches {wanted} with a probability of {percent(self.likely)} as it is, and "
            return guessed(self.verdict, f"{own}{change}.")
        return guessed(self.verdict, f"{here} would reach {wanted} {change}.")

    def _nearest(self) -> str:
        """The likeliest change, or, where none is likely at all, the best that is expected."""
        way = 1 if self.maximize else -1
        k = max(
            range(len(self.changed)), key=lambda k: (self.probability[k], way * self.expected[k])
        )
        if self.probability[k] >= UNLIKELY:
            likely = percent(float(self.probability[k]))
            return f"the likeliest is {self._change(k)}, with {likely}"
        best = number(float(way * np.max(way * self.expected)))
        return f"the best that is expected of any is {best}"

    def _change(self, k: int) -> str:
        each = zip(self.changed[k], self.before[k], self.values[k], strict=True)
        return ", ".join(f"'{name}' {changing(a, b)}" for name, a, b in each)

    @property
    def tables(self) -> tuple[Table, ...]:
        title = f"{percent(self.level)} interval"
        return (
            table(
                Column("change", [self._change(k) for k in range(len(self.changed))]),
                Column("expected", self.expected, number, "What the surrogate expects there."),
                Column(title, ends(self.low, self.high), between(number), "Of the true cost."),
                Column("probability", self.probability, percent, CHANCE),
                Column("how far", self.distance, number, DISTANCE),
            ),
        )

    def _columns(self) -> dict[str, Any]:
        numbers = self._fields("expected", "low", "high", "probability", "distance")
        texts = {"changed": self.changed, "before": self.before, "values": self.values}
        return texts | numbers


@of_a_run
def reach(
    history: History,
    trial: Which = "default",
    cost: float | None = None,
    *,
    sure: float = 0.5,
    level: float = 0.9,
    surrogate: Any = None,
    seed: int = 0,
    objective: str | None = None,
) -> Reach:
    """The smallest change of a trial that reaches a cost with a probability of at least `sure`.

    The trial is "best", "default", a number, or values; the cost is the best measured one if none is
    given. The surrogate is the run's leader unless one is named or given.
    """
    measured, start = history.objective(objective), named(history, trial, objective)
    if cost is None:
        cost = float(measured.sign * history.data(objective).y.min())
    _check(cost, sure)
    fitted = named_or_leader(history, surrogate, seed=seed, objective=objective)
    bound = measured.sign * float(cost)
    likely, here = (float(x[0]) for x in chances(fitted, start.vector[None], bound, worse=0.0)[:2])
    tried = tried_in(history.data(objective).X)
    found = [] if likely >= sure else _found(history, fitted, tried, start, bound, sure, seed)
    latents = np.array([c.latents for c in found]).reshape(len(found), fitted.cube.d)
    X = fitted.cube.vectors(latents)
    chance, mean, low, high = chances(fitted, X, bound, level)
    names, sign, values = history.space.names, measured.sign, history.space.decode(X)
    enough = np.flatnonzero(chance >= sure)
    low, high = (low, high) if sign > 0 else (-high, -low)
    notes = _not_learnt(history, trial, objective)
    notes += _measured(history, start, here, bound, objective)
    return Reach(
        objective=measured.name,
        maximize=measured.maximize,
        start=start.called,
        cost=sign * here,
        wanted=float(cost),
        sure=sure,
        changed=tuple(tuple(names[j] for j in c.columns) for c in found),
        before=tuple(tuple(start.values.get(names[j]) for j in c.columns) for c in found),
        values=tuple(
            tuple(v.get(names[j]) for j in c.columns) for c, v in zip(found, values, strict=True)
        ),
        expected=sign * mean,
        low=low,
        high=high,
        probability=chance,
        distance=np.array([c.distance for c in found]),
        chosen=int(enough[0]) if len(enough) else -1,
        level=level,
        surrogate=fitted.name,
        seed=seed,
        quality=fitted.quality,
        verdict=judge(grounds(history, fitted, ())),
        notes=notes + (WITHIN,) * bool(found and not len(enough)) + fitted.notes,
        likely=likely,
    )


def _found(
    history: History,
    fitted: Fitted,
    tried: Tried,
    start: Named,
    bound: float,
    sure: float,
    seed: int,
) -> list[Change]:
    """The nearest changes of one, two and three parameters."""
    own = np.array([p.encode([p.default])[0] for p in history.space.parameters])
    latents = np.where(np.isnan(start.vector), own, start.vector)

    def chance(X: FloatArray) -> FloatArray:
        return chances(fitted, X, bound)[0]

    with one_thread():
        return nearest_changes(fitted, tried, latents, bound, chance, sure, MOST, seed)


def _not_learnt(history: History, trial: Which, objective: str | None) -> tuple[str, ...]:
    """That what is expected of a trial is not what it cost."""
    learnt = {history.trials[row].number for row in history.data(objective).rows.tolist()}
    if not isinstance(trial, int) or trial in learnt:
        return ()
    return (
        f"Trial {trial} has no cost to learn from, or one that is set aside; what is expected of it is "
        "what trials like it cost.",
    )


def _measured(
    history: History, start: Named, expected: float, bound: float, objective: str | None
) -> tuple[str, ...]:
    """That a trial measured the cost, which is not expected of its configuration (costs minimised)."""
    data, sign = history.data(objective), history.objective(objective).sign
    same = np.asarray(((start.vector == data.X) | np.isnan(data.X) & np.isnan(start.vector)).all(1))
    own = float(data.y[same].min()) if same.any() else np.inf
    if not own <= bound < expected:
        return ()
    return (
        f"It measured {number(sign * own)} itself, of which a part is taken for luck; tried again, "
        f"{number(sign * expected)} is expected.",
    )


def _check(cost: float, sure: float) -> None:
    if not np.isfinite(cost):
        raise AnalysisError(f"A cost of {cost} cannot be reached; give a finite number.")
    if not 0 < sure < 1:
        raise AnalysisError(f"A probability of {sure:g} is not between 0 and 1; give one that is.")


def chances(
    fitted: Fitted, X: FloatArray, bound: float, level: float = 0.9, worse: float = CHOSEN
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """At vectors: the probability that the true cost is at most a bound, its mean, low and high.

    What was chosen for what is expected of it is `worse` than that by so many standard deviations.
    """
    model = fitted.model
    if not len(X):
        none = np.empty(0)
        return none, none, none, none
    if isinstance(model, Additive):
        drawn = model.costs(X)  # as weights they would be less exact where trials are
        mean = drawn.mean(axis=1)
        spread = mean[:, None] + model.widened_singly * (drawn - mean[:, None])
        tails = [(1 - level) / 2, (1 + level) / 2]
        low, high = np.quantile(spread, tails, axis=1)
        by = worse * spread.std(axis=1)[:, None]
        return (spread + by <= bound).mean(axis=1), mean, low, high
    mean, std = model.predict(X)
    reach = float(scipy.stats.norm.ppf((1 + level) / 2)) * std
    with np.errstate(divide="ignore", invalid="ignore"):
        chance = scipy.stats.norm.cdf((bound - mean) / std)
    return np.where(std > 0, chance, mean <= bound), mean, mean - reach, mean + reach
