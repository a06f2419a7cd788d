"""What there is to gain by tuning each parameter, alone and together (Wever et al. 2026).

Parameters are the players of a game over the run's leading surrogate (worths.py). The Shapley value of
a parameter is what it adds on average over all orders in which parameters are given free; the faithful
interaction of a pair is what it has beyond its two (faithful.py). Intervals are those of the same games
over functions drawn from the posterior: searched each for itself, for the most that there may be, and
where the mean is best, for the least. A parameter that does nothing has something in every draw that is
searched, for the lowest of any curve is below its middle; where the mean leads it may have nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.explain.models.fitting import Fitted
from hyperlens.explain.models.leader import named_or_leader
from hyperlens.explain.models.verdict import Ground, Verdict, grounds, guessed, judge, of_band
from hyperlens.explain.run.configurations import Named, Which, named
from hyperlens.explain.shapley.games import shapley
from hyperlens.explain.tunability.board import DRAWS, TRIALS, Board
from hyperlens.explain.tunability.faithful import faithful_pairs
from hyperlens.explain.tunability.lattice import Players
from hyperlens.explain.tunability.tunability_words import (
    ALONE,
    MEANING,
    PAIR,
    REST,
    TITLES,
    VALUE,
    said,
)
from hyperlens.explain.tunability.worths import GAMES, Game, Worths, worths
from hyperlens.record import Record
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History
from hyperlens.spaces.cube import FloatArray
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.surrogates.quality import Quality
from hyperlens.surrogates.threads import one_thread
from hyperlens.tables import Column, Table, between, ends, table
from hyperlens.words import effect_name, number, percent, setting, signed

DUST = 1e-12  # of the predictions: smaller differences of them are rounding


@dataclass(frozen=True)
class Tunability(Record):
    """One game: players by their Shapley value, pairs by their interaction, the largest first.

    Numbers are in units of the objective, of `sensitivity` squared. `alone` is the worth of a player by
    itself, `whole` that of all together. `cost` is what is predicted at the baseline, `reached` where
    all together are best (of mistunability worst), which `best_values` are. `low` and `high` are at
    `level`, nan where the surrogate cannot be drawn from.
    """

    game: Game
    objective: str
    maximize: bool
    baseline: str
    cost: float
    reached: float
    parameters: tuple[str, ...]
    values: tuple[Any, ...]
    best_values: tuple[Any, ...]
    value: FloatArray
    low: FloatArray
    high: FloatArray
    alone: FloatArray
    alone_low: FloatArray
    alone_high: FloatArray
    pairs: tuple[tuple[str, str], ...]
    interaction: FloatArray
    interaction_low: FloatArray
    interaction_high: FloatArray
    whole: float
    whole_low: float
    whole_high: float
    level: float | None
    surrogate: str
    seed: int
    quality: Quality
    verdict: Verdict
    notes: tuple[str, ...]

    @property
    def heading(self) -> str:
        """Which game, and for which objective."""
        return f"{TITLES[self.game]} for {self.objective}"

    @property
    def sentence(self) -> str:
        """What all parameters together have, and which has most of it."""
        return guessed(self.verdict, said(self))

    @property
    def tables(self) -> tuple[Table, ...]:
        """Of parameters, and of pairs."""
        limits = pair_limits = None
        if self.level is not None and not np.isnan(self.low).all():
            title, worst = f"{percent(self.level)} interval", "What draws of the surrogate say."
            limits = Column(title, ends(self.low, self.high), between(number), worst)
            pair_ends = ends(self.interaction_low, self.interaction_high)
            pair_limits = Column(title, pair_ends, between(number), worst)
        reached = self.game in ("tunability", "mistunability")
        return (
            table(
                Column("parameter", self.parameters),
                Column(
                    TITLES[self.game].lower(), self.value, number, f"{MEANING[self.game]} {VALUE}"
                ),
                limits,
                Column("alone", self.alone, number, ALONE),
                Column("from", self._said(self.values), str, f"Its value in {self.baseline}."),
                Column("to", self._said(self.best_values), str, "Where all together reach it.")
                if reached
                else None,
            ),
            table(
                Column("pair", self.pairs, effect_name),
                Column("together", self.interaction, signed, PAIR),
                pair_limits,
            ),
        )

    def _said(self, values: tuple[Any, ...]) -> list[str]:
        """Values of players; several parameters that are one have none in common."""
        both = zip(self.parameters, values, strict=True)
        return ["–" if name.startswith(REST) else setting(value) for name, value in both]

    def _columns(self) -> dict[str, Any]:
        """Parameters first, then pairs; a pair has neither a worth alone nor a value."""
        count = len(self.pairs)
        empty = np.full(count, np.nan)
        return {
            "parameters": [*((name,) for name in self.parameters), *self.pairs],
            "value": np.append(self.value, self.interaction),
            "low": np.append(self.low, self.interaction_low),
            "high": np.append(self.high, self.interaction_high),
            "alone": np.append(self.alone, empty),
            "alone_low": np.append(self.alone_low, empty),
            "alone_high": np.append(self.alone_high, empty),
            "baseline": [*self.values, *[None] * count],
            "best": [*self.best_values, *[None] * count],
        }


@of_a_run
def tunability(
    history: History,
    game: Game = "tunability",
    *,
    baseline: Which = "default",
    surrogate: Any = None,
    level: float | None = 0.9,
    seed: int = 0,
    objective: str | None = None,
) -> Tunability:
    """What each parameter has to gain, or to lose, against a baseline, alone and together.

    `game` is "tunability" (the best), "mistunability" (the worst), "sensitivity" (the variance), "bias"
    (what the run's best trials lack to the best) or "ablation" (what the best trial has). The baseline
    is "default", "best", a trial's number, or values. The surrogate is the run's leader unless one is
    named or given.
    """
    if game not in GAMES:
        raise AnalysisError(f"There is no game '{game}'; choose one of {', '.join(GAMES)}.")
    start = named(history, baseline, objective)
    fitted = named_or_leader(history, surrogate, seed=seed, objective=objective)
    own = np.array([p.encode([p.default])[0] for p in history.space.parameters])
    latents = np.where(np.isnan(start.vector), own, start.vector)
    data = fitted.training
    rows = data.X[np.argsort(data.y, kind="stable")[:TRIALS]]
    drawn = DRAWS if level is not None and isinstance(fitted.model, Additive) else 0
    board = Board(fitted, latents, np.where(np.isnan(rows), latents, rows), drawn)
    with one_thread():
        played = worths(board, game, seed)
    return _record(history, fitted, game, objective, start, played, level, seed)


def _record(
    history: History,
    fitted: Fitted,
    game: Game,
    objective: str | None,
    start: Named,
    played: Worths,
    level: float | None,
    seed: int,
) -> Tunability:
    measured = history.objective(objective)
    worth = _without_dust(played.worth, played.start)
    value, pair = shapley(worth), faithful_pairs(worth)
    by_player = 1 << np.arange(len(played.players))
    names = player_names(history.space.names, played.players)
    first, first_pairs = np.argsort(-value[:, 0]), np.argsort(-np.abs(pair[:, 0]))
    both = list(combinations(names, 2))
    best = history.space.decode(fitted.cube.vectors(played.best[None]))[0]
    monotone, gained = game not in ("bias", "ablation"), game != "ablation"
    limits = _Limits(fitted, level, played.start)
    whole = limits(worth[-1:], played.acted[-1:], gained)
    of_value = limits(value, shapley(played.acted), monotone)
    of_alone = limits(worth[by_player], played.acted[by_player], gained)
    of_pair = limits(pair, faithful_pairs(played.acted), False)
    return Tunability(
        game=game,
        objective=measured.name,
        maximize=measured.maximize,
        baseline=start.called,
        cost=measured.sign * float(played.start[0]),
        reached=measured.sign * _reached(game, played),
        parameters=tuple(names[p] for p in first),
        values=tuple(start.values.get(names[p]) for p in first),
        best_values=tuple(best.get(names[p]) for p in first),
        value=_without_dust(value[first, 0], played.start),
        low=of_value[0][first],
        high=of_value[1][first],
        alone=worth[by_player][first, 0],
        alone_low=of_alone[0][first],
        alone_high=of_alone[1][first],
        pairs=tuple(both[p] for p in first_pairs),
        interaction=_without_dust(pair[first_pairs, 0], played.start),
        interaction_low=of_pair[0][first_pairs],
        interaction_high=of_pair[1][first_pairs],
        whole=float(worth[-1, 0]),
        whole_low=float(whole[0][0]),
        whole_high=float(whole[1][0]),
        level=level,
        surrogate=fitted.name,
        seed=seed,
        quality=fitted.quality,
        verdict=judge((*grounds(history, fitted, ()), _sure(worth[-1, 0], *whole))),
        notes=fitted.notes + _forbidden(history, fitted, game, played),
    )


def _without_dust(worth: FloatArray, start: FloatArray) -> FloatArray:
    """Differences of predictions, 0 where they are no more than rounding."""
    size = float(np.abs(start).max() + np.abs(worth).max(initial=0.0))
    return np.where(np.abs(worth) <= DUST * size, 0.0, worth)


def player_names(names: tuple[str, ...], players: Players) -> list[str]:
    """Of a parameter its own; of several that are one player how many they are."""
    return [
        names[axes[0]] if len(axes) == 1 else f"{REST}{len(axes)} parameters" for axes in players
    ]


@dataclass(frozen=True)
class _Limits:
    """Intervals of numbers (k, 1 + D) whose first column is of the mean and the others of draws: up to
    the most that draws have, down to the least that they have where the mean leads."""

    fitted: Fitted
    level: float | None
    start: FloatArray

    def __call__(
        self, most: FloatArray, acted: FloatArray, positive: bool
    ) -> tuple[FloatArray, FloatArray]:
        model, value = self.fitted.model, most[:, 0]
        if self.level is None or most.shape[1] < 2 or not isinstance(model, Additive):
            return np.full(len(value), np.nan), np.full(len(value), np.nan)
        low, high = value, value
        tails = [(1 - self.level) / 2, 0.5, (1 + self.level) / 2]
        for drawn in (most, acted):
            left, middle, right = np.quantile(drawn[:, 1:], tails, axis=1)
            low = np.minimum(low, middle - model.widened * (middle - left))
            high = np.maximum(high, middle + model.widened * (right - middle))
        low = np.maximum(low, 0.0) if positive else low
        return _without_dust(low, self.start), _without_dust(high, self.start)


def _reached(game: Game, played: Worths) -> float:
    """What is predicted where all together lead."""
    gained = {"tunability": 1, "mistunability": -1, "ablation": 1}.get(game, 0)
    return float(played.start[0] - gained * played.worth[-1, 0])


def _sure(whole: float, low: FloatArray, high: FloatArray) -> Ground | None:
    return of_band(float(high[0] - low[0]), abs(float(whole)), "all together have")


def _forbidden(history: History, fitted: Fitted, game: Game, played: Worths) -> tuple[str, ...]:
    leads = game in ("tunability", "mistunability")
    if not leads or not history.space.forbidden(fitted.cube.vectors(played.best[None]))[0]:
        return ()
    return (
        "The space forbids the configuration that is reached: forbidden combinations are not left out.",
    )
