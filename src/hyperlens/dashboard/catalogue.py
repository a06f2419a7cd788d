"""What the page was started on. Requests name a run by its number alone, never by a path."""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any


@dataclass(frozen=True)
class Source:
    """A run or a storage of runs, and how it is to be read; all of it from the command line."""

    where: str
    study: str | None = None
    space: str | None = None
    objective: str | tuple[str, ...] | None = None
    maximize: bool | None = None
    constraint: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for name in (
            "objective",
            "constraint",
        ):  # the command line hands lists over, without a hash
            if isinstance(given := getattr(self, name), list):
                object.__setattr__(self, name, tuple(given))


@dataclass(frozen=True)
class Part:
    """What a page wants of a run: other costs, another direction, trials that meet a condition, limits.

    Nothing leaves it to the command line, and that to the run.
    """

    cost: tuple[str, ...] = ()
    maximize: bool | None = None
    where: str | None = None
    limits: tuple[str, ...] = ()


WHOLE = Part()


@dataclass(frozen=True)
class Run:
    """One run of a source: its study, if the source is a storage. It may get another title.

    `size` is what the source tells of it unread: how many trials, the best, when it changed.
    """

    source: int
    study: str | None
    title: str = field(compare=False)
    size: dict[str, Any] | None = field(default=None, compare=False)


def key_of(source: Source, run: Run) -> str:
    """A short digest of where a run is: the same whatever else the page is started on.

    >>> source = Source("runs.db")
    >>> key_of(source, Run(0, "one", "one")) == key_of(source, Run(3, "one", "one (runs.db)"))
    True
    """
    text = f"{source.where}\n{run.study or source.study or ''}"
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=5).hexdigest()


@dataclass(frozen=True)
class RunState:
    """What is known of a run before anything is computed; plain values only."""

    title: str
    version: str = ""  # a digest of everything that was read
    trials: int = 0
    analysed: int = 0
    best: float | None = None  # of the first objective, where it is the only one
    parameters: tuple[str, ...] = ()
    objectives: tuple[tuple[str, bool], ...] = ()  # with whether each is maximised
    budgets: tuple[float, ...] = ()
    explained: tuple[int, ...] = ()  # numbers of trials whose proposal can be explained
    recorded: bool = False  # by the surrogate that proposed them
    models: bool = False  # is it a search over models that says how it drew them?
    seconds: float = 0.0  # that reading took

    def public(self) -> dict[str, Any]:
        """What the page is told."""
        names = ("version", "title", "trials", "analysed", "parameters", "objectives")
        told = {name: getattr(self, name) for name in (*names, "explained", "recorded", "models")}
        return told | {
            "budgets": [b for b in self.budgets if math.isfinite(b)]
        }  # JSON has no others

    @property
    def size(self) -> dict[str, Any]:
        """What a list of runs shows of it."""
        many = len(self.objectives)
        return {"trials": self.trials, "objectives": many, "best": self.best}


def labels(places: Sequence[str]) -> list[str]:
    """The last part of each place, with as much before it as tells it from the others.

    >>> labels(["a/run_1", "b/run_1", "sqlite:///two.db"])
    ['a/run_1', 'b/run_1', 'two.db']
    """
    paths = [place.removeprefix("sqlite:///") for place in places]
    parts = [PurePath(p.split("://")[-1].split("@")[-1] if "://" in p else p).parts for p in paths]
    texts = []
    for k, (place, own) in enumerate(zip(places, parts, strict=True)):
        others = [other for j, other in enumerate(parts) if j != k]
        most = len(own)
        shown = next(
            (n for n in range(1, most) if all(own[-n:] != other[-n:] for other in others)), most
        )
        label = str(PurePath(*own[most - shown :])) if own else place
        texts.append(label if own not in others else f"{label} ({k + 1})")
    return texts
