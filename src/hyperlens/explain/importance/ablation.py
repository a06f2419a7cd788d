"""Ablation: from one configuration to another, one parameter at a time (Croppi 2021 Eq. 3).

In each round the parameter is changed whose change leaves the best predicted cost (Fawcett and Hoos
2016): forward from source to target, or backward from target to source. The Shapley values of the same
change stand beside it: they do not depend on who comes first, which is what Croppi's table 2 is about.

A parameter that only one of the two configurations activates has no value to change from; it comes
and goes with the parameter that activates it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.explain.models.curves import mean_of
from hyperlens.explain.models.fitting import Fitted
from hyperlens.explain.models.leader import named_or_leader
from hyperlens.explain.models.training import Cap
from hyperlens.explain.models.verdict import Verdict, grounds, guessed, judge, of_band
from hyperlens.explain.run.configurations import BEST_VALUE, Named, Which, named
from hyperlens.explain.shapley.attribution import attribute
from hyperlens.explain.shapley.coalitions import Game
from hyperlens.explain.shapley.two_configurations import mean_between
from hyperlens.record import Record
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History
from hyperlens.spaces.cube import Cube, FloatArray
from hyperlens.surrogates.quality import Quality
from hyperlens.surrogates.threads import one_thread
from hyperlens.tables import Column, Table, table
from hyperlens.words import beside, setting, signed, tenths

Direction = Literal["forward", "backward"]
BACK = 0.1  # of what all change: a step against it that takes less back is not named
DEFAULT = (
    "The default as the search space gives it; where it gives none, the middle of a range on its own "
    "scale, or the first category."
)
STEP = (
    "What changing this value does to the prediction, after the changes above it were made already."
)
SHAPLEY = "Shapley value: what the change does on average over all orders of changing values."


@dataclass(frozen=True)
class Ablation(Record):
    """The way between two configurations; parameters in the order in which they were changed.

    `cost` and `std` (k + 1,) are predictions along the way, in the user's direction, first where it
    starts. `contribution` (k,) is what each change did to the cost on the way from source to target,
    whichever way it was walked; `share` is its part of the whole; `first` what the change would do
    alone, in the first round; `shapley` its Shapley value between the two configurations.
    """

    objective: str
    maximize: bool
    method: str
    source: str
    target: str
    parameters: tuple[str, ...]
    source_values: tuple[Any, ...]
    target_values: tuple[Any, ...]
    cost: FloatArray
    std: FloatArray
    contribution: FloatArray
    share: FloatArray
    first: FloatArray
    shapley: FloatArray
    payout: float
    surrogate: str
    quality: Quality
    verdict: Verdict
    sentence: str
    notes: tuple[str, ...]

    @property
    def tables(self) -> tuple[Table, ...]:
        """The first row is where the way starts."""
        start = self.source if self.method == "forward" else self.target
        after = "The surrogate's prediction after this change and all above it."
        part = Column("share", ["", *self.share], tenths, "The part of the whole change.")
        one_way = bool((self.share >= 0).all())  # else some would be more than the whole
        return (
            table(
                Column("parameter", [start, *self.parameters]),
                Column("from", ["", *self.source_values], setting, DEFAULT),
                Column("to", ["", *self.target_values], setting, BEST_VALUE),
                Column("change", ["", *self.contribution], signed, STEP),
                Column("in any order", ["", *self.shapley], signed, SHAPLEY),
                part if one_way else None,
                Column("predicted then", self.cost, beside(self.cost), after),
            ),
        )

    def _columns(self) -> dict[str, Any]:
        return {
            "parameter": self.parameters,
            "source": self.source_values,
            "target": self.target_values,
            "cost": self.cost[1:],
            "std": self.std[1:],
        } | self._fields("contribution", "share", "first", "shapley")


@of_a_run
def ablation(
    history: History,
    source: Which = "default",
    target: Which = "best",
    *,
    method: Direction = "forward",
    surrogate: Any = None,
    seed: int = 0,
    objective: str | None = None,
    budget: float | None = None,
    cap: Cap | None = None,
    trees: int = 64,
) -> Ablation:
    """Walk from source to target over a surrogate of the whole run, best change first.

    Source and target are "default", "best", a trial's number, or values. The surrogate is the run's
    leader unless one is named or given.
    """
    if method not in ("forward", "backward"):
        raise AnalysisError(f"There is no method '{method}'; choose 'forward' or 'backward'.")
    start, end = named(history, source, objective), named(history, target, objective)
    fitted = named_or_leader(
        history, surrogate, seed=seed, objective=objective, budget=budget, cap=cap, trees=trees
    )
    pair = _Pair.of(history.space.cube, start, end)
    with one_thread():
        order, cost, std = _walk(fitted, pair, forward=method == "forward")
        alone = mean_of(fitted.model, np.array([pair.mixed({j}) for j in order]))
        shapley = np.asarray(_shapley(fitted, pair)[order])
    measured = history.objective(objective)
    sign = measured.sign
    onwards = 1 if method == "forward" else -1  # which way of the walk leads from source to target
    at_source, at_target = cost[::onwards][[0, -1]]
    payout = sign * (at_target - at_source)
    names = tuple(history.space.names[j] for j in order)
    contribution = sign * onwards * np.diff(cost)
    verdict = _verdict(history, fitted, std, payout)
    said = _sentence(measured.name, start.called, end.called, names, contribution, payout)
    return Ablation(
        objective=measured.name,
        maximize=measured.maximize,
        method=method,
        source=start.called,
        target=end.called,
        parameters=names,
        source_values=tuple(start.values.get(name) for name in names),
        target_values=tuple(end.values.get(name) for name in names),
        cost=sign * cost,
        std=std,
        contribution=contribution,
        share=contribution / payout if payout else np.full(len(order), np.nan),
        first=sign * (alone - at_source),
        shapley=sign * shapley,
        payout=payout,
        surrogate=fitted.name,
        quality=fitted.quality,
        verdict=verdict,
        sentence=guessed(verdict, said),
        notes=fitted.notes + _riding(history, start.vector, end.vector),
    )


def _verdict(history: History, fitted: Fitted, std: FloatArray, payout: float) -> Verdict:
    unsure = 2 * float(np.hypot(std[0], std[-1]))
    change = of_band(unsure, abs(payout), "the prediction changes by")
    return judge((*grounds(history, fitted, ()), change))


@dataclass(frozen=True)
class _Pair:
    """Latents of two configurations; where one is inactive it takes the other's, so neither matters."""

    cube: Cube
    source: FloatArray
    target: FloatArray
    changed: tuple[int, ...]

    @staticmethod
    def of(cube: Cube, start: Named, end: Named) -> _Pair:
        source, target = start.vector, end.vector
        both = (
            np.where(np.isnan(source), target, source),
            np.where(np.isnan(target), source, target),
        )
        first, second = (np.where(np.isnan(latents), 0.5, latents) for latents in both)
        changed = tuple(np.flatnonzero(first != second).tolist())
        if not changed:
            raise AnalysisError(
                f"There is nothing between {start.called} and {end.called}: they are equal; name "
                "two different configurations."
            )
        return _Pair(cube, first, second, changed)

    def mixed(self, flipped: set[int]) -> FloatArray:
        """The vector that has the target's values of these columns."""
        taken = np.isin(np.arange(self.cube.d), list(flipped))
        return np.asarray(self.cube.vectors(np.where(taken, self.target, self.source)[None])[0])


