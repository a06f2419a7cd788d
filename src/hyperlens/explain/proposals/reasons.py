"""Why a value was proposed, after Croppi 2021 section 7: exploitation, exploration, one for the other.

A contribution is good where it makes the predicted cost better than the background's average, or the
prediction more uncertain than average. What is good for the one at the other's cost is a sacrifice of
the other there.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hyperlens.explain.proposals.aims import Aim
from hyperlens.runs.history import Objective
from hyperlens.spaces.cube import FloatArray
from hyperlens.words import beside, number

HARDLY = 0.01  # part of all contributions below which one hardly matters
NOISE = 1e-9  # of the largest contribution: a smaller one is rounding


def motive(mean: float, uncertainty: float, maximize: bool) -> str:
    """What contributions (or payouts) of these signs mean together; 0 means nothing.

    >>> motive(-1.0, -0.5, maximize=False)
    'exploitation at the cost of exploration'
    """
    good = mean if maximize else -mean
    gains = [n for n, g in (("exploitation", good), ("exploration", uncertainty)) if g > 0]
    losses = [n for n, g in (("exploitation", good), ("exploration", uncertainty)) if g < 0]
    if gains and losses:
        return f"{gains[0]} at the cost of {losses[0]}"
    less = [f"less {name}" for name in losses]
    return " and ".join(gains or less) or "neither exploitation nor exploration"


def tidy(numbers: FloatArray, largest: float) -> FloatArray:
    """Numbers as a table shows them: 0 where they are nothing but rounding.

    >>> tidy(np.array([0.5, -1e-16]), 0.5).tolist()
    [0.5, 0.0]
    """
    return np.where(np.abs(numbers) < NOISE * largest, 0.0, numbers)


def parameter_sentences(
    parameters: Sequence[str],
    values: Sequence[Any],
    parts: Mapping[str, FloatArray],  # "mean", "uncertainty", "bound", "score": contributions
    tau: float,
    objective: Objective,
    aim: Aim,
) -> tuple[str, ...]:
    """One sentence for each parameter."""
    least = HARDLY * float(abs(parts["bound"]).sum())
    judged = parts[aim.part]
    least_judged = HARDLY * float(abs(judged).sum())
    weight = tau if aim.part == "bound" else 1.0  # of the uncertainty
    largest = max(float(abs(parts[k]).max(initial=0)) for k in ("mean", "uncertainty"))
    sentences = []
    for j, (name, value) in enumerate(zip(parameters, values, strict=True)):
        mean, uncertainty, worth = (
            float(parts["mean"][j]),
            float(parts["uncertainty"][j]),
            judged[j],
        )
        if value is None:
            sentences.append(f"'{name}' is inactive here and contributes nothing.")
            continue
        matters = abs(mean) > least, weight * abs(uncertainty) > least
        if not any(matters) if aim.part == "bound" else abs(worth) <= least_judged:
            sentences.append(f"'{name}' = {number(value)} hardly matters for this proposal.")
            continue
        meaning = motive(mean * matters[0], uncertainty * matters[1], objective.maximize)
        moved = _moves(mean, largest, f"the predicted {objective.name}")
        unsure = _moves(uncertainty, largest, "the uncertainty")
        better = f"{'more' if aim.desirable(worth) else 'less'} desirable"
        effect = (
            f"{moved} and {unsure}, which makes the proposal {abs(worth):.3g} {better}"
            if aim.part == "bound"
            else f"{moved}, {unsure} and {_moves(worth, 0.0, f'the score, {aim.called},')}, which "
            f"makes the proposal {better}"
        )
        sentences.append(f"'{name}' = {number(value)} means {meaning}: it {effect}.")
    return tuple(sentences)


def overall_sentence(
    trial: int,
    parameters: Sequence[str],
    contributions: FloatArray,  # to what the aim is
    actual: Mapping[str, float],
    average: Mapping[str, float],
    objective: Objective,
    reference: str,
    aim: Aim,
) -> str:
    """What the proposal is for as a whole, and which parameters weigh most."""
    mean, uncertainty = (actual[k] - average[k] for k in ("mean", "uncertainty"))
    cost = beside([actual["mean"], average["mean"]])
    sentence = (
        f"Trial {trial} means {motive(mean, uncertainty, objective.maximize)}: its predicted "
        f"{objective.name} of {cost(actual['mean'])} is {_compared(mean)} {reference}, its "
        f"uncertainty of {actual['uncertainty']:.3g} is {_compared(uncertainty)}"
    )
    order = sorted(range(len(parameters)), key=lambda j: -abs(contributions[j]))[:2]
    weights = " and ".join(f"'{parameters[j]}' ({contributions[j]:+.3g})" for j in order)
    several = len(parameters) > 1
    if aim.part == "bound":
        way = "maximised" if objective.maximize else "minimised"
        why = f" that it {way}" if aim.made else ""
        return sentence + (f"; {weights} weigh most in the bound{why}." if several else ".")
    numbers = f"{actual['score']:.3g} against {average['score']:.3g}, {reference}"
    chosen = "maximised" if aim.larger else "minimised"
    lead = f"It {chosen} {aim.called}, the score:" if aim.made else f"Its score, {aim.called}, is"
    way = "larger" if aim.larger else "less"
    weighed = f"; {weights} weigh most in it, and" if several else ","
    return f"{sentence}. {lead} {numbers}{weighed} {way} is better."


def basis_sentence(tau: float, maximize: bool, aim: Aim, best: float) -> str:
    """What bound and score are, and which of them the proposal was chosen by."""
    bound = f"bound = mean {'+' if maximize else '-'} {tau:g} x uncertainty"
    way = "more" if maximize else "less"
    if aim.part == "bound":
        how = f"which this proposal {'maximised' if maximize else 'minimised'}"
        return f"{bound}, {how if aim.made else f'{way} is better'}."
    if aim.kind == "given":
        return f"{bound}; score = {aim.called} for mean and standard deviation, {way} is better."
    how = ", which this proposal maximised" if aim.made else ""
    if aim.jointly and aim.kind != "ei":
        how = f", which this proposal {'maximised' if aim.larger else 'minimised'}"
        better = "larger" if aim.larger else "less"
        return f"{bound}, for comparison; score = {aim.called}{how}: {aim.meaning}; {better} is better."
    return (
        f"{bound}, for comparison; score = {aim.called}{how}: the expected gain over "
        f"{best:.4g}, the best prediction of what was tried by then, where a worse result counts as 0; "
        "larger is better."
    )


def _moves(change: float, largest: float, what: str) -> str:
    if abs(change) <= NOISE * largest:
        return f"leaves {what} as it is"
    return f"{'raises' if change > 0 else 'lowers'} {what} by {abs(change):.3g}"


def _compared(payout: float) -> str:
    return f"{abs(payout):.3g} {'above' if payout > 0 else 'below'}"
