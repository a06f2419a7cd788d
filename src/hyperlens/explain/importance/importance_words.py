"""Importance in plain words: what mattered, what a share is, and what to know of it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from hyperlens.words import counted, effect_name, percent

if TYPE_CHECKING:
    from hyperlens.explain.importance.importance import Importance


def sentence(record: Importance) -> str:
    if record.parameters and math.isnan(record.share[0]):
        return f"What mattered for {record.objective} cannot be known from these trials."
    if not record.parameters or not record.share[0] > 0:
        return f"No parameter changes what the surrogate expects of {record.objective}."
    first = effect_name(record.parameters[0])
    text = f"{first} mattered most: {percent(float(record.share[0]))} of the variance"
    if record.level is not None and not math.isnan(record.low[0]):
        low, high = percent(float(record.low[0])), percent(float(record.high[0]))
        text += f" ({percent(record.level)} interval {low} to {high})"
    after = [
        f"{effect_name(p)} ({percent(float(s))})"
        for p, s in zip(record.parameters[1:3], record.share[1:3], strict=True)
        if s > 0
    ]
    return f"{text}, followed by {' and '.join(after)}." if after else f"{text}."


def meaning(record: Importance) -> str:
    sentences = [
        f"A share is the part of the variance of {record.objective} over the whole search space "
        "that is due to one parameter alone, or, for a pair a × b, to what the two do together "
        "beyond their separate effects."
    ]
    if record.level is not None:
        sentences.append(
            f"The whiskers hold the share at a level of {percent(record.level)}, as it would "
            "vary if the run were repeated."
        )
    if not math.isnan(record.rest):
        sentences.append(
            f"{percent(record.rest)} of the variance is left for interactions of more than "
            f"{counted(record.order, 'parameter')}."
        )
    return " ".join(sentences)
