"""Configurations that are given, each tried as often as it is given, in their order."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hyperlens.optimize.optimizers.ledger import Weigher
from hyperlens.optimize.optimizers.protocol import Candidate
from hyperlens.proposal import Proposal
from hyperlens.spaces.points import same
from hyperlens.spaces.space import Space

Configurations = Sequence[Mapping[str, Any]]


class Queue(Weigher):
    """Asks for configurations that settle an explanation `about` something, until each was tried.

    `before` are those of the trials that there were already: they may be among the given ones, to be
    tried again.

    >>> from hyperlens import Parameter
    >>> queue = Queue(Space.of([Parameter("x", "float", 0, 1)]), [{"x": 0.5}], [{"x": 0.5}], "best")
    >>> queue.tell({"x": 0.5}, 1.0)
    >>> queue.ask().values, queue.ask()
    ({'x': 0.5}, None)
    """

    name = "confirm"

    def __init__(
        self, space: Space, configurations: Configurations, before: Configurations, about: str
    ) -> None:
        super().__init__(space, 0)
        self.vectors, self.before = space.encode(configurations), space.encode(before)
        self.about = about

    def ask(self) -> Candidate | None:
        known = [r.vector for r in self._ledger.results] + [c.vector for c in self._ledger.awaited]
        tried = np.array(known).reshape(-1, len(self.space))
        for k, vector in enumerate(self.vectors):
            wanted = same(self.vectors[: k + 1], vector).sum() + same(self.before, vector).sum()
            if same(tried, vector).sum() < wanted:
                return self._ledger.add(vector, Proposal("confirm", about=self.about))
        return None
