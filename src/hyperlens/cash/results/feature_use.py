"""Which columns a model uses: how much the loss on held-out rows rises when a column is shuffled
(permutation importance)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hyperlens.record import Record
from hyperlens.spaces.cube import FloatArray
from hyperlens.words import counted

if TYPE_CHECKING:
    from hyperlens.cash.measuring.evaluation import Evaluation

MOST_ROWS = 1000  # held-out rows
REPEATS = 5
SURE = 2.0  # standard errors above nothing


@dataclass(frozen=True)
class FeatureUse(Record):
    """One row a column, the most used first. `rise` is that of the loss, or the fall of a metric that is
    to be large; `error` is its standard error over shuffles."""

    metric: str
    model: str
    columns: tuple[str, ...]
    rise: FloatArray
    error: FloatArray
    rows: int
    loss: float

    @property
    def sentence(self) -> str:
        sure = self.rise > SURE * self.error
        if not sure.any():
            return (
                f"No column alone is needed: shuffling any changes the {self.metric} by no more than "
                "luck."
            )
        first = int(np.argmax(sure))
        return (
            f"'{self.columns[first]}' is used most: shuffled, the {self.metric} of {self.loss:.4g} is "
            f"worse by {self.rise[first]:.3g}; {int(sure.sum())} of "
            f"{counted(len(self.columns), 'column')} matter alone."
        )

    @property
    def notes(self) -> tuple[str, ...]:
        return (
            f"Of {self.model} trained on the rows of one split, on {self.rows} rows that it did not "
            "see; of columns that say the same, none may seem needed.",
        )

    def _columns(self) -> dict[str, Any]:
        return {"column": self.columns, "rise": self.rise, "standard error": self.error}


def feature_use(
    evaluation: Evaluation,
    values: Mapping[str, Any],
    metric: str,
    seconds: float = float("inf"),
) -> FeatureUse | None:
    """Of a configuration; None where so many seconds are too few for it."""
    ends = time.monotonic() + seconds
    train, held = evaluation.rows[0]
    held = held[:MOST_ROWS]
    model = evaluation.fitted(values, train)
    X = evaluation.X.iloc[held]
    usual = evaluation.loss_of(model, X, held)
    rng = np.random.default_rng(evaluation.seed)
    rises: list[list[float]] = []
    for _ in range(REPEATS):
        order = rng.permutation(len(held))
        found = []
        for name in X.columns:
            if time.monotonic() > ends and not rises:
                return None
            shuffled = X.copy()
            shuffled[name] = X[name].to_numpy()[order]
            found.append(evaluation.loss_of(model, shuffled, held) - usual)
        rises.append(found)
        if time.monotonic() > ends:
            break
    rise = np.mean(rises, axis=0)
    error = np.std(rises, axis=0, ddof=1) / np.sqrt(len(rises)) if len(rises) > 1 else np.abs(rise)
    order = np.argsort(-rise, kind="stable")
    names = tuple(str(X.columns[k]) for k in order)
    return FeatureUse(
        metric, str(values.get("model", "model")), names, rise[order], error[order], len(held),
        abs(usual),
    )  # fmt: skip
