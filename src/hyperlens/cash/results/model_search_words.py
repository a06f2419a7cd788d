"""A search over models in plain words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from hyperlens.words import article

if TYPE_CHECKING:
    from hyperlens.cash.results.model_search import ModelSearch

MOST_REASONS = 3
MOSTLY_USED = 0.8  # of the evaluations: what the schedule of a whole search uses at least
TIE = 1e-9  # numbers of evaluations this near are equal
CLOSE = 0.02  # of the winner's cost: hardly a difference


def story(record: ModelSearch) -> tuple[str, ...]:
    return (*winner(record), *_evaluations(record), *_failures(record))


def winner(record: ModelSearch) -> list[str]:
    if not record.leaders:
        return []
    best = record.leaders[0]
    name = record.objective
    if len(record.models) == 1:
        return [f"The best configuration of {best.model} has {article(name)} of {best.cost:.4g}."]
    sentences = [f"{best.model} came first, with {article(name)} of {best.cost:.4g}."]
    others = [m for m in range(1, len(record.models)) if not math.isnan(record.best[m])]
    if others:
        second = others[0]
        near = abs(record.best[second] - best.cost) <= CLOSE * abs(best.cost)
        more = ": hardly a difference, so the simpler or faster of the two will do" if near else ""
        sentences.append(
            f"The best of another model is {record.models[second]}'s, {record.best[second]:.4g}{more}."
        )
    return sentences


def _evaluations(record: ModelSearch) -> list[str]:
    whole = float(record.spent.sum())
    if not whole:
        return []
    sentences = _most(record, whole)
    if len(record.budgets) > 1:
        drawn, last = int(record.reached[:, 0].sum()), int(record.reached[:, -1].sum())
        full = sorted(zip(record.models, record.reached[:, -1], strict=True), key=lambda x: -x[1])
        by_model = ", ".join(f"{m} {n}" for m, n in full if n)
        were = "was" if last == 1 else "were"
        sentences.append(
            f"Of {drawn} configurations, {last} {were} measured on all rows"
            + (f" ({by_model})." if by_model and len(record.models) > 1 else ".")
        )
    unseen = [m for i, m in enumerate(record.models) if not record.reached[i, 0]]
    if unseen:
        sentences.append(f"Never drawn: {', '.join(unseen)}; {_what_would_reach(record, whole)}.")
    return sentences


def _what_would_reach(record: ModelSearch, whole: float) -> str:
    """Models that were never drawn: what was the limit?"""
    if record.evaluations is None:
        return "more evaluations or more time would reach them"
    if whole < MOSTLY_USED * record.evaluations:
        return (
            f"more time would reach them, for only {whole:.4g} of {record.evaluations:g} full "
            "evaluations were made"
        )
    return "more evaluations would reach them"


def _most(record: ModelSearch, whole: float) -> list[str]:
    """Who got most of the evaluations, and how that came about."""
    if len(record.models) == 1:
        return [f"All {whole:.4g} full evaluations went to {record.models[0]}, the only model."]
    largest = float(record.spent.max())
    first = [m for m in range(len(record.models)) if record.spent[m] >= largest - TIE]
    part = f"{largest / whole:.0%} of {whole:.4g} full ones"
    if len(first) == 1:
        name = record.models[first[0]]
        return [f"{name} got most of the evaluations, {part}: {_why(record, first[0])}."]
    names = [record.models[m] for m in first]
    return [
        f"{', '.join(names[:-1])} and {names[-1]} got most of the evaluations, {part} each.",
        *(f"{record.models[m]}: {_why(record, m)}." for m in first[:MOST_REASONS]),
    ]


def _why(record: ModelSearch, m: int) -> str:
    """Its part of the configurations against its chance, and how they came to be measured."""
    tried, of_all = int(record.reached[m, 0]), int(record.reached[:, 0].sum())
    had = f"it had {tried} of the {of_all} configurations tried ({tried / of_all:.0%}"
    if record.proposed.any():
        return (
            f"{had}), of which the surrogate, expecting most there, proposed "
            f"{int(record.proposed[m])}"
        )
    rule = {
        "weighted": ", twice as often with each of its hyperparameters, of which it has "
        f"{record.hyperparameters[m]}",
        "volume": ", by the size of its space",
        "uniform": ", like any other",
    }.get(record.sampling, ", as you asked")
    had += f"; a draw takes it with {record.weights[m]:.0%}{rule})"
    if len(record.budgets) == 1:
        return had
    ways = []
    if record.at_once[m]:
        default = ", its default among them" if record.by_default[m] else ""
        ways.append(f"{record.at_once[m]} of them went to all rows at once{default}")
    if record.promoted[m]:
        ways.append(f"{record.promoted[m]} of the {record.promoted.sum()} promoted ones were its")
    return f"{had}; {', and '.join(ways) or 'none was promoted'}"


def _failures(record: ModelSearch) -> list[str]:
    failed = int(record.failed.sum())
    if not failed:
        return []
    reasons = "; ".join(
        f"{n} x {reason}" for reason, n in list(record.reasons.items())[:MOST_REASONS]
    )
    more = "; ..." if len(record.reasons) > MOST_REASONS else ""
    each = "evaluation" if failed == 1 else "evaluations"
    return [f"{failed} {each} failed and count as worst: {reasons}{more}."]
