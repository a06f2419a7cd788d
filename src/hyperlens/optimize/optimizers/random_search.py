"""Random search: every configuration drawn by itself, evenly over the space; of several models, one with
more hyperparameters more often (Sarigiannis et al. 2020 Eq. 5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hyperlens.optimize.models.model_sampling import Sampling, sampler
from hyperlens.optimize.optimizers.ledger import Ledger
from hyperlens.optimize.optimizers.protocol import Candidate
from hyperlens.proposal import Proposal
from hyperlens.spaces.space import Space


class RandomSearch:
    """Draws the k-th configuration from the seed and k alone.

    >>> from hyperlens import Parameter
    >>> search = RandomSearch(Space.of([Parameter("x", "float", 0, 1)]))
    >>> search.ask().values["x"] == search.ask().values["x"]
    False
    """

    name = "random"

    def __init__(self, space: Space, *, sampling: Sampling | None = None, seed: int = 0) -> None:
        self.space, self.seed = space, seed
        self._sample = sampler(space, sampling)
        self._ledger = Ledger(space)

    def ask(self) -> Candidate:
        rng = np.random.default_rng([self.seed, 2, self._ledger.number])
        return self._ledger.add(self._sample(1, rng)[0], Proposal("proposed"))

    def expect(self, configuration: Mapping[str, Any], budget: float | None = None) -> None:
        self._ledger.expect(configuration, budget)

    def tell(
        self, configuration: Mapping[str, Any], cost: float, budget: float | None = None
    ) -> None:
        self._ledger.tell(configuration, cost, budget)
