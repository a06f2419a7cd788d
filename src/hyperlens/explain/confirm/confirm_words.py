"""Trials that would settle a question, in plain words.

How wide an interval will be can be promised; where it will lie is not known before the trials are run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hyperlens.words import FIXED, counted, number, percent, tenths

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
    """What is settled already, and from which interval to which, of the number that is least sure."""
    return f"{_settled(record)}{_promised(record)}"


def _settled(record: Confirm) -> str:
    """That the best is ahead of all its rivals, or behind one, whatever more trials bring."""
    if record.kind != "best":
        return ""
    level, behind = percent(record.level), np.flatnonzero(record.high < 0)
    if (record.low > 0).all():
        return f"At {level} the best observed is ahead of {_rivals(len(record.rows))} already. "
    if len(behind):
        other = record.rows[behind[0]].rpartition(" over ")[2]
        return f"At {level} {other} is better than the best observed already. "
    return ""


def _rivals(count: int) -> str:
    return "its one rival" if count == 1 else f"all {count} rivals"


def _promised(record: Confirm) -> str:
    """From which interval to which, of the number that is least sure."""
    k = record.widest
    count = counted(len(record.left), "trial")
    what = _what(record, k)
    before = _between(record, record.low[k], record.high[k])
    low, high = float(record.expected_low[k]), float(record.expected_high[k])
    width, such = _wide(record, high - low), _between(record, low, high)
    now, then = widths(record)
    if not record.settles:
        return (
            f"{count} would hardly settle it: the {percent(record.level)} interval of {what} is "
            f"{before}, and one about {width} wide is expected after them."
        )
    text = (
        f"{count} would narrow the {percent(record.level)} interval of {what}, now {before}, to about "
        f"{width}, such as {such}"
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
    was, hoped, now = (high - low for low, high in (before, expected, after))
    verb = "narrowed" if now < SETTLED * was else "hardly changed"
    if was < SETTLED * now:
        verb = "found what those before did not show, and widened"
    return (
        f"{count} run to settle it {verb} the {percent(record.level)} interval of {_what(record, k)}, "
        f"{_between(record, *before)} before: it is {_between(record, *after)} now, "
        f"{_wide(record, now)} wide, where about {_wide(record, hoped)} was expected."
    )


def _what(record: Confirm | Confirmed, k: int) -> str:
    if record.in_shares:
        return f"the share of {record.rows[k]} over the whole space"
    if record.kind == "best":
        return f"the lead of {record.rows[k]} in {record.objective}"
    return f"the {record.rows[k].replace('mean', f'mean {record.objective}', 1)}"


def _between(record: Confirm | Confirmed, low: float, high: float) -> str:
    if not record.in_shares:
        return f"{number(float(low))} to {number(float(high))}"
    form = tenths if percent(float(low)) == percent(float(high)) else percent
    if form(float(low)) == form(float(high)):
        return f"near {form(float(low))}"
    return f"{form(float(low))} to {form(float(high))}"


def _wide(record: Confirm | Confirmed, width: float) -> str:
    if not record.in_shares:
        return number(width, 2)
    points = number(100 * width, 2)
    return f"{points}{FIXED}{'point' if points == '1' else 'points'}"
