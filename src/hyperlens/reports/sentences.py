"""Records in plain words: what a card says before it shows anything."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hyperlens.explain.effects.effect import Effect
from hyperlens.explain.effects.regions import Region, Regions
from hyperlens.explain.importance.importance import Importance
from hyperlens.explain.importance.interactions import Interactions
from hyperlens.explain.models.fitting import NAMES
from hyperlens.explain.run.bias import Bias
from hyperlens.explain.run.overview import Overview
from hyperlens.plots.effects.gaps import Gap, gaps, untried

NEARLY = 0.1  # of the mean's whole change: what counts as nearly as good as the best
MOST_GAPS = 3  # stretches without a trial that a sentence names
FIXED = "\N{NO-BREAK SPACE}"  # keeps a number and its unit on one line


def number(value: Any, digits: int = 4) -> str:
    """A value for people: floats to some digits, everything else as it is written."""
    if not isinstance(value, (float, np.floating)):
        return str(value)
    if not math.isfinite(value):
        return "–"
    whole = (
        10.0**digits <= abs(float(value)) < 1e9
    )  # more digits before the point than were asked for
    return f"{value:.0f}" if whole else f"{value:.{digits}g}"


def percent(share: float) -> str:
    """A share for a sentence, with a decimal only where it is small."""
    if share < 0.0005:
        return f"under 0.1{FIXED}%" if share > 0 else f"0{FIXED}%"
    return f"{100 * share:.{int(share < 0.0995)}f}{FIXED}%"


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def effect_name(parameters: tuple[str, ...]) -> str:
    return " × ".join(parameters)


def surrogate_name(name: str) -> str:
    """A surrogate in words."""
    return NAMES.get(name, "given surrogate")


def how_it_ran(record: Overview) -> str:
    """How many trials there are and how they ended."""
    states = ", ".join(f"{count} {state}" for state, count in record.states.items())
    source = f" ({record.source})" if record.source else ""
    return f"The run{source} has {counted(record.trials, 'trial')}: {states}."


def how_good(record: Overview) -> str:
    """The best, which trial reached it, and whether it was still improving."""
    way = "highest" if record.maximize else "lowest"
    return (
        f"The {way} {record.objective} is {number(record.best)}, "
        f"reached by trial {record.best_trial}."
    )


def how_it_improved(record: Overview) -> str:
    """When the best was found, and how much of the run came after it."""
    if len(record.cost) == 1:
        return (
            f"There is only one analysed trial, with a {record.objective} of {number(record.best)}."
        )
    after = int((record.number > record.best_trial).sum())
    start = number(float(record.trace[0]))
    tail = (
        f"The {counted(after, 'analysed trial')} after it brought no improvement."
        if after
        else "It was the last analysed trial, so the run was still improving."
    )
    return (
        f"The best {record.objective} so far went from {start} in the first trial to "
        f"{number(record.best)} in trial {record.best_trial}. {tail}"
    )


def rank(low: float, high: float) -> str:
    """Between which ranks an effect stays."""
    if math.isnan(low):
        return "unknown"
    return f"{low:.0f}" if low == high else f"{low:.0f} to {high:.0f}"


def what_mattered(record: Importance) -> str:
    """The largest effect with its interval, and the two after it."""
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


def what_a_share_is(record: Importance) -> str:
    """The meaning of a share, of its interval, and of what is left."""
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


def how_it_acts(record: Effect) -> str:
    """Where the best values of one or two parameters lie, how sure that is, and on what it rests."""
    change = float(np.nanmax(record.mean) - np.nanmin(record.mean))
    if not change > 0:
        name = effect_name(record.parameters)
        return f"The surrogate expects the same {record.objective} for every {name}."
    best = int(np.nanargmax(record.mean) if record.maximize else np.nanargmin(record.mean))
    where = _pair if len(record.parameters) == 2 else _curve if record.numeric[0] else _category
    place, support = where(record, best, change)
    return f"{place} {_sureness(record, best, change)} {support}"


def what_may_be_read(record: Effect) -> str:
    """How far a curve may be trusted: where nothing was tried, and whether all move as the mean does."""
    text = "This is an average over all other parameters, not what each configuration does."
    alike = _alike(record)
    if alike is not None:
        same, curves = alike
        text = (
            f"This is an average: in {same} of {counted(curves, 'single configuration')} the best "
            f"{record.parameters[0]} is that of the average or nearly as good."
        )
    return " ".join(filter(None, (text, _guessed(record))))


def _alike(record: Effect) -> tuple[int, int] | None:
    """How many single configurations are best where the mean is nearly at its best."""
    curves = record.ice_mean[~np.isnan(record.ice_mean).any(axis=1)]
    change = float(np.nanmax(record.mean) - np.nanmin(record.mean))
    if len(record.parameters) > 1 or not len(curves) or not change > 0:
        return None
    best = curves.argmax(axis=1) if record.maximize else curves.argmin(axis=1)
    top = np.nanmax(record.mean) if record.maximize else np.nanmin(record.mean)
    near = np.abs(record.mean - top) <= NEARLY * change
    return int(near[best].sum()), len(curves)


def _guessed(record: Effect) -> str:
    """What of a curve no trial supports."""
    name = record.parameters[0]
    if len(record.parameters) > 1:
        return ""
    if not record.numeric[0]:
        unused = [str(value) for value in untried(record)]
        if not unused:
            return ""
        more = f" or {len(unused) - MOST_GAPS} more" * (len(unused) > MOST_GAPS)
        return (
            f"No trial used {' or '.join(unused[:MOST_GAPS])}{more}; what is shown there is the "
            "surrogate's guess."
        )
    found = gaps(record)
    if not found:
        return ""
    if found == [(None, None)]:
        return f"No trial has a {name}; the whole curve is the surrogate's guess."
    places = [_between(gap) for gap in found[:MOST_GAPS]]
    if len(found) > MOST_GAPS:
        left = len(found) - MOST_GAPS
        places.append(f"in {left} narrower stretch{'es' * (left > 1)}")
    where = places[0] if len(places) == 1 else f"{', '.join(places[:-1])} or {places[-1]}"
    return f"No trial lies {where}; the curve there is the surrogate's guess."


def _between(gap: Gap) -> str:
    low, high = gap
    if low is None:
        return f"below {number(high, 3)}"
    if high is None:
        return f"above {number(low, 3)}"
    return f"between {number(low, 3)} and {number(high, 3)}"


def where_it_is_sure(record: Regions) -> str:
    """How much surer the effect is in the best trial's region than over the whole space."""
    name, root = record.parameter, record.tree[0]
    if len(record.tree) == 1:
        return (
            f"No split of the space was found that makes the effect of {name} surer: it is known to "
            f"{_known(root)} everywhere."
        )
    best = record.best
    if best is None:
        surest = min(record.leaves, key=lambda r: r.confidence)
        return (
            f"The best trial leaves {name} inactive, so no region holds it. The effect of {name} is "
            f"surest where {surest.rule}: known to {_known(surest)} instead of {_known(root)} over "
            "the whole space."
        )
    here = f"Where {best.rule}, which holds the best trial, the effect of {name} is known"
    if _known(best) == _known(root):
        return f"{here} as well as over the whole space, to {_known(root)}."
    if best.confidence < root.confidence:
        return f"{here} to {_known(best)} instead of {_known(root)} over the whole space."
    return (
        f"{here} less surely than over the whole space, to {_known(best)} against {_known(root)}."
    )


