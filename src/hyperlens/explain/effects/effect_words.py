"""An effect in plain words: where the best values lie, how sure that is, and on what it rests."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from hyperlens.explain.models.verdict import guessed
from hyperlens.spaces.parameter import natural_end
from hyperlens.words import counted, effect_name, number, percent

if TYPE_CHECKING:
    from hyperlens.explain.effects.effect import Effect
    from hyperlens.explain.effects.gaps import Gap

HARDLY = 0.01  # of what the trials differ by: a mean that changes by less is no effect to act on
MOST_GAPS = 3  # stretches without a trial that a sentence names


def sentence(record: Effect) -> str:
    change, best = record.change, record.best_at
    if not change > 0:
        name = effect_name(record.parameters)
        return f"The surrogate expects the same {record.objective} for every {name}."
    if (apart := _apart(record)) and change <= HARDLY * apart:
        flat = (
            f"Averaged over all other parameters, {record.objective} hardly depends on "
            f"{effect_name(record.parameters)}: its mean changes by {number(change, 2)} in all, where "
            f"trials differ by up to {number(apart, 2)}."
        )
        return guessed(record.verdict, flat)
    where = _pair if len(record.parameters) == 2 else _curve if record.numeric[0] else _category
    place, support = where(record, best, change)
    return guessed(record.verdict, f"{place} {_sureness(record, best, change)} {support}".rstrip())


def _apart(record: Effect) -> float:
    """By how much the measured costs differ."""
    known = record.observed_cost[np.isfinite(record.observed_cost)]
    return float(np.ptp(known)) if len(known) else 0.0


def reading(record: Effect) -> str:
    text = "This is an average over all other parameters, not what each configuration does."
    if record.agreement is not None:
        same, curves = record.agreement
        text = (
            f"This is an average: in {same} of {counted(curves, 'single configuration')} the best "
            f"{record.parameters[0]} is that of the average or nearly as good."
        )
    return " ".join(filter(None, (text, _guessed(record))))


def _guessed(record: Effect) -> str:
    """What of a curve no trial supports."""
    if len(record.parameters) > 1:
        return ""
    if not record.numeric[0]:
        unused = [str(value) for value in record.untried]
        if not unused:
            return ""
        more = f" or {len(unused) - MOST_GAPS} more" * (len(unused) > MOST_GAPS)
        lost = sum(value in record.untried for value in record.failed)
        return (
            f"No trial used {' or '.join(unused[:MOST_GAPS])}{more}{_but(lost)}; what is shown there is "
            "the surrogate's guess."
        )
    gaps = record.gaps
    if not gaps:
        return ""
    lost = sum(any(_inside(value, gap) for gap in gaps) for value in record.failed)
    if gaps == [(None, None)]:
        which = f"No trial has a {record.parameters[0]}{_but(lost)}"
        return f"{which}; the whole curve is the surrogate's guess."
    places = [_between(gap) for gap in gaps[:MOST_GAPS]]
    if len(gaps) > MOST_GAPS:
        left = len(gaps) - MOST_GAPS
        places.append(f"in {left} narrower stretch{'es' * (left > 1)}")
    where = places[0] if len(places) == 1 else f"{', '.join(places[:-1])} or {places[-1]}"
    return f"No trial lies {where}{_but(lost)}; the curve there is the surrogate's guess."


def _but(lost: int) -> str:
    """That trials which failed are there all the same."""
    return f", but for {lost} that failed" if lost else ""


def _inside(value: Any, gap: Gap) -> bool:
    low, high = gap
    return (low is None or low < value) and (high is None or value < high)


def _between(gap: Gap) -> str:
    low, high = gap
    if low is None:
        return f"below {number(high, 3)}"
    if high is None:
        return f"above {number(low, 3)}"
    return f"between {number(low, 3)} and {number(high, 3)}"


def _curve(record: Effect, best: int, change: float) -> tuple[str, str]:
    name, values = record.parameters[0], record.values[0]
    good = record.nearly_best
    first = last = best
    while first > 0 and good[first - 1]:
        first -= 1
    while last < len(values) - 1 and good[last + 1]:
        last += 1
    low, high = values[first], values[last]
    near = f" Values from {number(low, 3)} to {number(high, 3)} are nearly as good." * (
        first < last
    )
    tried = (*record.observed[0], *record.predicted)
    seen = [v for v in tried if v is not None and math.isfinite(v)]
    there = sum(low <= v <= high for v in seen)
    edge = {0: "lower", len(values) - 1: "upper"}.get(best)
    sure = record.verdict.known and not record.unsure > change
    whole = not isinstance(values[0], float)
    if edge and there and sure and not natural_end(values[0], values[-1], whole, best > 0):
        near += f" That is the {edge} end of its range: a wider range may hold better values."
    support = (
        f"{there} of {counted(len(seen), 'trial')} lie{'s' if there == 1 else ''} there."
        if there
        else f"None of {counted(len(seen), 'trial')} lies there: this is expected, not measured."
    )
    return _best(record, best, _near(name, values[best])) + near, support


def _category(record: Effect, best: int, change: float) -> tuple[str, str]:
    name, values = record.parameters[0], record.values[0]
    worst = int(np.nanargmin(record.mean) if record.maximize else np.nanargmax(record.mean))
    place = _best(record, best, f"{name} = {values[best]}", f", {_from(record, best)}")
    mean = record.shown(record.mean[worst])
    return f"{place} It is worst with {values[worst]} ({mean}, {_from(record, worst)}).", ""


def _from(record: Effect, level: int) -> str:
    """On how many trials rests what is said of a category."""
    trials = int(record.support[level])
    return f"from {counted(trials, 'trial')}" if trials else "a guess without any trial"


def _pair(record: Effect, best: int, change: float) -> tuple[str, str]:
    i, j = divmod(best, len(record.values[1]))
    at = (record.values[0][i], record.values[1][j])
    words = [_near(p, v) for p, v in zip(record.parameters, at, strict=True)]
    star = "" if record.best_values is None else ", the star is the best of them"
    support = (
        f"Brighter is better. The dots are the evaluated trials{star}; far from the dots the map is "
        "extrapolated."
    )
    if np.isnan(record.mean).any() or record.best_values is None:
        support += " Only places where both are active are compared; elsewhere may be better."
    return _best(record, best, " and ".join(words)), support


def _near(name: str, value: Any) -> str:
    return f"{name} {'near' if isinstance(value, float) else '='} {number(value, 3)}"


def _best(record: Effect, best: int, where: str, support: str = "") -> str:
    mean = record.shown(record.mean[best])
    return (
        f"Averaged over all other parameters, {record.objective} is best with {where} "
        f"(mean {mean}{support})."
    )


def _sureness(record: Effect, best: int, change: float) -> str:
    low, high = record.shown(record.low[best]), record.shown(record.high[best])
    text = (
        f"The {percent(record.level)} band there reaches from {low} to {high}, "
        f"{number(record.width, 2)} wide, while the mean changes by {number(change, 2)} in all"
    )
    if record.unsure > change:
        return f"{text}: the band is wider than the effect."
    if record.width > change:
        return f"{text} and is itself known to ±{number(record.unsure / 2, 2)}."
    return f"{text}."
