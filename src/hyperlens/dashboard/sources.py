"""What the page was started on. Requests name a run by its number alone, never by a path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Source:
    """A run or a storage of runs, and how it is to be read; all of it from the command line."""

    where: str
    study: str | None = None
    space: str | None = None
    objective: str | None = None
    maximize: bool | None = None


@dataclass(frozen=True)
class Run:
    """One run of a source: its study, if the source is a storage."""

    source: int
    study: str | None
    title: str


@dataclass(frozen=True)
class Seen:
    """What is known of a run before anything is computed; plain values only."""

    version: str  # a digest of everything that was read
    title: str
    trials: int
    analysed: int
    parameters: tuple[str, ...]
    objectives: tuple[str, ...]
    budgets: tuple[float, ...]
    explained: tuple[int, ...]  # numbers of trials whose proposal can be explained
    recorded: bool  # by the surrogate that proposed them
    took: float  # seconds of reading

    def public(self) -> dict[str, Any]:
        """What the page is told."""
        names = ("version", "title", "trials", "analysed", "parameters", "objectives", "budgets")
        return {name: getattr(self, name) for name in (*names, "explained", "recorded")}