def what_a_region_is(record: Regions) -> str:
    """Which numbers these are, and where not to trust the curve."""
    text = (
        "The space is split so that the surrogate is about equally sure within each region; ± is its "
        f"standard deviation, averaged over {record.parameter}."
    )
    least = max(record.leaves, key=lambda r: r.confidence)
    if len(record.tree) > 1 and not least.holds_best:
        text += (
            f" It is least sure where {least.rule} ({_known(least)}, "
            f"{counted(least.trials, 'trial')}): do not conclude much from the curve there."
        )
    return text


def _known(region: Region) -> str:
    return f"±{number(region.confidence, 2)}"


def where_it_looked(record: Bias) -> str:
    """The parameter most unevenly searched, or that none was."""
    uneven = [n for n, p in zip(record.parameters, record.parameter_p, strict=True) if p <= 0.05]
    if not uneven:
        return "Each parameter alone was searched as evenly as chance allows."
    shown = ", ".join(uneven[:MOST_GAPS]) + (
        f" and {len(uneven) - MOST_GAPS} more" if len(uneven) > MOST_GAPS else ""
    )
    return f"Searched unevenly, by each parameter alone, most uneven first: {shown}."


def what_acts_together(record: Interactions) -> str:
    """The strongest pair, and how H is to be read."""
    meaning = (
        "H is 0 where two parameters act each on its own, and 1 where they act only together. A large "
        "H of a pair with a small share of the variance matters little."
    )
    if not record.pairs or not record.share[0] > 0:
        return f"No two parameters act together in what the surrogate expects. {meaning}"
    return (
        f"Most of what two parameters do together is {effect_name(record.pairs[0])}: H "
        f"{number(float(record.h[0]), 2)}, {percent(float(record.share[0]))} of the variance. "
        f"{meaning}"
    )


def _curve(record: Effect, best: int, change: float) -> tuple[str, str]:
    name, values = record.parameters[0], record.values[0]
    good = np.abs(record.mean - record.mean[best]) <= NEARLY * change
    first = last = best
    while first > 0 and good[first - 1]:
        first -= 1
    while last < len(values) - 1 and good[last + 1]:
        last += 1
    low, high = values[first], values[last]
    near = f" Values from {number(low, 3)} to {number(high, 3)} are nearly as good." * (
        first < last
    )
    edge = {0: "lower", len(values) - 1: "upper"}.get(best)
    if edge:
        near += f" That is the {edge} end of its range: a wider range may hold better values."
    seen = [v for v in record.observed[0] if v is not None and math.isfinite(v)]
    there = sum(low <= v <= high for v in seen)
    support = (
        f"{there} of {counted(len(seen), 'trial')} lie{'s' if there == 1 else ''} there."
        if there
        else f"None of {counted(len(seen), 'trial')} lies there: this is expected, not measured."
    )
    return _best(record, best, _near(name, values[best])) + near, support


def _category(record: Effect, best: int, change: float) -> tuple[str, str]:
    name, values = record.parameters[0], record.values[0]
    worst = int(np.nanargmin(record.mean) if record.maximize else np.nanargmax(record.mean))
    there = sum(v == values[best] for v in record.observed[0])
    place = _best(record, best, f"{name} = {values[best]}")
    place += f" It is worst with {values[worst]} ({number(float(record.mean[worst]))})."
    return place, f"{there} of {counted(len(record.observed[0]), 'trial')} used {values[best]}."


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


def _best(record: Effect, best: int, where: str) -> str:
    mean = number(float(record.mean[best]))
    return (
        f"Averaged over all other parameters, {record.objective} is best with {where} "
        f"(mean {mean})."
    )


def _sureness(record: Effect, best: int, change: float) -> str:
    low, high = float(record.low[best]), float(record.high[best])
    text = (
        f"The {percent(record.level)} band there reaches from {number(low)} to {number(high)}, "
        f"{number(high - low, 2)} wide, while the mean changes by {number(change, 2)} in all"
    )
    return f"{text}: the band is wider than the effect." if high - low > change else f"{text}."
