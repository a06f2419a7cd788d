"""The effect of a parameter over several runs: what they have in common, and how far they differ.

Costs of runs have scales of their own, so effects are in standard deviations of each run's costs and
without their level. At every point of one grid they are pooled with random effects (pooling.py), each
with how unsure its shape is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperlens.explain.across.pooling import pooled
from hyperlens.explain.effects.effect import effect
from hyperlens.explain.effects.shape import shape_error
from hyperlens.explain.models.fitting import Fitted
from hyperlens.explain.models.verdict import Verdict, guessed
from hyperlens.record import Record
from hyperlens.runs.history import History
from hyperlens.spaces.cube import BoolArray, FloatArray
from hyperlens.tables import Column, Table, between, ends, table
from hyperlens.words import counted, decimals, percent, setting

GRID = 15
FLAT = 1e-9  # no effect at all
LEAST = 1e-6  # standard deviation of an effect, in those of the costs
HOLDS, DIFFERS = 0.25, 0.75  # I2 below and above which runs agree, or do not
UNIT = "In standard deviations of each run's costs, away from its own mean."
NEXT = "Where the effect in one more run of this kind is expected."
I2 = "The part of what differs between runs that is no error of measurement: 0 % all alike."


@dataclass(frozen=True)
class PooledEffect(Record):
    """One parameter: the effect and its error in each run (runs, grid), and pooled (grid,), in the
    user's direction."""

    objective: str
    maximize: bool
    parameter: str
    log: bool
    numeric: bool
    values: tuple[Any, ...]
    runs: tuple[str, ...]
    effect: FloatArray
    std: FloatArray
    mean: FloatArray
    low: FloatArray
    high: FloatArray
    next_low: FloatArray
    next_high: FloatArray
    tau: FloatArray
    i2: FloatArray
    i2_low: FloatArray
    i2_high: FloatArray
    level: float
    verdict: Verdict
    notes: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        return f"Effect of {self.parameter} over {counted(len(self.runs), 'run')}"

    @property
    def best_at(self) -> int:
        """Where on the grid the pooled effect is best."""
        return int(np.nanargmax(self.mean) if self.maximize else np.nanargmin(self.mean))

    @property
    def own_best(self) -> list[Any]:
        """Where each run's own effect is best."""
        sign = 1.0 if self.maximize else -1.0
        known = np.where(np.isnan(self.effect), -np.inf, sign * self.effect)
        return [self.values[k] for k in known.argmax(axis=1)]

    @property
    def sentence(self) -> str:
        """Where it is best over all runs, by how much, and where runs differ most."""
        return guessed(self.verdict, self._said())

    def _said(self) -> str:
        if not np.nanmax(np.abs(self.mean)) > FLAT:
            return f"In no run does '{self.parameter}' do anything by itself."
        k = self.best_at
        better = (self.mean, self.low, self.high) if self.maximize else (
            -self.mean, -self.high, -self.low
        )  # fmt: skip
        gain, low, high = (float(x[k]) for x in better)
        said = (
            f"Over {counted(len(self.runs), 'run')} '{self.parameter}' is best at "
            f"{setting(self.values[k])}, {decimals(gain)} standard deviations of the costs better than "
            f"its mean ({percent(self.level)} interval {decimals(low)} to {decimals(high)})."
        )
        return f"{said} {self._agreement}"

    @property
    def _agreement(self) -> str:
        own = self.own_best
        most = int(np.nanargmax(self.i2))
        if not self.i2[most] > HOLDS:
            return "Runs show no difference in it beyond what each leaves open."
        if self.numeric:
            least, largest = min(own), max(own)
            where = f"between {setting(least)} and {setting(largest)}"
            where = f"at {setting(least)} in each" if least == largest else where
        else:
            where = "at " + ", ".join(dict.fromkeys(map(setting, own)))
        far = "most" if self.i2[most] > DIFFERS else "somewhat"
        return (
            f"Runs differ {far} at {setting(self.values[most])} (I² {percent(float(self.i2[most]))}); "
            f"their own best lie {where}."
        )

    @property
    def tables(self) -> tuple[Table, ...]:
        title = f"{percent(self.level)} interval"
        return (
            table(
                Column(self.parameter, self.values, setting),
                Column("effect", self.mean, decimals, UNIT),
                Column(title, ends(self.low, self.high), between(decimals), UNIT),
                Column(
                    "a further run", ends(self.next_low, self.next_high), between(decimals), NEXT
                ),
                Column("I²", self.i2, percent, I2),
            ),
        )

    def _columns(self) -> dict[str, Any]:
        numbers = ["mean", "low", "high", "next_low", "next_high", "tau", "i2", "i2_low", "i2_high"]
        each = {f"effect in {run}": self.effect[k] for k, run in enumerate(self.runs)}
        return {"value": self.values} | self._fields(*numbers) | each


def pooled_effect(
    named: Mapping[str, History],
    fits: list[Fitted],
    parameter: str,
    objective: str | None,
    level: float,
    seed: int,
    verdict: Verdict,
    shared: BoolArray,
) -> PooledEffect:
    """The effect of a parameter in runs of one space, each by its own leader, and pooled; `shared` are
    runs whose errors are no independent ones."""
    first = next(iter(named.values()))
    found, errors = [], []
    codes, values = first.space.grid(parameter, GRID)
    for history, fitted in zip(named.values(), fits, strict=True):
        spread = float(history.data(objective).y.std()) or 1.0
        own = effect(
            history, parameter, band="joint", grid=GRID, ice=0, seed=seed, objective=objective
        )
        std = shape_error(fitted, history.space.column(parameter), np.asarray(codes), own.std)
        found.append((own.mean - np.nanmean(own.mean)) / spread)
        errors.append(np.maximum(std / spread, LEAST))
    each, std = np.array(found), np.array(errors)
    known = np.asarray(~np.isnan(each).any(axis=0))
    over = pooled(each[:, known], std[:, known] ** 2, level, shared)
    target = first.objective(objective)

    def whole(part: FloatArray) -> FloatArray:
        filled = np.full(len(known), np.nan)
        filled[known] = part
        return filled

    return PooledEffect(
        objective=target.name,
        maximize=target.maximize,
        parameter=parameter,
        log=first.space[parameter].log,
        numeric=first.space[parameter].numeric,
        values=tuple(values),
        runs=tuple(named),
        effect=each,
        std=std,
        mean=whole(over.mean),
        low=whole(over.low),
        high=whole(over.high),
        next_low=whole(over.next_low),
        next_high=whole(over.next_high),
        tau=whole(over.tau),
        i2=whole(over.i2),
        i2_low=whole(over.i2_low),
        i2_high=whole(over.i2_high),
        level=level,
        verdict=verdict,
    )
