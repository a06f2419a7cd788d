"""How many evaluations each model got and why, and how far each came.

Symbols
    weight   chance of a model in each draw
    rung     a budget at which configurations were measured; the last is all rows
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hyperlens.cash.results import model_search_words as words
from hyperlens.cash.results.calibration import Calibration
from hyperlens.cash.results.feature_use import FeatureUse
from hyperlens.errors import AnalysisError
from hyperlens.optimize.models.model_sampling import ROOT, Sampling, model_weights
from hyperlens.optimize.models.model_sampling import own_hyperparameters as own_hyperparameters
from hyperlens.record import Record
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History, State, Trial
from hyperlens.runs.search_plan import SearchPlan
from hyperlens.spaces.cube import FloatArray, IntArray
from hyperlens.spaces.space import Space
from hyperlens.tables import Column, Table, table
from hyperlens.words import number, tenths, told_apart

if TYPE_CHECKING:
    import pandas as pd

CLOSE = 1e-9  # coordinates this near are one
MOST_LEADERS = 10  # in a table
MOST_VALUES = 4  # of a configuration there
FULL = 1.0  # budget of an evaluation whose method knows none


@dataclass(frozen=True)
class Leader:
    """A configuration at the largest budget that any reached; `seconds` are those it took there."""

    trial: int
    model: str
    cost: float
    seconds: float
    values: Mapping[str, Any]

    @property
    def configuration(self) -> str:
        """The first of the model's own values."""
        values = [
            f"{name.split(':', 1)[1]} = {number(value)}"
            for name, value in self.values.items()
            if name.startswith(f"{self.model}:")
        ]
        return ", ".join(values[:MOST_VALUES]) + (", ..." if len(values) > MOST_VALUES else "")


@dataclass(frozen=True)
class ModelSearch(Record):
    """A search over models: rows are models, the best first.

    `reached[m, 0]` counts the configurations of model m that were tried, `reached[m, k + 1]` those
    that were measured at `budgets[k]` or more without failing. `at_once` are those that went to
    all rows without having to be promoted, and `by_default` says whether the model's default was
    among them; `promoted` are those that came from fewer rows to more, `proposed` those that a
    surrogate chose. `spent` is in evaluations on all rows, of so many `evaluations` if that is known.
    `best` is at the largest budget, in the user's direction, nan where a model did not get so far.
    `reasons` are those of failures, with how often each came. `features` and `calibration` are of the
    trained model, where the search ended with one.
    """

    objective: str
    maximize: bool
    optimizer: str
    sampling: str
    budgets: FloatArray
    models: tuple[str, ...]
    hyperparameters: IntArray
    weights: FloatArray
    reached: IntArray
    at_once: IntArray
    promoted: IntArray
    proposed: IntArray
    by_default: tuple[bool, ...]
    evaluations: float | None
    spent: FloatArray
    failed: IntArray
    best: FloatArray
    leaders: tuple[Leader, ...]
    reasons: Mapping[str, int]
    notes: tuple[str, ...]
    features: FeatureUse | None = None
    calibration: Calibration | None = None

    @property
    def story(self) -> tuple[str, ...]:
        """Who won, where the evaluations went and why, and what failed."""
        return words.story(self)

    @property
    def sentence(self) -> str:
        """Who won."""
        return " ".join(words.winner(self) or self.notes)

    @property
    def lead(self) -> tuple[str, ...]:
        return (*self.story, *self.notes)

    @property
    def tables(self) -> tuple[Table, ...]:
        """The models, and the best configurations."""
        reached = "Configurations that were measured at full budget."
        failed = "Evaluations that failed; they count as worst."
        models = table(
            Column("model", self.models),
            Column("chance", self.weights, tenths, "Of being drawn."),
            Column("drawn", self.reached[:, 0], number, "Configurations that were tried."),
            Column("on all rows", self.reached[:, -1], number, reached),
            Column("evaluations", self.spent, "{:.1f}".format, "In evaluations at full budget."),
            Column("failed", self.failed, number, failed),
            Column(
                f"best {self.objective}",
                self.best,
                number,
                f"The best {self.objective} at full budget.",
            ),
        )
        leaders = self.leaders[:MOST_LEADERS]
        costs = [leader.cost for leader in leaders]
        board = table(
            Column("place", [costs.index(cost) + 1 for cost in costs], number),
            Column(self.objective, costs, told_apart(costs)),
            Column("model", [leader.model for leader in leaders]),
            Column("configuration", [leader.configuration for leader in leaders]),
        )
        return models, board

    def _columns(self) -> dict[str, Any]:
        """One row a model."""
        return {
            "model": self.models,
            "hyperparameters": self.hyperparameters,
            "weight": self.weights,
            "drawn": self.reached[:, 0],
            "promoted": self.reached[:, -1],
            "at once": self.at_once,
            "spent": self.spent,
            "failed": self.failed,
            "best": self.best,
        }

    @property
    def leaderboard(self) -> pd.DataFrame:
        """One row a configuration at the largest budget, the best first."""
        import pandas as pd

        rows = [(i + 1, x.model, x.cost, x.seconds, x.trial) for i, x in enumerate(self.leaders)]
        board = pd.DataFrame(rows, columns=["rank", "model", self.objective, "seconds", "trial"])
        return board.assign(configuration=[dict(x.values) for x in self.leaders])