def _predict(fitted: Fitted, pair: _Pair, flipped: set[int]) -> tuple[float, float]:
    mean, std = fitted.model.predict(pair.mixed(flipped)[None])
    return float(mean[0]), float(std[0])


def _walk(fitted: Fitted, pair: _Pair, forward: bool) -> tuple[list[int], FloatArray, FloatArray]:
    """Columns in the order of change, and mean and std of the minimised cost along the way."""
    flipped: set[int] = set() if forward else set(pair.changed)
    order: list[int] = []
    way = [_predict(fitted, pair, flipped)]
    while len(order) < len(pair.changed):
        left = [j for j in pair.changed if j not in order]
        vectors = np.array([pair.mixed(flipped ^ {j}) for j in left])
        best = left[int(np.argmin(mean_of(fitted.model, vectors)))]
        flipped = flipped ^ {best}
        order.append(best)
        way.append(_predict(fitted, pair, flipped))
    costs, stds = np.array(way).T
    return order, costs, stds


def _shapley(fitted: Fitted, pair: _Pair) -> FloatArray:
    """Of the mean, by column, where the source is the background."""
    closed = mean_between(fitted.model, pair.cube, pair.source, pair.target)
    if closed is not None:
        return closed
    changed = list(pair.changed)
    game = Game(
        fitted.model,
        pair.cube,
        np.where(np.isin(np.arange(pair.cube.d), changed), pair.target, np.nan),
        pair.source[None],
        lambda mean, std: mean[None],
    )
    return attribute(game, threads=1).parts[0].contribution


def _riding(history: History, source: FloatArray, target: FloatArray) -> tuple[str, ...]:
    return tuple(
        f"'{name}' is active in one of the two only; it comes and goes with what activates it."
        for name, a, b in zip(history.space.names, source, target, strict=True)
        if np.isnan(a) != np.isnan(b)
    )


def _sentence(
    objective: str,
    source: str,
    target: str,
    names: tuple[str, ...],
    contribution: FloatArray,
    payout: float,
) -> str:
    if not payout:
        return f"Going from {source} to {target} changes nothing in the predicted {objective}."
    verb = "raises" if payout > 0 else "lowers"
    way = np.sign(payout) * contribution  # positive where a step goes the way that all go together
    most, against = int(np.argmax(way)), int(np.argmin(way))
    said = (
        f"Going from {source} to {target} {verb} the predicted {objective} by {abs(payout):.3g}; "
        f"'{names[most]}' does most of it, {way[most]:.3g}"
    )
    if -way[against] >= BACK * abs(payout):
        said += f", and '{names[against]}' takes {-way[against]:.3g} back"
    return f"{said}."
