"""Which model got which budget and why, and how far each came.

Symbols
    weight   chance of a model in each draw
    rung     a resource at which configurations were measured; the last is all rows
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hyperlens.cube import FloatArray, IntArray
from hyperlens.errors import AnalysisError
from hyperlens.history import History, State, Trial
from hyperlens.optimize.model_sampling import ROOT, Sampling, model_weights, own_hyperparameters
from hyperlens.record import Record

if TYPE_CHECKING:
    import pandas as pd

FULL = 1.0  # resource of an evaluation whose method knows none


@dataclass(frozen=True)
class Leader:
    """A configuration at the largest resource that any reached; `seconds` are those it took there."""

    trial: int
    model: str
    cost: float
    seconds: float
    values: Mapping[str, Any]


@dataclass(frozen=True)
class ModelSearch(Record):
    """A search over models: rows are models, the best first.

    `reached[m, k]` counts the configurations of model m that were measured at `resources[k]` or
    more; its first column are those drawn. `spent` is in evaluations on all rows, `best` at the
    largest resource, in the user's direction, nan where a model did not get so far. `reasons` are
    those of failures, with how often each came.
    """

    objective: str
    maximize: bool
    optimizer: str
    sampling: str
    resources: FloatArray
    models: tuple[str, ...]
    hyperparameters: IntArray
    weights: FloatArray
    reached: IntArray
    spent: FloatArray
    failed: IntArray
    best: FloatArray
    leaders: tuple[Leader, ...]
    reasons: Mapping[str, int]
    notes: tuple[str, ...]

    @property
    def frame(self) -> pd.DataFrame:
        """One row a model."""
        import pandas as pd

        columns: dict[str, Any] = {
            "model": self.models,
            "hyperparameters": self.hyperparameters,
            "weight": self.weights,
            "drawn": self.reached[:, 0],
            "promoted": self.reached[:, -1],
            "spent": self.spent,
            "failed": self.failed,
            "best": self.best,
        }
        return pd.DataFrame(columns)

    @property
    def leaderboard(self) -> pd.DataFrame:
        """One row a configuration at the largest resource, the best first."""
        import pandas as pd

        rows = [(i + 1, x.model, x.cost, x.seconds, x.trial) for i, x in enumerate(self.leaders)]
        found = pd.DataFrame(rows, columns=["rank", "model", self.objective, "seconds", "trial"])
        return found.assign(configuration=[dict(x.values) for x in self.leaders])


def model_search(history: History, sampling: Sampling = "weighted") -> ModelSearch:
    """Tell the story of a search over models; `sampling` as it was searched with."""
    if ROOT not in history.space.names:
        raise AnalysisError(
            f"This run does not choose among models; it has no category '{ROOT}' in its space."
        )
    weights = model_weights(history.space, sampling)
    resources = sorted({_resource(t) for t in history.trials}) or [FULL]
    best_first = furthest(history)
    leaders = [_leader(trial) for trial in best_first]
    order = _order(list(weights), leaders)
    trials = {m: [t for t in history.trials if str(t.values.get(ROOT)) == m] for m in order}
    own = own_hyperparameters(history.space)
    failed = [t for t in history.trials if t.state is State.FAILED]
    reasons: dict[str, int] = {}
    for trial in failed:
        told = trial.reason or "unknown"
        reasons[told] = reasons.get(told, 0) + 1
    objective = history.objective()
    best = {leader.model: leader.cost for leader in reversed(leaders)}
    return ModelSearch(
        objective=objective.name,
        maximize=objective.maximize,
        optimizer=next((t.proposer for t in history.trials if t.proposer), "unknown"),
        sampling=sampling if isinstance(sampling, str) else "given",
        resources=np.array(resources),
        models=tuple(order),
        hyperparameters=np.array([len(own[m]) for m in order], dtype=np.int64),
        weights=np.array([weights[m] for m in order]),
        reached=np.array(
            [[sum(_resource(t) >= r for t in trials[m]) for r in resources] for m in order],
            dtype=np.int64,
        ),
        spent=np.array([math.fsum(_spent(t, resources) for t in trials[m]) for m in order]),
        failed=np.array([sum(t.state is State.FAILED for t in trials[m]) for m in order]),
        best=np.array([best.get(m, math.nan) for m in order]),
        leaders=tuple(leaders),
        reasons=dict(sorted(reasons.items(), key=lambda item: -item[1])),
        notes=_notes(best_first),
    )


def leaderboard(history: History) -> pd.DataFrame:
    """Configurations at the largest resource, the best first, each once."""
    return model_search(history, "uniform").leaderboard


def furthest(history: History) -> list[Trial]:
    """Trials at the largest resource, the best first, each configuration once.

    Of equals it is not the earlier one, which the number of workers decides, but the first by its
    values. Without any complete trial, those that were cut short.
    """
    if not any(t.state is State.COMPLETE for t in history.trials):
        history = replace(history, analysed=frozenset({State.PRUNED}))
    try:
        data = history.data()
    except AnalysisError:
        return []
    found = [(cost, history.trials[int(i)]) for cost, i in zip(data.y, data.rows, strict=True)]
    seen: dict[str, Trial] = {}
    for _, trial in sorted(found, key=lambda each: (each[0], _key(each[1]))):
        seen.setdefault(_key(trial), trial)
    return list(seen.values())


def _leader(trial: Trial) -> Leader:
    model, values = str(trial.values.get(ROOT)), dict(trial.values)
    return Leader(trial.number, model, float(trial.costs[0]), _seconds(trial), values)


def _key(trial: Trial) -> str:
    return json.dumps(dict(trial.values), sort_keys=True, default=str)


def _order(models: list[str], leaders: list[Leader]) -> list[str]:
    """Models by their best configuration, then those without one."""
    led = list(dict.fromkeys(leader.model for leader in leaders))
    return led + [m for m in models if m not in led]


def _resource(trial: Trial) -> float:
    return FULL if trial.budget is None else float(trial.budget)


def _seconds(trial: Trial) -> float:
    if trial.started is None or trial.ended is None:
        return math.nan
    return max(0.0, trial.ended - trial.started)


def _spent(trial: Trial, resources: list[float]) -> float:
    """All rungs that a trial climbed, in evaluations at full resource."""
    top = resources.index(_resource(trial))
    rungs = int((trial.proposal or {}).get("rung") or 0)
    return math.fsum(resources[max(0, top - rungs) : top + 1]) / FULL


def _notes(best: list[Trial]) -> tuple[str, ...]:
    if not best:
        return ("No evaluation succeeded, so no model can be named.",)
    largest = _resource(best[0])
    if largest < FULL:
        return (
            f"No evaluation on all rows succeeded; the best was measured on {largest:.0%} of them.",
        )
    return ()
