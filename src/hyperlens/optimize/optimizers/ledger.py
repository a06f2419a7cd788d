"""What an optimiser knows: what was told, and what is awaited."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperlens.errors import SpaceError
from hyperlens.optimize.optimizers.protocol import Proposal
from hyperlens.spaces.cube import BoolArray, FloatArray
from hyperlens.spaces.space import Space

SAME = 1e-9  # coordinates closer than this are one


@dataclass(frozen=True, eq=False)
class Told:
    """A configuration and its measured cost; nan if it failed."""

    vector: FloatArray
    values: Mapping[str, Any]
    cost: float
    resource: float | None = None


class Ledger:
    """Results in the order told, and proposals whose cost is still unknown."""

    def __init__(self, space: Space) -> None:
        if len(space) == 0:
            raise SpaceError("This space has no parameter to tune; add at least one.")
        self.space = space
        self.told: list[Told] = []
        self.awaited: list[Proposal] = []

    @property
    def number(self) -> int:
        """Of the next proposal: how many configurations there were before it."""
        return len(self.told) + len(self.awaited)

    def expect(
        self, configuration: Mapping[str, Any] | FloatArray, resource: float | None = None
    ) -> None:
        vector = self._vector(configuration)
        values = self.space.decode(vector[None])[0]
        self.awaited.append(Proposal(self.number, "proposed", vector, values, resource))

    def tell(
        self,
        configuration: Mapping[str, Any] | FloatArray,
        cost: float,
        resource: float | None = None,
    ) -> Told:
        vector = self._vector(configuration)
        matching = [
            p for p in self.awaited if p.resource == resource and same(p.vector[None], vector)[0]
        ]
        if matching:
            self.awaited.remove(matching[0])
            vector = matching[0].vector
        values = self.space.decode(vector[None])[0]
        told = Told(vector, values, float(cost) if np.isfinite(cost) else np.nan, resource)
        self.told.append(told)
        return told

    def _vector(self, configuration: Mapping[str, Any] | FloatArray | Proposal) -> FloatArray:
        """The configuration as a vector, if it is one of the space."""
        if isinstance(configuration, Proposal):
            configuration = configuration.vector
        if isinstance(configuration, Mapping):
            vector: FloatArray = self.space.encode([configuration])[0]
        else:
            vector = np.array(configuration, dtype=np.float64)
            if vector.shape != (len(self.space),):
                raise SpaceError(
                    f"A vector has shape {vector.shape}; this space needs ({len(self.space)},)."
                )
        if len(self.space.misfits(vector[None])):
            raise SpaceError(
                f"The configuration {self.space.decode(vector[None])[0]} contradicts the space's "
                "conditions; give exactly the parameters that are active."
            )
        return vector


def same(vectors: FloatArray, vector: FloatArray) -> BoolArray:
    """Which rows are this vector; two inactive coordinates are the same."""
    near = np.abs(vectors - vector) < SAME
    return np.asarray((near | (np.isnan(vectors) & np.isnan(vector))).all(axis=1))
