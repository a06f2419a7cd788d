"""Random search: every configuration drawn by itself, evenly over the space; of several models, one with
more hyperparameters more often (Sarigiannis et al. 2020 Eq. 5)."""

import numpy as np

from hyperlens.optimize.models.model_sampling import Sampling, sampler
from hyperlens.optimize.optimizers.ledger import Weigher
from hyperlens.optimize.optimizers.protocol import Candidate
from hyperlens.proposal import Proposal
from hyperlens.spaces.cube import FloatArray
from hyperlens.spaces.points import same
from hyperlens.spaces.space import GivenSpace, as_space


class RandomSearch(Weigher):
    """Draws the k-th configuration from the seed and k alone, or the next that nobody has drawn: another
    process of the same search may be ahead by one that was withdrawn.

    >>> from hyperlens import Parameter, Space
    >>> search = RandomSearch(Space.of([Parameter("x", "float", 0, 1)]))
    >>> search.ask().values["x"] == search.ask().values["x"]
    False
    """

    name = "random"

    def __init__(
        self, space: GivenSpace, *, sampling: Sampling | None = None, seed: int = 0
    ) -> None:
        space = as_space(space)
        super().__init__(space, seed)
        self._sample = sampler(space, sampling)

    def ask(self) -> Candidate:
        number = self._ledger.number
        while self._drawn(vector := self._of(number)):
            number += 1
        return self._ledger.add(vector, Proposal("proposed"))

    def _of(self, number: int) -> FloatArray:
        vector: FloatArray = self._sample(1, np.random.default_rng([self.seed, 2, number]))[0]
        return vector

    def _drawn(self, vector: FloatArray) -> bool:
        """Was it drawn before? Chance repeats a configuration only where nothing of it is continuous."""
        free = [axis.codes is None for axis in self.space.cube.axes]
        if not (free & ~np.isnan(vector)).any():
            return False
        known = [result.vector for result in self._ledger.results]
        known += [candidate.vector for candidate in self._ledger.awaited]
        return bool(known) and bool(same(np.array(known), vector).any())
