"""Who proposed a trial: the surrogate that is recorded with it, or one fitted to the trials before."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.explain.models.fitting import SurrogateName, fit
from hyperlens.explain.models.leader import leader
from hyperlens.explain.proposals.recorded_proposer import Proposer, Unusable, rebuilt, recorded_aim
from hyperlens.runs.history import History, State, Trial
from hyperlens.spaces.cube import BoolArray
from hyperlens.surrogates.threads import one_thread
from hyperlens.words import SURROGATES, agreeing, decimals

BEST = ("best",)  # words for the best trial

WhichTrial = int | Literal["best"]
Origin = Literal["surrogate", "initial", "random", "confirm", "unknown"]


def position(history: History, trial: int) -> int:
    """Where the trial of this number stands in the history."""
    for k, candidate in enumerate(history.trials):
        if candidate.number == trial:
            return k
    if not history.trials:
        raise AnalysisError("This run has no trials; run some before explaining it.")
    raise AnalysisError(
        f"There is no trial {trial}; choose a number from {history.trials[0].number} to "
        f"{history.trials[-1].number}."
    )


def numbered(history: History, trial: WhichTrial | None, objective: str | None) -> int:
    """The number of the trial that is meant, the best one's if None."""
    if trial is None or (isinstance(trial, str) and trial in BEST):
        return history.best(objective).number
    if isinstance(trial, (int, np.integer)) and not isinstance(trial, bool):
        return history.trials[position(history, int(trial))].number
    raise AnalysisError(f"There is no trial '{trial}'; give a trial's number, or 'best'.")


def origin(trial: Trial) -> Origin:
    """Who is recorded to have chosen this trial's configuration."""
    if trial.proposal is None or trial.proposal.kind is None:
        return "unknown"
    if trial.proposal.kind != "proposed":
        return trial.proposal.kind
    return "surrogate" if trial.proposal.by_surrogate else "random"


UNPROPOSED: Mapping[Origin, str] = {
    "surrogate": "Trial {} was proposed by a recorded surrogate; another was asked for.",
    "initial": "Trial {} belongs to the initial design, no surrogate proposed it{}.",
    "random": "Trial {} was drawn at random, no surrogate proposed it.",
    "confirm": "Trial {} was run to settle an explanation, not because it was expected to be good.",
    "unknown": "What the optimiser believed when it proposed trial {} is not recorded.",
}
KNOWN_BEFOREHAND: Mapping[str | None, str] = {
    "first": "; it was to be tried first",
    "prior": "; it is drawn from the prior",
    "earlier": "; it is among the best of an earlier run, as far as the space has its values",
}


def proposer(
    history: History,
    trial: int,
    surrogate: Any = None,
    objective: str | None = None,
    seed: int = 0,
    trees: int = 64,
) -> Proposer:
    """The surrogate behind a trial: as recorded unless one is named or given, else fitted, of the kind
    of the run's best Gaussian process."""
    place = position(history, trial)
    own = history.trials[place]
    known = KNOWN_BEFOREHAND.get(own.proposal.about, "") if own.proposal is not None else ""
    note = UNPROPOSED[origin(own)].format(trial, known)
    if surrogate is None and origin(own) == "surrogate":
        try:
            return rebuilt(history, own, objective)
        except Unusable as reason:
            note = f"The surrogate recorded with trial {trial} {reason}"
    return _fitted(history, place, surrogate, objective, seed, trees, (note,))


def stand_in(
    history: History, objective: str | None, seed: int, trees: int
) -> tuple[SurrogateName, tuple[str, ...]]:
    """The kind of surrogate that stands in for those that are not recorded, one for the whole run: the
    Gaussian process that searches ask, if it can be asked, and what to know of it."""
    found = leader(history, objective=objective, seed=seed, trees=trees)
    kind, better = found.process, found.primary
    if kind is better:
        return kind.name, found.problems
    note = (
        f"Over the whole run the {SURROGATES[better.name]} leads, with R2 "
        f"{decimals(better.quality.r2)} against {decimals(kind.quality.r2)} of the "
        f"{SURROGATES[kind.name]}, the kind that searches ask and that stands in for theirs here; "
        f'--surrogate {better.name}, or surrogate="{better.name}" in Python, asks the leader.'
    )
    return kind.name, (*found.problems, note)


