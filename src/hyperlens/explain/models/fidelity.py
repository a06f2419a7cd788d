"""Pruned trials and lower budgets used to explain the largest: a forest that knows the budget.

The budget, by its logarithm, is one more known input of the forest. A configuration that was never
run at the largest budget gets the cost that the forest predicts for it there. Whether that is sound
is tested: costs at the largest budget are hidden, and predicted with the lower budgets and without.

    with them they are predicted better   all lower budgets are used
    neither better nor clearly worse      pruned trials are used as bounds
    clearly worse, or too few to test     none is used: what stopped a trial says nothing of its end

A bound: a pruned trial was stopped for being worse than others, so it counts with no better cost than
the median of those that were not stopped. The hidden costs are of trials that went on, so they cannot
show what pruned ones know of the parts of the space in which all were stopped.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from hyperlens.runs.history import Data, History, State, Trial
from hyperlens.spaces.cube import Axis, BoolArray, Cube, FloatArray, IntArray
from hyperlens.surrogates.random_forest.forest import Forest
from hyperlens.words import agreeing, counted

FOLDS = 5
FEWEST = 2 * FOLDS  # trials at the largest budget, to check against
CLEARLY = 1.0  # standard errors
FAR_OFF = (
    1.5  # times the error: clearly worse, though a few costs make it and its standard error large
)

Finding = Literal["better", "equal", "worse"]


@dataclass(frozen=True)
class Evidence(Data):
    """What is known of costs at the largest budget: `measured` there, or else predicted for it.

    `doubt` is how far off predicted costs are, as hidden ones were: a standard deviation. `sentence`
    says what became of pruned trials and lower budgets; None where there are none. `most` says whether
    those are more than the trials that were measured.
    """

    measured: BoolArray
    doubt: float = 0.0
    sentence: str | None = None
    most: bool = False


@dataclass(frozen=True)
class _Levels:
    """Trials with a cost at some budget: positions, vectors, minimised costs, and which are at the
    largest budget. `place` is a budget on [0, 1]."""

    rows: IntArray
    X: FloatArray
    y: FloatArray
    budget: FloatArray
    full: BoolArray
    pruned: BoolArray

    @property
    def place(self) -> FloatArray:
        """Budgets on [0, 1], by their logarithm where all are positive."""
        scale = np.log(self.budget) if self.budget.min() > 0 else self.budget
        return np.asarray((scale - scale.min()) / (scale.max() - scale.min()))

    def part(self, keep: BoolArray) -> "_Levels":
        return replace(self, **{name: part[keep] for name, part in vars(self).items()})


def evidence(history: History, objective: str | None = None, seed: int = 0) -> Evidence:
    """Costs at the largest budget, with what other trials say of it where that is sound."""
    data = history.data(objective)
    alone = Evidence(data.X, data.y, data.rows, np.ones(len(data.y), dtype=bool))
    if history.largest_only or {State.COMPLETE, State.PRUNED} <= history.analysed:
        return alone
    levels = _levels(history, objective)
    unused = history.count(State.PRUNED) - int(levels.pruned.sum())
    lower = int((~levels.full).sum())
    if not lower:
        return replace(alone, sentence=_without_cost(history, unused), most=unused > len(data.y))
    what = _named(levels, len(history.trials))
    if (why := _untestable(levels)) is not None:
        return replace(alone, sentence=f"{what} left out: {why}", most=lower > len(data.y))
    end = f"at budget {levels.budget.max():g}" if history.budgets else "at the end"
    finding, doubt, errors = _tested(history.space.cube, levels, end, seed)
    if finding == "equal":
        levels = levels.part(levels.full | levels.pruned)
        finding = "equal" if not levels.full.all() else "worse"
    if finding == "worse":
        sentence = f"{what} left out: {agreeing(lower, 'with them')}, {errors}."
        return replace(alone, sentence=sentence, most=lower > len(data.y))
    known = _completed(history, levels, finding == "equal", seed)
    predicted = counted(int((~known.measured).sum()), "configuration")
    how = f"{predicted} count with the cost that a forest predicts {end}; with them, {errors}"
    if finding == "equal":
        how = (
            f"{predicted} count as bounds, with the cost that a forest predicts {end} but none "
            f"better than the median of those that were not pruned; with them, {errors}"
        )
    sentence = f"{what} used: {how}."
    return replace(known, doubt=doubt, sentence=sentence, most=lower > len(data.y))


def _without_cost(history: History, count: int) -> str | None:
    if not count:
        return None
    what = agreeing(
        count, "were pruned and are left out, as they recorded no cost at a known budget"
    )
    return f"{count} of {len(history.trials)} trials {what}."


def _levels(history: History, objective: str | None) -> _Levels:
    """Trials with a finite cost and a budget; a complete one without a budget had all of it."""
    chosen = history.objective(objective)
    costs = chosen.sign * history.measured(chosen)
    states = history.analysed | {State.PRUNED}
    apart = np.zeros(len(costs), dtype=bool) if history.keep_tail else history.diverged(objective)
    budgets = np.array([_spent(t) for t in history.trials], dtype=float)
    complete = np.array([t.state is State.COMPLETE for t in history.trials], dtype=bool)
    usable = np.array([t.state in states for t in history.trials], dtype=bool)
    usable &= np.isfinite(costs) & ~apart & (complete | np.isfinite(budgets))
    if np.isfinite(budgets[usable]).any():  # beyond every step at which one was stopped
        budgets[complete & np.isnan(budgets)] = np.nanmax(budgets[usable]) + 1.0
    rows = np.flatnonzero(usable)
    budget = budgets[rows]
    full = budget == np.nanmax(budget) if np.isfinite(budget).any() else np.ones_like(budget, bool)
    pruned = np.array([history.trials[i].state is State.PRUNED for i in rows], dtype=bool)
    return _Levels(rows, history.vectors[rows], costs[rows], budget, full, pruned & ~full)


def _spent(trial: Trial) -> float:
    """A trial's budget; where it has none and was pruned, the step that it came to."""
    if trial.budget is None and trial.state is State.PRUNED and trial.curve is not None:
        return trial.curve.last
    return np.nan if trial.budget is None else trial.budget


