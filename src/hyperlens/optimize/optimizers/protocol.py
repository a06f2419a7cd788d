"""What every optimiser is: it is asked for a configuration, and told its cost.

`ask` may depend only on the seed, on what was told, in its order, and on what is awaited. That is
what makes a run resumable: whoever runs the loop tells a new optimiser what its storage holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, Protocol, runtime_checkable

from hyperlens.spaces.cube import FloatArray


@dataclass(frozen=True, eq=False)
class Proposal:
    """A configuration to evaluate, and what the optimiser thought of it.

    What concerns the surrogate is None where none was asked. `std` includes the noise; `bound` is
    mean - tau std; `score` is the acquisition's value, the bound or the expected improvement on
    `best`, the smallest mean at a vector told. All are of the minimised cost.
    """

    number: int
    kind: Literal["initial", "proposed"]
    vector: FloatArray
    values: Mapping[str, Any]
    resource: float | None = None  # how much of it the evaluation may use, if the method says
    rung: int | None = None  # how often this configuration had gone on before
    final: bool = True  # False if it is to wait for others and may then go on
    entry: str | None = None  # which place of a race it takes, the same in every process
    acquisition: str | None = None
    tau: float | None = None
    told: int = 0  # results that the surrogate had learned from
    awaited: tuple[int, ...] = ()  # proposals whose costs it had to guess by their means
    mean: float | None = None
    std: float | None = None
    bound: float | None = None
    score: float | None = None
    best: float | None = None
    surrogate: Mapping[str, Any] | None = None  # its name and parameters

    def to_dict(self) -> dict[str, Any]:
        """What is kept with the trial beside its values."""
        apart = ("number", "vector", "values", "told", "awaited")
        kept = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in apart}
        if self.resource is None:
            del kept["resource"], kept["rung"], kept["final"], kept["entry"]
        if self.surrogate is not None:
            kept["surrogate"] = dict(self.surrogate)
        return kept


class Optimizer(Protocol):
    """Minimises a cost by ask and tell. A `resource` is given where proposals carry one."""

    name: str

    def ask(self) -> Proposal | None:
        """The next configuration, awaited from now on; None if something must be told first, or,
        with nothing awaited, if the search is over."""

    def expect(self, configuration: Mapping[str, Any], resource: float | None = None) -> None:
        """Someone is evaluating this already: await it as if it had been asked for."""

    def tell(
        self, configuration: Mapping[str, Any], cost: float, resource: float | None = None
    ) -> None:
        """The cost of a configuration, asked for or not; nan if it failed."""


@runtime_checkable
class Racing(Protocol):
    """What an optimiser has besides if its configurations go on by rungs, and most of them do not."""

    configurations: int | None  # how many it will try in all, where it knows

    def dropped(self) -> list[Mapping[str, Any]]:
        """Configurations that will not go on, since this was asked last."""
