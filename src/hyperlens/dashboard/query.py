"""What a page may ask. A query holds only what was checked against the run it is about."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from hyperlens.dashboard.catalogue import WHOLE, Part, RunState
from hyperlens.sections.choices import Choices, Step
from hyperlens.sections.plan import PLAN, Section

SECTIONS = {section.id: section for section in PLAN}
SURROGATES = ("additive", "gp", "forest")
MOST_SPLITS = 20
MOST_STEPS = 60
MOST_RUNS = 12  # beside each other
MOST_TEXTS = 8  # costs, limits
MOST_LETTERS = 500
LARGEST = "largest"  # budget: what lower ones and pruned trials say of it is not used


class BadQuery(ValueError):
    """A request that asks for nothing there is, in one sentence."""


@dataclass(frozen=True)
class Query:
    """Which section, and every choice that changes it; `runs` are numbers of runs to compare."""

    section: str
    choices: Choices = field(default_factory=Choices)
    budget: float | Literal["largest"] | None = None
    runs: tuple[int, ...] = ()
    part: Part = WHOLE
    together: bool = False  # all objectives at once, by what a trial adds to their hypervolume

    @property
    def quick(self) -> bool:
        return SECTIONS[self.section].quick

    def key(self, run: int, versions: tuple[str, ...]) -> str:
        """The same for the same data and choices, whoever asks."""
        text = json.dumps([run, versions, asdict(self)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def parse(body: Any, state: RunState, runs: int) -> Query:
    """A query out of a request; anything that is not known to the run is refused."""
    if not isinstance(body, Mapping):
        raise BadQuery("A query is a JSON object.")
    section = SECTIONS.get(str(body.get("section")))
    if section is None:
        raise BadQuery("There is no such section.")
    return Query(
        section=section.id,
        choices=_choices(body, state, section),
        budget=_among(body, "budget", (*state.budgets, LARGEST) if state.budgets else ()),
        runs=_runs(body.get("runs", []), runs) if "runs" in section.by else (),
        part=part_of(body.get("part")),
        together=body.get("together") is True and len(state.objectives) > 1,
    )


def part_of(wanted: Any) -> Part:
    """What of a run a request is about; texts are read as those of the command line are."""
    if wanted is None:
        return WHOLE
    if not isinstance(wanted, Mapping):
        raise BadQuery("A part of a run is a JSON object.")
    maximize, where = wanted.get("maximize"), wanted.get("where")
    if maximize not in (None, True, False) or not isinstance(where, str | None):
        raise BadQuery("A direction is true or false, and a condition is a text.")
    if len(where or "") > MOST_LETTERS:
        raise BadQuery(f"A condition has at most {MOST_LETTERS} characters.")
    return Part(
        cost=_texts(wanted.get("cost", [])),
        maximize=maximize,
        where=where or None,
        limits=_texts(wanted.get("limits", [])),
    )


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > MOST_TEXTS:
        raise BadQuery(f"At most {MOST_TEXTS} costs and as many limits can be named.")
    if not all(isinstance(text, str) and 0 < len(text) <= MOST_LETTERS for text in value):
        raise BadQuery(f"A cost and a limit are texts of at most {MOST_LETTERS} characters.")
    return tuple(value)


def _choices(body: Mapping[str, Any], state: RunState, section: Section) -> Choices:
    """All are checked; those that do not change the section are left out."""
    values: dict[str, Any] = {
        "objective": _among(body, "objective", tuple(name for name, _ in state.objectives)),
        "surrogate": _among(body, "surrogate", SURROGATES),
        "parameter": _among(body, "parameter", state.parameters),
        "other": _among(body, "other", state.parameters),
        "trial": _among(body, "trial", state.explained),
        "splits": _whole(body.get("splits", Choices.splits), MOST_SPLITS),
        "steps": _steps(body.get("steps", [])),
    }
    by = ("objective", *section.by)
    return Choices(**{name: value for name, value in values.items() if name in by})


def _among(body: Mapping[str, Any], name: str, known: tuple[Any, ...]) -> Any:
    value = body.get(name)
    if value is None:
        return None
    for one in known:
        if type(one) is type(value) and one == value:
            return one
        if isinstance(one, float) and type(value) in (int, float) and one == value:
            return one
    raise BadQuery(f"This run has no such {name}.")


def _whole(value: Any, most: int) -> int:
    if type(value) is not int or not 0 <= value <= most:
        raise BadQuery(f"A whole number from 0 to {most} is wanted.")
    return value


def _steps(value: Any) -> tuple[Step, ...]:
    if not isinstance(value, list) or len(value) > MOST_STEPS:
        raise BadQuery(f"At most {MOST_STEPS} steps can be made by hand.")
    steps: list[Step] = []
    for step in value:
        if not isinstance(step, list) or len(step) != 2 or step[0] not in ("split", "merge"):
            raise BadQuery("A step is 'split' or 'merge' with the number of a region.")
        steps.append((step[0], _whole(step[1], 10_000)))
    return tuple(steps)


def _runs(value: Any, runs: int) -> tuple[int, ...]:
    if not isinstance(value, list) or len(value) > MOST_RUNS:
        raise BadQuery(f"At most {MOST_RUNS} runs can be compared at once.")
    if any(type(k) is not int or not 0 <= k < runs for k in value):
        raise BadQuery("There is no such run.")
    return tuple(sorted(set(value)))
