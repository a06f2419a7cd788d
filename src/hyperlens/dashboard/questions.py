"""What a page may ask. A question holds only what was checked against the run it is about."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from hyperlens.dashboard.sources import Seen

QUICK = ("overview", "search", "data", "beside")  # answered within a second or so
LONG = ("summary", "method", "importance", "effect", "regions", "pair", "proposals")
SURROGATES = ("gp", "forest")
MOST_SPLITS = 20
MOST_STEPS = 60
MOST_RUNS = 12  # beside each other
ALL = "all"  # budgets: lower ones used too, where that is sound

Step = tuple[str, int]


class NotAsked(ValueError):
    """A request that makes no question, in one sentence."""


@dataclass(frozen=True)
class Question:
    """Which card, and every choice that changes it; None is for the page's own choice.

    `steps` are splits of regions that were made or taken back by hand, after `splits` of our own.
    `beside` are numbers of runs.
    """

    card: str
    objective: str | None = None
    budget: float | str | None = None
    surrogate: str | None = None
    parameter: str | None = None
    other: str | None = None
    trial: int | None = None
    splits: int = 3
    steps: tuple[Step, ...] = ()
    beside: tuple[int, ...] = ()

    @property
    def quick(self) -> bool:
        return self.card in QUICK and self.budget != ALL

    def key(self, run: int, versions: tuple[str, ...]) -> str:
        """The same for the same data and choices, whoever asks."""
        text = json.dumps([run, versions, asdict(self)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def parse(body: Any, seen: Seen, runs: int) -> Question:
    """A question out of a request; anything that is not known to the run is refused."""
    if not isinstance(body, Mapping):
        raise NotAsked("A question is a JSON object.")
    card = body.get("card")
    if card not in (*QUICK, *LONG):
        raise NotAsked("There is no such card.")
    return Question(
        card=str(card),
        objective=_among(body, "objective", tuple(name for name, _ in seen.objectives)),
        budget=_among(body, "budget", (*seen.budgets, ALL) if seen.budgets else ()),
        surrogate=_among(body, "surrogate", SURROGATES),
        parameter=_among(body, "parameter", seen.parameters),
        other=_among(body, "other", seen.parameters),
        trial=_among(body, "trial", seen.explained),
        splits=_whole(body.get("splits", 3), MOST_SPLITS),
        steps=_steps(body.get("steps", [])),
        beside=_runs(body.get("beside", []), runs),
    )


def _among(body: Mapping[str, Any], name: str, known: tuple[Any, ...]) -> Any:
    value = body.get(name)
    if value is None:
        return None
    for one in known:
        if type(one) is type(value) and one == value:
            return one
        if isinstance(one, float) and type(value) in (int, float) and one == value:
            return one
    raise NotAsked(f"This run has no such {name}.")


def _whole(value: Any, most: int) -> int:
    if type(value) is not int or not 0 <= value <= most:
        raise NotAsked(f"A whole number from 0 to {most} is wanted.")
    return value


def _steps(value: Any) -> tuple[Step, ...]:
    if not isinstance(value, list) or len(value) > MOST_STEPS:
        raise NotAsked(f"At most {MOST_STEPS} steps can be made by hand.")
    found = []
    for step in value:
        if not isinstance(step, list) or len(step) != 2 or step[0] not in ("split", "merge"):
            raise NotAsked("A step is 'split' or 'merge' with the number of a region.")
        found.append((str(step[0]), _whole(step[1], 10_000)))
    return tuple(found)


def _runs(value: Any, runs: int) -> tuple[int, ...]:
    if not isinstance(value, list) or len(value) > MOST_RUNS:
        raise NotAsked(f"At most {MOST_RUNS} runs can be compared at once.")
    if any(type(k) is not int or not 0 <= k < runs for k in value):
        raise NotAsked("There is no such run.")
    return tuple(sorted(set(value)))
