"""Trials of lower budgets used to explain the largest: a forest that knows the budget.

The budget, by its logarithm, is one more known input of the forest. A configuration that was never
run at the largest budget gets the cost that the forest predicts for it there. That is done only
where it is sound: where hidden costs at the largest budget are predicted better with the lower
budgets than without them.
"""

from dataclasses import replace

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.runs.history import History, State, Trial
from hyperlens.spaces.cube import Axis, Cube, FloatArray, IntArray
from hyperlens.surrogates.random_forest.forest import Forest

AS_READ = "as read"  # where a run that uses all budgets remembers the one it is of
FOLDS = 5
FEWEST = 2 * FOLDS  # trials at the largest budget, to check against


def all_budgets(history: History, objective: str | None = None, seed: int = 0) -> History:
    """The run at its largest budget, with what lower budgets say of it where that is sound."""
    completed = _all_budgets(history, objective, seed)
    completed.memory[AS_READ] = history
    return completed


def _all_budgets(history: History, objective: str | None, seed: int) -> History:
    chosen = history.objective(objective)
    k = history.objectives.index(chosen)
    rows, budgets = _usable(history, k)
    largest = float(budgets.max())
    full = budgets == largest
    if full.all():
        return replace(history, notes=(*history.notes, "All trials have the same budget."))
    X = history.vectors[rows]
    y = np.array([history.trials[i].costs[k] for i in rows])
    place = _places(budgets)
    note = _why_not(y[full])
    if note is None:
        error, alone = _errors(history.space.cube, X, y, place, full, seed)
        if not error < alone:
            note = (
                f"Lower budgets were not used: with them hidden costs at budget {largest:g} are "
                f"predicted with an error of {error:.2f} of their standard deviation, without them "
                f"with {alone:.2f}."
            )
    if note is not None:
        kept = _at_largest(history, rows[full])
        return replace(history, trials=kept, notes=(*history.notes, note))
    forest = Forest(_wider(history.space.cube), seed=seed).fit(np.column_stack([X, place]), y)
    trials, predicted = _completed(history, forest, rows, X, full, budgets, largest, k)
    sentence = (
        f"{int((~full).sum())} trials of lower budgets were used: {predicted} configurations "
        f"that were not run at budget {largest:g} count with the cost a forest predicts for it, which "
        f"lowers the error on hidden costs from {alone:.2f} to {error:.2f} of their standard deviation."
    )
    return replace(history, trials=trials, notes=(*history.notes, sentence))


def _usable(history: History, k: int) -> tuple[IntArray, FloatArray]:
    """Positions of trials with a finite cost and a budget; a complete one without had all of it."""
    rows, budgets = [], []
    states = history.analysed | {State.PRUNED}
    for i, trial in enumerate(history.trials):
        known = trial.budget is not None or trial.state is State.COMPLETE
        if trial.state in states and known and np.isfinite(trial.costs[k]):
            rows.append(i)
            budgets.append(np.nan if trial.budget is None else trial.budget)
    numbers = np.array(budgets, dtype=float)
    if not np.isfinite(numbers).any():
        raise AnalysisError("No trial of this run has a budget; leave out --budget.")
    whole = np.isnan(numbers)
    if whole.any():  # beyond every step at which one was stopped
        numbers[whole] = np.nanmax(numbers) + 1.0
    return np.array(rows), numbers


def _places(budgets: FloatArray) -> FloatArray:
    """Budgets on [0, 1], by their logarithm where all are positive."""
    scale = np.log(budgets) if budgets.min() > 0 else budgets
    return np.asarray((scale - scale.min()) / (scale.max() - scale.min()))


def _wider(cube: Cube) -> Cube:
    return Cube((*cube.axes, Axis()), cube.conditions)


def _why_not(at_largest: FloatArray) -> str | None:
    """Why it cannot be checked whether lower budgets are of use."""
    if len(at_largest) < FEWEST:
        return (
            f"Lower budgets were not used: {len(at_largest)} trials at the largest budget are too few "
            f"to check whether that is sound ({FEWEST} are needed)."
        )
    if float(np.ptp(at_largest)) == 0.0:
        return "Lower budgets were not used: all costs at the largest budget are the same."
    return None


def _errors(
    cube: Cube, X: FloatArray, y: FloatArray, place: FloatArray, full: FloatArray, seed: int
) -> tuple[float, float]:
    """Errors on hidden costs at the largest budget, by their deviation: with and without lower ones."""
    at_full = np.flatnonzero(full)
    folds = np.array_split(np.random.default_rng(seed).permutation(at_full), FOLDS)
    wide = np.column_stack([X, place])
    squared = np.zeros(2)
    for fold in folds:
        seen = np.setdiff1d(np.arange(len(y)), fold)
        alone = np.setdiff1d(at_full, fold)
        both = Forest(_wider(cube), seed=seed).fit(wide[seen], y[seen]).predict(wide[fold])[0]
        single = Forest(cube, seed=seed).fit(X[alone], y[alone]).predict(X[fold])[0]
        squared += [((both - y[fold]) ** 2).sum(), ((single - y[fold]) ** 2).sum()]
    with_lower, without = np.sqrt(squared / len(at_full)) / y[at_full].std()
    return float(with_lower), float(without)


def _at_largest(history: History, rows: IntArray) -> tuple[Trial, ...]:
    """All trials but those of lower budgets."""
    full = set(rows.tolist())
    return tuple(
        t
        for i, t in enumerate(history.trials)
        if i in full or not (t.state in history.analysed or t.state is State.PRUNED)
    )


def _completed(
    history: History,
    forest: Forest,
    rows: IntArray,
    X: FloatArray,
    full: FloatArray,
    budgets: FloatArray,
    largest: float,
    k: int,
) -> tuple[tuple[Trial, ...], int]:
    """Trials at the largest budget, measured or predicted, one of each configuration and scenario."""
    costs = forest.predict(np.column_stack([X, np.ones(len(X))]))[0]
    best: dict[object, int] = {}
    for p in np.lexsort((rows, -budgets)).tolist():  # the largest budget of each comes first
        trial = history.trials[rows[p]]
        key = (np.where(np.isnan(X[p]), -1.0, X[p]).tobytes(), trial.seed, trial.instance)
        if full[p]:
            best["measured", p] = p
        best.setdefault(key, p)
    chosen = {int(rows[p]): p for p in best.values()}
    used = set(rows.tolist())
    filled, predicted = [], 0
    for i, trial in enumerate(history.trials):
        if i in chosen and not full[chosen[i]]:
            told = list(trial.costs)
            told[k] = float(costs[chosen[i]])
            trial = replace(trial, costs=tuple(told), budget=largest, state=State.COMPLETE)
            predicted += 1
        elif i in chosen:
            trial = replace(trial, budget=largest)
        elif i in used or trial.state is State.PRUNED:
            continue
        filled.append(trial)
    return tuple(filled), predicted