def _named(levels: _Levels, total: int) -> str:
    """The trials that are not at the largest budget: "316 of 400 trials were pruned and are"."""
    lower, pruned = int((~levels.full).sum()), int(levels.pruned.sum())
    ways = {
        "were pruned": lower == pruned,
        f"have a budget below {levels.budget.max():g}": pruned == 0,
        f"were pruned ({pruned}) or have a budget below {levels.budget.max():g}": True,
    }
    way = next(way for way, holds in ways.items() if holds)
    return f"{lower} of {total} trials {agreeing(lower, f'{way} and are')}"


def _untestable(levels: _Levels) -> str | None:
    """Why it cannot be tested whether lower budgets are of use."""
    at_largest = levels.y[levels.full]
    if len(at_largest) < FEWEST:
        return (
            f"{counted(len(at_largest), 'trial')} at the largest budget are too few to test whether "
            f"they tell anything of it ({FEWEST} are needed)."
        )
    if float(np.ptp(at_largest)) == 0.0:
        return "all costs at the largest budget are the same."
    return None


def _wider(cube: Cube) -> Cube:
    return Cube((*cube.axes, Axis()), cube.conditions)


def _tested(cube: Cube, levels: _Levels, end: str, seed: int) -> tuple[Finding, float, str]:
    """What lower budgets do to the prediction of hidden costs at the largest, how far off these then
    are, and that in words beside the error without them."""
    at_full = np.flatnonzero(levels.full)
    X, y, wide = levels.X, levels.y, np.column_stack([levels.X, levels.place])
    squared = np.empty((2, len(y)))
    for fold in np.array_split(np.random.default_rng(seed).permutation(at_full), FOLDS):
        seen = np.setdiff1d(np.arange(len(y)), fold)
        alone = np.setdiff1d(at_full, fold)
        both = Forest(_wider(cube), seed=seed).fit(wide[seen], y[seen]).predict(wide[fold])[0]
        single = Forest(cube, seed=seed).fit(X[alone], y[alone]).predict(X[fold])[0]
        squared[:, fold] = (both - y[fold]) ** 2, (single - y[fold]) ** 2
    squared = squared[:, at_full]
    with_lower, without = np.sqrt(squared.mean(axis=1)) / y[at_full].std()
    errors = f"hidden costs {end} are predicted with {_errors(with_lower, without)}"
    return _finding(squared), float(np.sqrt(squared[0].mean())), errors


def _errors(with_lower: float, without: float) -> str:
    """Both errors, with a digit more where they would look the same.

    >>> _errors(0.801, 0.8)
    'an error of 0.801 of their standard deviation, without them with 0.800'
    >>> _errors(0.8, 0.8)
    'an error of 0.80 of their standard deviation, without them with the same'
    """
    digits = 3 if f"{with_lower:.2f}" == f"{without:.2f}" else 2
    first, second = f"{with_lower:.{digits}f}", f"{without:.{digits}f}"
    if first == second:
        first, second = f"{with_lower:.2f}", "the same"
    return f"an error of {first} of their standard deviation, without them with {second}"


def _finding(squared: FloatArray) -> Finding:
    """Whether the squared errors with lower budgets, the first row, are below those without, (2, n)."""
    more = squared[0] - squared[1]
    if more.mean() < 0:
        return "better"
    doubt = CLEARLY * float(more.std(ddof=1)) / np.sqrt(len(more))
    far_off = squared[0].mean() > FAR_OFF**2 * squared[1].mean()
    return "worse" if more.mean() > doubt or far_off else "equal"


def _completed(history: History, levels: _Levels, bounds: bool, seed: int) -> Evidence:
    """Costs at the largest budget, measured or predicted, one of each configuration and scenario."""
    X, y, full = levels.X, levels.y, levels.full
    forest = Forest(_wider(history.space.cube), seed=seed).fit(
        np.column_stack([X, levels.place]), y
    )
    predicted = forest.predict(np.column_stack([X, np.ones(len(X))]))[0]
    if bounds:
        predicted = np.maximum(predicted, np.median(y[full]))
    best: dict[object, int] = {}
    for p in np.lexsort((levels.rows, -levels.budget)).tolist():  # the largest budget comes first
        trial = history.trials[levels.rows[p]]
        key = (np.where(np.isnan(X[p]), -1.0, X[p]).tobytes(), trial.seed, trial.instance)
        if full[p]:
            best["measured", p] = p
        best.setdefault(key, p)
    chosen = np.array(sorted(set(best.values())))
    costs = np.where(full, y, predicted)[chosen]
    return Evidence(X[chosen], costs, levels.rows[chosen], full[chosen])
