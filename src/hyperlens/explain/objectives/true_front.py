"""How surely trials are on the true Pareto front: what was measured has noise, and so has the front.

True costs of configurations, the means of infinitely many repeats, are drawn together for each objective
from what all trials say (hyperlens.surrogates.additive.true_costs), independently between objectives.
Every draw has a front of its own. A trial's probability is the part of the draws in which no other
configuration beats it; the band of the front is made of the fronts' attainment quantiles (Fonseca
et al. 2001): a point is attained with probability p if in a part p of the draws some configuration
is at least as good in both objectives.

Symbols
    T         true costs, minimised, (draws, configurations, objectives)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.explain.models.fitting import MOST_GP_PARAMETERS
from hyperlens.explain.objectives.front_draws import (
    band_of,
    compared,
    drawn_costs,
    nondominated,
    volumes,
)
from hyperlens.explain.objectives.pareto import ParetoFront, pareto
from hyperlens.record import Record
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History
from hyperlens.spaces.cube import BoolArray, FloatArray, IntArray
from hyperlens.spaces.points import on_front
from hyperlens.tables import Column, Table, table
from hyperlens.words import counted, first_few, number, percent, tenths

SURE = 0.95
SHOWN = 20  # trials in a table

PROBABILITY = "Part of the draws of all true costs in which no other configuration beats it."
MEASURED = "What was measured, averaged where a configuration was run several times."
EXPECTED = "Mean of the draws of its true cost, without noise."
OBSERVED = "Whether it is on the front of what was measured."


@dataclass(frozen=True)
class TrueFront(Record):
    """Configurations that may be on the true front, the most probable first, each by its first trial.

    `observed` and `expected` (n, k) are measured and expected true costs in the user's directions, `on`
    says which are on the front of what was measured. `hypervolume` is measured, `volumes` (3,) low end,
    median and high end of the true one, parts of the same box. Of two objectives `across` is a grid of
    the first, and `band` (3, grid) the second that is attained there with probability 1 - tail, 1/2 and
    tail: the pessimistic end, the middle and the optimistic end; nan where it is not attained. Unless
    all are `known`, configurations do not differ by more than noise does by chance in an objective;
    among several such ones nobody is beaten for sure, so probabilities are nan.
    """

    objectives: tuple[str, ...]
    maximize: tuple[bool, ...]
    configurations: int
    trial: IntArray
    observed: FloatArray
    expected: FloatArray
    probability: FloatArray
    on: BoolArray
    hypervolume: float
    volumes: FloatArray
    across: FloatArray
    band: FloatArray
    noise: FloatArray
    known: tuple[bool, ...]
    level: float
    seed: int
    notes: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        return "How likely trials are to be on the front"

    @property
    def lucky(self) -> IntArray:
        """Trials on the measured front that are probably not on the true one."""
        return np.sort(self.trial[self.on & (self.probability < 0.5)])

    @property
    def sentence(self) -> str:
        """How many of the measured front are surely on the true one, and which were lucky."""
        if not all(self.known):
            unknown = [n for n, known in zip(self.objectives, self.known, strict=True) if not known]
            return (
                "Which trials are truly on the front cannot be told: configurations differ in "
                f"{first_few(unknown, 3)} by no more than noise does by chance; repeat some trials."
            )
        on, sure = int(self.on.sum()), int((self.on & (self.probability >= SURE)).sum())
        whole = f"{counted(on, 'configuration')} on the measured front"
        of = (
            f"Of {whole} {sure or 'none'}" if sure < on else f"{'All' if on > 1 else 'The'} {whole}"
        )
        text = f"{of} {_is(sure or 1)} surely on the true one ({percent(SURE)} or more)"
        if len(self.lucky):
            text += f", and {_trials(self.lucky)} {_is(len(self.lucky))} probably not on it"
        missed = np.sort(self.trial[~self.on & (self.probability >= 0.5)])
        if len(missed):
            text += f"; {_trials(missed)}, not on the measured one, probably {_is(len(missed))}"
        return f"{text}."

    @property
    def reading(self) -> str:
        """How much of the box the true front dominates, beside what was measured."""
        if not np.isfinite(self.volumes).all():
            return ""
        low, middle, high = self.volumes.tolist()
        return (
            f"The measured front dominates {percent(self.hypervolume)} of the box; the true one of "
            f"these configurations {percent(middle)} ({percent(self.level)} interval {percent(low)} to "
            f"{percent(high)})."
        )

    @property
    def lead(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.sentence, self.reading)))

    @property
    def tables(self) -> tuple[Table, ...]:
        """The most probable, and all of the measured front."""
        likely = np.argsort(-np.nan_to_num(self.probability), kind="stable")[:SHOWN]
        rows = np.union1d(likely, np.flatnonzero(self.on))[: 2 * SHOWN]
        costs = [
            Column(f"{word}{name}", values[rows, k].tolist(), number, meaning)
            for word, values, meaning in (
                ("", self.observed, MEASURED),
                ("expected ", self.expected, EXPECTED),
            )
            for k, name in enumerate(self.objectives)
        ]
        return (
            table(
                Column("trial", self.trial[rows].tolist(), str),
                *costs,
                Column("on the front", self.probability[rows].tolist(), tenths, PROBABILITY),
                Column("measured", ["on it" if on else "" for on in self.on[rows]], str, OBSERVED),
            ),
        )

    def _columns(self) -> dict[str, Any]:
        costs = {
            f"{name} {word}": values[:, k]
            for k, name in enumerate(self.objectives)
            for word, values in (("measured", self.observed), ("expected", self.expected))
        }
        return {"trial": self.trial, **costs} | self._fields("probability", "on")


@of_a_run
def true_front(
    history: History,
    *,
    noise: Mapping[str, float] | None = None,
    level: float = 0.9,
    seed: int = 0,
) -> TrueFront:
    """How probably each configuration is on the Pareto front of the true costs.

    `noise` is the standard deviation of a repeated measurement by objective, where it is known: 0 for
    one that always comes out the same, such as a number of parameters.
    """
    known_noise = _check(history, noise, level)
    front = pareto(history)
    asked = compared(history, seed)
    sign = np.array([o.sign for o in history.objectives])
    rng = np.random.default_rng(seed)
    drawn = [
        drawn_costs(history, tried, asked.trial, known_noise.get(o.name), seed, rng)
        for o, tried in zip(history.objectives, asked.tried, strict=True)
    ]
    T = np.stack([d.costs for d in drawn], axis=-1)
    known = all(d.known for d in drawn)
    inside = nondominated(T)
    probability = inside.mean(axis=0) if known else np.full(len(asked.trial), np.nan)
    order = np.lexsort((asked.observed[:, 0], -np.nan_to_num(probability)))
    tails = [(1 - level) / 2, 0.5, (1 + level) / 2]
    across, band = band_of(T, asked.observed, tails) if known else (np.empty(0), np.empty((3, 0)))
    return TrueFront(
        objectives=front.objectives,
        maximize=front.maximize,
        configurations=asked.useful,
        trial=asked.trial[order],
        observed=(sign * asked.observed)[order],
        expected=(sign * T.mean(axis=0))[order],
        probability=probability[order],
        on=_or_equal(asked.observed)[order],
        hypervolume=float(front.hypervolume[-1]),
        volumes=volumes(T, inside, *_box(front, sign), tails) if known else np.full(3, np.nan),
        across=sign[0] * across,
        band=sign[1] * band,
        noise=np.array([d.noise for d in drawn]),
        known=tuple(d.known for d in drawn),
        level=level,
        seed=seed,
        notes=tuple(dict.fromkeys((*front.notes, *_few(len(asked.trial), asked.useful)))),
    )


def _check(history: History, noise: Mapping[str, float] | None, level: float) -> dict[str, float]:
    """Known noise by objective."""
    if not 0 < level < 1:
        raise AnalysisError(f"An interval of {level} is not a level; choose one between 0 and 1.")
    given = {history.objective(name).name: value for name, value in (noise or {}).items()}
    if any(not 0 <= value < np.inf for value in given.values()):
        raise AnalysisError("Noise is a standard deviation; give a number of 0 or more.")
    if len(history.space) == 0:
        raise AnalysisError(
            "No parameter of this run varies, so that all its trials are of one configuration; give a "
            "space with at least one tunable parameter."
        )
    if len(history.space) > MOST_GP_PARAMETERS:
        raise AnalysisError(
            f"With {len(history.space)} parameters noise cannot be told from what they do; repeat the "
            "trials of the front and compare their means."
        )
    return given


def _or_equal(costs: FloatArray) -> BoolArray:
    """Which rows no other one beats; all of equal ones."""
    front = costs[on_front(costs)]
    return np.asarray((costs[:, None] == front).all(axis=2).any(axis=1))


def _box(front: ParetoFront, sign: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The best of each objective and the reference point, minimised."""
    return (sign * front.costs[front.compared]).min(axis=0), sign * front.reference


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


def _trials(numbers: IntArray) -> str:
    return f"trial{'s' * (len(numbers) > 1)} {first_few([str(t) for t in numbers], 5)}"


def _few(compared: int, useful: int) -> list[str]:
    if compared == useful:
        return []
    return [
        f"Of {counted(useful, 'configuration')} the {compared} nearest to the front were compared; all "
        "were learnt from."
    ]
