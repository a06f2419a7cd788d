"""The surrogate that proposed a trial: rebuilt as it was recorded, or fitted to the trials before."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hyperlens.cube import FloatArray
from hyperlens.errors import AnalysisError
from hyperlens.explain.acquisitions import Acquisition
from hyperlens.explain.curves import Predictor
from hyperlens.explain.fitting import NAMES, SurrogateName, fit, given
from hyperlens.history import History, State, Trial
from hyperlens.surrogates.forest import Forest
from hyperlens.surrogates.gp import GP, Parameters
from hyperlens.surrogates.quality import Quality, assess
from hyperlens.surrogates.threads import one_thread

CLOSE = 1e-6  # of the costs' range: a rebuilt surrogate that is farther off is another one
MOST_LEARNED = 10**6  # trials that a record may name


@dataclass(frozen=True)
class Proposer:
    """A surrogate of minimised costs as it was when a trial was proposed.

    `X` and `y` are what it had learned from, `best` the smallest mean it predicts there. `tau` and
    `acquisition` are None unless they were recorded.
    """

    name: SurrogateName
    model: GP | Forest | Predictor
    X: FloatArray
    y: FloatArray
    best: float
    recorded: bool
    tau: float | None
    acquisition: Acquisition | None
    quality: Quality
    notes: tuple[str, ...]


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


def proposed(trial: Trial) -> bool:
    """Is it recorded that a surrogate proposed this trial?"""
    kept = trial.proposal
    return kept is not None and kept.get("kind") == "proposed" and bool(kept.get("surrogate"))


def proposer(
    history: History,
    trial: int,
    surrogate: Any = None,
    *,
    objective: str | None = None,
    seed: int = 0,
    trees: int = 64,
) -> Proposer:
    """The surrogate behind a trial: as recorded unless one is named or given, else fitted."""
    place = position(history, trial)
    chosen = history.trials[place]
    notes: tuple[str, ...] = ()
    if surrogate is None and proposed(chosen):
        try:
            return _rebuilt(history, chosen, objective)
        except _Unusable as reason:
            notes = (f"The surrogate recorded with trial {trial} {reason}",)
    elif proposed(chosen):
        notes = (f"Trial {trial} was proposed by a recorded surrogate; another was asked for.",)
    elif chosen.proposal is not None and chosen.proposal.get("kind") == "initial":
        notes = (f"Trial {trial} belongs to the initial design, no surrogate proposed it.",)
    elif chosen.proposal is not None and chosen.proposal.get("kind") == "proposed":
        notes = (f"Trial {trial} was drawn at random, no surrogate proposed it.",)
    else:
        notes = (f"What the optimiser believed when it proposed trial {trial} is not recorded.",)
    wanted = "gp" if surrogate is None else surrogate
    return _fitted(history, place, wanted, objective, seed, trees, notes)


class _Unusable(Exception):
    """Why a recorded surrogate cannot be rebuilt: the end of a sentence."""


def _rebuilt(history: History, trial: Trial, objective: str | None) -> Proposer:
    kept = trial.proposal
    assert kept is not None
    if not isinstance(kept["surrogate"], Mapping):
        raise _Unusable("is of an unknown kind; another was fitted.")
    described = dict(kept["surrogate"])
    X, y = _learned(history, kept, objective)
    awaited = _vectors(history, _numbers(kept.get("awaited")))
    name = described.pop("name", None)
    cube = history.space.cube
    try:
        with one_thread():
            if name == "gp":
                model: GP | Forest = GP.from_parameters(cube, Parameters.from_dict(described), X, y)
            elif name == "forest":
                size, seed = int(described["trees"]), int(described["seed"])
                model = Forest(cube, size, seed, threads=1).fit(X, y)
            else:
                raise _Unusable("is of an unknown kind; another was fitted.")
            quality = assess(model, X, y, NAMES[name])
            if len(awaited):
                model = _believing(model, X, y, awaited)
            best = float(model.predict(X)[0].min())
            own = history.space.encode([trial.values])
            mean, std = (float(part[0]) for part in model.predict(own))
    except (KeyError, TypeError, ValueError, AssertionError, np.linalg.LinAlgError) as problem:
        raise _Unusable("is not complete; another was fitted.") from problem
    allowed = CLOSE * max(float(np.ptp(y)), abs(mean))
    for found, recorded in ((mean, kept.get("mean")), (std, kept.get("std"))):
        if isinstance(recorded, (int, float)) and not abs(found - recorded) <= allowed:
            raise _Unusable("predicted otherwise than it does now; another was fitted.")
    tau, acquisition = kept.get("tau"), kept.get("acquisition")
    return Proposer(
        name="gp" if name == "gp" else "forest",
        model=model,
        X=X,
        y=y,
        best=best,
        recorded=True,
        tau=float(tau) if isinstance(tau, (int, float)) else None,
        acquisition=acquisition if acquisition in ("lcb", "ei") else None,
        quality=quality,
        notes=_said(len(y), len(awaited)),
    )


def _said(learned: int, awaited: int) -> tuple[str, ...]:
    if not awaited:
        return ()
    return (
        f"Beside the {learned} results it knew, the surrogate believed its own means of the "
        f"{awaited} trials that were still running.",
    )


def _believing(
    model: GP | Forest, X: FloatArray, y: FloatArray, awaited: FloatArray
) -> GP | Forest:
    """The same surrogate, which takes its own means for the costs of trials that still ran."""
    both = np.vstack([X, awaited]), np.concatenate([y, model.predict(awaited)[0]])
    if isinstance(model, GP):
        return GP.from_parameters(model.cube, model.parameters, *both)
    return model.fit(*both)


def _learned(
    history: History, kept: Mapping[str, Any], objective: str | None
) -> tuple[FloatArray, FloatArray]:
    """Vectors and minimised costs in the order told; a failed one counts as the worst."""
    numbers = _numbers(kept.get("learned"))
    X = _vectors(history, numbers)
    chosen = history.objective(objective)
    k = history.objectives.index(chosen)
    by_number = {t.number: t for t in history.trials}
    found = [by_number[number] for number in numbers]
    costs = np.array([t.costs[k] if t.state is State.COMPLETE else math.nan for t in found])
    costs = -costs if chosen.maximize else costs
    known = np.isfinite(costs)
    if not known.any():
        raise _Unusable("had learned from no result; another was fitted.")
    return X, np.where(known, costs, costs[known].max())


def _vectors(history: History, numbers: Sequence[int]) -> FloatArray:
    place = {t.number: k for k, t in enumerate(history.trials)}
    absent = [number for number in numbers if number not in place]
    if absent:
        raise _Unusable(
            f"had learned from trial {absent[0]}, which this run does not hold; another was fitted."
        )
    return np.asarray(history.vectors[[place[number] for number in numbers]])


def _numbers(text: object) -> list[int]:
    """Trial numbers of "0-15,18,17", in this order."""
    found: list[int] = []
    for part in str(text or "").split(","):
        first, dash, last = part.strip().partition("-")
        if not part.strip():
            continue
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise _Unusable("names the trials it learned from in no known way; another was fitted.")
        found.extend(range(int(first), min(int(last or first), int(first) + MOST_LEARNED) + 1))
        if len(found) > MOST_LEARNED:
            raise _Unusable("names too many trials; another was fitted.")
    return found


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
    before = replace(history, trials=history.trials[:place])
    if place < first_explainable(history, objective):
        raise AnalysisError(
            f"Before trial {number} fewer than two different costs were known, so no surrogate can "
            "say why it was proposed; choose a later trial."
        )
    if isinstance(surrogate, str):
        found = fit(before, surrogate, seed=seed, objective=objective, trees=trees)
        said = (
            f"A {NAMES[surrogate]} was fitted to the {len(found.training.y)} complete trials before "
            f"trial {number}."
        )
    else:
        found = given(before, surrogate, objective=objective)
        said = "The surrogate that is explained was given."
    X, y = found.training.X, found.training.y
    with one_thread():
        best = float(np.min(found.model.predict(X)[0]))
    return Proposer(
        name=found.name,
        model=found.model,
        X=X,
        y=y,
        best=best,
        recorded=False,
        tau=None,
        acquisition=None,
        quality=found.quality,
        notes=(*notes, said, *found.notes),
    )


def first_explainable(history: History, objective: str | None) -> int:
    """Position of the first trial before which two different costs were known; else their number."""
    k = history.objectives.index(history.objective(objective))
    known: set[float] = set()
    for place, trial in enumerate(history.trials):
        if len(known) > 1:
            return place
        if trial.state is State.COMPLETE and math.isfinite(trial.costs[k]):
            known.add(trial.costs[k])
    return len(history.trials)
