"""Which model got which budget and why, and how far each came.

Symbols
    weight   chance of a model in each draw
    rung     a resource at which configurations were measured; the last is all rows
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
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
    """A configuration at the largest resource that any reached."""

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
    seconds: FloatArray
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
            "seconds": self.seconds,
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
    leaders = _leaders(history)
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
        reached=np.array([_reached(trials[m], resources) for m in order], dtype=np.int64),
        spent=np.array([math.fsum(map(_resource, trials[m])) for m in order]),
        seconds=np.array([math.fsum(map(_seconds, trials[m])) for m in order]),
        failed=np.array([sum(t.state is State.FAILED for t in trials[m]) for m in order]),
        best=np.array([best.get(m, math.nan) for m in order]),
        leaders=tuple(leaders),
        reasons=dict(sorted(reasons.items(), key=lambda item: -item[1])),
        notes=_notes(leaders, resources, history),
    )


def leaderboard(history: History) -> pd.DataFrame:
    """Configurations at the largest resource, the best first, each once."""
    return model_search(history, "uniform").leaderboard


def _leaders(history: History) -> list[Leader]:
    if not any(t.state is State.COMPLETE for t in history.trials):
        return []
    data = history.data()
    seen: dict[str, Leader] = {}
    for i in data.rows[np.argsort(data.y, kind="stable")]:
        trial = history.trials[int(i)]
        key = configuration_key(trial)
        if key not in seen:
            seen[key] = Leader(
                trial.number,
                str(trial.values.get(ROOT)),
                float(trial.costs[0]),
                _seconds(trial),
                dict(trial.values),
            )
    sign = -1.0 if history.objective().maximize else 1.0
    return [x for _, x in sorted(seen.items(), key=lambda item: (sign * item[1].cost, item[0]))]


def configuration_key(trial: Trial) -> str:
    """A configuration as text: the same for the same values."""
    return json.dumps(dict(trial.values), sort_keys=True, default=str)


def _order(models: list[str], leaders: list[Leader]) -> list[str]:
    """Models by their best configuration, then those without one."""
    led = list(dict.fromkeys(leader.model for leader in leaders))
    return led + [m for m in models if m not in led]


def _resource(trial: Trial) -> float:
    return FULL if trial.budget is None else float(trial.budget)


def _seconds(trial: Trial) -> float:
    if trial.started is None or trial.ended is None:
        return 0.0
    return max(0.0, trial.ended - trial.started)


def _reached(trials: list[Trial], resources: list[float]) -> list[int]:
    furthest: dict[str, float] = {}
    for trial in trials:
        key = configuration_key(trial)
        furthest[key] = max(furthest.get(key, 0.0), _resource(trial))
    return [sum(r >= resource for r in furthest.values()) for resource in resources]


def _notes(leaders: list[Leader], resources: list[float], history: History) -> tuple[str, ...]:
    if not leaders:
        return ("No evaluation succeeded, so no model can be named.",)
    data = history.data()
    largest = _resource(history.trials[int(data.rows[0])])
    if largest < max(resources) or largest < FULL:
        return (
            f"No evaluation on all rows succeeded; the best was measured on {largest:.0%} of them.",
        )
    return ()
