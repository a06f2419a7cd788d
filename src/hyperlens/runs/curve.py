"""A learning curve: what one trial measured on its way to its end.

s   reports, at rising steps (epochs, iterations, or the budgets of a race's rungs)
k   objectives of the run
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperlens.spaces.cube import FloatArray


@dataclass(frozen=True, eq=False)
class Curve:
    """`steps` (s,), rising, and what each objective was there, `values` (s, k), as the user measured
    it, nan where it is unknown."""

    steps: FloatArray
    values: FloatArray

    @staticmethod
    def of(reports: Iterable[tuple[float, Sequence[float]]]) -> Curve | None:
        """A curve of pairs of a step and its values; of one step the last report counts. None where
        there is no report at a finite step.

        >>> Curve.of([(2, (0.5,)), (1, (0.9,)), (2, (0.4,))])
        <Curve: 2 steps from 1 to 2>
        """
        known = {float(step): values for step, values in reports if math.isfinite(step)}
        if not known:
            return None
        steps = sorted(known)
        return Curve(np.array(steps), np.array([known[step] for step in steps], dtype=float))

    @staticmethod
    def raced(
        steps: Mapping[int, float], rungs: object, budget: float | None, cost: float
    ) -> Curve | None:
        """The curve of a stored trial of one objective, out of its intermediate values by step.

        Those of our own races are by rung: each has the rung's budget, and the cost of the whole stands
        at the last.
        """
        if not isinstance(rungs, Sequence):
            return Curve.of((step, (value,)) for step, value in steps.items())
        known = [(float(b), (steps[k],)) for k, b in enumerate(rungs) if k in steps]
        last = [] if budget is None or not math.isfinite(cost) else [(budget, (cost,))]
        return Curve.of([*known, *last])

    def __repr__(self) -> str:
        steps = "1 step" if len(self.steps) == 1 else f"{len(self.steps)} steps"
        return f"<Curve: {steps} from {self.steps[0]:g} to {self.steps[-1]:g}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Curve):
            return NotImplemented
        same = np.array_equal(self.steps, other.steps)
        return same and np.array_equal(self.values, other.values, equal_nan=True)

    __hash__ = None  # type: ignore[assignment]  # as of arrays

    @property
    def last(self) -> float:
        """The step of the last report."""
        return float(self.steps[-1])

    def ordered(self, order: Sequence[int]) -> Curve:
        """With the objectives in another order, or some of them."""
        return Curve(self.steps, self.values[:, list(order)])

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON; what is not finite as its text."""
        rows = [[v if math.isfinite(v) else str(v) for v in row] for row in self.values.tolist()]
        return {"steps": self.steps.tolist(), "values": rows}

    @staticmethod
    def from_dict(stored: object) -> Curve | None:
        """What `to_dict` wrote; None where that is nothing."""
        if not isinstance(stored, Mapping):
            return None
        rows = [[float(value) for value in row] for row in stored["values"]]
        return Curve.of(zip(map(float, stored["steps"]), rows, strict=True))
