"""An ensemble of what was evaluated anyway: greedy selection with replacement (Caruana et al. 2004).

It begins with the best single configuration and adds, step by step, the one whose predictions for
held-out rows make the mean best, as long as the loss falls; so on these rows it is never worse than the
best one. Those rows choose it, so its loss there flatters: `honest` numbers are of rows that had no part
in the choice, a fifth at a time, and of the best single one chosen in the same way.

Symbols
    weights      how often each member was taken, over the sum
    temperature  chances p become p^(1/temperature), made to sum to one: above 1 they are tempered
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hyperlens.cash.results.calibration import Calibration
from hyperlens.record import Record
from hyperlens.spaces.cube import BoolArray, FloatArray, IntArray
from hyperlens.words import counted

STEPS = 30  # members are taken so often at most
ENOUGH = 1e-4  # a step that gains less than this part of the loss is the last
PARTS = 5  # of the rows, each left out of the choice once
SMALLEST = 1e-15  # chance
TEMPERATURES = np.geomspace(0.5, 4.0, 25)
HELPS = 2e-3  # part of the loss that a temperature must gain on rows that did not choose it

FEWEST = 20  # rows to measure on

Measure = Callable[[FloatArray, BoolArray | None], FloatArray]


@dataclass(frozen=True)
class Ensemble(Record):
    """What was put together. Losses are in the metric's own direction, on held-out rows: `single` and
    `together` on those that chose, `honest_single` and `honest_together` on rows that did not; nan
    where that was not measured. `parts` are of the rows that each member was trained on in the end;
    `chosen_on` is the part that models had been trained on whose predictions chose. No chance of a class
    is smaller than `least`. `trees` are those of members that stopped growing early, else 0.
    `calibration` says how true chances are on held-out rows. Where a model on top puts the members
    together (`stacked`), `together` is of rows that it was not trained on."""

    metric: str
    maximize: bool
    models: tuple[str, ...]
    trials: IntArray
    weights: FloatArray
    parts: FloatArray
    single: float
    together: float
    honest_single: float
    honest_together: float
    candidates: int
    temperature: float = 1.0
    least: float = 0.0
    chosen_on: float = 1.0
    trees: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    calibration: Calibration | None = None
    stacked: bool = False
    notes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """What the ensemble is and what it adds."""
        if len(self.models) < 2:
            return (
                f"The model is {self.models[0]} alone, with a validation {self.metric} of "
                f"{self.single:.4g}: no other of {counted(self.candidates, 'configuration')} makes it "
                "better."
            )
        members = ", ".join(
            f"{model} {weight:.0%}" for model, weight in zip(self.models, self.weights, strict=True)
        )
        if self.stacked:
            members = f"{', '.join(self.models)}, with a model on top"
        return (
            f"{len(self.models)} of {self.candidates} configurations predict together ({members}): "
            f"validation {self.metric} {self.together:.4g}, of the best one alone {self.single:.4g}."
            f"{self._honest}"
        )

    @property
    def _honest(self) -> str:
        if np.isnan(self.honest_together):
            return ""
        return (
            f" On rows that had no part in the choice it is {self.honest_together:.4g} against "
            f"{self.honest_single:.4g}."
        )

    def _columns(self) -> dict[str, Any]:
        """One row a member."""
        return {
            "model": self.models,
            "trial": self.trials,
            "weight": self.weights,
            "part": self.parts,
            "trees": self.trees if len(self.trees) else np.zeros(len(self.models), dtype=np.int64),
        }


@dataclass(frozen=True, eq=False)
class Pool:
    """Held-out predictions (c, n, k) of c configurations for the same n rows, those of all splits one
    after the other; `rows` says which rows they are. `measure` gives the loss of each of many (m, n, k),
    which is minimised, on chosen ones of the n."""

    predictions: FloatArray
    rows: IntArray
    measure: Measure

    def selected(self, start: int | None = None, chosen: BoolArray | None = None) -> FloatArray:
        """Weights by greedy selection; without a start from the best one."""
        if start is None:
            start = int(np.argmin(self.measure(self.predictions, chosen)))
        taken = np.zeros(len(self.predictions))
        taken[start] = 1.0
        total = self.predictions[start]
        best = self.measure(total[None], chosen)[0]
        for step in range(2, STEPS + 1):
            losses = self.measure((total + self.predictions) / step, chosen)
            added = int(np.argmin(losses))
            if not losses[added] < best - ENOUGH * abs(best):
                break
            best = losses[added]
            taken[added] += 1
            total = total + self.predictions[added]
        return np.asarray(taken / taken.sum())

    def loss(self, weights: FloatArray, chosen: BoolArray | None = None) -> float:
        return float(self.measure(self.mixed(weights)[None], chosen)[0])

    def mixed(self, weights: FloatArray) -> FloatArray:
        return np.asarray(np.tensordot(weights, self.predictions, axes=1))

    def honest(self) -> tuple[float, float]:
        """Losses of the best single one and of the ensemble on rows that did not choose them."""
        alone, together = [], []
        for out in self.left_out():
            single = int(np.argmin(self.measure(self.predictions, ~out)))
            alone.append(self.loss(np.eye(len(self.predictions))[single], out))
            together.append(self.loss(self.selected(single, ~out), out))
        if not alone:
            return float("nan"), float("nan")
        return float(np.mean(alone)), float(np.mean(together))

    def left_out(self) -> list[BoolArray]:
        """A fifth of the rows at a time; none where they are too few."""
        parts = [self.rows % PARTS == part for part in range(PARTS)]
        return parts if all(p.sum() >= FEWEST for p in parts) else []


def temperature(chances: FloatArray, truths: Measure, left_out: Sequence[BoolArray]) -> float:
    """What makes chances (n, k) truest, 1 unless that helps on rows that did not choose it."""
    if not left_out:
        return 1.0
    tempered = np.array([tempered_by(chances, t) for t in TEMPERATURES])
    gains = []
    for out in left_out:
        best = int(np.argmin(truths(tempered, ~out)))
        plain, other = truths(np.array([chances, tempered[best]]), out)
        gains.append((plain - other) / max(abs(plain), SMALLEST))
    if np.mean(gains) < HELPS or np.median(gains) <= 0:
        return 1.0
    return float(TEMPERATURES[int(np.argmin(truths(tempered, None)))])


def tempered_by(chances: FloatArray, temperature: float) -> FloatArray:
    """Rows that sum to one."""
    powers = np.clip(chances, SMALLEST, 1.0) ** (1.0 / temperature)
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def lifted(chances: FloatArray, least: float) -> FloatArray:
    """Rows that sum to one, of which no chance is smaller than `least`: a mean with an even guess."""
    part = least * chances.shape[-1]
    return np.asarray((1 - part) * chances + least)


# Losses of many predictions at once; a split counts like any other, however many rows it has


def log_losses(codes: IntArray, splits: IntArray, weights: FloatArray | None = None) -> Measure:
    """Of classes by their place; predictions with one column are the chance of the true class."""

    def measure(predictions: FloatArray, chosen: BoolArray | None) -> FloatArray:
        true = predictions[:, :, 0]
        if predictions.shape[2] > 1:
            true = predictions[:, np.arange(len(codes)), codes]
        by_split = _by_split(-np.log(np.clip(true, SMALLEST, 1.0)), splits, chosen, weights)
        return np.asarray(by_split.mean(axis=1))

    return measure


def squared_errors(
    truths: FloatArray, splits: IntArray, weights: FloatArray | None = None
) -> Measure:
    """The root of their mean."""

    def measure(predictions: FloatArray, chosen: BoolArray | None) -> FloatArray:
        squares = (predictions[:, :, 0] - truths) ** 2
        return np.asarray(np.sqrt(_by_split(squares, splits, chosen, weights)).mean(axis=1))

    return measure


def by_scorer(score: Callable[[FloatArray, IntArray], float], splits: IntArray) -> Measure:
    """Of any metric: `score` is asked with predictions and the places among the n that they are of."""

    def measure(predictions: FloatArray, chosen: BoolArray | None) -> FloatArray:
        which = np.ones(len(splits), dtype=bool) if chosen is None else chosen
        places = [np.flatnonzero(which & (splits == s)) for s in np.unique(splits[which])]
        return np.array([-np.mean([score(p[k], k) for k in places]) for p in predictions])

    return measure


def _by_split(
    losses: FloatArray,
    splits: IntArray,
    chosen: BoolArray | None,
    weights: FloatArray | None = None,
) -> FloatArray:
    """Means (m, splits) of losses (m, n), of rows that may have weights."""
    counted = np.ones(len(splits)) if weights is None else weights
    if chosen is not None:
        losses, splits, counted = losses[:, chosen], splits[chosen], counted[chosen]
    kinds, place = np.unique(splits, return_inverse=True)
    shares = np.eye(len(kinds))[place] * counted[:, None]
    return np.asarray(losses @ (shares / shares.sum(axis=0)))
