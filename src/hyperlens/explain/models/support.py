"""Where the trials were: levels and stretches of an axis that hold too few to say anything of them.

Symbols
    codes    values of one parameter on its latent axis [0, 1], one a trial in which it is active
    stretch  an interval of the axis between two trials, or between a trial and an end of the range
    part     measure of a stretch or of some levels: how much of the range it takes
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from hyperlens.spaces.cube import Axis, BoolArray, FloatArray
from hyperlens.spaces.parameter import Parameter
from hyperlens.spaces.space import Space
from hyperlens.words import number

FEW = 5  # trials below which a level or a stretch was hardly tried
LARGE = 0.3  # part of a range: a smaller stretch with few trials is what chance leaves


@dataclass(frozen=True)
class Sparse:
    """A part of one parameter's range, and how many of the trials lie in it, of those that it could."""

    where: str  # "lr is above 0.1", "opt is sgd"
    trials: int
    of: int
    part: float
    active: str = (
        ""  # the parameter, if it is not active in all trials; then only such trials are counted
    )
    failed: int = 0  # trials that failed there, and are none of these
    of_what: str = "range"  # the part is of; "values" of a parameter that has single ones

    @property
    def seldom(self) -> bool:
        """Is it about the parameter being active at all?"""
        return self.where == f"{self.active} is active"


def sparse(
    space: Space, X: FloatArray, columns: Iterable[int], failed: FloatArray | None = None
) -> list[Sparse]:
    """What of these parameters the vectors X (n, d) hardly hold, the largest part first, and how many
    of those that failed lie there.

    Of a category that is every level in fewer than FEW trials, of an ordered parameter its widest
    stretch with fewer, where that is LARGE, of a conditional one all of it where it is active in so few
    that they cannot be spread over its range.
    """
    found: list[Sparse] = []
    for j in columns:
        parameter, axis, codes = space.parameters[j], space.cube.axes[j], X[~np.isnan(X[:, j]), j]
        if len(codes) < min(2 * FEW, len(X)):
            name = parameter.name
            found.append(Sparse(f"{name} is active", len(codes), len(X), 1.0, name))
            continue
        lost = np.empty(0) if failed is None else failed[~np.isnan(failed[:, j]), j]
        if axis.codes is None:
            places = [_stretch(parameter, codes, lost)]
        elif axis.ordered:
            places = [_run(parameter, axis, codes, lost)]
        else:
            places = _levels(parameter, axis, codes, lost)
        active = parameter.name if len(codes) < len(X) else ""
        found += [replace(place, active=active) for place in places]
    return sorted((place for place in found if place.part), key=lambda place: -place.part)


def _levels(parameter: Parameter, axis: Axis, codes: FloatArray, lost: FloatArray) -> list[Sparse]:
    """Levels of a category in fewer than FEW trials."""
    assert parameter.values is not None
    counts, failed = (
        np.bincount(axis.level(x), minlength=axis.levels).tolist() for x in (codes, lost)
    )
    levels = zip(parameter.values, counts, axis.weights().tolist(), failed, strict=True)
    return [
        Sparse(
            f"{parameter.name} is {number(value, 3)}", count, len(codes), part, "", own, "values"
        )
        for value, count, part, own in levels
        if count < FEW
    ]


def _stretch(parameter: Parameter, codes: FloatArray, lost: FloatArray) -> Sparse:
    """The widest stretch of a continuous axis with fewer than FEW trials; no part if it is small."""
    ends = np.r_[0.0, np.sort(codes), 1.0]
    size = min(FEW, len(ends) - 1)
    wide = ends[size:] - ends[:-size]
    at = int(np.argmax(wide))
    low, high = float(ends[at]), float(ends[at + size])
    first, last = (number(value, 3) for value in parameter.decode(np.array([low, high])))
    said = f"is between {first} and {last}"
    if low <= 0 or high >= 1:
        said = f"is below {last}" if low <= 0 else f"is above {first}"
    inside, failed = (int(((x > low) & (x < high)).sum()) for x in (codes, lost))
    part = _large(float(wide[at]))
    return Sparse(f"{parameter.name} {said}", inside, len(codes), part, failed=failed)


def _run(parameter: Parameter, axis: Axis, codes: FloatArray, lost: FloatArray) -> Sparse:
    """The widest run of ordered levels with fewer than FEW trials; no part if it is small."""
    assert parameter.values is not None
    counts, weights = np.bincount(axis.level(codes), minlength=axis.levels), axis.weights()
    part, start, stop, until = 0.0, 0, 1, 0
    for begin in range(axis.levels):
        until = max(until, begin)
        while until < axis.levels and counts[begin : until + 1].sum() < FEW:
            until += 1
        if weights[begin:until].sum() > part:
            part, start, stop = float(weights[begin:until].sum()), begin, until
    first, last = (number(parameter.values[k], 3) for k in (start, stop - 1))
    said = f"is from {first} to {last}"
    if first == last:
        said = f"is {first}"
    elif start == 0 or stop == axis.levels:
        said = f"is {last} or less" if start == 0 else f"is {first} or more"
    failed = np.bincount(axis.level(lost), minlength=axis.levels)[start:stop].sum()
    inside = int(counts[start:stop].sum())
    return Sparse(f"{parameter.name} {said}", inside, len(codes), _large(part), failed=int(failed))


def _large(part: float) -> float:
    return part if part > LARGE else 0.0


def hardly_active(X: FloatArray) -> BoolArray:
    """Which columns are active in too few rows for anything to be known of them."""
    return np.asarray((~np.isnan(X)).sum(axis=0) < min(FEW, len(X)))
