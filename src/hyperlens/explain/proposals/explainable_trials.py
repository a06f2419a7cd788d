"""Which trials of a run a path explains, which are its initial design, and one tau for all of them."""

from collections.abc import Sequence
from dataclasses import replace

from hyperlens.errors import AnalysisError
from hyperlens.explain.proposals.proposers import (
    WhichTrial,
    first_explainable,
    numbered,
    origin,
    position,
)
from hyperlens.explain.proposals.question import Question
from hyperlens.explain.proposals.recorded_proposer import recorded_aim
from hyperlens.proposal import INITIAL
from hyperlens.runs.history import History


def comparable(
    history: History, numbers: Sequence[int], question: Question
) -> tuple[Question, tuple[str, ...]]:
    """The question with one tau for all proposals, and what they were really chosen by."""
    trials = [history.trials[position(history, number)] for number in numbers]
    aims = [recorded_aim(trial) for trial in trials if origin(trial) == "surrogate"]
    taus = {tau for _, tau in aims if tau is not None}
    tau = question.tau
    if tau is None:
        tau = taus.pop() if len(taus) == 1 else 1.0
    improving = sum(acquisition == "ei" for acquisition, _ in aims)
    bounds = [own for acquisition, own in aims if acquisition == "lcb" and own is not None]
    asked = replace(question, tau=tau)
    if not improving and set(bounds) <= {tau}:
        return asked, ()
    verb = "maximised" if history.objective(question.objective).maximize else "minimised"
    ways = [f"{improving} maximised the expected improvement"] if improving else []
    ways += [f"{bounds.count(t)} {verb} a bound with tau {t:g}" for t in sorted(set(bounds))]
    return asked, (
        f"Of the proposals, {' and '.join(ways)}; the bound that is shown has tau {tau:g} for all, so "
        "that they can be compared.",
    )


def explainable(
    history: History,
    trials: Sequence[WhichTrial] | None,
    initial: int | None,
    objective: str | None,
) -> tuple[list[int], list[int], tuple[str, ...]]:
    """Numbers of the trials to explain, positions of the initial design, and what to say of it."""
    if trials is not None:
        numbers = [numbered(history, trial, objective) for trial in trials]
        if not numbers:
            raise AnalysisError("No trial was named; name at least one, or none at all for a path.")
        return numbers, design_before(history, min(position(history, n) for n in numbers)), ()
    recorded = [k for k, trial in enumerate(history.trials) if origin(trial) == "surrogate"]
    if recorded and initial is None:
        return [history.trials[k].number for k in recorded], design_before(history, recorded[0]), ()
    n = len(history.trials)
    first = min(INITIAL * len(history.space), n // 2) if initial is None else initial
    first = max(first, first_explainable(history, objective))
    if not 0 <= first < n:
        raise AnalysisError(
            f"Of {n} trials the first {first} cannot all be the initial design; run more trials, or "
            "name a smaller number."
        )
    design = design_before(history, first)
    one = first == 1
    those = "The first trial is" if one else f"The first {first} trials are"
    note = f"{those} taken as the initial design."
    if not design:
        note = f"{those} left out: too little was known before {'it' if one else 'them'}."
    return [t.number for t in history.trials[first:]], design, (note,)


def design_before(history: History, first: int) -> list[int]:
    """Positions of the initial design: of the first trials those that were not drawn at random."""
    return [k for k, trial in enumerate(history.trials[:first]) if origin(trial) != "random"]
