"""The effect of one parameter on all objectives, and at which values all of them are nearly best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.explain.effects.effect import Band, Effect, effect
from hyperlens.explain.models.verdict import WORDS, Verdict
from hyperlens.record import Record
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History
from hyperlens.spaces.cube import BoolArray
from hyperlens.surrogates.protocol import SurrogateKind
from hyperlens.tables import Column, Table, between, ends, table
from hyperlens.words import first_few, number, percent

TRIFLE = 0.01  # of all that costs differ by: no effect that anyone would act on
VALUE = "A value of the parameter, all others averaged over the space."
MEAN = "What is predicted there on average over all other parameters."
BAND = "Between these the average lies with this probability, if the surrogate is right."


@dataclass(frozen=True)
class EffectsOf(Record):
    """The effects of one parameter, one for each objective, on the same grid."""

    parameter: str
    effects: tuple[Effect, ...]

    @property
    def heading(self) -> str:
        return f"Effect of {self.parameter} on {_names(self.effects)}"

    @property
    def values(self) -> tuple[Any, ...]:
        return self.effects[0].values[0]

    @property
    def verdict(self) -> Verdict:
        """The worst of them."""
        return max((e.verdict for e in self.effects), key=lambda v: WORDS.index(v.word))

    @property
    def acting(self) -> tuple[Effect, ...]:
        """Those that can be told, and of which the mean changes by more than it is unsure, and by more
        than a trifle."""
        return tuple(e for e in self.effects if e.verdict.known and e.change > _unnoticed(e))

    @property
    def shared(self) -> BoolArray:
        """Where on the grid all objectives on which it acts are nearly best."""
        good = [e.nearly_best for e in self.acting]
        return np.all(good, axis=0) if good else np.zeros(len(self.values), dtype=bool)

    @property
    def sentence(self) -> str:
        """Where each objective is best, and whether they agree."""
        best = {e.best_at for e in self.acting}
        if len(self.acting) == len(self.effects) > len(best) == 1:
            value = number(self.values[best.pop()])
            return f"{self.parameter}: {_names(self.effects)} are best at {value}."
        told = []
        for e in self.effects:
            if np.ptp(e.observed_cost) == 0:
                told.append(f"{e.objective} is the same in every trial")
            elif not e.verdict.known:
                told.append(f"what it does to {e.objective} is not known")
            elif e not in self.acting:
                told.append(f"{e.objective} hardly changes with it")
            else:
                told.append(f"{e.objective} is best at {number(self.values[e.best_at])}")
        return f"{self.parameter}: {', '.join(told)}.{self._agreement()}"

    def _agreement(self) -> str:
        if len(self.acting) < 2:
            return ""
        names = _names(self.acting)
        if not self.shared.any():
            return f" No value is nearly best for {names} at once: they are traded for each other here."
        good = [v for v, ok in zip(self.values, self.shared, strict=True) if ok]
        if self.effects[0].numeric[0]:
            where = (
                f"from {number(good[0])} to {number(good[-1])}"
                if len(good) > 1
                else number(good[0])
            )
        else:
            where = first_few([number(v) for v in good], 4)
        return f" {names} are nearly best at {where}."

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(note for e in self.effects for note in e.notes))

    @property
    def tables(self) -> tuple[Table, ...]:
        columns = [Column(self.parameter, self.values, number, VALUE)]
        for e in self.effects:
            band = f"{percent(e.level)} band, {e.objective}"
            columns.append(Column(e.objective, e.mean, number, MEAN))
            columns.append(Column(band, ends(e.low, e.high), between(number), BAND))
        return (table(*columns),)

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"value": self.values}
        for e in self.effects:
            for name in ("mean", "low", "high"):
                columns[f"{e.objective} {name}"] = getattr(e, name)
        return columns


def _unnoticed(e: Effect) -> float:
    """How far off the mean itself may be, half of a 95 % band at a typical value, or a trifle."""
    unsure = 1.96 * float(np.nanmedian(e.joint))
    return max(unsure, TRIFLE * float(np.ptp(e.observed_cost)))


def _names(effects: tuple[Effect, ...]) -> str:
    """Their objectives, as in "error, latency and size"."""
    *others, last = (e.objective for e in effects)
    return f"{', '.join(others)} and {last}"


@of_a_run
def effects_of(
    history: History,
    parameter: str,
    *,
    surrogate: SurrogateKind | None = None,
    band: Band = "joint",
    level: float = 0.95,
    grid: int = 20,
    seed: int = 0,
) -> EffectsOf:
    """Partial dependence of every objective on one parameter, with bands."""
    if len(history.objectives) < 2:
        raise AnalysisError(
            f"This run has one objective, {history.objectives[0].name}; ask for the effect of "
            f"{parameter} instead."
        )
    effects = tuple(
        effect(
            history,
            parameter,
            surrogate=surrogate,
            band=band,
            level=level,
            grid=grid,
            ice=0,
            seed=seed,
            objective=objective.name,
        )
        for objective in history.objectives
    )
    return EffectsOf(parameter, effects)
