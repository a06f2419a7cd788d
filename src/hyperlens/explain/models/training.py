"""What a surrogate learns from: costs at one budget, one per configuration, capped where asked."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.explain.models.fidelity import Evidence, evidence
from hyperlens.runs.history import Data, History
from hyperlens.spaces.cube import Axis, BoolArray, Cube, FloatArray, IntArray
from hyperlens.surrogates.random_forest.forest import Forest

Cap = float | Literal["default"] | str  # a cost, "default", or "quantile=0.25"


@dataclass(frozen=True)
class Training(Data):
    """The same arrays, the cap in the user's direction, and sentences on what was done.

    `measured` are the rows whose cost was measured at this budget; other costs are predicted for it,
    and `doubt` is how far off these may be. `aside` are those of the notes that a reader must know
    first.
    """

    cap: float | None
    notes: tuple[str, ...]
    measured: BoolArray
    doubt: float = 0.0
    aside: tuple[str, ...] = ()

    @property
    def doubts(self) -> FloatArray:
        """How far off each cost may be beside its noise, in standard deviations of all costs, (n,)."""
        spread = float(self.y.std())
        return np.where(self.measured, 0.0, self.doubt / spread if spread > 0 else 0.0)


def training(
    history: History,
    objective: str | None = None,
    budget: float | None = None,
    cap: Cap | None = None,
    seed: int = 0,
) -> Training:
    """Rows to learn from: at a budget, or at the largest, with what lower ones and pruned trials say
    of it. Several scenarios become one cost; costs worse than `cap` become `cap`."""
    found = _found(history, objective, budget, seed)
    data, averaged = _over_scenarios(history, found, seed)
    measured = np.isin(data.rows, found.rows[found.measured])
    diverged = history.divergence(objective)
    aside = tuple(filter(None, (diverged, found.sentence if found.most else None)))
    told = filter(None, (*aside, diverged, found.sentence, *averaged))
    notes = tuple(dict.fromkeys(told))
    if cap is None:
        return Training(data.X, data.y, data.rows, None, notes, measured, found.doubt, aside)
    most = _threshold(history, data, cap, objective, seed)
    capped = int((data.y > most).sum())
    shown = history.shown(most, objective)
    note = f"Costs worse than {shown:.6g} count as {shown:.6g}: {capped} of {len(data.y)} are."
    y = np.minimum(data.y, most)
    return Training(data.X, y, data.rows, shown, (*notes, note), measured, found.doubt, aside)


def _found(history: History, objective: str | None, budget: float | None, seed: int) -> Evidence:
    """Costs at a budget that was asked for, else what is known of the largest."""
    key = ("evidence", history.objective(objective).name, budget, seed)
    if key not in history.memory:
        if budget is None:
            history.memory[key] = evidence(history, objective, seed)
        else:
            data = history.data(objective, budget)
            every = np.ones(len(data.y), dtype=bool)
            history.memory[key] = Evidence(data.X, data.y, data.rows, every)
    found: Evidence = history.memory[key]
    return found


def _over_scenarios(history: History, data: Data, seed: int) -> tuple[Data, tuple[str, ...]]:
    """One cost for each configuration that was run in several scenarios (instances, seeds, folds).

    If every configuration was run in every scenario, the costs are averaged. Otherwise a forest on
    configuration and scenario predicts the missing ones, and its predictions are averaged.
    """
    names = [_scenario(history, i) for i in data.rows]
    scenarios = sorted(set(names))
    if len(scenarios) < 2 or len(scenarios) == len(names):
        return data, ()
    configurations, first, which = np.unique(
        np.where(np.isnan(data.X), -1.0, data.X), axis=0, return_index=True, return_inverse=True
    )
    which = which.ravel()
    at = np.array([scenarios.index(name) for name in names])
    seen = np.zeros((len(configurations), len(scenarios)), dtype=bool)
    seen[which, at] = True
    order = np.argsort(first)
    X, rows = data.X[first[order]], data.rows[first[order]]
    if seen.all():
        total = np.zeros(seen.shape)
        count = np.zeros(seen.shape)
        np.add.at(total, (which, at), data.y)
        np.add.at(count, (which, at), 1.0)
        y = (total / count).mean(axis=1)[order]
        how = "averaged"
    else:
        y = _predicted(history.space.cube, data, at, X, len(scenarios), seed)
        how = "completed by a forest on configuration and scenario, then averaged"
    note = (
        f"{len(names)} trials are {len(X)} configurations in {len(scenarios)} scenarios "
        f"(instances or seeds); their costs were {how}."
    )
    return Data(X, y, rows), (note,)


def _scenario(history: History, row: int) -> tuple[str, int]:
    trial = history.trials[row]
    return (trial.instance or "", -1 if trial.seed is None else trial.seed)


def _predicted(
    cube: Cube, data: Data, at: IntArray, X: FloatArray, scenarios: int, seed: int
) -> FloatArray:
    """Mean over all scenarios of a forest that knows each trial's (Hutter et al. 2014 section 3.3)."""
    axis = Axis.categorical(scenarios)
    assert axis.codes is not None
    wider = Cube((*cube.axes, axis), cube.conditions)
    forest = Forest(wider, seed=seed).fit(np.column_stack([data.X, axis.codes[at]]), data.y)
    each = [forest.predict(np.column_stack([X, np.full(len(X), code)]))[0] for code in axis.codes]
    return np.asarray(np.mean(each, axis=0))


def _threshold(history: History, data: Data, cap: Cap, objective: str | None, seed: int) -> float:
    """The minimised cost at which to cap."""
    if isinstance(cap, str):
        if cap == "default":
            return _default_cost(history, data, seed)
        kind, _, number = cap.partition("=")
        try:
            value = float(number if number else kind)
        except ValueError:
            kind, value = "", np.nan
        if kind == "quantile" and 0 < value < 1:
            return float(np.quantile(data.y, value))
        if number or not np.isfinite(value):
            raise AnalysisError(
                f"A cap of '{cap}' is not understood; give a cost, 'default' or 'quantile=0.25'."
            )
        cap = value
    return history.shown(float(cap), objective)


def _default_cost(history: History, data: Data, seed: int) -> float:
    """Cost of the default configuration: measured if it was run, predicted otherwise."""
    vector = history.space.encode([history.space.default])
    same = (np.isnan(data.X) & np.isnan(vector)) | (np.abs(data.X - vector) < 1e-9)
    rows = np.flatnonzero(same.all(axis=1))
    if len(rows):
        return float(data.y[rows].mean())
    return float(Forest(history.space.cube, seed=seed).fit(data.X, data.y).predict(vector)[0][0])
