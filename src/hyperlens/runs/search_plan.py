"""What a search over models was told before it began, and how a storage keeps that."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class SearchPlan:
    """How models were drawn, each one's chance in a draw, and the evaluations at full budget in all.

    `sampling` is the name of a rule, or "given" where the chances were; None is what is unknown.
    """

    sampling: str
    weights: Mapping[str, float]
    evaluations: float | None = None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_dict(stored: object) -> SearchPlan | None:
        """The plan of a stored form; None if it cannot be understood.

        >>> SearchPlan.from_dict({"sampling": "uniform", "weights": {"SVC": 0.5, "KNN": 0.5}})
        SearchPlan(sampling='uniform', weights={'SVC': 0.5, 'KNN': 0.5}, evaluations=None)
        """
        if not isinstance(stored, Mapping):
            return None
        weights: Any = stored.get("weights")
        evaluations: Any = stored.get("evaluations")
        if not isinstance(weights, Mapping) or not all(map(_is_number, weights.values())):
            return None
        return SearchPlan(
            str(stored.get("sampling", "unknown")),
            {str(model): float(weight) for model, weight in weights.items()},
            float(evaluations) if _is_number(evaluations) else None,
        )


def _is_number(stored: Any) -> bool:
    known = isinstance(stored, (int, float)) and not isinstance(stored, bool)
    return known and math.isfinite(stored) and stored >= 0