@of_a_run
def model_search(
    history: History, sampling: Sampling | None = None, evaluations: float | None = None
) -> ModelSearch:
    """Tell the story of a search over models.

    `sampling` and `evaluations` as it was searched with; by default what the run itself says, else
    "weighted" and unknown.
    """
    space = history.space
    if ROOT not in space.names and ROOT not in space.constants:
        raise AnalysisError(
            f"This run does not choose among models; it has no category '{ROOT}' in its space."
        )
    own = own_hyperparameters(space)
    plan = history.plan or search_plan(space)
    if sampling is not None or not set(own) <= set(plan.weights):
        plan = search_plan(space, sampling or "weighted", plan.evaluations)
    budgets = sorted({_budget(t) for t in history.trials})
    if not budgets or budgets[-1] < FULL:
        budgets.append(FULL)
    best_first = furthest(history)
    leaders = [
        Leader(t.number, str(t.values.get(ROOT)), float(t.costs[0]), t.seconds, dict(t.values))
        for t in best_first
    ]
    order = list(dict.fromkeys([*(leader.model for leader in leaders), *own]))
    trials = {m: [t for t in history.trials if model_of(t, space) == m] for m in order}
    failed = (t for t in history.trials if t.state is State.FAILED)
    reasons = Counter(trial.reason or "unknown" for trial in failed)
    objective = history.objective()
    best = {leader.model: leader.cost for leader in reversed(leaders)}
    return ModelSearch(
        objective=objective.name,
        maximize=objective.maximize,
        optimizer=next((t.proposer for t in history.trials if t.proposer), "unknown"),
        sampling=plan.sampling,
        budgets=np.array(budgets),
        models=tuple(order),
        hyperparameters=np.array([len(own[m]) for m in order], dtype=np.int64),
        weights=np.array([plan.weights[m] for m in order]),
        reached=np.array(
            [[len(trials[m]), *_measured(trials[m], budgets)] for m in order], dtype=np.int64
        ),
        at_once=_counts(order, trials, _at_once),
        promoted=_counts(order, trials, lambda t: _rung(t) > 0),
        proposed=_counts(order, trials, lambda t: bool(t.proposal and t.proposal.by_surrogate)),
        by_default=tuple(
            any(_at_once(t) and _is_default(t, own[m], space) for t in trials[m]) for m in order
        ),
        evaluations=plan.evaluations if evaluations is None else evaluations,
        spent=np.array([math.fsum(_spent(t, budgets) for t in trials[m]) for m in order]),
        failed=np.array([sum(t.state is State.FAILED for t in trials[m]) for m in order]),
        best=np.array([best.get(m, math.nan) for m in order]),
        leaders=tuple(leaders),
        reasons=dict(reasons.most_common()),
        notes=_notes(best_first),
    )


