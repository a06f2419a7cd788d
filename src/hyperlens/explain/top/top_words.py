"""What the numbers of importance for the top say in a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hyperlens.words import counted, percent, tenths

if TYPE_CHECKING:
    from hyperlens.explain.top.top_importance import TopImportance

SHARE = (
    "The part of what tells the best trials from the other trials that is due to this parameter."
)
SPACE_SHARE = (
    "The part of what tells the best configurations of the whole space from all of them that is due to "
    "this parameter: the mean over functions that agree with the trials."
)
FIRST = "In which part of these functions, spread as the interval is, it has the largest share."
CHANCE = (
    "Whether the importance is larger than what chance gives: tops drawn at random exceed that bound, "
    "with any of all parameters, in one of twenty cases."
)
RAW = "PED-ANOVA's own number: the Pearson divergence of top and all, weighted by the regime."
OTHER = (
    "This is where the best lie; shares of the variance say what moves costs over the space, and a "
    "parameter may do one without the other."
)
SURELY = 0.95  # a probability that needs no words


def said(record: TopImportance) -> str:
    """The answer that leads; of an uneven search also that of its trials, and why it is another one."""
    return _over_space(record) if record.leads == "space" else _of_trials(record)


def _over_space(record: TopImportance) -> str:
    name, share = record.parameters[0], tenths(float(record.space_share[0]))
    within = _interval(record, float(record.space_low[0]), float(record.space_high[0]))
    first = float(record.space_first[0])
    if first < SURELY:
        within += f"; the largest of all with a probability of {percent(first)}"
    return (
        f"Over the whole space, what tells the best {percent(record.quantile)} from the rest most is "
        f"'{name}', {share} of it ({within}). {_among_trials(record)} {OTHER}"
    )


def _among_trials(record: TopImportance) -> str:
    """What an uneven search says of itself, beside what is said of the space."""
    own, k = "In this search itself", int(np.argmax(record.importance))
    if not record.importance[k] > record.chance[k]:
        return f"{own} nothing tells the best {_top(record)} apart more than chance would."
    share = tenths(float(record.share[k]))
    if k == 0:
        return f"{own} it tells the best {_top(record)} apart most too, {share}."
    return (
        f"{own} '{record.parameters[k]}' tells the best {_top(record)} apart most, {share}: its trials "
        "tell the best from where it went, not from the space."
    )


def _of_trials(record: TopImportance) -> str:
    top = f"the best {_top(record)}"
    clear = np.flatnonzero(record.importance > record.chance)
    if not len(clear):
        return f"Nothing tells {top} from the rest more than chance would."
    k = int(clear[0])
    share = tenths(float(record.share[k]))
    interval = _interval(record, float(record.low[k]), float(record.high[k]))
    return (
        f"What tells {top} from the rest most is '{record.parameters[k]}', {share} of it ({interval}). "
        f"{OTHER}"
    )


def _top(record: TopImportance) -> str:
    return f"{record.top} of {counted(record.trials, 'trial')}"


def _interval(record: TopImportance, low: float, high: float) -> str:
    return f"{percent(record.level)} interval {tenths(low)} to {tenths(high)}"
