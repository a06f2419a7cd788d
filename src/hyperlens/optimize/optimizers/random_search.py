"""Random search: every configuration drawn by itself, evenly over the space; of several models, one with
more hyperparameters more often (Sarigiannis et al. 2020 Eq. 5)."""

import numpy as np

from hyperlens.optimize.models.model_sampling import Sampling, sampler
from hyperlens.optimize.optimizers.ledger import Weigher
from hyperlens.optimize.optimizers.protocol import Candidate
from hyperlens.proposal import Proposal
from hyperlens.spaces.space import Space


class RandomSearch(Weigher):
    """Draws the k-th configuration from the seed and k alone.

    >>> from hyperlens import Parameter
    >>> search = RandomSearch(Space.of([Parameter("x", "float", 0, 1)]))
    >>> search.ask().values["x"] == search.ask().values["x"]
    False
    """

    name = "random"

    def __init__(self, space: Space, *, sampling: Sampling | None = None, seed: int = 0) -> None:
        super().__init__(space, seed)
        self._sample = sampler(space, sampling)

    def ask(self) -> Candidate:
        rng = np.random.default_rng([self.seed, 2, self._ledger.number])
        return self._ledger.add(self._sample(1, rng)[0], Proposal("proposed"))
