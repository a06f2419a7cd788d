"""What the user says of a run: its space, its objective; and values made to fit that space."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any

import numpy as np

from hyperlens.errors import SourceError
from hyperlens.spaces.space import GivenSpace, Space

_DIRECTED = re.compile(r"(?P<name>.+):(?P<to>min|max)(imi[sz]e)?")
Directions = bool | Sequence[str] | Mapping[str, bool]


@dataclass(frozen=True)
class ReadOptions:
    """How the user wants a run to be read; nothing where the run itself should tell.

    `objective` is one name or several, the first in front, each perhaps with its direction as in
    `latency:min`; `maximize` is the direction of the first objective, the names of all that are
    maximised, or the direction of each by its name. `constraint` is one limit or several, as in
    `latency < 20`. `step` is the column of a table that holds the step of learning curves.
    `lenient` reads a run although a question about it is open, and leaves a note instead. `followed` is
    what an earlier reading of the same study left: then only what is new is read.
    """

    study: str | None = None
    space: GivenSpace | None = None
    objective: str | Sequence[str] | None = None
    maximize: Directions | None = None
    parameters: Sequence[str] | None = None
    constraint: str | Sequence[str] | None = None
    step: str | None = None
    lenient: bool = False
    followed: Any = field(default=None, compare=False)  # importers.optuna.following.Followed

    @property
    def objectives(self) -> tuple[str, ...]:
        """Names alone."""
        return tuple(name for name, _ in self._named)

    @property
    def constraints(self) -> tuple[str, ...]:
        return _each(self.constraint)

    @property
    def _named(self) -> tuple[tuple[str, bool | None], ...]:
        return tuple(map(directed_name, _each(self.objective)))

    def direction(self, name: str, first: bool) -> bool | None:
        """Whether the user wants an objective maximised; None where that was not said."""
        if (own := self.written(name)) is not None:
            return own
        if self.maximize is None or isinstance(self.maximize, bool):
            return self.maximize if first else None
        if isinstance(self.maximize, Mapping):
            return self.maximize.get(name)
        return name in self.maximize

    def written(self, name: str) -> bool | None:
        """The direction that stands behind the name itself."""
        return dict(self._named).get(name)


def _each(texts: str | Sequence[str] | None) -> tuple[str, ...]:
    return (texts,) if isinstance(texts, str) else tuple(texts or ())


def directed_name(text: str) -> tuple[str, bool | None]:
    """An objective's name and whether it is maximised; None where that is not said.

    >>> directed_name("latency:min"), directed_name("loss")
    (('latency', False), ('loss', None))
    """
    match = _DIRECTED.fullmatch(text)
    return (match["name"], match["to"] == "max") if match else (text, None)


def parameters_refused() -> SourceError:
    return SourceError(
        "The parameters are those of the space; leave out --parameters (parameters= in Python)."
    )


def step_refused(source: str) -> SourceError:
    return SourceError(
        f"{source[:1].upper()}{source[1:]} knows its steps; leave out --step (step= in Python)."
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
