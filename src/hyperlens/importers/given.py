"""A space that the user gave, and a run's values made to fit its conditions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import numpy as np

from hyperlens.errors import SpaceError
from hyperlens.space import Space

if TYPE_CHECKING:
    from ConfigSpace import ConfigurationSpace

GivenSpace: TypeAlias = Union[Space, "ConfigurationSpace", str, Path]


def as_space(given: GivenSpace) -> Space:
    """Our view of a space in any form that a user may hold."""
    if isinstance(given, Space):
        return given
    if isinstance(given, (str, Path)):
        return Space.load(given)
    if hasattr(given, "parent_conditions_of"):
        return Space(given)
    raise SpaceError(
        f"A {type(given).__name__} is not a search space; give a ConfigSpace, or the path of its "
        "JSON or YAML file."
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
