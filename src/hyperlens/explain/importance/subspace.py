"""The subspace of important parameters: what to go on searching (Hutter et al. 2014 section 4.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hyperlens.errors import AnalysisError
from hyperlens.record import Record
from hyperlens.runs.history import History
from hyperlens.spaces.space import Space
from hyperlens.words import counted, first_few, percent

if TYPE_CHECKING:
    from ConfigSpace import ConfigurationSpace
    from optuna.distributions import BaseDistribution

MOST_NAMES = 5  # of kept parameters that a sentence names
KNOWN = 0.8  # a total of the listed effects below this is worth a note


@dataclass(frozen=True)
class Subspace(Record):
    """Parameters to keep, values to fix the others at, and the reduced space ready to search."""

    keep: tuple[str, ...]
    fixed: dict[str, Any]
    coverage: float  # share of the variance that effects of the kept parameters explain
    asked: float  # of what all listed effects explain
    notes: tuple[str, ...]
    space: Space = field(repr=False, compare=False)

    @property
    def configspace(self) -> ConfigurationSpace:
        return self.space.configspace

    @property
    def distributions(self) -> dict[str, BaseDistribution]:
        """The kept parameters as Optuna's distributions."""
        return {p.name: _distribution(p) for p in self.space.parameters}

    @property
    def sentence(self) -> str:
        """Which parameters to go on with, and what they cover."""
        few = f"{len(self.keep)} of {counted(len(self.keep) + len(self.fixed), 'parameter')}"
        return (
            f"{few} cover {percent(self.coverage)} of the variance: "
            f"{first_few(list(self.keep), MOST_NAMES)}. The others are fixed."
        )

    def _columns(self) -> dict[str, Any]:
        return {
            "parameter": [*self.keep, *self.fixed],
            "keep": [True] * len(self.keep) + [False] * len(self.fixed),
            "value": [None] * len(self.keep) + list(self.fixed.values()),
        }


def important_subspace(
    history: History,
    shares: Mapping[tuple[str, ...], float],
    coverage: float,
    objective: str | None = None,
) -> Subspace:
    """Add the parameter that covers most, until effects among those kept reach `coverage`.

    A conditional parameter brings its ancestors along. The others are fixed at the best trial's values,
    at their default where that trial leaves them inactive.
    """
    if not 0 < coverage <= 1:
        raise AnalysisError(
            f"A coverage of {coverage} is not a share; choose one above 0, up to 1."
        )
    if not sum(shares.values()) > 0:
        raise AnalysisError(
            "No share of the variance is known, so no subspace can be chosen; run more trials."
        )
    space = history.space
    total = sum(shares.values())
    kept: set[str] = set()

    def covered(names: set[str]) -> float:
        return sum(share for effect, share in shares.items() if set(effect) <= names)

    while covered(kept) < coverage * total - 1e-12:
        options = {name: kept | _with_ancestors(space, name) for name in space.names}
        gains = {
            name: (covered(more) - covered(kept)) / len(more - kept)
            for name, more in options.items()
            if more - kept
        }
        alone = {name: shares.get((name,), 0.0) for name in gains}
        kept = options[max(gains, key=lambda name: (gains[name], alone[name]))]
    best = history.best(objective).values
    keep = tuple(name for name in space.names if name in kept)
    fixed = {p.name: best.get(p.name, p.default) for p in space.parameters if p.name not in kept}
    notes: tuple[str, ...] = ()
    if total < KNOWN:
        notes = (
            f"The listed effects explain {total:.0%} of the variance; what interactions of higher order "
            "need is not known, so search the whole space again if this one disappoints.",
        )
    return Subspace(keep, fixed, covered(kept), coverage, notes, space.restricted(keep, fixed))


def _with_ancestors(space: Space, name: str) -> set[str]:
    column = space.column(name)
    return {name} | {space.names[j] for j in space.cube.ancestors(column)}


def _distribution(parameter: Any) -> BaseDistribution:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if parameter.kind == "float":
        return FloatDistribution(parameter.lower, parameter.upper, log=parameter.log)
    if parameter.kind == "integer":
        return IntDistribution(int(parameter.lower), int(parameter.upper), log=parameter.log)
    return CategoricalDistribution(parameter.choices)
