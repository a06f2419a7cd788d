"""Local importance: how much the cost would vary around one configuration (LPI; Croppi 2021 Eq. 2).

One parameter moves over its whole axis while all others stay; its share is the variance of the predicted
cost it causes, in parts of that of all parameters. What a moving parent switches on takes its default
value.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperlens.explain.models.curves import mean_of
from hyperlens.explain.models.leader import named_or_leader
from hyperlens.explain.models.training import Cap
from hyperlens.explain.models.verdict import Verdict, grounds, guessed, judge
from hyperlens.explain.run.configurations import BEST_VALUE, Which, named
from hyperlens.record import Record
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History
from hyperlens.spaces.cube import Axis, FloatArray
from hyperlens.surrogates.quality import Quality
from hyperlens.surrogates.threads import one_thread
from hyperlens.tables import Column, Table, table
from hyperlens.words import beside, number, setting, tenths

FINE = 512  # midpoints of a continuous axis
SHARE = (
    "Variance of the prediction when only this parameter moves over its range, divided by the sum of "
    "those of all parameters."
)
REACHED = (
    "The best prediction while only this parameter moves, and the value at which it is reached."
)


@dataclass(frozen=True)
class LocalImportance(Record):
    """Share of the variance along each parameter, most important first; nan if nothing varies.

    `std` is the standard deviation of the predicted cost along the parameter; `best` the best cost
    predicted there, in the user's direction, and `best_value` where. Inactive parameters have share 0.
    """

    objective: str
    maximize: bool
    at: str
    cost: float  # predicted at the configuration itself
    parameters: tuple[str, ...]
    values: tuple[Any, ...]
    share: FloatArray
    std: FloatArray
    best: FloatArray
    best_values: tuple[Any, ...]
    surrogate: str
    quality: Quality
    verdict: Verdict
    sentence: str
    notes: tuple[str, ...]

    @property
    def tables(self) -> tuple[Table, ...]:
        return (
            table(
                Column("parameter", self.parameters),
                Column("its value", self.values, setting, BEST_VALUE),
                Column("local share", self.share, tenths, SHARE),
                Column("std", self.std, number, "Standard deviation of the prediction meanwhile."),
                Column("best predicted", self.best, beside([self.cost, *self.best]), REACHED),
                Column("there at", self.best_values, setting, REACHED),
            ),
        )

    def _columns(self) -> dict[str, Any]:
        numbers = self._fields("share", "std", "best")
        values = {"parameter": self.parameters, "value": self.values}
        return values | numbers | {"best_value": self.best_values}


@of_a_run
def local_importance(
    history: History,
    trial: Which = "best",
    *,
    surrogate: Any = None,
    seed: int = 0,
    objective: str | None = None,
    budget: float | None = None,
    cap: Cap | None = None,
    trees: int = 64,
) -> LocalImportance:
    """Which parameters matter near a configuration: "best", "default", a trial, or values.

    The surrogate is the run's leader unless one is named or given.
    """
    space, chosen = history.space, history.objective(objective)
    here = named(history, trial, objective)
    fitted = named_or_leader(
        history, surrogate, seed=seed, objective=objective, budget=budget, cap=cap, trees=trees
    )
    with one_thread():
        cost = float(fitted.model.predict(here.vector[None])[0][0])
        variance = np.zeros(len(space))
        best = np.full(len(space), cost)
        best_values = [here.values.get(name) for name in space.names]
        for j in np.flatnonzero(~np.isnan(here.vector)).tolist():
            codes, weights = _nodes(space.cube.axes[j])
            mean = mean_of(fitted.model, _moved(history, here.vector, j, codes))
            variance[j] = weights @ (mean - weights @ mean) ** 2
            if mean.min() < best[j]:
                best[j] = mean.min()
                best_values[j] = space.parameters[j].decode(codes[[int(np.argmin(mean))]])[0]
    total = float(variance.sum())
    share = variance / total if total > 0 else np.full(len(space), np.nan)
    order = np.argsort(-variance, kind="stable")
    names = tuple(space.names[j] for j in order)
    verdict = judge(grounds(history, fitted, range(len(space))))
    return LocalImportance(
        objective=chosen.name,
        maximize=chosen.maximize,
        at=here.called,
        cost=chosen.sign * cost,
        parameters=names,
        values=tuple(here.values.get(name) for name in names),
        share=share[order],
        std=np.sqrt(variance[order]),
        best=chosen.sign * best[order],
        best_values=tuple(best_values[j] for j in order),
        surrogate=fitted.name,
        quality=fitted.quality,
        verdict=verdict,
        sentence=guessed(verdict, _sentence(here.called, names, share[order])),
        notes=fitted.notes,
    )


def _nodes(axis: Axis) -> tuple[FloatArray, FloatArray]:
    """Every level with its measure, or midpoints of a fine grid."""
    if axis.codes is not None:
        return axis.codes, axis.weights()
    return (np.arange(FINE) + 0.5) / FINE, np.full(FINE, 1 / FINE)


def _moved(history: History, vector: FloatArray, column: int, codes: FloatArray) -> FloatArray:
    """The configuration with one parameter at each of the codes."""
    default = np.array([p.encode([p.default])[0] for p in history.space.parameters])
    latents = np.tile(np.where(np.isnan(vector), default, vector), (len(codes), 1))
    latents[:, column] = codes
    return history.space.cube.vectors(latents)


def _sentence(at: str, names: tuple[str, ...], share: FloatArray) -> str:
    if np.isnan(share).any():
        return f"Around {at} no parameter changes what is predicted."
    return (
        f"Around {at}, '{names[0]}' causes {tenths(float(share[0]))} of what varies when one parameter "
        "moves."
    )
