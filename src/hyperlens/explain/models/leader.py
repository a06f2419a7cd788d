"""Which surrogate of a run leads, so that every explanation of it asks the same one, and why.

All that can be asked are fitted and cross-validated. The additive Gaussian process leads unless
another leaves at most a quarter as much unexplained of 40 trials or more that lie as evenly as those of
a design: cross-validation asks how well a surrogate predicts where the search has looked, and only
the additive one's intervals hold also where it has not. The forest stays for a second opinion, or
the best of the others where it leads itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hyperlens.errors import AnalysisError
from hyperlens.explain.models.fitting import Fitted, fit
from hyperlens.explain.models.training import Cap
from hyperlens.explain.run.bias import unevenness
from hyperlens.notebook import view
from hyperlens.runs.given_run import of_a_run
from hyperlens.runs.history import History
from hyperlens.surrogates.protocol import SurrogateKind
from hyperlens.surrogates.quality import Quality
from hyperlens.surrogates.threads import one_thread
from hyperlens.words import SURROGATES, decimals, surrogate_name

CANDIDATES: tuple[SurrogateKind, ...] = ("additive", "gp", "forest")  # among equals the first leads
CLEARLY = 0.25  # of what the additive process leaves unexplained: another that leaves no more leads
EVEN = 2.0  # times as far from an even search as chance has it, at the most, for another to lead
ENOUGH = 40  # trials, before which no other can show that it is so much better
SECOND_OPINION: SurrogateKind = "forest"


@dataclass(frozen=True, repr=False)
class Leader:
    """Surrogates of one run, the one that leads first; `problems` say why others were not asked."""

    candidates: tuple[Fitted, ...]
    problems: tuple[str, ...] = ()

    @property
    def primary(self) -> Fitted:
        """The one that leads: numbers come from it."""
        return self.candidates[0]

    @property
    def secondary(self) -> Fitted | None:
        """The second opinion, if there is any."""
        others = self.candidates[1:]
        forests = [fitted for fitted in others if fitted.name == SECOND_OPINION]
        return next(iter((*forests, *others)), None)

    @property
    def process(self) -> Fitted:
        """The Gaussian process that optimisers ask, or the primary one where there is none."""
        processes = (fitted for fitted in self.candidates if fitted.name == "gp")
        return next(processes, self.primary)

    @property
    def sentence(self) -> str:
        """Which surrogate leads, and by what numbers."""
        primary, *others = (fitted.quality for fitted in self.candidates)
        return reason(primary, others)

    @property
    def notes(self) -> tuple[str, ...]:
        return (*self.problems, *dict.fromkeys(n for f in self.candidates for n in f.notes))

    def __repr__(self) -> str:
        return f"<Leader {surrogate_name(self.primary.name)}: {self.sentence}>"

    def _repr_html_(self) -> str:
        title = f"Leader {surrogate_name(self.primary.name)}"
        return view(title, self.sentence, (), self.notes, self.primary.quality.verdict)


@of_a_run
def leader(
    history: History,
    *,
    seed: int = 0,
    objective: str | None = None,
    budget: float | None = None,
    cap: Cap | None = None,
    trees: int = 64,
    surrogate: Any = None,
) -> Leader:
    """The surrogate that cross-validates best, before the others; the answer is remembered.

    One that is named or given leads instead, with the forest for a second opinion; the forest, named,
    is asked alone.
    """
    how: dict[str, Any] = {
        "seed": seed,
        "objective": objective,
        "budget": budget,
        "cap": cap,
        "trees": trees,
    }
    if surrogate is not None:
        named = fit(history, surrogate, **how)
        alone = named.name == SECOND_OPINION
        return Leader((named,) if alone else (named, fit(history, SECOND_OPINION, **how)))
    key = ("leader", seed, history.objective(objective).name, budget, cap, trees)
    if key not in history.memory:
        history.memory[key] = _best_first(history, how)
    found: Leader = history.memory[key]
    return found


def named_or_leader(history: History, surrogate: Any, **how: Any) -> Fitted:
    """The surrogate that an explanation asks: the one that is named or given, else the leader."""
    return leader(history, **how).primary if surrogate is None else fit(history, surrogate, **how)


def reason(primary: Quality, others: Sequence[Quality]) -> str:
    """Why the numbers come from the first and not from the others."""
    start = f"The numbers come from the {primary.surrogate}"
    if not others:
        return f"{start}, the only surrogate that was asked."
    if math.isnan(primary.r2):
        return f"{start}; no surrogate could be cross-validated."
    best = max(others, key=_r2)
    why = "which was asked for"
    if _r2(primary) >= _r2(best):
        why = "which cross-validates best"
    elif primary.surrogate == SURROGATES["additive"]:
        why = "whose intervals allow for what the search has not looked at"
    return (
        f"{start}, {why}: R2 {decimals(primary.r2)}, against {decimals(best.r2)} of the "
        f"{best.surrogate}."
    )


def _best_first(history: History, how: dict[str, Any]) -> Leader:
    fits: list[Fitted] = []
    problems: dict[str, AnalysisError] = {}
    for name in CANDIDATES:
        try:
            fits.append(fit(history, name, **how))
        except AnalysisError as problem:
            problems[name] = problem
    even = bool(fits) and unevenness(fits[0].cube, fits[0].training.X) <= EVEN
    fits.sort(key=lambda fitted: _place(fitted.quality, even))
    while fits:
        asked = Leader(tuple(fits), _said(problems))
        refused = {
            str(f.name): p for f in (asked.primary, asked.secondary) if f and (p := _refused(f))
        }
        if not refused:
            return asked
        fits = [fitted for fitted in fits if fitted.name not in refused]
        problems |= refused
    raise problems[SECOND_OPINION]


def _said(problems: Mapping[str, AnalysisError]) -> tuple[str, ...]:
    return tuple(f"The {SURROGATES[n]} was not asked: {problem}" for n, problem in problems.items())


def _refused(fitted: Fitted) -> AnalysisError | None:
    """Why it cannot be averaged over the space, as shares and effects need; None if it can."""
    model: Any = fitted.model
    if fitted.name == "forest":  # which always can
        return None
    try:
        with one_thread():
            model.shares(1)
    except ValueError as problem:
        return AnalysisError(f"{problem}.")
    return None


def _r2(quality: Quality) -> float:
    """One that could not be cross-validated comes last."""
    return -math.inf if math.isnan(quality.r2) else quality.r2


def _place(quality: Quality, even: bool) -> tuple[bool, float]:
    """What surrogates are ordered by: the part of the variance that each leaves unexplained."""
    additive = quality.surrogate == SURROGATES["additive"]
    handicap = 1.0 if additive else 1 / CLEARLY
    shown = quality.trials >= ENOUGH and even
    return not additive and not shown, handicap * (1 - _r2(quality))
