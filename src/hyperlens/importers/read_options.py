"""What the user says of a run: its space, its objective; and values made to fit that space."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np

from hyperlens.errors import SourceError
from hyperlens.spaces.space import GivenSpace, Space


@dataclass(frozen=True)
class ReadOptions:
    """How the user wants a run to be read; nothing where the run itself should tell.

    `objective` is one name or several, the first in front; `maximize` is the direction of the
    first objective, or the names of all that are maximised.
    `lenient` reads a run although a question about it is open, and leaves a note instead.
    """

    study: str | None = None
    space: GivenSpace | None = None
    objective: str | Sequence[str] | None = None
    maximize: bool | Sequence[str] | None = None
    parameters: Sequence[str] | None = None
    lenient: bool = False

    @property
    def objectives(self) -> tuple[str, ...]:
        names = self.objective
        return (names,) if isinstance(names, str) else tuple(names or ())

    def direction(self, name: str, first: bool) -> bool | None:
        """Whether the user wants an objective maximised; None where that was not said."""
        if self.maximize is None or isinstance(self.maximize, bool):
            return self.maximize if first else None
        return name in self.maximize


def parameters_refused() -> SourceError:
    return SourceError(
        "The parameters are those of the space; leave out --parameters (parameters= in Python)."
    )


def settle(
    space: Space, rows: Sequence[dict[str, Any]], finished: Sequence[bool]
) -> tuple[list[int], list[str]]:
    """Drop values of inactive parameters from `rows`; positions that lack no active one; notes.

    A trial that did not finish may have stopped before it set everything, and stays as it is.
    """
    at = np.flatnonzero(finished)
    vectors = space.encode(list(compress(rows, finished)))
    present = ~np.isnan(vectors)
    active = space.cube.active(np.where(present, vectors, 0.5))
    fillers = 0
    for j, parameter in enumerate(space.parameters):
        for i in at[present[:, j] & ~active[:, j]].tolist():
            fillers += rows[i].pop(parameter.name) is not None
    lacking = active & ~present
    broken = at[lacking.any(axis=1)]
    notes = []
    if fillers:
        notes.append(
            f"{fillers} values of parameters that the space's conditions make inactive "
            "were left out."
        )
    if len(broken):
        names = [p.name for j, p in enumerate(space.parameters) if lacking[:, j].any()]
        notes.append(
            f"{len(broken)} of {len(at)} trials lack a value of an active parameter "
            f"({', '.join(names[:5])}{', …' if len(names) > 5 else ''}) and were left out."
        )
    return np.setdiff1d(np.arange(len(rows)), broken).tolist(), notes
