"""What is said of a chosen trial: what the next trials of the front trade, and why it is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hyperlens.explain.objectives.point_of_front import Reasons
from hyperlens.words import first_few, number, setting, signed

if TYPE_CHECKING:
    from hyperlens.explain.objectives.choose import Choice

MOST_NAMED = 3  # parameters in a sentence
CLEAR = 0.05  # standard deviations of an objective that a value must add to be named


def exchange(choice: Choice) -> str:
    """What the next trials of the front give for what; empty where there are none."""
    told = []
    for trade in choice.trades:
        lost = [
            f"{number(-float(gain), 3)} of {name}"
            for name, gain in zip(choice.objectives, trade.gain, strict=True)
            if gain < 0
        ]
        gain = float(trade.gain[choice.objectives.index(trade.objective)])
        price = f" for {first_few(lost, MOST_NAMED)}" if lost else ""
        told.append(f"trial {trade.trial} gains {number(gain, 3)} of {trade.objective}{price}")
    return f"Next on the front, {'; '.join(told)}." if told else ""


def reasons_said(choice: Choice, because: Reasons) -> tuple[str, ...]:
    """What made each objective what it is, and which value is good for one and bad for another."""
    if not because.verdict.known:
        return (f"Why it is there is not known: {because.verdict.reason}.",)
    told = []
    for k, name in enumerate(choice.objectives):
        away = float(because.expected[k] - because.average[k])
        way = "above" if away > 0 else "below"
        told.append(
            f"Its {name} is expected to be {number(float(because.expected[k]))}, "
            f"{number(abs(away), 3)} {way} the average of the space: {_strongest(choice, because, k)}."
        )
    return (*told, *filter(None, (_pulled(choice, because),)))


def _strongest(choice: Choice, because: Reasons, k: int) -> str:
    own = because.contributions[:, k]
    order = [j for j in np.argsort(-np.abs(own)) if abs(own[j]) > CLEAR * because.spread[k]]
    if not order:
        return "no value of its stands out"
    return ", ".join(
        f"{_value(choice, int(j))} ({signed(float(own[j]))})" for j in order[:MOST_NAMED]
    )


def _pulled(choice: Choice, because: Reasons) -> str:
    """The value that does most for one objective and most against another at once."""
    good = np.where(choice.maximize, 1.0, -1.0) * because.contributions
    good = good / np.where(because.spread > 0, because.spread, np.inf)
    both = np.minimum(good.max(axis=1), -good.min(axis=1))
    j = int(np.argmax(both))
    if not both[j] > CLEAR:
        return ""
    helped, harmed = (choice.objectives[int(at)] for at in (good[j].argmax(), good[j].argmin()))
    return f"{_value(choice, j)} is traded: good for {helped}, bad for {harmed}."


def _value(choice: Choice, j: int) -> str:
    name = choice.parameters[j]
    return f"{name} {setting(choice.values.get(name))}"
