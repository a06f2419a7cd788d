"""Where a new point would add to what a front dominates: disjoint boxes below a reference point.

A sweep along the last objective: between two neighbouring values of it, what is free is the same in the
others, and a box stays open for as long as it is. Of n points this leaves n + 1 boxes of two
objectives, and about 2 n of three (Lacour et al. 2017 have as many).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hyperlens.spaces.cube import FloatArray

Box = tuple[tuple[float, float], ...]  # from, to in each objective


@dataclass(frozen=True, eq=False)
class FreeBoxes:
    """Lower and upper corners (b, m) of boxes that no point of a front dominates."""

    lower: FloatArray
    upper: FloatArray

    @staticmethod
    def of(points: FloatArray, reference: FloatArray) -> FreeBoxes:
        """Of points (n, m), minimised, up to a reference point (m,).

        >>> boxes = FreeBoxes.of(np.array([[1.0, 2.0]]), np.array([3.0, 3.0]))
        >>> boxes.upper.tolist()
        [[3.0, 2.0], [1.0, 3.0]]
        """
        inside = points[(points < reference).all(axis=1)]
        boxes = _boxes(sorted(map(tuple, inside.tolist())), tuple(reference.tolist()))
        corners = np.array(boxes, dtype=np.float64)
        return FreeBoxes(corners[:, :, 0], corners[:, :, 1])


def _boxes(points: list[tuple[float, ...]], reference: tuple[float, ...]) -> list[Box]:
    if len(reference) == 1:
        return [((-np.inf, min([reference[0], *(p[0] for p in points)])),)]
    closed: list[Box] = []
    opened = dict.fromkeys(_boxes([], reference[:-1]), -np.inf)
    for level in sorted({p[-1] for p in points}):
        below = [p[:-1] for p in points if p[-1] <= level]
        now = _boxes(below, reference[:-1])
        kept = set(now)
        closed += [(*box, (start, level)) for box, start in opened.items() if box not in kept]
        opened = {box: opened.get(box, level) for box in now}
    return closed + [(*box, (start, reference[-1])) for box, start in opened.items()]
