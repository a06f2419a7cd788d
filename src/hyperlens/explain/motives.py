"""Why a value was proposed, in the words of P3 section 7: exploitation, exploration, sacrifices.

A contribution is good where it makes the predicted cost better than the background's average, or the
prediction more uncertain than average. What is good for the one at the other's expense is a
sacrifice of the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hyperlens.cube import FloatArray

HARDLY = 0.01  # part of all contributions below which one hardly matters


def motive(mean: float, uncertainty: float, maximize: bool) -> str:
    """What contributions (or payouts) of these signs mean together; 0 means nothing.

    >>> motive(-1.0, -0.5, maximize=False)
    'exploitation with an exploration sacrifice'
    """
    good = mean if maximize else -mean
    gains = [n for n, g in (("exploitation", good), ("exploration", uncertainty)) if g > 0]
    losses = [n for n, g in (("exploitation", good), ("exploration", uncertainty)) if g < 0]
    gained = " and ".join(gains)
    lost = " and ".join(f"an {name} sacrifice" for name in losses)
    return " with ".join(filter(None, [gained, lost])) or "neither exploitation nor exploration"


def parameter_sentences(
    parameters: Sequence[str],
    values: Sequence[Any],
    parts: Mapping[str, FloatArray],  # "mean", "uncertainty", "bound": contributions
    tau: float,
    objective: str,
    maximize: bool,
) -> tuple[str, ...]:
    """One sentence for each parameter."""
    least = HARDLY * float(abs(parts["bound"]).sum())
    found = []
    for j, (name, value) in enumerate(zip(parameters, values, strict=True)):
        mean, uncertainty, bound = (float(parts[k][j]) for k in ("mean", "uncertainty", "bound"))
        if value is None:
            found.append(f"'{name}' is inactive here and contributes nothing.")
            continue
        matters = abs(mean) > least, tau * abs(uncertainty) > least
        if not any(matters):
            found.append(f"'{name}' = {shown(value)} hardly matters for this proposal.")
            continue
        meaning = motive(mean * matters[0], uncertainty * matters[1], maximize)
        desirable = bound > 0 if maximize else bound < 0
        found.append(
            f"'{name}' = {shown(value)} means {meaning}: it {_moves(mean)} the predicted {objective} "
            f"by {abs(mean):.3g} and {_moves(uncertainty)} the uncertainty by {abs(uncertainty):.3g}, "
            f"which makes the proposal {abs(bound):.3g} {'more' if desirable else 'less'} desirable."
        )
    return tuple(found)


def overall_sentence(
    trial: int,
    parameters: Sequence[str],
    bound: FloatArray,
    actual: Mapping[str, float],
    payout: Mapping[str, float],
    objective: str,
    maximize: bool,
    reference: str,
) -> str:
    """What the proposal is for as a whole, and which parameters weigh most."""
    mean, uncertainty = payout["mean"], payout["uncertainty"]
    said = (
        f"Trial {trial} means {motive(mean, uncertainty, maximize)}: its predicted {objective} of "
        f"{actual['mean']:.4g} is {_compared(mean)} {reference}, its uncertainty of "
        f"{actual['uncertainty']:.3g} is {_compared(uncertainty)}"
    )
    if len(parameters) < 2:
        return said + "."
    first, second = sorted(range(len(parameters)), key=lambda j: -abs(bound[j]))[:2]
    weights = [f"'{parameters[j]}' ({bound[j]:+.3g})" for j in (first, second)]
    return f"{said}; {weights[0]} and {weights[1]} weigh most."


def shown(value: Any) -> str:
    """A value as a sentence writes it."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _moves(change: float) -> str:
    return "raises" if change > 0 else "lowers"


def _compared(payout: float) -> str:
    return f"{abs(payout):.3g} {'above' if payout > 0 else 'below'}"
