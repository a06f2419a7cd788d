"""What the user says of a run: its space, its objective; and values made to fit that space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyperlens.errors import SourceError
from hyperlens.spaces.space import GivenSpace, Space, as_space

__all__ = ["GivenSpace", "ReadOptions", "as_space", "parameters_refused", "settle"]


@dataclass(frozen=True)
class ReadOptions:
    """How the user wants a run to be read; nothing where the run itself should tell.

    `maximize` is the direction of the first objective, or the names of all that are maximised.
    `lenient` reads a run although a question about it is open, and leaves a note instead.
    """

    study: str | None = None
    space: GivenSpace | None = None
    objectives: tuple[str, ...] = ()
    maximize: bool | frozenset[str] | None = None
    parameters: tuple[str, ...] = ()
    lenient: bool = False

    @staticmethod
    def of(
        study: str | None = None,
        space: GivenSpace | None = None,
        objective: str | Sequence[str] | None = None,
        maximize: bool | Sequence[str] | None = None,
        parameters: Sequence[str] | None = None,
        lenient: bool = False,
    ) -> ReadOptions:
        """What `read` and `validate` take."""
        objectives = (objective,) if isinstance(objective, str) else tuple(objective or ())
        if not (maximize is None or isinstance(maximize, bool)):
            larger: bool | frozenset[str] | None = frozenset(maximize)
        else:
            larger = maximize
        return ReadOptions(study, space, objectives, larger, tuple(parameters or ()), lenient)

    def direction(self, name: str, first: bool) -> bool | None:
        """Whether the user wants an objective maximised; None where that was not said."""
        if isinstance(self.maximize, frozenset):
            return name in self.maximize
        return self.maximize if first else None


def parameters_refused() -> SourceError:
    return SourceError(
        "The parameters are those of the space; leave out --parameters (parameters= in Python)."
    )


def settle(space: Space, rows: Sequence[dict[str, Any]]) -> tuple[list[int], list[str]]:
    """Drop values of inactive parameters from `rows`; positions that lack no active one; notes."""
    vectors = space.encode(rows)
    present = ~np.isnan(vectors)
    active = space.cube.active(np.where(present, vectors, 0.5))
    fillers = 0
    for j, parameter in enumerate(space.parameters):
        for i in np.flatnonzero(present[:, j] & ~active[:, j]).tolist():
            fillers += rows[i].pop(parameter.name) is not None
    lacking = active & ~present
    whole = np.flatnonzero(~lacking.any(axis=1))
    notes = []
    if fillers:
        notes.append(
            f"{fillers} values of parameters that the space's conditions make inactive "
            "were left out."
        )
    if len(whole) < len(rows):
        names = [p.name for j, p in enumerate(space.parameters) if lacking[:, j].any()]
        notes.append(
            f"{len(rows) - len(whole)} of {len(rows)} trials lack a value of an active parameter "
            f"({', '.join(names[:5])}{', …' if len(names) > 5 else ''}) and were left out."
        )
    return whole.tolist(), notes
