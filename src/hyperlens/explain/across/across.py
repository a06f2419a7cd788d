"""Many runs of one space: what holds in all of them, where they differ, and what does well everywhere.

Each run is explained by its own leader. Shares of the variance and effects are pooled over runs
(pooling.py, pooled_effect.py); effects also say how alike runs are (likeness.py); configurations that do
well in all runs are chosen one after another (portfolio.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from hyperlens.errors import AnalysisError, listed
from hyperlens.explain.across.across_verdict import verdict_of
from hyperlens.explain.across.across_words import ALIKE, NEXT, POOLED, REGRET, said
from hyperlens.explain.across.likeness import alike, places
from hyperlens.explain.across.pooled_effect import I2, PooledEffect, pooled_effect
from hyperlens.explain.across.pooling import pooled
from hyperlens.explain.across.portfolio import candidates, greedy, regrets
from hyperlens.explain.importance.shares import shares
from hyperlens.explain.models.fitting import Fitted
from hyperlens.explain.models.leader import EVEN as UNEVEN
from hyperlens.explain.models.leader import leader
from hyperlens.explain.models.verdict import Verdict, guessed
from hyperlens.explain.run.bias import unevenness
from hyperlens.record import Record
from hyperlens.runs.history import History
from hyperlens.spaces.cube import FloatArray
from hyperlens.surrogates.quality import Word
from hyperlens.surrogates.threads import one_thread
from hyperlens.tables import Column, Table, between, ends, table
from hyperlens.words import counted, decimals, number, percent, setting, tenths


@dataclass(frozen=True)
class Across(Record):
    """Parameters by their pooled share, the largest first.

    `share` and `std` are of each run (runs, parameters). `alike` is the mean correlation of effects
    over pairs of runs. `portfolio` are configurations that do well everywhere, `regret` what each
    leaves with those before it, in units of what lies between the best and the median of the space;
    `default`
    and `single` are the regrets of the space's default and of each run's own best (runs,). `places`
    (runs, 2) is a map on which runs lie close that have like effects. `effects` are pooled, one a
    parameter.
    """

    objective: str
    runs: tuple[str, ...]
    trials: tuple[int, ...]
    verdicts: tuple[Word, ...]
    parameters: tuple[str, ...]
    share: FloatArray
    std: FloatArray
    pooled: FloatArray
    low: FloatArray
    high: FloatArray
    next_low: FloatArray
    next_high: FloatArray
    tau: FloatArray
    i2: FloatArray
    i2_low: FloatArray
    i2_high: FloatArray
    alike: FloatArray
    portfolio: tuple[Mapping[str, Any], ...]
    regret: FloatArray
    default: float
    single: FloatArray
    places: FloatArray
    level: float
    seed: int
    verdict: Verdict
    notes: tuple[str, ...]
    effects: tuple[PooledEffect, ...] = ()

    def effect(self, parameter: str) -> PooledEffect:
        """The effect of one parameter over all runs."""
        for one in self.effects:
            if one.parameter == parameter:
                return one
        raise AnalysisError(
            f"There is no parameter '{parameter}' in these runs; name one of "
            f"{listed(list(self.parameters))}."
        )

    @property
    def sentence(self) -> str:
        """What holds in all runs, what differs, and what the common default is worth."""
        return guessed(self.verdict, said(self))

    @property
    def tables(self) -> tuple[Table, ...]:
        """Of parameters, of configurations that do well everywhere, and of runs."""
        title = f"{percent(self.level)} interval"
        return (
            table(
                Column("parameter", self.parameters),
                Column("share over runs", self.pooled, tenths, POOLED),
                Column(title, ends(self.low, self.high), between(tenths), POOLED),
                Column("a further run", ends(self.next_low, self.next_high), between(tenths), NEXT),
                Column("I²", self.i2, percent, I2),
                Column("its interval", ends(self.i2_low, self.i2_high), between(percent), I2),
                Column("effects alike", self.alike, decimals, ALIKE),
            ),
            table(
                *(
                    Column(name, [values.get(name) for values in self.portfolio], setting)
                    for name in self.parameters
                ),
                Column("regret", self.regret, decimals, REGRET),
            ),
            table(
                Column("run", self.runs),
                Column("trials", self.trials, number),
                Column("verdict", self.verdicts, str),
                Column("regret of its best elsewhere", self.single, decimals, REGRET),
            ),
        )

    def _columns(self) -> dict[str, Any]:
        numbers = ["pooled", "low", "high", "next_low", "next_high", "tau"]
        numbers += ["i2", "i2_low", "i2_high", "alike"]
        each = {f"share in {run}": self.share[k] for k, run in enumerate(self.runs)}
        return {"parameter": self.parameters} | self._fields(*numbers) | each


def across(
    histories: Mapping[str, History] | Sequence[History],
    *,
    objective: str | None = None,
    level: float = 0.9,
    size: int = 3,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Across:
    """What runs of one space have in common, by the names they are given or by their order.

    `size` configurations that do well everywhere are chosen; a new search of the space can begin with
    them (`hl.minimize(..., first=record.portfolio)`) or learn from the runs (`learn_from=[...]`).
    `progress` is called with how many of how many runs are explained.
    """
    named = _named(histories, objective)
    fits = _fits(named, objective, seed, progress)
    space, goal = _first(named).space, _first(named).objective(objective)
    share, std = _shares(list(named.values()), fits, level, seed)
    shared = np.array([unevenness(f.cube, f.training.X, seed) > UNEVEN for f in fits])
    found = pooled(share, std**2, level, shared)
    order = np.argsort(-found.mean, kind="stable")
    verdicts, most = tuple(f.quality.verdict for f in fits), order[0]
    verdict = verdict_of(verdicts, space.names[most], found.low[most], found.high[most])
    effects = tuple(
        pooled_effect(named, fits, space.names[k], objective, level, seed, verdict, shared)
        for k in order
    )
    with one_thread():
        X, best = candidates(fits, space.cube, space.encode([space.default])[0], seed)
        regret = regrets(fits, X)
    chosen = greedy(regret, size)
    elsewhere = regret[:, best].sum(axis=0) - np.diagonal(regret[:, best])
    return Across(
        objective=goal.name,
        runs=tuple(named),
        trials=tuple(len(f.training.y) for f in fits),
        verdicts=verdicts,
        parameters=tuple(space.names[k] for k in order),
        share=share[:, order],
        std=std[:, order],
        pooled=found.mean[order],
        low=np.maximum(found.low[order], 0.0),
        high=np.minimum(found.high[order], 1.0),
        next_low=np.maximum(found.next_low[order], 0.0),
        next_high=np.minimum(found.next_high[order], 1.0),
        **{name: getattr(found, name)[order] for name in ("tau", "i2", "i2_low", "i2_high")},
        alike=alike(effects),
        portfolio=tuple(space.decode(X[chosen])),
        regret=np.minimum.accumulate(regret[:, chosen], axis=1).mean(axis=0),
        default=float(regret[:, 0].mean()),
        single=elsewhere / (len(fits) - 1),
        places=places(effects),
        level=level,
        seed=seed,
        verdict=verdict,
        notes=_notes(named, fits, objective),
        effects=effects,
    )


def _fits(
    named: Mapping[str, History],
    objective: str | None,
    seed: int,
    progress: Callable[[int, int], None] | None,
) -> list[Fitted]:
    """The surrogate that leads each run."""
    fits: list[Fitted] = []
    for run, history in named.items():
        fits.append(_leader(run, history, objective, seed))
        if progress is not None:
            progress(len(fits), len(named))
    return fits


def _named(
    histories: Mapping[str, History] | Sequence[History], objective: str | None
) -> dict[str, History]:
    """Runs by their names, if they can be seen together."""
    if not isinstance(histories, Mapping):
        histories = {f"run {k + 1}": history for k, history in enumerate(histories)}
    named = dict(histories)
    if len(named) < 2:
        raise AnalysisError("What runs have in common needs at least two runs; name another one.")
    own = _first(named).space
    for run, history in named.items():
        if history.space.to_json() != own.to_json():
            raise AnalysisError(
                f"Run '{run}' has another search space than '{next(iter(named))}'; give runs of one "
                "space, or one space for all of them."
            )
        if history.objective(objective).maximize != _first(named).objective(objective).maximize:
            raise AnalysisError(
                f"Run '{run}' has another direction than '{next(iter(named))}': one is maximised, the "
                "other minimised; give runs of one direction."
            )
    return named


def _first(named: Mapping[str, History]) -> History:
    return next(iter(named.values()))


def _leader(run: str, history: History, objective: str | None, seed: int) -> Fitted:
    try:
        return leader(history, seed=seed, objective=objective).primary
    except AnalysisError as problem:
        raise AnalysisError(f"Run '{run}' cannot be explained: {problem}") from problem


def _shares(
    histories: list[History], fits: list[Fitted], level: float, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Main shares of each run and the standard deviations of their errors, (runs, d) each."""
    share = np.zeros((len(fits), fits[0].cube.d))
    std = np.zeros_like(share)
    quantile = float(scipy.stats.norm.ppf((1 + level) / 2))
    for r, (history, fitted) in enumerate(zip(histories, fits, strict=True)):
        found = shares(history, fitted, 1, level, seed)
        for U, value, low, high in zip(
            found.effects, found.share, found.low, found.high, strict=True
        ):
            if len(U) == 1:
                share[r, U[0]] = np.nan_to_num(value)
                width = (high - low) / (2 * quantile)  # intervals are wider than draws
                std[r, U[0]] = 1.0 if np.isnan(width) else width
    return share, np.maximum(std, 1e-6)


def _notes(
    named: Mapping[str, History], fits: list[Fitted], objective: str | None
) -> tuple[str, ...]:
    doubtful = [
        run for run, f in zip(named, fits, strict=True) if f.quality.verdict == "do not trust"
    ]
    notes = []
    apart = sum(history.divergence(objective) is not None for history in named.values())
    if apart:
        notes.append(
            f"In {apart} of {counted(len(named), 'run')} some trials diverged and are set aside."
        )
    if 0 < len(doubtful) < len(named):
        notes.append(
            f"What {listed(doubtful)} say of themselves is not to be trusted; with their wide "
            "intervals they count for little."
        )
    if len(named) < 5:
        notes.append(
            f"{len(named)} runs say little about how far runs differ, so intervals are wide."
        )
    return tuple(notes)
