"""What every optimiser is: it is asked for a configuration, and told its cost.

`ask` may depend only on the seed, on what was told, in its order, and on what is awaited. That is
what makes a run resumable: whoever runs the loop tells a new optimiser what its storage holds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from hyperlens.proposal import Proposal
from hyperlens.spaces.cube import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Candidate:
    """A configuration to evaluate, and what the optimiser thought of it.

    It holds a `Proposal` instead of being one: a stored trial has its number and values elsewhere and
    no vector, and what is kept with it can be compared and written down as it is.
    """

    number: int
    vector: FloatArray
    values: Mapping[str, Any]
    proposal: Proposal = field(default_factory=Proposal)
    rows: IntArray | None = None  # of what was told, those it was learnt from; None for all

    def recorded(
        self, learned: Sequence[int], awaited: Sequence[int], optimizer: str | None = None
    ) -> Proposal:
        """The proposal with the numbers of trials, where these were told and those are awaited."""
        rows = range(len(learned)) if self.rows is None else self.rows
        return self.proposal.after((learned[k] for k in rows), awaited, optimizer)


class Optimizer(Protocol):
    """Minimises a cost by ask and tell. A `budget` is given where proposals carry one."""

    name: str

    def ask(self) -> Candidate | None:
        """The next configuration, awaited from now on; None if something must be told first, or,
        with nothing awaited, if the search is over."""

    def expect(
        self, configuration: Mapping[str, Any], budget: float | None = None
    ) -> Candidate | None:
        """Someone is evaluating this already: await it as if it had been asked for. What is awaited,
        if that can be withdrawn."""

    def tell(
        self, configuration: Mapping[str, Any], cost: Any, budget: float | None = None
    ) -> None:
        """The cost of a configuration, asked for or not; nan if it failed."""


class Weighing(Protocol):
    """What an optimiser has besides if it can be told several costs, and excesses over limits."""

    def tell(
        self,
        configuration: Mapping[str, Any],
        cost: float | Sequence[float],
        budget: float | None = None,
        excess: Sequence[float] = (),
    ) -> None:
        """One cost of each objective, and by how much each limit is exceeded."""


@runtime_checkable
class Withdrawing(Protocol):
    """What an optimiser has besides if several processes may search with it at once."""

    def withdraw(self, candidate: Candidate) -> None:
        """Someone else was quicker: as if this had not been asked for."""


@runtime_checkable
class Racing(Protocol):
    """What an optimiser has besides if its configurations go on by rungs, and most of them do not.

    Each has a place of its own in the race, its `entry`, by which it is told from others of the same
    values. Where no entry is given, or it is another race's, values and budget say which it is.
    """

    configurations: int | None  # how many it will try in all, where it knows

    def expect(
        self,
        configuration: Mapping[str, Any],
        budget: float | None = None,
        entry: str | None = None,
    ) -> Candidate | None:
        """Someone is evaluating this already: await it as if it had been asked for."""

    def tell(
        self,
        configuration: Mapping[str, Any],
        cost: float,
        budget: float | None = None,
        entry: str | None = None,
    ) -> None:
        """The cost of a configuration at a budget, asked for or not; nan if it failed."""

    def withdraw(self, candidate: Candidate) -> None:
        """Someone else was quicker: as if this had not been asked for."""

    def dropped(self) -> list[tuple[str, Mapping[str, Any]]]:
        """Entries that will not go on, and their values, since this was asked last."""
