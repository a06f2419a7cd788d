"""What to change about one parameter of a space, and by what evidence.

    fix       it hardly matters: its effects, with others too, are hardly any of the variance among the
              good
    drop      levels at which no drawn function is lowest, and all lose more than is tolerated
    log       the costs are much likelier by its logarithm, or a small part of a range over decades
              holds all that is good
    widen     drawn functions are lowest at an end of the range, and still fall there
    narrow    all drawn functions are lowest in a part of the range, made wider for caution

What is cut can hold the best only with small probability: ranges reach beyond all places where a
drawn function is lowest, as much further as the process is known to be too sure of itself, and hold
the best trials. Parameters that decide about others or that forbidden clauses name are never narrowed
or fixed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from hyperlens.explain.next.probes import GRID, STEP_BACK, Probes
from hyperlens.explain.next.scales import by_logarithm, evidence, with_logarithm
from hyperlens.runs.history import Data
from hyperlens.spaces.changed import Declared, tied
from hyperlens.spaces.cube import FloatArray
from hyperlens.spaces.parameter import Parameter, natural_end
from hyperlens.words import FIXED, number, percent

Action = Literal["fix", "drop", "log", "widen", "narrow"]

LEVEL = 0.9  # of the intervals of what a change costs
SURE = 0.95  # of the draws that are to lose no more than is tolerated
LITTLE = 0.01  # of the variance among the good: a parameter that surely has no more hardly matters
WORTH = 0.05  # of the same: a parameter that probably has as much is worth widening or a logarithm
TOP = 10  # best trials that stay within a narrowed range
NARROWER = 0.5  # of a range: what is less narrow than this is left as it is
MARGIN = 0.05  # of a range, on each side of a narrowed one
BEYOND = 0.6  # probability that the best lies at an end, from which on a range is widened
LONGER = 0.5  # of a range, by which it is widened
MOST_FACTOR = 10.0  # by which an end on a log scale is moved
FEWEST = 3  # trials of a level that is dropped
MOSTLY = 0.1  # of the draws must have a conditional parameter where they are lowest
LIKELIER = 5.0  # log of how much likelier costs are by the logarithm
CROWDED, DECADES = 0.1, 100.0  # a part of a range; how many times longer than its lower end it is
MOST_SCALES = 3  # parameters whose logarithm is tried


@dataclass(frozen=True)
class Change:
    """One piece of advice: what becomes of a parameter, how sure that is and what it costs."""

    parameter: str
    action: Action
    before: str
    after: str
    probability: float  # that the best is where the action says; nan where it says nothing of that
    cost: float
    low: float
    high: float
    reason: str
    declared: Declared


@dataclass(frozen=True)
class Workshop:
    """What all decisions about a space are made from."""

    probes: Probes
    data: Data
    tolerance: float
    seed: int

    @property
    def wide(self) -> float:
        return self.probes.model.widened


def proposals(shop: Workshop) -> list[Change]:
    """At most one change of each parameter; those that are fixed lose little together."""
    space = shop.probes.space
    deciding = {p for c in range(space.cube.d) for p in space.cube.parents(c)}
    bound = {space.column(name) for name in tied(space) if name in space.names}
    rescaled = _rescaled(shop, deciding | bound)
    found: dict[int, Change] = {}
    for j, parameter in enumerate(space.parameters):
        if shop.probes.active(j).mean() < MOSTLY:
            continue
        change = rescaled.get(j)
        if not parameter.axis.ordered:
            change = None if j in bound else _drop(shop, j, j in deciding)
        elif change is None and j not in deciding:
            change = _widen(shop, j) or (None if j in bound else _narrow(shop, j))
        if change is not None:
            found[j] = change
    found |= _fixed(shop, deciding | bound)
    return [found[j] for j in sorted(found)]


def _fixed(shop: Workshop, spared: set[int]) -> dict[int, Change]:
    """Parameters that hardly matter, left at a value; at least one parameter stays free."""
    probes = shop.probes
    little = np.quantile(probes.totals, SURE, axis=1)
    found: dict[int, Change] = {}
    for j in np.argsort(little, kind="stable").tolist():
        if little[j] > LITTLE or len(found) + 1 >= len(probes.space):
            break
        if j in spared or probes.active(j).mean() < MOSTLY:
            continue
        code, loss = _best_code(shop, j)
        parameter = probes.space.parameters[j]
        value = parameter.decode(np.array([code]))[0]
        cost, low, high = _costs(loss * shop.wide)
        found[j] = Change(
            parameter.name, "fix", _range(parameter), number(value), math.nan, cost, low, high,
            f"it has at the most {percent(float(little[j]))} of the variance among the good; left at "
            f"{number(value)} it costs {number(cost, 2)}, at the most {number(high, 2)}",
            (value,),
        )  # fmt: skip
    return found


def _best_code(shop: Workshop, j: int) -> tuple[float, FloatArray]:
    """The code at which a parameter loses least on average, the best trial's among others, and its
    losses."""
    probes, parameter = shop.probes, shop.probes.space.parameters[j]
    own = shop.data.X[int(np.argmin(shop.data.y)), j]
    codes = [*([] if math.isnan(own) else [float(own)]), *parameter.grid(GRID).tolist()]
    losses = [probes.losses({j: code}) for code in codes]
    first = int(np.argmin([loss.mean() for loss in losses]))
    return codes[first], losses[first]


def _drop(shop: Workshop, j: int, deciding: bool) -> Change | None:
    """Levels of a category that are left out."""
    probes, parameter = shop.probes, shop.probes.space.parameters[j]
    axis, choices = parameter.axis, parameter.choices
    assert axis.codes is not None
    tried = shop.data.X[:, j]
    times = np.bincount(axis.level(tried[~np.isnan(tried)]), minlength=axis.levels)
    lowest = np.bincount(axis.level(probes.places(j)), minlength=axis.levels)
    poor = []
    for k in np.flatnonzero((lowest == 0) & (times >= FEWEST)).tolist():
        # of a level that decides what else is active, the best place has no like elsewhere
        loss = None if deciding else probes.losses({j: float(axis.codes[k])})
        if loss is None or np.quantile(loss, 1 - SURE) > shop.tolerance:
            poor.append(k)
    if not poor:
        return None
    kept = [k for k in range(axis.levels) if k not in poor]
    names = [number(choices[k]) for k in poor]
    drawn = len(probes.places(j))
    reason = (
        f"none of {drawn} drawn functions is lowest where {parameter.name} is {' or '.join(names)}"
    )
    left = tuple(choices[k] for k in kept)
    declared: Declared = left
    if len(kept) > 1:
        default = parameter.default if parameter.default in left else left[0]
        declared = replace(parameter, choices=left, default=default)
    after = ", ".join(number(choices[k]) for k in kept)
    action: Action = "drop" if len(kept) > 1 else "fix"
    return Change(
        parameter.name, action, _range(parameter), after, 1 - 1 / (drawn + 2), 0.0, 0.0, 0.0, reason,
        declared,
    )  # fmt: skip


def _widen(shop: Workshop, j: int) -> Change | None:
    """A range made longer at an end at which the best seems to be held back."""
    probes, parameter = shop.probes, shop.probes.space.parameters[j]
    if parameter.kind not in ("float", "integer"):
        return None
    for upper, chance in zip((False, True), probes.ends(j), strict=True):
        end = _further(parameter, upper)
        if chance < BEYOND or end is None:
            continue
        gain = probes.falls(j, upper)
        if np.median(probes.totals[j]) < WORTH or gain * LONGER / STEP_BACK < shop.tolerance:
            continue
        declared = replace(parameter, upper=end) if upper else replace(parameter, lower=end)
        side, bound = ("above", parameter.upper) if upper else ("below", parameter.lower)
        return Change(
            parameter.name, "widen", _range(parameter), _range(declared), chance, 0.0, 0.0, 0.0,
            f"the best lies {side} {number(bound)} with probability {percent(chance)}: most drawn "
            f"functions are lowest there and still fall, by {number(gain, 2)} on the last tenth",
            declared,
        )  # fmt: skip
    return None


def _further(parameter: Parameter, upper: bool) -> float | None:
    """The next end of a range; None where it is a natural one."""
    p = parameter
    if natural_end(p.lower, p.upper, p.kind == "integer", upper):
        return None
    if p.log:
        factor = min((p.upper / p.lower) ** LONGER, MOST_FACTOR)
        end = p.upper * factor if upper else p.lower / factor
    else:
        by = LONGER * (p.upper - p.lower)
        end = p.upper + by if upper else p.lower - by
        if p.lower > 0 and end <= 0:
            end = p.lower / 2
    if p.kind == "integer":
        end = float(math.ceil(end) if upper else max(math.floor(end), 1 if p.lower > 0 else end))
    else:
        end = float(f"{end:.2g}")
    return end if end not in (p.lower, p.upper) else None


def _narrow(shop: Workshop, j: int) -> Change | None:
    """A part of a range that holds all places where drawn functions are lowest, and the best trials."""
    probes, parameter = shop.probes, shop.probes.space.parameters[j]
    x = probes.places(j)
    top = shop.data.X[np.argsort(shop.data.y, kind="stable")[:TOP], j]
    top = top[~np.isnan(top)]
    middle = float(np.median(x))
    low = min(middle - shop.wide * (middle - x.min()), *top, 1.0) - MARGIN
    high = max(middle + shop.wide * (x.max() - middle), *top, 0.0) + MARGIN
    low, high = max(low, 0.0), min(high, 1.0)
    if high - low > NARROWER:
        return None
    declared = _between(parameter, low, high)
    if declared is None:
        return None
    probability = 1 - 1 / (len(x) + 2)
    return Change(
        parameter.name, "narrow", _range(parameter), _range(declared), probability, 0.0, 0.0, 0.0,
        f"all of {len(x)} drawn functions are lowest within it, and so are the best trials",
        declared,
    )  # fmt: skip


def _between(parameter: Parameter, low: float, high: float) -> Parameter | None:
    """The parameter between two codes, its ends rounded outwards; None if that is all it was."""
    p = parameter
    if p.choices:
        kept = tuple(
            c for c, code in zip(p.choices, p.encode(p.choices), strict=True) if low <= code <= high
        )
        if not 2 <= len(kept) < len(p.choices):
            return None
        return replace(p, choices=kept, default=p.default if p.default in kept else kept[0])
    ends = p.decode(np.array([low, high]))
    if p.kind == "integer":
        lower, upper = float(ends[0]), float(ends[1])
    else:
        lower = p.lower if low <= 0 else max(_rounded(ends[0], -1), p.lower)
        upper = p.upper if high >= 1 else min(_rounded(ends[1], 1), p.upper)
    if not lower < upper or (lower, upper) == (p.lower, p.upper):
        return None
    default = p.default if p.default is not None and lower <= p.default <= upper else None
    return replace(p, lower=lower, upper=upper, default=default)


def _rounded(value: float, way: int) -> float:
    """To two digits, away from the other end."""
    if value == 0:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(abs(value))) - 1)
    steps = math.floor(value / unit) if way < 0 else math.ceil(value / unit)
    return float(f"{steps * unit:.6g}")


def _rescaled(shop: Workshop, spared: set[int]) -> dict[int, Change]:
    """Parameters for which the costs are much likelier by their logarithm."""
    probes, X, y = shop.probes, shop.probes.model.X, shop.probes.model.y
    asked: dict[int, Parameter] = {}
    for j, parameter in enumerate(probes.space.parameters):
        new = by_logarithm(parameter)
        matters = np.median(probes.totals[j]) >= WORTH and probes.active(j).mean() >= MOSTLY
        if new is not None and matters and j not in spared:
            asked[j] = new
    if not asked:
        return {}
    cube = probes.space.cube
    before, found = evidence(cube, X, y, shop.seed), {}
    for j, new in list(asked.items())[:MOST_SCALES]:
        old = probes.space.parameters[j]
        crowded = float((probes.places(j) <= CROWDED).mean())
        gained = evidence(*with_logarithm(cube, X, j, old, new), y, shop.seed) - before
        if gained > LIKELIER:
            reason = f"by its logarithm the costs are e^{round(gained)} times likelier"
        elif crowded >= SURE and new.upper / new.lower >= DECADES:
            reason = (
                f"the lowest {percent(CROWDED)} of its range, which spans decades, hold the best"
            )
        else:
            continue
        found[j] = Change(
            old.name, "log", f"{_range(old)}, linear", f"{_range(new)}, log",
            crowded if gained <= LIKELIER else math.nan, 0.0, 0.0, 0.0, reason, new,
        )  # fmt: skip
    return found


def _costs(loss: FloatArray) -> tuple[float, float, float]:
    """Mean and interval of what is lost."""
    low, high = np.quantile(loss, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(loss.mean()), float(low), float(high)


def _range(parameter: Parameter) -> str:
    if parameter.choices:
        return parameter.extent
    return f"{number(parameter.lower, 3)}{FIXED}to{FIXED}{number(parameter.upper, 3)}"
