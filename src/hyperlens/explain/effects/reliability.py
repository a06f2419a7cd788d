"""How right an effect is where the truth is known, and what regions gain (Moosbauer et al. 2021 6).

Symbols
    mean, s     an effect and its standard deviation on the grid
    MC          mean of s over the grid
    OC          s at the grid point nearest to the best trial
    NLL         mean over the grid of -log N(true partial dependence; mean, s)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.explain.effects.effect import Effect
from hyperlens.explain.effects.regions import Regions
from hyperlens.plain import plain
from hyperlens.record import Record
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History
from hyperlens.spaces.cube import FloatArray
from hyperlens.spaces.points import sample_box
from hyperlens.tables import Column, Table, table
from hyperlens.words import number, tenths

if TYPE_CHECKING:
    import pandas as pd

    Truth = Callable[[Mapping[str, Any]], float] | Callable[[pd.DataFrame], Any]

METRICS = ("mc", "oc", "nll")


@dataclass(frozen=True)
class Reliability(Record):
    """MC, OC and NLL of an effect: in the whole space, in every region, and near the best trial.

    `where` says what each row is; the first is the whole space. `points` are configurations of the
    sample (0 where an effect has none). A `gain` is the improvement over the first row as a part of
    its absolute value. The last row of a tree's is their naive baseline: as many configurations as
    the best trial's region holds, those nearest to the best trial.
    """

    objective: str
    parameter: str
    where: tuple[str, ...]
    points: tuple[int, ...]
    mc: FloatArray
    oc: FloatArray
    nll: FloatArray
    sample: int
    notes: tuple[str, ...]

    @property
    def gain(self) -> Mapping[str, FloatArray]:
        """(first - each) / |first| of every metric."""
        return {name: _gain(getattr(self, name)) for name in METRICS}

    @property
    def sentence(self) -> str:
        """How sure the effect is of itself, how well the truth agrees, and where it agrees best."""
        text = (
            f"Over the whole space the effect of {self.parameter} is known to "
            f"±{number(float(self.mc[0]), 2)} on average; the negative log-likelihood of the truth is "
            f"{number(float(self.nll[0]), 3)}"
        )
        best = int(np.nanargmin(self.nll))
        if best == 0:
            return f"{text}."
        return f"{text}, and least, {number(float(self.nll[best]), 3)}, where {self.where[best]}."

    @property
    def tables(self) -> tuple[Table, ...]:
        columns = [Column(f"effect of {self.parameter}", self.where)]
        for name, gain in self.gain.items():
            columns += [
                Column(name.upper(), getattr(self, name), number),
                Column("gain", ["", *gain[1:]], tenths),
            ]
        return (table(*columns),)

    def _columns(self) -> dict[str, Any]:
        gains = {f"{name} gain": gain for name, gain in self.gain.items()}
        return self._fields("where", "points", *METRICS) | gains

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"gain": plain(self.gain)}


def _gain(numbers: FloatArray) -> FloatArray:
    with np.errstate(all="ignore"):
        return np.asarray((numbers[:1] - numbers) / np.abs(numbers[:1]))


def nll(truth: FloatArray, mean: FloatArray, std: FloatArray) -> float:
    """Mean of -log N(truth; mean, std) over what is known; infinite for a wrong certainty."""
    with np.errstate(divide="ignore", invalid="ignore"):
        each = 0.5 * np.log(2 * np.pi * std**2) + 0.5 * ((truth - mean) / std) ** 2
    return float(np.nanmean(np.where(std > 0, each, np.where(truth == mean, -np.inf, np.inf))))


@of_a_run
def reliability(
    history: History,
    record: Effect | Regions,
    truth: Truth,
    *,
    vectorized: bool = False,
    sample: int = 256,
    seed: int = 0,
) -> Reliability:
    """Compare an effect of one parameter, or all regions of a tree, with the true objective.

    `truth` is called with a configuration and returns the cost without noise, in the user's
    direction; `vectorized`, with a frame of configurations, one row each, and returns their costs.
    Its partial dependence is the mean over `sample` Sobol' configurations of each region.
    """
    if sample < 1:
        raise AnalysisError(f"A mean over {sample} configurations is none; use 1 or more.")
    if isinstance(record, Effect):
        if len(record.parameters) != 1:
            raise AnalysisError("Reliability is of one parameter's effect; name one parameter.")
        name, values = record.parameters[0], record.values[0]
        best = None if record.best_values is None else record.best_values[0]
    else:
        name, values, best = record.parameter, record.values, record.best_value
    column = history.space.column(name)
    codes = history.space[name].encode(list(values))
    at = _nearest(history, name, codes, best)
    rows = _rows(history, record, column, sample, seed)
    objective = _Objective(history, truth, vectorized)
    true_effects = [objective.average(row.latents, column, codes) for row in rows]
    return Reliability(
        objective=record.objective,
        parameter=name,
        where=tuple(row.where for row in rows),
        points=tuple(row.points for row in rows),
        mc=np.array([np.nanmean(row.std) for row in rows]),
        oc=np.array([np.nan if at is None else row.std[at] for row in rows]),
        nll=np.array([nll(t, r.mean, r.std) for t, r in zip(true_effects, rows, strict=True)]),
        sample=sample,
        notes=(f"The true effect is a mean over at most {sample} configurations of each region.",),
    )


@dataclass(frozen=True)
class _Row:
    """An effect somewhere, and configurations over which the truth is averaged there."""

    where: str
    points: int
    mean: FloatArray
    std: FloatArray
    latents: FloatArray


def _rows(
    history: History, record: Effect | Regions, column: int, sample: int, seed: int
) -> list[_Row]:
    """The whole space, or every region of a tree and the naive baseline."""
    cube = history.space.cube
    if isinstance(record, Effect):
        everywhere = sample_box(cube, {}, sample, seed)
        return [_Row("the whole space", 0, record.mean, record.std, everywhere)]
    rows = [
        _Row(r.rule, r.points, r.mean, r.std, sample_box(cube, r.box, sample, seed))
        for r in record.tree
    ]
    baseline = _neighbourhood(history, record, column)
    return rows if baseline is None else [*rows, baseline]


@dataclass(frozen=True)
class _Objective:
    """The truth, on latents."""

    history: History
    truth: Any
    vectorized: bool

    def average(self, latents: FloatArray, column: int, codes: FloatArray) -> FloatArray:
        """Its partial dependence over these latents; nan where the parameter cannot be active."""
        space = self.history.space
        moved = np.repeat(latents[None], len(codes), axis=0)
        moved[:, :, column] = codes[:, None]
        vectors = space.cube.vectors(moved.reshape(-1, len(space)))
        active = ~np.isnan(vectors[:, column])
        costs = np.full(len(vectors), np.nan)
        costs[active] = self._costs(space.decode(vectors[active]))
        known = active.reshape(len(codes), -1)
        total = np.where(known, costs.reshape(known.shape), 0.0).sum(axis=1)
        return np.asarray(
            np.where(known.any(axis=1), total / np.maximum(known.sum(axis=1), 1), np.nan)
        )

    def _costs(self, configurations: Sequence[Mapping[str, Any]]) -> FloatArray:
        import pandas as pd

        if self.vectorized:
            names = list(self.history.space.names)
            truths = self.truth(pd.DataFrame(list(configurations)).reindex(columns=names))
        else:
            truths = [self.truth(values) for values in configurations]
        costs = np.asarray(truths, dtype=np.float64)
        if costs.shape != (len(configurations),) or not np.isfinite(costs).all():
            raise AnalysisError(
                f"The truth gave {costs.size} finite or other numbers for {len(configurations)} "
                "configurations; it must return one finite cost for each."
            )
        return costs


def _nearest(history: History, name: str, codes: FloatArray, value: Any) -> int | None:
    """Grid point next to a value; None where it is inactive."""
    if value is None:
        return None
    return int(np.argmin(np.abs(codes - history.space[name].encode([value])[0])))


def _neighbourhood(history: History, tree: Regions, column: int) -> _Row | None:
    """The naive baseline (table 11): the configurations of the sample nearest to the best trial by
    the sum of distances in the other parameters, as many as its region has."""
    drawn, region = tree.drawn, tree.best
    if drawn is None or region is None:
        return None
    chosen = history.objective(tree.objective)
    best = history.space.encode([history.best(chosen.name).values])[0]
    vectors = history.space.cube.vectors(drawn.latents)
    away = np.nan_to_num(np.abs(vectors - best), nan=1.0)  # active here and not there: far
    away[np.isnan(vectors) & np.isnan(best)] = 0.0
    away[:, column] = 0.0
    near = np.argsort(away.sum(axis=1), kind="stable")[: max(region.points, 1)]
    with np.errstate(invalid="ignore"):
        mean = chosen.sign * np.nanmean(drawn.mean[near], axis=0)
        std = np.sqrt(np.nanmean(drawn.variance[near], axis=0))
    return _Row("nearest to the best trial", len(near), mean, std, drawn.latents[near])
