"""Importance in plain words: what mattered, what a share is, and what to know of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from hyperlens.errors import listed
from hyperlens.explain.importance.good import part_name, place
from hyperlens.explain.models.support import FEW, hardly_active
from hyperlens.surrogates.quality import FAIR_R2
from hyperlens.words import (
    SLIGHT,
    SURROGATES,
    counted,
    decimals,
    effect_name,
    effect_when,
    first_few,
    number,
    percent,
    tenths,
)

if TYPE_CHECKING:
    from hyperlens.explain.importance.importance import Importance
    from hyperlens.explain.importance.once import Effects
    from hyperlens.explain.importance.shares import Shares
    from hyperlens.explain.models.fitting import Fitted
    from hyperlens.runs.history import History
    from hyperlens.spaces.cube import FloatArray

MOST_APART = 3  # disagreements that are named
BETTER = 0.9  # of what the first leaves unexplained: a second that leaves no more predicts better
WORTH_SAYING = 0.02  # a disagreement of the surrogates below this share is not mentioned


def sentence(record: Importance) -> str:
    if record.parameters and math.isnan(record.share[0]):
        return f"What mattered for {record.objective} cannot be known from these trials."
    if not record.verdict.known:
        return f"What mattered for {record.objective} is not known: {record.verdict.reason}."
    if not record.parameters or not record.share[0] > 0:
        return f"No parameter changes what the surrogate expects of {record.objective}."
    first = record.names[0]
    if absent(record, record.parameters[0]):
        first += " (which the best trial does not use)"
    first += "," * bool(effect_when(record.parameters[0], record.when))
    share = tenths(float(record.share[0]))
    text = f"{first} mattered most {where(record)}: {share} of the variance"
    if record.level is not None and not math.isnan(record.low[0]):
        low, high = tenths(float(record.low[0])), tenths(float(record.high[0]))
        text += f" ({percent(record.level)} interval {low} to {high})"
    after = [
        f"{name} ({tenths(float(s))}{', not used by the best trial' * absent(record, p)})"
        for p, name, s in zip(
            record.parameters[1:3], record.names[1:3], record.share[1:3], strict=True
        )
        if s >= SLIGHT
    ]
    return f"{text}, followed by {' and '.join(after)}." if after else f"{text}."


def where(record: Importance) -> str:
    """Of which part of the space the shares are."""
    if record.cap is not None:
        return f"with {record.objective} capped at {number(record.cap, record.digits)}"
    return place(record.among, record.quantile)


def column_title(record: Importance) -> str:
    """The same in a few words."""
    return part_name(record.among, record.quantile)


def absent(record: Importance, parameters: Sequence[str]) -> bool:
    """Is there one among these that the best trial does not have?"""
    return any(child.parameter in parameters and not child.used for child in record.conditional)


def of_interval(record: Importance) -> str:
    """What an interval is over."""
    if record.surrogate == "additive":
        return "among functions that agree with the trials"
    return "as it would vary if the run were repeated"


def meaning(record: Importance) -> str:
    sentences = [
        f"A share is the part of the variance of {record.objective} {where(record)} "
        "that is due to one parameter alone, or, for a pair a × b, to what the two do together "
        "beyond their separate effects."
    ]
    if record.bound is not None:
        bound = number(record.bound, record.digits)
        sentences.append(
            f"Costs worse than {bound} count as {bound}; "
            f"{record.below} of "
            f"{counted(record.trials, 'trial')} are better."
        )
    if record.level is not None and not np.isnan(record.low).all():
        sentences.append(
            f"The interval contains it at a level of {percent(record.level)}, {of_interval(record)}."
        )
    parameters = {name for names in record.parameters for name in names}
    if record.verdict.known and len(parameters) > record.order and not math.isnan(record.rest):
        sentences.append(
            f"Interactions of more than {counted(record.order, 'parameter')} account for "
            f"{percent(record.rest)} of the variance."
        )
    return " ".join(sentences)


def disagreements(
    names: Sequence[str],
    primary: Fitted,
    secondary: Fitted | None,
    effects: Effects,
    numbers: Mapping[str, FloatArray],
    part: str,
) -> list[str]:
    """Where the two surrogates differ beyond their intervals, in one sentence, the largest first."""
    if secondary is None or not secondary.quality.r2 >= FAIR_R2:
        return []
    columns = ("share", "low", "high", "secondary", "secondary_low", "secondary_high")
    found = []
    for k, axes in enumerate(effects):
        share, low, high, other, other_low, other_high = (numbers[c][k] for c in columns)
        apart = other_low > high or other_high < low
        if apart and abs(other - share) >= WORTH_SAYING:
            name = effect_name(tuple(names[j] for j in axes))
            found.append((-abs(other - share), f"{name} {tenths(share)} and {tenths(other)}"))
    if not found:
        return []
    told = first_few([text for _, text in sorted(found)], MOST_APART)
    return [
        f"The {SURROGATES[primary.name]} and the {SURROGATES[secondary.name]} differ beyond their "
        f"intervals on shares {part}: {told}; cross-validated, their R2 are "
        f"{decimals(primary.quality.r2)} and {decimals(secondary.quality.r2)}."
    ]


def predicts_better(primary: Fitted, secondary: Fitted | None) -> list[str]:
    """Why intervals are wider than those of the surrogate that leads, if they are."""
    if secondary is None or not secondary.quality.r2 >= FAIR_R2:
        return []
    left, other_left = (1 - fitted.quality.r2 for fitted in (primary, secondary))
    if not other_left <= BETTER * left:
        return []
    return [
        f"The {SURROGATES[secondary.name]} predicts this run better than the "
        f"{SURROGATES[primary.name]}: cross-validated, it leaves {tenths(other_left)} of the variance "
        f"unexplained, against {tenths(left)}; so the intervals take in its own."
    ]


def notes(history: History, fitted: Fitted, shares: Shares) -> list[str]:
    """What is to be known of shares, and what cannot be."""
    sentences = []
    trials, parameters = fitted.training.X.shape
    known = not np.isnan(shares.share).all()
    if not known:
        why = (
            "there is only one trial"
            if trials == 1
            else "the surrogate predicts one cost everywhere"
        )
        sentences.append(
            f"No share can be known, for {why}; more trials with other costs are needed."
        )
    elif shares.flat:
        sentences.append(f"{shares.flat} trees without any variance were left out.")
    if known and trials < parameters:
        sentences.append(f"There are fewer trials ({trials}) than parameters ({parameters}).")
    columns = zip(history.space.names, fitted.training.unvaried, strict=True)
    same = [name for name, unvaried in columns if unvaried]
    if same and known:
        its, it = ("its", "it") if len(same) == 1 else ("their", "them")
        sentences.append(
            f"{listed(same)} never varied in these trials, so nothing can be known of {its} "
            f"importance; the other shares hold for the one value of {it} that was tried."
        )
    few = zip(history.space.names, hardly_active(fitted.training.X), strict=True)
    rare = [name for name, is_rare in few if is_rare and name not in same]
    if rare and known:
        it = "it is" if len(rare) == 1 else "each is"
        sentences.append(
            f"The importance of {listed(rare)} is not known: {it} active in fewer than {FEW} trials."
        )
    if history.space.configspace.forbidden_clauses:
        sentences.append("Forbidden combinations count as part of the space here.")
    return sentences
