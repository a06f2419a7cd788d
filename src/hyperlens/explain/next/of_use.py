"""Which trials are of use to a best, for what is said of the next ones: forecast and advice.

With limits those that keep them; where some failed, those that would not. With several objectives a
best is that of one of them: what is said of it says nothing of the rest of the front.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hyperlens.errors import AnalysisError
from hyperlens.explain.models.training import Training
from hyperlens.explain.next.failing import failing
from hyperlens.runs.history import History
from hyperlens.runs.selection import CONTRIBUTION
from hyperlens.spaces.cube import BoolArray
from hyperlens.spaces.points import same
from hyperlens.surrogates.additive.additive import Additive
from hyperlens.surrogates.outlook.limited import Limits, limit_process
from hyperlens.words import counted


def learnt_limits(
    history: History, model: Additive, data: Training, objective: str | None, seed: int
) -> Limits | None:
    """A process of each limit that trials differ in, and of failing; None where a run has neither."""
    fails = failing(history, objective, seed)
    if not history.limits:
        return None if fails is None else Limits((fails,), np.ones(len(model.X), dtype=bool))
    within = data.X[history.feasible[data.rows]]
    if not len(within):
        it = "it" if len(history.limits) == 1 else "them"
        raise AnalysisError(
            f"No trial keeps {bounds(history)}, so there is no best to start from; run trials that "
            f"keep {it} first, or loosen {it}."
        )
    kept = np.array([same(within, x).any() for x in model.X], dtype=bool)
    if not kept.any():  # the process was fitted on others
        raise AnalysisError(
            f"None of the {counted(len(kept), 'trial')} learnt from keeps {bounds(history)}; select "
            "fewer trials with --where (select() in Python)."
        )
    excess = np.array([t.excess for t in history.trials], dtype=np.float64)
    processes = []
    for k, own in enumerate(excess.T):
        known = np.isfinite(own)
        if len(set((own[known] > 0).tolist())) == 2:  # else all keep it
            X = history.vectors[known]
            processes.append(limit_process(history.space.cube, X, own[known], seed + k + 1))
    return Limits((*processes, *([] if fails is None else [fails])), kept)


def of_use(history: History, data: Training) -> Training:
    """Trials that exceed a limit count as the worst."""
    kept: BoolArray = history.feasible[data.rows]
    return replace(data, y=np.where(kept, data.y, data.y.max())) if history.limits else data


def check_single(history: History, objective: str | None) -> None:
    """Refuse an objective that has no best of its own."""
    if history.objective(objective).name == CONTRIBUTION:
        raise AnalysisError(
            "What a trial adds to the hypervolume changes with every other one, so that more trials "
            "have no best of it to find; choose one objective by its name."
        )


def single_notes(history: History, objective: str | None, cut: bool = False) -> tuple[str, ...]:
    """Of several objectives, that this is of one, and what follows from that where ranges are `cut`."""
    if len(history.objectives) < 2:
        return ()
    name = history.objective(objective).name
    if cut:
        return (
            f"This is the space for {name} alone: other trials of the front may lie where it is cut.",
        )
    return (f"This is of the best {name} alone: what the front would gain is not part of it.",)


def bounds(history: History) -> str:
    return " and ".join(history.limits)


def limit_notes(history: History) -> tuple[str, ...]:
    """What of the limits is part of what is said, and what is not."""
    if not history.limits:
        return ()
    known = sum(bool(np.isfinite(t.excess).all()) for t in history.trials)
    kept = sum(t.feasible for t in history.trials)
    verb = "keeps" if kept == 1 else "keep"
    return (
        f"Only configurations that keep {bounds(history)} count, as far as the "
        f"{counted(known, 'trial')} of which it is known tell where that is: {kept} {verb} it.",
    )