def _fitted(
    history: History,
    place: int,
    surrogate: Any,
    objective: str | None,
    seed: int,
    trees: int,
    notes: tuple[str, ...],
) -> Proposer:
    number = history.trials[place].number
    # what diverged by the end of the run had diverged then too, though nobody could tell yet
    apart = _apart(history, objective)[:place]
    trials = [t for t, is_apart in zip(history.trials, apart, strict=False) if not is_apart]
    before = replace(history, trials=tuple(trials), keep_tail=True, largest_only=True)
    if place < first_explainable(history, objective):
        raise AnalysisError(
            f"Before trial {number} fewer than two different costs were known, so no surrogate can "
            "say why it was proposed; choose a later trial."
        )
    of_its_kind: tuple[str, ...] = ()
    if surrogate is None:
        surrogate, of_its_kind = stand_in(history, objective, seed, trees)
    fitted = fit(before, surrogate, seed=seed, objective=objective, trees=trees)
    basis: tuple[str, ...] = ("The surrogate that is explained was given.",)
    if isinstance(surrogate, str):
        basis = _what_was_fitted(before, SURROGATES[surrogate], number, objective)
    acquisition, tau = recorded_aim(history.trials[place])
    X, y = fitted.training.X, fitted.training.y
    with one_thread():
        best = float(np.min(fitted.model.predict(X)[0]))
    return Proposer(
        name=fitted.name,
        model=fitted.model,
        X=X,
        y=y,
        best=best,
        recorded=False,
        tau=tau,
        acquisition=acquisition,
        quality=fitted.quality,
        notes=(*notes, *basis, *_set_aside(apart), *of_its_kind, *fitted.notes),
    )


def _apart(history: History, objective: str | None) -> BoolArray:
    """Which trials diverged and do not count, (trials,)."""
    return history.diverged(objective) & (not history.keep_tail)


def _set_aside(apart: BoolArray) -> tuple[str, ...]:
    """How many of the trials before diverged."""
    count = int(apart.sum())
    if not count:
        return ()
    return (
        f"{count} of the {len(apart)} trials before it diverged and {agreeing(count, 'were')} left out.",
    )


def _what_was_fitted(
    before: History, surrogate: str, number: int, objective: str | None
) -> tuple[str, ...]:
    """To which of the trials before a trial a surrogate was fitted, and what was left out of them."""
    k = before.objectives.index(before.objective(objective))
    with_cost = [
        t for t in before.trials if t.state in before.analysed and math.isfinite(t.costs[k])
    ]
    used = [before.trials[i] for i in before.data(objective).rows]
    kind = "complete trial" if all(t.state is State.COMPLETE for t in used) else "trial"
    kind += "" if len(used) == 1 else "s"
    budget = used[0].budget if all(t.budget is not None for t in used) else None
    sentence = f"A {surrogate} was fitted to the {len(used)} {kind} before trial {number}"
    if len(used) < len(with_cost):
        sentence += f" at budget {budget:g}, the largest by then, of {len(with_cost)} at any budget"
    elif budget is not None:
        sentence += f", all at budget {budget:g}, the largest by then"
    if left := len(before.trials) - len(with_cost):
        lacking = (
            f"{left} of the {len(before.trials)} trials before it had no result and were left out."
        )
        return f"{sentence}.", lacking
    return (f"{sentence}.",)


def first_explainable(history: History, objective: str | None) -> int:
    """Position of the first trial before which two different costs were known; else their number."""
    k = history.objectives.index(history.objective(objective))
    known: set[float] = set()
    apart = _apart(history, objective)
    for place, trial in enumerate(history.trials):
        if len(known) > 1:
            return place
        if not apart[place] and trial.state is State.COMPLETE and math.isfinite(trial.costs[k]):
            known.add(trial.costs[k])
    return len(history.trials)
