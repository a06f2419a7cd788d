"""What an optimiser knows: results, and what is awaited."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperlens.errors import SpaceError
from hyperlens.optimize.optimizers.protocol import Candidate
from hyperlens.proposal import Proposal
from hyperlens.spaces.cube import FloatArray
from hyperlens.spaces.points import same
from hyperlens.spaces.space import Space
from hyperlens.surrogates.bearable import LARGEST

Configuration = Mapping[str, Any] | FloatArray  # values, or a vector
Cost = float | Sequence[float]  # of one objective, or one of each


@dataclass(frozen=True, eq=False)
class Result:
    """A configuration and its measured cost; nan if it failed.

    `others` are the costs of further objectives, `excess` says by how much each limit was exceeded.
    """

    number: int
    vector: FloatArray
    values: Mapping[str, Any]
    cost: float
    budget: float | None = None
    others: tuple[float, ...] = ()
    excess: tuple[float, ...] = ()

    @property
    def costs(self) -> tuple[float, ...]:
        return self.cost, *self.others


class Ledger:
    """Results in the order told, and candidates whose cost is still unknown."""

    def __init__(self, space: Space) -> None:
        if len(space) == 0:
            raise SpaceError("This space has no parameter to tune; add at least one.")
        self.space = space
        self.results: list[Result] = []
        self.awaited: list[Candidate] = []

    @property
    def number(self) -> int:
        """Of the next candidate: how many configurations there were before it."""
        return len(self.results) + len(self.awaited)

    def add(self, vector: FloatArray, proposal: Proposal) -> Candidate:
        """A configuration that is awaited from now on."""
        values = self.space.decode(vector[None])[0]
        self.awaited.append(Candidate(self.number, vector, values, proposal))
        return self.awaited[-1]

    def expect(self, configuration: Configuration, budget: float | None = None) -> Candidate:
        return self.add(self._vector(configuration), Proposal(budget=budget))

    def tell(
        self,
        configuration: Configuration,
        cost: Cost,
        budget: float | None = None,
        excess: Sequence[float] = (),
    ) -> Result:
        vector, number = self._vector(configuration), self.number
        for candidate in self.awaited:
            same_budget = candidate.proposal.budget == budget
            if same_budget and same(candidate.vector[None], vector)[0]:
                self.awaited.remove(candidate)
                vector, number = candidate.vector, candidate.number
                break
        values = self.space.decode(vector[None])[0]
        costs = np.atleast_1d(np.asarray(cost, dtype=np.float64))
        bad = not np.isfinite(costs).all() or (costs > LARGEST).any()  # too large to compute with
        first, *others = np.full(len(costs), np.nan) if bad else np.maximum(costs, -LARGEST)
        limits = tuple(float(e) if np.isfinite(e) else np.nan for e in excess)
        result = Result(
            number, vector, values, float(first), budget, tuple(map(float, others)), limits
        )
        self._check(result)
        self.results.append(result)
        return result

    def _check(self, result: Result) -> None:
        """All results have the same objectives and limits."""
        shape = len(result.others), len(result.excess)
        for before in self.results[:1]:
            if shape != (len(before.others), len(before.excess)):
                raise SpaceError(
                    f"A result has {1 + shape[0]} costs and {shape[1]} limits, and those before it "
                    f"{len(before.costs)} and {len(before.excess)}; tell the same of all."
                )

    def _vector(self, configuration: Configuration) -> FloatArray:
        """The configuration as a vector, if it is one of the space."""
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


class Learner:
    """Keeps what is told and what is awaited in a ledger: the half of all optimisers that is alike."""

    def __init__(self, space: Space, seed: int) -> None:
        self.space, self.seed = space, seed
        self._ledger = Ledger(space)

    def expect(self, configuration: Configuration, budget: float | None = None) -> Candidate:
        """Someone is evaluating this already: await it as if it had been asked for."""
        return self._ledger.expect(configuration, budget)

    def withdraw(self, candidate: Candidate) -> None:
        """Someone else was quicker: as if this had not been asked for."""
        self._ledger.awaited.remove(candidate)

    def tell(self, configuration: Configuration, cost: float, budget: float | None = None) -> None:
        """Learn the cost of values or of a vector, asked for or not. A cost of nan is a failure."""
        self._ledger.tell(configuration, cost, budget)


class Weigher(Learner):
    """Keeps several costs of each result too, and by how much it exceeds limits."""

    def tell(
        self,
        configuration: Configuration,
        cost: Cost,
        budget: float | None = None,
        excess: Sequence[float] = (),
    ) -> None:
        """Learn the cost of values or of a vector, asked for or not; of several objectives one each.
        A cost of nan is a failure. `excess` says by how much each limit is exceeded, if any are set."""
        self._ledger.tell(configuration, cost, budget, excess)
