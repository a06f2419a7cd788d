"""Parts of an axis that a split makes, and boxes as rules on the user's own scale."""

from collections.abc import Mapping

import numpy as np

from hyperlens.spaces.cube import WHOLE, Axis, BoolArray, FloatArray, Runs
from hyperlens.spaces.parameter import Parameter
from hyperlens.spaces.space import Space


def sides(parameter: Parameter, axis: Axis, x: FloatArray, left: BoolArray) -> tuple[Runs, Runs]:
    """The two parts of an axis that a split makes, at a round value between the nearest points."""
    if axis.codes is not None and not axis.ordered:
        levels = set(axis.level(x[left]).tolist())
        assert parameter.values is not None
        chosen = parameter.runs("in", [parameter.values[k] for k in sorted(levels)])
        return chosen, _complement(chosen)
    if axis.codes is not None:
        assert axis.edges is not None
        cut = float(axis.edges[int(axis.level(x[left]).max()) + 1])
    else:
        low, high = float(x[left].max()), float(x[~left].min())
        cut = _round_between(parameter, low, high)
    return ((0.0, cut),), ((cut, 1.0),)


def _complement(runs: Runs) -> Runs:
    ends = [0.0, *(end for run in runs for end in run), 1.0]
    pairs = zip(ends[::2], ends[1::2], strict=True)
    return tuple((low, high) for low, high in pairs if high > low)


def _round_between(parameter: Parameter, low: float, high: float) -> float:
    """Code of the value with fewest digits that lies between two codes."""
    a, b = parameter.decode(np.array([low, high]))
    middle = parameter.decode(np.array([(low + high) / 2]))[0]
    for digits in range(1, 17):
        value = float(f"{middle:.{digits}g}")
        if a < value < b:
            return float(parameter.encode([value])[0])
    return (low + high) / 2


def rule_in_words(space: Space, box: Mapping[int, Runs]) -> str:
    """A box on the user's own scale: "weight_decay <= 0.01 and optimizer is adam"."""
    said = [_clause(space.parameters[j], runs) for j, runs in sorted(box.items())]
    return " and ".join(part for part in said if part) or "everywhere"


def _clause(parameter: Parameter, runs: Runs) -> str:
    if runs == WHOLE:
        return ""
    axis = parameter.axis
    if axis.codes is not None:
        assert parameter.values is not None
        inside = [v for v, w in zip(parameter.values, axis.weights(runs), strict=True) if w > 0]
        if not axis.ordered:
            return f"{parameter.name} is {' or '.join(map(str, inside))}"
        first, last = inside[0], inside[-1]
        if first == last:
            return f"{parameter.name} is {first}"
        if first == parameter.values[0]:
            return f"{parameter.name} <= {last}"
        if last == parameter.values[-1]:
            return f"{parameter.name} >= {first}"
        return f"{first} <= {parameter.name} <= {last}"
    low, high = runs[0][0], runs[-1][1]
    a, b = (f"{v:.6g}" for v in parameter.decode(np.array([low, high])))
    if low <= 0:
        return f"{parameter.name} <= {b}"
    if high >= 1:
        return f"{parameter.name} > {a}"
    return f"{a} < {parameter.name} <= {b}"
