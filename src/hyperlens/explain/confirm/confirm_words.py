"""Trials that would settle a question, in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hyperlens.words import counted, number, percent, tenths

if TYPE_CHECKING:
    from hyperlens.explain.confirm.confirm import Confirm
    from hyperlens.explain.confirm.confirmed import Confirmed

ROWS = {"effect": "parameter", "importance": "parameter", "region": "region", "best": "lead"}
NOW = "Where the number lies at this level, from the trials so far."
THEN = (
    "The ends of the interval after the trials, averaged over costs that may come of them: drawn from "
    "what the surrogate believes now, each set of hyperparameters as likely as it foresaw them."
)
LEFT = (
    "What part of the variance of what is asked about is left after this trial and those before it: "
    "exact for the surrogate, whatever the trials will measure."
)
SETTLED = 0.8  # intervals that stay wider than this part of themselves are hardly narrowed


def sentence(record: Confirm) -> str:
    """From which interval to which, of the number that is least sure."""
    k = record.widest
    count = counted(len(record.left), "trial")
    what = _what(record, k)
    before = _between(record, record.low[k], record.high[k])
    after = _between(record, record.expected_low[k], record.expected_high[k])
    now, then = widths(record)
    if not record.settles:
        return (
            f"{count} would hardly settle it: the {percent(record.level)} interval of {what} is "
            f"{before}, and about {after} is expected after them."
        )
    text = (
        f"{count} would narrow the {percent(record.level)} interval of {what}, now {before}, to about "
        f"{after}"
    )
    if len(record.rows) > 1:
        text += f", and all {len(record.rows)} intervals to {percent(then / now)} of their width"
    return f"{text}."


def widths(record: Confirm) -> tuple[float, float]:
    """Mean width of the intervals now, and as it is expected."""
    now = float(np.mean(record.high - record.low))
    return now, float(np.mean(record.expected_high - record.expected_low))


def came_of_it(record: Confirmed) -> str:
    """What the widest interval became, beside what was expected of the trials."""
    k, count = record.widest, counted(len(record.number), "trial")
    before, expected, after = (
        (float(low[k]), float(high[k]))
        for low, high in (
            (record.before_low, record.before_high),
            (record.expected_low, record.expected_high),
            (record.after_low, record.after_high),
        )
    )
    width = {name: high - low for name, (low, high) in {"b": before, "a": after}.items()}
    verb = "narrowed" if width["a"] < SETTLED * width["b"] else "hardly changed"
    return (
        f"{count} run to settle it {verb} the {percent(record.level)} interval of {_what(record, k)}, "
        f"{_between(record, *before)} before: it is {_between(record, *after)} now, and about "
        f"{_between(record, *expected)} was expected."
    )


def _what(record: Confirm | Confirmed, k: int) -> str:
    if record.in_shares:
        return f"the share of {record.rows[k]}"
    if record.kind == "best":
        return f"the lead of {record.rows[k]} in {record.objective}"
    return f"the {record.rows[k].replace('mean', f'mean {record.objective}', 1)}"


def _between(record: Confirm | Confirmed, low: float, high: float) -> str:
    if not record.in_shares:
        return f"{number(float(low))} to {number(float(high))}"
    form = tenths if percent(float(low)) == percent(float(high)) else percent
    return f"{form(float(low))} to {form(float(high))}"