def search_plan(
    space: Space, sampling: Sampling = "weighted", evaluations: float | None = None
) -> SearchPlan:
    """What a search is told, with each model's chance."""
    one = ROOT in space.constants
    weights = {str(space.constants[ROOT]): 1.0} if one else model_weights(space, sampling)
    rule = sampling if isinstance(sampling, str) else "given"
    return SearchPlan(rule, weights, evaluations)


def model_of(trial: Trial, space: Space) -> str:
    return str(trial.values.get(ROOT, space.constants.get(ROOT)))


def leaderboard(history: History) -> pd.DataFrame:
    """Configurations at the largest budget, the best first, each once."""
    return model_search(history, "uniform").leaderboard


def furthest(history: History) -> list[Trial]:
    """Trials at the largest budget, the best first, each configuration once.

    Of equals it is not the earlier one, which the number of workers decides, but the first by its
    values. Without any complete trial, those that were cut short. Constants are among the values.
    """
    history = so_far(history)
    try:
        data = history.data()
    except AnalysisError:
        return []
    constants = history.space.constants
    by_cost = [
        (cost, replace(trial, values={**constants, **trial.values}))
        for cost, trial in zip(data.y, (history.trials[i] for i in data.rows), strict=True)
    ]
    different: dict[str, Trial] = {}
    for _, trial in sorted(by_cost, key=lambda each: (each[0], _key(each[1]))):
        different.setdefault(_key(trial), trial)
    return list(different.values())


def so_far(history: History) -> History:
    """The run, of which trials that were cut short count if none is complete."""
    if any(t.state is State.COMPLETE for t in history.trials):
        return history
    return replace(history, analysed=frozenset({State.PRUNED}))


def _key(trial: Trial) -> str:
    return json.dumps(dict(trial.values), sort_keys=True, default=str)


def _budget(trial: Trial) -> float:
    return FULL if trial.budget is None else float(trial.budget)


def _rung(trial: Trial) -> int:
    """How often it was promoted."""
    return 0 if trial.proposal is None else trial.proposal.rung or 0


def _at_once(trial: Trial) -> bool:
    return _budget(trial) >= FULL and not _rung(trial)


def _measured(trials: list[Trial], budgets: list[float]) -> list[int]:
    """How many were measured at each budget or more; one that failed had all but its last."""
    tops = []
    for trial in trials:
        top = budgets.index(_budget(trial))
        if trial.state is State.FAILED:
            top = top - 1 if _rung(trial) else -1
        tops.append(top)
    return [sum(top >= k for top in tops) for k in range(len(budgets))]


def _counts(
    order: list[str], trials: Mapping[str, list[Trial]], holds: Callable[[Trial], bool]
) -> IntArray:
    return np.array([sum(map(holds, trials[m])) for m in order], dtype=np.int64)


def _is_default(trial: Trial, own: tuple[str, ...], space: Space) -> bool:
    """Are all its hyperparameters at their defaults?"""
    default = {p.name: p.default for p in space.parameters}
    pair = [{n: values[n] for n in own if n in trial.values} for values in (trial.values, default)]
    here, there = space.encode(pair)
    return bool(np.allclose(here, there, atol=CLOSE, equal_nan=True))


def _spent(trial: Trial, budgets: list[float]) -> float:
    """All rungs that a trial climbed, in evaluations at full budget."""
    top = budgets.index(_budget(trial))
    return math.fsum(budgets[max(0, top - _rung(trial)) : top + 1]) / FULL


def _notes(best: list[Trial]) -> tuple[str, ...]:
    if not best:
        return ("No evaluation succeeded, so no model can be named.",)
    largest = _budget(best[0])
    if largest < FULL:
        return (
            f"No configuration came as far as all rows; the best was measured on {largest:.0%} of them.",
        )
    return ()
